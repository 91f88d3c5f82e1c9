//! Seeded random mechanisms and states.

use linkwork::Mechanism;
use linkwork::model::{Joint, JointKind, Link};
use linkwork::spatial::{Inertia, Pose, Rotation, Vec3};
use std::f64::consts::{FRAC_PI_2, PI};

/// SplitMix64.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In [low, high).
    pub fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// In 0..n.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    pub fn chance(&mut self, p: f64) -> bool {
        self.within(0.0, 1.0) < p
    }

    pub fn numbers(&mut self, n: usize, size: f64) -> Vec<f64> {
        (0..n).map(|_| self.within(-size, size)).collect()
    }

    pub fn vector(&mut self, size: f64) -> Vec3 {
        let mut x = || self.within(-size, size);
        Vec3::new(x(), x(), x())
    }

    /// A unit vector, any direction alike.
    pub fn direction(&mut self) -> Vec3 {
        loop {
            let v = self.vector(1.0);
            if (0.1..=1.0).contains(&v.norm()) {
                return v * (1.0 / v.norm());
            }
        }
    }

    /// A unit quaternion, any rotation alike.
    pub fn quaternion(&mut self) -> [f64; 4] {
        loop {
            let q = [0; 4].map(|_| self.within(-1.0, 1.0));
            let norm = q.iter().map(|x| x * x).sum::<f64>().sqrt();
            if (0.1..=1.0).contains(&norm) {
                return q.map(|x| x / norm);
            }
        }
    }

    /// Any rotation, or exactly none, or exact quarter turns.
    pub fn rotation(&mut self) -> Rotation {
        match self.below(8) {
            0 | 1 => Rotation::IDENTITY,
            2 => {
                let x = [
                    Vec3::new(1.0, 0.0, 0.0),
                    Vec3::new(0.0, 1.0, 0.0),
                    Vec3::new(0.0, 0.0, 1.0),
                ];
                let (i, sign) = (self.below(3), if self.chance(0.5) { 1.0 } else { -1.0 });
                let (x, y) = (x[i], x[(i + 1) % 3] * sign);
                Rotation { x, y, z: x.cross(y) }
            }
            3 => Rotation::from_rpy(FRAC_PI_2, 0.0, self.within(-PI, PI)),
            _ => Rotation::from_quaternion(self.quaternion()),
        }
    }

    pub fn pose(&mut self) -> Pose {
        let offset = if self.chance(0.2) { Vec3::ZERO } else { self.vector(0.5) };
        Pose::new(self.rotation(), offset)
    }

    /// A body that could exist: its three second moments are positive.
    pub fn inertia(&mut self) -> Inertia {
        let mass = self.within(0.2, 3.0);
        let [a, b, c] = [0; 3].map(|_| mass * self.within(0.005, 0.1));
        let about = Inertia::new(mass, Vec3::ZERO, [b + c, 0.0, 0.0, a + c, 0.0, a + b]);
        let com = if self.chance(0.1) { Vec3::ZERO } else { self.vector(0.2) };
        about.seen_from(&Pose::new(self.rotation(), com))
    }

    pub fn shuffle<T>(&mut self, x: &mut [T]) {
        for i in (1..x.len()).rev() {
            x.swap(i, self.below(i + 1));
        }
    }

    /// An axis of any length: general or along a coordinate axis.
    fn axis(&mut self) -> Vec3 {
        let sign = if self.chance(0.5) { 1.0 } else { -1.0 };
        match self.below(8) {
            0 => Vec3::new(sign, 0.0, 0.0),
            1 => Vec3::new(0.0, sign, 0.0),
            2 | 3 => Vec3::new(0.0, 0.0, sign),
            _ => self.direction() * self.within(0.5, 2.0),
        }
    }

    /// A unit vector at a right angle to another.
    fn across(&mut self, a: Vec3) -> Vec3 {
        let b = loop {
            let b = a.cross(self.direction());
            if b.norm() > 0.1 * a.norm() {
                break b;
            }
        };
        b * (1.0 / b.norm())
    }

    /// An axis that stands in a telling way to the parent's: parallel, orthogonal, almost parallel.
    fn axis_beside(&mut self, inner: Vec3) -> Vec3 {
        let a = inner * (1.0 / inner.norm());
        match self.below(6) {
            0 => a,
            1 => -a,
            2 => self.across(a),
            3 | 4 => {
                let angle = 10f64.powf(self.within(-9.0, -3.0));
                a * angle.cos() + self.across(a) * angle.sin()
            }
            _ => {
                let angle = self.within(0.2, 0.4);
                a * angle.cos() + self.across(a) * angle.sin()
            }
        }
    }
}

