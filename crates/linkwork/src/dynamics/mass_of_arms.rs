//! 𝓜 of arms: four columns to a register, which cross a joint together.
//!
//! The register that still takes columns in stays where it is computed, and goes to memory once it is full. Elements go
//! to their places by a list that was made with the model.

use crate::body::Hinge;
use crate::model::Compiled;
use crate::plan::InLine;
use crate::scalar::{Pack, Register};
use crate::spatial::{Force, RigidBody};
use crate::stage::Stages;
use crate::stage::branches::{read, write};
use crate::stage::crossing::{Crossing, at_joint};
use crate::stage::inflow::Inflow;

/// r(k) of links, and the elements that their columns give: the same bits as link by link.
#[inline(always)]
pub(super) fn inward<P: Pack<f64>>(m: &Compiled, line: &InLine, s: &mut Stages<f64>, out: &mut [f64]) {
    type S = f64;
    const SPECIAL: bool = true;
    let (bodies, joints) = (&m.bodies[..], &s.joints);
    let (columns, elements) = s.scratch.abreast.columns.split_at_mut(line.columns);
    let (columns, mut elements) = (columns.as_chunks_mut::<6>().0, elements.iter_mut());
    let mut inflow = Inflow::<S, RigidBody<S>>::new(&mut s.scratch.waiting);
    let mut open = Force::<P>::ZERO;
    for k in (0..bodies.len()).rev() {
        let (body, step) = (&bodies[k], &line.steps[k]);
        let r = inflow.gather(body, body.inertia);
        at_joint!(<S, SPECIAL> bodies, joints, k, joint => {
            let (hinge, is_held) = (joint.hinge(), body.parent.is_some());
            if is_held {
                inflow.hand_in(body, joint.carry_rigid_in(r));
            }
            open = over(spread(hinge.column_of(&r, 0)), open, step.lane);
            put(felt(hinge, open), &mut elements);
            if is_held {
                let carried = joint.columns_in(open);
                open = if step.parts_open { over(carried, open, step.lanes) } else { carried };
            }
            for column in &mut columns[step.full.clone()] {
                let f = Force::from_array(read::<_, P, 6>(column, 0));
                put(felt(hinge, f), &mut elements);
                if is_held {
                    write(column, 0, joint.columns_in(f).to_array());
                }
            }
            if let Some(part) = step.part {
                let column = &mut columns[part];
                let f = Force::from_array(read::<_, P, 6>(column, 0));
                put(felt(hinge, f), &mut elements);
                if is_held {
                    write(column, 0, over(joint.columns_in(f), f, step.lanes).to_array());
                }
            }
        });
        if let Some(at) = step.fills {
            write(&mut columns[at], 0, open.to_array());
            open = Force::ZERO;
        }
    }
    for part in 0..line.copies.parts() {
        P::fill(&line.copies, part, out);
    }
    P::copy(&line.copies, &s.scratch.abreast.columns, out);
}

/// The same column in every lane.
#[inline(always)]
fn spread<P: Pack<f64>>(f: Force<f64>) -> Force<P> {
    let x = f.to_array();
    Force::from_array([
        P::spread(x[0]),
        P::spread(x[1]),
        P::spread(x[2]),
        P::spread(x[3]),
        P::spread(x[4]),
        P::spread(x[5]),
    ])
}

/// Columns in some lanes, and others elsewhere.
#[inline(always)]
fn over<P: Pack<f64>>(f: Force<P>, other: Force<P>, lanes: u8) -> Force<P> {
    let (mut x, other) = (f.to_array(), other.to_array());
    for i in 0..6 {
        x[i] = x[i].over(other[i], lanes);
    }
    Force::from_array(x)
}

/// H f.
#[inline(always)]
fn felt<P: Pack<f64>>(hinge: Hinge, f: Force<P>) -> P {
    let mut x = [P::ZERO];
    hinge.project(f, &mut x);
    x[0]
}

/// Over the next register.
#[inline(always)]
fn put<'a, P: Pack<f64>>(x: P, to: &mut impl Iterator<Item = &'a mut Register<f64>>) {
    if let Some(register) = to.next() {
        x.write(&mut register.0);
    }
}
