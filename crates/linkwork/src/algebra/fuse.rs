//! Neighbouring steps as one: what one leaves for the next alone need not go through memory.

use super::node::{Local, Seed, TieRate};
use super::program::{Program, Slot, Step};
use super::recursion::Recursion;
use super::space::Space;

/// Where a slot is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Among {
    Numbers,
    Joint,
    Link,
    Tip,
    Frame,
    Constraint,
    Square,
}

impl Among {
    fn of(space: Space) -> Self {
        match space {
            Space::Number => Self::Numbers,
            Space::Joint => Self::Joint,
            Space::Motion | Space::Force => Self::Link,
            Space::Tip => Self::Tip,
            Space::Frame => Self::Frame,
            Space::Constraint => Self::Constraint,
            Space::JointSquare | Space::TipSquare | Space::FrameSquare | Space::ConstraintSquare => Self::Square,
        }
    }
}

/// What a step reads.
fn reads(step: &Step) -> Vec<(Among, Slot)> {
    use Among::{Constraint, Frame, Joint, Link, Numbers, Tip};
    match step {
        Step::BaseAcceleration { .. } | Step::Composite { .. } => vec![],
        Step::Coriolis { velocity, qd, .. } => vec![(Link, *velocity), (Joint, *qd)],
        Step::Gyroscopic { velocity, .. } => vec![(Link, *velocity)],
        Step::Local { local, from, .. } => {
            let joint = !matches!(
                local,
                Local::H
                    | Local::M
                    | Local::P
                    | Local::PPlus
                    | Local::GStar
                    | Local::TauBar
                    | Local::TauBarStar
                    | Local::Upsilon
                    | Local::MInv
                    | Local::PInv
            );
            vec![(if joint { Joint } else { Link }, *from)]
        }
        Step::Shift { from, .. } | Step::Pick { from, .. } => vec![(Link, *from)],
        Step::Core(Recursion {
            joint_in,
            link_in,
            more,
            ..
        }) => {
            let links = link_in.iter().chain(more).map(|&slot| (Link, slot));
            links.chain(joint_in.map(|slot| (Joint, slot))).collect()
        }
        Step::Combine { space, terms, .. } => terms.iter().map(|t| (Among::of(*space), t.1)).collect(),
        Step::Spread { from, .. } => vec![(Tip, *from)],
        Step::Solve { spaces, from, .. } => vec![(Among::of(spaces.1), *from)],
        Step::Augmented { joint_in, link_in, .. } => {
            let links = link_in.iter().map(|&slot| (Link, slot));
            links.chain(joint_in.map(|slot| (Joint, slot))).collect()
        }
        Step::Diagonal { space, by, from, .. } => vec![(Among::of(*space), *by), (Among::of(*space), *from)],
        Step::Select { from, .. } => vec![(Tip, *from)],
        Step::Place { from, .. } => vec![(Frame, *from)],
        Step::Tie { from, .. } => vec![(Constraint, *from)],
        Step::Untie { from, .. } => vec![(Link, *from)],
        Step::ConstraintBias {
            velocity, acceleration, ..
        } => vec![(Link, *velocity), (Link, *acceleration)],
        Step::TieRate { of, a, b, .. } => match of {
            TieRate::Rates => vec![(Link, *a), (Link, *b)],
            TieRate::Forces | TieRate::Gradient => vec![(Constraint, *a), (Link, *b)],
        },
        Step::LogDet { .. } => Vec::new(),
        Step::Matrix { space, by, from, .. } => {
            let side = space.side().unwrap_or(*space);
            vec![(Among::of(*space), *by), (Among::of(side), *from)]
        }
        Step::Cross { space, by, from, .. } => vec![(Among::of(*space), *by), (Among::of(*space), *from)],
        Step::PRate { along, .. } | Step::UpsilonRate { along, .. } => vec![(Joint, *along)],
        Step::PRateTimes { from, .. } => vec![(Link, *from)],
        Step::RootRate { from, .. } => vec![(Joint, *from)],
        Step::RateAdjoint { seeds, .. } => {
            let of = |seed: &Seed| match seed {
                Seed::P => Link,
                Seed::Root => Joint,
                Seed::LogDet => Numbers,
            };
            seeds.iter().flat_map(|(s, x, y)| [(of(s), *x), (of(s), *y)]).collect()
        }
        Step::Seen { from, .. } => vec![(Tip, *from)],
        Step::Dot { space, a, b, .. } => vec![(Among::of(*space), *a), (Among::of(*space), *b)],
        Step::Times {
            space, number, from, ..
        } => vec![(Numbers, *number), (Among::of(*space), *from)],
    }
}

impl Program {
    /// How many steps read a slot; the result is read once more.
    fn uses(&self, slot: (Among, Slot)) -> usize {
        let in_sweeps = self.sweeps.iter().flat_map(|s| s.steps.iter().chain(&s.after));
        let steps = self.before.iter().chain(in_sweeps);
        let read = steps.flat_map(reads).filter(|&read| read == slot).count();
        let results = self.results.iter().map(|r| (Among::of(r.0), r.1));
        read + results.filter(|r| *r == slot).count()
    }

    /// Joins steps, one pattern after the other, until nothing is left to join.
    pub(crate) fn fuse(&mut self) {
        for sweep in 0..self.sweeps.len() {
            while self.fuse_base(sweep) || self.fuse_sum(sweep) || self.fuse_weight(sweep) {}
            self.fuse_product(sweep);
        }
    }

