//! Steps between sweeps: on all links, all frames, or numbers at once.

use super::local::combine;
use super::program::Step;
use super::run::Memory;
use super::space::Space;
use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::spatial::{Force, Motion};

fn dot<S: Scalar>(a: &[S], b: &[S]) -> S {
    a.iter().zip(b).fold(S::ZERO, |sum, (a, b)| a.mul_add(*b, sum))
}

/// What is done for all links, or all frames, at once.
#[inline(always)]
pub(crate) fn whole_steps<S: Scalar>(m: &Compiled, memory: &mut Memory<S>, steps: &[Step]) {
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
                    let mut v = Motion::ZERO;
                    if let (Some(k), pose) = memory.tips[i] {
                        v = pose.motion_out(memory.motion(k, *from));
                    }
                    memory.tip[to * tips + i] = v.to_array();
                }
            }
            Step::Combine { space, terms, to } => {
                if *space == Space::Number {
                    [memory.numbers[*to]] = combine(terms, |slot| [memory.numbers[slot]]);
                } else {
                    for i in 0..tips {
                        memory.tip[to * tips + i] = combine(terms, |slot| memory.tip[slot * tips + i]);
                    }
                }
            }
            Step::Dot { space, a, b, to } => {
                let mut sum = S::ZERO;
                match space {
                    Space::Number => sum = memory.numbers[*a] * memory.numbers[*b],
                    Space::Joint => {
                        for v in 0..memory.nv {
                            sum = memory.joint[a * memory.nv + v].mul_add(memory.joint[b * memory.nv + v], sum);
                        }
                    }
                    Space::Motion | Space::Force => {
                        for k in 0..n {
                            for i in 0..6 {
                                sum = memory.link[k * links + a][i].mul_add(memory.link[k * links + b][i], sum);
                            }
                        }
                    }
                    Space::Tip => {
                        for t in 0..tips {
                            for i in 0..6 {
                                sum = memory.tip[a * tips + t][i].mul_add(memory.tip[b * tips + t][i], sum);
                            }
                        }
                    }
                }
                memory.numbers[*to] = sum;
            }
            Step::Solve { which, space, from, to } => {
                if *space == Space::Joint {
                    let nv = memory.nv;
                    for i in 0..nv {
                        let row = &memory.solves[*which][i * nv..(i + 1) * nv];
                        let x = &memory.joint[from * nv..(from + 1) * nv];
                        memory.joint[to * nv + i] = dot(row, x);
                    }
                } else {
                    let size = 6 * tips;
                    for i in 0..size {
                        let row = &memory.solves[*which][i * size..(i + 1) * size];
                        let x = memory.tip[from * tips..(from + 1) * tips].as_flattened();
                        memory.tip[to * tips + i / 6][i % 6] = dot(row, x);
                    }
                }
            }
            Step::Times {
                space,
                number,
                from,
                to,
            } => {
                let scale = memory.numbers[*number];
                if *space == Space::Number {
                    memory.numbers[*to] = memory.numbers[*from] * scale;
                } else {
                    for t in 0..tips {
                        for i in 0..6 {
                            memory.tip[to * tips + t][i] = memory.tip[from * tips + t][i] * scale;
                        }
                    }
                }
            }
            _ => {}
        }
    }
}
