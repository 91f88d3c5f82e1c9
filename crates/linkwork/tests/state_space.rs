//! Linear models: against the simulator's own steps, against known systems, and what a regulator does to them.
#![allow(non_snake_case)]

mod support;

use linkwork::Mechanism;
use linkwork::model::{Joint, Link, examples};
use linkwork::simulate::{
    DormandPrince, Dynamics, ImplicitMidpoint, Integrator, Now, PassiveForces, RungeKutta4, SemiImplicitEuler, State,
    Tolerance,
};
use linkwork::spatial::Inertia;
use linkwork::state_space::{Method, OperatingPoint, StateSpace};
use linkwork::workspace::Moving;
use support::pushes::random_pushes;
use support::random::{Random, random_state, random_tree};
use support::resisted::resisted;
use support::{assert_close_of, fully_driven};

/// A mechanism with springs, dampers and friction, and a point that is no equilibrium, under forces of every kind.
fn moving_point(seed: u64) -> (Mechanism, OperatingPoint) {
    let mechanism = fully_driven(&resisted(&random_tree(seed, 8), seed));
    let state = random_state(&mechanism, seed);
    let point = OperatingPoint {
        q: state.q,
        qd: state.qd,
        tau: state.tau,
        forces: random_pushes(&mechanism, seed),
    };
    (mechanism, point)
}

/// Where the simulator goes from q ⊕ δq, q̇ + δq̇ under T + δT, seen from where it goes without them.
fn simulated(
    mechanism: &Mechanism,
    point: &OperatingPoint,
    resistance: &PassiveForces,
    method: Method,
    h: f64,
    change: &[f64],
) -> Vec<f64> {
    let n = mechanism.nv();
    let end = |scale: f64| {
        let moved: Vec<f64> = change.iter().map(|x| scale * x).collect();
        let mut q = point.q.clone();
        mechanism.integrate(&point.q, &moved[..n], &mut q).unwrap();
        let add = |x: &[f64], d: &[f64]| x.iter().zip(d).map(|(x, d)| x + d).collect::<Vec<_>>();
        let tau = add(&point.tau, &moved[2 * n..]);
        let drive = |_: Now<'_>, moving: &mut Moving<'_>, out: &mut [f64]| -> linkwork::Result<()> {
            out.copy_from_slice(&tau);
            let mut pushes = point.forces.iter();
            pushes.try_for_each(|push| moving.apply_force(push.frame, push.reference, push.force))
        };
        let mut equations = Dynamics::with(mechanism, drive, resistance.clone());
        let v = add(&point.qd, &moved[n..2 * n]);
        let mut state = State { t: 0.0, q, v };
        match method {
            Method::SemiImplicitEuler => SemiImplicitEuler::new(mechanism).step(&mut equations, &mut state, h),
            Method::RungeKutta4 => RungeKutta4::new(mechanism).step(&mut equations, &mut state, h),
            Method::ImplicitMidpoint => ImplicitMidpoint::new(mechanism).step(&mut equations, &mut state, h),
            Method::DormandPrince => {
                // A tolerance that lets every step be as long as asked.
                let any = Tolerance {
                    relative: 1e6,
                    absolute: 1e6,
                };
                let mut pair = DormandPrince::new(mechanism).tolerance(any);
                let done = pair.step(&mut equations, &mut state, h);
                assert_eq!(state.t, h);
                done
            }
            other => panic!("step {other:?} here too"),
        }
        .unwrap();
        state
    };
    // Central differences with a second pair: errors of order s⁴. A hundredth of the speed at which dry friction fades.
    let base = end(0.0);
    let difference = |s: f64| {
        let (plus, minus) = (end(s), end(-s));
        let (mut up, mut down) = (vec![0.0; n], vec![0.0; n]);
        mechanism.difference(&base.q, &plus.q, &mut up).unwrap();
        mechanism.difference(&base.q, &minus.q, &mut down).unwrap();
        let q = up.iter().zip(&down).map(|(a, b)| (a - b) / (2.0 * s));
        let v = plus.v.iter().zip(&minus.v).map(|(a, b)| (a - b) / (2.0 * s));
        q.chain(v).collect::<Vec<f64>>()
    };
    let (fine, coarse) = (difference(1e-5), difference(2e-5));
    fine.iter().zip(&coarse).map(|(f, c)| (4.0 * f - c) / 3.0).collect()
}

