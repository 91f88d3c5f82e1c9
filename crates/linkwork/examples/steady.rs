//! One algorithm, so many times: for counting instructions, and for profilers.
//!
//! `cargo run --release --example steady -- humanoid aba 1000`

use linkwork::Mechanism;
use linkwork::model::examples;

const USAGE: &str = "usage: steady arm7|humanoid ALGORITHM COUNT, where ALGORITHM is fk, jacobians, or, also with _batch \
                     behind it, rnea, crba, aba, minv, rnea_derivatives, aba_derivatives";

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
    if let Some(algorithm) = algorithm.strip_suffix("_batch") {
        return run_batch(robot, algorithm, count, [q, qd, tau]);
    }
    let (mut vector, mut matrix, mut derivatives) = (vec![0.0; n], vec![0.0; n * n], robot.derivatives());
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

/// The same of several states in one call.
fn run_batch(
    robot: &Mechanism,
    algorithm: &str,
    count: usize,
    state: [Vec<f64>; 3],
) -> Result<(), Box<dyn std::error::Error>> {
    const STATES: usize = 16;
    let [q, qd, tau] = state.map(|x| x.repeat(STATES));
    let n = robot.nv();
    let [mut vectors, mut matrices, mut three] = [n, n * n, 3 * n * n].map(|each| vec![0.0; each * STATES]);
    let mut batch = robot.batch().with_threads(1);
    for _ in 0..count {
        match algorithm {
            "rnea" => batch.inverse_dynamics(&q, &qd, &tau, &mut vectors)?,
            "crba" => batch.mass_matrix(&q, &mut matrices)?,
            "aba" => batch.forward_dynamics(&q, &qd, &tau, &mut vectors)?,
            "minv" => batch.mass_matrix_inverse(&q, &mut matrices)?,
            "rnea_derivatives" => batch.inverse_derivatives(&q, &qd, &tau, &mut three)?,
            "aba_derivatives" => batch.forward_derivatives(&q, &qd, &tau, &mut three)?,
            _ => return Err(USAGE.into()),
        }
    }
    Ok(())
}
