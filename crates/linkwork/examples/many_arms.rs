//! Forward dynamics of ℓ arms of seven joints that hold one object, against the dense equations.
//!
//! `cargo run --release --example many_arms`, or with a directory as argument: then the mechanisms, their states and
//! accelerations are written there as JSON, for other libraries. `cargo xtask race` gives them to Pinocchio.

use linkwork::Mechanism;
use linkwork::closed::{ClosedMechanism, Constraint};
use linkwork::model::{Joint, JointKind, Link, examples};
use linkwork::spatial::{Inertia, Pose, Rotation, Vec3};
use std::path::PathBuf;
use std::time::Instant;

/// ℓ arms in a circle, and an object that their flanges are welded to.
fn grasp(arms: usize) -> linkwork::Result<(ClosedMechanism, Vec<f64>)> {
    let arm = examples::arm7();
    let mut world = Mechanism::builder("grasp");
    for i in 0..arms {
        let turn = std::f64::consts::TAU * i as f64 / arms as f64;
        let out = Rotation::about(Vec3::new(0.0, 0.0, 1.0), turn);
        world = world.frame(
            format!("seat{i}"),
            "world",
            Pose::new(out, out * Vec3::new(-0.9, 0.0, 0.0)),
        );
    }
    let mut all = world.build()?;
    for i in 0..arms {
        all = all.attach(&format!("seat{i}"), &arm, &format!("arm{i}_"))?;
    }
    let mut q = [0.1, 0.5, -0.2, -1.6, 0.3, 1.0, 0.4].repeat(arms);
    let mut workspace = all.workspace();
    let mut posed = workspace.at(&q)?;
    let mut builder = all
        .to_builder()
        .link(Link::new("object", Inertia::sphere(10.0, 0.3)))
        .joint(Joint::free("held").between("world", "object"));
    let mut holds = Vec::new();
    for i in 0..arms {
        let flange = format!("arm{i}_flange");
        builder = builder.frame(format!("handle{i}"), "object", posed.pose(all.frame(&flange)?)?);
        holds.push(Constraint::weld(format!("hand{i}"), flange, format!("handle{i}")));
    }
    q.extend([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    Ok((ClosedMechanism::new(builder.build()?, holds)?, q))
}

/// q̈ from [𝓜 −J*; J 0], by elimination with pivoting.
fn dense(closed: &ClosedMechanism, q: &[f64], tau: &[f64]) -> linkwork::Result<Vec<f64>> {
    let (nv, rows) = (closed.mechanism().nv(), closed.rows());
    let n = nv + rows;
    let mut workspace = closed.workspace();
    let mut posed = workspace.at(q)?;
    let (mut mass, mut jacobian, mut bias) = (vec![0.0; nv * nv], vec![0.0; rows * nv], vec![0.0; nv]);
    posed.jacobian(&mut jacobian)?;
    posed.tree().mass_matrix(&mut mass)?;
    posed.tree().gravity_torque(&mut bias)?;
    let mut a = vec![0.0; n * (n + 1)];
    let width = n + 1;
    for i in 0..nv {
        a[i * width..i * width + nv].copy_from_slice(&mass[i * nv..(i + 1) * nv]);
        a[i * width + n] = tau[i] - bias[i];
        for r in 0..rows {
            a[i * width + nv + r] = -jacobian[r * nv + i];
            a[(nv + r) * width + i] = jacobian[r * nv + i];
        }
    }
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i * width + k].abs().total_cmp(&a[j * width + k].abs()));
        let pivot = pivot.unwrap_or(k);
        for j in k..width {
            a.swap(k * width + j, pivot * width + j);
        }
        let (above, below) = a.split_at_mut((k + 1) * width);
        let head = &above[k * width..];
        for row in below.chunks_exact_mut(width) {
            let f = row[k] / head[k];
            if f != 0.0 {
                row[k..].iter_mut().zip(&head[k..]).for_each(|(x, y)| *x -= f * y);
            }
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| a[k * width + j] * x[j]).sum();
        x[k] = (a[k * width + n] - known) / a[k * width + k];
    }
    x.truncate(nv);
    Ok(x)
}