/// That a model of a step answers a random change as the simulator does.
fn check_step(mechanism: &Mechanism, point: &OperatingPoint, resistance: &PassiveForces, method: Method, seed: u64) {
    let (n, h) = (mechanism.nv(), 0.01);
    let model = StateSpace::of_step_against(mechanism, point, resistance, method, h).unwrap();
    let change = Random::new(seed).numbers(3 * n, 1.0);
    let expect = simulated(mechanism, point, resistance, method, h, &change);
    let mut got = vec![0.0; 2 * n];
    for i in 0..2 * n {
        got[i] = (0..2 * n).map(|j| model.a[i * 2 * n + j] * change[j]).sum::<f64>();
        got[i] += (0..n).map(|j| model.b[i * n + j] * change[2 * n + j]).sum::<f64>();
    }
    let size = got.iter().chain(&expect).fold(1.0_f64, |m, x| m.max(x.abs()));
    assert_close_of(&format!("{method:?} of {seed}"), &got, &expect, size, 1e-8);
}

#[test]
fn the_model_of_a_step_is_what_the_simulator_does() {
    for method in Method::ALL {
        for seed in 0..12 {
            let (mechanism, point) = moving_point(seed);
            let resistance = PassiveForces::of(&mechanism).unwrap().without_stops();
            check_step(&mechanism, &point, &resistance, method, seed);
            if seed == 0 {
                let same = StateSpace::of_step_against(&mechanism, &point, &resistance, method, 0.01).unwrap();
                assert_eq!(StateSpace::of_step(&mechanism, &point, method, 0.01).unwrap(), same);
            }
            // Friction softened for the step; and nothing that resists.
            let soft = resistance.for_steps(0.01);
            check_step(&mechanism, &point, &soft, method, seed);
            check_step(&mechanism, &point, &PassiveForces::none(&mechanism), method, seed);
        }
        // Many points at once are each as alone.
        let (mechanism, point) = moving_point(3);
        let many = StateSpace::of_steps(&mechanism, &[point.clone(), point.clone()], method, 0.01).unwrap();
        let one = StateSpace::of_step(&mechanism, &point, method, 0.01).unwrap();
        assert!(many.len() == 2 && many.iter().all(|model| *model == one));
    }
}

#[test]
fn a_bad_point_among_many_is_named() {
    let (mechanism, point) = moving_point(3);
    let mut points = vec![point; 40];
    for bad in [31, 7, 12] {
        points[bad].qd[0] = f64::NAN;
    }
    for _ in 0..20 {
        let problem = StateSpace::of_steps(&mechanism, &points, Method::RungeKutta4, 0.01).unwrap_err();
        let text = problem.to_string();
        assert!(text.contains("number 7 ") && text.contains("qd[0]"), "{text}");
        assert!(!text.contains("computed") && !text.contains("1 of"), "{text}");
    }
    let text = StateSpace::of_steps(&mechanism, &points, Method::RungeKutta4, -1.0).unwrap_err();
    assert!(text.to_string().starts_with("h is -1"), "{text}");
}

#[test]
fn a_short_step_is_the_continuous_model() {
    for seed in 0..12 {
        let (mechanism, point) = moving_point(seed);
        let w = 2 * mechanism.nv();
        let model = StateSpace::continuous(&mechanism, &point).unwrap();
        let h = 1e-7;
        let step = StateSpace::of_step(&mechanism, &point, Method::RungeKutta4, h).unwrap();
        let identity = |i: usize| if i.is_multiple_of(w + 1) { 1.0 } else { 0.0 };
        let rates: Vec<f64> = step.a.iter().enumerate().map(|(i, x)| (x - identity(i)) / h).collect();
        let size = model.a.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        assert_close_of(&format!("A of {seed}"), &rates, &model.a, size * size, 1e-5);
    }
}

