//! One step in time.

use super::cone::{Law, ROWS, Region};
use super::coulomb::{Coulomb, Passes};
use super::free::{Root, roots};
use super::newton::Newton;
use super::report::{Impulse, JointImpulse, JointRow, Report};
use super::rows::{Along, Hold, Line, Point, check};
use super::{Contact, Friction, Settings, Start};
use crate::model::{Follower, FrameId, JointId, Mechanism, per_dof};
use crate::spatial::Vec3;
use crate::workspace::{Augmented, AugmentedMass, Masses, Posed};
use crate::{Error, Reference, Result, Workspace};

/// Steps a mechanism in time, with contacts. All memory is here; what is remembered of contacts too.
#[derive(Clone, Debug)]
pub struct Stepper<'m> {
    mechanism: &'m Mechanism,
    workspace: Workspace<'m>,
    augmented: Augmented,
    work: Work,
}

/// All but the workspaces.
#[derive(Clone, Debug)]
struct Work {
    settings: Settings,
    roots: Vec<Root>,
    stops: Vec<Stop>,
    /// Per degree of freedom, the body it moves.
    bodies: Vec<usize>,
    newton: Newton,
    coulomb: Coulomb,
    points: Vec<Point>,
    /// Where each contact's point is, if it has one.
    places: Vec<Option<usize>>,
    lines: Vec<Line>,
    memory: Vec<Held>,
    order: Vec<usize>,
    yields: Vec<Yield>,
    /// C, the torque with springs, 𝓐₀v*, and J_n v, J_n v* per contact.
    bias: Vec<f64>,
    torque: Vec<f64>,
    moved: Vec<f64>,
    closing: Vec<[f64; 2]>,
    room: Vec<f64>,
    next: Vec<f64>,
    report: Report,
}

/// What is remembered of a contact: the strain it holds, and its normal impulse.
#[derive(Clone, Copy, Debug)]
struct Held {
    id: u64,
    strain: [Vec3; 2],
    normal: f64,
}

/// A position limit: of a degree of freedom, or of one that follows it.
#[derive(Clone, Debug)]
struct Stop {
    joint: JointId,
    q: usize,
    v: usize,
    limits: (f64, f64),
    follower: Option<Follower>,
}

/// J𝓜⁻¹J* of a frame and where it is.
#[derive(Clone, Copy, Debug)]
struct Yield {
    frame: FrameId,
    w: [[f64; 6]; 6],
    at: Vec3,
}

/// Beyond this load, in weights of its own body, a contact becomes stiffer, and by no more than `STIFFEST`.
const LOADED: f64 = 100.0;
const STIFFEST: f64 = 1e-3;
/// Velocity terms are explicit below this angle, or way, in a step.
const SLOW: f64 = 2e-3;
/// A direction that yields less than this share of another does not move.
const DEAD: f64 = 1e-12;

