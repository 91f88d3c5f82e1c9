//! One algorithm, so many times: for counting instructions, and for profilers.
//!
//! `cargo run --release --example steady -- humanoid aba 1000`

use linkwork::Mechanism;
use linkwork::model::examples;

const USAGE: &str =
    "usage: steady arm7|humanoid fk|jacobians|rnea|crba|aba|minv|rnea_derivatives|aba_derivatives|aba_batch COUNT";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [robot, algorithm, count] = &arguments[..] else {
        return Err(USAGE.into());
    };
    let robot = match &robot[..] {
        "arm7" => examples::arm7(),
        "humanoid" => examples::humanoid(),
        _ => return Err(USAGE.into()),
    };
    run(&robot, algorithm, count.parse()?)
}

fn run(robot: &Mechanism, algorithm: &str, count: usize) -> Result<(), Box<dyn std::error::Error>> {
    let n = robot.nv();
    let q = robot.random(1);
    let qd: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
    let tau: Vec<f64> = (0..n).map(|i| (i as f64).cos()).collect();
    let (mut vector, mut matrix, mut derivatives) = (vec![0.0; n], vec![0.0; n * n], robot.derivatives());
    if algorithm == "aba_batch" {
        const STATES: usize = 64;
        let (q, qd, tau) = (q.repeat(STATES), qd.repeat(STATES), tau.repeat(STATES));
        let mut out = vec![0.0; n * STATES];
        let mut batch = robot.batch().with_threads(1);
        for _ in 0..count {
            batch.forward_dynamics(&q, &qd, &tau, &mut out)?;
        }
        return Ok(());
    }
    let mut workspace = robot.workspace();
    for _ in 0..count {
        let mut posed = workspace.at(&q)?;
        match algorithm {
            "fk" => {
                posed.poses();
            }
            "jacobians" => {
                posed.prepare_jacobians();
            }
            "crba" => posed.mass_matrix(&mut matrix)?,
            "minv" => posed.mass_matrix_inverse(&mut matrix)?,
            "rnea" => posed.moving(&qd)?.inverse_dynamics(&tau, &mut vector)?,
            "aba" => posed.moving(&qd)?.forward_dynamics(&tau, &mut vector)?,
            "rnea_derivatives" => posed
                .moving(&qd)?
                .linearized(&tau)?
                .inverse_derivatives(&mut derivatives)?,
            "aba_derivatives" => {
                let mut moving = posed.moving(&qd)?;
                moving
                    .linearized_under(&tau, &mut vector)?
                    .forward_derivatives(&mut derivatives)?;
            }
            _ => return Err(USAGE.into()),
        }
    }
    Ok(())
}
