//! Operators and identities by their names, and why some have no inverse.

use super::fault::Fault;
use super::notation;
use super::op::Op;
use super::space::Space;
use super::sum::{Factor, Sum};
use core::ops::Range;

/// The space of an identity, by its name: `I` may stand in any.
pub(super) fn identity_of(name: &str) -> Option<Option<Space>> {
    Some(match name {
        "I" => None,
        "I_q" => Some(Space::Joint),
        "I_V" => Some(Space::Motion),
        "I_f" => Some(Space::Force),
        "I_t" => Some(Space::Tip),
        "I_c" => Some(Space::Constraint),
        _ => return None,
    })
}

/// An operator by name; the factors of 𝓜 are products.
pub(super) fn operator(name: &str) -> Option<Sum> {
    let of = |op| Sum::of(Factor::op(op));
    match name {
        "𝒥" => Some(of(Op::J)),
        "m" => Some(of(Op::F).times(&of(Op::Root))),
        "ell" | "ℓ" => Some(of(Op::RootInv).times(&of(Op::N))),
        // The strictly causal parts: φ − I, and ψE_φ.
        "Phi" | "Φ" | "φ̃" | "ϕ̃" => Some(of(Op::Phi).plus(&Sum::identity(Space::Force).scaled(-1.0))),
        "ψ̃" => Some(of(Op::Psi).plus(&Sum::identity(Space::Force).scaled(-1.0))),
        "Psi" | "Ψ" => Some(of(Op::Psi).times(&of(Op::EPhi))),
        "Lambda" | "Λ" => {
            let compliance = of(Op::J).times(&of(Op::MassInv)).times(&of(Op::J).adjoint());
            Some(Sum::of(Factor::Inverse(Box::new(compliance))))
        }
        _ => Op::named(name).map(of),
    }
}

/// The inverse of what has none in closed form, if a dense matrix can be solved for it.
pub(super) fn dense_inverse(at: Range<usize>, sum: Sum) -> Result<Sum, Fault> {
    let closed = "phi, psi, M, P, D, sqrt(D), Mass, I - H psi K, I + H phi K, numbers and products of these have one";
    if sum.is_vector() || sum.range == Space::Number {
        let problem = "a vector has no inverse";
        return Err(Fault::at(at, problem, "only operators have one"));
    }
    if let Some((problem, hint)) = singular(&sum) {
        return Err(Fault::at(at, problem, hint));
    }
    let link = |space| matches!(space, Space::Motion | Space::Force);
    if link(sum.range) && link(sum.domain) {
        let problem = "this has no inverse in closed form, and link space is too large to solve as a dense matrix";
        return Err(Fault::at(at, problem, closed));
    }
    if sum.range != sum.domain {
        let problem = format!("this leads from {} to {}: it is not square", sum.domain, sum.range);
        let hint = "a pseudo-inverse of J is J^* inv(J J^*), weighted by the masses inv(Mass) J^* inv(J inv(Mass) J^*)";
        return Err(Fault::at(at, problem, hint));
    }
    if has_vectors(&sum) {
        return Err(Fault::at(
            at,
            VECTORS_INSIDE,
            "only operators can be inverted; take the vectors out",
        ));
    }
    Ok(Sum::of(Factor::Inverse(Box::new(sum))))
}

pub(super) const VECTORS_INSIDE: &str = "there are vectors in what is inverted";

/// Words that are no operators by themselves.
pub(super) const WORDS: [&str; 27] = [
    "I",
    "m",
    "ell",
    "inv",
    "sqrt",
    "pinv",
    "diag",
    "Lambda",
    "Phi",
    "Psi",
    "dot",
    "grad",
    "crm",
    "crf",
    "bar",
    "P_dot",
    "P_dq",
    "root_dot",
    "root_dq",
    "root_star_dq",
    "Upsilon_dot",
    "Upsilon_dq",
    "Bc_dot",
    "Bc_dq",
    "Bc_star_dq",
    "logdet",
    "sym",
];

/// Whether vectors other than diagonals occur.
pub(super) fn has_vectors(sum: &Sum) -> bool {
    let mut found = false;
    sum.each(&mut |factor| found |= matches!(factor, Factor::Vector(..)));
    found
}

/// 𝓜⁻¹ written out.
pub(super) fn definition_of_inverse_mass() -> Sum {
    let of = |op| Sum::of(Factor::op(op));
    of(Op::N).adjoint().times(&of(Op::DInv)).times(&of(Op::N))
}

/// Why an operator never has an inverse, if it has none.
fn singular(sum: &Sum) -> Option<(String, &'static str)> {
    let [term] = &sum.terms[..] else { return None };
    let [Factor::Op(op, _)] = &term.factors[..] else {
        return None;
    };
    let (reason, hint) = match op {
        Op::EPhi | Op::EPsi => (
            "it is nilpotent: nothing comes out at the tips",
            "phi and psi have inverses",
        ),
        Op::PPlus => (
            "what a joint without rotor is free to do has no inertia in it: its rank is 6 less the joint's freedom",
            "P has an inverse",
        ),
        Op::TauBar => (
            "without rotors it is a projection: its rank is 6 less the joint's freedom",
            "I - G H is not onto",
        ),
        Op::Upsilon => (
            "at the base its rank is the freedom of the first joint",
            "inv(J inv(Mass) J^*) is the inertia of a tip",
        ),
        _ => return None,
    };
    let name = notation::operator(*op);
    Some((format!("`{name}` has no inverse: {reason}"), hint))
}
