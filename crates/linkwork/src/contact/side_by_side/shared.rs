//! What worlds ask for, and one sweep that answers all of them.

use crate::Mechanism;
use crate::body::Gain;
use crate::model::FrameId;
use crate::simd::Lanes;
use crate::spatial::{Motion, Pose, Reference, Rotation, Vec3};
use crate::workspace::{Augmented, Masses, Workspace};

/// A sweep that worlds ask for. Those that ask for the same are served together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// To take in q and v: only when all worlds ask for it.
    Configure,
    Yields,
    Element {
        body: usize,
        dof: usize,
    },
    Pivots,
    InverseDynamics {
        accelerating: bool,
    },
    /// By operations that depend on whether there is a diagonal.
    Factor {
        diagonal: bool,
    },
    Solve {
        pushed: bool,
    },
    Move,
    Energy,
    Gather,
    Innovate {
        ends: [Option<usize>; 2],
    },
}

/// What all lanes share: arguments and results of sweeps, a lane to each world.
pub(super) struct Shared<S: 'static> {
    pub(super) workspace: Workspace<S>,
    pub(super) memory: Augmented<S>,
    pub(super) frames: Vec<FrameId>,
    pub(super) poses: Vec<Pose<S>>,
    pub(super) motions: Vec<Motion<S>>,
    pub(super) q: Vec<S>,
    pub(super) v: Vec<S>,
    pub(super) x: Vec<S>,
    pub(super) out: Vec<S>,
    pub(super) energy: S,
    pub(super) yields: Vec<[[S; 6]; 6]>,
    pub(super) pair: [[S; 6]; 2],
    pub(super) weighed: Vec<S>,
    pub(super) room: Vec<S>,
    /// Per lane: what it waits for, and whether its 𝓐 has a diagonal and has been eliminated.
    pub(super) asks: Vec<Option<Ask>>,
    pub(super) diagonal: Vec<bool>,
    pub(super) factored: Vec<bool>,
    pub(super) gains: Vec<Gain<S>>,
}

impl<S: Lanes<Element = f64>> Shared<S> {
    pub(super) fn new(m: &Mechanism, frames: &[FrameId]) -> Self {
        let (links, nv) = (m.compiled.bodies.len(), m.nv());
        let mut memory = m.augmented_of();
        memory.0.kept.start(links, m.compiled.nv);
        let zeros = |n: usize| vec![S::ZERO; n];
        Self {
            workspace: m.workspace_of(),
            memory,
            frames: frames.to_vec(),
            poses: vec![Pose::IDENTITY; frames.len()],
            motions: vec![Motion::ZERO; frames.len()],
            q: m.neutral().into_iter().map(S::lift).collect(),
            v: zeros(nv),
            x: zeros(nv),
            out: zeros(nv),
            energy: S::ZERO,
            yields: vec![[[S::ZERO; 6]; 6]; links],
            pair: [[S::ZERO; 6]; 2],
            weighed: zeros(nv),
            room: zeros(2 * nv),
            asks: vec![None; S::LANES],
            diagonal: vec![false; S::LANES],
            factored: vec![false; S::LANES],
            gains: Vec::new(),
        }
    }

    /// What most lanes wait for; nothing when all are done.
    pub(super) fn most_wanted(&self) -> Option<Ask> {
        let asked = || self.asks.iter().flatten();
        let wanted = |ask: &Ask| match ask {
            Ask::Configure => 0,
            _ => asked().filter(|other| *other == ask).count(),
        };
        asked().max_by_key(|ask| wanted(ask)).copied()
    }

