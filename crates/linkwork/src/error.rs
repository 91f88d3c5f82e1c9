//! What can go wrong, and what to do about it.

use core::fmt;

/// The error type: every case with its data, and what it says of them.
macro_rules! errors {
    ($(
        $(#[$about:meta])*
        $case:ident { $($(#[$what:meta])* $field:ident: $type:ty,)* } => $message:literal $(, $part:expr)*;
    )*) => {
        /// Why a mechanism could not be built or a call could not be answered.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum Error {
            $($(#[$about])* $case { $($(#[$what])* $field: $type,)* },)*
        }

        impl fmt::Display for Error {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$case { $($field),* } => write!(f, $message $(, $part)*),)*
                }
            }
        }
    };
}

errors! {
    /// An argument has the wrong number of elements.
    Length {
        /// The argument's name.
        argument: &'static str,
        /// How many it needs.
        needed: usize,
        /// How many were given.
        given: usize,
    } => "{argument} has {given} numbers but needs {needed}";
    /// An argument holds NaN, infinity or a number that is too large to compute with.
    NotFinite {
        /// The argument's name.
        argument: &'static str,
        /// Where in it.
        index: usize,
        /// The joint it belongs to.
        joint: String,
        /// What it is.
        value: f64,
        /// The largest that is accepted.
        largest: f64,
    } => "{argument}[{index}] (joint `{joint}`) is {value:e}; every number must be finite, and at most {largest:e} in size";
    /// There is no quantity of this name.
    Quantity {
        /// The name asked for.
        name: String,
        /// A name that is close, as a sentence, or nothing.
        hint: String,
    } => "there is no quantity named `{name}`{hint}; `linkwork eval --help` lists them all";
    /// A quantity takes something that was not given.
    Missing {
        /// What.
        input: &'static str,
    } => "this quantity needs a {input}; say which";
    /// A result is too large for its numbers.
    Overflow {
        /// What was computed.
        what: &'static str,
    } => "{what} is not finite at this state; its numbers are too large, or the mechanism is singular there";
    /// An id, or what was made for a mechanism, is used with another one.
    Foreign {
        /// What it is.
        what: &'static str,
        /// The mechanism that it was used with.
        mechanism: String,
    } => "the {what} belongs to another mechanism than `{mechanism}`, perhaps to one that it was edited from; look it up or create it for this one";
    /// A number that may not be negative is, or is NaN or infinity.
    Negative {
        /// The argument's name.
        argument: &'static str,
        /// What it is.
        value: f64,
    } => "{argument} is {value}; it must be finite and not negative";
    /// A length of time that is zero, negative, NaN or infinity.
    Duration {
        /// The argument's name.
        argument: &'static str,
        /// What it is.
        value: f64,
    } => "{argument} is {value}; it must be finite and positive";
    /// A number is NaN or infinity.
    Parameter {
        /// The argument's name.
        argument: &'static str,
        /// What it is.
        value: f64,
    } => "{argument} is {value}; it must be finite";
    /// A quaternion is too far from unit length to be meant as a rotation.
    Quaternion {
        /// The joint.
        joint: String,
        /// Where in q it starts.
        index: usize,
        /// Its length.
        norm: f64,
        /// How far from one is accepted.
        tolerance: f64,
    } =>
        "the quaternion of joint `{joint}`, q[{index}..{}], has length {norm}; normalise it (x, y, z, w; 1 ± \
         {tolerance} is accepted)", index + 4;
    /// The mass matrix is singular: nothing resists a joint.
    Singular {
        /// The joint.
        joint: String,
        /// Which of its degrees of freedom, from zero.
        index: usize,
        /// The pivot found.
        value: f64,
    } =>
        "nothing resists joint `{joint}` (degree of freedom {index}) at this configuration: D = {value:e}; give the \
         links it moves mass or rotational inertia, or the joint an armature";
    /// A torque is needed where no motor is.
    NotDriven {
        /// The joint.
        joint: String,
        /// Which of its degrees of freedom, from zero.
        index: usize,
        /// What needs it.
        what: &'static str,
    } =>
        "no motor drives joint `{joint}` (degree of freedom {index}), and {what} needs one there; give the model a motor \
         on it, lock it, or ask less";
    /// Something that this mechanism cannot be asked.
    Unsupported {
        /// The mechanism.
        mechanism: String,
        /// What was asked for.
        what: &'static str,
        /// What it needs, and what to do instead.
        needs: &'static str,
    } => "mechanism `{mechanism}` has no {what}: that needs {needs}";
    /// A gain or limit of a controller that makes no sense.
    Gain {
        /// The argument.
        argument: &'static str,
        /// The number given.
        value: f64,
        /// What it must be.
        rule: &'static str,
    } => "{argument} has a {value}; it must {rule}";
    /// A simulation cannot take its next step.
    Step {
        /// When, in seconds.
        t: f64,
        /// What is wrong and what to do.
        problem: String,
    } => "at t = {t} s: {problem}";
    /// Some states of a batch could not be computed; the others were.
    State {
        /// The first that failed, from zero.
        index: usize,
        /// How many failed.
        failed: usize,
        /// How many there were.
        states: usize,
        /// What is wrong with the first.
        problem: Box<Error>,
    } => "state {index}: {problem} ({failed} of {states} states failed; the others are computed)";
    /// One of many points has no linear model, so that none is returned.
    Point {
        /// The first such, from zero.
        index: usize,
        /// What is wrong with it.
        problem: Box<Error>,
    } => "point number {index} (from zero) has no linear model: {problem}";
    /// No such name.
    Unknown {
        /// Link, joint or frame.
        what: &'static str,
        /// The name asked for.
        name: String,
        /// The mechanism.
        mechanism: String,
        /// A name that is close, as a sentence, or nothing.
        hint: String,
    } => "there is no {what} named `{name}` in mechanism `{mechanism}`{hint}";
    /// A link, joint or frame without a usable name.
    Name {
        /// Link, joint or frame.
        what: &'static str,
        /// Its place among its kind, from zero.
        index: usize,
        /// The name given.
        name: String,
        /// What is wrong with it and what to do.
        problem: &'static str,
    } => "{what} number {index} (from zero) is named `{name}`: {problem}";
    /// Two things share a name.
    Duplicate {
        /// What has the name already.
        first: &'static str,
        /// What wants it too.
        second: &'static str,
        /// The name.
        name: String,
        /// Which names must differ.
        rule: &'static str,
    } => "a {first} and a {second} are both named `{name}`; rename one of them ({rule})";
    /// A joint or frame refers to a link that is not there.
    Dangling {
        /// Joint or frame.
        what: &'static str,
        /// Its name.
        name: String,
        /// The link it refers to.
        link: String,
        /// A name that is close, as a sentence, or nothing.
        hint: String,
    } => "{what} `{name}` refers to a link `{link}` that does not exist{hint}";
    /// Two joints hold one link.
    HeldTwice {
        /// The link.
        link: String,
        /// The joint that holds it already.
        first: String,
        /// The joint that wants to.
        second: String,
    } =>
        "link `{link}` is held by two joints, `{first}` and `{second}`; keep one (a closed loop is a constraint, not \
         a joint)";
    /// No joint holds a link.
    Unheld {
        /// The link.
        link: String,
    } => "no joint holds link `{link}`; connect it to `world` with a fixed or free joint, or to another link";
    /// Links hold each other in a ring, and none is held by the world.
    Cycle {
        /// The links of the ring, each held by the next, the last by the first.
        links: Vec<String>,
    } => "the links {} hold each other in a ring; connect one of them to `world` instead", ring(links);
    /// A mass distribution that no body has.
    Inertia {
        /// The link.
        link: String,
        /// What is wrong with it and what to do.
        problem: String,
    } => "link `{link}` {problem}";
    /// A joint's axis, pitch, passive parameter or limit makes no sense, or it is asked for twice.
    Joint {
        /// The joint.
        joint: String,
        /// What is wrong with it and what to do.
        problem: String,
    } => "joint `{joint}`: {problem}";
    /// A joint's list has the wrong number of elements.
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
    } => "joint `{joint}` ({kind}): {list} has {given} numbers but needs {needed}";
    /// A pose that is no rigid displacement.
    Pose {
        /// Joint or frame.
        what: &'static str,
        /// Its name.
        name: String,
        /// Origin or pose.
        part: &'static str,
        /// What is wrong with it and what to do.
        problem: String,
    } => "{what} `{name}`: its {part} {problem}";
    /// Gravity is not finite.
    Gravity {
        /// What was given.
        gravity: [f64; 3],
    } => "gravity is {gravity:?}; every component must be a finite number, in m/s²";
    /// A joint that nothing gives inertia to, at any configuration.
    NoInertia {
        /// The joint.
        joint: String,
        /// Which of its degrees of freedom, from zero.
        index: usize,
        /// The link it holds.
        link: String,
    } =>
        "nothing resists joint `{joint}` (degree of freedom {index}) at any configuration; give link `{link}` or the \
         links it carries mass or rotational inertia away from the axis, or the joint an armature, or make it fixed";
    /// A constraint that makes no sense, or that cannot be kept.
    Constraint {
        /// The constraint.
        constraint: String,
        /// What is wrong with it and what to do.
        problem: String,
    } => "constraint `{constraint}`: {problem}";
    /// A loop that does not close.
    Open {
        /// The constraint that is furthest from closed.
        constraint: String,
        /// Its largest gap, in metres or radians.
        gap: f64,
    } =>
        "the loop of constraint `{constraint}` does not close: the nearest configuration found leaves a gap of \
         {gap:.3e}; check lengths and places, or start nearer to a closed configuration";
    /// A model that does not belong with others in one batch.
    Models {
        /// Which one, from zero on.
        model: usize,
        /// What is wrong with it.
        problem: String,
    } =>
        "model {model} cannot join the others: {problem}";
    /// Something that is not defined for joints that follow others.
    Coupled {
        /// What was asked for.
        what: &'static str,
        /// The mechanism.
        mechanism: String,
    } =>
        "{what} is not defined for mechanism `{mechanism}`, in which joints follow others; ask the mechanism without \
         its couplings (`Mechanism::uncoupled`)";
    /// A drive that cannot do what is asked.
    Drive {
        /// What is wrong with it and what to do.
        problem: String,
    } => "{problem}";
    /// An expression that cannot be read, or whose parts do not fit.
    Expression {
        /// The expression.
        text: String,
        /// The first column that is to blame, from zero.
        start: usize,
        /// One past the last.
        end: usize,
        /// What is wrong.
        problem: String,
        /// What to do.
        hint: String,
    } => "column {}: {problem}\n{}\n  {hint}", start + 1, underlined(text, *start, *end);
    /// A vector of an expression that is missing, not wanted, or too short or long.
    Binding {
        /// The vector.
        name: String,
        /// What is wrong with it and what to do.
        problem: String,
    } => "vector `{name}`: {problem}";
    /// An operator of an expression that does not exist on a mechanism, or not at a configuration.
    Operator {
        /// The operator, as it was written.
        name: String,
        /// Why, and what to do.
        problem: String,
    } => "`{name}`: {problem}";
    /// A dense problem without a solution, or one that its iteration does not find.
    Unsolved {
        /// What was asked for.
        what: &'static str,
        /// Why, and what to do.
        problem: String,
    } => "cannot find {what}: {problem}";
    /// No link is welded to the world, so that there is no base to set free.
    NoBase {
        /// The mechanism.
        mechanism: String,
    } =>
        "no link of mechanism `{mechanism}` is welded to `world`; give it a base link with mass on a fixed joint, \
         then set that free";
}

impl core::error::Error for Error {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::State { problem, .. } | Self::Point { problem, .. } => Some(problem),
            _ => None,
        }
    }
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

/// The expression with carets below the columns; tabs and line breaks become spaces so that they line up. Of a long one the
/// part around the columns.
fn underlined(text: &str, start: usize, end: usize) -> String {
    /// More characters are left out.
    const WIDEST: usize = 160;
    let length = text.chars().count();
    let first = match length > WIDEST {
        true => start.saturating_sub(WIDEST / 2).min(length - WIDEST),
        false => 0,
    };
    let shown = text.chars().skip(first).take(WIDEST);
    let mut line: String = shown.map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    let (mut start, mut end) = (start - first.min(start), end.saturating_sub(first).min(WIDEST));
    if first > 0 {
        line.insert(0, '…');
        (start, end) = (start + 1, end + 1);
    }
    if first + WIDEST < length {
        line.push('…');
    }
    let is_mark = |c: &char| ('\u{300}'..='\u{36f}').contains(c);
    let wide = |from: usize, to: usize| {
        let inside = line
            .chars()
            .skip(from)
            .take(to.saturating_sub(from))
            .filter(|c| !is_mark(c));
        inside.count()
    };
    let carets = wide(start, end).max(1);
    format!("  {line}\n  {}{}", " ".repeat(wide(0, start)), "^".repeat(carets))
}
