//! Second derivatives of the dynamics: linearized dynamics along a direction.

use super::{Configured, Derivatives, Linearized, Moving, Posed, Workspace, check_length, check_six};
use crate::Result;
use crate::model::{FrameId, Mechanism};
use crate::scalar::{Dual, Scalar};
use crate::spatial::{Force, Pose, Reference, Rotation, Vec3};

/// All memory for second derivatives of a mechanism's dynamics, allocated once: how what [`Linearized`] says changes along a
/// direction.
///
/// Every view takes a part of the point and, beside it, the same part of the direction (δq, δq̇ and δq̈ or δT). The rate of a
/// transposed product is a Hessian times the direction, ∇²(y·T)d or ∇²(y·q̈)d, in O(n). Functions that couplings are given
/// as must tell four derivatives.
///
/// ```
/// let arm = linkwork::model::examples::arm7();
/// let mut second = arm.second_order();
/// let (q, qd, tau, still, y) = ([0.3; 7], [0.1; 7], [1.0; 7], [0.0; 7], [1.0; 7]);
/// let (mut qdd, mut dqdd, mut product, mut hessian) = ([0.0; 7], [0.0; 7], [0.0; 21], [[0.0; 7]; 7]);
/// for j in 0..7 {
///     let mut dq = still;
///     dq[j] = 1.0;
///     let mut posed = second.at(&q, &dq)?;
///     let mut moving = posed.moving(&qd, &still)?;
///     let mut linearized = moving.linearized_under(&tau, &still, &mut qdd, &mut dqdd)?;
///     linearized.acceleration_adjoint(&y, &mut product)?;
///     hessian[j].copy_from_slice(&product[..7]);                 // ∂²(y·q̈)/∂q∂q[j]
/// }
/// assert!((hessian[1][3] - hessian[3][1]).abs() < 1e-9 * (1.0 + hessian[1][3].abs()));
/// # Ok::<(), linkwork::Error>(())
/// ```
///
/// # Joints that turn about several axes
///
/// Derivatives by q are those by steps in the tangent space. At q ⊕ εδq that is the one there: what is given is the rate of
/// derivatives gᵢ of a function f, each along eᵢ in the axes that the joints have moved on to, so that Hᵢⱼ =
/// ∂²/∂s∂t f((q ⊕ s eⱼ) ⊕ t eᵢ). Where steps of each joint commute, which is so for all but planar, spherical and free
/// joints, H is symmetric. Else it is not: Hᵢⱼ − Hⱼᵢ = Σ gₖ [eⱼ, eᵢ]ₖ, with the bracket [a, b] = crm(a)b of the joint's
/// motions. ½(H + H\*) is the Hessian of u ↦ f(q ⊕ u) at u = 0, which Newton's steps on the manifold need.
#[derive(Clone, Debug)]
pub struct SecondOrder<S: 'static = f64> {
    workspace: Workspace<Dual<S>>,
    room: Room<S>,
}

/// Arguments and results with their rates.
#[derive(Clone, Debug)]
struct Room<S> {
    start: Vec<Dual<S>>,
    q: Vec<Dual<S>>,
    one: Vec<Dual<S>>,
    three: Vec<Dual<S>>,
}

/// A view of a state and a direction; see [`SecondOrder`].
#[derive(Debug)]
pub struct Along<'a, V, S: 'static = f64> {
    view: V,
    room: &'a mut Room<S>,
}

/// Rates of three matrices along a direction, each nv × nv and row by row, in memory of their own.
#[derive(Clone, Debug)]
pub struct DerivativeRates<S = f64> {
    varying: Derivatives<Dual<S>>,
    rates: Vec<S>,
}

// Compiled where they are used: programs that need no second derivatives do not wait for them.
impl Mechanism {
    /// Memory for second derivatives of the dynamics.
    #[inline]
    pub fn second_order(&self) -> SecondOrder {
        self.second_order_of()
    }

