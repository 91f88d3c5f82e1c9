//! Second derivatives of the dynamics against duals of duals of the dynamics itself.

mod support;

use linkwork::model::{JointKind, examples};
use linkwork::quantity::{Given, Quantity, Room};
use linkwork::scalar::{Dual, Scalar};
use linkwork::spatial::{Force, Motion};
use linkwork::state_space::ExternalForce;
use linkwork::workspace::{Along, DerivativeRates, Linearized, SecondOrder};
use linkwork::{Mechanism, Reference, Result};
use support::coupled::cases;
use support::dual::D;
use support::library::vector;
use support::matrix::{Matrix, dot};
use support::pushes::{act, random_pushes};
use support::random::{Random, random_state, random_tree};
use support::worst::Worst;

type DD = Dual<D>;

/// A point: q, q̇, q̈ and T, under forces that keep to their links.
struct Point {
    q: Vec<f64>,
    qd: Vec<f64>,
    qdd: Vec<f64>,
    tau: Vec<f64>,
    pushes: Vec<ExternalForce>,
}

impl Point {
    fn random(mechanism: &Mechanism, q: &[f64], seed: u64) -> Self {
        let mut random = Random::new(seed ^ 0x2d0e);
        let nv = mechanism.nv();
        Self {
            q: q.to_vec(),
            qd: random.numbers(nv, 1.0),
            qdd: random.numbers(nv, 2.0),
            tau: random.numbers(nv, 5.0),
            pushes: random_pushes(mechanism, seed),
        }
    }

    /// The pushes in the axes that their frames have at the point, in which they stay.
    fn kept(&self, mechanism: &Mechanism) -> Vec<ExternalForce> {
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&self.q).unwrap();
        let local = |push: &ExternalForce| {
            let (pose, Force { moment, force }) = (posed.pose(push.frame).unwrap(), push.force);
            let own = |x| pose.rotation.inverse() * x;
            let force = match push.reference {
                Reference::Local => push.force,
                Reference::Aligned => Force::new(own(moment), own(force)),
                Reference::World => Force::new(own(moment - pose.translation.cross(force)), own(force)),
            };
            ExternalForce {
                force,
                reference: Reference::Local,
                ..*push
            }
        };
        self.pushes.iter().map(local).collect()
    }
}

/// How torques, or accelerations, answer: over the dynamics of any numbers.
#[derive(Clone, Copy, PartialEq)]
enum Of {
    Torques,
    Accelerations,
}

/// ∂²/∂s∂t of T or q̈: at (q ⊕ s a) ⊕ t b, or at q ⊕ (s a + t b).
fn mixed(mechanism: &Mechanism, point: &Point, of: Of, [a, b]: [&[f64]; 2], at_once: bool) -> Vec<f64> {
    let nv = mechanism.nv();
    let both = |x: &[f64], part: usize| -> Vec<DD> {
        let at = |i: usize| part * nv + i;
        (0..nv)
            .map(|i| Dual::new(Dual::new(x[i], a[at(i)]), Dual::constant(b[at(i)])))
            .collect()
    };
    let still = vec![0.0; nv];
    let start: Vec<DD> = point.q.iter().map(|x| DD::lift(*x)).collect();
    let mut q = start.clone();
    let step = both(&still, 0);
    if at_once {
        mechanism.integrate(&start, &step, &mut q).unwrap();
    } else {
        let first: Vec<DD> = step.iter().map(|x| Dual::constant(x.value)).collect();
        let second: Vec<DD> = step.iter().map(|x| Dual::new(D::constant(0.0), x.derivative)).collect();
        let mut middle = start.clone();
        mechanism.integrate(&start, &first, &mut middle).unwrap();
        mechanism.integrate(&middle, &second, &mut q).unwrap();
    }
    let mut workspace = mechanism.workspace_of::<DD>();
    let mut posed = workspace.at(&q).unwrap();
    act(&point.kept(mechanism), &mut posed);
    let mut moving = posed.moving(&both(&point.qd, 1)).unwrap();
    let mut out = vec![DD::lift(f64::NAN); nv];
    match of {
        Of::Torques => moving.inverse_dynamics(&both(&point.qdd, 2), &mut out).unwrap(),
        Of::Accelerations => moving.forward_dynamics(&both(&point.tau, 2), &mut out).unwrap(),
    }
    out.iter().map(|x| x.derivative.derivative).collect()
}

