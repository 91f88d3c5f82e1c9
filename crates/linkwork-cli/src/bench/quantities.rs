//! Times of the quantities of the library's list, one state per call.

use super::{Protocol, STATES, configuration, measure, tenths};
use crate::random::Random;
use crate::style;
use anyhow::Result;
use linkwork::Mechanism;
use linkwork::model::FrameId;
use linkwork::quantity::{Evaluation, Given, Quantity};
use serde::Serialize;
use std::hint::black_box;
use std::io::Write;

/// One line of results.
#[derive(Serialize)]
struct Line<'a> {
    lib: &'static str,
    robot: &'a str,
    nv: usize,
    quantity: &'static str,
    ns: f64,
    min: f64,
}

/// Those that were named; without names, all of trees.
pub(super) fn asked(names: &[String]) -> linkwork::Result<Vec<&'static Quantity>> {
    if let [all] = names
        && all == "all"
    {
        return Ok(Quantity::all().filter(|q| !q.is_of_loops()).collect());
    }
    names.iter().map(|name| Quantity::find(name)).collect()
}

/// Times some of them on a robot. What a robot does not have is an error if it was named, and left out of all.
pub(super) fn run(
    robot: &str,
    mechanism: &Mechanism,
    (quantities, named): (&[&'static Quantity], bool),
    protocol: &Protocol,
    json: bool,
) -> Result<()> {
    let mut random = Random::new(1);
    let nv = mechanism.nv();
    let numbers: Vec<[Vec<f64>; 2]> = (0..STATES)
        .map(|_| [configuration(mechanism, &mut random), random.numbers(7 * nv)])
        .collect();
    let last = mechanism.links().last().map(|link| mechanism.frame(&link.name));
    let frame = last.transpose()?.unwrap_or(FrameId::WORLD);
    let joint = mechanism.layout().find(|(_, _, v)| !v.is_empty());
    let joint = joint.map(|(joint, ..)| mechanism.joint(&joint.name)).transpose()?;
    let given = |i: usize| {
        let [q, others] = black_box(&numbers[i]);
        let part = |at: usize, n: usize| &others[at * nv..(at + n) * nv];
        Given {
            q,
            qd: part(0, 1),
            qdd: part(1, 1),
            tau: part(2, 1),
            x: part(3, 1),
            change: part(4, 3),
            frame,
            joint,
            ..Given::default()
        }
    };
    let mut evaluation = Evaluation::new(mechanism);
    let mut out = anstream::stdout();
    for quantity in quantities {
        let mut room = vec![0.0; evaluation.len(quantity, &given(0))?];
        // One call each with every check; the timed ones cannot fail where these succeed.
        let mut sound = (0..STATES).map(|i| evaluation.evaluate(quantity, &given(i), &mut room));
        match sound.find_map(linkwork::Result::err) {
            Some(problem) if named => return Err(problem.into()),
            Some(_) => continue,
            None => {}
        }
        let (ns, min) = measure(protocol, |i| evaluation.evaluate(quantity, &given(i), &mut room));
        if json {
            let line = Line {
                lib: "linkwork",
                robot,
                nv,
                quantity: quantity.name,
                ns: tenths(ns),
                min: tenths(min),
            };
            writeln!(out, "{}", serde_json::to_string(&line)?)?;
        } else {
            writeln!(out, "  {} {min:10.1} {ns:10.1}", style::pad(quantity.name, 34))?;
        }
    }
    Ok(())
}
