//! What a run begins with: what resists the joints, where they start, and how to step.

use super::actuators::Machinery;
use super::gimbal::Lock;
use super::stepping::Method;
use super::stiffness::{self, Stiff};
use super::{Arguments, Form, STEP};
use crate::numbers::significant;
use crate::style;
use crate::user_error::UserError;
use anyhow::Result;
use linkwork::Mechanism;
use linkwork::closed::{ClosedMechanism, ClosedMotion};
use linkwork::model::JointKind;
use linkwork::simulate::{Dynamics, PassiveForces, State};
use linkwork_formats::{Keyframe, Robot};

/// More steps than this in the place of one, and the implicit midpoint rule is the better choice for loops too.
const MOST_IN_ONE: f64 = 16.0;
/// A joint that answers faster, in 1/s, shows no inertia but what rounding leaves of it.
const ROUNDING: f64 = 1e12;
/// Dry friction is left to the implicit rule where explicit steps would let joints slip at more than this, in rad/s or m/s.
const CREEP: f64 = 0.1;

/// How to step, how far, and what resists the joints meanwhile. Steps with contact hold dry friction by themselves.
pub(super) fn method(
    arguments: &Arguments,
    mechanism: &Mechanism,
    (closed, touches): (Option<&ClosedMechanism>, bool),
    state: &State,
    machinery: &Machinery,
) -> Result<(Method, f64, PassiveForces)> {
    let asked = arguments.integrator.unwrap_or(Method::Rk4);
    let step = arguments.dt.unwrap_or(STEP);
    let resistance = resistance(arguments, mechanism, asked, step)?;
    if matches!(asked, Method::Adaptive | Method::Midpoint) {
        return Ok((asked, step, resistance));
    }
    let word = style::paint(style::HEAD, "note");
    if let Some((joint, slip)) = creeping(mechanism, &resistance).filter(|_| closed.is_none() && !touches) {
        let what = format!(
            "the dry friction of joint `{joint}` is too much for {} with steps of {step} s, which would let it slip at up to {} rad/s or m/s",
            asked.words(),
            significant(slip, 2)
        );
        if arguments.integrator.is_none() {
            anstream::eprintln!("{word}: {what}: the implicit midpoint rule is used");
            let resistance = self::resistance(arguments, mechanism, Method::Midpoint, step)?;
            return Ok((Method::Midpoint, step, resistance));
        }
        anstream::eprintln!("{word}: {what}; --integrator midpoint holds it");
    }
    let Some(stiff) = stiff(
        arguments,
        mechanism,
        closed,
        (state, machinery),
        &resistance,
        asked,
        step,
    )?
    else {
        return Ok((asked, step, resistance));
    };
    let Stiff { joint, rate, longest } = stiff;
    let what = format!(
        "joint `{joint}` with its damping, springs and gains answers at {} 1/s, which is too fast for {} with steps of {step} s",
        significant(rate, 3),
        asked.words()
    );
    let shorter = format!("--dt {:.1e}", 0.95 * longest);
    if arguments.integrator.is_some() {
        let hint = format!("take {shorter}, or --integrator midpoint, which bears any");
        return Err(UserError::usage(what, hint));
    }
    if rate > ROUNDING {
        anstream::eprintln!(
            "{word}: joint `{joint}` shows an inertia that is next to nothing, here or elsewhere within its limits; give it an \
             armature, or the links that it moves moments of inertia"
        );
    }
    let in_one = (step / (0.8 * longest)).ceil();
    if closed.is_some() && arguments.dt.is_none() && in_one <= MOST_IN_ONE {
        // Where springs are tight, the equations of an implicit step and of the loops together often have no solution nearby.
        let step = step / in_one;
        anstream::eprintln!("{word}: {what}: steps of {step:.1e} s are taken");
        return Ok((asked, step, self::resistance(arguments, mechanism, asked, step)?));
    }
    anstream::eprintln!("{word}: {what}: the implicit midpoint rule is used; with {shorter} rk4 would do");
    Ok((
        Method::Midpoint,
        step,
        self::resistance(arguments, mechanism, Method::Midpoint, step)?,
    ))
}

/// The joint that dry friction, as soft as explicit steps need it, lets slip fastest, if that is too fast to be called held.
fn creeping(mechanism: &Mechanism, resistance: &PassiveForces) -> Option<(String, f64)> {
    let slips = resistance.slip_speeds().iter().copied().enumerate();
    let (dof, slip) = slips
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .filter(|(_, slip)| *slip > CREEP)?;
    let (joint, _) = mechanism
        .layout()
        .map(|(joint, _, v)| (joint, v))
        .find(|(_, v)| v.contains(&dof))?;
    Some((joint.name.clone(), slip))
}

/// Tells of joints that lose a direction where they may come to.
pub(super) fn tell_of_locks(locks: &[Lock]) {
    let Some(first) = locks.first() else { return };
    let word = style::paint(style::HEAD, "note");
    let more = match locks.len() {
        1 => String::new(),
        n => format!(" (and {} more such)", n - 1),
    };
    anstream::eprintln!("{word}: {first}{more}; give these joints an armature, or the links between some mass");
}