    /// The same with another scalar.
    pub fn second_order_of<S: Scalar>(&self) -> SecondOrder<S> {
        let (nq, nv) = (self.nq(), self.nv());
        SecondOrder {
            workspace: self.workspace_of(),
            room: Room {
                start: vec![Dual::ZERO; nq],
                q: vec![Dual::ZERO; nq],
                one: vec![Dual::ZERO; nv],
                three: vec![Dual::ZERO; 3 * nv],
            },
        }
    }

    /// Memory for rates of derivatives of the dynamics.
    #[inline]
    pub fn derivative_rates(&self) -> DerivativeRates {
        self.derivative_rates_of()
    }

    /// The same with another scalar.
    pub fn derivative_rates_of<S: Scalar>(&self) -> DerivativeRates<S> {
        DerivativeRates {
            varying: self.derivatives_of(),
            rates: vec![S::ZERO; 3 * self.nv() * self.nv()],
        }
    }
}

impl<S: Scalar> SecondOrder<S> {
    /// The mechanism it belongs to.
    pub fn mechanism(&self) -> &Mechanism {
        self.workspace.mechanism()
    }

    /// Sets the configuration, and its direction in the tangent space.
    pub fn at(&mut self, q: &[S], dq: &[S]) -> Result<Along<'_, Posed<'_, Dual<S>>, S>> {
        let (mechanism, room) = (self.workspace.mechanism(), &mut self.room);
        mechanism.check_configuration("q", q)?;
        mechanism.check_vector("dq", dq)?;
        hold(q, &mut room.start);
        for (step, dq) in room.one.iter_mut().zip(dq) {
            *step = Dual::new(S::ZERO, *dq);
        }
        mechanism.integrate_unchecked(&room.start, &room.one, &mut room.q);
        let view = self.workspace.at(&room.q)?;
        Ok(Along { view, room })
    }
}

impl<S: Scalar> Along<'_, Posed<'_, Dual<S>>, S> {
    /// Adds an external force on a frame's link, as [`apply_force`](super::Configured::apply_force) does. It keeps to the link, along the
    /// direction too: what `reference` says of it is true at the point.
    pub fn apply_force(&mut self, frame: impl Into<FrameId>, reference: Reference, force: Force<S>) -> Result<()> {
        push(&mut self.view, frame.into(), reference, force)
    }

    /// The forces that act in a view of the same configuration act here too, and keep to their links.
    pub(crate) fn take_forces(&mut self, from: &Configured<'_, S>) {
        let (from, stages) = (&*from.view.stages, &mut *self.view.view.stages);
        for (to, force) in stages.loads.iter_mut().zip(&from.loads) {
            let force = force.to_array();
            *to = Force::from_array(core::array::from_fn(|i| Dual::constant(force[i])));
        }
        stages.loaded = from.loaded;
    }

    /// Sets the velocity and its direction.
    pub fn moving(&mut self, qd: &[S], dqd: &[S]) -> Result<Along<'_, Moving<'_, Dual<S>>, S>> {
        vary(self.view.mechanism(), ["qd", "dqd"], [qd, dqd], &mut self.room.one)?;
        let view = self.view.moving(&self.room.one)?;
        let room = &mut *self.room;
        Ok(Along { view, room })
    }
}

impl<S: Scalar> Along<'_, Moving<'_, Dual<S>>, S> {
    /// Adds an external force on a frame's link that keeps to it, as before the velocity was set.
    pub fn apply_force(&mut self, frame: impl Into<FrameId>, reference: Reference, force: Force<S>) -> Result<()> {
        push(&mut self.view, frame.into(), reference, force)
    }

    /// Linearizes about accelerations q̈, with their direction.
    pub fn linearized(&mut self, qdd: &[S], dqdd: &[S]) -> Result<Along<'_, Linearized<'_, Dual<S>>, S>> {
        vary(self.view.mechanism(), ["qdd", "dqdd"], [qdd, dqdd], &mut self.room.one)?;
        let view = self.view.linearized(&self.room.one)?;
        let room = &mut *self.room;
        Ok(Along { view, room })
    }

