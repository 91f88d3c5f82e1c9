//! How operators change as the joints move: the table of rates.
//!
//! As the links see it, H, M and the rotors stay as they are, and across a joint that moves by Δ = H*w the step inward
//! changes by E_φ crf(Δ). Everything else follows by the product rule and the Riccati equation.

use super::op::Op;

/// One factor of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Op(Op, bool),
    /// crf(Δ), or its adjoint −crm(Δ).
    Delta(bool),
    /// Ṗ.
    P,
    /// Υ̇.
    Upsilon,
    /// The rate of D^½, or its adjoint.
    Root(bool),
    /// crm(Seen J w) of the frames, or its adjoint −crf(Seen J w).
    Frames(bool),
    /// The rate of Bc, or its adjoint.
    Ties(bool),
}

impl Part {
    pub(crate) fn adjoint(self) -> Self {
        match self {
            Self::Op(op, adjoint) => Self::Op(op, !adjoint && !op.self_adjoint()),
            Self::Delta(adjoint) => Self::Delta(!adjoint),
            Self::P | Self::Upsilon => self,
            Self::Root(adjoint) => Self::Root(!adjoint),
            Self::Frames(adjoint) => Self::Frames(!adjoint),
            Self::Ties(adjoint) => Self::Ties(!adjoint),
        }
    }

    /// Whether it is what changes.
    pub(crate) fn changes(self) -> bool {
        !matches!(self, Self::Op(..))
    }
}

/// How an operator changes.
#[derive(Clone, Debug)]
pub(crate) enum Rate {
    /// Not at all.
    Constant,
    /// As these products, each with its sign, in which one factor changes.
    Terms(Vec<(f64, Vec<Part>)>),
    /// As what it is made of.
    Made(&'static str),
    /// X⁻¹ as −X⁻¹ẊX⁻¹.
    Inverse(Op),
    /// Not in closed form here, for a reason.
    Unknown(&'static str, &'static str),
}

/// The rates of operators in terms of crf(Δ) and Ṗ.
const TABLE: [(Op, &str); 8] = [
    (Op::EPhi, "E_φ Δ"),
    (Op::Phi, "φ E_φ Δ φ"),
    (Op::P, "Ṗ"),
    (Op::PPlus, "τ Ṗ τ*"),
    (Op::D, "H Ṗ H*"),
    (Op::G, "τ Ṗ H* D⁻"),
    (Op::TauBar, "- τ Ṗ H* D⁻ H"),
    (Op::B, "B Φ*"),
];

/// The rate of an operator.
pub(crate) fn rate(op: Op) -> Rate {
    if let Some((_, terms)) = TABLE.iter().find(|row| row.0 == op) {
        return Rate::Terms(read(terms));
    }
    match op {
        Op::H | Op::M | Op::MInv | Op::Rotors | Op::Seen => Rate::Constant,
        Op::K => Rate::Made("E_φ G"),
        Op::EPsi => Rate::Made("E_φ τ"),
        Op::F => Rate::Made("I + H φ K"),
        Op::J => Rate::Made("B* φ* H*"),
        Op::Bc => Rate::Terms(vec![(1.0, vec![Part::Ties(false)])]),
        Op::Jc => Rate::Made("Bc* φ* H*"),
        Op::Mass => Rate::Made("H φ M φ* H* + A"),
        Op::PhiInv => Rate::Made("I - E_φ"),
        Op::PsiInv => Rate::Made("I - E_ψ"),
        Op::Psi => Rate::Inverse(Op::PsiInv),
        Op::MassInv => Rate::Inverse(Op::Mass),
        Op::DInv => Rate::Inverse(Op::D),
        Op::PInv => Rate::Inverse(Op::P),
        Op::N => Rate::Inverse(Op::F),
        Op::RootInv => Rate::Inverse(Op::Root),
        Op::Root => Rate::Terms(vec![(1.0, vec![Part::Root(false)])]),
        Op::Upsilon => Rate::Terms(vec![(1.0, vec![Part::Upsilon])]),
        // r; those of the table are above.
        _ => Rate::Unknown(
            "the rate of r is not in closed form here",
            "write phi M phi^*, of which r is the diagonal",
        ),
    }
}

/// Reads one row of the table.
fn read(text: &str) -> Vec<(f64, Vec<Part>)> {
    let mut terms = vec![(1.0, Vec::new())];
    for word in text.split_whitespace() {
        if word == "-" {
            if let Some(last) = terms.last_mut() {
                last.0 = -1.0;
            }
            continue;
        }
        let name = word.trim_end_matches('*');
        let adjoint = name.len() < word.len();
        let part = match name {
            "Δ" => Part::Delta(adjoint),
            "Ṗ" => Part::P,
            "Φ" => Part::Frames(adjoint),
            other => {
                let op = super::laws::op(other);
                Part::Op(op, adjoint && !op.self_adjoint())
            }
        };
        if let Some(last) = terms.last_mut() {
            last.1.push(part);
        }
    }
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_one_factor_that_changes() {
        for (op, text) in TABLE {
            for (_, parts) in read(text) {
                assert_eq!(parts.iter().filter(|p| p.changes()).count(), 1, "{}", op.symbol());
            }
        }
    }
}
