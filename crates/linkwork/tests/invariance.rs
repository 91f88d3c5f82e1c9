//! What must not change the physics: the order of declaration, where the robot stands, how its description is cut up.
#![allow(non_snake_case)]

mod support;

use linkwork::Mechanism;
use linkwork::model::{Builder, Frame, Joint, JointKind, Link, examples};
use linkwork::spatial::{Inertia, Pose, Rotation};
use support::dense::Dense;
use support::library::{matrix, pose, vector};
use support::matrix::{Matrix, dot};
use support::random::{Random, State, random_state, revolutes_for_universals, thousand};
use support::rigid::{axes, turn_by_quaternion};
use support::scale::{forward_scale, inverse_scale};
use support::worst::Worst;

const TOLERANCE: f64 = 1e-12;

/// A mechanism from its parts, under the name and gravity of another.
fn rebuilt(like: &Mechanism, links: Vec<Link>, joints: Vec<Joint>, frames: &[Frame]) -> Builder {
    let mut builder = Mechanism::builder(like.name()).gravity(like.gravity());
    builder = links.into_iter().fold(builder, Builder::link);
    builder = joints.into_iter().fold(builder, Builder::joint);
    frames.iter().fold(builder, |b, f| b.frame(&f.name, &f.link, f.pose))
}

/// What the dynamics of a state are: 𝓜, its inverse, torques and accelerations.
struct Dynamics {
    mass: Matrix,
    inverse: Matrix,
    coriolis: Matrix,
    torques: Vec<f64>,
    accelerations: Vec<f64>,
}

impl Dynamics {
    fn of(mechanism: &Mechanism, State { q, qd, qdd, tau }: &State) -> Self {
        let nv = mechanism.nv();
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(q).unwrap();
        let mass = matrix(nv, nv, |out| posed.mass_matrix(out));
        let inverse = matrix(nv, nv, |out| posed.mass_matrix_inverse(out));
        let mut moving = posed.moving(qd).unwrap();
        Self {
            mass,
            inverse,
            coriolis: matrix(nv, nv, |out| moving.coriolis_matrix(out)),
            torques: vector(nv, |out| moving.inverse_dynamics(qdd, out)),
            accelerations: vector(nv, |out| moving.forward_dynamics(tau, out)),
        }
    }

    /// That another mechanism's are the same, degree of freedom `order[i]` there for i here.
    #[track_caller]
    fn check(&self, worst: &mut Worst, mechanism: &Mechanism, state: &State, other: &Self, order: &[usize]) {
        let (of, name) = (&Dense::new(mechanism, &state.q, &state.qd), mechanism.name());
        let (tau, qdd) = (&state.tau, &state.qdd);
        let nv = order.len();
        let pick = |x: &[f64]| order.iter().map(|&i| x[i]).collect::<Vec<f64>>();
        let pick_both = |x: &Matrix| Matrix::from_fn(nv, nv, |i, j| x.at(order[i], order[j]));
        let harm = 1.0 + 1e-3 * self.mass.norm() * self.inverse.norm();
        let mut square = |what, a: &Matrix, b: &Matrix, scale: f64| {
            worst.check(what, name, &pick_both(b).data, &a.data, scale);
        };
        square("mass matrix", &self.mass, &other.mass, self.mass.max_abs());
        let scale = self.inverse.max_abs() * harm;
        square("inverse", &self.inverse, &other.inverse, scale);
        let scale = self.mass.max_abs() + self.coriolis.max_abs();
        square("coriolis matrix", &self.coriolis, &other.coriolis, scale);
        let (torques, accelerations) = (pick(&other.torques), pick(&other.accelerations));
        worst.check("torques", name, &torques, &self.torques, inverse_scale(of, qdd));
        let scale = forward_scale(of, tau);
        worst.check("accelerations", name, &accelerations, &self.accelerations, scale);
    }
}

