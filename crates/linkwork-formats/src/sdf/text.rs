//! Numbers and words in elements' text.

use crate::numbers::{Range, parse};
use crate::report::Findings;
use crate::source::{At, shortened};
use crate::xml::Element;
use linkwork::spatial::{Pose, Rotation, Vec3};

/// The numbers of an element; wrong ones are reported and give none.
pub(super) fn list(f: &mut Findings, e: Element<'_>, at: At<'_>, range: Range) -> Option<Vec<f64>> {
    let mut numbers = Vec::new();
    for word in e.text().split_ascii_whitespace() {
        match parse(word, range) {
            Ok(x) => numbers.push(x),
            Err((problem, advice)) => {
                let message = format!("<{}>: {problem}", shortened(e.name()));
                f.error(at.seen_at(e.spot_of_text()), "number", message, advice);
                return None;
            }
        }
        if numbers.len() > 1000 {
            break;
        }
    }
    Some(numbers)
}

fn counted<const N: usize>(f: &mut Findings, e: Element<'_>, at: At<'_>, x: &[f64]) -> Option<[f64; N]> {
    let found = x.try_into().ok();
    if found.is_none() {
        let message = format!("<{}> has {} numbers instead of {N}", shortened(e.name()), x.len());
        let advice = format!("give {N}, separated by spaces");
        f.error(at.seen_at(e.spot_of_text()), "number-count", message, &advice);
    }
    found
}

/// So many numbers of the first element of a name in an element, if it is there and right.
pub(super) fn several<const N: usize>(f: &mut Findings, e: Element<'_>, name: &str, at: At<'_>) -> Option<[f64; N]> {
    let e = e.child(name)?;
    let numbers = list(f, e, at, Range::Usable)?;
    counted(f, e, at, &numbers)
}

/// A vector in an element, if it is there and right.
pub(super) fn vector(f: &mut Findings, e: Element<'_>, name: &str, at: At<'_>) -> Option<Vec3> {
    several::<3>(f, e, name, at).map(Vec3::from)
}

/// A number in an element, if it is there and right.
pub(super) fn number(f: &mut Findings, e: Element<'_>, name: &str, at: At<'_>) -> Option<f64> {
    several::<1>(f, e, name, at).map(|[x]| x)
}

/// A limit in an element, if it is there and right; it may be infinite.
pub(super) fn limit(f: &mut Findings, e: Element<'_>, name: &str, at: At<'_>) -> Option<f64> {
    let e = e.child(name)?;
    let numbers = list(f, e, at, Range::Limit)?;
    counted::<1>(f, e, at, &numbers).map(|[x]| crate::numbers::reachable(x))
}

/// Whether an element says so; wrong words are reported.
pub(super) fn flag(f: &mut Findings, e: Element<'_>, at: At<'_>) -> Option<bool> {
    match &*e.text().to_ascii_lowercase() {
        "1" | "true" => Some(true),
        "0" | "false" => Some(false),
        "" => None,
        other => {
            let message = format!(
                "<{}>: `{}` is neither true nor false",
                shortened(e.name()),
                shortened(other)
            );
            f.error(at.seen_at(e.spot_of_text()), "word", message, "write true or false");
            None
        }
    }
}

/// The pose that an element of that name holds.
pub(super) fn pose(f: &mut Findings, e: Element<'_>, at: At<'_>) -> Pose {
    let numbers = list(f, e, at, Range::Usable).unwrap_or_default();
    if numbers.is_empty() {
        return Pose::IDENTITY;
    }
    if e.attribute("rotation_format").as_deref() == Some("quat_xyzw") {
        let Some([x, y, z, a, b, c, d]) = counted::<7>(f, e, at, &numbers) else {
            return Pose::IDENTITY;
        };
        let norm = (a * a + b * b + c * c + d * d).sqrt();
        if norm < 1e-6 {
            let message = "the quaternion has no length";
            f.error(
                at.seen_at(e.spot_of_text()),
                "quaternion",
                message,
                "give x y z w of length one",
            );
            return Pose::IDENTITY;
        }
        return Pose::new(Rotation::from_quaternion([a, b, c, d].map(|x| x / norm)), [x, y, z]);
    }
    let Some([x, y, z, roll, pitch, yaw]) = counted::<6>(f, e, at, &numbers) else {
        return Pose::IDENTITY;
    };
    let degrees = matches!(e.attribute("degrees").as_deref(), Some("true" | "1"));
    let [roll, pitch, yaw] = [roll, pitch, yaw].map(|x| if degrees { x.to_radians() } else { x });
    Pose::new(Rotation::from_rpy(roll, pitch, yaw), [x, y, z])
}
