//! One step in time.

use super::ball_limits::{BallStop, Turned, ball_stops};
use super::cone::{Law, Region};
use super::coulomb::{Coulomb, Passes};
use super::find_rows::{Stop, Yields, stops};
use super::free_roots::{Root, roots};
use super::loops::Loops;
use super::newton::{EXACT, Newton, Sum};
use super::operator::{Alone, Operator, now};
use super::report::StepReport;
use super::rows::check;
use super::sensors::Last;
use super::{Contact, Friction, Settings, Start};
use crate::closed::{ClosedMechanism, ConstraintTarget};
use crate::model::Mechanism;
use crate::spatial::{Force, Vec3};
use crate::workspace::{Augmented, Masses, Moving, Posed};
use crate::{Error, Result, Workspace};

/// Steps a mechanism in time, with contacts. All memory is here; what is remembered of contacts too.
///
/// ```
/// use linkwork::contact::{Contact, Settings, Stepper, Surface};
/// use linkwork::model::{FrameId, Joint, Link, Mechanism};
/// use linkwork::spatial::{Inertia, Vec3};
/// // A puck that slides to rest on the ground.
/// let puck = Mechanism::builder("puck")
///     .link(Link::new("puck", Inertia::sphere(1.0, 0.1)))
///     .joint(Joint::translation("slide").between("world", "puck"))
///     .build()?;
/// let mut stepper = Stepper::new(&puck, Settings::new(0.01))?;
/// let (mut q, mut v) = (vec![0.0; 3], vec![1.0, 0.0, 0.0]);
/// for _ in 0..100 {
///     let contact = Contact {
///         id: 0, // the same as long as the same features touch
///         a: puck.frame("puck")?,
///         b: FrameId::WORLD,
///         point: Vec3::new(q[0], q[1], q[2]),
///         normal: Vec3::new(0.0, 0.0, 1.0),
///         gap: q[2],
///         surface: Surface::with_friction(0.5),
///     };
///     stepper.step(&mut q, &mut v, &[0.0; 3], &[contact])?;
/// }
/// assert!(v[0].abs() < 1e-6, "friction has stopped it");
/// let expected = 1.0 / (2.0 * 0.5 * 9.81); // v²/2μg
/// assert!((q[0] - expected).abs() < 0.01);
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug)]
#[doc(alias = "mj_step")]
pub struct Stepper {
    pub(super) mechanism: Mechanism,
    /// Its loops, if it has some.
    pub(super) closed: Option<ClosedMechanism>,
    pub(super) workspace: Workspace,
    pub(super) augmented: Augmented,
    pub(super) work: Work,
    /// What the last step started from.
    pub(super) last: Last,
}

/// All but the workspaces.
#[derive(Clone, Debug)]
pub(super) struct Work {
    pub(super) settings: Settings,
    pub(super) roots: Vec<Root>,
    /// Forces on them from outside, in their axes.
    pub(super) loads: Vec<Force>,
    pub(super) stops: Vec<Stop>,
    /// Ball joints with limits, and those near them.
    pub(super) ball_stops: Vec<BallStop>,
    pub(super) turns: Vec<Turned>,
    /// Springs of joints with one coordinate, where they are in q and v; and whether others have some.
    pub(super) springs: Vec<[usize; 2]>,
    pub(super) curved_springs: bool,
    /// Per degree of freedom, the body it moves.
    pub(super) bodies: Vec<usize>,
    pub(super) newton: Newton,
    pub(super) coulomb: Coulomb,
    pub(super) sum: Sum,
    /// Where each contact's point is, if it has one.
    pub(super) places: Vec<Option<usize>>,
    pub(super) loops: Loops,
    pub(super) memory: Vec<Held>,
    pub(super) order: Vec<usize>,
    pub(super) yields: Yields,
    /// The torque with springs, what it falls by as velocities grow, and 𝓐₀(v* − v).
    pub(super) torque: Vec<f64>,
    pub(super) resistance: Vec<f64>,
    pub(super) drive: Vec<f64>,
    /// J_n v and J_n v* per contact.
    pub(super) closing: Vec<[f64; 2]>,
    pub(super) room: Vec<f64>,
    pub(super) next: Vec<f64>,
    /// A velocity between two.
    pub(super) middle: Vec<f64>,
    /// Whether v* is known.
    pub(super) knows_free: bool,
    /// R of contacts that are held.
    pub(super) held_compliance: Vec<[f64; 2]>,
    pub(super) report: StepReport,
}

