//! Two arms carry a box up and down, and keep squeezing it with 25 N.
//!
//! `cargo run --release --example dual_arm_box` writes dual_arm_box.svg, the arms and the box from the front, and
//! dual_arm_box_curves.svg, its height and the squeeze over time.

mod drawing;

use drawing::{BLUE, Drawing, GREEN, GREY, RED};
use linkwork::Reference::Aligned;
use linkwork::closed::{ClosedMechanism, ClosedMotion, Constraint};
use linkwork::model::{Joint, Link, Mechanism, examples};
use linkwork::simulate::{Integrator, Now, RungeKutta4, State};
use linkwork::spatial::{Force, Inertia, Pose, Rotation, Vec3};
use linkwork::workspace::Moving;
use std::cell::Cell;

const SQUEEZE: f64 = 25.0;
const MASS: f64 = 4.0;

/// Two arms that face each other, and a box between their flanges, held at two handles.
fn carrying() -> linkwork::Result<(ClosedMechanism, Vec<f64>)> {
    let place = |y: f64, turn: f64| Pose::new(Rotation::about(Vec3::new(0.0, 0.0, 1.0), turn), [0.0, y, 0.0]);
    let arm = examples::arm7();
    let arms = Mechanism::builder("two arms and a box")
        .frame("left seat", "world", place(0.8, -std::f64::consts::FRAC_PI_2))
        .frame("right seat", "world", place(-0.8, std::f64::consts::FRAC_PI_2))
        .build()?
        .attach("left seat", &arm, "left_")?
        .attach("right seat", &arm, "right_")?;
    let one = [0.0, 0.5, 0.0, -1.6, 0.0, 1.0, 0.0];
    let mut q = [one, one].concat();
    let mut workspace = arms.workspace();
    let mut posed = workspace.at(&q)?;
    let [left, right] = ["left_flange", "right_flange"].map(|f| arms.frame(f));
    let (left, right) = (posed.pose(left?)?, posed.pose(right?)?);
    let middle = (left.translation + right.translation) * 0.5;
    let on_box = |flange: &Pose| Pose::new(flange.rotation, flange.translation - middle);
    let arms = arms
        .to_builder()
        .link(Link::new("box", Inertia::cuboid(MASS, SIZE)))
        .joint(Joint::free("carried").between("world", "box"))
        .frame("left handle", "box", on_box(&left))
        .frame("right handle", "box", on_box(&right))
        .build()?;
    q.extend([0.0, 0.0, 0.0, 1.0, middle.x, middle.y, middle.z]);
    let holds =
        ["left", "right"].map(|s| Constraint::weld(format!("{s} hand"), format!("{s}_flange"), format!("{s} handle")));
    let closed = ClosedMechanism::new(arms, holds.to_vec())?;
    Ok((closed, q))
}

/// How hard the hands press the box together, from the forces on its handles.
fn pressure(closed: &ClosedMechanism, state: &State, tau: &[f64]) -> linkwork::Result<f64> {
    let mut workspace = closed.workspace();
    let mut posed = workspace.at(&state.q)?;
    let [left, right] = ["left handle", "right handle"].map(|f| closed.mechanism().frame(f));
    let apart = posed.tree().pose(right?)?.translation - posed.tree().pose(left?)?.translation;
    let along = apart * (1.0 / apart.norm());
    let mut qdd = vec![0.0; state.v.len()];
    let mut moving = posed.moving(&state.v)?;
    let forces = moving.forward_dynamics(tau, &mut qdd)?;
    Ok(0.5 * (forces.on_b("left hand")?.force - forces.on_b("right hand")?.force).dot(along))
}

/// The box, in metres.
const SIZE: [f64; 3] = [0.2, 0.5, 0.2];

