//! An arm follows a line that leads out of its reach and back: through a singular configuration, in operational space.
//!
//! `cargo run --release --example operational_space` writes operational_space.svg.

mod drawing;

use drawing::{BLUE, Drawing, GREEN, RED};
use linkwork::Reference::Aligned;
use linkwork::model::examples;
use linkwork::simulate::{Dynamics, Integrator, Now, RungeKutta4, State};
use linkwork::spatial::{Motion, Vec3};
use linkwork::workspace::{Moving, Part};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arm = examples::arm7();
    let tip = arm.frame("flange")?;
    let q = [0.0, 0.6, 0.0, -1.5, 0.0, 0.9, 0.0];
    let start = arm.workspace().at(&q)?.pose(tip)?.translation;
    // Forth and back by 60 cm in x: at the turning point the arm is stretched, and the point is beyond its reach.
    let course = |t: f64| {
        let (w, a) = (1.5, 0.3);
        let along = |x: f64| Vec3::new(x, 0.0, 0.0);
        (
            start + along(a * (1.0 - (w * t).cos())),
            along(a * w * (w * t).sin()),
            along(a * w * w * (w * t).cos()),
        )
    };
    let control = |now: Now<'_>, moving: &mut Moving<'_>, tau: &mut [f64]| {
        let (pose, v) = (moving.pose(tip)?, moving.velocity(tip, Aligned)?);
        let (x, xd, xdd) = course(now.t);
        let wanted = xdd + (xd - v.linear) * 20.0 + (x - pose.translation) * 100.0;
        // Damped, so that no direction is asked for more than it can give.
        let mut task = moving.task(tip, Aligned, Part::Linear, 2e-2)?;
        let bias = task.bias()?;
        let force = task.force_for(Motion::new(Vec3::ZERO, wanted)) + bias;
        task.torque(force, tau)?;
        // Where the tip does not feel it, the arm goes back to the posture that it started in; gravity is held there too.
        let (mut idle, mut back) = (vec![0.0; tau.len()], vec![0.0; tau.len()]);
        moving.gravity_torque(&mut idle)?;
        let posture = now.q.iter().zip(&q).zip(now.v);
        let wanted: Vec<f64> = posture.map(|((now, q), v)| 25.0 * (q - now) - 10.0 * v).collect();
        moving.mass_times(&wanted, &mut back)?;
        idle.iter_mut().zip(&back).for_each(|(idle, back)| *idle += back);
        moving
            .task(tip, Aligned, Part::Linear, 2e-2)?
            .nullspace_torque(&mut idle)?;
        tau.iter_mut().zip(&idle).for_each(|(tau, idle)| *tau += idle);
        Ok(())
    };
    let mut equations = Dynamics::new(&arm, control)?;
    let mut integrator = RungeKutta4::new(&arm);
    let mut state = State::at_rest(&arm, &q);
    let (mut wanted, mut got, mut conditions) = (Vec::new(), Vec::new(), Vec::new());
    let mut workspace = arm.workspace();
    let (mut worst, mut hardest) = (0.0_f64, 0.0_f64);
    while state.t < 2.0 * std::f64::consts::TAU / 1.5 {
        integrator.step(&mut equations, &mut state, 2e-3)?;
        let mut posed = workspace.at(&state.q)?;
        let x = posed.pose(tip)?.translation;
        let condition = posed.task(tip, Aligned, Part::Linear, 0.0)?.condition();
        wanted.push([state.t, course(state.t).0.x]);
        got.push([state.t, x.x]);
        conditions.push([state.t, 0.1 * condition.log10()]);
        worst = worst.max(condition);
        hardest = equations.torques().iter().fold(hardest, |m, t| m.max(t.abs()));
    }
    println!("condition of the operational inertia: up to {worst:.1e}");
    println!("largest torque: {hardest:.0} N m");
    let mut picture = Drawing::new("Out of reach and back in operational space", "time, s", "x in m");
    picture.curve("wanted x, m", GREEN, 3.0, wanted);
    picture.curve("x of the tip, m", BLUE, 1.5, got);
    picture.curve("0.1 log₁₀ condition", RED, 1.0, conditions);
    picture.save("operational_space.svg")?;
    Ok(())
}