/// What is remembered of a contact: the strain it holds, its normal impulse, and what it did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) id: u64,
    pub(super) strain: [Vec3; 2],
    pub(super) normal: f64,
    pub(super) region: Region,
}

/// Velocity terms are explicit below this angle, or way, in a step.
const SLOW: f64 = 2e-3;
/// Beyond this one they are taken at the middle twice over: once leaves (ωΔt)⁴/4 of the energy per step.
pub(super) const TURNS: f64 = 0.05;

impl Stepper {
    /// Memory for steps of a mechanism.
    pub fn new(mechanism: &Mechanism, settings: Settings) -> Result<Self> {
        settings.check()?;
        let (nv, m) = (mechanism.nv(), &mechanism.compiled);
        let mut bodies = vec![0; nv];
        for (k, body) in m.bodies.iter().enumerate() {
            for v in body.v..body.v + body.dofs {
                bodies[m.reduction.as_ref().map_or(v, |r| r.v_from[v])] = k;
            }
        }
        let mut springs = Vec::new();
        for j in 0..mechanism.joints().len() {
            let (q, v) = (mechanism.q_of(j), mechanism.v_of(j));
            if mechanism.leader_of(j).is_none()
                && (q.len(), v.len()) == (1, 1)
                && mechanism.passive.stiffness[v.start] != 0.0
            {
                springs.push([q.start, v.start]);
            }
        }
        let sprung = mechanism.passive.stiffness.iter().filter(|k| **k != 0.0).count();
        let curved_springs = sprung > springs.len();
        let work = Work {
            settings,
            loads: vec![Force::ZERO; roots(mechanism).len()],
            roots: roots(mechanism),
            stops: stops(mechanism),
            ball_stops: ball_stops(mechanism),
            turns: Vec::new(),
            springs,
            curved_springs,
            bodies,
            newton: Newton::new(nv),
            coulomb: Coulomb::default(),
            sum: Sum::default(),
            places: Vec::new(),
            loops: Loops::default(),
            memory: Vec::new(),
            order: Vec::new(),
            yields: Yields::default(),
            torque: vec![0.0; nv],
            resistance: vec![0.0; nv],
            drive: vec![0.0; nv],
            closing: Vec::new(),
            room: vec![0.0; 2 * nv.max(m.nv)],
            next: vec![0.0; mechanism.nq()],
            middle: vec![0.0; nv],
            knows_free: false,
            held_compliance: Vec::new(),
            report: StepReport {
                free_velocity: vec![0.0; nv],
                velocity: vec![0.0; nv],
                ..StepReport::default()
            },
        };
        let mut augmented = mechanism.augmented();
        augmented.0.kept.start(m.bodies.len(), m.nv);
        Ok(Self {
            workspace: mechanism.workspace(),
            mechanism: mechanism.clone(),
            closed: None,
            augmented,
            work,
            last: Last::default(),
        })
    }

    /// Memory for steps of a closed mechanism: its constraints hold in the same step as contacts, one-sided ones, prescribed motions
    /// and rows of velocities included. What they do is in [`StepReport::loops`].
    ///
    /// Loops stay closed to Δt³, without drift. Start where they are closed, as by [`ClosedMechanism::assemble`].
    pub fn closed(closed: &ClosedMechanism, settings: Settings) -> Result<Self> {
        let stepper = Self::new(closed.mechanism(), settings)?;
        Ok(Self {
            closed: Some(closed.clone()),
            ..stepper
        })
    }

    /// Switches a constraint on or off from the next step on; one that is switched on where it is open closes within some
    /// hundredths of a second.
    pub fn switch(&mut self, constraint: &str, on: bool) -> Result<()> {
        self.loops()?.switch(constraint, on)
    }

    /// Sets where a constraint holds from the next step on: see [`ClosedMechanism::prescribe`].
    pub fn prescribe(&mut self, constraint: &str, target: Option<ConstraintTarget>) -> Result<()> {
        self.loops()?.prescribe(constraint, target)
    }

    fn loops(&mut self) -> Result<&mut ClosedMechanism> {
        self.closed.as_mut().ok_or_else(|| Error::Unsolved {
            what: "a step with contact",
            problem: "the mechanism has no constraints; make the stepper by `Stepper::closed`".into(),
        })
    }

