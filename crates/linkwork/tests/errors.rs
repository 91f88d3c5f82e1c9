//! What cannot be answered is refused, with the argument and the joint named; nothing panics, however large.

mod support;

use linkwork::model::{Coupling, Joint, Link, Mechanism, examples};
use linkwork::spatial::{Force, Inertia};
use linkwork::{Error, Reference, Result};
use std::time::{Duration, Instant};
use support::random::Random;

/// That a result is an error whose message has all these words.
#[track_caller]
fn says<T>(result: Result<T>, words: &[&str]) -> Error {
    let Err(error) = result else { panic!("accepted") };
    let message = error.to_string();
    for word in words {
        assert!(message.contains(word), "`{word}` is not in: {message}");
    }
    error
}

#[test]
fn wrong_lengths_are_refused_by_argument() {
    let arm = examples::puma560();
    let mut workspace = arm.workspace();
    says(workspace.at(&[0.0; 5]), &["q ", "5", "6"]);
    says(workspace.at(&[0.0; 7]), &["q ", "7", "6"]);
    let mut posed = workspace.at(&[0.0; 6]).unwrap();
    for wrong in [0, 1, 5, 7, 37, 100] {
        let mut out = vec![0.0; wrong];
        let (given, x) = (wrong.to_string(), [0.0; 6]);
        let link = arm.link("link3").unwrap();
        let joint = arm.joint("joint3").unwrap();
        says(posed.jacobian(link, Reference::World, &mut out), &["out", &given, "36"]);
        says(posed.com_jacobian(&mut out), &["out", &given, "18"]);
        says(posed.centroidal_matrix(&mut out), &["out", &given, "36"]);
        says(posed.gravity_torque(&mut out), &["out", &given, "6"]);
        says(posed.mass_matrix(&mut out), &["out", &given, "36"]);
        says(posed.mass_matrix_inverse(&mut out), &["out", &given, "36"]);
        says(posed.mass_times(&x, &mut out), &["out", &given, "6"]);
        says(posed.inverse_mass_times(&x, &mut out), &["out", &given, "6"]);
        let long = vec![0.0; wrong];
        says(posed.mass_times(&long, &mut [0.0; 6]), &["x ", &given, "6"]);
        says(posed.inverse_mass_times(&long, &mut [0.0; 6]), &["x ", &given, "6"]);
        if wrong != 1 {
            says(posed.joint_inertia(joint, &mut out), &["out", &given, "1"]);
        }
        says(posed.moving(&long), &["qd", &given, "6"]);
        let mut moving = posed.moving(&x).unwrap();
        says(
            moving.jacobian_rate(link, Reference::Local, &mut out),
            &["out", &given, "36"],
        );
        says(moving.centroidal_matrix_rate(&mut out), &["out", &given, "36"]);
        says(moving.inverse_dynamics(&long, &mut [0.0; 6]), &["qdd", &given, "6"]);
        says(moving.inverse_dynamics(&x, &mut out), &["tau", &given, "6"]);
        says(moving.bias(&mut out), &["out", &given, "6"]);
        says(moving.coriolis(&mut out), &["out", &given, "6"]);
        says(moving.coriolis_matrix(&mut out), &["out", &given, "36"]);
        says(moving.forward_dynamics(&long, &mut [0.0; 6]), &["tau", &given, "6"]);
        says(moving.forward_dynamics(&x, &mut out), &["qdd", &given, "6"]);
        says(moving.forward_dynamics_bias_free(&x, &mut out), &["qdd", &given, "6"]);
        says(moving.forward_dynamics_biased(&x, &mut out), &["qdd", &given, "6"]);
        says(moving.with_torques(&long, &mut [0.0; 6]), &["tau", &given, "6"]);
        says(moving.with_torques(&x, &mut out), &["qdd", &given, "6"]);
        says(moving.with_torques_bias_free(&x, &mut out), &["qdd", &given, "6"]);
        says(moving.with_accelerations(&long, &mut [0.0; 6]), &["qdd", &given, "6"]);
        says(moving.with_accelerations(&x, &mut out), &["tau", &given, "6"]);
        says(moving.passive_torque(&mut out), &[&given, "6"]);
        says(
            moving.passive_derivatives(&mut out, &mut [0.0; 6]),
            &["by_q", &given, "36"],
        );
        says(
            moving.passive_derivatives(&mut [0.0; 36], &mut out),
            &["by_qd", &given, "6"],
        );
    }
    says(
        arm.forward_dynamics(&[0.0; 6], &[0.0; 6], &[0.0; 2]),
        &["tau", "2", "6"],
    );
}