impl<'m> Stepper<'m> {
    /// Memory for steps of a mechanism.
    pub fn new(mechanism: &'m Mechanism, settings: Settings) -> Result<Self> {
        settings.check()?;
        let (nv, m) = (mechanism.nv(), &mechanism.compiled);
        let mut bodies = vec![0; nv];
        for (k, body) in m.bodies.iter().enumerate() {
            for v in body.v..body.v + body.dofs {
                bodies[m.reduction.as_ref().map_or(v, |r| r.v_from[v])] = k;
            }
        }
        let work = Work {
            settings,
            roots: roots(mechanism),
            stops: stops(mechanism),
            bodies,
            newton: Newton::new(nv),
            coulomb: Coulomb::default(),
            points: Vec::new(),
            places: Vec::new(),
            lines: Vec::new(),
            memory: Vec::new(),
            order: Vec::new(),
            yields: Vec::new(),
            bias: vec![0.0; nv],
            torque: vec![0.0; nv],
            moved: vec![0.0; nv],
            closing: Vec::new(),
            room: vec![0.0; 2 * nv.max(m.nv)],
            next: vec![0.0; mechanism.nq()],
            report: Report {
                free_velocity: vec![0.0; nv],
                velocity: vec![0.0; nv],
                ..Report::default()
            },
        };
        Ok(Self {
            mechanism,
            workspace: mechanism.workspace(),
            augmented: mechanism.augmented(),
            work,
        })
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
    pub fn report(&self) -> &Report {
        &self.work.report
    }

    /// Forgets how contacts were strained, as for another state.
    pub fn forget(&mut self) {
        self.work.memory.clear();
    }

    /// Advances q and v by Δt under joint torques, damping, springs, limits and dry friction of joints, and contacts given
    /// at q. What is near must be among the contacts: each one that might close within the step.
    pub fn step(&mut self, q: &mut [f64], v: &mut [f64], torque: &[f64], contacts: &[Contact]) -> Result<&Report> {
        self.solve(q, v, torque, contacts)?;
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

    /// v⁺ for a state and contacts, which stay as they are: it is in [`Report::velocity`]. What is remembered of contacts does
    /// change.
    pub fn solve(&mut self, q: &[f64], v: &[f64], torque: &[f64], contacts: &[Contact]) -> Result<&Report> {
        self.mechanism.check_vector("v", v)?;
        self.mechanism.check_vector("torque", torque)?;
        check(self.mechanism, contacts, &mut self.work.order)?;
        let mut posed = self.workspace.at(q)?;
        let given = State {
            m: self.mechanism,
            q,
            v,
            torque,
        };
        self.work.solve(&given, &mut posed, &mut self.augmented, contacts)?;
        Ok(&self.work.report)
    }
}

/// What a step starts from.
#[derive(Clone, Copy)]
struct State<'a> {
    m: &'a Mechanism,
    q: &'a [f64],
    v: &'a [f64],
    torque: &'a [f64],
}

impl Work {
    fn solve(
        &mut self,
        given: &State<'_>,
        posed: &mut Posed<'_, '_>,
        memory: &mut Augmented,
        contacts: &[Contact],
    ) -> Result<()> {
        let dt = self.settings.step;
        self.passive(given)?;
        posed.moving(given.v)?.bias(&mut self.bias)?;
        self.momentum(given, given.v, posed)?;
        self.find_points(given, posed, memory, contacts)?;
        self.find_lines(given, posed)?;
        let mut a = posed.augment(memory, Masses::Kept)?;
        self.free_velocity(given, &mut a)?;
        drop(a);
        if self.settings.gyroscopic && self.roots.iter().any(|root| !root.alone) {
            self.turn_implicitly(given, posed, memory)?;
        }
        let mut a = posed.resume(memory);
        self.start(given, &mut a, contacts);
        let bouncing = self.points.iter().any(|p| p.given.surface.restitution > 0.0);
        let energies = match bouncing {
            true => [self.kinetic(&mut a, given.v), {
                let v = core::mem::take(&mut self.newton.v_star);
                let e = self.kinetic(&mut a, &v);
                self.newton.v_star = v;
                e
            }],
            false => [0.0; 2],
        };
        (self.newton.iterations, self.newton.evaluations) = (0, 0);
        let (mut share, mut guarded) = (1.0, 0);
        let passes = loop {
            if bouncing {
                self.bounce(share);
            }
            let passes = self.run(given, &mut a)?;
            if !bouncing || share == 0.0 {
                break passes;
            }
            let v = core::mem::take(&mut self.newton.v);
            let energy = self.kinetic(&mut a, &v);
            self.newton.v = v;
            if energy <= energies[0].max(energies[1]) * (1.0 + 1e-9) {
                break passes;
            }
            guarded += 1;
            share = if guarded < 6 { 0.7 * share } else { 0.0 };
        };
        self.keep();
        self.tell(dt, passes, guarded, contacts);
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
    fn run(&mut self, given: &State<'_>, a: &mut AugmentedMass<'_>) -> Result<Passes> {
        let newton = &mut self.newton;
        match self.settings.start {
            Start::Free => newton.v.copy_from_slice(&newton.v_star),
            Start::Last => newton.v.copy_from_slice(given.v),
        }
        newton.start(a, &mut self.points);
        let slides = self.points.iter().any(|p| p.cone.mu > 0.0);
        if slides && self.settings.friction == Friction::Coulomb {
            return self
                .coulomb
                .solve(newton, a, &mut self.points, &mut self.lines, &self.settings);
        }
        for point in &mut self.points {
            point.law = Law::Cone;
        }
        let settled = newton.minimize(a, &mut self.points, &mut self.lines, &self.settings)?;
        Ok(Passes {
            settled,
            count: 1,
            change: 0.0,
        })
    }

    /// What springs and dampers are at a configuration: T with the springs' part, and what 𝓐₀ adds to 𝓜.
    fn passive(&mut self, given: &State<'_>) -> Result<()> {
        let (passive, dt) = (&given.m.passive, self.settings.step);
        let sprung = passive.stiffness.iter().any(|x| *x != 0.0);
        self.torque.copy_from_slice(given.torque);
        if sprung {
            let away = &mut self.room[..given.v.len()];
            given.m.difference(&passive.rest, given.q, away)?;
            for ((torque, away), k) in self.torque.iter_mut().zip(away).zip(&passive.stiffness) {
                *torque -= k * *away;
            }
        }
        let diagonal = &mut self.newton.diagonal;
        for ((a, d), k) in diagonal.iter_mut().zip(&passive.damping).zip(&passive.stiffness) {
            *a = dt * (d + dt * k);
        }
        for follower in &passive.followers {
            let [at, to] = follower.leader;
            let [q, slope, ..] = follower.follower.at(given.q[at]);
            self.torque[to] -= slope * follower.stiffness * (q - follower.rest);
            diagonal[to] += slope * slope * dt * (follower.damping + dt * follower.stiffness);
        }
        Ok(())
    }

    /// 𝓜v + Δt(T − C + 𝓜x), with x and C at some velocity.
    fn momentum(&mut self, given: &State<'_>, at: &[f64], posed: &mut Posed<'_, '_>) -> Result<()> {
        let (dt, n) = (self.settings.step, given.v.len());
        self.room[..n].copy_from_slice(given.v);
        for root in &self.roots {
            root.turn(at, dt, &mut self.room);
        }
        posed.mass_times(&self.room[..n], &mut self.moved)?;
        for i in 0..n {
            self.moved[i] += dt * (self.torque[i] - self.bias[i]);
        }
        Ok(())
    }

    /// v* = 𝓐₀⁻¹ of that; single free bodies turn by themselves.
    fn free_velocity(&mut self, given: &State<'_>, a: &mut AugmentedMass<'_>) -> Result<()> {
        if self.newton.diagonal.iter().any(|x| *x != 0.0) {
            a.set_diagonal(&self.newton.diagonal);
        }
        a.factor()?;
        a.inverse_pivots(&mut self.newton.scale);
        a.solve_pushed(Some(&self.moved), false, &mut self.newton.v_star);
        if self.settings.gyroscopic {
            for root in self.roots.iter().filter(|root| root.alone) {
                root.fall(
                    given.m,
                    given.q,
                    given.v,
                    &self.torque,
                    self.settings.step,
                    &mut self.newton.v_star,
                );
            }
        }
        Ok(())
    }

    /// C at ½(v + v*), so that what turns does not gain energy.
    fn turn_implicitly(&mut self, given: &State<'_>, posed: &mut Posed<'_, '_>, memory: &mut Augmented) -> Result<()> {
        let (n, dt) = (given.v.len(), self.settings.step);
        let fastest = given.v.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        if fastest * dt < SLOW {
            return Ok(());
        }
        let mut middle = core::mem::take(&mut self.next);
        middle.resize(n.max(middle.len()), 0.0);
        for _ in 0..2 {
            for i in 0..n {
                middle[i] = 0.5 * (given.v[i] + self.newton.v_star[i]);
            }
            posed.moving(&middle[..n])?.bias(&mut self.bias)?;
            self.momentum(given, &middle[..n], posed)?;
            let mut a = posed.resume(memory);
            self.free_velocity(given, &mut a)?;
        }
        middle.truncate(given.q.len());
        middle.resize(given.q.len(), 0.0);
        self.next = middle;
        Ok(())
    }

    /// The contacts' rows, and what their directions yield.
    fn find_points(
        &mut self,
        given: &State<'_>,
        posed: &mut Posed<'_, '_>,
        memory: &mut Augmented,
        contacts: &[Contact],
    ) -> Result<()> {
        self.points.clear();
        self.places.clear();
        self.yields.clear();
        if contacts.is_empty() {
            return Ok(());
        }
        let a = posed.augment(memory, Masses::Kept)?;
        for contact in contacts {
            let point = Point::new(given.m, *contact, |k| a.link(k));
            self.points.push(point);
        }
        drop(a);
        let compiled = &given.m.compiled;
        for i in 0..self.points.len() {
            let point = self.points[i];
            let root = |k: usize| compiled.bodies[k].root;
            let joined = match point.ends {
                [Some(a), Some(b)] => a != b && (root(a) == root(b) || given.m.is_coupled()),
                _ => false,
            };
            let frames = [point.given.a, point.given.b];
            let mut w = [[0.0; 12]; 12];
            let mut at = [Vec3::ZERO; 2];
            if joined {
                let mut both = [0.0; 144];
                posed.operational_inertias_inverse(&frames, Reference::Aligned, &mut both)?;
                for r in 0..12 {
                    w[r].copy_from_slice(&both[12 * r..12 * r + 12]);
                }
                at = frames.map(|frame| posed.pose(frame).translation);
            } else if point.ends[0] != point.ends[1] {
                for (side, frame) in frames.into_iter().enumerate() {
                    if point.ends[side].is_none() {
                        continue;
                    }
                    let known = self.yields.iter().rev().find(|y| y.frame == frame).copied();
                    let own = match known {
                        Some(own) => own,
                        None => {
                            let w = posed.operational_inertia_inverse(frame, Reference::Aligned)?;
                            let at = posed.pose(frame).translation;
                            self.yields.push(Yield { frame, w, at });
                            Yield { frame, w, at }
                        }
                    };
                    at[side] = own.at;
                    for r in 0..6 {
                        w[6 * side + r][6 * side..6 * side + 6].copy_from_slice(&own.w[r]);
                    }
                }
            }
            self.points[i].set_yield(&w, at);
        }
        // What cannot move is no contact; what cannot slide has no friction.
        for point in &mut self.points {
            if point.w_t <= DEAD * point.w_n {
                point.cone.rows = 1;
                point.cone.mu = 0.0;
            }
        }
        let mut kept = 0;
        for i in 0..self.points.len() {
            let point = self.points[i];
            let moves = point.w_n > DEAD * point.w_t && point.w_n > 0.0;
            self.places.push(moves.then_some(kept));
            if moves {
                self.points[kept] = point;
                kept += 1;
            }
        }
        self.points.truncate(kept);
        let gravity = given.m.gravity().norm().max(1e-3);
        for point in &mut self.points {
            let held = self.memory.binary_search_by_key(&point.given.id, |held| held.id).ok();
            let held = held.map(|i| self.memory[i]);
            let mut rho = self.settings.rho;
            if let (true, Some(held)) = (self.settings.loads, &held) {
                let load = held.normal * point.w_n / (gravity * self.settings.step);
                // In steps of ten: a compliance that follows the load would feed what rocks.
                let tens = (load / LOADED).log10().round().max(0.0);
                rho *= 10f64.powf(-tens).max(STIFFEST);
            }
            point.set_compliance(&self.settings, rho);
            if let (true, Some(held)) = (self.settings.memory, &held) {
                point.remember(held.strain);
            }
        }
        let (points, memory) = (&self.points, &self.memory);
        self.coulomb.bounds.clear();
        self.coulomb.bounds.extend(points.iter().map(|point| {
            let held = memory.binary_search_by_key(&point.given.id, |held| held.id);
            held.map_or(0.0, |i| point.cone.mu * memory[i].normal)
        }));
        Ok(())
    }

    /// Limits that are near, and dry friction.
    fn find_lines(&mut self, given: &State<'_>, posed: &mut Posed<'_, '_>) -> Result<()> {
        let (dt, settings) = (self.settings.step, self.settings);
        self.lines.clear();
        if settings.joint_limits {
            for stop in &self.stops {
                let (y, speed) = (given.q[stop.q], given.v[stop.v]);
                let [at, slope] = match &stop.follower {
                    Some(follower) => {
                        let [q, slope, ..] = follower.at(y);
                        [q, slope]
                    }
                    None => [y, 1.0],
                };
                let near = (2.0 * dt * (slope * speed).abs()).max(0.1);
                for (gap, slope) in [(at - stop.limits.0, slope), (stop.limits.1 - at, -slope)] {
                    if gap < near && slope != 0.0 {
                        self.lines.push(Line {
                            joint: stop.joint,
                            v: stop.v,
                            slope,
                            hold: Hold::Limit(gap),
                            r: settings.rho,
                            v_hat: if gap < 0.0 {
                                -gap / (dt + dt.max(0.02))
                            } else {
                                -gap / dt
                            },
                            gamma: 0.0,
                        });
                    }
                }
            }
        }
        if settings.joint_friction {
            let own = given.m.passive.friction.iter().enumerate().map(|(v, f)| (v, 1.0, *f));
            let followers = given.m.passive.followers.iter().map(|f| {
                let [_, slope, ..] = f.follower.at(given.q[f.leader[0]]);
                (f.leader[1], slope, f.friction)
            });
            for (v, slope, friction) in own.chain(followers) {
                if friction > 0.0 && slope != 0.0 {
                    self.lines.push(Line {
                        joint: given.m.joint_of_dof(v).0,
                        v,
                        slope,
                        hold: Hold::Friction(dt * friction),
                        r: settings.sigma,
                        v_hat: 0.0,
                        gamma: 0.0,
                    });
                }
            }
        }
        for line in &mut self.lines {
            let w = posed.inverse_mass_element(self.bodies[line.v], line.v, &mut self.room)?;
            line.r *= w * line.slope * line.slope;
        }
        Ok(())
    }

    /// 𝓐₀v*, and how fast contacts close before and without the step.
    fn start(&mut self, given: &State<'_>, a: &mut AugmentedMass<'_>, contacts: &[Contact]) {
        let n = given.v.len();
        let newton = &mut self.newton;
        a.move_links(&newton.v_star);
        a.mass_times_moved(&newton.v_star, &mut newton.momentum);
        for i in 0..n {
            newton.momentum[i] += newton.diagonal[i] * newton.v_star[i];
        }
        self.closing.clear();
        if contacts.iter().all(|contact| contact.surface.restitution == 0.0) {
            return;
        }
        for point in &self.points {
            self.closing.push([0.0, point.velocity(&a.memory().lambda)[0]]);
        }
        a.move_links(given.v);
        for (closing, point) in self.closing.iter_mut().zip(&self.points) {
            closing[0] = point.velocity(&a.memory().lambda)[0];
        }
    }

    /// v̂_n of contacts that bounce, so that the height of a ball falls by e² whatever the step.
    fn bounce(&mut self, share: f64) {
        let dt = self.settings.step;
        let threshold = self.settings.bounce_speed.unwrap_or(2.0 * 9.81 * dt);
        for (point, [v, v_star]) in self.points.iter_mut().zip(&self.closing) {
            let (e, g) = (share * point.given.surface.restitution, point.given.gap);
            point.v_hat[0] = point.v_hat_n;
            if e == 0.0 || g + dt * v_star >= 0.0 || -v <= threshold {
                continue;
            }
            let a = ((v - v_star) / dt).max(0.0);
            let kept = 0.5 * v * v + a * g - 0.5 * a * dt * v;
            let square = 0.25 * (a * dt).powi(2) + 2.0 * (e * e * kept - a * g);
            let back = square.sqrt() - 0.5 * a * dt;
            if square >= 0.0 && back > 0.0 {
                point.v_hat[0] = back + point.cone.r_n / point.w_n * (back - v_star);
            }
        }
    }

    /// ½v*𝓜v.
    fn kinetic(&mut self, a: &mut AugmentedMass<'_>, v: &[f64]) -> f64 {
        let n = v.len();
        a.move_links(v);
        a.mass_times_moved(v, &mut self.room[..n]);
        0.5 * v.iter().zip(&self.room).map(|(v, p)| v * p).sum::<f64>()
    }

    /// What is remembered, sorted by id.
    fn keep(&mut self) {
        self.memory.clear();
        for &i in &self.order {
            let Some(point) = self.places.get(i).copied().flatten().map(|at| &self.points[at]) else {
                continue;
            };
            if point.gamma[0] > 0.0 {
                self.memory.push(Held {
                    id: point.given.id,
                    strain: point.strain(),
                    normal: point.gamma[0],
                });
            }
        }
    }

    /// Fills the report.
    fn tell(&mut self, dt: f64, passes: Passes, guarded: usize, contacts: &[Contact]) {
        let (report, newton) = (&mut self.report, &self.newton);
        report.settled = passes.settled;
        report.iterations = newton.iterations;
        report.evaluations = newton.evaluations;
        report.passes = passes.count;
        report.guarded = guarded;
        report.residuals = Default::default();
        report.residuals.gradient = newton.left;
        report.residuals.coulomb = passes.change;
        report.velocity.copy_from_slice(&newton.v);
        report.free_velocity.copy_from_slice(&newton.v_star);
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        report.objective = 0.5 * (dot(&newton.v, &newton.moved) - dot(&newton.v_star, &newton.moved));
        report.contacts.clear();
        for (contact, place) in contacts.iter().zip(&self.places) {
            let zero = Vec3::ZERO;
            let mut told = Impulse {
                id: contact.id,
                a: contact.a,
                b: contact.b,
                point: contact.point,
                normal: contact.normal,
                gap: contact.gap,
                along: 0.0,
                across: zero,
                moment: zero,
                velocity: zero,
                region: Region::Apart,
                compliance: [0.0; 2],
                yields: [0.0; 2],
            };
            report.residuals.penetration = report.residuals.penetration.max(-contact.gap);
            if let Some(point) = place.map(|at| &self.points[at]) {
                point.tell(&mut told);
                point.judge(&mut report.residuals);
                report.objective += point.cone.energy(point.law, &point.cone.pull(&point.u, &point.v_hat));
            }
            report.contacts.push(told);
        }
        report.joints.clear();
        for line in &self.lines {
            report.objective += line.energy(newton.v[line.v]);
            report.joints.push(JointImpulse {
                joint: line.joint,
                row: match line.hold {
                    Hold::Limit(_) => JointRow::Limit,
                    Hold::Friction(_) => JointRow::Friction,
                },
                dof: line.v,
                impulse: line.slope * line.gamma,
            });
        }
        let _ = dt;
    }
}

impl Point {
    fn tell(&self, told: &mut Impulse) {
        let strain = self.strain();
        told.along = self.gamma[0];
        [told.across, told.moment] = strain;
        // Rolling and torsion are impulses of arms.
        let surface = &self.given.surface;
        let (n, moment) = (self.given.normal, strain[1]);
        let spin = n * moment.dot(n);
        told.moment = spin * surface.torsion + (moment - spin) * surface.rolling;
        told.velocity = n * self.u[0];
        for i in 1..self.cone.rows {
            if let Along::Sliding(j) = self.along[i] {
                told.velocity += self.tangents[j] * self.u[i];
            }
        }
        told.region = self.region;
        told.compliance = [self.cone.r_n, self.cone.r_t];
        told.yields = [self.w_n, self.w_t];
    }