/// A point mass on a spring with a damper: ẍ = −k x − c ẋ + u.
fn oscillator(k: f64, c: f64) -> Mechanism {
    let mut joint = Joint::prismatic("slide", [1.0, 0.0, 0.0]).between("world", "mass");
    joint.stiffness = vec![k];
    joint.damping = vec![c];
    Mechanism::builder("oscillator")
        .link(Link::new("mass", Inertia::sphere(1.0, 0.1)))
        .joint(joint)
        .build()
        .unwrap()
}

#[test]
fn an_oscillator_has_its_frequency_and_damping() {
    let robot = oscillator(4.0, 0.4);
    let point = OperatingPoint::at_rest(&robot, &[0.3]).unwrap();
    assert!((point.tau[0] - 1.2).abs() < 1e-14, "the motor holds the spring");
    let model = StateSpace::continuous(&robot, &point).unwrap();
    for pole in model.poles().unwrap() {
        assert!(
            (pole.size() - 2.0).abs() < 1e-12 && (pole.damping() - 0.1).abs() < 1e-12,
            "{pole:?}"
        );
    }
    // exp(A h) by its closed form.
    let h = 0.3_f64;
    let (decay, w) = ((-0.2 * h).exp(), (4.0_f64 - 0.04).sqrt());
    let (s, c) = (w * h).sin_cos();
    let expect = [c + 0.2 * s / w, s / w, -4.0 * s / w, c - 0.2 * s / w].map(|x| decay * x);
    let sampled = model.sampled(h).unwrap();
    assert_close_of("sampled", &sampled.a, &expect, 1.0, 1e-14);
    assert!(sampled.sampled(h).is_err());
}

#[test]
fn a_regulator_balances_a_cart_pole() {
    let robot = examples::cart_pole();
    let upright = OperatingPoint::at_rest(&robot, &robot.neutral()).unwrap();
    let whole = StateSpace::continuous(&robot, &upright).unwrap();
    let model = whole.clone().driven_by(&[&robot.joints()[0].name]).unwrap();
    assert!(model.poles().unwrap()[0].re > 1.0, "it falls by itself");
    assert_eq!(model.controllable_states().unwrap(), 4);
    for model in [model.clone(), model.sampled(0.02).unwrap()] {
        let gain = model.lqr(&[1.0, 1.0, 0.1, 0.1], &[0.1]).unwrap();
        let closed = model.with_feedback(&gain).unwrap();
        let stable = |p: &linkwork::state_space::Pole| match model.step {
            None => p.re < 0.0,
            Some(_) => p.size() < 1.0,
        };
        assert!(closed.poles().unwrap().iter().all(stable), "{:?}", closed.poles());
    }
    // In the simulator, from ten degrees.
    let gain = model.lqr(&[1.0, 1.0, 0.1, 0.1], &[0.1]).unwrap();
    let drive = |now: Now<'_>, _: &mut Moving<'_>, tau: &mut [f64]| -> linkwork::Result<()> {
        let x = now.q.iter().chain(now.v);
        tau[0] = -gain.iter().zip(x).map(|(k, x)| k * x).sum::<f64>();
        Ok(())
    };
    let mut equations = Dynamics::with(&robot, drive, PassiveForces::none(&robot));
    let mut state = State::at_rest(&robot, &[0.0, 0.17]);
    let mut integrator = RungeKutta4::new(&robot);
    for _ in 0..4000 {
        integrator.step(&mut equations, &mut state, 2.5e-3).unwrap();
    }
    assert!(state.q.iter().chain(&state.v).all(|x| x.abs() < 1e-2), "{state:?}");
}

#[test]
fn the_regulator_of_a_double_integrator_is_known() {
    // ẍ = u with Q = diag(1, 0), R = 1: K = [1, √2].
    let robot = oscillator(0.0, 0.0);
    let point = OperatingPoint::at_rest(&robot, &[0.0]).unwrap();
    let model = StateSpace::continuous(&robot, &point).unwrap();
    let gain = model.lqr(&[1.0, 0.0], &[1.0]).unwrap();
    assert_close_of("K", &gain, &[1.0, 2.0_f64.sqrt()], 1.0, 1e-12);
    assert!(model.lqr(&[1.0], &[1.0]).is_err() && model.lqr(&[1.0, 1.0], &[0.0]).is_err());
    // The free pole of a cart that nothing drives cannot be held.
    let robot = examples::cart_pole();
    let upright = OperatingPoint::at_rest(&robot, &robot.neutral()).unwrap();
    let model = StateSpace::continuous(&robot, &upright).unwrap();
    assert!(model.clone().driven_by(&["no such joint"]).is_err());
    let none: [&str; 0] = [];
    let undriven = model.driven_by(&none).unwrap();
    assert_eq!(undriven.controllable_states().unwrap(), 0);
    assert!(undriven.lqr(&[1.0; 4], &[]).is_err());
}