#[test]
fn numbers_that_are_none_are_refused_by_argument_and_joint() {
    let arm = examples::puma560();
    let mut workspace = arm.workspace();
    let fine = [0.1; 6];
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for i in 0..6 {
            let mut x = fine;
            x[i] = bad;
            let (joint, at) = (format!("`joint{}`", i + 1), format!("[{i}]"));
            let words = |argument| [argument, &joint[..], &at[..], "finite"];
            says(workspace.at(&x), &words("q["));
            let mut posed = workspace.at(&fine).unwrap();
            let mut out = [0.0; 6];
            says(posed.mass_times(&x, &mut out), &words("x["));
            says(posed.inverse_mass_times(&x, &mut out), &words("x["));
            says(posed.moving(&x), &words("qd["));
            let mut moving = posed.moving(&fine).unwrap();
            says(moving.inverse_dynamics(&x, &mut out), &words("qdd["));
            says(moving.with_accelerations(&x, &mut out), &words("qdd["));
            says(moving.forward_dynamics(&x, &mut out), &words("tau["));
            says(moving.forward_dynamics_bias_free(&x, &mut out), &words("tau["));
            says(moving.forward_dynamics_biased(&x, &mut out), &words("tau["));
            says(moving.with_torques(&x, &mut out), &words("tau["));
            says(moving.with_torques_bias_free(&x, &mut out), &words("tau["));
            let mut force = [0.0; 6];
            force[i] = bad;
            let link = arm.link("link2").unwrap();
            says(
                moving.apply_force(link, Reference::Local, Force::from_array(force)),
                &["force", "finite"],
            );
            // What was refused left no trace.
            moving.forward_dynamics(&fine, &mut out).unwrap();
            assert!(out.iter().all(|x| x.is_finite()));
        }
    }
}

#[test]
fn single_precision_has_a_bound_of_its_own() {
    let arm = examples::puma560();
    let (mut single, mut double) = (arm.workspace_of::<f32>(), arm.workspace());
    let mut posed = single.at(&[0.1; 6]).unwrap();
    says(posed.moving(&[0.1, 1e13, 0.1, 0.1, 0.1, 0.1]), &["qd[1]", "1e12"]);
    says(posed.mass_times(&[1e19; 6], &mut [0.0; 6]), &["x[0]", "1e12"]);
    let mut tau = [0.0; 6];
    let mut moving = posed.moving(&[1e12; 6]).unwrap();
    moving.inverse_dynamics(&[1e12; 6], &mut tau).unwrap();
    assert!(tau.iter().all(|x| x.is_finite()));
    says(single.at(&[2e12; 6]), &["q[0]", "1e12"]);
    let mut posed = double.at(&[0.1; 6]).unwrap();
    posed.moving(&[1e19; 6]).unwrap();
    says(posed.moving(&[1e61; 6]), &["qd[0]", "1e60"]);

    // Lanes, of which two are refused.
    let states = 40;
    let (q, tau) = (vec![0.3_f32; 6 * states], vec![0.0_f32; 6 * states]);
    let mut qd = vec![0.5_f32; 6 * states];
    let (mut sound, mut qdd) = (vec![0.0; 6 * states], vec![0.0; 6 * states]);
    let mut batch = arm.batch_of::<f32>();
    batch.forward_dynamics(&q, &qd, &tau, &mut sound).unwrap();
    (qd[6 * 7 + 4], qd[6 * 33]) = (1e19, -2e12);
    says(
        batch.forward_dynamics(&q, &qd, &tau, &mut qdd),
        &["state 7", "qd[4]", "1e12", "2 of 40"],
    );
    for state in 0..states {
        let own = 6 * state..6 * state + 6;
        if state == 7 || state == 33 {
            assert!(qdd[own].iter().all(|x| x.is_nan()));
        } else {
            assert_eq!(qdd[own.clone()], sound[own]);
        }
    }

    // The same where joints follow others, which lanes do not take.
    let gear = Coupling::gear("joint6", "joint5", 2.0, 0.0);
    let geared = arm.to_builder().couple(gear).build().unwrap();
    let (q, tau, mut qdd) = (vec![0.3_f32; 10], vec![0.0_f32; 10], vec![0.0_f32; 10]);
    let mut qd = vec![0.5_f32; 10];
    qd[5 + 2] = 1e19;
    says(
        geared.batch_of::<f32>().forward_dynamics(&q, &qd, &tau, &mut qdd),
        &["state 1", "qd[2]", "1e12", "1 of 2"],
    );
    assert!(qdd[..5].iter().all(|x| x.is_finite()) && qdd[5..].iter().all(|x| x.is_nan()));
}