/// Adds the arms and the box, seen along x.
fn draw(picture: &mut Drawing, closed: &ClosedMechanism, q: &[f64], colour: &'static str) -> linkwork::Result<()> {
    let (m, mut workspace) = (closed.mechanism(), closed.workspace());
    let mut posed = workspace.at(q)?;
    let seen = |point: Vec3| [point.y, point.z];
    for arm in ["left_", "right_"] {
        let mut line = vec![seen(
            posed
                .tree()
                .pose(m.frame(&format!("{} seat", &arm[..arm.len() - 1]))?)?
                .translation,
        )];
        for link in m.links().iter().filter(|link| link.name.starts_with(arm)) {
            line.push(seen(posed.tree().pose(m.frame(&link.name)?)?.translation));
        }
        picture.curve("", colour, 3.0, line);
    }
    let block = posed.tree().pose(m.frame("box")?)?;
    let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0]];
    let corner = |[y, z]: [f64; 2]| {
        seen(block.translation + block.rotation * Vec3::new(0.0, 0.5 * y * SIZE[1], 0.5 * z * SIZE[2]))
    };
    picture.curve(
        "",
        if colour == GREY { GREY } else { RED },
        2.0,
        corners.map(corner).to_vec(),
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (closed, q) = carrying()?;
    let m = closed.mechanism();
    let frame = |name: &str| m.frame(name);
    let (block, hands) = (frame("box")?, [frame("left_flange")?, frame("right_flange")?]);
    let start = closed.workspace().at(&q)?.tree().pose(block)?.translation;
    let height = |t: f64| {
        let w = 2.0;
        (
            start.z + 0.06 * (1.0 - (w * t).cos()),
            0.06 * w * (w * t).sin(),
            0.06 * w * w * (w * t).cos(),
        )
    };
    let more = Cell::new(0.0);
    // Gravity compensation of the arms, a wrench on the box split between the hands, and the squeeze.
    let control = |now: Now<'_>, moving: &mut Moving<'_>, tau: &mut [f64]| {
        moving.gravity_torque(tau)?;
        tau[14..].fill(0.0);
        let (pose, v) = (moving.pose(block)?, moving.velocity(block, Aligned)?);
        let (z, zd, zdd) = height(now.t);
        let away = Vec3::new(start.x, start.y, z) - pose.translation;
        let to = Vec3::new(0.0, 0.0, zd) - v.linear;
        let force = away * 600.0 + to * 120.0 + Vec3::new(0.0, 0.0, MASS * (zdd + 9.81));
        let [x, y, w, _] = pose.rotation.to_quaternion();
        let moment = Vec3::new(x, y, w) * -40.0 + v.angular * -8.0;
        let [left, right] = hands;
        let places = [moving.pose(left)?.translation, moving.pose(right)?.translation];
        let across = places[1] - places[0];
        let squeeze = across * ((SQUEEZE + more.get()) / across.norm());
        let mut jacobian = vec![0.0; 6 * tau.len()];
        for (i, &hand) in hands.iter().enumerate() {
            // Half of the wrench, taken at the hand, and the squeeze inward.
            let half = force * 0.5;
            let at = moment * 0.5 + (pose.translation - places[i]).cross(half);
            let inward = squeeze * if i == 0 { 1.0 } else { -1.0 };
            let wrench = Force::new(at, half + inward).to_array();
            moving.jacobian(hand, Aligned, &mut jacobian)?;
            for (f, row) in wrench.into_iter().zip(jacobian.chunks_exact(now.v.len())) {
                tau.iter_mut().zip(row).for_each(|(tau, j)| *tau += f * j);
            }
        }
        // What the box does not see of the arms' motion is damped.
        tau[..14].iter_mut().zip(now.v).for_each(|(tau, v)| *tau -= 2.0 * v);
        Ok(())
    };
    let mut state = State::at_rest(m, &q);
    let mut motion = ClosedMotion::new(&closed, control)?;
    let mut integrator = RungeKutta4::new(m);
    let (mut wanted, mut got, mut squeezed) = (Vec::new(), Vec::new(), Vec::new());
    let mut view = Drawing::new("Two arms carry a box and squeeze it", "y, m", "z, m").in_metres();
    draw(&mut view, &closed, &q, GREY)?;
    for step in 0..2000 {
        let h = 2e-3;
        integrator.step(&mut motion, &mut state, h)?;
        let felt = pressure(&closed, &state, motion.torques())?;
        // The integral part of the force controller.
        more.set((more.get() + 8.0 * h * (SQUEEZE - felt)).clamp(-100.0, 100.0));
        if step == 785 {
            // At its highest.
            draw(&mut view, &closed, &state.q, BLUE)?;
        }
        if step % 10 == 0 {
            let z = closed.workspace().at(&state.q)?.tree().pose(block)?.translation.z;
            wanted.push([state.t, 100.0 * (height(state.t).0 - start.z)]);
            got.push([state.t, 100.0 * (z - start.z)]);
            squeezed.push([state.t, felt]);
        }
    }
    let last = squeezed.last().map_or(0.0, |p| p[1]);
    println!("squeeze at the end: {last:.2} N of {SQUEEZE} N");
    println!("largest gap of the hands: {:.1e}", motion.worst_closure());
    view.save("dual_arm_box.svg")?;
    let mut picture = Drawing::new("Height of the box and squeeze", "time, s", "height in cm, force in N");
    picture.curve("height wanted, cm", GREEN, 3.0, wanted);
    picture.curve("height, cm", BLUE, 1.5, got);
    picture.curve("squeeze, N (25 wanted)", RED, 1.5, squeezed);
    picture.save("dual_arm_box_curves.svg")?;
    Ok(())
}
