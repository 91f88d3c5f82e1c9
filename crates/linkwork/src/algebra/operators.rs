//! Operators as values, bound to a state.

use super::evaluator::Evaluator;
use super::expression::Expression;
use super::graph::OPERAND;
use super::op::Op;
use super::space::{Direction, ForceSpace, JointSpace, MotionSpace, TipSpace, Typed};
use super::sum::{Factor, Sum};
use crate::model::{FrameId, Mechanism};
use crate::scalar::Scalar;
use crate::spatial::Reference;
use crate::workspace::Configured;
use crate::{Error, Result};
use core::cell::RefCell;
use core::marker::PhantomData;
use core::ops::{Add, Mul, Neg, Sub};

/// The operators of a mechanism at a configuration, with their stages computed.
///
/// ```
/// let arm = linkwork::model::examples::puma560();
/// let mut workspace = arm.workspace();
/// let mut posed = workspace.at(&[0.1; 6])?;
/// let of = posed.operators(&[])?;
/// let mass = of.h() * of.phi() * of.m() * of.phi().adjoint() * of.h().adjoint(); // without rotors
/// let mut y = [0.0; 6];
/// mass.apply(&[1.0; 6], &mut y)?;
/// assert_eq!(mass.sizes()?, (6, 6));
/// # Ok::<(), linkwork::Error>(())
/// ```
pub struct Operators<'p, 'w, S: 'static = f64> {
    view: RefCell<&'p mut Configured<'w, S>>,
    mechanism: &'w Mechanism,
    frames: Vec<(FrameId, Reference)>,
}

/// What operators need of a state.
trait State<S: Scalar> {
    fn evaluate(&self, run: &mut Evaluator<S>, x: &[S], out: &mut [S]) -> Result<()>;
    fn matrix(&self, run: &mut Evaluator<S>, out: &mut [S]) -> Result<()>;
    fn evaluator(&self, expression: &Expression) -> Result<Evaluator<S>>;
}

impl<S: Scalar> State<S> for Operators<'_, '_, S> {
    fn evaluate(&self, run: &mut Evaluator<S>, x: &[S], out: &mut [S]) -> Result<()> {
        run.run(&mut self.view.borrow_mut(), false, &[(OPERAND, x)], out)
    }

    fn matrix(&self, run: &mut Evaluator<S>, out: &mut [S]) -> Result<()> {
        run.matrix(&mut self.view.borrow_mut(), false, &[], out)
    }

    fn evaluator(&self, expression: &Expression) -> Result<Evaluator<S>> {
        Evaluator::new(expression, self.mechanism, &self.frames, &[])
    }
}

impl<'w, S: Scalar> Configured<'w, S> {
    /// The operators at this configuration, as values that can be multiplied, added, transposed and applied. Tip space is
    /// made of `frames`.
    ///
    /// ```
    /// let arm = linkwork::model::examples::puma560();
    /// let mut workspace = arm.workspace();
    /// let mut posed = workspace.at(&[0.1; 6])?;
    /// let of = posed.operators(&[])?;
    /// // 𝓜 = (I + HφK) D (I + HφK)*, one sweep per factor, no matrix.
    /// let factor = of.identity() + of.h() * of.phi() * of.k();
    /// let mass = &factor * of.d() * factor.adjoint();
    /// let (mut x, mut y) = ([0.0; 6], [0.0; 6]);
    /// mass.apply(&[1.0; 6], &mut x)?;
    /// of.mass().apply(&[1.0; 6], &mut y)?;
    /// assert!(x.iter().zip(y).all(|(x, y)| (x - y).abs() < 1e-12));
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    ///
    /// Products that do not fit do not compile:
    ///
    /// ```compile_fail
    /// let arm = linkwork::model::examples::puma560();
    /// let mut workspace = arm.workspace();
    /// let mut posed = workspace.at(&[0.1; 6]).unwrap();
    /// let of = posed.operators(&[]).unwrap();
    /// let wrong = of.phi() * of.h(); // H gives joint space, φ takes forces
    /// ```
    pub fn operators(&mut self, frames: &[(FrameId, Reference)]) -> Result<Operators<'_, 'w, S>> {
        for &(frame, _) in frames {
            self.mechanism().own_frame(frame)?;
        }
        self.articulate()?;
        Ok(Operators {
            mechanism: self.mechanism(),
            view: RefCell::new(self),
            frames: frames.to_vec(),
        })
    }
}

impl<S> core::fmt::Debug for Operators<'_, '_, S> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mechanism = &self.mechanism.name();
        f.debug_struct("Operators")
            .field("mechanism", mechanism)
            .finish_non_exhaustive()
    }
}

/// A linear operator on the stages of a state, from space `D` to space `R`; nothing is formed until it is applied, and
/// no matrix then.
pub struct Operator<'a, R, D, S: 'static = f64> {
    state: &'a dyn State<S>,
    sum: Sum,
    ready: RefCell<Option<Evaluator<S>>>,
    spaces: PhantomData<(R, D)>,
}

