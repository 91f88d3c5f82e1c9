//! Actuators, sensors and tendons.

use super::body::Bodies;
use super::defaults::Defaulted;
use super::expand::{Item, Tree};
use super::joint;
use super::motor;
use super::muscle;
use crate::actuators::{Actuator, Lag, Sensor, Target, Tendon, TendonPath, TendonPoint};
use crate::draft::{Draft, Placed, joint_at};
use crate::numbers::{self, Range};
use crate::report::Findings;
use crate::source::{At, shortened};
use crate::xml::Element;
use linkwork::model::Joint;

type References = Vec<(&'static str, String)>;

/// Elements of the sections, as often as they count.
pub(super) struct Drives<'a> {
    pub(super) tendons: Vec<Item<'a>>,
    pub(super) actuators: Vec<Item<'a>>,
    pub(super) sensors: Vec<Item<'a>>,
}

const TARGETS: [(&str, &str); 8] = [
    ("joint", "joint"),
    ("jointinparent", "joint"),
    ("tendon", "tendon"),
    ("site", "site"),
    ("slidersite", "site"),
    ("body", "body"),
    ("geom", "geom"),
    ("actuator", "actuator"),
];

/// What attributes of an element name.
fn named(e: Element<'_>, attributes: &[(&'static str, &'static str)]) -> References {
    let all = attributes.iter();
    all.filter_map(|(attribute, tag)| Some((*tag, e.attribute(attribute)?.into_owned())))
        .collect()
}

impl<'a> Drives<'a> {
    /// Finds them all; a tendon counts if its joints are there, an actuator if what it drives is.
    pub(super) fn find(tree: &mut Tree<'a>, f: &mut Findings) -> Self {
        let tendons = tree.elements("tendon", passed, f);
        tree.add_names("tendon", &tendons);
        let actuators = tree.elements("actuator", |e| named(e, &TARGETS), f);
        tree.add_names("actuator", &actuators);
        let sensors = tree.elements("sensor", measured, f);
        Self {
            tendons,
            actuators,
            sensors,
        }
    }

