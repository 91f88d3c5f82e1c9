//! What can go wrong, and what to do about it.

/// Why a mechanism could not be built or a call could not be answered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An argument has the wrong number of elements.
    #[error("{argument} has {given} numbers but needs {needed}")]
    Length {
        /// The argument's name.
        argument: &'static str,
        /// How many it needs.
        needed: usize,
        /// How many were given.
        given: usize,
    },
    /// An argument holds NaN or infinity.
    #[error("{argument}[{index}] (joint `{joint}`) is {value}; every number must be finite, and at most 1e60 in size")]
    NotFinite {
        /// The argument's name.
        argument: &'static str,
        /// Where in it.
        index: usize,
        /// The joint it belongs to.
        joint: String,
        /// What it is.
        value: f64,
    },
    /// A number that may not be negative is, or is NaN or infinity.
    #[error("{argument} is {value}; it must be finite and not negative")]
    Negative {
        /// The argument's name.
        argument: &'static str,
        /// What it is.
        value: f64,
    },

    /// A number is NaN or infinity.
    #[error("{argument} is {value}; it must be finite")]
    Parameter {
        /// The argument's name.
        argument: &'static str,
        /// What it is.
        value: f64,
    },
    /// A quaternion is too far from unit length to be meant as a rotation.
    #[error(
        "the quaternion of joint `{joint}`, q[{index}..{}], has length {norm}; normalise it (x, y, z, w; 1 ± {tolerance} is accepted)",
        index + 4
    )]
    Quaternion {
        /// The joint.
        joint: String,
        /// Where in q it starts.
        index: usize,
        /// Its length.
        norm: f64,
        /// How far from one is accepted.
        tolerance: f64,
    },
    /// The mass matrix is singular: nothing resists a joint.
    #[error(
        "nothing resists joint `{joint}` (degree of freedom {index}) at this configuration: D = {value:e}; give the links it moves mass or rotational inertia, or the joint an armature"
    )]
    Singular {
        /// The joint.
        joint: String,
        /// Which of its degrees of freedom, from nought.
        index: usize,
        /// The pivot found.
        value: f64,
    },
    /// Something that this mechanism cannot be asked.
    #[error("mechanism `{mechanism}` has no {what}: that needs {needs}")]
    Unsupported {
        /// The mechanism.
        mechanism: String,
        /// What was asked for.
        what: &'static str,
        /// What it needs, and what to do instead.
        needs: &'static str,
    },
    /// A gain or limit of a controller that makes no sense.
    #[error("{argument} has a {value}; it must {rule}")]
    Gain {
        /// The argument.
        argument: &'static str,
        /// The number given.
        value: f64,
        /// What it must be.
        rule: &'static str,
    },
    /// A simulation cannot take its next step.
    #[error("at t = {t} s: {problem}")]
    Step {
        /// When, in seconds.
        t: f64,
        /// What is wrong and what to do.
        problem: String,
    },
    /// Some states of a batch could not be computed; the others were.
    #[error("state {index}: {problem} ({failed} of {states} states failed; the others are computed)")]
    State {
        /// The first that failed, from nought.
        index: usize,
        /// How many failed.
        failed: usize,
        /// How many there were.
        states: usize,
        /// What is wrong with the first.
        problem: Box<Error>,
    },
    /// No such name.
    #[error("there is no {what} named `{name}` in mechanism `{mechanism}`{hint}")]
    Unknown {
        /// Link, joint or frame.
        what: &'static str,
        /// The name asked for.
        name: String,
        /// The mechanism.
        mechanism: String,
        /// A name that is close, as a sentence, or nothing.
        hint: String,
    },
    /// A link, joint or frame without a usable name.
    #[error("{what} number {index} (from nought) is named `{name}`: {problem}")]
    Name {
        /// Link, joint or frame.
        what: &'static str,
        /// Its place among its kind, from nought.
        index: usize,
        /// The name given.
        name: String,
        /// What is wrong with it and what to do.
        problem: &'static str,
    },
    /// Two things share a name.
    #[error("a {first} and a {second} are both named `{name}`; rename one of them ({rule})")]
    Duplicate {
        /// What has the name already.
        first: &'static str,
        /// What wants it too.
        second: &'static str,
        /// The name.
        name: String,
        /// Which names must differ.
        rule: &'static str,
    },
    /// A joint or frame refers to a link that is not there.
    #[error("{what} `{name}` refers to a link `{link}` that does not exist{hint}")]
    Dangling {
        /// Joint or frame.
        what: &'static str,
        /// Its name.
        name: String,
        /// The link it refers to.
        link: String,
        /// A name that is close, as a sentence, or nothing.
        hint: String,
    },
    /// Two joints hold one link.
    #[error(
        "link `{link}` is held by two joints, `{first}` and `{second}`; keep one (a closed loop is a constraint, not a joint)"
    )]
    HeldTwice {
        /// The link.
        link: String,
        /// The joint that holds it already.
        first: String,
        /// The joint that wants to.
        second: String,
    },
    /// No joint holds a link.
    #[error("no joint holds link `{link}`; connect it to `world` with a fixed or free joint, or to another link")]
    Unheld {
        /// The link.
        link: String,
    },
    /// Links hold each other in a ring, and none is held by the world.
    #[error(
        "the links {} hold each other in a ring; connect one of them to `world` instead",
        ring(links)
    )]
    Cycle {
        /// The links of the ring, each held by the next, the last by the first.
        links: Vec<String>,
    },
    /// A mass distribution that no body has.
    #[error("link `{link}` {problem}")]
    Inertia {
        /// The link.
        link: String,
        /// What is wrong with it and what to do.
        problem: String,
    },
    /// A joint's axis, pitch, passive parameter or limit makes no sense.
    #[error("joint `{joint}`: {problem}")]
    Joint {
        /// The joint.
        joint: String,
        /// What is wrong with it and what to do.
        problem: String,
    },
    /// A joint's list has the wrong number of elements.
    #[error("joint `{joint}` ({kind}): {list} has {given} numbers but needs {needed}")]
    JointLength {
        /// The joint.
        joint: String,
        /// Its kind.
        kind: &'static str,
        /// Which list.
        list: &'static str,
        /// How many were given.
        given: usize,
        /// How many it needs, in words.
        needed: String,
    },
    /// A pose that is no rigid displacement.
    #[error("{what} `{name}`: its {part} {problem}")]
    Pose {
        /// Joint or frame.
        what: &'static str,
        /// Its name.
        name: String,
        /// Origin or pose.
        part: &'static str,
        /// What is wrong with it and what to do.
        problem: String,
    },
    /// Gravity is not finite.
    #[error("gravity is {gravity:?}; every component must be a finite number, in m/s²")]
    Gravity {
        /// What was given.
        gravity: [f64; 3],
    },
    /// A joint that nothing gives inertia to, at any configuration.
    #[error(
        "nothing resists joint `{joint}` (degree of freedom {index}) at any configuration; give link `{link}` or the links it carries mass or rotational inertia away from the axis, or the joint an armature, or make it fixed"
    )]
    NoInertia {
        /// The joint.
        joint: String,
        /// Which of its degrees of freedom, from nought.
        index: usize,
        /// The link it holds.
        link: String,
    },
    /// A constraint that makes no sense, or that cannot be kept.
    #[error("constraint `{constraint}`: {problem}")]
    Constraint {
        /// The constraint.
        constraint: String,
        /// What is wrong with it and what to do.
        problem: String,
    },
    /// A loop that does not close.
    #[error(
        "the loop of constraint `{constraint}` does not close: the nearest configuration found leaves a gap of {gap:.3e}; check lengths and places, or start nearer to a closed configuration"
    )]
    Open {
        /// The constraint that is furthest from closed.
        constraint: String,
        /// Its largest gap, in metres or radians.
        gap: f64,
    },
    /// Something that is not defined for joints that follow others.
    #[error(
        "{what} is not defined for mechanism `{mechanism}`, in which joints follow others; ask the mechanism without its couplings (`Mechanism::uncoupled`)"
    )]
    Coupled {
        /// What was asked for.
        what: &'static str,
        /// The mechanism.
        mechanism: String,
    },
    /// A drive that cannot do what is asked.
    #[error("{problem}")]
    Drive {
        /// What is wrong with it and what to do.
        problem: String,
    },
    /// An expression that cannot be read, or whose parts do not fit.
    #[error("column {}: {problem}\n{}\n  {hint}", start + 1, crate::algebra::underlined(text, *start, *end))]
    Expression {
        /// The expression.
        text: String,
        /// The first column that is to blame, from nought.
        start: usize,
        /// One past the last.
        end: usize,
        /// What is wrong.
        problem: String,
        /// What to do.
        hint: String,
    },
    /// A vector of an expression that is missing, not wanted, or too short or long.
    #[error("vector `{name}`: {problem}")]
    Binding {
        /// The vector.
        name: String,
        /// What is wrong with it and what to do.
        problem: String,
    },
    /// A dense problem without a solution, or one that its iteration does not find.
    #[error("cannot find {what}: {problem}")]
    Unsolved {
        /// What was asked for.
        what: &'static str,
        /// Why, and what to do.
        problem: String,
    },
    /// No link is welded to the world, so that there is no base to set free.
    #[error(
        "no link of mechanism `{mechanism}` is welded to `world`; give it a base link with mass on a fixed joint, then set that free"
    )]
    NoBase {
        /// The mechanism.
        mechanism: String,
    },
}

/// Names in a row, cut short where there are many.
fn ring(links: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text = String::new();
    for (i, link) in links.iter().take(SHOWN).enumerate() {
        text += if i == 0 { "`" } else { ", `" };
        text += link;
        text += "`";
    }
    if links.len() > SHOWN {
        text += &format!(" and {} more", links.len() - SHOWN);
    }
    text
}

/// A result with this crate's error.
pub type Result<T> = core::result::Result<T, Error>;