/// What is too fast for the steps: at the start, at the goal, and at some configurations within the limits.
fn stiff(
    arguments: &Arguments,
    mechanism: &Mechanism,
    closed: Option<&ClosedMechanism>,
    (start, machinery): (&State, &Machinery),
    resistance: &PassiveForces,
    method: Method,
    step: f64,
) -> Result<Option<Stiff>> {
    const OTHERS: u64 = 2;
    let resistance = resistance.clone().without_stops();
    // Of many joints only the decay of velocities is sought, and nothing damps, pulls or drives these.
    let many = mechanism.nv() > stiffness::MOST;
    if many && !resistance.is_any() && arguments.control.is_none() && !machinery.acts() {
        return Ok(None);
    }
    let within = |q: &[f64]| State::at_rest(mechanism, q);
    let mut states = vec![within(&start.q), within(&mechanism.nearest_within_limits(&start.q)?)];
    states.extend(arguments.control.goal(mechanism)?.map(|q| within(&q)));
    if closed.is_none() {
        states.extend((0..OTHERS).map(|seed| within(&mechanism.random(seed))));
    }
    let driver = arguments.control.boundless_driver(mechanism, arguments.ideal)?;
    let driver = driver.with(&machinery.boundless());
    Ok(match closed {
        Some(closed) => {
            let mut equations = ClosedMotion::with(closed, driver, resistance);
            stiffness::find(&mut equations, &states, method, step)?
        }
        None => {
            let mut equations = Dynamics::with(mechanism, driver, resistance);
            stiffness::find(&mut equations, &states, method, step)?
        }
    })
}

/// What resists the joints.
fn resistance(arguments: &Arguments, mechanism: &Mechanism, method: Method, step: f64) -> Result<PassiveForces> {
    let explicit = method != Method::Adaptive && method != Method::Midpoint;
    let step = explicit.then_some(step);
    super::resistance((arguments.ideal, arguments.no_limits, step), mechanism)
}

/// Moves a start that nobody asked for within the limits, and tells of joints beyond them.
pub(super) fn within_limits(
    arguments: &Arguments,
    robot: &Robot,
    mechanism: &Mechanism,
    state: &mut State,
) -> Result<()> {
    if arguments.ideal || arguments.no_limits {
        return Ok(());
    }
    let word = style::paint(style::HEAD, "note");
    if !arguments.start.is_given() {
        let beyond = beyond_limits(mechanism, &state.q)?;
        if let Some((first, ..)) = beyond.first() {
            let at = match home(robot, mechanism).filter(|_| state.q == robot.written_configuration()) {
                Some(key) => {
                    state.q.clone_from(&key.q);
                    format!("at the keyframe `{}`", key.name)
                }
                None => {
                    state.q = mechanism.nearest_within_limits(&state.q)?;
                    "at the nearest within them".to_owned()
                }
            };
            let more = match beyond.len() {
                1 => String::new(),
                n => format!(" and {} more", n - 1),
            };
            anstream::eprintln!(
                "{word}: the neutral configuration is beyond the limits of joint `{first}`{more}; the run starts {at}"
            );
        }
    }
    for (joint, q, (lower, upper)) in beyond_limits(mechanism, &state.q)? {
        anstream::eprintln!(
            "{word}: joint `{joint}` starts at {q}, beyond its limits {lower} and {upper}: its stop pushes it back; \
             --no-limits leaves stops out"
        );
    }
    Ok(())
}

/// The keyframe that a robot is at home in: one of that name, or the first, within all limits.
fn home<'a>(robot: &'a Robot, mechanism: &Mechanism) -> Option<&'a Keyframe> {
    let fits = |key: &&Keyframe| {
        let beyond = beyond_limits(mechanism, &key.q);
        key.q.len() == mechanism.nq() && beyond.is_ok_and(|joints| joints.is_empty())
    };
    let mut keys = robot.keyframes.iter().filter(fits);
    let named = keys.clone().find(|key| key.name == "home");
    named.or_else(|| keys.next())
}

/// A joint's name, where it is, and its limits.
type Beyond = (String, f64, (f64, f64));

/// Joints that are beyond their limits, followers included, with where they are.
fn beyond_limits(mechanism: &Mechanism, q: &[f64]) -> Result<Vec<Beyond>> {
    let all = mechanism.all_coordinates(q)?;
    let (mut start, mut beyond) = (0, Vec::new());
    for joint in mechanism.joints() {
        let mine = &all[start..start + joint.kind.nq()];
        start += mine.len();
        if let (JointKind::Spherical, &[(lower, upper)]) = (joint.kind, &joint.position_limits[..]) {
            let sine = mine[..3].iter().map(|x| x * x).sum::<f64>().sqrt();
            let angle = 2.0 * sine.atan2(mine[3].abs());
            if angle > upper.max(0.0) + 1e-9 {
                beyond.push((joint.name.clone(), angle, (lower, upper)));
            }
        }
        if mine.len() != joint.kind.nv() {
            continue;
        }
        for (i, &q) in mine.iter().enumerate() {
            let limit = joint.position_limits.get(i).or(joint.position_limits.first());
            let Some((lower, upper)) = limit.copied() else { continue };
            let slack = 1e-9 * (1.0 + q.abs());
            if q < lower - slack || q > upper + slack {
                beyond.push((joint.name.clone(), q, (lower, upper)));
            }
        }
    }
    Ok(beyond)
}

/// What the equations of a form cannot be asked.
pub(super) fn check_closed(arguments: &Arguments, name: &str) -> Result<()> {
    if arguments.equations != Form::Standard {
        let problem = format!("`{name}` has closed loops, which the diagonalized equations do not know");
        return Err(UserError::usage(problem, "leave --equations out"));
    }
    if arguments.control.knows_trees_alone() {
        let problem = format!("`{name}` has closed loops, which this controller does not know");
        return Err(UserError::usage(problem, "choose another --controller"));
    }
    Ok(())
}