macro_rules! named {
    ($($(#[$doc:meta])* $name:ident: $op:ident, $range:ident from $domain:ident;)*) => {
        impl<S: Scalar> Operators<'_, '_, S> {
            $($(#[$doc])*
            pub fn $name(&self) -> Operator<'_, $range, $domain, S> {
                Operator::of(self, Sum::of(Factor::op(Op::$op)))
            })*
        }
    };
}

named! {
    /// H: what the joints feel of forces.
    h: H, JointSpace from ForceSpace;
    /// M: the links' spatial inertias.
    m: M, ForceSpace from MotionSpace;
    /// P: the articulated inertias.
    p: P, ForceSpace from MotionSpace;
    /// P⁺ = τ̄P.
    p_plus: PPlus, ForceSpace from MotionSpace;
    /// D = HPH* + rotors.
    d: D, JointSpace from JointSpace;
    /// The lower Cholesky factor of D.
    d_root: Root, JointSpace from JointSpace;
    /// G = PH*D⁻¹.
    g: G, ForceSpace from JointSpace;
    /// K = E_φG.
    k: K, ForceSpace from JointSpace;
    /// τ̄ = I − GH.
    tau_bar: TauBar, ForceSpace from ForceSpace;
    /// E_φ: forces, one link inward.
    e_phi: EPhi, ForceSpace from ForceSpace;
    /// E_ψ = E_φτ̄.
    e_psi: EPsi, ForceSpace from ForceSpace;
    /// φ = (I − E_φ)⁻¹.
    phi: Phi, ForceSpace from ForceSpace;
    /// ψ = (I − E_ψ)⁻¹.
    psi: Psi, ForceSpace from ForceSpace;
    /// 𝓜 = HφMφ*H* + rotors.
    mass: Mass, JointSpace from JointSpace;
    /// 𝓜⁻¹.
    mass_inverse: MassInv, JointSpace from JointSpace;
    /// B: forces on the frames as forces on their links.
    b: B, ForceSpace from TipSpace;
    /// J = B*φ*H*.
    jacobian: J, TipSpace from JointSpace;
    /// Υ = H*D⁻¹H + E_ψ*ΥE_ψ, block by block.
    upsilon: Upsilon, MotionSpace from ForceSpace;
    /// r = M + E_φrE_φ*, block by block: the composite bodies' inertia.
    composite: Composite, ForceSpace from MotionSpace;
    /// The rotors' inertia, diag(armature).
    rotors: Rotors, JointSpace from JointSpace;
}

impl<S: Scalar> Operators<'_, '_, S> {
    /// I of any space.
    pub fn identity<X: Typed>(&self) -> Operator<'_, X, X, S> {
        Operator::of(self, Sum::identity(X::SPACE))
    }

    /// m = (I + HφK)D^½: 𝓜 = m m*.
    pub fn mass_factor(&self) -> Operator<'_, JointSpace, JointSpace, S> {
        let of = |op| Sum::of(Factor::op(op));
        Operator::of(self, of(Op::F).times(&of(Op::Root)))
    }

    /// ℓ = m⁻¹ = D^-½(I − HψK).
    pub fn mass_factor_inverse(&self) -> Operator<'_, JointSpace, JointSpace, S> {
        let of = |op| Sum::of(Factor::op(op));
        Operator::of(self, of(Op::RootInv).times(&of(Op::N)))
    }
}

impl<'a, R: Typed, D: Typed, S: Scalar> Operator<'a, R, D, S> {
    fn of(state: &'a dyn State<S>, sum: Sum) -> Self {
        Self {
            state,
            sum,
            ready: RefCell::new(None),
            spaces: PhantomData,
        }
    }

    /// The expression that it stands for.
    pub fn expression(&self) -> Expression {
        Expression::of(self.sum.clone())
    }

    /// Which way it looks along the mechanism.
    pub fn direction(&self) -> Direction {
        self.sum.direction()
    }