    /// Linearizes about the accelerations that given torques cause, with the torques' direction; the accelerations and how
    /// they change along it are written to `qdd` and `dqdd`.
    pub fn linearized_under(
        &mut self,
        tau: &[S],
        dtau: &[S],
        qdd: &mut [S],
        dqdd: &mut [S],
    ) -> Result<Along<'_, Linearized<'_, Dual<S>>, S>> {
        let (nv, room) = (self.view.mechanism().nv(), &mut *self.room);
        vary(self.view.mechanism(), ["tau", "dtau"], [tau, dtau], &mut room.one)?;
        check_length("qdd", qdd.len(), nv)?;
        check_length("dqdd", dqdd.len(), nv)?;
        let found = &mut room.three[..nv];
        let view = self.view.linearized_under(&room.one, found)?;
        for (i, x) in found.iter().enumerate() {
            (qdd[i], dqdd[i]) = (x.value, x.derivative);
        }
        Ok(Along { view, room })
    }
}

impl<S: Scalar> Along<'_, Linearized<'_, Dual<S>>, S> {
    /// δ²T in O(n): the rate along the direction of [`Linearized::torque_change`], which is the second derivative of T along
    /// the direction and along a change that stays what it is.
    ///
    /// `change` is δq, δq̇ and δq̈ one after another, 3 nv numbers.
    pub fn torque_change(&mut self, change: &[S], out: &mut [S]) -> Result<()> {
        self.room.take_in_change(change, out)?;
        self.view.torque_change(&self.room.three, &mut self.room.one)?;
        give_rates(&self.room.one, out);
        Ok(())
    }

    /// δ²q̈ in O(n): the rate along the direction of [`Linearized::acceleration_change`]. The direction is (δq, δq̇, δT) as in
    /// [`acceleration_adjoint`](Along::acceleration_adjoint).
    ///
    /// `change` is δq, δq̇ and δT one after another, 3 nv numbers.
    pub fn acceleration_change(&mut self, change: &[S], out: &mut [S]) -> Result<()> {
        self.room.take_in_change(change, out)?;
        self.view.acceleration_change(&self.room.three, &mut self.room.one)?;
        give_rates(&self.room.one, out);
        Ok(())
    }

    /// ∇²(y·T)d in O(n): the rates along d = (δq, δq̇, δq̈) of (∂T/∂q)\*y, (∂T/∂q̇)\*y and 𝓜y, one after another.
    pub fn torque_adjoint(&mut self, y: &[S], out: &mut [S]) -> Result<()> {
        self.room.take_in(y, out)?;
        self.view.torque_adjoint(&self.room.one, &mut self.room.three)?;
        give_rates(&self.room.three, out);
        Ok(())
    }

    /// ∇²(y·q̈)d in O(n): the rates along d = (δq, δq̇, δT) of (∂q̈/∂q)\*y, (∂q̈/∂q̇)\*y and 𝓜⁻¹y, one after another. In a
    /// view about accelerations, from [`linearized`](Along::linearized), δT is the change of torques that causes δq̈.
    pub fn acceleration_adjoint(&mut self, y: &[S], out: &mut [S]) -> Result<()> {
        self.room.take_in(y, out)?;
        self.view.acceleration_adjoint(&self.room.one, &mut self.room.three)?;
        give_rates(&self.room.three, out);
        Ok(())
    }

    /// The rates of ∂T/∂q, ∂T/∂q̇ and 𝓜.
    pub fn inverse_derivatives(&mut self, out: &mut DerivativeRates<S>) -> Result<()> {
        self.view.inverse_derivatives(&mut out.varying)?;
        out.take_rates();
        Ok(())
    }

    /// The rates of ∂q̈/∂q, ∂q̈/∂q̇ and 𝓜⁻¹.
    pub fn forward_derivatives(&mut self, out: &mut DerivativeRates<S>) -> Result<()> {
        self.view.forward_derivatives(&mut out.varying)?;
        out.take_rates();
        Ok(())
    }
}