/// Oscillators of many frequencies, their states mixed by reflections: each alone has K = [x, √(1 + 2x)] with
/// x = √(ω⁴ + 1) − ω².
#[test]
fn the_regulator_of_mixed_oscillators_is_known() {
    let frequencies: Vec<f64> = (0..30).map(|i| 0.01 * 1.37_f64.powi(i)).collect();
    let (m, n) = (frequencies.len(), 2 * frequencies.len());
    let (mut a, mut b, mut expect) = (vec![0.0; n * n], vec![0.0; n * m], vec![0.0; m * n]);
    for (i, w) in frequencies.iter().enumerate() {
        a[2 * i * n + 2 * i + 1] = 1.0;
        a[(2 * i + 1) * n + 2 * i] = -w * w;
        b[(2 * i + 1) * m + i] = 1.0;
        let x = 1.0 / ((w.powi(4) + 1.0).sqrt() + w * w);
        (expect[i * n + 2 * i], expect[i * n + 2 * i + 1]) = (x, (1.0 + 2.0 * x).sqrt());
    }
    let mut random = Random::new(7);
    for _ in 0..4 {
        let v = random.numbers(n, 1.0);
        let square: f64 = v.iter().map(|x| x * x).sum();
        let reflect = |matrix: &mut [f64], start: usize, apart: usize| {
            let along: f64 = (0..n).map(|i| v[i] * matrix[start + i * apart]).sum();
            (0..n).for_each(|i| matrix[start + i * apart] -= 2.0 * along / square * v[i]);
        };
        (0..n).for_each(|j| reflect(&mut a, j, n));
        (0..n).for_each(|i| reflect(&mut a, i * n, 1));
        (0..m).for_each(|j| reflect(&mut b, j, m));
        (0..m).for_each(|i| reflect(&mut expect, i * n, 1));
    }
    let model = StateSpace {
        states: (0..n).map(|i| i.to_string()).collect(),
        inputs: (0..m).map(|i| i.to_string()).collect(),
        outputs: Vec::new(),
        a,
        b,
        c: Vec::new(),
        d: Vec::new(),
        step: None,
    };
    let gain = model.lqr(&vec![1.0; n], &vec![1.0; m]).unwrap();
    assert_close_of("gain", &gain, &expect, 1.0, 1e-10);
    // Sampled so often that holding inputs matters no more than ω²h: the cost is a sum of steps.
    let h = 1e-7;
    let often = model.sampled(h).unwrap().lqr(&vec![h; n], &vec![h; m]).unwrap();
    let most = frequencies[m - 1];
    assert_close_of("gain of short steps", &often, &gain, most * most * h, 1.0);
}

/// The largest pole of a loop that a regulator closes.
fn slowest(model: &StateSpace, weights: &[f64]) -> linkwork::Result<f64> {
    let gain = model.lqr(weights, &vec![1.0; model.inputs.len()])?;
    let poles = model.with_feedback(&gain)?.poles()?;
    Ok(poles.iter().fold(0.0, |most, pole| pole.size().max(most)))
}

/// Two poles of these lengths on one cart, which a motor drives.
fn two_poles(lengths: [f64; 2]) -> StateSpace {
    let [first, second] = lengths.map(|length| Inertia::rod(0.1, [0.0, 0.0, length]));
    let cart = Mechanism::builder("two poles")
        .link(Link::new("cart", Inertia::sphere(1.0, 0.1)))
        .link(Link::new("first", first))
        .link(Link::new("second", second))
        .joint(Joint::prismatic("rail", [1.0, 0.0, 0.0]).between("world", "cart"))
        .joint(Joint::revolute("one", [0.0, 1.0, 0.0]).between("cart", "first"))
        .joint(Joint::revolute("other", [0.0, 1.0, 0.0]).between("cart", "second"))
        .build()
        .unwrap();
    let point = OperatingPoint::at_rest(&cart, &cart.neutral()).unwrap();
    let model = StateSpace::continuous(&cart, &point).unwrap();
    model.driven_by(&["rail"]).unwrap()
}