/// Works with the linearized dynamics at a point along a direction.
fn linearized<R>(
    second: &mut SecondOrder,
    point: &Point,
    of: Of,
    direction: &[f64],
    work: impl FnOnce(&mut Along<'_, Linearized<'_, D>>) -> Result<R>,
) -> Result<R> {
    let nv = second.mechanism().nv();
    let [dq, dqd, input] = [0, 1, 2].map(|k| &direction[k * nv..(k + 1) * nv]);
    let mut posed = second.at(&point.q, dq)?;
    // Some forces come before the velocity, others after it.
    let (before, after) = point.pushes.split_at(point.pushes.len() / 2);
    for push in before {
        posed.apply_force(push.frame, push.reference, push.force)?;
    }
    let mut moving = posed.moving(&point.qd, dqd)?;
    for push in after {
        moving.apply_force(push.frame, push.reference, push.force)?;
    }
    match of {
        Of::Torques => work(&mut moving.linearized(&point.qdd, input)?),
        Of::Accelerations => {
            let (mut qdd, mut dqdd) = (vec![0.0; nv], vec![0.0; nv]);
            work(&mut moving.linearized_under(&point.tau, input, &mut qdd, &mut dqdd)?)
        }
    }
}

/// The Hessian of y·T or y·q̈ times a direction, and the rates of the matrices.
fn along(
    second: &mut SecondOrder,
    point: &Point,
    of: Of,
    direction: &[f64],
    y: &[f64],
    rates: &mut DerivativeRates,
) -> Result<Vec<f64>> {
    let mut product = vec![f64::NAN; direction.len()];
    linearized(second, point, of, direction, |view| match of {
        Of::Torques => {
            view.torque_adjoint(y, &mut product)?;
            view.inverse_derivatives(rates)
        }
        Of::Accelerations => {
            view.acceleration_adjoint(y, &mut product)?;
            view.forward_derivatives(rates)
        }
    })?;
    Ok(product)
}

/// The quantities of the list that are this product and these matrices.
fn by_name(of: Of) -> [&'static str; 2] {
    match of {
        Of::Torques => ["torque_hessian_times", "inverse_dynamics_second_derivatives"],
        Of::Accelerations => ["acceleration_hessian_times", "forward_dynamics_second_derivatives"],
    }
}

/// A quantity of the list at a point, where forces act on a view.
fn listed(mechanism: &Mechanism, point: &Point, name: &str, x: &[f64], change: &[f64], size: usize) -> Vec<f64> {
    let Point { q, qd, qdd, tau, .. } = point;
    let given = Given {
        q,
        qd,
        qdd,
        tau,
        x,
        change,
        ..Given::default()
    };
    let mut workspace = mechanism.workspace();
    let mut posed = workspace.at(q).unwrap();
    act(&point.pushes, &mut posed);
    let mut moving = posed.moving(qd).unwrap();
    let quantity = Quantity::find(name).unwrap();
    vector(size, |out| {
        quantity.evaluate_at(&mut moving, &given, &mut Room::default(), out)
    })
}

/// δ²T or δ²q̈ along a direction and a change.
fn twice(second: &mut SecondOrder, point: &Point, of: Of, [direction, change]: [&[f64]; 2]) -> Result<Vec<f64>> {
    let mut out = vec![f64::NAN; second.mechanism().nv()];
    linearized(second, point, of, direction, |view| match of {
        Of::Torques => view.torque_change(change, &mut out),
        Of::Accelerations => view.acceleration_change(change, &mut out),
    })?;
    Ok(out)
}

/// The largest number, and at least one.
fn size(x: &[f64]) -> f64 {
    x.iter().fold(1.0, |most: f64, x| most.max(x.abs()))
}

