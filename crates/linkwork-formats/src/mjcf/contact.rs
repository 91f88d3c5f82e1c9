//! How geoms touch: masks, friction, and pairs of bodies that do not.

use super::defaults::Defaulted;
use crate::draft::Draft;
use crate::numbers::{self, Range};
use crate::report::Findings;
use crate::robot::Touch;
use crate::source::{At, shortened};
use crate::xml::Element;

/// What a geom says of its surface. Friction that is not given is the format's own.
pub(super) fn read(d: &Defaulted<'_>, at: At<'_>, f: &mut Findings) -> Touch {
    let mut touch = Touch::default();
    let mut number = |name: &str| numbers::number(f, d.with(name), name, at, Range::Usable);
    let bits = |x: f64| if x >= 0.0 { x as u32 } else { 0 };
    if let Some(x) = number("contype") {
        touch.kind = bits(x);
    }
    if let Some(x) = number("conaffinity") {
        touch.affinity = bits(x);
    }
    if let Some(x) = number("condim") {
        touch.dimensions = bits(x);
    }
    if let Some(x) = number("priority") {
        touch.priority = x as i32;
    }
    if let Some(given) = numbers::list(f, d.with("friction"), "friction", at, Range::Usable) {
        for (own, x) in touch.friction.iter_mut().zip(given) {
            *own = x;
        }
        if let Some(own) = touch.friction.iter_mut().find(|x| **x < 0.0) {
            let message = format!("friction is {own}; it counts as zero");
            f.doubt(at, "friction", message, "give zero or more");
            *own = 0.0;
        }
    }
    // Negative numbers are a stiffness per mass and a damping, which have no counterpart.
    let reference = numbers::list(f, d.with("solref"), "solref", at, Range::Usable).unwrap_or_default();
    touch.time_constant = reference.first().copied().filter(|x| *x > 0.0);
    touch
}

/// Adds the pairs of a `<contact>` that do not touch.
pub(super) fn excluded<'a>(pairs: impl Iterator<Item = Element<'a>>, draft: &mut Draft, f: &mut Findings) {
    for e in pairs {
        let at = e.at();
        match e.name() {
            "exclude" => {
                let name = |attribute: &str| e.attribute(attribute).unwrap_or_default().into_owned();
                let pair = (name("body1"), name("body2"));
                let known = |link: &str| link == "world" || draft.links.iter().any(|l| l.item.name == link);
                let lost = [&pair.0, &pair.1]
                    .into_iter()
                    .find(|link| !known(link))
                    .map(|link| shortened(link));
                match lost {
                    Some(link) => {
                        let message = format!("an excluded pair names body `{link}`, which does not exist");
                        f.doubt(at, "excluded-pair", message, "the pair is ignored");
                    }
                    None => draft.untouching.push(pair),
                }
            }
            _ => f.note(
                at,
                "contact-pair",
                "explicit pairs are found by their masks like all others; their own parameters are ignored",
                "",
            ),
        }
    }
}