#[test]
fn a_regulator_of_steps_stabilises_or_is_refused() {
    // The difference of equal poles cannot be reached.
    let model = two_poles([0.6, 0.6]);
    assert!(model.lqr(&[1.0; 6], &[1.0]).is_err());
    assert!(slowest(&model.sampled(0.01).unwrap(), &[1.0; 6]).is_err());
    // Nothing weighed: what would fall is turned back at least.
    let robot = examples::double_pendulum();
    let point = OperatingPoint::at_rest(&robot, &[core::f64::consts::PI, 0.0]).unwrap();
    let model = StateSpace::continuous(&robot, &point).unwrap().sampled(0.01).unwrap();
    assert!(model.poles().unwrap()[0].re > 1.0);
    assert!(slowest(&model, &[0.0; 4]).unwrap() < 1.0);
    // Joints that nothing drives, holds or damps.
    let scara = examples::scara();
    let point = OperatingPoint::at_rest(&scara, &scara.neutral()).unwrap();
    let model = StateSpace::continuous(&scara, &point).unwrap().sampled(0.01).unwrap();
    let model = model.driven_by(&["joint1"]).unwrap();
    assert!(model.lqr(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], &[1.0]).is_err());
    // Steps that dry friction makes wild.
    let puma = examples::puma560();
    let point = OperatingPoint::at_rest(&puma, &puma.neutral()).unwrap();
    for method in Method::ALL {
        let model = StateSpace::of_step(&puma, &point, method, 0.01).unwrap();
        assert!(slowest(&model, &[1.0; 12]).unwrap() < 1.0, "{method:?}");
    }
}

#[test]
fn what_is_not_finite_has_no_poles_and_is_refused() {
    let robot = examples::cart_pole();
    let point = OperatingPoint::at_rest(&robot, &robot.neutral()).unwrap();
    let mut model = StateSpace::continuous(&robot, &point).unwrap();
    let held = model.with_feedback(&[f64::NAN; 4]).unwrap();
    assert!(held.poles().is_err());
    model.a.fill(f64::NAN);
    assert!(model.poles().is_err() && model.controllable_states().is_err());
}

#[test]
fn a_joint_is_driven_once() {
    let robot = examples::double_pendulum();
    let point = OperatingPoint::at_rest(&robot, &robot.neutral()).unwrap();
    let model = StateSpace::continuous(&robot, &point).unwrap();
    let [first, second] = [0, 1].map(|j| robot.joints()[j].name.clone());
    let text = model
        .clone()
        .driven_by(&[&second, &first, &second])
        .unwrap_err()
        .to_string();
    assert!(text.contains(&format!("joint `{second}`")), "{text}");
    // One axis of a joint that is driven already.
    let robot = Mechanism::builder("ball")
        .link(Link::new("ball", Inertia::sphere(1.0, 0.1)))
        .joint(Joint::spherical("socket").between("world", "ball"))
        .build()
        .unwrap();
    let point = OperatingPoint::at_rest(&robot, &robot.neutral()).unwrap();
    let model = StateSpace::continuous(&robot, &point).unwrap();
    assert_eq!(
        model
            .clone()
            .driven_by(&["socket[2]", "socket[0]"])
            .unwrap()
            .inputs
            .len(),
        2
    );
    let text = model.driven_by(&["socket", "socket[1]"]).unwrap_err().to_string();
    assert!(text.contains("`socket[1]`"), "{text}");
}

