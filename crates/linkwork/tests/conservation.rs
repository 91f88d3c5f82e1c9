//! What nature keeps, kept along motions: energy, momentum, and the order of the integrator.

mod support;

use linkwork::model::{JointKind, Mechanism, examples};
use linkwork::spatial::Vec3;
use support::random::{random_state, random_tree};
use support::{assert_close_of, error_of};

/// Four stages of fourth order on the manifold without commutators (Celledoni, Marthinsen and Owren): every position is
/// a product of exponentials, which [`Mechanism::integrate`] gives.
struct Integrator {
    mechanism: Mechanism,
    workspace: linkwork::Workspace,
}

struct Motion {
    q: Vec<f64>,
    qd: Vec<f64>,
}

/// Σ weight · vector.
fn mixed(terms: &[(f64, &[f64])]) -> Vec<f64> {
    (0..terms[0].1.len())
        .map(|i| terms.iter().map(|(w, x)| w * x[i]).sum())
        .collect()
}

impl Integrator {
    fn new(mechanism: &Mechanism) -> Self {
        let workspace = mechanism.workspace();
        Self {
            mechanism: mechanism.clone(),
            workspace,
        }
    }

    /// q̈ without torques.
    fn falls(&mut self, q: &[f64], qd: &[f64]) -> Vec<f64> {
        let (tau, mut qdd) = (vec![0.0; qd.len()], vec![0.0; qd.len()]);
        let mut posed = self.workspace.at(q).unwrap();
        posed.moving(qd).unwrap().forward_dynamics(&tau, &mut qdd).unwrap();
        qdd
    }

    fn moved(&self, q: &[f64], by: &[f64]) -> Vec<f64> {
        let mut out = q.to_vec();
        self.mechanism.integrate(q, by, &mut out).unwrap();
        out
    }

    fn step(&mut self, Motion { q, qd }: &mut Motion, h: f64) {
        let v1 = qd.clone();
        let a1 = self.falls(q, &v1);
        let q2 = self.moved(q, &mixed(&[(0.5 * h, &v1)]));
        let v2 = mixed(&[(1.0, &v1), (0.5 * h, &a1)]);
        let a2 = self.falls(&q2, &v2);
        let q3 = self.moved(q, &mixed(&[(0.5 * h, &v2)]));
        let v3 = mixed(&[(1.0, &v1), (0.5 * h, &a2)]);
        let a3 = self.falls(&q3, &v3);
        let q4 = self.moved(&q2, &mixed(&[(h, &v3), (-0.5 * h, &v1)]));
        let v4 = mixed(&[(1.0, &v1), (h, &a3)]);
        let a4 = self.falls(&q4, &v4);
        let part = |w: [f64; 4]| {
            let w = w.map(|w| w * h / 12.0);
            mixed(&[(w[0], &v1), (w[1], &v2), (w[2], &v3), (w[3], &v4)])
        };
        *q = self.moved(q, &part([3.0, 2.0, 2.0, -1.0]));
        *q = self.moved(q, &part([-1.0, 2.0, 2.0, 3.0]));
        *qd = mixed(&[
            (1.0, &v1),
            (h / 6.0, &a1),
            (h / 3.0, &a2),
            (h / 3.0, &a3),
            (h / 6.0, &a4),
        ]);
    }

    fn run(&mut self, from: &Motion, time: f64, steps: usize) -> Motion {
        let mut now = Motion {
            q: from.q.clone(),
            qd: from.qd.clone(),
        };
        (0..steps).for_each(|_| self.step(&mut now, time / steps as f64));
        now
    }

    fn energy(&mut self, Motion { q, qd }: &Motion) -> f64 {
        let mut posed = self.workspace.at(q).unwrap();
        let potential = posed.potential_energy();
        potential + posed.moving(qd).unwrap().kinetic_energy()
    }

    /// [angular; linear], about the world's origin.
    fn momentum(&mut self, Motion { q, qd }: &Motion) -> [f64; 6] {
        let mut posed = self.workspace.at(q).unwrap();
        posed.moving(qd).unwrap().momentum().to_array()
    }

    fn com(&mut self, Motion { q, .. }: &Motion) -> Vec3 {
        self.workspace.at(q).unwrap().com()
    }
}

