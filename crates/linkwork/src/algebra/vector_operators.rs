//! Operators that a vector makes: cross products, multiples, and the rates of P and D^½.

use super::notation::Notation;
use super::space::Space;
use super::sum::{Factor, Sum};

/// How a vector makes an operator.
///
/// The cross products are those of the papers' S and Q: crm(v)x = v × x of motions, crf(v)f = v ×* f of a force, and
/// bar(f)v = v ×* f seen as an operator on v. So crm(v)x = −crm(x)v, and crf(v)f = bar(f)v.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum By {
    Crm,
    Crf,
    Bar,
    /// A number times a vector of some space.
    Times(Space),
    /// diag(w).
    Diagonal,
    /// Ṗ where the joints move as w.
    PDot,
    /// w ↦ Ṗ[w] y for a motion y, or its adjoint: x ↦ the gradient of x*Ṗ[w] y by w.
    PDq(bool),
    /// Υ̇ where the joints move as w.
    UpsilonDot,
    /// w ↦ Υ̇[w] y for a force y, or its adjoint.
    UpsilonDq(bool),
    /// The rate of D^½ where the joints move as w, or its adjoint.
    RootDot(bool),
    /// w ↦ (the rate of D^½, or of its adjoint if the first) y, or the adjoint of that if the second.
    RootDq(bool, bool),
    /// The rate of Bc where the links move as X, or its adjoint.
    TiesDot(bool),
    /// X ↦ (the rate of Bc) λ, or its adjoint: Y ↦ the gradient of Y*Ḃc[X] λ by X.
    TiesDq(bool),
    /// X ↦ (the rate of Bc*) Y, or its adjoint: λ ↦ the gradient of Y*Ḃc[X] λ by X.
    TiesStarDq(bool),
}

impl By {
    /// (range, domain), by where the vector is.
    pub(crate) fn spaces(self, of: Space) -> (Space, Space) {
        use Space::{Constraint, Force, Joint, Motion};
        match self {
            Self::Crm | Self::Diagonal => (of, of),
            Self::Crf => (of.dual(), of.dual()),
            Self::Bar => (of, of.dual()),
            Self::Times(space) => (space, space),
            Self::PDot => (Force, Motion),
            Self::PDq(false) => (Force, Joint),
            Self::PDq(true) => (Joint, Motion),
            Self::UpsilonDot => (Motion, Force),
            Self::UpsilonDq(false) => (Motion, Joint),
            Self::UpsilonDq(true) => (Joint, Force),
            Self::RootDot(_) | Self::RootDq(..) => (Joint, Joint),
            Self::TiesDot(false) | Self::TiesStarDq(true) => (Force, Constraint),
            Self::TiesDot(true) | Self::TiesStarDq(false) => (Constraint, Motion),
            Self::TiesDq(_) => (Force, Motion),
        }
    }

    /// The adjoint, but for its sign.
    pub(crate) fn adjoint(self) -> Self {
        match self {
            Self::Crm => Self::Crf,
            Self::Crf => Self::Crm,
            Self::Bar | Self::Diagonal | Self::PDot | Self::UpsilonDot => self,
            Self::Times(space) => Self::Times(space.dual()),
            Self::PDq(adjoint) => Self::PDq(!adjoint),
            Self::UpsilonDq(adjoint) => Self::UpsilonDq(!adjoint),
            Self::RootDot(adjoint) => Self::RootDot(!adjoint),
            Self::RootDq(star, adjoint) => Self::RootDq(star, !adjoint),
            Self::TiesDot(adjoint) => Self::TiesDot(!adjoint),
            Self::TiesDq(adjoint) => Self::TiesDq(!adjoint),
            Self::TiesStarDq(adjoint) => Self::TiesStarDq(!adjoint),
        }
    }

    /// Whether the adjoint has the other sign: cross products are skew.
    pub(crate) fn is_skew(self) -> bool {
        matches!(self, Self::Crm | Self::Crf | Self::Bar)
    }

