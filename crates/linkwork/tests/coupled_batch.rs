//! Mechanisms in which joints follow others, many states at once: the numbers of a workspace, state by state.

mod support;

use linkwork::model::{Coupling, Joint, Link, Mechanism, examples};
use linkwork::spatial::{Inertia, Pose};
use support::random::Random;

/// An arm with a gripper of two fingers that slide side by side, and a hand whose finger bends in two joints.
fn grippers() -> Mechanism {
    let small = Inertia::cuboid(0.1, [0.02, 0.03, 0.05]);
    let at = |x: f64, z: f64| Pose::from_translation([x, 0.0, z]);
    let mut builder = examples::arm7().with_floating_base().unwrap().to_builder();
    for name in ["left", "right", "near", "far", "thumb"] {
        builder = builder.link(Link::new(name, small));
    }
    builder
        .joint(
            Joint::prismatic("slide left", [0.0, 1.0, 0.0])
                .between("link7", "left")
                .placed(at(0.0, 0.1)),
        )
        .joint(
            Joint::prismatic("slide right", [0.0, -1.0, 0.0])
                .between("link7", "right")
                .placed(at(0.0, 0.1)),
        )
        .joint(
            Joint::revolute("bend", [0.0, 1.0, 0.0])
                .between("link4", "near")
                .placed(at(0.1, 0.0)),
        )
        .joint(
            Joint::revolute("curl", [0.0, 1.0, 0.0])
                .between("near", "far")
                .placed(at(0.0, 0.05)),
        )
        .joint(
            Joint::revolute("oppose", [1.0, 0.0, 0.0])
                .between("link4", "thumb")
                .placed(at(-0.1, 0.0))
                .armature(0.01),
        )
        .couple(Coupling::gear("slide right", "slide left", 1.0, 0.0))
        .couple(Coupling::gear("curl", "bend", -1.0, 0.2))
        .couple(Coupling::gear("oppose", "bend", 0.7, 0.0))
        .build()
        .unwrap()
}

struct Got {
    what: &'static str,
    size: usize,
    numbers: Vec<f64>,
}

/// Everything that a batch computes of some states.
fn everything(m: &Mechanism, q: &[f64], v: [&[f64]; 3], count: usize) -> Vec<Got> {
    let (n, [qd, qdd, tau], mut batch) = (m.nv(), v, m.batch());
    let mut all = Vec::new();
    let mut add = |what, size: usize, fill: &mut dyn FnMut(&mut [f64])| {
        let mut numbers = vec![0.0; size * count];
        fill(&mut numbers);
        all.push(Got { what, size, numbers });
    };
    let entries = m.mass_pattern().len();
    add("T", n, &mut |out| batch.inverse_dynamics(q, qd, qdd, out).unwrap());
    add("q̈", n, &mut |out| batch.forward_dynamics(q, qd, tau, out).unwrap());
    add("C", n, &mut |out| batch.bias(q, qd, out).unwrap());
    add("gravity", n, &mut |out| batch.gravity_torque(q, out).unwrap());
    add("𝓜", n * n, &mut |out| batch.mass_matrix(q, out).unwrap());
    add("elements", entries, &mut |out| {
        batch.mass_matrix_entries(q, out).unwrap()
    });
    add("𝓜⁻¹", n * n, &mut |out| {
        batch.mass_matrix_inverse(q, out).unwrap()
    });
    add("∂T", 3 * n * n, &mut |out| {
        batch.inverse_derivatives(q, qd, qdd, out).unwrap()
    });
    add("∂q̈", 3 * n * n, &mut |out| {
        batch.forward_derivatives(q, qd, tau, out).unwrap()
    });
    add("(∂T)*x", 3 * n, &mut |out| {
        batch.torque_adjoint(q, qd, qdd, tau, out).unwrap()
    });
    add("(∂q̈)*x", 3 * n, &mut |out| {
        batch.acceleration_adjoint(q, qd, tau, qdd, out).unwrap()
    });
    all
}