    pub(super) fn answer(&mut self, ask: Ask) {
        let at = &mut self.workspace;
        match ask {
            Ask::Configure => {
                let mut posed = at.at_unchecked(&self.q);
                for (pose, frame) in self.poses.iter_mut().zip(&self.frames) {
                    *pose = posed.pose_of(*frame);
                }
                let fits = posed.augment(&mut self.memory, Masses::Kept).is_ok();
                debug_assert!(fits, "the memory was made for this mechanism");
                self.diagonal.fill(false);
                self.factored.fill(false);
                at.set_velocity(&self.v);
                let mut moving = at.moving_again();
                for (motion, frame) in self.motions.iter_mut().zip(&self.frames) {
                    *motion = moving.velocity_of(*frame, Reference::Aligned);
                }
            }
            Ask::Yields => at.at_again().compliances_unchecked(&mut self.yields),
            Ask::Element { body, dof } => {
                // Of a mechanism without couplings nothing is refused.
                if let Ok(element) = at.at_again().inverse_mass_element(body, dof, &mut self.room) {
                    self.out[0] = element;
                }
            }
            Ask::Pivots => at.at_again().inverse_mass_pivots(&mut self.out),
            Ask::InverseDynamics { accelerating } => {
                at.set_velocity(&self.v);
                let mut moving = at.moving_again();
                match accelerating {
                    true => moving.inverse_dynamics_unchecked(&self.x, &mut self.out),
                    false => moving.bias_unchecked(&mut self.out),
                }
            }
            Ask::Factor { diagonal } => self.factor(diagonal),
            Ask::Solve { pushed } => {
                let mut posed = at.at_again();
                let mut a = posed.resume(&mut self.memory);
                a.solve_pushed(Some(&self.x), pushed, &mut self.out);
            }
            Ask::Move => at.at_again().resume(&mut self.memory).move_links(&self.x),
            Ask::Energy => {
                let mut posed = at.at_again();
                let mut a = posed.resume(&mut self.memory);
                a.move_links(&self.x);
                self.energy = a.energy_moved(&self.x);
            }
            Ask::Gather => at.at_again().resume(&mut self.memory).gather(&mut self.out),
            Ask::Innovate { ends } => {
                let mut posed = at.at_again();
                let mut a = posed.resume(&mut self.memory);
                a.innovations(ends, &self.pair, &mut self.out, &mut self.weighed);
            }
        }
    }

    /// D and G of lanes whose 𝓐 has a diagonal, or of those whose has none; the others keep theirs.
    fn factor(&mut self, diagonal: bool) {
        let others = |lane: usize| self.factored[lane] && self.diagonal[lane] != diagonal;
        let mixed = (0..S::LANES).any(others);
        if mixed {
            self.gains.clone_from(&self.memory.0.gains);
        }
        (self.memory.0.has_diagonal, self.memory.0.is_factored) = (diagonal, false);
        self.workspace.at_again().resume(&mut self.memory).factor_unchecked();
        for lane in (0..S::LANES).filter(|lane| mixed && others(*lane)) {
            for (new, old) in self.memory.0.gains.iter_mut().zip(&self.gains) {
                new.d_inv.put(lane, old.d_inv.at(lane));
                for (new, old) in new.g.iter_mut().zip(&old.g) {
                    new.put(lane, old.at(lane));
                }
            }
        }
    }
}

pub(super) fn put<S: Lanes<Element = f64>>(lane: usize, from: &[f64], to: &mut [S]) {
    for (to, from) in to.iter_mut().zip(from) {
        to.put(lane, *from);
    }
}

pub(super) fn take<S: Lanes<Element = f64>>(lane: usize, from: &[S], to: &mut [f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = from.at(lane);
    }
}

#[inline(always)]
pub(super) fn vector<S: Lanes<Element = f64>>(lane: usize, x: &Vec3<S>) -> Vec3 {
    Vec3::new(x.x.at(lane), x.y.at(lane), x.z.at(lane))
}

#[inline(always)]
pub(super) fn six<S: Lanes<Element = f64>>(lane: usize, one: &Vec3<S>, two: &Vec3<S>) -> [f64; 6] {
    let (one, two) = (vector(lane, one), vector(lane, two));
    [one.x, one.y, one.z, two.x, two.y, two.z]
}

#[inline(always)]
pub(super) fn pose<S: Lanes<Element = f64>>(lane: usize, pose: &Pose<S>) -> Pose {
    let turn = &pose.rotation;
    Pose {
        rotation: Rotation {
            x: vector(lane, &turn.x),
            y: vector(lane, &turn.y),
            z: vector(lane, &turn.z),
        },
        translation: vector(lane, &pose.translation),
    }
}
