//! The operators of the algebra, one by one.

use super::space::{Direction, Space};

/// An operator with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Op {
    H,
    M,
    P,
    PPlus,
    D,
    DInv,
    G,
    K,
    TauBar,
    EPhi,
    EPsi,
    Phi,
    Psi,
    PhiInv,
    PsiInv,
    Mass,
    MassInv,
    B,
    J,
    /// I − HψK.
    N,
    /// I + HφK.
    F,
    /// The lower Cholesky factor of D.
    Root,
    RootInv,
    Upsilon,
    /// Rotor inertia: diag(armature).
    Rotors,
    MInv,
    PInv,
    /// The forces that multipliers of constraints put on links, and the constraints' Jacobian Bc*φ*H*.
    Bc,
    Jc,
    /// What of the frames' motions turns and moves the axes they are written in: none of it in a frame's own axes, the
    /// turning where axes are the world's, all of it where the point is the world's too.
    Seen,
    /// The composite bodies' inertia: φMφ* link by link, r = M + E_φrE_φ*.
    Composite,
}

use Op::*;

/// Names by which expressions know operators, the plainest first; then the symbol to print, and the same in LaTeX.
const NAMES: [(Op, &[&str], &str, &str); 31] = [
    (H, &["H"], "H", "H"),
    (M, &["M"], "M", "M"),
    (P, &["P"], "P", "P"),
    (PPlus, &["P_plus", "P⁺"], "P⁺", "P^+"),
    (D, &["D"], "D", "D"),
    (DInv, &[], "D⁻¹", "D^{-1}"),
    (G, &["G"], "G", "G"),
    (K, &["K"], "K", "K"),
    (TauBar, &["tau_bar", "taubar", "τ̄"], "τ̄", r"\bar\tau"),
    (EPhi, &["E_phi", "E_φ", "Eφ", "Ephi"], "E_φ", r"\mathcal{E}_\phi"),
    (EPsi, &["E_psi", "E_ψ", "Eψ", "Epsi"], "E_ψ", r"\mathcal{E}_\psi"),
    (Phi, &["phi", "φ", "ϕ"], "φ", r"\phi"),
    (Psi, &["psi", "ψ"], "ψ", r"\psi"),
    (PhiInv, &[], "φ⁻¹", r"\phi^{-1}"),
    (PsiInv, &[], "ψ⁻¹", r"\psi^{-1}"),
    (Mass, &["Mass", "mass", "𝓜", "ℳ"], "𝓜", r"\mathcal{M}"),
    (MassInv, &[], "𝓜⁻¹", r"\mathcal{M}^{-1}"),
    (B, &["B"], "B", "B"),
    (J, &["J"], "J", "J"),
    (N, &[], "(I − HψK)", r"(I - H\psi K)"),
    (F, &[], "(I + HφK)", r"(I + H\phi K)"),
    (Root, &[], "D^½", r"D^{1/2}"),
    (RootInv, &[], "D^-½", r"D^{-1/2}"),
    (Upsilon, &["Upsilon", "Υ"], "Υ", r"\Upsilon"),
    (Rotors, &["A"], "A", "A"),
    (MInv, &[], "M⁻¹", "M^{-1}"),
    (PInv, &[], "P⁻¹", "P^{-1}"),
    (Bc, &["Bc", "B_c"], "Bc", "B_c"),
    (Jc, &["Jc", "J_c"], "Jc", "J_c"),
    (Seen, &["Seen"], "Seen", r"\Sigma"),
    (Composite, &["r"], "r", "r"),
];

impl Op {
    pub(crate) fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|row| row.1.contains(&name)).map(|row| row.0)
    }

    /// All names, to suggest one.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().filter_map(|row| row.1.first().copied())
    }

    fn row(self) -> &'static (Op, &'static [&'static str], &'static str, &'static str) {
        &NAMES[self as usize]
    }

    pub(crate) fn symbol(self) -> &'static str {
        self.row().2
    }

    pub(crate) fn latex(self) -> &'static str {
        self.row().3
    }

    /// The same in plain ASCII, as the parser reads it.
    pub(crate) fn ascii(self) -> &'static str {
        match self {
            DInv => "inv(D)",
            PhiInv => "inv(phi)",
            PsiInv => "inv(psi)",
            MassInv => "inv(Mass)",
            N => "(I - H psi K)",
            F => "(I + H phi K)",
            Root => "sqrt(D)",
            RootInv => "inv(sqrt(D))",
            MInv => "inv(M)",
            PInv => "inv(P)",
            other => other.row().1[0],
        }
    }

    /// (range, domain).
    pub(crate) fn spaces(self) -> (Space, Space) {
        use Space::{Constraint, Force, Joint, Motion, Tip};
        match self {
            H => (Joint, Force),
            M | P | PPlus | Composite => (Force, Motion),
            G | K => (Force, Joint),
            TauBar | EPhi | EPsi | Phi | Psi | PhiInv | PsiInv => (Force, Force),
            B => (Force, Tip),
            J => (Tip, Joint),
            Upsilon | MInv | PInv => (Motion, Force),
            Bc => (Force, Constraint),
            Jc => (Constraint, Joint),
            Seen => (Tip, Tip),
            D | DInv | Mass | MassInv | N | F | Root | RootInv | Rotors => (Joint, Joint),
        }
    }

    pub(crate) fn self_adjoint(self) -> bool {
        matches!(
            self,
            M | P | PPlus | D | DInv | Mass | MassInv | Upsilon | Rotors | MInv | PInv | Seen | Composite
        )
    }

    pub(crate) fn direction(self) -> Direction {
        match self {
            EPhi | EPsi | Phi | Psi | PhiInv | PsiInv | K | N | F => Direction::Inward,
            J | Jc => Direction::Outward,
            Mass | MassInv => Direction::Both,
            _ => Direction::Memoryless,
        }
    }

    /// The inverse, where it has a name.
    pub(crate) fn inverse(self) -> Option<Self> {
        Some(match self {
            D => DInv,
            DInv => D,
            Phi => PhiInv,
            PhiInv => Phi,
            Psi => PsiInv,
            PsiInv => Psi,
            Mass => MassInv,
            MassInv => Mass,
            N => F,
            F => N,
            Root => RootInv,
            RootInv => Root,
            M => MInv,
            MInv => M,
            P => PInv,
            PInv => P,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operator_has_its_row() {
        for (i, row) in NAMES.iter().enumerate() {
            assert_eq!(row.0 as usize, i, "{}", row.2);
            for name in row.1 {
                assert_eq!(Op::named(name), Some(row.0));
            }
        }
    }

    #[test]
    fn inverses_undo_each_other_and_keep_their_space() {
        for row in NAMES {
            if let Some(inverse) = row.0.inverse() {
                assert_eq!(inverse.inverse(), Some(row.0));
                assert_eq!(inverse.spaces(), (row.0.spaces().1, row.0.spaces().0));
            }
        }
    }
}