#[test]
fn the_order_of_declaration_only_permutes_results() {
    let mut worst = Worst::new(TOLERANCE);
    for (seed, mechanism, state) in thousand().filter(|(seed, ..)| seed % 3 == 0) {
        let mut random = Random::new(seed);
        let (mut links, mut joints) = (mechanism.links().to_vec(), mechanism.joints().to_vec());
        random.shuffle(&mut links);
        random.shuffle(&mut joints);
        let other = rebuilt(&mechanism, links, joints, mechanism.frames()).build().unwrap();
        let (mut to_q, mut to_v) = (vec![0; mechanism.nq()], vec![0; mechanism.nv()]);
        for joint in mechanism.joints() {
            let (a, b) = (mechanism.joint(&joint.name).unwrap(), other.joint(&joint.name).unwrap());
            mechanism
                .q_range(a)
                .unwrap()
                .zip(other.q_range(b).unwrap())
                .for_each(|(a, b)| to_q[a] = b);
            mechanism
                .v_range(a)
                .unwrap()
                .zip(other.v_range(b).unwrap())
                .for_each(|(a, b)| to_v[a] = b);
        }
        let spread = |x: &[f64], to: &[usize]| {
            let mut out = vec![0.0; x.len()];
            x.iter().zip(to).for_each(|(x, i)| out[*i] = *x);
            out
        };
        let moved = State {
            q: spread(&state.q, &to_q),
            qd: spread(&state.qd, &to_v),
            qdd: spread(&state.qdd, &to_v),
            tau: spread(&state.tau, &to_v),
        };
        let (here, there) = (Dynamics::of(&mechanism, &state), Dynamics::of(&other, &moved));
        here.check(&mut worst, &mechanism, &state, &there, &to_v);
    }
}

#[test]
fn a_robot_moved_with_its_gravity_behaves_the_same() {
    let mut worst = Worst::new(TOLERANCE);
    for (seed, mechanism, state) in thousand().filter(|(seed, ..)| seed % 3 == 1) {
        let mut random = Random::new(seed);
        let by = Pose::new(Rotation::from_quaternion(random.quaternion()), random.vector(3.0));
        let mut joints = mechanism.joints().to_vec();
        for joint in joints.iter_mut().filter(|j| j.parent == "world") {
            joint.origin = by * joint.origin;
        }
        let other = rebuilt(&mechanism, mechanism.links().to_vec(), joints, mechanism.frames());
        let other = other.gravity(by.rotation * mechanism.gravity()).build().unwrap();
        let (here, there) = (Dynamics::of(&mechanism, &state), Dynamics::of(&other, &state));
        let all: Vec<usize> = (0..mechanism.nv()).collect();
        here.check(&mut worst, &mechanism, &state, &there, &all);
    }
}

/// Floating robots near the world's origin and a thousand kilometres away.
fn near_and_far() -> impl Iterator<Item = (Mechanism, State, State)> {
    let floating = [
        examples::quadruped(),
        examples::humanoid(),
        examples::dual_arm().with_floating_base().unwrap(),
    ];
    floating.into_iter().map(|mechanism| {
        let base = mechanism.joints().iter().find(|j| j.kind == JointKind::Free).unwrap();
        let at = mechanism.q_range(mechanism.joint(&base.name).unwrap()).unwrap().start + 4;
        let (near, mut far) = (random_state(&mechanism, 1), random_state(&mechanism, 1));
        (far.q[at], far.q[at + 1], far.q[at + 2]) = (1e6, -1e6, 1e6);
        (mechanism, near, far)
    })
}

#[test]
fn a_robot_far_away_has_the_torques_and_accelerations_it_has_at_home() {
    let mut worst = Worst::new(TOLERANCE);
    for (mechanism, near, far) in near_and_far() {
        let name = mechanism.name();
        let dense = Dense::new(&mechanism, &near.q, &near.qd);
        let (here, there) = (Dynamics::of(&mechanism, &near), Dynamics::of(&mechanism, &far));
        worst.check(
            "mass matrix",
            name,
            &there.mass.data,
            &here.mass.data,
            here.mass.max_abs(),
        );
        let scale = inverse_scale(&dense, &near.qdd);
        worst.check("torques", name, &there.torques, &here.torques, scale);
        let scale = forward_scale(&dense, &near.tau);
        worst.check("accelerations", name, &there.accelerations, &here.accelerations, scale);
    }
}