#[test]
fn frames_of_another_mechanism_are_no_outputs() {
    let robot = examples::cart_pole();
    let point = OperatingPoint::at_rest(&robot, &robot.neutral()).unwrap();
    let model = StateSpace::continuous(&robot, &point).unwrap();
    for other in [examples::arm7(), examples::double_pendulum()] {
        let frame = &other.links()[other.links().len() - 1].name;
        let problem = model.clone().seen_at(&other, &other.neutral(), &[frame]).unwrap_err();
        assert!(problem.to_string().contains(other.name()), "{problem}");
    }
    let seen = model
        .seen_at(&robot, &robot.neutral(), &[&robot.links()[1].name])
        .unwrap();
    assert_eq!((seen.outputs.len(), seen.c.len()), (3, 12));
}

/// Two links on a row of joints from the world.
fn pair_of(first: Joint, second: Joint) -> linkwork::Result<StateSpace> {
    let robot = Mechanism::builder("pair")
        .link(Link::new("upper", Inertia::sphere(1.0, 0.3)))
        .link(Link::new("lower", Inertia::rod(1.0, [0.0, 0.0, -1.0])))
        .joint(first.between("world", "upper"))
        .joint(second.between("upper", "lower"))
        .build()?;
    let point = OperatingPoint::at_rest(&robot, &robot.neutral())?;
    StateSpace::continuous(&robot, &point)
}

#[test]
fn a_joint_is_not_taken_for_a_part_of_another() {
    let hinge = |name: &str| Joint::revolute(name, [0.0, 1.0, 0.0]);
    let model = pair_of(hinge("a"), hinge("a[0]")).unwrap();
    assert_eq!(model.clone().driven_by(&["a"]).unwrap().inputs, ["a"]);
    assert_eq!(model.driven_by(&["a[0]", "a"]).unwrap().inputs, ["a[0]", "a"]);
    let model = pair_of(Joint::spherical("a"), hinge("a[b]")).unwrap();
    assert_eq!(model.driven_by(&["a"]).unwrap().inputs, ["a[0]", "a[1]", "a[2]"]);
    // Names that would be two states', or tell nobody whose.
    for other in ["a[0]", "a[7]"] {
        let text = pair_of(Joint::spherical("a"), hinge(other)).unwrap_err().to_string();
        assert!(
            text.contains(&format!("`{other}`")) && text.contains("joint `a`"),
            "{text}"
        );
    }
    let text = pair_of(hinge("a"), hinge("d a")).unwrap_err().to_string();
    assert!(text.contains("`d a`") && text.contains("another's velocity"), "{text}");
    let mut model = pair_of(hinge("a"), hinge("b")).unwrap();
    model.inputs[1] = "a".into();
    let text = model.driven_by(&["a"]).unwrap_err().to_string();
    assert!(text.contains("several inputs"), "{text}");
}

#[test]
fn models_that_do_not_fit_together_are_refused() {
    let robot = examples::double_pendulum();
    let point = OperatingPoint::at_rest(&robot, &robot.neutral()).unwrap();
    let model = StateSpace::continuous(&robot, &point).unwrap();
    let shorten: [fn(&mut StateSpace) -> &mut Vec<f64>; 4] = [|m| &mut m.a, |m| &mut m.b, |m| &mut m.c, |m| &mut m.d];
    for (matrix, name) in shorten.iter().zip(["A", "B", "C", "D"]) {
        let mut short = model.clone();
        matrix(&mut short).pop();
        let problems = [
            short.poles().err(),
            short.controllable_states().err(),
            short.lqr(&[1.0; 4], &[1.0; 2]).err(),
            short.sampled(0.1).err(),
            short.with_feedback(&[0.0; 8]).err(),
            short.driven_by(&[&robot.joints()[0].name]).err(),
        ];
        for problem in problems {
            assert!(problem.unwrap().to_string().starts_with(&format!("{name}, ")));
        }
    }
    for (matrix, name) in shorten[..2].iter().zip(["A", "B"]) {
        let mut wild = model.clone();
        matrix(&mut wild)[5] = f64::NAN;
        let problems = [
            wild.controllable_states().err(),
            wild.lqr(&[1.0; 4], &[1.0; 2]).err(),
            wild.sampled(0.1).err(),
        ];
        for problem in problems {
            let text = problem.unwrap().to_string();
            assert!(text.contains(&format!("{name} has a number NaN in row")), "{text}");
        }
    }
}

