//! The fastest motion along a path: known answers, limits kept and met, another implementation, and clear refusals.

use linkwork::Mechanism;
use linkwork::model::{Coupling, Joint, Link, examples};
use linkwork::motion::{Limits, Trajectory};
use linkwork::spatial::Inertia;

/// A mass on a rail without gravity.
fn cart(mass: f64) -> Mechanism {
    Mechanism::builder("cart")
        .gravity([0.0; 3])
        .link(Link::new("cart", Inertia::sphere(mass, 0.1)))
        .joint(Joint::prismatic("rail", [1.0, 0.0, 0.0]).between("world", "cart"))
        .build()
        .unwrap()
}

#[test]
fn a_double_integrator_goes_by_bang_and_bang() {
    let m = cart(2.0);
    let path = Trajectory::path_through(&m, &[[0.0], [1.5]]).unwrap();
    let by_force = path.time_optimal(&Limits::none(&m).torque(&[3.0]).unwrap()).unwrap();
    let known = 2.0 * (1.5_f64 * 2.0 / 3.0).sqrt();
    assert!(
        (by_force.trajectory.duration() - known).abs() < 1e-6 * known,
        "{by_force}"
    );
    // With a speed limit: a trapezoid.
    let limits = Limits::none(&m).acceleration(&[2.0]).unwrap().velocity(&[0.9]).unwrap();
    let trapezoid = path.time_optimal(&limits).unwrap();
    let known = 1.5 / 0.9 + 0.9 / 2.0;
    assert!(
        (trapezoid.trajectory.duration() - known).abs() < 2e-5 * known,
        "{trapezoid}"
    );
    assert!(trapezoid.limit_use.share < 1.005, "{trapezoid}");
}

/// Bang and bang of a pendulum under gravity, whose switch follows from energy: τ(2θₛ − θₑ) = ΔV.
#[test]
fn a_pendulum_switches_where_energy_says() {
    let (mass, length, most, end) = (1.0, 1.0, 15.0, 2.0_f64);
    let pendulum = Mechanism::builder("pendulum")
        .link(Link::new("rod", Inertia::rod(mass, [0.0, 0.0, -length])))
        .joint(
            Joint::revolute("pivot", [0.0, 1.0, 0.0])
                .between("world", "rod")
                .effort_limit(most),
        )
        .build()
        .unwrap();
    let path = Trajectory::path_through(&pendulum, &[[0.0], [end]]).unwrap();
    let found = path.time_optimal(&Limits::of(&pendulum)).unwrap();
    // ½Iθ̇² = W(θ) − V(θ), with I = ml²/3 and V = ½mgl(1 − cos θ).
    let inertia = mass * length * length / 3.0;
    let height = |x: f64| 0.5 * mass * 9.81 * length * (1.0 - x.cos());
    let gravity = -pendulum.gravity().z;
    let height = |x: f64| height(x) * gravity / 9.81;
    let switch = 0.5 * end + height(end) / (2.0 * most);
    let speed = |x: f64| {
        let work = if x < switch {
            most * x
        } else {
            most * (2.0 * switch - x)
        };
        (2.0 * (work - height(x)) / inertia).max(0.0).sqrt()
    };
    // θ = ½θₑ(1 − cos φ) takes the roots out of both ends.
    let steps = 200_000;
    let seconds: f64 = (0..steps)
        .map(|i| {
            let phi = std::f64::consts::PI * (i as f64 + 0.5) / steps as f64;
            let x = 0.5 * end * (1.0 - phi.cos());
            0.5 * end * phi.sin() / speed(x) * std::f64::consts::PI / steps as f64
        })
        .sum();
    assert!(
        (found.trajectory.duration() - seconds).abs() < 2e-3 * seconds,
        "{found} instead of {seconds}"
    );
    assert!(found.limit_use.share < 1.01, "{found}");
}

