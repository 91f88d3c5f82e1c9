//! A schedule as steps on numbered vectors.

use super::graph::{Graph, Id, Local, Node, Seed};
use super::node::TieRate;
use super::plain_sweeps::Plain;
use super::recursion::Recursion;
use super::schedule::{Keeps, Schedule, joint_result};
use super::space::Space;
use super::sum::Vector;
use std::sync::Arc;

/// Where a vector is kept, among those of its space.
pub(crate) type Slot = usize;

#[derive(Clone, Debug)]
pub(crate) enum Step {
    BaseAcceleration {
        to: Slot,
    },
    /// a, and a₀ if `base`.
    Coriolis {
        velocity: Slot,
        qd: Slot,
        base: bool,
        to: Slot,
    },
    Gyroscopic {
        velocity: Slot,
        to: Slot,
    },
    Local {
        local: Local,
        from: Slot,
        to: Slot,
    },
    Shift {
        from: Slot,
        to: Slot,
        gathered: usize,
    },
    Core(Recursion),
    Combine {
        space: Space,
        terms: Vec<(f64, Slot)>,
        to: Slot,
    },
    Spread {
        from: Slot,
        to: Slot,
    },
    Pick {
        from: Slot,
        to: Slot,
    },
    Dot {
        space: Space,
        a: Slot,
        b: Slot,
        to: Slot,
    },
    Times {
        space: Space,
        number: Slot,
        from: Slot,
        to: Slot,
    },
    /// A dense inverse times a vector, from one space to another.
    Solve {
        which: usize,
        spaces: (Space, Space),
        from: Slot,
        to: Slot,
    },
    /// An augmented inverse on a joint vector and forces on links; the links' motions go to `link_out`.
    Augmented {
        which: usize,
        joint_in: Option<Slot>,
        link_in: Option<Slot>,
        joint_out: Option<Slot>,
        link_out: Slot,
    },
    /// diag(by) from, or its inverse.
    Diagonal {
        space: Space,
        by: Slot,
        inverted: bool,
        from: Slot,
        to: Slot,
    },
    /// A matrix that is given, times from.
    Matrix {
        space: Space,
        by: Slot,
        from: Slot,
        to: Slot,
    },
    /// A frame by its place among the names.
    Select {
        name: usize,
        from: Slot,
        to: Slot,
    },
    Place {
        name: usize,
        from: Slot,
        to: Slot,
    },
    Tie {
        from: Slot,
        to: Slot,
    },
    Untie {
        from: Slot,
        to: Slot,
    },
    ConstraintBias {
        velocity: Slot,
        acceleration: Slot,
        to: Slot,
    },
    /// Of the form Y*Ḃc[X]λ, from two of these.
    TieRate {
        of: TieRate,
        a: Slot,
        b: Slot,
        to: Slot,
    },
    /// Σ log det D.
    LogDet {
        to: Slot,
    },
    /// by × from of motions, or by ×* from of a force.
    Cross {
        force: bool,
        space: Space,
        by: Slot,
        from: Slot,
        to: Slot,
    },
    /// Ṗ where the joints move as `along`, into a place for matrices.
    PRate {
        along: Slot,
        to: usize,
    },
    /// r, into a place for matrices.
    Composite {
        to: usize,
    },
    /// Υ̇ from Ṗ.
    UpsilonRate {
        of_p: usize,
        along: Slot,
        to: usize,
    },
    PRateTimes {
        rate: usize,
        from: Slot,
        to: Slot,
    },
    RootRate {
        rate: usize,
        star: bool,
        from: Slot,
        to: Slot,
    },
    /// The gradient by w of Σ x*Ṗ[w]y and the like; `room` is a place for matrices.
    RateAdjoint {
        seeds: Vec<(Seed, Slot, Slot)>,
        room: usize,
        to: Slot,
    },
    Seen {
        from: Slot,
        to: Slot,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct ProgramSweep {
    pub(crate) inward: bool,
    pub(crate) riccati: bool,
    /// P times a vector, made along with P.
    pub(crate) product: Option<(Slot, Slot)>,
    pub(crate) upsilon: bool,
    pub(crate) steps: Vec<Step>,
    pub(crate) after: Vec<Step>,
    /// The steps, where they are one recursion.
    pub(crate) plain: Option<Plain>,
}

/// How many vectors of each space there are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Room {
    pub(crate) numbers: usize,
    pub(crate) joint: usize,
    pub(crate) link: usize,
    pub(crate) tip: usize,
    pub(crate) frame: usize,
    pub(crate) constraint: usize,
    /// Matrices that are given.
    pub(crate) squares: usize,
    /// Sums over children, of inward recursions.
    pub(crate) gathered: usize,
    /// Matrices of every link: rates of P.
    pub(crate) matrices: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) inputs: Vec<(Vector, Slot)>,
    /// The frames that are named.
    pub(crate) names: Vec<Arc<str>>,
    pub(crate) before: Vec<Step>,
    pub(crate) sweeps: Vec<ProgramSweep>,
    pub(crate) keeps: Keeps,
    pub(crate) room: Room,
    pub(crate) results: Vec<(Space, Slot)>,
    /// Where each node of the graph is kept, if it is.
    pub(crate) slots: Vec<Option<Slot>>,
}