    /// a + a₀, where both are needed for nothing else.
    fn fuse_base(&mut self, sweep: usize) -> bool {
        let steps = &self.sweeps[sweep].steps;
        let once = |slot: Slot| self.uses((Among::Link, slot)) == 1;
        for (at, step) in steps.iter().enumerate() {
            let Step::Combine { terms, to, .. } = step else {
                continue;
            };
            let [(1.0, x), (1.0, y)] = terms[..] else { continue };
            let own = |slot: Slot| {
                steps.iter().position(|s| match s {
                    Step::Coriolis { to, base: false, .. } => *to == slot,
                    _ => false,
                })
            };
            let base = |slot: Slot| {
                let is_it = |s: &Step| matches!(s, Step::BaseAcceleration { to } if *to == slot);
                steps.iter().position(is_it)
            };
            let found = own(x).zip(base(y)).or(own(y).zip(base(x)));
            let Some((own, base)) = found.filter(|_| once(x) && once(y)) else {
                continue;
            };
            let Step::Coriolis { velocity, qd, .. } = steps[own] else {
                continue;
            };
            let fused = Step::Coriolis {
                velocity,
                qd,
                base: true,
                to: *to,
            };
            self.replace(sweep, at, fused, &[own, base]);
            return true;
        }
        false
    }

    /// A sum of two that a recursion alone takes in.
    fn fuse_sum(&mut self, sweep: usize) -> bool {
        let steps = &self.sweeps[sweep].steps;
        for (at, step) in steps.iter().enumerate() {
            let Step::Core(Recursion {
                link_in: Some(slot),
                more: None,
                ..
            }) = *step
            else {
                continue;
            };
            let sum = steps.iter().position(|s| match s {
                Step::Combine { space, to, terms } => {
                    let plain = matches!(terms[..], [(1.0, _), (1.0, _)]);
                    Among::of(*space) == Among::Link && *to == slot && plain
                }
                _ => false,
            });
            let Some(sum) = sum.filter(|_| self.uses((Among::Link, slot)) == 1) else {
                continue;
            };
            let Step::Combine { terms, .. } = &steps[sum] else {
                continue;
            };
            let (x, y) = (terms[0].1, terms[1].1);
            let mut fused = step.clone();
            if let Step::Core(Recursion { link_in, more, .. }) = &mut fused {
                (*link_in, *more) = (Some(x), Some(y));
            }
            self.replace(sweep, at, fused, &[sum]);
            return true;
        }
        false
    }

    /// D⁻¹ times what a recursion gives the joints.
    fn fuse_weight(&mut self, sweep: usize) -> bool {
        let steps = &self.sweeps[sweep].steps;
        for (at, step) in steps.iter().enumerate() {
            let Step::Core(Recursion {
                joint_out: Some(slot),
                weighted: None,
                ..
            }) = *step
            else {
                continue;
            };
            let weight = steps
                .iter()
                .position(|s| matches!(s, Step::Local { local: Local::DInv, from, .. } if *from == slot));
            let Some(weight) = weight else { continue };
            let Step::Local { to, .. } = steps[weight] else {
                continue;
            };
            let alone = self.uses((Among::Joint, slot)) == 1;
            let mut fused = step.clone();
            if let Step::Core(Recursion {
                joint_out, weighted, ..
            }) = &mut fused
            {
                *weighted = Some(to);
                *joint_out = joint_out.filter(|_| !alone);
            }
            self.replace(sweep, at, fused, &[weight]);
            return true;
        }
        false
    }

    /// P x on the way of the Riccati recursion, while P is at hand; then P need not be kept for its sake.
    fn fuse_product(&mut self, sweep: usize) {
        let this = &mut self.sweeps[sweep];
        if !this.riccati {
            return;
        }
        let is_product = |s: &Step| matches!(s, Step::Local { local: Local::P, .. });
        let writes = |s: &Step, slot: Slot| match s {
            Step::BaseAcceleration { to } | Step::Coriolis { to, .. } | Step::Gyroscopic { to, .. } => *to == slot,
            Step::Local { to, .. } | Step::Shift { to, .. } | Step::Times { to, .. } => *to == slot,
            Step::Core(recursion) => recursion.link_out == slot,
            Step::Combine { to, .. } => *to == slot,
            _ => false,
        };
        let found = this.steps.iter().position(|s| match s {
            Step::Local { from, .. } => is_product(s) && !this.steps.iter().any(|w| writes(w, *from)),
            _ => false,
        });
        if let Some(at) = found
            && let Step::Local { from, to, .. } = this.steps.remove(at)
        {
            this.product = Some((from, to));
            let in_sweeps = self.sweeps.iter().flat_map(|s| &s.steps);
            let reads_p = |s: &Step| {
                matches!(
                    s,
                    Step::Local {
                        local: Local::P | Local::PInv,
                        ..
                    }
                )
            };
            self.keeps.p = in_sweeps.into_iter().any(reads_p);
        }
    }

    /// A step for one that is there, without those that it takes the place of.
    fn replace(&mut self, sweep: usize, at: usize, with: Step, gone: &[usize]) {
        let steps = &mut self.sweeps[sweep].steps;
        steps[at] = with;
        let mut place = 0;
        steps.retain(|_| {
            place += 1;
            !gone.contains(&(place - 1))
        });
    }
}
