//! Forward dynamics twice: written by hand, and compiled from `inv(Mass) (T - C)`; the latter also for many states in lanes.
//! Then changes of torques and accelerations, a grasp, and how long expressions take to compile.
//!
//! `cargo run --release --example expression_speed`

use linkwork::Mechanism;
use linkwork::algebra::{BatchEvaluator, Evaluator, Expression};
use linkwork::closed::{ClosedMechanism, Constraint};
use linkwork::model::{Joint, Link, examples};
use linkwork::spatial::{Inertia, Pose, Reference, Rotation};
use std::hint::black_box;
use std::time::Instant;

/// A revolute arm whose axes alternate.
fn arm(n: usize) -> linkwork::Result<Mechanism> {
    let mut builder = Mechanism::builder(format!("arm{n}"));
    for k in 0..n {
        let inner = if k == 0 {
            "world".to_owned()
        } else {
            format!("link{}", k - 1)
        };
        let turn = Rotation::from_rpy(if k % 2 == 0 { 1.3 } else { -0.9 }, 0.0, 0.4);
        let placed = Pose::new(turn, [0.1, 0.02, 0.3]);
        let inertia = Inertia::new(
            1.0 + 0.1 * k as f64,
            [0.01, 0.02, 0.15],
            [0.02, 0.001, 0.0, 0.021, 0.0, 0.004],
        );
        let joint = Joint::revolute(format!("joint{k}"), [0.0, 0.0, 1.0]).between(inner, format!("link{k}"));
        builder = builder
            .link(Link::new(format!("link{k}"), inertia))
            .joint(joint.placed(placed));
    }
    builder.build()
}

/// The least nanoseconds per call, of many rounds of some calls.
fn time(calls: u32, mut call: impl FnMut()) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..300 {
        let start = Instant::now();
        (0..calls).for_each(|_| call());
        least = least.min(start.elapsed().as_nanos() as f64 / f64::from(calls));
    }
    least
}

const STATES: usize = 128;

fn main() -> linkwork::Result<()> {
    let expression: Expression = "inv(Mass) (T - C)".parse()?;
    println!("   n   by hand, ns   compiled, ns   ratio   in lanes, ns a state");
    for n in [6, 30, 100] {
        let arm = arm(n)?;
        let mut run = Evaluator::new(&expression, &arm, &[], &[])?;
        let (q, qd, tau) = (vec![0.3; n], vec![0.5; n], vec![1.0; n]);
        let (mut workspace, mut other) = (arm.workspace(), arm.workspace());
        let (mut x, mut y) = (vec![0.0; n], vec![0.0; n]);
        let by_hand = time(200, || {
            let mut posed = workspace.at(black_box(&q)).expect("a state");
            let mut moving = posed.moving(&qd).expect("a state");
            moving.forward_dynamics(&tau, &mut x).expect("sound");
        });
        let compiled = time(200, || {
            let mut posed = other.at(black_box(&q)).expect("a state");
            let mut moving = posed.moving(&qd).expect("a state");
            moving.evaluate(&mut run, &[("T", &tau)], &mut y).expect("sound");
        });
        let size = x.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        assert!(
            x.iter().zip(&y).all(|(x, y)| (x - y).abs() < 1e-6 * size),
            "they differ"
        );
        let mut many = BatchEvaluator::<f64>::new(&expression, &arm, &[], &[])?.with_threads(1)?;
        let [q, qd, tau] = [q, qd, tau].map(|x| x.repeat(STATES));
        let mut all = vec![0.0; n * STATES];
        let in_lanes = time(2, || {
            let given: [(&str, &[f64]); 2] = [("qd", &qd), ("T", &tau)];
            many.evaluate(black_box(&q), &given, &mut all).expect("sound");
        });
        assert!(all.chunks(n).all(|one| one == y), "each state as it would be alone");
        println!(
            "{n:4} {by_hand:13.1} {compiled:14.1} {:7.2} {:23.1}",
            compiled / by_hand,
            in_lanes / STATES as f64
        );
    }
    changes(&arm(30)?)?;
    matrices(&arm(30)?)?;
    grasp()?;
    compile()
}

/// δT and δq̈ of a change of q: by hand, and derived from `Mass qdd + C` and `inv(Mass) (T - C)`.
fn changes(arm: &Mechanism) -> linkwork::Result<()> {
    let n = arm.nv();
    let (q, qd, given, w) = (vec![0.3; n], vec![0.5; n], vec![1.0; n], vec![0.2; n]);
    let change = [&w[..], &vec![0.0; 2 * n]].concat();
    let (mut x, mut y, mut second) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    println!("\n{n} links    by hand, ns   derived, ns   ratio");
    for (name, text, vector) in [
        ("δT", "d(Mass qdd + C, w)", "qdd"),
        ("δq̈", "d(inv(Mass) (T - C), w)", "T"),
    ] {
        let expression: Expression = text.parse()?;
        let mut run = Evaluator::new(&expression, arm, &[], &[])?;
        let (mut workspace, mut other) = (arm.workspace(), arm.workspace());
        let by_hand = time(50, || {
            let mut posed = workspace.at(black_box(&q)).expect("a state");
            let mut moving = posed.moving(&qd).expect("a state");
            match vector {
                "T" => moving
                    .linearized_under(&given, &mut second)
                    .and_then(|mut l| l.acceleration_change(&change, &mut x)),
                _ => moving
                    .linearized(&given)
                    .and_then(|mut l| l.torque_change(&change, &mut x)),
            }
            .expect("sound");
        });
        let derived = time(50, || {
            let mut posed = other.at(black_box(&q)).expect("a state");
            let mut moving = posed.moving(&qd).expect("a state");
            let bound: [(&str, &[f64]); 2] = [(vector, &given), ("w", &w)];
            moving.evaluate(&mut run, &bound, &mut y).expect("sound");
        });
        let size = x.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        assert!(
            x.iter().zip(&y).all(|(x, y)| (x - y).abs() < 1e-6 * size),
            "they differ"
        );
        println!("{name:<9} {by_hand:13.1} {derived:13.1} {:7.2}", derived / by_hand);
    }
    Ok(())
}

