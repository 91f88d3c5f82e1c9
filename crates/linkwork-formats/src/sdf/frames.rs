//! Where everything is: poses in the world, and the links that frames are fixed to.

use super::expand::{Expansion, Kind, WORLD};
use crate::report::Findings;
use crate::source::{At, shortened};
use linkwork::spatial::{Pose, Vec3};

/// So many steps from frame to frame are followed to find the frames that models are placed by.
const MOST_STEPS: usize = 10_000_000;

/// What is known of every node.
pub(super) struct Places {
    /// In the world.
    pub(super) poses: Vec<Pose>,
    /// The link that it moves with; none for the world.
    pub(super) held: Vec<Option<usize>>,
    /// What each is placed by, and where on it.
    bases: Vec<usize>,
    shifts: Vec<Pose>,
    /// How many steps each is from the world.
    depths: Vec<u32>,
}

/// A direction, seen from a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Direction {
    pub(super) node: usize,
    pub(super) along: Vec3,
}

impl Places {
    /// Where a node is, seen from another: what the file says where one is placed by the other, and through as few others as
    /// there are otherwise. Positions of both in the world would cost digits.
    pub(super) fn seen_from(&self, from: usize, to: usize) -> Pose {
        /// Through more of them the way by the world is as good.
        const MOST_STEPS: usize = 64;
        let (mut a, mut b) = (from, to);
        let (mut down, mut up): (Option<Pose>, Option<Pose>) = (None, None);
        let before = |n: usize, pose: Option<Pose>| Some(pose.map_or(self.shifts[n], |pose| self.shifts[n] * pose));
        for _ in 0..MOST_STEPS {
            if a == b {
                return match (up, down) {
                    (None, None) => Pose::IDENTITY,
                    (None, Some(down)) => down,
                    (Some(up), None) => up.inverse(),
                    (Some(up), Some(down)) => up.inverse() * down,
                };
            }
            if self.depths[a] > self.depths[b] {
                up = before(a, up);
                a = self.bases[a];
            } else {
                down = before(b, down);
                b = self.bases[b];
            }
        }
        self.poses[from].inverse() * self.poses[to]
    }

    /// A direction seen from a node.
    pub(super) fn along(&self, node: usize, direction: Direction) -> Vec3 {
        self.seen_from(node, direction.node).rotation * direction.along
    }
}

/// Finds the places of all nodes, or reports why not.
pub(super) fn resolve(x: &Expansion<'_>, f: &mut Findings) -> Option<Places> {
    let bases: Vec<usize> = (0..x.nodes.len()).map(|n| base(x, n, f)).collect();
    if f.failed() {
        return None;
    }
    let order = order(x, &bases, "its pose is relative to itself in the end", f)?;
    let held = held(x, f)?;
    let mut shifts: Vec<Pose> = x.nodes.iter().map(|n| n.pose).collect();
    placements(x, &bases, &mut shifts, f);
    if f.failed() {
        return None;
    }
    let mut poses = vec![Pose::IDENTITY; x.nodes.len()];
    let mut depths = vec![0; x.nodes.len()];
    for n in order {
        if n != WORLD {
            poses[n] = poses[bases[n]] * shifts[n];
            depths[n] = depths[bases[n]] + 1;
        }
    }
    Some(Places {
        poses,
        held,
        bases,
        shifts,
        depths,
    })
}

fn at<'a>(x: &'a Expansion<'_>, n: usize) -> At<'a> {
    let what = match x.nodes[n].kind {
        Kind::World => "world",
        Kind::Model { .. } => "model",
        Kind::Link(_) => "link",
        Kind::Joint(_) => "joint",
        Kind::Frame { .. } => "frame",
    };
    At::new(x.nodes[n].spot, what, &x.nodes[n].name)
}

