//! Expressions as users hold them.

use super::algorithm::Algorithm;
use super::notation::Notation;
use super::space::{Direction, Space};
use super::sum::Sum;
use super::fault::Fault;
use super::parse::Star;
use super::{infer, parse};
use crate::{Error, Result};
use core::fmt;
use core::str::FromStr;

/// An expression of the spatial operator algebra, read and checked: an operator, or a vector.
///
/// ```
/// use linkwork::algebra::{Expression, Space};
/// let jacobian: Expression = "B^* phi^* H^*".parse()?;
/// assert_eq!((jacobian.range(), jacobian.domain()), (Space::Tip, Space::Joint));
/// let wrong = "phi H".parse::<Expression>().unwrap_err().to_string();
/// assert!(wrong.contains("`phi` takes link space (6N, forces), but `H` gives joint space (n)"));
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Expression {
    pub(crate) text: String,
    pub(crate) sum: Sum,
}

impl FromStr for Expression {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let sum = read(text).map_err(|fault| fault.of(text))?;
        Ok(Self {
            text: text.trim().to_owned(),
            sum,
        })
    }
}

/// Reads an expression. A star that touches what stands on both sides of it is the adjoint or a product, whichever fits.
fn read(text: &str) -> core::result::Result<Sum, Fault> {
    let with = |star| parse::parse(text, star).and_then(|ast| infer::typed(&ast));
    let Some(star) = parse::ambiguous(text) else {
        return with(Star::Product);
    };
    match (with(Star::Adjoint), with(Star::Product)) {
        (Ok(adjoint), Ok(product)) if adjoint == product => Ok(product),
        (Ok(_), Ok(_)) => {
            let problem = "this star can be an adjoint or a product, and both make sense";
            let hint = "write ^* or ' for the adjoint, and spaces around the star of a product";
            Err(Fault::at(star, problem, hint))
        }
        (Ok(sum), Err(_)) | (Err(_), Ok(sum)) => Ok(sum),
        (Err(_), Err(fault)) => Err(fault),
    }
}

impl Expression {
    pub(crate) fn of(sum: Sum) -> Self {
        Self {
            text: sum.written(Notation::Ascii),
            sum,
        }
    }

    /// What it leads to.
    pub fn range(&self) -> Space {
        self.sum.range
    }

    /// What it leads from; a vector leads from [`Space::Number`].
    pub fn domain(&self) -> Space {
        self.sum.domain
    }

    /// Whether it is a vector rather than an operator.
    pub fn is_vector(&self) -> bool {
        self.sum.is_vector()
    }

    /// The frames that it names, as in `J[left]`, in order of appearance.
    pub fn frames(&self) -> Vec<String> {
        self.sum.frames().iter().map(ToString::to_string).collect()
    }

    /// Which way it looks along the mechanism.
    pub fn direction(&self) -> Direction {
        self.sum.direction()
    }

    /// The names of its vectors and their spaces, in order of appearance.
    pub fn vectors(&self) -> Vec<(String, Space)> {
        let found = self.sum.vectors().into_iter();
        found.map(|v| (v.name.to_string(), v.space)).collect()
    }

    /// It in normal form, in some notation.
    pub fn written(&self, notation: Notation) -> String {
        self.sum.written(notation)
    }

    /// Rewrites it and schedules its sweeps, for a mechanism with or without rotors. Vectors that a state could give
    /// (`qd`, `V`, `a`, `b`, `C`, `g`) are computed from q̇ unless they are among `given`.
    pub fn compile(&self, rotors: bool, given: &[&str]) -> Algorithm {
        Algorithm::new(self, rotors, given)
    }
}

/// Two expressions are the same if they have the same normal form.
impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.sum == other.sum
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