/// Compares with duals of duals, in some random pairs of directions.
fn check(worst: &mut Worst, mechanism: &Mechanism, point: &Point, seed: u64) {
    let (nv, name) = (mechanism.nv(), mechanism.name());
    let mut random = Random::new(seed);
    let (mut second, mut rates) = (mechanism.second_order(), mechanism.derivative_rates());
    let mass = Matrix::from_slice(nv, nv, &mechanism.mass_matrix(&point.q).unwrap());
    for of in [Of::Torques, Of::Accelerations] {
        let condition = match of {
            Of::Torques => 1.0,
            Of::Accelerations => mass.condition().max(1.0),
        };
        let (a, y) = (random.numbers(3 * nv, 1.0), random.numbers(nv, 1.0));
        let product = along(&mut second, point, of, &a, &y, &mut rates).unwrap();
        let parts = [rates.by_q(), rates.by_qd(), rates.by_input()].map(|m| Matrix::from_slice(nv, nv, m));
        let scale = parts.iter().map(Matrix::norm).sum::<f64>().max(1.0) * condition;
        let back: Vec<f64> = parts.iter().flat_map(|m| m.t().apply(&y)).collect();
        worst.check("product and matrices", name, &product, &back, scale);
        let matrices: Vec<f64> = parts.iter().flat_map(|m| m.data.iter().copied()).collect();
        for (quantity, expect) in by_name(of).into_iter().zip([&product, &matrices]) {
            let found = listed(mechanism, point, quantity, &y, &a, expect.len());
            worst.check(quantity, name, &found, expect, scale);
        }
        for _ in 0..3 {
            let b = random.numbers(3 * nv, 1.0);
            let expect = mixed(mechanism, point, of, [&a, &b], false);
            let mut got = vec![0.0; nv];
            for (m, b) in parts.iter().zip(b.chunks(nv)) {
                got.iter_mut().zip(m.apply(b)).for_each(|(sum, x)| *sum += x);
            }
            worst.check("matrices", name, &got, &expect, scale * size(&b));
            let change = twice(&mut second, point, of, [&a, &b]).unwrap();
            worst.check("change", name, &change, &expect, scale * size(&b));
            let (got, expect) = ([dot(&product, &b)], [dot(&y, &expect)]);
            worst.check("product", name, &got, &expect, scale * nv as f64);
        }
    }
}

#[test]
fn second_derivatives_are_those_of_duals_of_duals() {
    let mut worst = Worst::new(1e-12);
    for seed in 0..60 {
        let mechanism = random_tree(seed, 8);
        let point = Point::random(&mechanism, &random_state(&mechanism, seed).q, seed);
        check(&mut worst, &mechanism, &point, seed);
    }
    for mechanism in [examples::quadruped(), examples::humanoid()] {
        let point = Point::random(&mechanism, &mechanism.random(1), 1);
        check(&mut worst, &mechanism, &point, 1);
    }
}

#[test]
fn second_derivatives_go_through_couplings() {
    let mut worst = Worst::new(1e-12);
    for case in cases().step_by(4) {
        let point = Point::random(&case.coupled, &case.y, case.seed);
        check(&mut worst, &case.coupled, &point, case.seed);
    }
}

/// H, 3 nv × 3 nv, of y·T or y·q̈, and its gradient by the first-order code.
fn hessian(mechanism: &Mechanism, point: &Point, of: Of, y: &[f64]) -> (Matrix, Vec<f64>) {
    let n = 3 * mechanism.nv();
    let (mut second, mut rates) = (mechanism.second_order(), mechanism.derivative_rates());
    let mut h = Matrix::zeros(n, n);
    for j in 0..n {
        let unit: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i == j))).collect();
        let column = along(&mut second, point, of, &unit, y, &mut rates).unwrap();
        (0..n).for_each(|i| h.set(i, j, column[i]));
    }
    let mut workspace = mechanism.workspace();
    let mut posed = workspace.at(&point.q).unwrap();
    act(&point.pushes, &mut posed);
    let mut moving = posed.moving(&point.qd).unwrap();
    let gradient = match of {
        Of::Torques => vector(n, |out| moving.linearized(&point.qdd)?.torque_adjoint(y, out)),
        Of::Accelerations => vector(n, |out| {
            let mut qdd = vec![0.0; y.len()];
            let mut linearized = moving.linearized_under(&point.tau, &mut qdd)?;
            linearized.acceleration_adjoint(y, out)
        }),
    };
    (h, gradient)
}

/// Σ gₖ [eⱼ, eᵢ]ₖ, 3 nv × 3 nv, from the brackets of each joint's own motions.
fn bracketed(mechanism: &Mechanism, gradient: &[f64]) -> Matrix {
    let mut skew = Matrix::zeros(gradient.len(), gradient.len());
    for joint in mechanism.joints() {
        let axes: &[usize] = match joint.kind {
            JointKind::Planar => &[2, 3, 4],
            JointKind::Spherical => &[0, 1, 2],
            JointKind::Free => &[0, 1, 2, 3, 4, 5],
            _ => continue,
        };
        let start = mechanism.v_range(mechanism.joint(&joint.name).unwrap()).unwrap().start;
        let unit = |axis: usize| Motion::from_array(core::array::from_fn(|i| f64::from(u8::from(i == axis))));
        for (i, &along) in axes.iter().enumerate() {
            for (j, &first) in axes.iter().enumerate() {
                let bracket = unit(first).cross(unit(along)).to_array();
                let parts = axes.iter().zip(&gradient[start..]).map(|(k, g)| g * bracket[*k]);
                skew.set(start + i, start + j, parts.sum());
            }
        }
    }
    skew
}