    /// By its name before parentheses, for those that have a name of their own.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "crm" => Self::Crm,
            "crf" => Self::Crf,
            "bar" => Self::Bar,
            "P_dot" => Self::PDot,
            "P_dq" => Self::PDq(false),
            "Upsilon_dot" => Self::UpsilonDot,
            "Upsilon_dq" => Self::UpsilonDq(false),
            "root_dot" => Self::RootDot(false),
            "root_dq" => Self::RootDq(false, false),
            "root_star_dq" => Self::RootDq(true, false),
            "Bc_dot" => Self::TiesDot(false),
            "Bc_dq" => Self::TiesDq(false),
            "Bc_star_dq" => Self::TiesStarDq(false),
            _ => return None,
        })
    }

    /// The space of the vector; none where motions (or forces) and frames have it both.
    pub(crate) fn of(self) -> Option<Space> {
        match self {
            Self::PDot | Self::UpsilonDot | Self::RootDot(_) | Self::RootDq(..) => Some(Space::Joint),
            Self::PDq(_) | Self::TiesDot(_) | Self::TiesStarDq(_) => Some(Space::Motion),
            Self::TiesDq(_) => Some(Space::Constraint),
            Self::UpsilonDq(_) => Some(Space::Force),
            _ => None,
        }
    }

    /// The operator as it is written, and whether it is the adjoint of what is written.
    pub(crate) fn written(self, inner: &str, notation: Notation) -> (String, bool) {
        let latex = notation == Notation::Latex;
        let (name, adjoint) = match self {
            Self::Times(_) => return (format!("({inner})"), false),
            Self::Crm => (if latex { r"\operatorname{crm}" } else { "crm" }, false),
            Self::Crf => (if latex { r"\operatorname{crf}" } else { "crf" }, false),
            Self::Bar => (if latex { r"\operatorname{bar}" } else { "bar" }, false),
            Self::Diagonal => (if latex { r"\operatorname{diag}" } else { "diag" }, false),
            Self::PDot => (if latex { r"\dot P" } else { "P_dot" }, false),
            Self::PDq(adjoint) => (if latex { r"P_\theta" } else { "P_dq" }, adjoint),
            Self::UpsilonDot => (if latex { r"\dot\Upsilon" } else { "Upsilon_dot" }, false),
            Self::UpsilonDq(adjoint) => (if latex { r"\Upsilon_\theta" } else { "Upsilon_dq" }, adjoint),
            Self::RootDot(adjoint) => (if latex { r"\dot L" } else { "root_dot" }, adjoint),
            Self::RootDq(false, adjoint) => (if latex { r"L_\theta" } else { "root_dq" }, adjoint),
            Self::RootDq(true, adjoint) => (if latex { r"L^*_\theta" } else { "root_star_dq" }, adjoint),
            Self::TiesDot(adjoint) => (if latex { r"\dot B_c" } else { "Bc_dot" }, adjoint),
            Self::TiesDq(adjoint) => (if latex { r"B_{c,X}" } else { "Bc_dq" }, adjoint),
            Self::TiesStarDq(adjoint) => (if latex { r"B^*_{c,X}" } else { "Bc_star_dq" }, adjoint),
        };
        (format!("{name}({inner})"), adjoint)
    }
}

/// An operator made by a vector; zero where that is. Scales of single terms go before it, so that equal vectors are seen.
pub(crate) fn by(kind: By, vector: &Sum) -> Sum {
    let (range, domain) = kind.spaces(vector.range);
    if vector.is_zero() {
        return Sum::zero(range, domain);
    }
    if let [term] = &vector.terms[..]
        && term.scale != 1.0
    {
        let plain = vector.scaled(term.scale.recip());
        return Sum::of(Factor::By(kind, Box::new(plain))).scaled(term.scale);
    }
    Sum::of(Factor::By(kind, Box::new(vector.clone())))
}

/// A vector held together, so that it is computed as it is and once.
pub(crate) fn held(vector: Sum) -> Sum {
    match &vector.terms[..] {
        [] => vector,
        [term] if term.factors.len() <= 1 => vector,
        [term] => {
            let scale = term.scale;
            Sum::of(Factor::Held(Box::new(vector.scaled(scale.recip())), false)).scaled(scale)
        }
        _ => Sum::of(Factor::Held(Box::new(vector), false)),
    }
}
