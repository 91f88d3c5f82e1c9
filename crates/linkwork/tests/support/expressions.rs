//! Random expressions of the algebra, well typed, with a bound on what their terms may reach.

use super::random::Random;
use linkwork::Result;
use linkwork::algebra::{Dense, Expression, Matrix, Space};

/// A part of an expression.
pub enum Part {
    /// As it is typed.
    Atom(String),
    Product(Vec<Part>),
    /// Terms with their scales.
    Sum(Vec<(f64, Part)>),
}

use Space::{Force, Joint, Motion, Number, Tip};

/// Operators by what they lead to and from.
const OPERATORS: [(&str, Space, Space); 52] = [
    ("H", Joint, Force),
    ("H^*", Motion, Joint),
    ("M", Force, Motion),
    ("P", Force, Motion),
    ("P_plus", Force, Motion),
    ("D", Joint, Joint),
    ("inv(D)", Joint, Joint),
    ("G", Force, Joint),
    ("G^*", Joint, Motion),
    ("K", Force, Joint),
    ("K'", Joint, Motion),
    ("tau_bar", Force, Force),
    ("τ̄^*", Motion, Motion),
    ("E_phi", Force, Force),
    ("E_phi^*", Motion, Motion),
    ("E_φ^2", Force, Force),
    ("E_psi", Force, Force),
    ("E_ψ'", Motion, Motion),
    ("phi", Force, Force),
    ("φ", Force, Force),
    ("phi^*", Motion, Motion),
    ("psi", Force, Force),
    ("ψ^*", Motion, Motion),
    ("inv(phi)", Force, Force),
    ("φ⁻¹'", Motion, Motion),
    ("inv(psi)", Force, Force),
    ("inv(psi)^*", Motion, Motion),
    ("Mass", Joint, Joint),
    ("inv(Mass)", Joint, Joint),
    ("𝓜⁻¹", Joint, Joint),
    ("B", Force, Tip),
    ("B^*", Tip, Motion),
    ("J", Tip, Joint),
    ("J^*", Joint, Tip),
    ("(I - H psi K)", Joint, Joint),
    ("(I - H psi K)^*", Joint, Joint),
    ("(I + H φ K)", Joint, Joint),
    ("inv(I - H psi K)'", Joint, Joint),
    ("sqrt(D)", Joint, Joint),
    ("sqrt(D)'", Joint, Joint),
    ("inv(sqrt(D))", Joint, Joint),
    ("inv(sqrt(D))^*", Joint, Joint),
    ("m", Joint, Joint),
    ("ell", Joint, Joint),
    ("ell^*", Joint, Joint),
    ("Upsilon", Motion, Force),
    ("A", Joint, Joint),
    ("Mass (u u^*)", Joint, Joint),
    ("(I - G H)", Force, Force),
    ("(P - G D G^*)", Force, Motion),
    ("(phi - I)", Force, Force),
    ("(inv(phi) + K H)", Force, Force),
];

/// Vectors by space; u, v and w are users' own.
const VECTORS: [(&str, Space); 14] = [
    ("T", Joint),
    ("qd", Joint),
    ("qdd", Joint),
    ("C", Joint),
    ("g", Joint),
    ("u:joint", Joint),
    ("f", Tip),
    ("V", Motion),
    ("a", Motion),
    ("v:motion", Motion),
    ("b", Force),
    ("w:force", Force),
    ("a0", Motion),
    ("q̇", Joint),
];

/// A product of up to so many factors that leads to a space: from joint space, or a vector.
pub fn random(random: &mut Random, range: Space, factors: usize, vector: bool) -> Part {
    let mut parts = Vec::new();
    let mut space = range;
    let mut left = factors;
    while left > usize::from(vector) {
        if left > 4 && random.chance(0.2) {
            let inner = 2 + random.below(left / 2 - 1);
            let count = 2 + random.below(2);
            let each = (inner / count).max(1);
            // All terms of a sum lead from and to the same spaces.
            let first = operators(random, space, each);
            let domain = first.1;
            let mut terms = vec![(scale(random), first.0)];
            while terms.len() < count {
                match leading(random, space, domain, each) {
                    Some(part) => terms.push((scale(random), part)),
                    None => break,
                }
            }
            if space == domain && random.chance(0.4) {
                terms.push((scale(random), Part::Atom("I".to_owned())));
            }
            left = left.saturating_sub(each * terms.len());
            parts.push(Part::Sum(terms));
            space = domain;
            continue;
        }
        let (part, domain) = operators(random, space, 1);
        parts.push(part);
        space = domain;
        left -= 1;
    }
    if vector {
        let fitting: Vec<_> = VECTORS.iter().filter(|v| v.1 == space).collect();
        parts.push(Part::Atom(fitting[random.below(fitting.len())].0.to_owned()));
    }
    Part::Product(parts)
}

