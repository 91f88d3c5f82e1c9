//! Which shapes are near each other: boxes along the world's axes, sorted along one of them.

use linkwork::spatial::Vec3;

/// Boxes and their order along an axis, kept from step to step: what hardly moves is hardly sorted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Broad {
    /// Low and high corners; of shapes without bounds none.
    boxes: Vec<Option<[Vec3; 2]>>,
    order: Vec<usize>,
    active: Vec<usize>,
}

impl Broad {
    /// Starts anew for some shapes.
    pub(crate) fn start(&mut self, shapes: usize) {
        self.boxes.clear();
        self.boxes.resize(shapes, None);
        if self.order.len() != shapes {
            self.order = (0..shapes).collect();
        }
    }

    /// Puts a shape's box in: middle, half edges, and what is to be added on all sides.
    pub(crate) fn put(&mut self, shape: usize, (middle, half): (Vec3, Vec3), margin: f64) {
        let half = half + Vec3::new(margin, margin, margin);
        self.boxes[shape] = Some([middle - half, middle + half]);
    }

    /// Calls for every two boxes that overlap.
    pub(crate) fn meet(&mut self, mut near: impl FnMut(usize, usize)) {
        let low = |boxes: &[Option<[Vec3; 2]>], i: usize| boxes[i].map_or(f64::INFINITY, |b| b[0].x);
        // By insertion: the order of the last step is almost that of this one.
        for i in 1..self.order.len() {
            let mut j = i;
            while j > 0 && low(&self.boxes, self.order[j]) < low(&self.boxes, self.order[j - 1]) {
                self.order.swap(j, j - 1);
                j -= 1;
            }
        }
        self.active.clear();
        for &i in &self.order {
            let Some([a, b]) = self.boxes[i] else { continue };
            let boxes = &self.boxes;
            self.active.retain(|&j| boxes[j].is_some_and(|other| other[1].x >= a.x));
            for &j in &self.active {
                let Some([c, d]) = boxes[j] else { continue };
                if a.y <= d.y && c.y <= b.y && a.z <= d.z && c.z <= b.z {
                    near(i.min(j), i.max(j));
                }
            }
            self.active.push(i);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Broad;
    use linkwork::spatial::Vec3;

    #[test]
    fn boxes_that_overlap_are_found_once_each() {
        let mut seed = 7_u64;
        let mut number = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut broad = Broad::default();
        for _ in 0..20 {
            let boxes: Vec<(Vec3, Vec3)> = (0..60)
                .map(|_| {
                    let middle = Vec3::new(number(), number(), number()) * 4.0;
                    (middle, Vec3::new(number(), number(), number()) * 0.5)
                })
                .collect();
            broad.start(boxes.len() + 1);
            for (i, b) in boxes.iter().enumerate() {
                broad.put(i, *b, 0.01);
            }
            let mut found = Vec::new();
            broad.meet(|a, b| found.push((a, b)));
            found.sort_unstable();
            let mut expect = Vec::new();
            for a in 0..boxes.len() {
                for b in a + 1..boxes.len() {
                    let d = (boxes[a].0 - boxes[b].0).to_array();
                    let h = (boxes[a].1 + boxes[b].1).to_array();
                    if (0..3).all(|i| d[i].abs() <= h[i] + 0.02) {
                        expect.push((a, b));
                    }
                }
            }
            assert_eq!(found, expect);
            assert!(!found.is_empty());
        }
    }
}