struct Writer<'a> {
    graph: &'a Graph,
    slots: Vec<Option<Slot>>,
    room: Room,
    names: Vec<Arc<str>>,
}

impl Program {
    /// The Riccati recursion inward, that of Υ outward, and nothing else.
    pub(crate) fn of_upsilon() -> Self {
        let sweep = |inward: bool| ProgramSweep {
            inward,
            riccati: inward,
            product: None,
            upsilon: !inward,
            steps: Vec::new(),
            after: Vec::new(),
            plain: None,
        };
        Self {
            inputs: Vec::new(),
            names: Vec::new(),
            before: Vec::new(),
            sweeps: vec![sweep(true), sweep(false)],
            keeps: Keeps {
                gains: true,
                upsilon: true,
                ..Keeps::default()
            },
            room: Room {
                numbers: 1,
                ..Room::default()
            },
            results: Vec::new(),
            slots: Vec::new(),
        }
    }

    pub(crate) fn new(graph: &Graph, schedule: &Schedule) -> Self {
        let mut writer = Writer {
            graph,
            slots: vec![None; graph.nodes.len()],
            names: Vec::new(),
            room: Room {
                numbers: 1,
                ..Room::default()
            },
        };
        let mut inputs = Vec::new();
        for (id, node) in graph.nodes.iter().enumerate() {
            if let Node::Given(vector) = node {
                inputs.push((vector.clone(), writer.slot(id)));
            }
        }
        // What is inside of inverses is given too.
        let inside = graph.solves.iter().map(|s| &s.0).chain(&graph.augmented);
        for vector in inside.flat_map(super::sum::Sum::vectors) {
            if !inputs.iter().any(|(known, _)| *known == vector) {
                let slot = writer.room_for(vector.space);
                inputs.push((vector, slot));
            }
        }
        let before = writer.steps(&schedule.before);
        let mut sweeps = Vec::new();
        for sweep in &schedule.sweeps {
            sweeps.push(ProgramSweep {
                inward: sweep.inward,
                riccati: sweep.riccati,
                product: None,
                upsilon: sweep.upsilon,
                steps: writer.steps(&sweep.nodes),
                after: writer.steps(&sweep.after),
                plain: None,
            });
        }
        let results = graph
            .results
            .iter()
            .map(|&id| (graph.spaces[id], writer.slot(id)))
            .collect();
        let mut program = Self {
            inputs,
            names: writer.names,
            before,
            sweeps,
            keeps: schedule.keeps,
            results,
            room: writer.room,
            slots: writer.slots,
        };
        program.fuse();
        for sweep in &mut program.sweeps {
            sweep.plain = Plain::of(sweep);
        }
        program
    }
}