#[test]
fn a_robot_far_away_has_the_inverse_and_coriolis_matrix_it_has_at_home() {
    let mut worst = Worst::new(TOLERANCE);
    for (mechanism, near, far) in near_and_far() {
        let name = mechanism.name();
        let (here, there) = (Dynamics::of(&mechanism, &near), Dynamics::of(&mechanism, &far));
        let (a, b) = (&here.coriolis, &there.coriolis);
        worst.check("coriolis matrix", name, &b.data, &a.data, a.max_abs());
        let (a, b) = (&here.inverse, &there.inverse);
        let harm = 1.0 + 1e-3 * here.mass.norm() * a.norm();
        worst.check("inverse", name, &b.data, &a.data, a.max_abs() * harm);
    }
}

#[test]
fn locking_a_joint_leaves_the_block_of_the_others() {
    let mut worst = Worst::new(TOLERANCE);
    for (seed, mechanism, mut state) in thousand().filter(|(seed, ..)| seed % 3 == 2) {
        let mut random = Random::new(seed);
        let moving: Vec<&Joint> = mechanism.joints().iter().filter(|j| j.kind.nv() > 0).collect();
        if moving.len() < 2 {
            continue;
        }
        let locked = moving[random.below(moving.len())];
        let id = mechanism.joint(&locked.name).unwrap();
        let (in_q, in_v) = (mechanism.q_range(id).unwrap(), mechanism.v_range(id).unwrap());
        let Ok(other) = mechanism.lock(&[(&locked.name, &state.q[in_q.clone()])]) else {
            panic!("{} cannot lock {}", mechanism.name(), locked.name);
        };
        state.qd[in_v.clone()].fill(0.0);
        state.qdd[in_v.clone()].fill(0.0);
        let keep = |x: &[f64], gone: &std::ops::Range<usize>| [&x[..gone.start], &x[gone.end..]].concat();
        let less = State {
            q: keep(&state.q, &in_q),
            qd: keep(&state.qd, &in_v),
            qdd: keep(&state.qdd, &in_v),
            tau: keep(&state.tau, &in_v),
        };
        let dense = Dense::new(&mechanism, &state.q, &state.qd);
        let (whole, rest) = (Dynamics::of(&mechanism, &state), Dynamics::of(&other, &less));
        let kept: Vec<usize> = (0..mechanism.nv()).filter(|i| !in_v.contains(i)).collect();
        let block = Matrix::from_fn(kept.len(), kept.len(), |i, j| whole.mass.at(kept[i], kept[j]));
        let name = mechanism.name();
        worst.check("mass matrix", name, &rest.mass.data, &block.data, block.max_abs());
        let torques: Vec<f64> = kept.iter().map(|&i| whole.torques[i]).collect();
        let scale = inverse_scale(&dense, &state.qdd);
        worst.check("torques", name, &rest.torques, &torques, scale);
        // What holds the joint still makes the whole move as the rest does.
        let mut held = state.qdd.clone();
        kept.iter().zip(&rest.accelerations).for_each(|(&i, x)| held[i] = *x);
        let tau = mechanism.inverse_dynamics(&state.q, &state.qd, &held).unwrap();
        let given: Vec<f64> = kept.iter().map(|&i| tau[i]).collect();
        let scale = inverse_scale(&dense, &held);
        worst.check("held", name, &given, &less.tau, scale);
    }
}