#[test]
fn hessians_are_symmetric_but_for_the_brackets_of_joints_that_turn() {
    let mut worst = Worst::new(1e-12);
    let (mut straight, mut skewest) = (0, 0.0_f64);
    for seed in 0..60 {
        let mechanism = random_tree(seed, 6);
        let (nv, name) = (mechanism.nv(), mechanism.name());
        let point = Point::random(&mechanism, &random_state(&mechanism, seed).q, seed);
        let y = Random::new(seed).numbers(nv, 1.0);
        let turns = |kind| matches!(kind, JointKind::Planar | JointKind::Spherical | JointKind::Free);
        straight += usize::from(!mechanism.joints().iter().any(|joint| turns(joint.kind)));
        let mass = Matrix::from_slice(nv, nv, &mechanism.mass_matrix(&point.q).unwrap());
        for of in [Of::Torques, Of::Accelerations] {
            let (h, gradient) = hessian(&mechanism, &point, of, &y);
            let skew = bracketed(&mechanism, &gradient);
            let found = &h - &h.t();
            let scale = h.norm().max(1.0) * mass.condition().max(1.0);
            worst.check("H − H*", name, &found.data, &skew.data, scale);
            skewest = skewest.max(found.max_abs() / h.norm());

            // The symmetric part, in one pair of directions.
            let mut random = Random::new(seed ^ 7);
            let [a, b] = [0, 1].map(|_| random.numbers(3 * nv, 1.0));
            let half = 0.5 * (dot(&b, &h.apply(&a)) + dot(&a, &h.apply(&b)));
            let expect = dot(&y, &mixed(&mechanism, &point, of, [&a, &b], true));
            worst.check("½(H + H*)", name, &[half], &[expect], scale * 3.0 * nv as f64);
        }
    }
    assert!(straight > 5 && skewest > 0.01, "{straight} {skewest}");
}

#[test]
fn accelerations_come_with_their_change() {
    let mut worst = Worst::new(1e-12);
    for seed in 0..40 {
        let mechanism = random_tree(seed, 8);
        let (nv, name) = (mechanism.nv(), mechanism.name());
        let Point { q, qd, tau, .. } = Point::random(&mechanism, &random_state(&mechanism, seed).q, seed);
        let d = Random::new(seed).numbers(3 * nv, 1.0);
        let (mut expect, mut qdd, mut dqdd) = (vec![0.0; nv], vec![0.0; nv], vec![0.0; nv]);
        let mut second = mechanism.second_order();
        let mut posed = second.at(&q, &d[..nv]).unwrap();
        let mut moving = posed.moving(&qd, &d[nv..2 * nv]).unwrap();
        moving
            .linearized_under(&tau, &d[2 * nv..], &mut qdd, &mut dqdd)
            .unwrap();
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let mut moving = posed.moving(&qd).unwrap();
        let mut linearized = moving.linearized_under(&tau, &mut expect).unwrap();
        let change = vector(nv, |out| linearized.acceleration_change(&d, out));
        let mass = Matrix::from_slice(nv, nv, &mechanism.mass_matrix(&q).unwrap());
        let condition = mass.condition().max(1.0);
        worst.check("q̈", name, &qdd, &expect, size(&expect) * condition);
        worst.check("δq̈", name, &dqdd, &change, size(&change) * condition);
    }
}

