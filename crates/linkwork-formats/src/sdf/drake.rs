//! What Drake adds to SDF.

use super::expand::Expansion;
use super::frames::Places;
use super::text;
use crate::draft::Draft;
use crate::report::Findings;
use crate::robot::Loop;
use crate::source::{At, shortened};
use crate::xml::Element;
use linkwork::closed::{ConstraintKind, Side};
use linkwork::model::WORLD;
use linkwork::spatial::Pose;

/// The damping along x and y, and about z, of a planar joint.
pub(super) fn damping(e: Element<'_>, at: At<'_>, f: &mut Findings) -> [f64; 3] {
    text::several::<3>(f, e, "drake:damping", at).unwrap_or_default()
}

/// Points of two links that stay together.
pub(super) fn constraints(x: &Expansion<'_>, places: &Places, draft: &mut Draft, f: &mut Findings) {
    for item in &x.constraints {
        let at = At::new(item.e.spot(), "drake:ball_constraint", "");
        let mut end = |body: &str, point: &str| {
            let name = item
                .e
                .child(body)
                .map_or_else(String::new, |e| e.content().into_owned());
            let Some(node) = x.find(item.node, &name) else {
                let message = format!("its <{body}> `{}` does not exist", shortened(&name));
                f.error(at, "constraint", message, "correct the name");
                return None;
            };
            let point = text::vector(f, item.e, point, at).unwrap_or_default();
            let place = |from: usize| places.seen_from(from, node) * Pose::from_translation(point);
            Some(match places.held[node] {
                Some(link) => {
                    let inner = x.links[link].node;
                    (x.nodes[inner].name.clone(), place(inner))
                }
                None => (WORLD.to_owned(), place(super::expand::WORLD)),
            })
        };
        let first = end("drake:ball_constraint_body_A", "drake:ball_constraint_p_AP");
        let second = end("drake:ball_constraint_body_B", "drake:ball_constraint_p_BQ");
        if let (Some(first), Some(second)) = (first, second) {
            draft.loops.push(Loop {
                name: format!("ball_constraint{}", draft.loops.len() + 1),
                kind: ConstraintKind::Point,
                side: Side::Both,
                first,
                second,
            });
        }
    }
}