#[test]
fn quaternions_far_from_unit_length_are_refused_and_near_ones_normalised() {
    let robot = examples::quadruped();
    let nv = robot.nv();
    let base = robot.joints()[0].name.clone();
    let good = robot.random(1);
    let mut workspace = robot.workspace();
    for scale in [0.0, 0.5, 0.99, 1.01, 2.0, 1e20] {
        let mut q = good.clone();
        q[..4].iter_mut().for_each(|x| *x *= scale);
        let error = says(workspace.at(&q), &[&format!("`{base}`"), "quaternion", "q[0..4]"]);
        assert!(matches!(error, Error::Quaternion { index: 0, .. }));
    }
    let mut near = good.clone();
    near[..4].iter_mut().for_each(|x| *x *= 1.0005);
    let (mut a, mut b) = (vec![0.0; nv * nv], vec![0.0; nv * nv]);
    workspace.at(&good).unwrap().mass_matrix(&mut a).unwrap();
    workspace.at(&near).unwrap().mass_matrix(&mut b).unwrap();
    support::assert_close("mass matrix", &b, &a, 1e-13);
}

/// A point mass on a massless crank on a massless slider: square to the slide, nothing resists the slider.
fn crank() -> Mechanism {
    Mechanism::builder("crank")
        .link(Link::massless("block"))
        .link(Link::new("bob", Inertia::point(2.0, [0.0, 1.0, 0.0])))
        .joint(Joint::prismatic("slide", [1.0, 0.0, 0.0]).between("world", "block"))
        .joint(Joint::revolute("turn", [0.0, 0.0, 1.0]).between("block", "bob"))
        .build()
        .unwrap()
}

#[test]
fn a_joint_that_nothing_resists_just_now_is_named() {
    let mechanism = crank();
    let mut workspace = mechanism.workspace();
    let (mut out, mut square, mut qdd) = ([0.0; 2], [0.0; 4], [0.0; 2]);
    workspace
        .at(&[0.3, 0.4])
        .unwrap()
        .mass_matrix_inverse(&mut square)
        .unwrap();
    let mut posed = workspace.at(&[0.3, 0.0]).unwrap();
    let words = ["`slide`", "nothing resists", "armature"];
    says(posed.mass_matrix_inverse(&mut square), &words);
    says(posed.inverse_mass_times(&[1.0; 2], &mut out), &words);
    says(posed.log_det_mass(), &words);
    let block = mechanism.link("block").unwrap();
    says(posed.articulated_inertia(block), &words);
    says(
        posed.joint_inertia(mechanism.joint("slide").unwrap(), &mut [0.0]),
        &words,
    );
    let mut moving = posed.moving(&[0.1, 0.2]).unwrap();
    says(moving.forward_dynamics(&[0.0; 2], &mut qdd), &words);
    says(moving.forward_dynamics_bias_free(&[0.0; 2], &mut qdd), &words);
    says(moving.forward_dynamics_biased(&[0.0; 2], &mut qdd), &words);
    says(moving.with_torques(&[0.0; 2], &mut qdd), &words);
    let error = says(moving.with_torques_bias_free(&[0.0; 2], &mut qdd), &words);
    assert!(matches!(error, Error::Singular { index: 0, .. }));
    // What needs no inverse is still answered, and so is everything at the next configuration.
    moving.mass_matrix(&mut square).unwrap();
    moving.inverse_dynamics(&[1.0; 2], &mut out).unwrap();
    let mut posed = workspace.at(&[0.3, 0.4]).unwrap();
    let mut moving = posed.moving(&[0.1, 0.2]).unwrap();
    moving.forward_dynamics(&[0.0; 2], &mut qdd).unwrap();
    assert!(qdd.iter().all(|x| x.is_finite()));
}