    /// The adjoint.
    pub fn adjoint(&self) -> Operator<'a, D::Dual, R::Dual, S> {
        Operator::of(self.state, self.sum.adjoint())
    }

    /// The inverse, where it exists in closed form.
    pub fn inverse(&self) -> Result<Operator<'a, D, R, S>> {
        match super::laws::inverse(&self.sum, true) {
            Some(sum) => Ok(Operator::of(self.state, sum)),
            None => {
                let text = format!("inv({})", self.expression());
                let end = text.chars().count();
                Err(Error::Expression {
                    text,
                    start: 0,
                    end,
                    problem: "this has no inverse in closed form".to_owned(),
                    hint: "φ, ψ, D, D^½, 𝓜, I − HψK, I + HφK and their products have one".to_owned(),
                })
            }
        }
    }

    /// A multiple.
    pub fn scaled(&self, scale: f64) -> Self {
        Self::of(self.state, self.sum.scaled(scale))
    }

    fn with<T>(&self, work: impl FnOnce(&mut Evaluator<S>) -> Result<T>) -> Result<T> {
        let mut ready = self.ready.borrow_mut();
        let evaluator = match &mut *ready {
            Some(evaluator) => evaluator,
            none => none.insert(self.state.evaluator(&self.expression())?),
        };
        work(evaluator)
    }

    /// out = A x. The first call compiles; later ones do not allocate.
    pub fn apply(&self, x: &[S], out: &mut [S]) -> Result<()> {
        self.with(|evaluator| self.state.evaluate(evaluator, x, out))
    }

    /// out = A X for a matrix of so many columns; both row by row.
    pub fn apply_to_columns(&self, columns: usize, x: &[S], out: &mut [S]) -> Result<()> {
        let (rows, height) = self.sizes()?;
        for (argument, given, needed) in [("x", x.len(), rows * columns), ("out", out.len(), height * columns)] {
            if given != needed {
                return Err(Error::Length {
                    argument,
                    needed,
                    given,
                });
            }
        }
        let (mut from, mut to) = (vec![S::ZERO; rows], vec![S::ZERO; height]);
        for j in 0..columns {
            (0..rows).for_each(|i| from[i] = x[i * columns + j]);
            self.apply(&from, &mut to)?;
            (0..height).for_each(|i| out[i * columns + j] = to[i]);
        }
        Ok(())
    }

    /// The numbers that it takes and gives.
    pub fn sizes(&self) -> Result<(usize, usize)> {
        self.with(|evaluator| Ok((evaluator.size(D::SPACE), evaluator.size(R::SPACE))))
    }

    /// The matrix, row by row; for tests and small problems.
    pub fn to_dense(&self) -> Result<Vec<S>> {
        let (columns, rows) = self.sizes()?;
        let mut out = vec![S::ZERO; rows * columns];
        self.with(|evaluator| self.state.matrix(evaluator, &mut out))?;
        Ok(out)
    }
}

impl<X: Typed, S: Scalar> Operator<'_, X, X, S> {
    /// A power.
    pub fn power(&self, n: u32) -> Self {
        let mut sum = Sum::identity(X::SPACE);
        for _ in 0..n {
            sum = sum.times(&self.sum);
        }
        Self::of(self.state, sum)
    }
}

impl<R: Typed, D: Typed, S: Scalar> Clone for Operator<'_, R, D, S> {
    fn clone(&self) -> Self {
        Self::of(self.state, self.sum.clone())
    }
}

/// Arithmetic between values and references alike.
macro_rules! arithmetic {
    ($(($($left:tt)*) ($($right:tt)*)),*) => {$(
        impl<'a, A: Typed, B: Typed, C: Typed, S: Scalar> Mul<$($right)* Operator<'a, B, C, S>> for $($left)* Operator<'a, A, B, S> {
            type Output = Operator<'a, A, C, S>;
            fn mul(self, other: $($right)* Operator<'a, B, C, S>) -> Self::Output {
                Operator::of(self.state, self.sum.times(&other.sum))
            }
        }

        impl<'a, R: Typed, D: Typed, S: Scalar> Add<$($right)* Operator<'a, R, D, S>> for $($left)* Operator<'a, R, D, S> {
            type Output = Operator<'a, R, D, S>;
            fn add(self, other: $($right)* Operator<'a, R, D, S>) -> Self::Output {
                Operator::of(self.state, self.sum.plus(&other.sum))
            }
        }

        impl<'a, R: Typed, D: Typed, S: Scalar> Sub<$($right)* Operator<'a, R, D, S>> for $($left)* Operator<'a, R, D, S> {
            type Output = Operator<'a, R, D, S>;
            fn sub(self, other: $($right)* Operator<'a, R, D, S>) -> Self::Output {
                Operator::of(self.state, self.sum.plus(&other.sum.scaled(-1.0)))
            }
        }
    )*};
}

arithmetic!(() (), () (&), (&) (), (&) (&));

impl<'a, R: Typed, D: Typed, S: Scalar> Neg for Operator<'a, R, D, S> {
    type Output = Operator<'a, R, D, S>;
    fn neg(self) -> Self::Output {
        self.scaled(-1.0)
    }
}

impl<'a, R: Typed, D: Typed, S: Scalar> Mul<f64> for Operator<'a, R, D, S> {
    type Output = Operator<'a, R, D, S>;
    fn mul(self, scale: f64) -> Self::Output {
        self.scaled(scale)
    }
}

impl<R, D, S> core::fmt::Debug for Operator<'_, R, D, S> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Operator")
            .field("expression", &self.sum.written(super::Notation::Ascii))
            .finish_non_exhaustive()
    }
}