/// The same mechanism with no fixed joints: inertias welded by hand, joints moved inward.
fn welded(mechanism: &Mechanism) -> Builder {
    let inboard = |link: &str| mechanism.joints().iter().find(|j| j.child == link).unwrap();
    // The body that a link is part of, and the link's place in it.
    let body = |link: &str| {
        let (mut at, mut place) = (link.to_owned(), Pose::IDENTITY);
        while at != "world" && inboard(&at).kind == JointKind::Fixed {
            let weld = inboard(&at);
            place = weld.origin * place;
            at = weld.parent.clone();
        }
        (at, place)
    };
    let mut links: Vec<Link> = Vec::new();
    for link in mechanism.links().iter().filter(|l| body(&l.name).0 == l.name) {
        let parts = mechanism.links().iter().filter(|l| body(&l.name).0 == link.name);
        let whole = parts.fold(Inertia::ZERO, |sum, l| sum.with(&l.inertia.seen_from(&body(&l.name).1)));
        links.push(Link::new(&link.name, whole));
    }
    let mut joints = Vec::new();
    for joint in mechanism.joints().iter().filter(|j| j.kind != JointKind::Fixed) {
        let (parent, place) = body(&joint.parent);
        let origin = place * joint.origin;
        joints.push(Joint {
            parent,
            origin,
            ..joint.clone()
        });
    }
    rebuilt(mechanism, links, joints, &[])
}

#[test]
fn fixed_joints_weld_inertias() {
    let mut worst = Worst::new(TOLERANCE);
    let mut compared = 0;
    for (_, mechanism, state) in thousand() {
        if mechanism.joints().iter().all(|j| j.kind != JointKind::Fixed) {
            continue;
        }
        compared += 1;
        let other = welded(&mechanism).build().unwrap();
        let (here, there) = (Dynamics::of(&mechanism, &state), Dynamics::of(&other, &state));
        let all: Vec<usize> = (0..mechanism.nv()).collect();
        here.check(&mut worst, &mechanism, &state, &there, &all);
    }
    assert!(compared > 100);
}

/// Each cylindrical joint as a hinge and a slider with a massless link between.
fn hinges_and_sliders(mechanism: &Mechanism) -> Mechanism {
    let (mut links, mut joints) = (mechanism.links().to_vec(), Vec::new());
    for joint in mechanism.joints() {
        let JointKind::Cylindrical { axis } = joint.kind else {
            joints.push(joint.clone());
            continue;
        };
        let sleeve = format!("{}_sleeve", joint.name);
        let inner = Joint::revolute(&sleeve, axis).between(&joint.parent, &sleeve);
        let outer = Joint::prismatic(&joint.name, axis).between(&sleeve, &joint.child);
        let (first, last) = (joint.armature.first(), joint.armature.last());
        joints.push(Joint {
            origin: joint.origin,
            armature: first.copied().into_iter().collect(),
            ..inner
        });
        joints.push(Joint {
            armature: last.copied().into_iter().collect(),
            ..outer
        });
        links.push(Link::massless(sleeve));
    }
    rebuilt(mechanism, links, joints, mechanism.frames()).build().unwrap()
}

#[test]
fn massless_links_between_joints_change_nothing() {
    let mut worst = Worst::new(TOLERANCE);
    for (_, mechanism, state) in thousand().filter(|(seed, ..)| seed % 2 == 1) {
        let other = hinges_and_sliders(&revolutes_for_universals(&mechanism));
        if other.links().len() == mechanism.links().len() {
            continue;
        }
        let (here, there) = (Dynamics::of(&mechanism, &state), Dynamics::of(&other, &state));
        let all: Vec<usize> = (0..mechanism.nv()).collect();
        here.check(&mut worst, &mechanism, &state, &there, &all);
    }
}

