//! What tasks that keep clear ask a scene for.

use super::{Scene, far};
use linkwork::Result;
use linkwork::motion::{Clearance, Near};

impl Clearance for Scene {
    fn near(&mut self, q: &[f64], margin: f64, out: &mut Vec<Near>) -> Result<()> {
        self.place(q)?;
        for bound in &mut self.bounds {
            bound.margin = 0.5 * margin;
        }
        self.find_near();
        for &i in &self.near {
            let pair = &self.pairs[i as usize];
            let (at, bt) = (&self.poses[pair.a], &self.poses[pair.b]);
            if far(self.bounds[pair.a].reach, at, self.bounds[pair.b].reach, bt, margin) {
                continue;
            }
            let (a, b) = (&self.colliders[pair.a], &self.colliders[pair.b]);
            self.touches.clear();
            self.narrow.touch(&a.shape, at, &b.shape, bt, margin, &mut self.touches);
            let nearest = self.touches.iter().min_by(|x, y| x.gap.total_cmp(&y.gap));
            out.extend(nearest.filter(|touch| touch.gap < margin).map(|touch| Near {
                a: a.frame,
                b: b.frame,
                point: touch.point,
                normal: touch.normal,
                gap: touch.gap,
            }));
        }
        Ok(())
    }

    fn another(&self) -> Box<dyn Clearance> {
        Box::new(self.clone())
    }
}