/// What the pose of a node is relative to.
fn base(x: &Expansion<'_>, n: usize, f: &mut Findings) -> usize {
    let node = &x.nodes[n];
    let Some(name) = &node.relative_to else {
        return node.base.unwrap_or(WORLD);
    };
    x.find(n, name).unwrap_or_else(|| {
        lost(x, n, name, f);
        WORLD
    })
}

pub(super) fn lost(x: &Expansion<'_>, n: usize, name: &str, f: &mut Findings) {
    let message = format!("it refers to `{}`, which does not exist here", shortened(name));
    let (code, advice) = match x.nodes[n].kind {
        Kind::Joint(_) => ("missing-link", "correct the name, or add the link"),
        _ => (
            "missing-frame",
            "name a link, joint, frame or model of the same model, or a::b in one of its models",
        ),
    };
    f.error(at(x, n), code, message, advice);
}

/// Nodes with each after what it depends on; a ring is reported.
fn order(x: &Expansion<'_>, next: &[usize], problem: &str, f: &mut Findings) -> Option<Vec<usize>> {
    // Zero: not met, one: being followed, two: done.
    let mut state = vec![0_u8; next.len()];
    state[WORLD] = 2;
    let mut order = vec![WORLD];
    for start in 0..next.len() {
        let mut path = Vec::new();
        let mut n = start;
        while state[n] == 0 {
            state[n] = 1;
            path.push(n);
            n = next[n];
        }
        if state[n] == 1 {
            f.error(
                at(x, n),
                "frame-cycle",
                problem,
                "let one of them be relative to something else",
            );
            return None;
        }
        path.iter().for_each(|&n| state[n] = 2);
        order.extend(path.into_iter().rev());
    }
    Some(order)
}

/// The links that nodes move with.
fn held(x: &Expansion<'_>, f: &mut Findings) -> Option<Vec<Option<usize>>> {
    let mut next = vec![WORLD; x.nodes.len()];
    for (n, node) in x.nodes.iter().enumerate() {
        let mut named = |name: &str, scope: usize, model: usize| {
            x.find_in(scope, model, name).unwrap_or_else(|| {
                lost(x, n, name, f);
                WORLD
            })
        };
        next[n] = match &node.kind {
            Kind::World | Kind::Link(_) => WORLD,
            Kind::Joint(j) => named(&x.joints[*j].child, node.scope, node.model),
            Kind::Frame {
                attached_to: Some(name),
            } => named(name, node.scope, node.model),
            Kind::Frame { attached_to: None } => node.model,
            Kind::Model {
                inner,
                canonical: Some(name),
                ..
            } => named(name, *inner, n),
            Kind::Model { first, .. } => first.unwrap_or(WORLD),
        };
    }
    if f.failed() {
        return None;
    }
    let order = order(x, &next, "it is attached to itself in the end", f)?;
    let mut held = vec![None; x.nodes.len()];
    for n in order {
        held[n] = match x.nodes[n].kind {
            Kind::Link(link) => Some(link),
            _ => held[next[n]],
        };
    }
    Some(held)
}

/// Turns the poses of frames that models are placed by into those of the models.
fn placements(x: &Expansion<'_>, bases: &[usize], shifts: &mut [Pose], f: &mut Findings) {
    let mut steps = 0;
    // Inner models come after outer ones, and are placed first.
    for model in (0..x.nodes.len()).rev() {
        let Kind::Model {
            inner,
            placement: Some(name),
            ..
        } = &x.nodes[model].kind
        else {
            continue;
        };
        let Some(mut n) = x.find_in(*inner, model, name) else {
            lost(x, model, name, f);
            return;
        };
        let mut inside = Pose::IDENTITY;
        while n != model {
            inside = shifts[n] * inside;
            n = bases[n];
            steps += 1;
            if n == WORLD || steps > MOST_STEPS {
                let message = format!("`{}`, which it is placed by, is not in the model", shortened(name));
                f.error(at(x, model), "placement-frame", message, "name a frame of the model");
                return;
            }
        }
        shifts[model] = shifts[model] * inside.inverse();
    }
}