/// 𝓜, 𝓜⁻¹ and J𝓜⁻¹J* as matrices: the library's, and what expressions become.
fn matrices(arm: &Mechanism) -> linkwork::Result<()> {
    let n = arm.nv();
    let q = vec![0.3; n];
    let tip = arm.frame(&format!("link{}", n - 1))?;
    println!("\n{n} links            by hand, ns   compiled, ns   ratio");
    for text in ["Mass", "inv(Mass)", "J inv(Mass) J^*"] {
        let expression: Expression = text.parse()?;
        let mut run = Evaluator::new(&expression, arm, &[(tip, Reference::Local)], &[])?;
        let (mut workspace, mut other) = (arm.workspace(), arm.workspace());
        let rows = run.len();
        let (mut x, mut y) = (vec![0.0; rows * rows], vec![0.0; rows * rows]);
        let by_hand = time(50, || {
            let mut posed = workspace.at(black_box(&q)).expect("a state");
            match text {
                "Mass" => posed.mass_matrix(&mut x),
                "inv(Mass)" => posed.mass_matrix_inverse(&mut x),
                _ => posed.operational_inertias_inverse(&[tip], Reference::Local, &mut x),
            }
            .expect("sound");
        });
        let compiled = time(50, || {
            let mut posed = other.at(black_box(&q)).expect("a state");
            posed.matrix(&mut run, &[], &mut y).expect("sound");
        });
        assert!(x == y, "they differ");
        println!("{text:<19} {by_hand:13.1} {compiled:14.1} {:7.2}", compiled / by_hand);
    }
    Ok(())
}

/// Two arms whose hands hold each other: `ClosedMechanism`, and the papers' formula.
fn grasp() -> linkwork::Result<()> {
    let arms = examples::dual_arm();
    let last = |side: &str| {
        let links = arms.links().iter().rev();
        links.map(|l| &l.name).find(|name| name.starts_with(side)).cloned()
    };
    let (Some(left), Some(right)) = (last("left"), last("right")) else {
        return Ok(());
    };
    let q = arms.neutral();
    let mut workspace = arms.workspace();
    let mut posed = workspace.at(&q)?;
    let (a, b) = (posed.pose(arms.frame(&left)?)?, posed.pose(arms.frame(&right)?)?);
    let with = arms.to_builder().frame("held", &right, b.inverse() * a).build()?;
    let closed = ClosedMechanism::new(with, vec![Constraint::weld("grasp", &left, "held")])?;
    let n = closed.mechanism().nv();
    let expression: Expression = "
        let free = inv(Mass) (T - C)
        lambda = -inv(Jc inv(Mass) Jc^*) (Jc free + Jc_dot qd)
        qdd = free + inv(Mass) Jc^* lambda
    "
    .parse()?;
    let mut run = Evaluator::closed(&expression, &closed, &[], &[])?;
    let sweeps = run.algorithm().cost().sweeps;
    let (qd, tau) = (vec![0.0; n], vec![0.3; n]);
    let (mut x, mut y) = (vec![0.0; n], vec![0.0; n + 6]);
    let (mut by_hand, mut other) = (closed.workspace(), closed.workspace());
    let hand = time(50, || {
        let mut posed = by_hand.at(black_box(&q)).expect("a state");
        let mut moving = posed.moving(&qd).expect("a state");
        moving.forward_dynamics(&tau, &mut x).expect("sound");
    });
    let compiled = time(50, || {
        let mut posed = other.at(black_box(&q)).expect("a state");
        let mut moving = posed.moving(&qd).expect("a state");
        moving.tree().evaluate(&mut run, &[("T", &tau)], &mut y).expect("sound");
    });
    println!("\ngrasp, {n} joints: ClosedMechanism {hand:.0} ns, compiled in {sweeps} sweeps {compiled:.0} ns");
    Ok(())
}

/// How long it takes to compile expressions.
fn compile() -> linkwork::Result<()> {
    println!();
    for text in [
        "inv(Mass) (T - C)",
        "(Mass + I)^16 T",
        "d(Mass qdd + C, w)",
        "d(inv(Mass) (T - C), w)",
        "grad(T^* inv(Mass) (T - C))",
    ] {
        let start = Instant::now();
        let expression: Expression = text.parse()?;
        let sweeps = expression.compile(false, &[]).cost().sweeps;
        let ms = start.elapsed().as_secs_f64() * 1e3;
        println!("{text:<32} {sweeps:3} sweeps, compiled in {ms:.1} ms");
    }
    Ok(())
}