/// Limits hold between the points of the grid too, and almost everywhere one of them is met: else it could be faster.
#[test]
fn some_limit_is_met_everywhere_and_none_is_passed() {
    let arm = examples::arm7();
    let torque: Vec<f64> = {
        let held = arm.gravity_torque(&[0.4; 7]).unwrap();
        held.iter().map(|x| 3.0 * x.abs() + 40.0).collect()
    };
    let limits = Limits::none(&arm)
        .velocity(&[1.5; 7])
        .unwrap()
        .acceleration(&[12.0; 7])
        .unwrap()
        .torque(&torque)
        .unwrap();
    let waypoints = [
        [0.0; 7],
        [0.3, 0.6, 0.1, -0.8, 0.3, 0.5, 0.2],
        [0.8, 0.4, -0.3, -0.4, 0.0, 0.9, -0.4],
        [1.0; 7],
    ];
    let path = Trajectory::path_through(&arm, &waypoints).unwrap();
    let fast = path.time_optimal(&limits).unwrap();
    assert!(fast.limit_use.share < 1.01, "{fast}");
    let (mut met, mut all) = (0, 0);
    let mut workspace = arm.workspace();
    for pair in fast.trajectory.times().windows(2) {
        let (mut q, mut v, mut a, mut tau) = ([0.0; 7], [0.0; 7], [0.0; 7], [0.0; 7]);
        fast.trajectory
            .at(0.5 * (pair[0] + pair[1]), &mut q, &mut v, &mut a)
            .unwrap();
        workspace
            .at(&q)
            .unwrap()
            .moving(&v)
            .unwrap()
            .inverse_dynamics(&a, &mut tau)
            .unwrap();
        let mut passive = [0.0; 7];
        workspace
            .at(&q)
            .unwrap()
            .moving(&v)
            .unwrap()
            .passive_torque(&mut passive)
            .unwrap();
        let share = (0..7).map(|i| {
            let torque = (tau[i] - passive[i]).abs() / torque[i];
            (v[i].abs() / 1.5).max(a[i].abs() / 12.0).max(torque)
        });
        all += 1;
        met += usize::from(share.fold(0.0, f64::max) > 0.97);
    }
    assert!(met * 10 > all * 9, "{met} of {all}");
    // The path is kept.
    let first = path.time_optimal(&limits).unwrap();
    let mut q = [0.0; 7];
    first
        .trajectory
        .at(first.trajectory.end_time(), &mut q, &mut [0.0; 7], &mut [0.0; 7])
        .unwrap();
    assert!(q.iter().all(|x| (x - 1.0).abs() < 1e-9));
}

/// Joints that follow others keep to their own limit of velocity.
#[test]
fn followers_keep_to_their_limits() {
    let m = Mechanism::builder("gear")
        .link(Link::new("a", Inertia::rod(1.0, [0.0, 0.0, 1.0])))
        .link(Link::new("b", Inertia::rod(1.0, [0.0, 0.0, 1.0])))
        .joint(Joint::revolute("lead", [0.0, 1.0, 0.0]).between("world", "a"))
        .joint(
            Joint::revolute("follow", [0.0, 1.0, 0.0])
                .between("a", "b")
                .velocity_limit(1.2),
        )
        .couple(Coupling::gear("follow", "lead", -3.0, 0.0))
        .build()
        .unwrap();
    let path = Trajectory::path_through(&m, &[[0.0], [2.0]]).unwrap();
    let found = path
        .time_optimal(&Limits::none(&m).acceleration(&[4.0]).unwrap())
        .unwrap();
    let known = 2.0 / 0.4 + 0.4 / 4.0;
    // At each corner of the trapezoid a part of a piece of the grid is lost.
    assert!((found.trajectory.duration() - known).abs() < 4e-4 * known, "{found}");
    assert!(found.limit_use.share < 1.005, "{found}");
}

/// Damping and friction count as torques that motors must overcome.
#[test]
fn what_resists_the_joints_takes_torque() {
    let m = Mechanism::builder("cart")
        .gravity([0.0; 3])
        .link(Link::new("cart", Inertia::sphere(1.0, 0.1)))
        .joint(
            Joint::prismatic("rail", [1.0, 0.0, 0.0])
                .between("world", "cart")
                .damping(2.0)
                .friction(0.5),
        )
        .build()
        .unwrap();
    let path = Trajectory::path_through(&m, &[[0.0], [1.0]]).unwrap();
    let limits = Limits::none(&m).torque(&[3.0]).unwrap();
    let found = path.time_optimal(&limits).unwrap();
    assert!(found.limit_use.share < 1.02, "{found}");
    // v̇ = 2.5 − 2v, then v̇ = −3.5 − 2v.
    let (mut t, mut best, h) = (0.0, f64::INFINITY, 1e-4);
    let (mut s, mut v) = (0.0, 0.0);
    while t < 2.0 {
        // From here on braking: the way and time to rest.
        let time = 0.5 * (1.0_f64 + 2.0 * v / 3.5).ln();
        let way = 0.5 * v - 1.75 * time;
        if s + way >= 1.0 {
            best = t + time;
            break;
        }
        s += h * v + 0.5 * h * h * (2.5 - 2.0 * v);
        v += h * (2.5 - 2.0 * (v + 0.5 * h * (2.5 - 2.0 * v)));
        t += h;
    }
    // Damping grows within a piece of the grid, and its limit holds at the end that is worse.
    assert!(
        (found.trajectory.duration() - best).abs() < 5e-3 * best,
        "{found} instead of {best}"
    );
}