fn start(mechanism: &Mechanism, seed: u64) -> Motion {
    let state = random_state(mechanism, seed);
    Motion {
        q: state.q,
        qd: state.qd,
    }
}

/// Small trees with every kind of joint among them.
fn small_trees() -> impl Iterator<Item = (u64, Mechanism)> {
    (0..60).map(|seed| (seed, random_tree(seed, 6)))
}

#[test]
fn energy_is_kept_without_torques_to_the_order_of_the_integrator() {
    let (mut order_sum, mut counted) = (0.0, 0);
    for (seed, mechanism) in small_trees() {
        let mut integrator = Integrator::new(&mechanism);
        let begin = start(&mechanism, seed);
        let energy = integrator.energy(&begin);
        let mut drift = |steps: usize| {
            let end = integrator.run(&begin, 0.2, steps);
            (integrator.energy(&end) - energy).abs() / (1.0 + energy.abs())
        };
        let (coarse, fine) = (drift(20), drift(40));
        let last = drift(320);
        assert!(last < 1e-7, "{}: {coarse:e} {fine:e} {last:e}", mechanism.name());
        if coarse > 1e-9 && fine > 1e-11 {
            order_sum += (coarse / fine).log2();
            counted += 1;
        }
    }
    let order = order_sum / f64::from(counted);
    println!("mean order of the energy error: {order:.2}, on {counted} trees");
    assert!(counted > 5 && order > 3.5);
}

#[test]
fn positions_converge_at_fourth_order() {
    for (name, mechanism) in [
        ("quadruped", examples::quadruped()),
        ("arm7", examples::arm7()),
        ("double_pendulum", examples::double_pendulum()),
    ] {
        let mut integrator = Integrator::new(&mechanism);
        let begin = start(&mechanism, 1);
        let [a, b, c] = [64, 128, 256].map(|steps| integrator.run(&begin, 0.1, steps).q);
        let (first, second) = (mechanism.distance(&a, &b).unwrap(), mechanism.distance(&b, &c).unwrap());
        let order = (first / second).log2();
        println!("{name}: {first:.1e} {second:.1e}, order {order:.2}");
        assert!(second < 1e-12 || (3.7..4.5).contains(&order), "{name}: order {order}");
    }
}

#[test]
fn a_floating_robot_without_gravity_keeps_its_momentum() {
    for mechanism in [
        examples::quadruped(),
        examples::humanoid(),
        examples::dual_arm().with_floating_base().unwrap(),
    ] {
        let mechanism = mechanism.with_gravity([0.0; 3]).unwrap();
        let mut integrator = Integrator::new(&mechanism);
        let begin = start(&mechanism, 2);
        let momentum = integrator.momentum(&begin);
        let scale = momentum.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
        let mut loss = |steps: usize| {
            let end = integrator.run(&begin, 0.1, steps);
            error_of(&integrator.momentum(&end), &momentum, scale)
        };
        let (coarse, fine) = (loss(100), loss(200));
        println!("{}: momentum lost {coarse:.1e}, {fine:.1e}", mechanism.name());
        assert!(fine < 1e-8 && (fine < 1e-13 || coarse / fine > 10.0));
    }
}

#[test]
fn a_falling_robot_falls_as_a_stone() {
    let mechanism = examples::humanoid();
    assert!(mechanism.joints().iter().any(|j| j.kind == JointKind::Free));
    let mut integrator = Integrator::new(&mechanism);
    let begin = start(&mechanism, 3);
    let time = 0.1;
    let mass = integrator.workspace.at(&begin.q).unwrap().mass();
    let (com, momentum) = (integrator.com(&begin), integrator.momentum(&begin));
    let end = integrator.run(&begin, time, 400);
    let g = mechanism.gravity();
    let velocity = Vec3::new(momentum[3], momentum[4], momentum[5]) * (1.0 / mass);
    let expect = com + velocity * time + g * (0.5 * time * time);
    let found = integrator.com(&end);
    assert_close_of("com", &found.to_array(), &expect.to_array(), 1.0, 1e-9);
    let gained = (g * (mass * time)).to_array();
    let linear: Vec<f64> = (0..3).map(|i| momentum[3 + i] + gained[i]).collect();
    assert_close_of("momentum", &integrator.momentum(&end)[3..], &linear, mass, 1e-9);
}