/// The least time of several calls, in microseconds.
fn least(times: usize, mut call: impl FnMut()) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..times {
        let start = Instant::now();
        call();
        least = least.min(start.elapsed().as_secs_f64());
    }
    1e6 * least
}

/// A grasp, its state and accelerations as JSON. Names are plain, and numbers of Rust are numbers of JSON.
fn described(closed: &ClosedMechanism, q: &[f64], tau: &[f64], qdd: &[f64]) -> String {
    let mechanism = closed.mechanism();
    let pose = |pose: &Pose| {
        let mut numbers = pose.rotation.to_rows().concat();
        numbers.extend(pose.translation.to_array());
        format!("{numbers:?}")
    };
    let links = mechanism.links().iter().map(|link| {
        let inertia = &link.inertia;
        let (com, moments) = (inertia.com.to_array(), inertia.moments);
        format!("[{:?}, {:?}, {com:?}, {moments:?}]", link.name, inertia.mass)
    });
    let joints = mechanism.joints().iter().map(|joint| {
        let axis = match joint.kind {
            JointKind::Revolute { axis } | JointKind::Continuous { axis } => axis.to_array().to_vec(),
            _ => Vec::new(),
        };
        let (name, kind, place) = (&joint.name, joint.kind.name(), pose(&joint.origin));
        format!(
            "[{name:?}, {kind:?}, {:?}, {:?}, {place}, {axis:?}]",
            joint.parent, joint.child
        )
    });
    let frames = mechanism.frames().iter();
    let frames = frames.map(|frame| format!("[{:?}, {:?}, {}]", frame.name, frame.link, pose(&frame.pose)));
    let welds = closed
        .constraints()
        .iter()
        .map(|weld| format!("[{:?}, {:?}]", weld.a, weld.b));
    let lists = [
        links.collect(),
        joints.collect(),
        frames.collect(),
        welds.collect::<Vec<_>>(),
    ];
    let [links, joints, frames, welds] = lists.map(|list| list.join(",\n"));
    format!(
        r#"{{"links": [{links}], "joints": [{joints}], "frames": [{frames}], "welds": [{welds}],
"q": {q:?}, "tau": {tau:?}, "qdd": {qdd:?}}}"#
    )
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args().nth(1).map(PathBuf::from);
    println!("arms  joints  rows   operators, µs   per arm   dense, µs   difference");
    for arms in [2, 4, 8, 16, 32] {
        let (closed, q) = grasp(arms)?;
        let nv = closed.mechanism().nv();
        let tau: Vec<f64> = (0..nv)
            .map(|i| if i < 7 * arms { (i as f64).sin() } else { 0.0 })
            .collect();
        let (still, mut qdd) = (vec![0.0; nv], vec![0.0; nv]);
        let mut workspace = closed.workspace();
        let mut failed = None;
        let fast = least(300, || {
            let mut run = || {
                workspace
                    .at(&q)?
                    .moving(&still)?
                    .forward_dynamics(&tau, &mut qdd)
                    .map(drop)
            };
            failed = run().err();
        });
        if let Some(problem) = failed {
            return Err(problem.into());
        }
        if let Some(directory) = &directory {
            std::fs::write(
                directory.join(format!("{arms}.json")),
                described(&closed, &q, &tau, &qdd),
            )?;
        }
        let mut expect = Vec::new();
        let slow = least(if arms > 8 { 3 } else { 20 }, || {
            expect = dense(&closed, &q, &tau).unwrap_or_default();
        });
        let size = expect.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let apart = expect.iter().zip(&qdd).fold(0.0_f64, |m, (x, y)| m.max((x - y).abs())) / size;
        println!(
            "{arms:4} {nv:7} {:5} {fast:15.1} {:9.2} {slow:11.0}   {apart:.1e}",
            closed.rows(),
            fast / arms as f64
        );
    }
    Ok(())
}