    /// Whether the gradient is followed with all digits.
    pub(super) fn is_exact(&self) -> bool {
        self.closed.is_some() || self.work.settings.tolerance < EXACT
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.work.settings
    }

    /// Other settings from the next step on.
    pub fn set(&mut self, settings: Settings) -> Result<()> {
        settings.check()?;
        self.work.settings = settings;
        Ok(())
    }

    /// What the last step did.
    pub fn report(&self) -> &StepReport {
        &self.work.report
    }

    /// R_n and R_t of contacts by their places in the list, in the place of what follows from their yields and stiffness: derivatives
    /// hold R, and so must what they are compared with. An empty list ends that.
    pub fn hold_compliance(&mut self, compliance: Vec<[f64; 2]>) {
        self.work.held_compliance = compliance;
    }

    /// Forgets how contacts were strained, as for another state.
    pub fn forget(&mut self) {
        self.work.memory.clear();
    }

    /// Advances q and v by Δt under joint torques, damping, springs, limits and dry friction of joints, and contacts given
    /// at q. What is near must be among the contacts: each one that might close within the step.
    pub fn step(&mut self, q: &mut [f64], v: &mut [f64], torque: &[f64], contacts: &[Contact]) -> Result<&StepReport> {
        self.mechanism.check_vector("torque", torque)?;
        self.step_driven(q, v, contacts, |_, tau| {
            tau.copy_from_slice(torque);
            Ok(())
        })
    }