    fn judge(&self, worst: &mut super::Residuals) {
        let (u, gamma, cone) = (&self.u, &self.gamma, &self.cone);
        let rest = u[0] + cone.r_n * gamma[0] - self.v_hat[0];
        let normal = if gamma[0] > 0.0 { rest.abs() } else { (-rest).max(0.0) };
        let length = |x: &[f64; ROWS]| x[1..cone.rows].iter().map(|x| x * x).sum::<f64>().sqrt();
        let (held, bound) = (length(gamma), cone.mu * gamma[0]);
        worst.normal = worst.normal.max(normal);
        worst.excess = worst.excess.max(held - bound);
        if self.region == Region::Sliding {
            worst.deficit = worst.deficit.max(bound - held);
            // The velocity against which friction works, compliance and memory taken away.
            let mut slip = [0.0; ROWS];
            for i in 1..cone.rows {
                slip[i] = u[i] + cone.r_t * gamma[i] - self.v_hat[i];
            }
            let work: f64 = (1..cone.rows).map(|i| gamma[i] * slip[i]).sum();
            worst.dissipation = worst.dissipation.max((work + bound * length(&slip)).abs());
        }
    }
}

/// Limits of joints whose coordinates they are limits of.
fn stops(m: &Mechanism) -> Vec<Stop> {
    let mut stops = Vec::new();
    for (j, joint) in m.joints().iter().enumerate() {
        let joint_id = JointId(j);
        let free = (f64::NEG_INFINITY, f64::INFINITY);
        let limits = per_dof(&joint.position_limits, joint.kind.nv(), free);
        if limits.iter().all(|(a, b)| a.is_infinite() && b.is_infinite()) || joint.kind.is_curved() {
            continue;
        }
        if let Some(leader) = m.follows(joint_id) {
            let (q, v) = (m.q_range(leader).start, m.v_range(leader).start);
            let follower = m.compiled.reduction.as_ref().and_then(|r| {
                let at = r.v_start[j];
                r.followers.iter().find(|f| f.v == at).cloned()
            });
            if let Some(follower) = follower {
                stops.push(Stop {
                    joint: joint_id,
                    q,
                    v,
                    limits: limits[0],
                    follower: Some(follower),
                });
            }
            continue;
        }
        let (q, v) = (m.q_range(joint_id).start, m.v_range(joint_id).start);
        stops.extend(limits.into_iter().enumerate().map(|(i, limits)| Stop {
            joint: joint_id,
            q: q + i,
            v: v + i,
            limits,
            follower: None,
        }));
    }
    stops
}
