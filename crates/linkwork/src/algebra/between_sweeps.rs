//! Steps between sweeps: on all links, all frames, all constraints, or numbers at once.

use super::program::Step;
use super::run::Memory;
use super::space::Space;
use crate::dynamics::augmented::Tree;
use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::simd::Instructions;
use crate::spatial::{Force, Motion, Reference};
use crate::stage::Stages;

#[inline(always)]
fn dot<S: Scalar>(a: &[S], b: &[S]) -> S {
    let mut sum = S::ZERO;
    for (a, b) in a.iter().zip(b) {
        sum = a.mul_add(*b, sum);
    }
    sum
}

/// What is done for all links, or all frames, at once.
#[inline(always)]
pub(crate) fn whole_steps<S: Scalar>(
    m: &Compiled,
    s: &Stages<S>,
    instructions: Instructions,
    memory: &mut Memory<S>,
    steps: &[Step],
) {
    let (n, links, tips) = (m.bodies.len(), memory.room.link, memory.tips.len());
    for step in steps {
        match step {
            Step::Spread { from, to } => {
                for k in 0..n {
                    memory.link[k * links + to] = [S::ZERO; 6];
                }
                for i in 0..tips {
                    if let (Some(k), pose) = memory.tips[i] {
                        let f = pose.force_in(Force::from_array(memory.tip[from * tips + i]));
                        let sum = memory.force(k, *to) + f;
                        memory.set_force(k, *to, sum);
                    }
                }
            }
            Step::Pick { from, to } => {
                for i in 0..tips {
                    let (k, pose) = memory.tips[i];
                    let v = k.map_or(Motion::ZERO, |k| pose.motion_out(memory.motion(k, *from)));
                    memory.tip[to * tips + i] = v.to_array();
                }
            }
            Step::Combine { space, terms, to } => {
                for i in 0..memory.flat(*space, *to).len() {
                    let mut sum = S::ZERO;
                    for &(scale, slot) in terms {
                        sum = S::lift(scale).mul_add(memory.flat(*space, slot)[i], sum);
                    }
                    memory.flat_mut(*space, *to)[i] = sum;
                }
            }
            Step::Dot { space, a, b, to } => {
                let mut sum = S::ZERO;
                match space {
                    Space::Motion | Space::Force => {
                        for k in 0..n {
                            for i in 0..6 {
                                sum = memory.link[k * links + a][i].mul_add(memory.link[k * links + b][i], sum);
                            }
                        }
                    }
                    _ => sum = dot(memory.flat(*space, *a), memory.flat(*space, *b)),
                }
                memory.numbers[*to] = sum;
            }
            Step::Solve {
                which,
                spaces: (range, domain),
                from,
                to,
            } => {
                let (rows, columns) = (memory.flat(*range, *to).len(), memory.flat(*domain, *from).len());
                for i in 0..rows {
                    let row = &memory.solves[*which][i * columns..(i + 1) * columns];
                    let x = dot(row, memory.flat(*domain, *from));
                    memory.flat_mut(*range, *to)[i] = x;
                }
            }
            Step::Augmented {
                which,
                joint_in,
                link_in,
                joint_out,
                link_out,
            } => {
                let tree = Tree {
                    m,
                    joints: &s.joints,
                    coupled: &s.coupled,
                    instructions,
                };
                let mut all = core::mem::take(&mut memory.augmented);
                let a = &mut all[*which].0;
                if let Some(f) = link_in {
                    (0..n).for_each(|k| a.forces[k] = memory.force(k, *f));
                }
                let [mut tau, mut x] = core::mem::take(&mut a.wide);
                match joint_in {
                    Some(t) => tau.copy_from_slice(memory.flat(Space::Joint, *t)),
                    None => tau.fill(S::ZERO),
                }
                a.solve(tree, &tau, link_in.is_some(), &mut x);
                (0..n).for_each(|k| memory.set_motion(k, *link_out, a.lambda[k]));
                if let Some(out) = joint_out {
                    memory.flat_mut(Space::Joint, *out).copy_from_slice(&x);
                }
                a.wide = [tau, x];
                memory.augmented = all;
            }
            Step::Diagonal {
                space,
                by,
                inverted,
                from,
                to,
            } => {
                for i in 0..memory.flat(*space, *to).len() {
                    let (w, x) = (memory.flat(*space, *by)[i], memory.flat(*space, *from)[i]);
                    memory.flat_mut(*space, *to)[i] = if *inverted { x * w.recip() } else { x * w };
                }
            }
            Step::Select { name, from, to } => {
                let at = from * tips + memory.selected[*name];
                let six = memory.tip[at];
                memory.flat_mut(Space::Frame, *to).copy_from_slice(&six);
            }
            Step::Place { name, from, to } => {
                let at = to * tips + memory.selected[*name];
                memory.flat_mut(Space::Tip, *to).fill(S::ZERO);
                for i in 0..6 {
                    memory.tip[at][i] = memory.frame[from * 6 + i];
                }
            }
            Step::Cross {
                force, by, from, to, ..
            } => {
                for i in 0..tips {
                    let by = Motion::from_array(memory.tip[by * tips + i]);
                    let x = memory.tip[from * tips + i];
                    memory.tip[to * tips + i] = match force {
                        true => by.cross_force(Force::from_array(x)).to_array(),
                        false => by.cross(Motion::from_array(x)).to_array(),
                    };
                }
            }
            Step::Seen { from, to } => {
                for i in 0..tips {
                    let x = memory.tip[from * tips + i];
                    let kept = match memory.references[i] {
                        Reference::Local => 0,
                        Reference::Aligned => 3,
                        Reference::World => 6,
                    };
                    memory.tip[to * tips + i] = core::array::from_fn(|j| if j < kept { x[j] } else { S::ZERO });
                }
            }
            Step::Tie { from, to } => {
                for k in 0..n {
                    memory.link[k * links + to] = [S::ZERO; 6];
                }
                let ties = core::mem::take(&mut memory.ties);
                ties.spread(memory, *from, *to);
                memory.ties = ties;
            }
            Step::Untie { from, to } => {
                let ties = core::mem::take(&mut memory.ties);
                ties.pick(memory, *from, *to);
                memory.ties = ties;
            }
            Step::ConstraintBias {
                velocity,
                acceleration,
                to,
            } => {
                let mut ties = core::mem::take(&mut memory.ties);
                ties.bias(memory, (*velocity, *acceleration), *to);
                memory.ties = ties;
            }
            Step::Matrix { space, by, from, to } => {
                let side = space.side().unwrap_or(*space);
                let n = memory.flat(side, *from).len();
                for i in 0..n {
                    let row = &memory.flat(*space, *by)[i * n..(i + 1) * n];
                    let x = dot(row, memory.flat(side, *from));
                    memory.flat_mut(side, *to)[i] = x;
                }
            }
            Step::TieRate { of, a, b, to } => {
                let ties = core::mem::take(&mut memory.ties);
                ties.change(memory, *of, (*a, *b), *to);
                memory.ties = ties;
            }
            Step::LogDet { to } => {
                let mut sum = S::ZERO;
                for gain in &s.riccati.gains {
                    sum -= gain.d_inv.ln();
                }
                memory.numbers[*to] = sum;
            }
            Step::Times {
                space,
                number,
                from,
                to,
            } => {
                let scale = memory.numbers[*number];
                for i in 0..memory.flat(*space, *to).len() {
                    memory.flat_mut(*space, *to)[i] = memory.flat(*space, *from)[i] * scale;
                }
            }
            _ => {}
        }
    }
}