/// The axis of a joint that the next joint's may be parallel to, in the link's frame.
fn outer_axis(kind: &JointKind) -> Option<Vec3> {
    match *kind {
        JointKind::Revolute { axis }
        | JointKind::Continuous { axis }
        | JointKind::Prismatic { axis }
        | JointKind::Helical { axis, .. }
        | JointKind::Cylindrical { axis } => Some(axis),
        JointKind::Universal { axes } => Some(axes[1]),
        JointKind::Planar => Some(Vec3::new(0.0, 0.0, 1.0)),
        _ => None,
    }
}

/// How links are hung up.
#[derive(Clone, Copy)]
enum Shape {
    Chain,
    Star,
    Bush,
    Forest,
}

impl Shape {
    /// The parent of link k > 0.
    fn parent(self, random: &mut Random, k: usize) -> Option<usize> {
        let recent = k - 1 - random.below(k.min(4));
        match self {
            Self::Chain => Some(k - 1),
            Self::Star => Some(if random.chance(0.7) { 0 } else { random.below(k) }),
            Self::Bush => Some(if random.chance(0.5) { recent } else { random.below(k) }),
            Self::Forest => (!random.chance(0.25)).then_some(recent),
        }
    }
}

/// A joint kind: mostly one axis, every other kind now and then. `inner` is the parent joint's axis in this joint's frame.
fn joint_kind(random: &mut Random, inner: Option<Vec3>) -> JointKind {
    let axis = match inner {
        Some(inner) if random.chance(0.4) => random.axis_beside(inner),
        _ => random.axis(),
    };
    match random.below(16) {
        0..=5 => JointKind::Revolute { axis },
        6 => JointKind::Continuous { axis },
        7 | 8 => JointKind::Prismatic { axis },
        9 => {
            let pitch = random.within(-0.3, 0.3);
            JointKind::Helical { axis, pitch }
        }
        10 => JointKind::Cylindrical { axis },
        11 => {
            // At right angles, or as far from it as sixty degrees.
            let lean = if random.chance(0.5) {
                0.0
            } else {
                random.within(-0.8, 0.8)
            };
            let second = random.across(axis) * random.within(0.5, 2.0) + axis * lean;
            JointKind::Universal { axes: [axis, second] }
        }
        12 => JointKind::Planar,
        13 => JointKind::Translation,
        14 => JointKind::Spherical,
        _ => JointKind::Free,
    }
}

/// A mechanism of 1 to `max_links` links with at least one degree of freedom: any shape, every kind of joint, links and
/// joints in any order. Every moving joint carries a body. About half of them have rotors.
pub fn random_tree(seed: u64, max_links: usize) -> Mechanism {
    let mut random = Random::new(seed);
    let random = &mut random;
    let n = 1 + random.below(max_links);
    let shape = [Shape::Chain, Shape::Star, Shape::Bush, Shape::Forest][random.below(4)];
    let fixed = if random.chance(0.5) { 0.15 } else { 0.0 };
    let rotors = if random.chance(0.5) { 0.3 } else { 0.0 };
    let mut joints: Vec<Joint> = Vec::with_capacity(n);
    let mut links: Vec<Link> = Vec::with_capacity(n);
    for k in 0..n {
        let parent = if k == 0 { None } else { shape.parent(random, k) };
        let origin = random.pose();
        let inner = parent
            .and_then(|p| outer_axis(&joints[p].kind))
            .map(|a| origin.rotation.inverse_mul(a));
        let last_chance = k + 1 == n && joints.iter().all(|j| j.kind == JointKind::Fixed);
        let kind = if random.chance(fixed) && !last_chance {
            JointKind::Fixed
        } else {
            joint_kind(random, inner)
        };
        let mut inertia = random.inertia();
        if kind == JointKind::Fixed {
            if random.chance(0.4) {
                inertia = Inertia::ZERO;
            } else if let Some(p) = parent
                && random.chance(0.3)
            {
                // What is welded on may be all the mass that its parent has.
                links[p].inertia = Inertia::ZERO;
            }
        }
        let mut joint = Joint::new(format!("joint{k}"), kind)
            .between(
                parent.map_or("world".to_owned(), |p| format!("link{p}")),
                format!("link{k}"),
            )
            .placed(origin);
        if random.chance(rotors) {
            joint.armature = (0..kind.nv()).map(|_| random.within(0.0, 0.5)).collect();
        }
        joints.push(joint);
        links.push(Link::new(format!("link{k}"), inertia));
    }
    let gravity = if random.chance(0.1) {
        Vec3::ZERO
    } else {
        random.vector(10.0)
    };
    let mut builder = Mechanism::builder(format!("random{seed}")).gravity(gravity);
    for i in 0..random.below(6) {
        let on = random.below(n + 1);
        let link = if on == n {
            "world".to_owned()
        } else {
            format!("link{on}")
        };
        builder = builder.frame(format!("frame{i}"), link, random.pose());
    }
    random.shuffle(&mut links);
    random.shuffle(&mut joints);
    builder = links.into_iter().fold(builder, |b, link| b.link(link));
    builder = joints.into_iter().fold(builder, |b, joint| b.joint(joint));
    builder.build().unwrap_or_else(|e| panic!("random tree {seed}: {e}"))
}

