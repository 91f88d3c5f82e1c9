//! One task, three controllers: decoupled pose control, computed torque and joint PD, on a 6- and a 7-joint arm.
//!
//! `cargo run --release --example controllers` prints what each needs, and writes controllers_puma560.svg and
//! controllers_arm7.svg.

mod drawing;

use drawing::{BLUE, Drawing, GREEN, RED};
use linkwork::control::Trial;
use linkwork::model::examples;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for arm in [examples::puma560(), examples::arm7()] {
        let n = arm.nv();
        let (start, goal) = (
            arm.neutral(),
            (0..n)
                .map(|i| if i % 2 == 0 { 0.5 } else { -0.5 })
                .collect::<Vec<f64>>(),
        );
        let tip = arm.link(&arm.links()[arm.links().len() - 1].name)?;
        let trial = Trial::new(&arm, &start, &goal, tip, 6.0)?;
        let quickness = 4.0;
        let outcomes = [
            ("decoupled", BLUE, trial.run(trial.decoupled(quickness)?)?),
            ("computed torque", GREEN, trial.run(trial.computed_torque(quickness)?)?),
            ("joint PD", RED, trial.run(trial.joint_pd(quickness)?)?),
        ];
        println!(
            "{:16} settled (s)  peak torque (N m)  energy used (J)  left over (m)",
            arm.name()
        );
        let mut drawing = Drawing::new(
            &format!("{}: the tip on its way", arm.name()),
            "time (s)",
            "distance (m)",
        );
        for (name, colour, o) in &outcomes {
            let settled = o.settled.map_or("not yet".to_owned(), |t| format!("{t:.2}"));
            println!(
                "{name:16} {settled:>11}  {:>17.2}  {:>15.2}  {:>13.1e}",
                o.peak_torque, o.energy_used, o.final_distance
            );
            let points = o.distances.iter().enumerate().step_by(10);
            let curve = points.map(|(i, d)| [i as f64 * Trial::STEP, *d]).collect();
            drawing.curve(name, colour, 2.0, curve);
        }
        drawing.save(&format!("controllers_{}.svg", arm.name()))?;
    }
    Ok(())
}