#[test]
fn unknown_names_come_with_a_hint() {
    let robot = examples::quadruped();
    says(
        robot.link("trnk"),
        &["link", "`trnk`", "`quadruped`", "did you mean `trunk`?"],
    );
    says(
        robot.joint("front_left_kne"),
        &["joint", "did you mean `front_left_knee`?"],
    );
    says(
        robot.frame("front_left_fot"),
        &["frame", "did you mean `front_left_foot`?"],
    );
    says(robot.link("imu"), &["`imu`", "that is a frame"]);
    let nothing = says(robot.link("zzzzzzzzzzzz"), &["`zzzzzzzzzzzz`"]).to_string();
    assert!(!nothing.contains("did you mean"), "{nothing}");
}

#[test]
fn which_link_of_a_welded_body_is_pushed_is_asked() {
    let arm = examples::arm7();
    let mut workspace = arm.workspace();
    let q = arm.neutral();
    let mut posed = workspace.at(&q).unwrap();
    for link in arm.links() {
        let push = linkwork::spatial::Force::new([0.0; 3], [1.0, 0.0, 0.0]);
        let frame = arm.frame(&link.name).unwrap();
        posed.apply_force(frame, linkwork::Reference::Local, push).unwrap();
    }
    let mut moving = posed.moving(&[0.0; 7]).unwrap();
    let mut tau = [0.0; 7];
    let weld = arm.joints().iter().find(|j| j.kind.nv() == 0).unwrap();
    let accelerating = moving.with_accelerations(&[0.0; 7], &mut tau).unwrap();
    let quoted = format!("`{}`", weld.name);
    says(
        accelerating.reaction(arm.joint(&weld.name).unwrap()),
        &[&quoted, "fixed"],
    );
}

/// A hundred thousand links, each on the one before or all on the first.
fn many(chain: bool) -> Mechanism {
    let n = 100_000;
    let mut builder = Mechanism::builder("many");
    for k in 0..n {
        let inner = match (k, chain) {
            (0, _) => "world".to_owned(),
            (_, true) => format!("link{}", k - 1),
            _ => "link0".to_owned(),
        };
        let axis = [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]][k % 3];
        let joint = Joint::revolute(format!("joint{k}"), axis).at([0.01, 0.0, 0.02]);
        builder = builder
            .link(Link::new(format!("link{k}"), Inertia::cuboid(1.0, [0.1, 0.2, 0.3])))
            .joint(joint.between(inner, format!("link{k}")));
    }
    builder.build().unwrap()
}

#[test]
fn a_hundred_thousand_links_are_no_trouble() {
    for chain in [true, false] {
        let begin = Instant::now();
        let mechanism = many(chain);
        let built = begin.elapsed();
        let n = mechanism.nv();
        let mut workspace = mechanism.workspace();
        let q: Vec<f64> = (0..n).map(|i| 0.3 * (i as f64).sin()).collect();
        let (rest, mut qdd) = (vec![0.0; n], vec![0.0; n]);
        let begin = Instant::now();
        let mut posed = workspace.at(&q).unwrap();
        let mut moving = posed.moving(&rest).unwrap();
        moving.forward_dynamics(&rest, &mut qdd).unwrap();
        let took = begin.elapsed();
        println!("chain: {chain}, built in {built:?}, forward dynamics in {took:?}");
        assert!(qdd.iter().all(|x| x.is_finite()));
        assert!(took < Duration::from_secs(2) && built < Duration::from_secs(20));
        moving.inverse_dynamics(&rest, &mut qdd).unwrap();
        let tip = mechanism.link("link99999").unwrap();
        assert!(moving.pose(tip).unwrap().translation.is_finite());
        assert!(moving.com().is_finite() && moving.log_det_mass().unwrap().is_finite());
    }
}

