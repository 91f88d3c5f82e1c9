//! Names of states and inputs.

use crate::model::Mechanism;
use crate::{Error, Result};

/// Names of the inputs, the joints' with a number where a joint has several, and of the states; an error where two would be
/// taken for each other.
pub(super) fn of(mechanism: &Mechanism) -> Result<(Vec<String>, Vec<String>)> {
    let mut inputs = Vec::with_capacity(mechanism.nv());
    let count = |j: usize| mechanism.v_of(j).len();
    let joints = mechanism.joints();
    for (j, joint) in joints.iter().enumerate() {
        match count(j) {
            0 => {}
            1 => inputs.push(joint.name.clone()),
            several => inputs.extend((0..several).map(|i| format!("{}[{i}]", joint.name))),
        }
    }
    let rates = inputs.iter().map(|name| format!("d {name}"));
    let states: Vec<String> = inputs.iter().cloned().chain(rates).collect();
    let taken = |joint: &str, by: &str| {
        Err(Error::Joint {
            joint: joint.to_owned(),
            problem: format!("its name is that of {by} in a linear model; give it another"),
        })
    };
    let mut several: Vec<&str> = (0..joints.len())
        .filter(|j| count(*j) > 1)
        .map(|j| &*joints[j].name)
        .collect();
    several.sort_unstable();
    for joint in joints {
        let whole = whole(&joint.name).filter(|whole| several.binary_search(whole).is_ok());
        if let Some(whole) = whole {
            return taken(&joint.name, &format!("a degree of freedom of joint `{whole}`"));
        }
    }
    let mut sorted: Vec<&String> = states.iter().collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|two| two[0] == two[1]) {
        Some(two) => taken(two[0], "another's velocity"),
        None => Ok((inputs, states)),
    }
}

/// The inputs that a name means: the one of that name, else those that have it before their numbers.
pub(super) fn inputs(all: &[String], name: &str) -> Result<Vec<usize>> {
    let find = |fits: &dyn Fn(&str) -> bool| (0..all.len()).filter(|i| fits(&all[*i])).collect::<Vec<_>>();
    let same = find(&|input| input == name);
    let found = match same.len() {
        0 => find(&|input| whole(input) == Some(name)),
        _ => same.clone(),
    };
    let twice = |i: &usize| found.iter().filter(|j| all[**j] == all[*i]).count() > 1;
    match found.iter().find(|i| twice(i)) {
        Some(i) => Err(Error::Joint {
            joint: name.to_owned(),
            problem: format!("several inputs are called `{}`; give each its own name", all[*i]),
        }),
        None => Ok(found),
    }
}

/// `joint` of `joint[number]`.
fn whole(name: &str) -> Option<&str> {
    let (joint, number) = name.strip_suffix(']')?.rsplit_once('[')?;
    let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    digits.then_some(joint)
}