    /// Adds them to the draft.
    pub(super) fn read(&self, bodies: &Bodies<'_>, draft: &mut Draft, f: &mut Findings) {
        for item in &self.tendons {
            tell_absent(item, bodies, &passed(item.e), "tendon", f);
            if let Some(tendon) = tendon(item, bodies, f) {
                draft.tendons.push(tendon);
            }
        }
        fold(&self.tendons, draft, f);
        for item in &self.actuators {
            if let Some(read) = actuator(item, bodies, draft, f) {
                rotor(item, bodies, &read, draft, f);
                draft.actuators.push(read);
            }
        }
        if let Some(first) = self.actuators.first() {
            let count = draft.actuators.len();
            let message = format!("{count} actuators are kept as data; a `Drivetrain` computes their torques");
            f.note(first.e.at(), "actuator", message, "");
            let known = |kind: &str| ["joint", "jointinparent", "tendon", "site"].contains(&kind);
            let odd = draft.actuators.iter().zip(&self.actuators);
            let odd = odd.into_iter().find(|(a, _)| !a.modelled || !known(&a.target.kind));
            if let Some((a, item)) = odd {
                let message = format!(
                    "an actuator <{}> on a {} does more than is modelled: it is left out of simulations",
                    shortened(&a.kind),
                    shortened(&a.target.kind)
                );
                f.note(item.e.at(), "unmodelled-actuator", message, "");
            }
        }
        let mut unknown: Vec<(At<'_>, &str)> = Vec::new();
        for item in &self.sensors {
            let mut named = measured(item.e);
            named.extend(object(item.e, "reftype", "refname"));
            tell_absent(item, bodies, &named, "sensor-target", f);
            let read = sensor(item, bodies, f);
            if !crate::sensors::KINDS.contains(&&*read.kind) {
                unknown.push((item.e.at(), item.e.name()));
            }
            draft.sensors.push(read);
        }
        if let Some((at, first)) = unknown.first() {
            let message = format!(
                "{} of {} sensors are not modelled, the first being a <{}>",
                unknown.len(),
                self.sensors.len(),
                shortened(first)
            );
            f.note(*at, "unmodelled-sensor", message, "");
        }
    }
}

/// What a tendon passes.
fn passed(e: Element<'_>) -> References {
    let points = [("joint", "joint"), ("site", "site"), ("geom", "geom")];
    e.children().flat_map(|c| named(c, &points)).collect()
}

/// What a sensor measures.
fn measured(e: Element<'_>) -> References {
    let mut all = named(e, &TARGETS);
    all.extend(object(e, "objtype", "objname"));
    all
}

/// Tells of the first name that nothing has; what refers to it does nothing.
fn tell_absent(item: &Item<'_>, bodies: &Bodies<'_>, names: &References, code: &'static str, f: &mut Findings) {
    let there = |tag: &str, name: &str| name == "world" || bodies.tree.resolve(item.space, tag, name).is_some();
    if let Some((tag, name)) = names.iter().find(|(tag, name)| !there(tag, name)) {
        let message = format!("there is no {tag} `{}`; it does nothing", shortened(name));
        f.doubt(item.e.at(), code, message, "correct the name");
    }
}

/// A kind and a name in two attributes.
fn object(e: Element<'_>, kind: &str, name: &str) -> Option<(&'static str, String)> {
    let known = match e.attribute(kind).as_deref()? {
        "body" | "xbody" => "body",
        "site" => "site",
        "geom" => "geom",
        _ => return None,
    };
    Some((known, e.attribute(name)?.into_owned()))
}

/// A name as it is in full where an element stands.
fn full(item: &Item<'_>, bodies: &Bodies<'_>, tag: &str, name: &str) -> String {
    let full = bodies.tree.resolve(item.space, tag, name).unwrap_or(name.to_owned());
    bodies.frame_of(tag, full)
}

fn sensor(item: &Item<'_>, bodies: &Bodies<'_>, f: &mut Findings) -> Sensor {
    let e = item.e;
    let mut number = |name| numbers::number(f, e, name, e.at(), Range::Usable).unwrap_or(0.0);
    let (cutoff, noise) = (number("cutoff"), number("noise"));
    let target = |kind: &str, tag: &str, name: &str| Target {
        kind: kind.to_owned(),
        name: full(item, bodies, tag, name),
    };
    let own = TARGETS
        .iter()
        .find_map(|(a, tag)| Some(target(tag, tag, &e.attribute(a)?)));
    let by = |kind: &str, name: &str| {
        let (kind, name) = (e.attribute(kind)?, e.attribute(name)?);
        let tag = if kind == "xbody" { "body" } else { &*kind };
        Some(target(&kind, tag, &name))
    };
    Sensor {
        name: bodies.tree.name(item).unwrap_or_default(),
        kind: e.name().to_owned(),
        target: own.or_else(|| by("objtype", "objname")),
        reference: by("reftype", "refname"),
        cutoff,
        noise,
    }
}

/// A range, if it counts: if the switch says so, or is left to the compiler and the range is there.
fn range(
    d: &Defaulted<'_>,
    switch: &str,
    name: &str,
    automatic: bool,
    at: At<'_>,
    f: &mut Findings,
) -> Option<[f64; 2]> {
    let counts = match d.attribute(switch).as_deref() {
        Some("true") => true,
        Some("false") => false,
        _ => automatic && d.attribute(name).is_some(),
    };
    let found = numbers::several::<2>(f, d.with(name), name, at).filter(|_| counts)?;
    if found[0] < found[1] {
        return Some(found);
    }
    let message = format!("{name} is {} to {}; it is ignored", found[0], found[1]);
    f.doubt(
        at.seen_at(d.with(name).spot_of(name)),
        "range",
        message,
        "give the smaller one first",
    );
    None
}

fn actuator(item: &Item<'_>, bodies: &Bodies<'_>, draft: &Draft, f: &mut Findings) -> Option<Actuator> {
    let (e, model) = (item.e, bodies.model(item));
    let (at, kind) = (e.at(), e.name());
    let d = model.defaults.apply(e, None, f);
    let wish = TARGETS.iter().find_map(|(a, tag)| Some((*a, *tag, e.attribute(a)?)));
    let crank = match wish {
        Some(("slidersite", ..)) => Some(e.attribute("cranksite").unwrap_or_default()),
        _ => None,
    };
    let rod = crank.as_ref().map(|_| {
        let rod = numbers::number(f, d.with("cranklength"), "cranklength", at, Range::Usable).unwrap_or(0.0);
        if rod <= 0.0 {
            let message = format!("its cranklength is {rod}, which no rod has");
            f.error(at, "actuator", message, "give a cranklength above zero");
        }
        rod
    });
    let Some((attribute, tag, name)) = wish else {
        f.doubt(
            at,
            "actuator",
            "it drives nothing; it is left out",
            "give it a joint, tendon, site or body",
        );
        return None;
    };
    let Some(target) = bodies.tree.resolve(item.space, tag, &name) else {
        let message = format!("there is no {tag} `{}`; it is left out", shortened(&name));
        f.doubt(
            at.seen_at(e.spot_of(attribute)),
            "actuator",
            message,
            "correct the name",
        );
        return None;
    };
    let several = |name: &str, f: &mut Findings| numbers::list(f, d.with(name), name, at, Range::Usable);
    let first = |name: &str, f: &mut Findings| several(name, f).and_then(|l| l.first().copied());
    let three = |name: &str, f: &mut Findings| {
        let given = several(name, f)?;
        Some(core::array::from_fn::<f64, 3, _>(|i| {
            given.get(i).copied().unwrap_or(0.0)
        }))
    };
    let (mut gain, mut bias, mut lag, mut damping_ratio) = ([1.0, 0.0, 0.0], [0.0; 3], Lag::None, None);
    let (mut modelled, mut cogging, mut saturated) = (true, None, None);
    let flesh = muscle::read(&d, kind, at, f);
    match kind {
        "motor" => {}
        "position" | "intvelocity" => {
            let kp = first("kp", f).unwrap_or(1.0);
            let kv = first("kv", f).unwrap_or(0.0);
            gain = [kp, 0.0, 0.0];
            bias = [0.0, -kp, -kv];
            damping_ratio = first("dampratio", f).filter(|r| *r > 0.0);
            if kind == "intvelocity" {
                lag = Lag::Integrator;
            } else if let Some(seconds) = first("timeconst", f).filter(|t| *t > 0.0) {
                lag = Lag::Filter { seconds };
            }
        }
        "velocity" => {
            let kv = first("kv", f).unwrap_or(1.0);
            gain = [kv, 0.0, 0.0];
            bias = [0.0, 0.0, -kv];
        }
        "damper" => gain = [0.0, 0.0, -first("kv", f).unwrap_or(1.0)],
        "cylinder" => {
            let area = first("diameter", f).map(|x| std::f64::consts::PI * x * x / 4.0);
            gain = [area.or_else(|| first("area", f)).unwrap_or(1.0), 0.0, 0.0];
            bias = three("bias", f).unwrap_or_default();
            let seconds = first("timeconst", f).unwrap_or(1.0);
            lag = Lag::Filter { seconds };
        }
        "general" => {
            let word = |name: &str, none: &str| d.attribute(name).map_or(none.to_owned(), |w| w.into_owned());
            let given = three("gainprm", f).unwrap_or([1.0, 0.0, 0.0]);
            match &*word("gaintype", "fixed") {
                _ if flesh.gains() => gain = [0.0; 3],
                "fixed" => gain = [given[0], 0.0, 0.0],
                "affine" => gain = given,
                _ => modelled = false,
            }
            match &*word("biastype", "none") {
                _ if flesh.biases() => {}
                "none" => {}
                "affine" => bias = three("biasprm", f).unwrap_or_default(),
                _ => modelled = false,
            }
            let seconds = first("dynprm", f).unwrap_or(1.0);
            lag = match &*word("dyntype", "none") {
                _ if flesh.lag.is_some() => flesh.lag.clone().unwrap_or_default(),
                "none" => Lag::None,
                "integrator" => Lag::Integrator,
                "filter" | "filterexact" => Lag::Filter { seconds },
                other => {
                    modelled = false;
                    Lag::Other { kind: other.to_owned() }
                }
            };
        }
        "dcmotor" => {
            let motor = motor::read(&d, at, f);
            (gain, bias, cogging, saturated) = (motor.gain, motor.bias, motor.cogging, motor.saturated);
            if let Some(why) = motor.unmodelled {
                modelled = false;
                lag = Lag::Other { kind: kind.to_owned() };
                f.note(
                    at,
                    "unmodelled-actuator",
                    format!("{why} of a <dcmotor> is not modelled"),
                    "",
                );
            }
        }
        "pid" => {
            let [kp, kv, ki, slew] = ["kp", "kv", "ki", "slewmax"].map(|name| first(name, f).unwrap_or(0.0));
            bias = [0.0, -kp, -kv];
            damping_ratio = first("dampratio", f).filter(|r| *r > 0.0);
            match d.attribute("input").as_deref() {
                Some("pos") if damping_ratio.is_none() || kp > 0.0 => gain = [kp, 0.0, 0.0],
                Some("vel") if damping_ratio.is_none() => gain = [kv, 0.0, 0.0],
                Some("ff") if damping_ratio.is_none() => {}
                _ => modelled = false,
            }
            modelled &= ki == 0.0 && slew <= 0.0;
        }
        "muscle" => {
            gain = [0.0; 3];
            lag = flesh.lag.clone().unwrap_or_default();
        }
        other => {
            modelled = false;
            lag = Lag::Other { kind: other.to_owned() };
        }
    }
    let muscle = flesh.muscle(&d, at, f);
    let delay = first("delay", f).unwrap_or(0.0).max(0.0);
    let automatic = model.compiler.limits;
    let mut control_range = range(&d, "ctrllimited", "ctrlrange", automatic, at, f);
    if let Some(share) = first("inheritrange", f).filter(|s| *s > 0.0 && tag == "joint" && control_range.is_none()) {
        let joint = draft.joints.iter().find(|j| j.item.name == target);
        if let Some(&(lower, upper)) = joint.and_then(|j| j.item.position_limits.first()) {
            let (mean, half) = (0.5 * (lower + upper), 0.5 * (upper - lower) * share);
            control_range = Some([mean - half, mean + half]);
        }
    }
    Some(Actuator {
        name: bodies.tree.name(item).unwrap_or_default(),
        kind: kind.to_owned(),
        target: Target {
            kind: match attribute {
                "jointinparent" => attribute,
                "slidersite" => "crank",
                _ => tag,
            }
            .to_owned(),
            name: match &crank {
                Some(crank) => full(item, bodies, "site", crank),
                None => bodies.frame_of(tag, target.clone()),
            },
        },
        reference: match crank {
            Some(_) => Some(bodies.frame_of(tag, target)),
            None => e.attribute("refsite").map(|name| full(item, bodies, "site", &name)),
        }
        .map(|name| Target {
            kind: "site".to_owned(),
            name,
        }),
        rod,
        gear: several("gear", f).unwrap_or(vec![1.0]),
        gain,
        bias,
        lag,
        damping_ratio,
        control_range,
        activation_range: range(&d, "actlimited", "actrange", automatic, at, f),
        force_range: saturated.or_else(|| range(&d, "forcelimited", "forcerange", automatic, at, f)),
        cogging,
        delay,
        muscle,
        modelled,
    })
}

/// Gives the rotor and the damper of an actuator to the joint that it drives, through its gear.
fn rotor(item: &Item<'_>, bodies: &Bodies<'_>, actuator: &Actuator, draft: &mut Draft, f: &mut Findings) {
    let (at, d) = (item.e.at(), bodies.model(item).defaults.apply(item.e, None, f));
    let [armature, damping] = ["armature", "damping"].map(|name| {
        let given = numbers::list(f, d.with(name), name, at, Range::Usable).unwrap_or_default();
        joint::linear(&given, name, at.seen_at(d.with(name).spot_of(name)), f)
    });
    if armature == 0.0 && damping == 0.0 {
        return;
    }
    let driven = |j: &&mut Placed<Joint>| j.item.name == actuator.target.name && j.item.kind.nv() == 1;
    let joint = draft.joints.iter_mut().find(driven);
    let Some(joint) = joint.filter(|_| matches!(&*actuator.target.kind, "joint" | "jointinparent")) else {
        let message = "armature and damping of an actuator are modelled on joints with one coordinate alone";
        f.doubt(at, "unmodelled-attribute", message, "the robot moves without them");
        return;
    };
    let gear = actuator.gear.first().copied().unwrap_or(1.0);
    let both = [(&mut joint.item.armature, armature), (&mut joint.item.damping, damping)];
    for (list, x) in both.into_iter().filter(|(_, x)| *x != 0.0) {
        list.resize(1, 0.0);
        list[0] += gear * gear * x;
    }
}

fn tendon(item: &Item<'_>, bodies: &Bodies<'_>, f: &mut Findings) -> Option<Tendon> {
    let (e, model) = (item.e, bodies.model(item));
    let at = e.at();
    let d = model.defaults.apply_as(e, "tendon", f);
    let coefficient =
        |c: Element<'_>, f: &mut Findings| numbers::number(f, c, "coef", at, Range::Usable).unwrap_or(1.0);
    let name = |c: Element<'_>, tag: &str| full(item, bodies, tag, &c.attribute(tag).unwrap_or_default());
    let path = match e.name() {
        "fixed" => TendonPath::Fixed {
            joints: e
                .children_named("joint")
                .map(|c| (name(c, "joint"), coefficient(c, f)))
                .collect(),
        },
        "spatial" => TendonPath::Spatial {
            points: e
                .children()
                .filter_map(|c| match c.name() {
                    "site" => Some(TendonPoint::Site { name: name(c, "site") }),
                    "geom" => Some(TendonPoint::Wrap {
                        geom: name(c, "geom"),
                        side: c.attribute("sidesite").map(|side| full(item, bodies, "site", &side)),
                    }),
                    "pulley" => Some(TendonPoint::Pulley {
                        divisor: numbers::number(f, c, "divisor", at, Range::Usable).unwrap_or(1.0),
                    }),
                    _ => None,
                })
                .collect(),
        },
        _ => return None,
    };
    let number = |name: &str, f: &mut Findings| {
        let list = numbers::list(f, d.with(name), name, at, Range::Usable);
        list.and_then(|l| l.first().copied()).unwrap_or(0.0)
    };
    let rest = numbers::list(f, d.with("springlength"), "springlength", at, Range::Usable);
    let rest = match rest.as_deref() {
        Some([x]) if *x >= 0.0 => Some([*x, *x]),
        Some([x, y, ..]) if *x >= 0.0 => Some([*x, *y]),
        // The length at which the springs of its joints rest.
        _ => match &path {
            TendonPath::Fixed { joints } => {
                let spring = |j: &str| bodies.springs.get(j).copied().unwrap_or(0.0);
                let length = joints.iter().map(|(j, c)| c * spring(j)).sum();
                Some([length, length])
            }
            TendonPath::Spatial { .. } => None,
        },
    };
    Some(Tendon {
        name: bodies.tree.name(item).unwrap_or_default(),
        path,
        stiffness: number("stiffness", f),
        rest,
        damping: number("damping", f),
        friction: number("frictionloss", f),
        armature: number("armature", f),
        range: range(&d, "limited", "range", model.compiler.limits, at, f),
        force_range: range(
            &d,
            "actuatorfrclimited",
            "actuatorfrcrange",
            model.compiler.limits,
            at,
            f,
        ),
        folded: false,
    })
}

/// Gives springs, dampers, friction and armature of tendons along one joint to that joint; reports those that are not
/// modelled.
fn fold(items: &[Item<'_>], draft: &mut Draft, f: &mut Findings) {
    let Draft { tendons, joints, .. } = draft;
    for (tendon, item) in tendons.iter_mut().zip(items) {
        let acts = [tendon.stiffness, tendon.damping, tendon.friction, tendon.armature]
            .iter()
            .any(|x| *x != 0.0);
        let single = match &tendon.path {
            TendonPath::Fixed { joints } => match &joints[..] {
                [(joint, c)] if *c != 0.0 => Some((joint.clone(), *c)),
                _ => None,
            },
            TendonPath::Spatial { .. } => None,
        };
        let place = single.and_then(|(name, c)| {
            let place = joints
                .iter()
                .position(|j| j.item.name == name && j.item.kind.nv() == 1)?;
            Some((place, c))
        });
        let slack = tendon.stiffness != 0.0 && tendon.rest.is_none_or(|[a, b]| a != b);
        if let (Some((place, c)), false, true) = (place, slack, acts) {
            let joint = &mut joints[place].item;
            let add = |list: &mut Vec<f64>, x: f64| match list.first_mut() {
                Some(sum) => *sum += x,
                None if x != 0.0 => list.push(x),
                None => {}
            };
            let (k, own) = (
                tendon.stiffness * c * c,
                joint.stiffness.first().copied().unwrap_or(0.0),
            );
            if k != 0.0 {
                let rest = tendon.rest.map_or(0.0, |[l, _]| l / c);
                let before = joint.rest.first().copied().unwrap_or(0.0);
                joint.rest = vec![(k * rest + own * before) / (k + own)];
                add(&mut joint.stiffness, k);
            }
            add(&mut joint.damping, tendon.damping * c * c);
            add(&mut joint.friction, tendon.friction * c.abs());
            add(&mut joint.armature, tendon.armature * c * c);
            tendon.folded = true;
            let at = joint_at(&joints[place]).seen_at(item.e.spot());
            f.note(
                at,
                "folded-tendon",
                "a tendon along this joint alone became part of the joint",
                "",
            );
        }
        if tendon.armature != 0.0 && !tendon.folded {
            let message = "the armature of this tendon is not modelled";
            f.doubt(item.e.at(), "tendon", message, "the robot moves without it");
        } else if (acts && !tendon.folded) || tendon.range.is_some() {
            let message = "springs, dampers, friction and limits of this tendon are those of a `Drivetrain` alone";
            f.note(item.e.at(), "tendon", message, "");
        }
    }
}