/// Adds a force that does not vary in the axes that its frame has at the point.
fn push<S: Scalar>(
    view: &mut Configured<'_, Dual<S>>,
    frame: FrameId,
    reference: Reference,
    force: Force<S>,
) -> Result<()> {
    check_six("force", force.to_array())?;
    let own = match reference {
        Reference::Local => force,
        Reference::Aligned | Reference::World => seen_from(view.pose(frame)?, reference, force),
    };
    let own = own.to_array();
    let kept = Force::from_array(core::array::from_fn(|i| Dual::constant(own[i])));
    view.apply_force(frame, Reference::Local, kept)
}

/// A force along the world's axes in those that a frame has at the point.
fn seen_from<S: Scalar>(pose: Pose<Dual<S>>, reference: Reference, f: Force<S>) -> Force<S> {
    let still = |v: Vec3<Dual<S>>| Vec3::new(v.x.value, v.y.value, v.z.value);
    let axes = Rotation {
        x: still(pose.rotation.x),
        y: still(pose.rotation.y),
        z: still(pose.rotation.z),
    };
    let moment = match reference {
        Reference::World => f.moment - still(pose.translation).cross(f.force),
        Reference::Aligned | Reference::Local => f.moment,
    };
    Force::new(axes.inverse_mul(moment), axes.inverse_mul(f.force))
}

impl<S: Scalar> Room<S> {
    /// Takes in what does not vary, if there is room for an answer.
    fn take_in(&mut self, y: &[S], out: &[S]) -> Result<()> {
        check_length("y", y.len(), self.one.len())?;
        check_length("out", out.len(), self.three.len())?;
        hold(y, &mut self.one);
        Ok(())
    }

    /// The same for a change of everything.
    fn take_in_change(&mut self, change: &[S], out: &[S]) -> Result<()> {
        check_length("change", change.len(), self.three.len())?;
        check_length("out", out.len(), self.one.len())?;
        hold(change, &mut self.three);
        Ok(())
    }
}

impl<S: Scalar> DerivativeRates<S> {
    /// Of ∂T/∂q or ∂q̈/∂q.
    pub fn by_q(&self) -> &[S] {
        &self.rates[..self.rates.len() / 3]
    }

    /// Of ∂T/∂q̇ or ∂q̈/∂q̇.
    pub fn by_qd(&self) -> &[S] {
        &self.rates[self.rates.len() / 3..self.rates.len() / 3 * 2]
    }

    /// Of 𝓜 = ∂T/∂q̈ or 𝓜⁻¹ = ∂q̈/∂T.
    pub fn by_input(&self) -> &[S] {
        &self.rates[self.rates.len() / 3 * 2..]
    }

    fn take_rates(&mut self) {
        let [q, qd, input] = [self.varying.by_q(), self.varying.by_qd(), self.varying.by_input()];
        for (rate, x) in self.rates.iter_mut().zip(q.iter().chain(qd).chain(input)) {
            *rate = x.derivative;
        }
    }
}

fn give_rates<S: Scalar>(x: &[Dual<S>], out: &mut [S]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out = x.derivative;
    }
}

/// x, which does not vary.
fn hold<S: Scalar>(x: &[S], out: &mut [Dual<S>]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out = Dual::constant(*x);
    }
}

/// x + ε dx of each degree of freedom.
fn vary<S: Scalar>(
    mechanism: &Mechanism,
    names: [&'static str; 2],
    [x, dx]: [&[S]; 2],
    out: &mut [Dual<S>],
) -> Result<()> {
    mechanism.check_vector(names[0], x)?;
    mechanism.check_vector(names[1], dx)?;
    for (out, (x, dx)) in out.iter_mut().zip(x.iter().zip(dx)) {
        *out = Dual::new(*x, *dx);
    }
    Ok(())
}