fn scale(random: &mut Random) -> f64 {
    [1.0, -1.0, 1.0, -1.0, 0.5, -3.0][random.below(6)]
}

/// A chain of operators that leads to a space, and what it leads from.
fn operators(random: &mut Random, range: Space, n: usize) -> (Part, Space) {
    let (mut parts, mut space) = (Vec::new(), range);
    for _ in 0..n {
        let fitting: Vec<_> = OPERATORS.iter().filter(|o| o.1 == space).collect();
        let (name, _, domain) = fitting[random.below(fitting.len())];
        parts.push(Part::Atom((*name).to_owned()));
        space = *domain;
    }
    (Part::Product(parts), space)
}

/// A chain that leads from one space to another, if a few tries find one.
fn leading(random: &mut Random, range: Space, domain: Space, n: usize) -> Option<Part> {
    (0..40).find_map(|_| {
        let (part, from) = operators(random, range, n);
        (from == domain).then_some(part)
    })
}

impl Part {
    pub fn text(&self) -> String {
        match self {
            Part::Atom(text) => text.clone(),
            Part::Product(parts) => parts.iter().map(Part::text).collect::<Vec<_>>().join(" "),
            Part::Sum(terms) => {
                let mut text = "(".to_owned();
                for (i, (scale, part)) in terms.iter().enumerate() {
                    let sign = if *scale < 0.0 {
                        "- "
                    } else if i > 0 {
                        "+ "
                    } else {
                        ""
                    };
                    text += sign;
                    if scale.abs() != 1.0 {
                        text += &format!("{} ", scale.abs());
                    }
                    text += &part.text();
                    text += " ";
                }
                text.trim_end().to_owned() + ")"
            }
        }
    }

    /// The largest that its value could be if nothing cancelled: norms multiplied and added up.
    pub fn bound(&self, dense: &Dense, given: &[(&str, &[f64])]) -> Result<f64> {
        Ok(match self {
            Part::Atom(text) if text == "I" => 1.0,
            // Both are small differences of large terms.
            Part::Atom(text) if text == "C" || text == "g" => {
                let size = |text: &str| Part::Atom(text.to_owned()).bound(dense, given);
                size("H")? * size("phi")? * (size("M")? * size("phi")? * size("a")? + size("b")?)
            }
            Part::Atom(text) if text.starts_with('J') => {
                let size = |text: &str| Part::Atom(text.to_owned()).bound(dense, given);
                size("B")? * size("phi")? * size("H")?
            }
            Part::Atom(text) => {
                let expression: Expression = text.parse()?;
                let value = norm(&dense.evaluate(&expression, given)?);
                // Operators that vanish but for rounding, as τ̄ of a free joint does, are differences of larger ones.
                match &text[..] {
                    "P_plus" | "(P - G D G^*)" => Part::Atom("P".to_owned()).bound(dense, given)?,
                    _ if expression.is_vector() => value,
                    _ => value.max(1.0),
                }
            }
            Part::Product(parts) => {
                let mut product = 1.0;
                for part in parts {
                    product *= part.bound(dense, given)?;
                }
                product
            }
            Part::Sum(terms) => {
                let mut sum = 0.0;
                for (scale, part) in terms {
                    sum += scale.abs() * part.bound(dense, given)?;
                }
                sum
            }
        })
    }
}

/// Frobenius.
pub fn norm(x: &Matrix) -> f64 {
    x.data.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Where a random expression may lead.
pub const RANGES: [Space; 5] = [Joint, Motion, Force, Tip, Number];