    /// The same with torques, and pushes on links, by something that sees the mechanism at the state.
    pub fn step_driven(
        &mut self,
        q: &mut [f64],
        v: &mut [f64],
        contacts: &[Contact],
        drive: impl FnOnce(&mut Moving<'_>, &mut [f64]) -> Result<()>,
    ) -> Result<&StepReport> {
        self.step_finding(q, v, |_, _, _| Ok(contacts), |moving, tau, _| drive(moving, tau))
    }

    /// The same with contacts that are found at the state, `find` being given the mechanism at q, q, and v; and with torques
    /// that fall as velocities grow, T − R(v⁺ − v), R being a number of zero or more for each degree of freedom: stiff servos
    /// are stable so at any step. R of single free bodies plays no part.
    pub fn step_finding<'c>(
        &mut self,
        q: &mut [f64],
        v: &mut [f64],
        find: impl FnOnce(&mut Posed<'_>, &[f64], &[f64]) -> Result<&'c [Contact]>,
        drive: impl FnOnce(&mut Moving<'_>, &mut [f64], &mut [f64]) -> Result<()>,
    ) -> Result<&StepReport> {
        self.solve_driven(q, v, find, drive)?;
        self.advance(q, v)
    }

    /// To the end of a step whose velocity is known.
    pub(super) fn advance(&mut self, q: &mut [f64], v: &mut [f64]) -> Result<&StepReport> {
        let work = &mut self.work;
        let dt = work.settings.step;
        v.copy_from_slice(&work.report.velocity);
        for (step, v) in work.room.iter_mut().zip(&*v) {
            *step = dt * v;
        }
        self.mechanism.integrate(q, &work.room[..v.len()], &mut work.next)?;
        for root in &work.roots {
            root.advance(q, v, dt, &mut work.next);
        }
        q.copy_from_slice(&work.next);
        Ok(&work.report)
    }

    /// v⁺ for a state and contacts, which stay as they are: it is in [`StepReport::velocity`]. What is remembered of contacts does
    /// change.
    pub fn solve(&mut self, q: &[f64], v: &[f64], torque: &[f64], contacts: &[Contact]) -> Result<&StepReport> {
        self.mechanism.check_vector("torque", torque)?;
        self.solve_driven(
            q,
            v,
            |_, _, _| Ok(contacts),
            |_, tau, _| {
                tau.copy_from_slice(torque);
                Ok(())
            },
        )
    }

    fn solve_driven<'c>(
        &mut self,
        q: &[f64],
        v: &[f64],
        find: impl FnOnce(&mut Posed<'_>, &[f64], &[f64]) -> Result<&'c [Contact]>,
        drive: impl FnOnce(&mut Moving<'_>, &mut [f64], &mut [f64]) -> Result<()>,
    ) -> Result<&StepReport> {
        self.mechanism.check_vector("v", v)?;
        let mut posed = self.workspace.at(q)?;
        let contacts = find(&mut posed, q, v)?;
        check(&self.mechanism, contacts, &mut self.work.order)?;
        let (m, work) = (&self.mechanism, &mut self.work);
        work.torque.fill(0.0);
        work.resistance.fill(0.0);
        drive(&mut posed.moving(v)?, &mut work.torque, &mut work.resistance)?;
        m.check_vector("torque", &work.torque)?;
        m.check_vector("resistance", &work.resistance)?;
        let last = &mut self.last;
        last.q.clear();
        last.q.extend_from_slice(q);
        last.v.clear();
        last.v.extend_from_slice(v);
        last.loads.clear();
        last.loads.extend_from_slice(posed.loads());
        for (load, root) in work.loads.iter_mut().zip(&work.roots) {
            *load = posed.load(root.body);
        }
        let given = State {
            m,
            closed: self.closed.as_ref(),
            q,
            v,
        };
        let mut alone = Alone {
            posed: &mut posed,
            memory: &mut self.augmented,
        };
        now(work.solve(&given, &mut alone, contacts))?;
        Ok(&work.report)
    }
}

/// What a step starts from.
#[derive(Clone, Copy)]
pub(super) struct State<'a> {
    pub(super) m: &'a Mechanism,
    pub(super) closed: Option<&'a ClosedMechanism>,
    pub(super) q: &'a [f64],
    pub(super) v: &'a [f64],
}

impl Work {
    pub(super) async fn solve(&mut self, given: &State<'_>, a: &mut impl Operator, contacts: &[Contact]) -> Result<()> {
        self.passive(given)?;
        self.resist(given);
        self.find_points(given, a, contacts).await?;
        self.find_lines(given, a).await?;
        if !self.ball_stops.is_empty() {
            let Some((mut posed, memory)) = a.alone() else {
                unreachable!("ball joints with limits are stepped alone");
            };
            self.find_turns(given, &mut posed, memory)?;
        }
        if let Some(closed) = given.closed {
            let Some((mut posed, memory)) = a.alone() else {
                unreachable!("loops are stepped alone");
            };
            self.find_loops(closed, given, &mut posed, memory)?;
        }
        if !self.all_alone() {
            self.drive(given, given.v, a).await?;
        }
        let bouncing = self.sum.points.iter().any(|p| p.given.surface.restitution > 0.0);
        let bare = self.sum.is_empty();
        let fast = self.settings.gyroscopic && self.is_fast(given);
        // Where Newton's method starts at v, and nothing asks for v*, it is not computed.
        self.knows_free = bare || bouncing || fast || self.all_alone() || self.settings.start == Start::Free;
        if !bare {
            self.set_scale(given, a).await?;
        }
        a.begin()?;
        if self.newton.diagonal.iter().any(|x| *x != 0.0) {
            a.set_diagonal(&self.newton.diagonal);
        }
        self.free_velocity(given, a).await?;
        if fast {
            self.turn_implicitly(given, a).await?;
        }
        if bare {
            self.newton.rest_free();
            self.keep();
            self.tell(Passes::none(), 0, 0.0, contacts);
            return self.check_finite();
        }
        let mut energies = [0.0; 2];
        if bouncing {
            self.measure_closing(given, a).await;
            let v_star = core::mem::take(&mut self.newton.v_star);
            energies = [self.kinetic(a, given.v).await, self.kinetic(a, &v_star).await];
            self.newton.v_star = v_star;
        }
        (self.newton.iterations, self.newton.evaluations) = (0, 0);
        let (mut share, mut guarded) = (1.0, 0);
        let passes = loop {
            if bouncing {
                self.bounce(share);
            }
            let passes = self.run(given, a).await?;
            if !bouncing || share == 0.0 {
                break passes;
            }
            let v = core::mem::take(&mut self.newton.v);
            let energy = self.kinetic(a, &v).await;
            self.newton.v = v;
            if energy <= energies[0].max(energies[1]) * (1.0 + 1e-9) {
                break passes;
            }
            guarded += 1;
            share = if guarded < 6 { 0.7 * share } else { 0.0 };
        };
        self.keep();
        let pulled = self.pulled(a).await;
        self.tell(passes, guarded, pulled, contacts);
        self.check_finite()
    }

    /// ½(v − v*)*𝓐₀(v − v*), where v* is known.
    async fn pulled(&mut self, a: &mut impl Operator) -> f64 {
        if !self.knows_free {
            return 0.0;
        }
        let Self { newton, sum, room, .. } = self;
        a.clear_forces();
        {
            let mut forces = a.forces();
            for point in &sum.points {
                point.push(&point.gamma, &mut forces);
            }
            for tie in &sum.loops {
                tie.arms.push(tie.count, &tie.gamma, &mut forces);
            }
        }
        let n = newton.v.len();
        a.gather(&mut room[..n]).await;
        for line in &sum.lines {
            room[line.v] += line.slope * line.gamma;
        }
        0.5 * (0..n)
            .map(|i| (newton.v[i] - newton.v_star[i]) * (newton.gradient[i] + room[i]))
            .sum::<f64>()
    }

    fn check_finite(&self) -> Result<()> {
        match self.newton.v.iter().find(|x| !x.is_finite()) {
            Some(_) => Err(Error::Unsolved {
                what: "a step with contact",
                problem:
                    "the velocity is not finite; take shorter steps, or look at the masses and the gaps of contacts"
                        .into(),
            }),
            None => Ok(()),
        }
    }

    /// From where Newton's method starts to v⁺.
    async fn run(&mut self, given: &State<'_>, a: &mut impl Operator) -> Result<Passes> {
        let newton = &mut self.newton;
        match self.settings.start {
            Start::Free => {
                newton.v.copy_from_slice(&newton.v_star);
                newton.gradient.fill(0.0);
            }
            Start::Last => {
                newton.v.copy_from_slice(given.v);
                for (gradient, drive) in newton.gradient.iter_mut().zip(&self.drive) {
                    *gradient = -drive;
                }
            }
        }
        newton.start(a, &mut self.sum, &self.settings).await;
        self.coulomb.leap(newton, a, &mut self.sum).await?;
        let slides = self.sum.points.iter().any(|p| p.cone.mu > 0.0);
        if slides && self.settings.friction == Friction::Coulomb {
            return self.coulomb.solve(newton, a, &mut self.sum, &self.settings).await;
        }
        for point in &mut self.sum.points {
            point.law = Law::Cone;
        }
        let settled = newton
            .minimize(a, &mut self.sum, &self.settings, self.settings.tolerance)
            .await?;
        Ok(Passes {
            settled,
            count: 1,
            change: 0.0,
        })
    }

    /// 𝓐₀(v* − v) = Δt(T − C̄) − (Δt damping + Δt² stiffness) v, with C̄ = C − 𝓜x at some velocity.
    pub(super) async fn drive(&mut self, given: &State<'_>, at: &[f64], a: &mut impl Operator) -> Result<()> {
        let (dt, n) = (self.settings.step, given.v.len());
        if self.roots.is_empty() {
            a.inverse_dynamics(at, None, &mut self.drive).await?;
        } else {
            let x = &mut self.room[..n];
            x.fill(0.0);
            for root in &self.roots {
                root.turn(at, -1.0, x);
            }
            a.inverse_dynamics(at, Some(x), &mut self.drive).await?;
        }
        for i in 0..n {
            let held = self.newton.diagonal[i] * given.v[i];
            self.drive[i] = dt * (self.torque[i] - self.drive[i]) - held;
        }
        Ok(())
    }

    /// Whether all that moves is single free bodies, whose v* needs no operator.
    pub(super) fn all_alone(&self) -> bool {
        self.settings.gyroscopic && 6 * self.roots.iter().filter(|root| root.alone).count() == self.drive.len()
    }

    /// Whether something other than single free bodies moves far in a step.
    pub(super) fn is_fast(&self, given: &State<'_>) -> bool {
        let fastest = given.v.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        fastest * self.settings.step >= SLOW && self.roots.iter().any(|root| !root.alone)
    }

    /// 1/D, by which gradients are measured.
    async fn set_scale(&mut self, given: &State<'_>, a: &mut impl Operator) -> Result<()> {
        let newton = &mut self.newton;
        if given.m.is_coupled() {
            let Some((mut posed, memory)) = a.alone() else {
                unreachable!("couplings are stepped alone");
            };
            let mut a = posed.augment(memory, Masses::Kept)?;
            a.factor()?;
            a.inverse_pivots(&mut newton.scale);
        } else {
            a.inverse_mass_pivots(&mut newton.scale).await;
        }
        for (scale, a) in newton.scale.iter_mut().zip(&newton.diagonal) {
            *scale /= 1.0 + *scale * a;
        }
        Ok(())
    }
}