/// A view about q̈ with δq̈ is one about the T that cause q̈, with the δT that cause δq̈.
#[test]
fn views_about_accelerations_go_along_the_torques_that_cause_them() {
    let mut worst = Worst::new(1e-12);
    for seed in 0..40 {
        let mechanism = random_tree(seed, 8);
        let (nv, name) = (mechanism.nv(), mechanism.name());
        let point = Point::random(&mechanism, &random_state(&mechanism, seed).q, seed);
        let mut random = Random::new(seed);
        let (d, b, y) = (
            random.numbers(3 * nv, 1.0),
            random.numbers(3 * nv, 1.0),
            random.numbers(nv, 1.0),
        );
        let mut second = mechanism.second_order();
        let (mut qdd, mut dqdd) = (vec![0.0; nv], vec![0.0; nv]);
        let (mut expect, mut got) = ([vec![0.0; nv], vec![0.0; 3 * nv]], [vec![0.0; nv], vec![0.0; 3 * nv]]);
        let mut posed = second.at(&point.q, &d[..nv]).unwrap();
        let mut moving = posed.moving(&point.qd, &d[nv..2 * nv]).unwrap();
        let mut view = moving
            .linearized_under(&point.tau, &d[2 * nv..], &mut qdd, &mut dqdd)
            .unwrap();
        view.acceleration_change(&b, &mut expect[0]).unwrap();
        view.acceleration_adjoint(&y, &mut expect[1]).unwrap();
        let mut view = moving.linearized(&qdd, &dqdd).unwrap();
        view.acceleration_change(&b, &mut got[0]).unwrap();
        view.acceleration_adjoint(&y, &mut got[1]).unwrap();
        let mass = Matrix::from_slice(nv, nv, &mechanism.mass_matrix(&point.q).unwrap());
        for (got, expect) in got.iter().zip(&expect) {
            let condition = mass.condition().max(1.0).powi(2);
            worst.check("about q̈", name, got, expect, size(expect) * condition);
        }
    }
}

#[test]
fn what_makes_no_sense_is_refused_by_argument() {
    let arm = examples::puma560();
    let mut second = arm.second_order();
    let (fine, mut bad) = ([0.1; 6], [0.1; 6]);
    bad[2] = f64::NAN;
    let says = |result: Result<()>, word: &str| {
        let text = result.unwrap_err().to_string();
        assert!(text.starts_with(word), "{text}");
    };
    says(second.at(&bad, &fine).map(drop), "q[2] (joint `joint3`)");
    says(second.at(&fine, &bad).map(drop), "dq[2] (joint `joint3`)");
    says(second.at(&fine, &[0.0; 5]).map(drop), "dq has 5 numbers");
    let mut posed = second.at(&fine, &fine).unwrap();
    let link = arm.link("link3").unwrap();
    let nothing = Force::new([f64::NAN; 3], [0.0; 3]);
    says(posed.apply_force(link, Reference::World, nothing), "force is NaN");
    says(posed.moving(&bad, &fine).map(drop), "qd[2]");
    says(posed.moving(&fine, &bad).map(drop), "dqd[2]");
    let mut moving = posed.moving(&fine, &fine).unwrap();
    says(moving.apply_force(link, Reference::Aligned, nothing), "force is NaN");
    says(moving.linearized(&bad, &fine).map(drop), "qdd[2]");
    says(moving.linearized(&fine, &bad).map(drop), "dqdd[2]");
    let (mut six, mut five) = ([0.0; 6], [0.0; 5]);
    let mut under = |tau, dtau, qdd: &mut [f64], dqdd: &mut [f64], word| {
        says(moving.linearized_under(tau, dtau, qdd, dqdd).map(drop), word);
    };
    under(&bad, &fine, &mut six, &mut [0.0; 6], "tau[2]");
    under(&fine, &bad, &mut six, &mut [0.0; 6], "dtau[2]");
    under(&fine, &fine, &mut five, &mut six, "qdd has 5 numbers");
    under(&fine, &fine, &mut six, &mut five, "dqdd has 5 numbers");
    let mut linearized = moving.linearized(&fine, &fine).unwrap();
    says(linearized.torque_adjoint(&bad, &mut [0.0; 18]), "y[2]");
    says(linearized.torque_adjoint(&five, &mut [0.0; 18]), "y has 5 numbers");
    says(
        linearized.acceleration_adjoint(&fine, &mut [0.0; 6]),
        "out has 6 numbers",
    );
    let mut change = [0.0; 18];
    says(linearized.torque_change(&change, &mut five), "out has 5 numbers");
    says(linearized.acceleration_change(&fine, &mut six), "change has 6 numbers");
    change[8] = f64::NAN;
    says(linearized.torque_change(&change, &mut six), "change[2]");
    says(linearized.acceleration_change(&change, &mut six), "change[2]");
    let mut other = examples::arm7().derivative_rates();
    says(linearized.inverse_derivatives(&mut other), "out has");
    says(linearized.forward_derivatives(&mut other), "out has");
}
