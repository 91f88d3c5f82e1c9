//! Numbers in attributes.

use crate::report::Findings;
use crate::source::{At, shortened};
use crate::xml::Element;
use linkwork::spatial::Vec3;

/// Larger numbers are no lengths, masses or moments.
const LARGEST: f64 = 1e30;

/// Which numbers make sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Range {
    /// Those that can be computed with.
    Usable,
    /// Infinite ones too, which mean that there is no limit.
    Limit,
}

/// A limit; one that nothing ever reaches is none, as files write "without end" in many ways.
pub(crate) fn limit(f: &mut Findings, e: Element<'_>, name: &str, owner: At<'_>) -> Option<f64> {
    number(f, e, name, owner, Range::Limit).map(reachable)
}

/// A limit, or none if nothing ever reaches it.
pub(crate) fn reachable(x: f64) -> f64 {
    const FURTHEST: f64 = 1e6;
    if x.abs() > FURTHEST {
        x.signum() * f64::INFINITY
    } else {
        x
    }
}

/// A word as a number, or what is wrong with it and what to do.
pub(crate) fn parse(word: &str, range: Range) -> Result<f64, (String, &'static str)> {
    let shown = shortened(word);
    let finite = "give a finite number";
    match word.parse::<f64>() {
        Ok(x) if x.is_nan() => Err((format!("`{shown}` is not a number"), finite)),
        Ok(x) if range == Range::Limit => Ok(x),
        Ok(x) if x.is_infinite() => Err((format!("`{shown}` is not finite"), finite)),
        Ok(x) if x.abs() > LARGEST => Err((format!("`{shown}` is too large"), "give a number of at most 1e30")),
        Ok(x) => Ok(x),
        Err(_) if word.contains("${") || word.contains("$(") => Err((format!("`{shown}` is xacro"), crate::EXPAND)),
        Err(_) if word.contains(',') => {
            let advice = "write decimals with a point, and separate numbers by spaces";
            Err((format!("`{shown}` has a comma"), advice))
        }
        Err(_) => Err((
            format!("`{shown}` is not a number"),
            "give a number such as 0.5 or 1e-3",
        )),
    }
}

/// Up to a thousand numbers of an attribute, if it is there; wrong ones are reported and give none.
pub(crate) fn list(f: &mut Findings, e: Element<'_>, name: &str, owner: At<'_>, range: Range) -> Option<Vec<f64>> {
    some(f, e, name, owner, range, 1000)
}

/// All numbers of an attribute, if it is there; wrong ones are reported and give none.
pub(crate) fn all(f: &mut Findings, e: Element<'_>, name: &str, owner: At<'_>, range: Range) -> Option<Vec<f64>> {
    some(f, e, name, owner, range, usize::MAX)
}

fn some(f: &mut Findings, e: Element<'_>, name: &str, owner: At<'_>, range: Range, most: usize) -> Option<Vec<f64>> {
    let text = e.attribute(name)?;
    let mut numbers = Vec::new();
    for word in text.split_ascii_whitespace() {
        match parse(word, range) {
            Ok(x) => numbers.push(x),
            Err((problem, advice)) => {
                let message = format!("{} {name}=\"{}\": {problem}", e.name(), shortened(&text));
                f.error(owner.seen_at(e.spot_of(name)), "number", message, advice);
                return None;
            }
        }
        if numbers.len() > most {
            break;
        }
    }
    Some(numbers)
}

/// So many numbers of an attribute, if it is there; wrong ones are reported and give none.
pub(crate) fn several<const N: usize>(f: &mut Findings, e: Element<'_>, name: &str, owner: At<'_>) -> Option<[f64; N]> {
    let numbers = list(f, e, name, owner, Range::Usable)?;
    counted(f, e, name, owner, &numbers)
}

fn counted<const N: usize>(f: &mut Findings, e: Element<'_>, name: &str, owner: At<'_>, x: &[f64]) -> Option<[f64; N]> {
    let found = x.try_into().ok();
    if found.is_none() {
        let text = shortened(&e.attribute(name).unwrap_or_default());
        let message = format!("{} {name}=\"{text}\" has {} numbers instead of {N}", e.name(), x.len());
        let advice = format!("give {N}, separated by spaces");
        f.error(owner.seen_at(e.spot_of(name)), "number-count", message, &advice);
    }
    found
}

/// A vector, if it is there and right.
pub(crate) fn vector(f: &mut Findings, e: Element<'_>, name: &str, owner: At<'_>) -> Option<Vec3> {
    several::<3>(f, e, name, owner).map(Vec3::from)
}

/// One number, if it is there and right.
pub(crate) fn number(f: &mut Findings, e: Element<'_>, name: &str, owner: At<'_>, range: Range) -> Option<f64> {
    let numbers = list(f, e, name, owner, range)?;
    counted::<1>(f, e, name, owner, &numbers).map(|[x]| x)
}

/// One number that must be there; reported and zero if it is not.
pub(crate) fn needed(f: &mut Findings, e: Element<'_>, name: &str, owner: At<'_>) -> f64 {
    if e.attribute(name).is_none() {
        let message = format!("<{}> has no {name}", e.name());
        let advice = format!("add {name}=\"…\"");
        f.error(owner.seen_at(e.spot()), "missing-attribute", message, &advice);
    }
    number(f, e, name, owner, Range::Usable).unwrap_or(0.0)
}