/// Three axes through a point, the first and the last of which are parallel: nothing resists turning one against the other.
/// What is left of D there is rounding, of either sign.
#[test]
fn a_singular_state_is_refused_whatever_rounding_makes_of_it() {
    let mut random = Random::new(3);
    for _ in 0..300 {
        let (first, second) = (random.direction(), random.direction());
        if first.cross(second).norm() < 0.3 {
            continue;
        }
        let aside = random.vector(1.0);
        let gimbal = Mechanism::builder("gimbal")
            .link(Link::massless("outer"))
            .link(Link::massless("inner"))
            .link(Link::new("body", random.inertia()))
            .joint(
                Joint::revolute("yaw", first)
                    .between("world", "outer")
                    .placed(random.pose()),
            )
            .joint(Joint::revolute("pitch", second).between("outer", "inner").at(aside))
            .joint(Joint::revolute("roll", first).between("inner", "body").at(-aside))
            .build()
            .unwrap();
        let (qd, tau) = ([0.1; 3], [0.2, 0.3, -0.1]);
        let mut workspace = gimbal.workspace();
        for (pitch, is_singular) in [(0.0, true), (0.01, false)] {
            let q = [random.within(-3.0, 3.0), pitch, random.within(-3.0, 3.0)];
            let mut all = Vec::new();
            all.push(gimbal.forward_dynamics(&q, &qd, &tau).map(drop));
            let mut posed = workspace.at(&q).unwrap();
            all.push(posed.inverse_mass_times(&tau, &mut [0.0; 3]));
            all.push(posed.mass_matrix_inverse(&mut [0.0; 9]));
            all.push(posed.log_det_mass().map(drop));
            let mut batch = gimbal.batch();
            all.push(batch.forward_dynamics(&q, &qd, &tau, &mut [0.0; 3]));
            if is_singular {
                let narrow = |x: [f64; 3]| x.map(|x| x as f32);
                let mut batch = gimbal.batch_of::<f32>();
                all.push(batch.forward_dynamics(&narrow(q), &narrow(qd), &narrow(tau), &mut [0.0; 3]));
            }
            assert!(all.iter().all(|one| one.is_err() == is_singular), "{pitch}: {all:?}");
        }
    }
}

/// The same of sliders that a turning joint brings in line, and of gimbals side by side on a floating base.
#[test]
fn a_singular_state_is_refused_for_sliders_and_in_lanes() {
    let mut random = Random::new(5);
    for _ in 0..100 {
        let (along, about) = (random.direction(), random.direction());
        if along.cross(about).norm() < 0.3 {
            continue;
        }
        let slider = Mechanism::builder("slider")
            .link(Link::massless("outer"))
            .link(Link::massless("inner"))
            .link(Link::new("body", random.inertia()))
            .joint(
                Joint::prismatic("first", along)
                    .between("world", "outer")
                    .placed(random.pose()),
            )
            .joint(Joint::revolute("turn", about).between("outer", "inner"))
            .joint(Joint::prismatic("second", along).between("inner", "body"))
            .build()
            .unwrap();
        let mut gimbals = Mechanism::builder("gimbals")
            .link(Link::new("base", random.inertia()))
            .joint(Joint::free("float").between("world", "base"));
        for i in 0..4 {
            let name = |part: &str| format!("{part}{i}");
            gimbals = gimbals
                .link(Link::massless(name("outer")))
                .link(Link::massless(name("inner")))
                .link(Link::new(name("body"), random.inertia()))
                .joint(Joint::revolute(name("yaw"), along).between("base", name("outer")))
                .joint(Joint::revolute(name("pitch"), about).between(name("outer"), name("inner")))
                .joint(Joint::revolute(name("roll"), along).between(name("inner"), name("body")));
        }
        for (mechanism, middle) in [(slider, 1), (gimbals.build().unwrap(), 8)] {
            let mut q = mechanism.random(1);
            let tau = random.numbers(mechanism.nv(), 1.0);
            for (angle, is_singular) in [(0.0, true), (0.02, false)] {
                q[middle..].iter_mut().skip(3).step_by(3).for_each(|pitch| *pitch = 0.5);
                q[middle] = angle;
                let got = mechanism.forward_dynamics(&q, &tau, &tau);
                assert_eq!(got.is_err(), is_singular, "{}: {angle}, {got:?}", mechanism.name());
            }
        }
    }
}