#[test]
fn regulators_say_what_is_in_the_way() {
    let robot = examples::cart_pole();
    let upright = OperatingPoint::at_rest(&robot, &robot.neutral()).unwrap();
    let model = StateSpace::continuous(&robot, &upright).unwrap();
    let none: [&str; 0] = [];
    let undriven = model.clone().driven_by(&none).unwrap();
    let text = undriven.lqr(&[1.0; 4], &[]).unwrap_err().to_string();
    assert!(
        text.contains("no input reaches 4 of 4") && text.contains("drive more joints"),
        "{text}"
    );
    let text = model.lqr(&[0.0; 4], &[1.0]).unwrap_err().to_string();
    assert!(text.contains("no weight"), "{text}");
}

#[test]
fn units_do_not_change_what_inputs_reach() {
    for seed in 0..40 {
        let (mechanism, point) = moving_point(seed);
        let mut random = Random::new(seed);
        let model = StateSpace::continuous(&mechanism, &point).unwrap();
        let (n, m) = (model.states.len(), model.inputs.len());
        let mut models = vec![model.clone(), model.sampled(0.01).unwrap()];
        // Every state and input in units of its own.
        let units = random
            .numbers(n + m, 8.0)
            .iter()
            .map(|x| 10f64.powf(*x))
            .collect::<Vec<f64>>();
        for i in 0..2 {
            let mut other = models[i].clone();
            (0..n * n).for_each(|k| other.a[k] *= units[k % n] / units[k / n]);
            (0..n * m).for_each(|k| other.b[k] *= units[n + k % m] / units[k / m]);
            models.push(other);
        }
        for (i, model) in models.iter().enumerate() {
            assert_eq!(model.controllable_states().unwrap(), n, "{i} of {seed}");
        }
    }
    // Links of 10⁻¹⁵ kg m² among heavy ones, with dampers.
    let mut builder = Mechanism::builder("light and heavy");
    for i in 0..12 {
        let size = if i % 3 == 1 { 1e-7 } else { 0.1 };
        let before = if i == 0 {
            "world".to_owned()
        } else {
            format!("link {}", i - 1)
        };
        let axis = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]][i % 3];
        let joint = Joint::revolute(format!("joint {i}"), axis)
            .at([size, 0.0, size])
            .damping(0.5);
        builder = builder
            .link(Link::new(
                format!("link {i}"),
                Inertia::sphere(if i % 3 == 1 { 1e-3 } else { 1.0 }, size),
            ))
            .joint(joint.between(before, format!("link {i}")));
    }
    let robot = builder.build().unwrap();
    let point = OperatingPoint::at_rest(&robot, &[0.3; 12]).unwrap();
    let model = StateSpace::continuous(&robot, &point).unwrap();
    assert_eq!(model.controllable_states().unwrap(), 24);
}

#[test]
fn what_inputs_do_not_reach_is_found_in_any_units() {
    // Two equal poles on one cart: their difference is out of reach. A joint that nothing drives by itself.
    for (other, expect) in [(0.6, 4), (0.5, 6)] {
        let model = two_poles([0.6, other]);
        for seed in 0..20 {
            let units: Vec<f64> = Random::new(seed)
                .numbers(6, 6.0)
                .iter()
                .map(|x| 10f64.powf(*x))
                .collect();
            let mut scaled = model.clone();
            (0..36).for_each(|k| scaled.a[k] *= units[k % 6] / units[k / 6]);
            (0..6).for_each(|k| scaled.b[k] *= units[0] / units[k]);
            assert_eq!(scaled.controllable_states().unwrap(), expect, "{seed}");
        }
        assert_eq!(model.sampled(0.05).unwrap().controllable_states().unwrap(), expect);
    }
}

#[test]
fn a_resistance_of_another_mechanism_is_refused() {
    let (arm, puma) = (examples::arm7(), examples::puma560());
    for (robot, other) in [(&arm, &puma), (&puma, &arm)] {
        let point = OperatingPoint::at_rest(robot, &robot.neutral()).unwrap();
        let resistance = PassiveForces::of(other).unwrap();
        for method in Method::ALL {
            let problem = StateSpace::of_step_against(robot, &point, &resistance, method, 0.01).unwrap_err();
            assert!(problem.to_string().contains("another mechanism"), "{problem}");
        }
    }
}