/// The same by a workspace.
fn one_by_one(m: &Mechanism, q: &[f64], [qd, qdd, tau]: [&[f64]; 3]) -> Vec<Vec<f64>> {
    let (n, mut w, mut d) = (m.nv(), m.workspace(), m.derivatives());
    let mut all = vec![vec![0.0; n]; 4];
    let [torque, free, bias, hold] = &mut all[..] else {
        unreachable!()
    };
    w.at(q)
        .unwrap()
        .moving(qd)
        .unwrap()
        .inverse_dynamics(qdd, torque)
        .unwrap();
    w.at(q)
        .unwrap()
        .moving(qd)
        .unwrap()
        .forward_dynamics(tau, free)
        .unwrap();
    w.at(q).unwrap().moving(qd).unwrap().bias(bias).unwrap();
    w.at(q).unwrap().gravity_torque(hold).unwrap();
    let [mut mass, mut inverse] = [(); 2].map(|()| vec![0.0; n * n]);
    let mut entries = vec![0.0; m.mass_pattern().len()];
    w.at(q).unwrap().mass_matrix(&mut mass).unwrap();
    w.at(q).unwrap().mass_matrix_entries(&mut entries).unwrap();
    w.at(q).unwrap().mass_matrix_inverse(&mut inverse).unwrap();
    all.extend([mass, entries, inverse]);
    let (mut back, mut accelerated) = (vec![0.0; 3 * n], vec![0.0; n]);
    let mut posed = w.at(q).unwrap();
    let mut moving = posed.moving(qd).unwrap();
    let mut linearized = moving.linearized(qdd).unwrap();
    linearized.inverse_derivatives(&mut d).unwrap();
    all.push([d.by_q(), d.by_qd(), d.by_input()].concat());
    linearized.torque_adjoint(tau, &mut back).unwrap();
    let torque_adjoint = back.clone();
    let mut posed = w.at(q).unwrap();
    let mut moving = posed.moving(qd).unwrap();
    let mut linearized = moving.linearized_under(tau, &mut accelerated).unwrap();
    linearized.forward_derivatives(&mut d).unwrap();
    all.push([d.by_q(), d.by_qd(), d.by_input()].concat());
    all.push(torque_adjoint);
    linearized.acceleration_adjoint(qdd, &mut back).unwrap();
    all.push(back);
    all
}

#[test]
fn lanes_give_the_numbers_of_a_workspace() {
    let cases = support::coupled::cases().map(|case| case.coupled);
    for (seed, m) in cases.take(60).chain([grippers()]).enumerate() {
        let (nq, n, count) = (m.nq(), m.nv(), 19);
        let mut random = Random::new(seed as u64);
        let q: Vec<f64> = (0..count).flat_map(|i| m.random(i as u64)).collect();
        let [qd, qdd, tau] = [(); 3].map(|()| random.numbers(count * n, 1.0));
        let got = everything(&m, &q, [&qd, &qdd, &tau], count);
        for i in 0..count {
            let part = |x: &'static str, all: &[f64], size: usize| (x, all[i * size..(i + 1) * size].to_vec());
            let [(_, q), (_, qd), (_, qdd), (_, tau)] = [
                part("q", &q, nq),
                part("", &qd, n),
                part("", &qdd, n),
                part("", &tau, n),
            ];
            for (got, expect) in got.iter().zip(one_by_one(&m, &q, [&qd, &qdd, &tau])) {
                let (what, got) = part(got.what, &got.numbers, got.size);
                let differs = (0..got.len()).find(|&i| got[i] != expect[i]);
                if let Some(at) = differs {
                    let pair = (got[at], expect[at]);
                    panic!(
                        "{what} of `{}`, case {seed}, state {i}: {at} of {} {pair:?}",
                        m.name(),
                        got.len()
                    );
                }
            }
        }
    }
}

#[test]
fn the_inverse_of_grippers_is_the_inverse() {
    let m = grippers();
    let (n, q) = (m.nv(), m.random(4));
    let (mut mass, mut inverse) = (vec![0.0; n * n], vec![0.0; n * n]);
    let mut workspace = m.workspace();
    workspace.at(&q).unwrap().mass_matrix(&mut mass).unwrap();
    workspace.at(&q).unwrap().mass_matrix_inverse(&mut inverse).unwrap();
    let most = |x: &[f64]| x.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let scale = 1e-15 * n as f64 * most(&mass) * most(&inverse);
    for i in 0..n {
        for j in 0..n {
            let product: f64 = (0..n).map(|k| mass[i * n + k] * inverse[k * n + j]).sum();
            let expect = f64::from(u8::from(i == j));
            assert!((product - expect).abs() < scale, "({i}, {j}): {product}");
        }
    }
}