/// Free is a slide and a ball with nothing between, up to whose axes the velocity is written in.
#[test]
fn a_free_joint_is_a_slide_and_a_ball() {
    let body = Random::new(5).inertia();
    let hook = Pose::new(Rotation::from_rpy(0.2, 0.7, -1.0), [0.1, 0.2, -0.1]);
    let tail = Joint::revolute("tail", [0.3, 0.1, 1.0])
        .between("trunk", "tail")
        .placed(hook);
    let start = Mechanism::builder("floating")
        .link(Link::new("trunk", body))
        .link(Link::new("tail", body));
    let one = start.clone().joint(Joint::free("float").between("world", "trunk"));
    let two = start
        .link(Link::massless("nothing"))
        .joint(Joint::translation("slide").between("world", "nothing"))
        .joint(Joint::spherical("ball").between("nothing", "trunk"));
    let (one, two) = (
        one.joint(tail.clone()).build().unwrap(),
        two.joint(tail).build().unwrap(),
    );
    for seed in 0..20 {
        let State { q, qd, .. } = random_state(&one, seed);
        let R = turn_by_quaternion(&q[..4]);
        let split_q = [&q[4..7], &q[..4], &q[7..]].concat();
        let split_qd = [&R.apply(&qd[3..6]), &qd[..3], &qd[6..]].concat();
        // q̇ of the two joints from that of the one.
        let mut T = Matrix::zeros(7, 7);
        T.set_block(0, 3, &R);
        T.set_block(3, 0, &Matrix::identity(3));
        T.set(6, 6, 1.0);
        assert_eq!(T.apply(&qd), split_qd);
        let (a, b) = (one.mass_matrix(&q).unwrap(), two.mass_matrix(&split_q).unwrap());
        let b = T.t() * Matrix::from_slice(7, 7, &b) * &T;
        support::assert_close("mass matrix", &b.data, &a, TOLERANCE);
        let (mut here, mut there) = (one.workspace(), two.workspace());
        let (mut here, mut there) = (here.at(&q).unwrap(), there.at(&split_q).unwrap());
        let logs = [here.log_det_mass().unwrap(), there.log_det_mass().unwrap()];
        assert!((logs[0] - logs[1]).abs() < TOLERANCE);
        let (mut here, mut there) = (here.moving(&qd).unwrap(), there.moving(&split_qd).unwrap());
        // Without torques both fall alike: the tail's acceleration and the trunk's turning are the same numbers.
        let a = vector(7, |out| here.forward_dynamics(&[0.0; 7], out));
        let b = vector(7, |out| there.forward_dynamics(&[0.0; 7], out));
        support::assert_close("turning", &b[3..], &[&a[..3], &a[6..]].concat(), TOLERANCE);
        let tail = (one.link("tail").unwrap(), two.link("tail").unwrap());
        let (a, b) = (pose(here.pose(tail.0).unwrap()), pose(there.pose(tail.1).unwrap()));
        support::assert_close("pose", &axes(&b).data, &axes(&a).data, TOLERANCE);
        let speeds = [
            here.kinetic_energy(),
            0.5 * dot(&qd, &vector(7, |out| here.mass_times(&qd, out))),
        ];
        support::assert_close("energy", &speeds, &[there.kinetic_energy(); 2], TOLERANCE);
    }
}

#[test]
fn a_slender_rod_keeps_its_digits_near_the_axis_that_it_turns_about() {
    // A rod of mass 1 and length 1 on y, on a massless link on z: about z it shows ⅓ sin² x.
    let arm = Mechanism::builder("crank")
        .link(Link::massless("crank"))
        .link(Link::new("rod", Inertia::rod(1.0, [0.0, 0.0, 1.0])))
        .joint(Joint::revolute("turn", [0.0, 0.0, 1.0]).between("world", "crank"))
        .joint(Joint::revolute("lean", [0.0, 1.0, 0.0]).between("crank", "rod"))
        .build()
        .unwrap();
    for x in [1e-1, 1e-3, 1e-5, 1e-7_f64] {
        let mass = arm.mass_matrix(&[0.3, x]).unwrap();
        let expect = x.sin().powi(2) / 3.0;
        assert!((mass[0] / expect - 1.0).abs() < 1e-8, "{x}: {} {expect}", mass[0]);
        // With q̇ = (1, 1) and no torque, q̈₀ = −2 / tan x.
        let qdd = arm.forward_dynamics(&[0.3, x], &[1.0, 1.0], &[0.0, 0.0]).unwrap();
        assert!((qdd[0] * x.tan() / -2.0 - 1.0).abs() < 1e-8, "{x}: {}", qdd[0]);
    }
}