impl Writer<'_> {
    /// The slot of a node; of the number one, the first of the numbers.
    fn slot(&mut self, id: Id) -> Slot {
        if let Some(slot) = self.slots[id] {
            return slot;
        }
        let slot = match self.graph.nodes[id] {
            Node::Unit => 0,
            // What a recursion gives the links is kept in its own place.
            Node::Link(core) => return self.slot(core),
            Node::PRate(_) | Node::UpsilonRate(..) | Node::Composite => self.matrix(),
            _ => self.room_for(self.graph.spaces[id]),
        };
        self.slots[id] = Some(slot);
        slot
    }

    /// A new slot.
    fn room_for(&mut self, space: Space) -> Slot {
        let kept = match space {
            Space::Number => &mut self.room.numbers,
            Space::Joint => &mut self.room.joint,
            Space::Motion | Space::Force => &mut self.room.link,
            Space::Tip => &mut self.room.tip,
            Space::Frame => &mut self.room.frame,
            Space::Constraint => &mut self.room.constraint,
            Space::JointSquare | Space::TipSquare | Space::FrameSquare | Space::ConstraintSquare => {
                &mut self.room.squares
            }
        };
        *kept += 1;
        *kept - 1
    }

    fn name(&mut self, name: &Arc<str>) -> usize {
        let known = self.names.iter().position(|n| n == name);
        known.unwrap_or_else(|| {
            self.names.push(name.clone());
            self.names.len() - 1
        })
    }

    /// A new place for matrices.
    fn matrix(&mut self) -> usize {
        self.room.matrices += 1;
        self.room.matrices - 1
    }

    fn gathered(&mut self) -> usize {
        self.room.gathered += 1;
        self.room.gathered - 1
    }

    fn steps(&mut self, ids: &[Id]) -> Vec<Step> {
        ids.iter().filter_map(|&id| self.step(id)).collect()
    }

    fn step(&mut self, id: Id) -> Option<Step> {
        let to = self.slot(id);
        Some(match &self.graph.nodes[id] {
            Node::Unit | Node::Given(_) | Node::Joint(_) | Node::Link(_) => return None,
            Node::BaseAcceleration => Step::BaseAcceleration { to },
            Node::Coriolis(velocity, qd) => Step::Coriolis {
                velocity: self.slot(*velocity),
                qd: self.slot(*qd),
                base: false,
                to,
            },
            Node::Gyroscopic(velocity) => Step::Gyroscopic {
                velocity: self.slot(*velocity),
                to,
            },
            Node::Local(local, from) => Step::Local {
                local: *local,
                from: self.slot(*from),
                to,
            },
            Node::Shift(inward, from) => Step::Shift {
                from: self.slot(*from),
                to,
                gathered: if *inward { self.gathered() } else { 0 },
            },
            Node::Core(core, t, x) => {
                let joint = self.graph.nodes.iter().position(|n| *n == Node::Joint(id));
                debug_assert_eq!(joint.is_some(), joint_result(self.graph, id));
                Step::Core(Recursion {
                    core: *core,
                    joint_in: t.map(|t| self.slot(t)),
                    link_in: x.map(|x| self.slot(x)),
                    more: None,
                    joint_out: joint.map(|j| self.slot(j)),
                    weighted: None,
                    link_out: to,
                    gathered: if core.inward() { self.gathered() } else { 0 },
                })
            }
            Node::Combine(terms, space) => Step::Combine {
                space: *space,
                terms: terms.iter().map(|&(s, i)| (f64::from_bits(s), self.slot(i))).collect(),
                to,
            },
            Node::Spread(from) => Step::Spread {
                from: self.slot(*from),
                to,
            },
            Node::Pick(from) => Step::Pick {
                from: self.slot(*from),
                to,
            },
            Node::Dot(a, b) => Step::Dot {
                space: self.graph.spaces[*a],
                a: self.slot(*a),
                b: self.slot(*b),
                to,
            },
            Node::Solve(which, from) => Step::Solve {
                which: *which,
                spaces: (self.graph.spaces[id], self.graph.spaces[*from]),
                from: self.slot(*from),
                to,
            },
            Node::Augmented(which, t, x) => {
                let joint = self.graph.nodes.iter().position(|n| *n == Node::Joint(id));
                Step::Augmented {
                    which: *which,
                    joint_in: t.map(|t| self.slot(t)),
                    link_in: x.map(|x| self.slot(x)),
                    joint_out: joint.map(|j| self.slot(j)),
                    link_out: to,
                }
            }
            Node::Diagonal(by, inverted, from) => Step::Diagonal {
                space: self.graph.spaces[id],
                by: self.slot(*by),
                inverted: *inverted,
                from: self.slot(*from),
                to,
            },
            Node::Matrix(by, from) => Step::Matrix {
                space: self.graph.spaces[*by],
                by: self.slot(*by),
                from: self.slot(*from),
                to,
            },
            Node::Select(name, from) => Step::Select {
                name: self.name(name),
                from: self.slot(*from),
                to,
            },
            Node::Place(name, from) => Step::Place {
                name: self.name(name),
                from: self.slot(*from),
                to,
            },
            Node::Tie(from) => Step::Tie {
                from: self.slot(*from),
                to,
            },
            Node::Untie(from) => Step::Untie {
                from: self.slot(*from),
                to,
            },
            Node::ConstraintBias(velocity, acceleration) => Step::ConstraintBias {
                velocity: self.slot(*velocity),
                acceleration: self.slot(*acceleration),
                to,
            },
            Node::TieRate(of, a, b) => Step::TieRate {
                of: *of,
                a: self.slot(*a),
                b: self.slot(*b),
                to,
            },
            Node::LogDet => Step::LogDet { to },
            Node::Cross(force, by, from) => Step::Cross {
                force: *force,
                space: self.graph.spaces[id],
                by: self.slot(*by),
                from: self.slot(*from),
                to,
            },
            Node::PRate(along) => Step::PRate {
                along: self.slot(*along),
                to,
            },
            Node::Composite => Step::Composite { to },
            Node::UpsilonRate(of_p, along) => Step::UpsilonRate {
                of_p: self.slot(*of_p),
                along: self.slot(*along),
                to,
            },
            Node::PRateTimes(rate, from) => Step::PRateTimes {
                rate: self.slot(*rate),
                from: self.slot(*from),
                to,
            },
            Node::RootRate(rate, star, from) => Step::RootRate {
                rate: self.slot(*rate),
                star: *star,
                from: self.slot(*from),
                to,
            },
            Node::RateAdjoint(seeds) => Step::RateAdjoint {
                seeds: seeds.iter().map(|&(s, x, y)| (s, self.slot(x), self.slot(y))).collect(),
                room: self.matrix(),
                to,
            },
            Node::Seen(from) => Step::Seen {
                from: self.slot(*from),
                to,
            },
            Node::Times(number, from) => Step::Times {
                space: self.graph.spaces[*from],
                number: self.slot(*number),
                from: self.slot(*from),
                to,
            },
        })
    }
}
