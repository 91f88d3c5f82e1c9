//! Expressions as users hold them.

use super::algorithm::Algorithm;
use super::fault::Fault;
use super::notation::Notation;
use super::parse::Star;
use super::space::{Direction, Space};
use super::sum::Sum;
use super::{infer, parse, script};
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
    /// The first result, or the only one.
    pub(crate) sum: Sum,
    /// The others.
    pub(crate) more: Vec<Sum>,
    /// Names of the results, where they have any.
    pub(crate) names: Vec<Option<String>>,
}

impl FromStr for Expression {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let read = read(text).map_err(|fault| fault.of(text))?;
        let (names, mut sums): (Vec<_>, Vec<_>) = read.into_iter().unzip();
        let sum = sums.remove(0);
        Ok(Self {
            text: text.trim().to_owned(),
            sum,
            more: sums,
            names,
        })
    }
}

/// Reads an expression. A star that touches what stands on both sides of it is the adjoint or a product, whichever fits.
fn read(text: &str) -> core::result::Result<Vec<(Option<String>, Sum)>, Fault> {
    by_either_star(text, |star| {
        let statements = script::read(text, star)?;
        let parts: Vec<_> = statements.iter().map(|s| &s.ast).collect();
        let sums = infer::typed(&parts)?;
        Ok(statements.into_iter().map(|s| s.name).zip(sums).collect())
    })
}

/// Both sides of an equation, in the same spaces.
pub(crate) fn equation(text: &str) -> Result<[Expression; 2]> {
    let sides = by_either_star(text, |star| {
        let [left, right] = script::equation(text, star)?;
        infer::equation(&left, &right)
    });
    Ok(sides.map_err(|fault| fault.of(text))?.map(Expression::of))
}

/// What a text means with its stars as adjoints or as products, whichever fits.
fn by_either_star<T: PartialEq>(
    text: &str,
    with: impl Fn(Star) -> core::result::Result<T, Fault>,
) -> core::result::Result<T, Fault> {
    let Some(star) = parse::ambiguous(text) else {
        return with(Star::Product);
    };
    match (with(Star::Adjoint), with(Star::Product)) {
        (Ok(adjoint), Ok(product)) if adjoint == product => Ok(product),
        // In the papers' letters a star is an adjoint.
        (Ok(adjoint), Ok(_)) if !text.is_ascii() => Ok(adjoint),
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
            more: Vec::new(),
            names: vec![None],
        }
    }

    /// What it leads to.
    pub fn range(&self) -> Space {
        self.sum.range
    }

    /// Every result with its name and space: one without a name, or the several of `q̈, λ = …, …`. The numbers of several
    /// follow each other.
    ///
    /// ```
    /// use linkwork::algebra::{Expression, Space};
    /// let both: Expression = "let s = T - C; p = s^* qd; qdd = inv(Mass) s".parse()?;
    /// let names: Vec<_> = both.results().into_iter().map(|(name, space)| (name.unwrap_or_default(), space)).collect();
    /// assert_eq!(names, [("p".to_owned(), Space::Number), ("qdd".to_owned(), Space::Joint)]);
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn results(&self) -> Vec<(Option<String>, Space)> {
        let ranges = self.sums().map(|sum| sum.range);
        self.names.iter().cloned().zip(ranges).collect()
    }

    pub(crate) fn sums(&self) -> impl Iterator<Item = &Sum> {
        core::iter::once(&self.sum).chain(&self.more)
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
        let mut found: Vec<String> = Vec::new();
        for name in self.sums().flat_map(Sum::frames) {
            if !found.iter().any(|f| **f == *name) {
                found.push(name.to_string());
            }
        }
        found
    }

    /// Which way it looks along the mechanism.
    pub fn direction(&self) -> Direction {
        self.sum.direction()
    }

    /// The names of its vectors and their spaces, in order of appearance.
    pub fn vectors(&self) -> Vec<(String, Space)> {
        let mut found = Vec::new();
        for v in self.sums().flat_map(Sum::vectors) {
            let v = (v.name.to_string(), v.space);
            if !found.contains(&v) {
                found.push(v);
            }
        }
        found
    }

    /// It in normal form, in some notation.
    pub fn written(&self, notation: Notation) -> String {
        let named = |(name, sum): (&Option<String>, &Sum)| match name {
            Some(name) => format!(
                "{} = {}",
                super::notation::vector(name, notation),
                sum.written(notation)
            ),
            None => sum.written(notation),
        };
        let each: Vec<String> = self.names.iter().zip(self.sums()).map(named).collect();
        each.join("; ")
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
        self.sum == other.sum && self.more == other.more
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