#[test]
fn what_cannot_be_done_is_named() {
    let said = |r: linkwork::Result<linkwork::motion::TimeOptimal>| r.unwrap_err().to_string();
    let arm = examples::arm7();
    let path = Trajectory::path_through(&arm, &[[0.0; 7], [1.0; 7]]).unwrap();
    let weak = said(path.time_optimal(&Limits::none(&arm).torque(&[1.0; 7]).unwrap()));
    assert!(weak.contains("cannot hold") && weak.contains("s = "), "{weak}");
    let free = said(path.time_optimal(&Limits::none(&arm)));
    assert!(free.contains("nothing limits"), "{free}");
    let pole = examples::cart_pole();
    let path = Trajectory::path_through(&pole, &[[0.0, 0.3], [1.0, 0.3]]).unwrap();
    let idle = said(path.time_optimal(&Limits::none(&pole).torque(&[50.0, 0.0]).unwrap()));
    assert!(idle.contains("no motor drives"), "{idle}");
    let still = Trajectory::minimum_jerk(&arm, &[0.0; 7], &[1.0; 7], 1.0).unwrap();
    let still = said(still.time_optimal(&Limits::none(&arm).velocity(&[1.0; 7]).unwrap()));
    assert!(still.contains("stands still"), "{still}");
    let far = Trajectory::path_through(&pole, &[[0.0, 0.0], [9.0, 0.0]]).unwrap();
    let far = said(far.time_optimal(&Limits::none(&pole).velocity(&[1.0; 2]).unwrap()));
    assert!(far.contains("rail") && far.contains("limits"), "{far}");
    assert!(Limits::of(&arm).velocity(&[0.0; 7]).is_err() && Limits::of(&arm).torque(&[1.0]).is_err());
}

/// The same path and limits by the package `toppra`.
#[test]
fn toppra_takes_as_long() {
    let Some(python) = std::env::var_os("LINKWORK_REFERENCE_PYTHON") else {
        println!("skipped: LINKWORK_REFERENCE_PYTHON is not set");
        return;
    };
    let script = "
import numpy as np, toppra, toppra.constraint as c, toppra.algorithm as a
w = np.array([[0,0],[0.7,-0.4],[0.2,0.9],[1.0,0.5]], float)
s = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(w, axis=0), axis=1))])
path = toppra.SplineInterpolator(s, w, bc_type='natural')
v = c.JointVelocityConstraint(np.array([[-1.0, 1.0], [-1.2, 1.2]]))
acc = c.JointAccelerationConstraint(np.array([[-3.0, 3.0], [-2.0, 2.0]]), discretization_scheme=c.DiscretizationType.Interpolation)
print(a.TOPPRA([v, acc], path, gridpoints=np.linspace(0, s[-1], 1001), parametrizer='ParametrizeConstAccel').compute_trajectory(0, 0).duration)
";
    let output = std::process::Command::new(python)
        .args(["-c", script])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let Ok(theirs) = text.lines().last().unwrap_or_default().parse::<f64>() else {
        println!("skipped: that Python has no toppra");
        return;
    };
    let m = examples::double_pendulum();
    let waypoints = [[0.0, 0.0], [0.7, -0.4], [0.2, 0.9], [1.0, 0.5]];
    let path = Trajectory::path_through(&m, &waypoints).unwrap();
    let limits = Limits::none(&m)
        .velocity(&[1.0, 1.2])
        .unwrap()
        .acceleration(&[3.0, 2.0])
        .unwrap();
    let ours = path.time_optimal(&limits).unwrap();
    println!("toppra {theirs} s, ours {} s", ours.trajectory.duration());
    assert!(
        (ours.trajectory.duration() - theirs).abs() < 5e-3 * theirs,
        "{ours} instead of {theirs}"
    );
}
