//! What proofs rest on: definitions of the operators, the Riccati equation, and what follows from these at once.
//!
//! Together they take every sum of products to one normal form, whatever order they are applied in: M gives way to P, ψ
//! beside E_φGH to ψ alone. Where two of them fit the same product, both ways lead to the same; the last ones are there for that.
//!
//! [RK]: Rodriguez and Kreutz-Delgado, Spatial Operator Factorization and Inversion of the Manipulator Mass Matrix.
//! [JR]: Jain and Rodriguez, Diagonalized Lagrangian Robot Dynamics.
//! [SOA]: Rodriguez, Jain and Kreutz-Delgado, A Spatial Operator Algebra for Manipulator Modeling and Control.

use crate::algebra::laws::Law;
use std::sync::LazyLock;

/// A law that a proof may use.
#[derive(Debug)]
pub(crate) struct Axiom {
    pub(crate) name: &'static str,
    pub(crate) source: &'static str,
    pub(crate) law: Law,
    /// Products that must be equal for it to hold, where it is proved itself.
    pub(crate) lemma: Option<(&'static str, &'static str)>,
    /// Whether it is for equations with composite bodies alone, or for others alone: M is written by r or by P.
    pub(crate) composite: Option<bool>,
}

/// (name, source, left, right); each with its adjoint.
const TABLE: [(&str, &str, &str, &str); 40] = [
    ("an inverse", "definition", "Mass Mass⁻", "I"),
    ("an inverse", "definition", "Mass⁻ Mass", "I"),
    ("an inverse", "definition", "F N", "I"),
    ("an inverse", "definition", "N F", "I"),
    ("an inverse", "definition", "M M⁻", "I"),
    ("an inverse", "definition", "M⁻ M", "I"),
    ("an inverse", "definition", "P P⁻", "I"),
    ("an inverse", "definition", "P⁻ P", "I"),
    ("an inverse", "definition", "D D⁻", "I"),
    ("an inverse", "definition", "D⁻ D", "I"),
    ("an inverse", "definition", "L L⁻", "I"),
    ("an inverse", "definition", "L⁻ L", "I"),
    ("the root of D", "definition, [JR 3]", "L L*", "D"),
    ("the root of D", "definition, [JR 3]", "L⁻* L⁻", "D⁻"),
    ("the root of D", "definition, [JR 3]", "D⁻ L", "L⁻*"),
    ("the root of D", "definition, [JR 3]", "L⁻ D", "L*"),
    ("the Jacobian", "definition, [SOA]", "J", "B* φ* H*"),
    ("the constraints' Jacobian", "definition, [SOA]", "Jc", "Bc* φ* H*"),
    ("Newton–Euler factorization", "[RK]", "Mass", "H φ M φ* H* + A"),
    ("inverse of the mass matrix", "lemma, [RK]", "Mass⁻", "N* D⁻ N"),
    ("innovations operator", "definition, [RK]", "N", "I - H ψ K"),
    ("its inverse", "lemma, [RK]", "F", "I + H φ K"),
    ("φ as an inverse", "definition", "φ⁻", "I - E_φ"),
    ("ψ as an inverse", "definition", "ψ⁻", "I - E_ψ"),
    ("articulated transformation", "definition, [RK]", "E_ψ", "E_φ τ"),
    ("Kalman gain", "definition, [RK]", "K", "E_φ G"),
    (
        "articulated inertia across the joint",
        "definition, [RK]",
        "P⁺",
        "P - G D G*",
    ),
    ("articulated projection", "definition, [RK]", "τ", "I - G H"),
    ("composite bodies", "definition, [RK]", "M", "r - E_φ r E_φ*"),
    ("Riccati equation", "[RK]", "M", "P - E_φ P E_φ* + E_φ G D G* E_φ*"),
    ("φ is the sum of powers of E_φ", "definition", "φ E_φ", "φ - I"),
    ("φ is the sum of powers of E_φ", "definition", "E_φ φ", "φ - I"),
    ("the gain G", "definition, [RK]", "P H*", "G D"),
    ("D = HPH* + A", "definition, [RK]", "H G", "I - A D⁻"),
    (
        "ψ is the sum of powers of E_ψ",
        "definition",
        "ψ E_φ G H",
        "ψ E_φ - ψ + I",
    ),
    (
        "ψ is the sum of powers of E_ψ",
        "definition",
        "E_φ G H ψ",
        "E_φ ψ - ψ + I",
    ),
    (
        "φ times the sum of powers",
        "φ(E_φGHψ) = (φE_φ)GHψ",
        "φ G H ψ",
        "φ - ψ + G H ψ",
    ),
    ("ψ times the gain", "(ψE_φGH)G = ψE_φG(HG)", "ψ G", "G + ψ E_φ G A D⁻"),
    (
        "ψ and the Riccati equation",
        "(ψE_φGH)P = ψE_φG(HP)",
        "ψ E_φ G D G*",
        "ψ E_φ P - ψ P + P",
    ),
    (
        "ψ on both sides",
        "(ψE_φGDG*)ψ* = ψE_φGD(G*ψ*)",
        "ψ E_φ P ψ*",
        "ψ P ψ* - P ψ* + ψ E_φ P - ψ P + P + ψ E_φ G A G* E_φ* ψ*",
    ),
];

/// What must be shown for a lemma.
fn lemma(left: &str) -> Option<(&'static str, &'static str)> {
    match left {
        "Mass⁻" => Some(("Mass (I - H psi K)^* inv(D) (I - H psi K)", "I")),
        "F" => Some(("(I + H phi K) (I - H psi K)", "I")),
        _ => None,
    }
}

static AXIOMS: LazyLock<Vec<Axiom>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for (name, source, left, right) in TABLE {
        let law = Law::new(left, right);
        let adjoint = law.adjoint();
        let differs = adjoint.left != law.left;
        let lemma = lemma(left);
        let composite = (left == "M").then(|| right.starts_with('r'));
        let of = |law| Axiom {
            name,
            source,
            law,
            lemma,
            composite,
        };
        all.push(of(law));
        if differs {
            all.push(of(adjoint));
        }
    }
    all
});

/// All of them, in the order in which they are tried.
pub(crate) fn axioms() -> &'static [Axiom] {
    &AXIOMS
}