/// A random q on the manifold, with q̇, q̈ and T.
pub struct State {
    pub q: Vec<f64>,
    pub qd: Vec<f64>,
    pub qdd: Vec<f64>,
    pub tau: Vec<f64>,
}

pub fn random_state(mechanism: &Mechanism, seed: u64) -> State {
    let mut random = Random::new(seed ^ 0x5eed);
    let mut q = Vec::new();
    for joint in mechanism.joints() {
        // Followers have no coordinates.
        if mechanism
            .follows(mechanism.joint(&joint.name).unwrap())
            .unwrap()
            .is_some()
        {
            continue;
        }
        match joint.kind {
            JointKind::Fixed => {}
            JointKind::Spherical => q.extend(random.quaternion()),
            JointKind::Free => {
                q.extend(random.quaternion());
                q.extend(random.numbers(3, 1.0));
            }
            JointKind::Prismatic { .. } | JointKind::Translation => q.extend(random.numbers(joint.kind.nq(), 1.0)),
            JointKind::Cylindrical { .. } | JointKind::Planar => {
                q.extend(random.numbers(1, PI));
                q.extend(random.numbers(joint.kind.nq() - 1, 1.0));
            }
            _ => q.extend(random.numbers(joint.kind.nq(), PI)),
        }
    }
    let nv = mechanism.nv();
    State {
        q,
        qd: random.numbers(nv, 1.0),
        qdd: random.numbers(nv, 2.0),
        tau: random.numbers(nv, 5.0),
    }
}

/// [N; F] for about half of the links, in their own frames, 6 numbers per link.
pub fn random_external(mechanism: &Mechanism, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed ^ 0xf0ce);
    let mut one = |_| {
        if random.chance(0.5) {
            random.numbers(6, 5.0)
        } else {
            vec![0.0; 6]
        }
    };
    (0..mechanism.links().len()).flat_map(&mut one).collect()
}

/// The same mechanism and coordinates, each universal joint as two revolute ones with a massless link between.
pub fn revolutes_for_universals(mechanism: &Mechanism) -> Mechanism {
    let mut builder = Mechanism::builder(mechanism.name()).gravity(mechanism.gravity());
    for link in mechanism.links() {
        builder = builder.link(link.clone());
    }
    for joint in mechanism.joints() {
        let JointKind::Universal { axes: [first, second] } = joint.kind else {
            builder = builder.joint(joint.clone());
            continue;
        };
        let cross = format!("{}_cross", joint.name);
        let mut inner = Joint::revolute(format!("{}_first", joint.name), first).between(&joint.parent, &cross);
        let mut outer = Joint::revolute(format!("{}_second", joint.name), second).between(&cross, &joint.child);
        inner.origin = joint.origin;
        inner.armature.extend(joint.armature.first());
        outer.armature.extend(joint.armature.last());
        builder = builder.link(Link::massless(cross)).joint(inner).joint(outer);
    }
    for frame in mechanism.frames() {
        builder = builder.frame(&frame.name, &frame.link, frame.pose);
    }
    builder.build().unwrap_or_else(|e| panic!("{}: {e}", mechanism.name()))
}

/// The thousand trees of the laws, at random states: every other one of up to 60 links, the rest small.
pub fn thousand() -> impl Iterator<Item = (u64, Mechanism, State)> {
    (0..1000).map(|seed| {
        let mechanism = random_tree(seed, if seed % 2 == 0 { 60 } else { 12 });
        let state = random_state(&mechanism, seed);
        (seed, mechanism, state)
    })
}
