//! Colliders, the pairs of them that may touch, and their contacts at a state.

mod clearance;

use crate::bodies::Bodies;
use crate::broad_phase::Broad;
use crate::narrow::{ClosedForm, Narrow, TouchPoint};
use crate::shape::ColliderShape;
use crate::surfaces::{Matter, combine};
use linkwork::contact::{Contact, Seen, StepReport, Stepper, Surface};
use linkwork::model::FrameId;
use linkwork::spatial::{Motion, Pose, Reference, Vec3};
use linkwork::workspace::{Moving, Posed, call};
use linkwork::{Error, Mechanism, Result, Workspace};
use std::collections::HashMap;
use std::sync::Arc;

/// A shape on a link, or in the world.
///
/// ```
/// use linkwork::contact::Surface;
/// use linkwork::spatial::Pose;
/// use linkwork_scene::{Collider, ColliderShape};
/// let arm = linkwork::model::examples::arm7();
/// let ball = Collider::on(arm.frame("flange")?, ColliderShape::Sphere { radius: 0.05 });
/// let ground = Collider::ground(Pose::IDENTITY, Surface::with_friction(0.8));
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Collider {
    /// What reports call it.
    pub name: String,
    /// The frame it is fixed to.
    pub frame: FrameId,
    /// Where it is in that frame.
    pub pose: Pose,
    /// Its form.
    pub shape: ColliderShape,
    /// Its surface, and what it meets.
    pub matter: Matter,
}

impl Collider {
    /// A shape at a frame's origin, with the default surface.
    pub fn on(frame: FrameId, shape: ColliderShape) -> Self {
        Self {
            name: String::new(),
            frame,
            pose: Pose::IDENTITY,
            shape,
            matter: Matter::default(),
        }
    }

    /// A plane in the world, solid below the z of a pose.
    pub fn ground(pose: Pose, surface: Surface) -> Self {
        let mut ground = Self::on(FrameId::WORLD, ColliderShape::Plane);
        (ground.name, ground.pose, ground.matter.surface) = ("ground".into(), pose, surface);
        ground
    }
}

/// Why two colliders are not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeftOut {
    /// They are on one rigid body, or both in the world.
    Together,
    /// One joint is between their bodies.
    Adjacent,
    /// Their bits do not meet.
    Masked,
    /// They were excluded by name.
    Excluded,
    /// They touch in every configuration that was tried.
    AlwaysTouching,
    /// No rule is known for such shapes.
    Unknown,
}

/// Two colliders that may touch.
#[derive(Clone, Copy, Debug)]
struct Pair {
    a: usize,
    b: usize,
    surface: Surface,
}

/// A ball about a collider, and how much further away its neighbours matter.
#[derive(Clone, Copy, Debug)]
struct Bound {
    /// The place of its frame among those that colliders are on.
    frame: usize,
    reach: Option<f64>,
    /// The radius of a ball inside it.
    core: Option<f64>,
    /// How far its points are from the frame's origin at most.
    arm: f64,
    margin: f64,
}

/// A mechanism's colliders, and which pairs of them may touch.
///
/// ```
/// use linkwork::contact::Surface;
/// use linkwork::spatial::Pose;
/// use linkwork_scene::{Collider, Scene, ColliderShape};
/// let arm = linkwork::model::examples::arm7();
/// let mut scene = Scene::new(&arm, vec![
///     Collider::on(arm.frame("flange")?, ColliderShape::Sphere { radius: 0.05 }),
///     Collider::ground(Pose::IDENTITY, Surface::default()),
/// ])?;
/// let contacts = scene.contacts(&[0.1; 7], &[0.0; 7], 1e-3)?; // within a step of 1 ms
/// assert!(contacts.is_empty()); // the hand is high above the ground
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone)]
pub struct Scene {
    mechanism: Mechanism,
    /// Away only while it is in use.
    workspace: Option<Workspace>,
    colliders: Vec<Collider>,
    pairs: Vec<Pair>,
    left_out: Vec<(usize, usize, LeftOut)>,
    narrow: Arc<dyn Narrow + Send + Sync>,
    /// The frames that colliders are on.
    frames: Vec<FrameId>,
    bounds: Vec<Bound>,
    poses: Vec<Pose>,
    /// Where these frames are.
    seats: Vec<Pose>,
    /// The configuration of these poses; empty if there is none.
    placed: Vec<f64>,
    before: Vec<Pose>,
    speeds: Vec<[f64; 2]>,
    touches: Vec<TouchPoint>,
    contacts: Vec<Contact>,
    /// The pair of two colliders, the pairs with a plane, and what is near in the present step.
    pair_of: HashMap<(u32, u32), u32>,
    unbounded: Vec<u32>,
    broad: Broad,
    near: Vec<u32>,
}

impl core::fmt::Debug for Scene {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Scene")
            .field("mechanism", &self.mechanism.name())
            .field("colliders", &self.colliders)
            .finish_non_exhaustive()
    }
}

/// What is looked at beyond what might close in a step, in metres.
const NEAR: f64 = 0.005;
/// How many configurations tell whether two colliders always touch.
const TRIALS: u64 = 12;
/// Features per pair.
const FEATURES: u64 = 1 << 20;

impl Scene {
    /// Colliders by closed forms; pairs that cannot or must not touch are left out, see [`Scene::left_out`].
    pub fn new(mechanism: &Mechanism, colliders: Vec<Collider>) -> Result<Self> {
        Self::with(mechanism, colliders, &[], Box::new(ClosedForm))
    }

    /// The same without pairs of links by name, and with another way to find the points of a pair.
    pub fn with(
        mechanism: &Mechanism,
        colliders: Vec<Collider>,
        excluded: &[(String, String)],
        narrow: Box<dyn Narrow + Send + Sync>,
    ) -> Result<Self> {
        let mut frames: Vec<FrameId> = Vec::new();
        let mut bounds = Vec::new();
        for collider in &colliders {
            collider.shape.check()?;
            collider.matter.surface.check()?;
            let frame = frames.iter().position(|f| *f == collider.frame).unwrap_or_else(|| {
                frames.push(collider.frame);
                frames.len() - 1
            });
            bounds.push(Bound {
                frame,
                reach: collider.shape.reach(),
                core: collider.shape.core(),
                arm: collider.pose.translation.norm() + collider.shape.reach().unwrap_or(0.0),
                margin: 0.0,
            });
        }
        let mut scene = Self {
            mechanism: mechanism.clone(),
            workspace: Some(mechanism.workspace()),
            poses: vec![Pose::IDENTITY; colliders.len()],
            placed: Vec::new(),
            before: Vec::new(),
            seats: vec![Pose::IDENTITY; frames.len()],
            speeds: vec![[0.0; 2]; frames.len()],
            colliders,
            pairs: Vec::new(),
            left_out: Vec::new(),
            narrow: Arc::from(narrow),
            frames,
            bounds,
            touches: Vec::new(),
            contacts: Vec::new(),
            pair_of: HashMap::new(),
            unbounded: Vec::new(),
            broad: Broad::default(),
            near: Vec::new(),
        };
        scene.pair_up(excluded)?;
        scene.leave_out_always_touching()?;
        for (i, pair) in scene.pairs.iter().enumerate() {
            let planes = [pair.a, pair.b].map(|c| scene.colliders[c].shape == ColliderShape::Plane);
            match planes {
                [false, false] => {
                    scene.pair_of.insert((pair.a as u32, pair.b as u32), i as u32);
                }
                _ => scene.unbounded.push(i as u32),
            }
        }
        Ok(scene)
    }

    /// The mechanism.
    pub fn mechanism(&self) -> &Mechanism {
        &self.mechanism
    }

    /// The colliders, in the order given.
    pub fn colliders(&self) -> &[Collider] {
        &self.colliders
    }

    /// How many pairs are looked at.
    pub fn pairs(&self) -> usize {
        self.pairs.len()
    }

    /// The pairs that are not, by their places among the colliders, and why.
    pub fn left_out(&self) -> &[(usize, usize, LeftOut)] {
        &self.left_out
    }

    /// The colliders of a contact, by its id.
    pub fn colliders_of(&self, id: u64) -> Option<[&Collider; 2]> {
        let pair = self.pairs.get(usize::try_from(id / FEATURES).ok()?)?;
        Some([&self.colliders[pair.a], &self.colliders[pair.b]])
    }

    fn pair_up(&mut self, excluded: &[(String, String)]) -> Result<()> {
        let bodies = Bodies::of(&self.mechanism)?;
        let body: Vec<usize> = self
            .colliders
            .iter()
            .map(|c| bodies.of_frame(c.frame))
            .collect::<Result<_>>()?;
        let mut out: Vec<(usize, usize)> = Vec::new();
        for (one, two) in excluded {
            out.push((bodies.of_link(one)?, bodies.of_link(two)?));
        }
        for a in 0..self.colliders.len() {
            for b in a + 1..self.colliders.len() {
                let (one, two) = (&self.colliders[a], &self.colliders[b]);
                let (i, j) = (body[a], body[b]);
                let why = if i == j {
                    Some(LeftOut::Together)
                } else if !one.matter.meets(&two.matter) {
                    Some(LeftOut::Masked)
                } else if out.contains(&(i, j)) || out.contains(&(j, i)) {
                    Some(LeftOut::Excluded)
                } else if i != 0 && j != 0 && bodies.adjacent(i, j) {
                    Some(LeftOut::Adjacent)
                } else if !self.narrow.knows(&one.shape, &two.shape) {
                    Some(LeftOut::Unknown)
                } else {
                    None
                };
                match why {
                    Some(why) => self.left_out.push((a, b, why)),
                    None => {
                        self.pairs.push(Pair {
                            a,
                            b,
                            surface: combine(&one.matter, &two.matter),
                        });
                    }
                }
            }
        }
        Ok(())
    }

    fn leave_out_always_touching(&mut self) -> Result<()> {
        if self.mechanism.nv() == 0 {
            return Ok(());
        }
        let mut touching = vec![true; self.pairs.len()];
        for trial in 0..TRIALS {
            let q = match trial {
                0 => self.mechanism.neutral(),
                seed => self.mechanism.random(seed),
            };
            self.place(&q)?;
            for (i, touching) in touching.iter_mut().enumerate() {
                *touching = *touching && self.depth(i) > 0.0;
            }
        }
        let (mut kept, mut always) = (Vec::new(), touching.into_iter());
        for pair in core::mem::take(&mut self.pairs) {
            match always.next() {
                Some(true) => self.left_out.push((pair.a, pair.b, LeftOut::AlwaysTouching)),
                _ => kept.push(pair),
            }
        }
        self.pairs = kept;
        Ok(())
    }

    /// Where the colliders are at q.
    fn place(&mut self, q: &[f64]) -> Result<()> {
        if self.placed == q {
            return Ok(());
        }
        self.with_workspace(|scene, workspace| scene.place_by(&mut workspace.at(q)?, q))
    }

    fn with_workspace<T>(&mut self, run: impl FnOnce(&mut Self, &mut Workspace) -> Result<T>) -> Result<T> {
        let mut workspace = self.workspace.take().unwrap_or_else(|| self.mechanism.workspace());
        let done = run(self, &mut workspace);
        self.workspace = Some(workspace);
        done
    }

    /// The same from the mechanism at q.
    fn place_by(&mut self, posed: &mut Posed<'_>, q: &[f64]) -> Result<()> {
        self.placed.clear();
        for (seat, frame) in self.seats.iter_mut().zip(&self.frames) {
            *seat = posed.pose(*frame)?;
        }
        self.place_seats(q);
        Ok(())
    }

    /// The same from where the frames are.
    fn place_seats(&mut self, q: &[f64]) {
        let (poses, seats) = (&mut self.poses[..], &self.seats[..]);
        call(PlaceColliders, (poses, seats, &self.colliders[..], &self.bounds[..]));
        self.placed.clear();
        self.placed.extend_from_slice(q);
    }

    /// How deep a pair is at the present places.
    fn depth(&mut self, pair: usize) -> f64 {
        let pair = &self.pairs[pair];
        self.touches.clear();
        let (a, b) = (&self.colliders[pair.a].shape, &self.colliders[pair.b].shape);
        self.narrow
            .touch(a, &self.poses[pair.a], b, &self.poses[pair.b], 0.0, &mut self.touches);
        self.touches.iter().fold(0.0, |most: f64, t| most.max(-t.gap))
    }

    /// The two colliders that are deepest inside each other at q, and how deep; none if nothing is.
    pub fn deepest(&mut self, q: &[f64]) -> Result<Option<(usize, usize, f64)>> {
        self.place(q)?;
        for bound in &mut self.bounds {
            bound.margin = 0.0;
        }
        self.find_near();
        let mut worst: Option<(usize, usize, f64)> = None;
        for at in 0..self.near.len() {
            let i = self.near[at] as usize;
            let depth = self.depth(i);
            if depth > worst.map_or(0.0, |(.., most)| most) {
                worst = Some((self.pairs[i].a, self.pairs[i].b, depth));
            }
        }
        Ok(worst)
    }

    /// Two colliders of which one went through the other between the last [`Scene::contacts`] and q, if there are such: the centre of a
    /// shape got behind a plane, or the balls inside two shapes passed each other.
    pub fn crossed(&mut self, q: &[f64]) -> Result<Option<(usize, usize)>> {
        self.before.clone_from(&self.poses);
        self.place(q)?;
        Ok(self.through())
    }

    /// The same between `before` and the present places.
    fn through(&self) -> Option<(usize, usize)> {
        let (old, new) = (&self.before, &self.poses);
        let height = |plane: &Pose, p: Vec3| (p - plane.translation).dot(plane.rotation.z);
        let through = self.pairs.iter().find(|pair| {
            let (a, b) = (pair.a, pair.b);
            match (self.bounds[a].core, self.bounds[b].core) {
                (None, None) => false,
                (Some(_), None) => {
                    height(&old[b], old[a].translation) > 0.0 && height(&new[b], new[a].translation) < 0.0
                }
                (None, Some(_)) => {
                    height(&old[a], old[b].translation) > 0.0 && height(&new[a], new[b].translation) < 0.0
                }
                (Some(one), Some(two)) => {
                    let (from, to) = (
                        old[a].translation - old[b].translation,
                        new[a].translation - new[b].translation,
                    );
                    let (way, reach) = (to - from, one + two);
                    let nearest = from - way * (from.dot(way) / way.dot(way).max(f64::MIN_POSITIVE));
                    from.dot(to) < 0.0 && nearest.norm() < reach && from.norm() > reach && to.norm() > reach
                }
            }
        });
        through.map(|pair| (pair.a, pair.b))
    }

    /// The pairs whose boxes, with their margins, overlap, in order, and those with planes.
    fn find_near(&mut self) {
        self.broad.start(self.colliders.len());
        for (i, collider) in self.colliders.iter().enumerate() {
            if let Some(bounds) = collider.shape.bounds(&self.poses[i]) {
                self.broad.put(i, bounds, self.bounds[i].margin);
            }
        }
        let (near, pair_of) = (&mut self.near, &self.pair_of);
        near.clear();
        near.extend_from_slice(&self.unbounded);
        self.broad
            .meet(|a, b| near.extend(pair_of.get(&(a as u32, b as u32)).copied()));
        near.sort_unstable();
    }

    /// The contacts at a state that might close within a step of some seconds.
    pub fn contacts(&mut self, q: &[f64], v: &[f64], step: f64) -> Result<&[Contact]> {
        if !(step > 0.0 && step.is_finite()) {
            return Err(Error::Duration {
                argument: "step",
                value: step,
            });
        }
        self.with_workspace(|scene, workspace| scene.find(&mut workspace.at(q)?, q, v, step))?;
        Ok(&self.contacts)
    }

    /// Finds the contacts at a state and advances it by one step of a stepper of this mechanism.
    pub fn step<'s>(
        &mut self,
        stepper: &'s mut Stepper,
        q: &mut [f64],
        v: &mut [f64],
        torque: &[f64],
    ) -> Result<&'s StepReport> {
        let nv = self.mechanism.nv();
        if torque.len() != nv {
            return Err(Error::Length {
                argument: "torque",
                needed: nv,
                given: torque.len(),
            });
        }
        self.step_driven(stepper, q, v, |_, tau, _| {
            tau.copy_from_slice(torque);
            Ok(())
        })
    }

    /// The same with torques, pushes on links, and what torques lose as velocities grow, by something that sees the
    /// mechanism at the state: see [`Stepper::step_finding`].
    pub fn step_driven<'s>(
        &mut self,
        stepper: &'s mut Stepper,
        q: &mut [f64],
        v: &mut [f64],
        drive: impl FnOnce(&mut Moving<'_>, &mut [f64], &mut [f64]) -> Result<()>,
    ) -> Result<&'s StepReport> {
        let step = stepper.settings().step;
        let find = |posed: &mut Posed<'_>, q: &[f64], v: &[f64]| {
            let scene = self;
            scene.find(posed, q, v, step)?;
            Ok(&scene.contacts[..])
        };
        stepper.step_finding(q, v, find, drive)
    }

    /// Finds the contacts from the mechanism at q.
    fn find(&mut self, posed: &mut Posed<'_>, q: &[f64], v: &[f64], step: f64) -> Result<()> {
        if self.placed != q {
            self.place_by(posed, q)?;
        }
        let mut moving = posed.moving(v)?;
        for (frame, speed) in self.frames.iter().zip(&mut self.speeds) {
            *speed = speeds(&moving.velocity(*frame, Reference::Aligned)?);
        }
        self.find_placed(step);
        Ok(())
    }

    /// The frames that colliders are on.
    pub(crate) fn frames(&self) -> &[FrameId] {
        &self.frames
    }

    /// The contacts of a world that is stepped beside others, from where the frames are; whether something went through something else
    /// since the last ones is told if asked for.
    pub(crate) fn find_seen(&mut self, seen: &Seen<'_>, step: f64, went_on: bool) -> (&[Contact], bool) {
        self.before.clone_from(&self.poses);
        self.seats.copy_from_slice(seen.poses);
        self.place_seats(seen.q);
        for (motion, speed) in seen.motions.iter().zip(&mut self.speeds) {
            *speed = speeds(motion);
        }
        let crossed = went_on && self.through().is_some();
        self.find_placed(step);
        (&self.contacts, crossed)
    }

    /// Finds the contacts from where the colliders are and how fast they move.
    fn find_placed(&mut self, step: f64) {
        let fall = self.mechanism.gravity().norm() * step * step;
        for bound in &mut self.bounds {
            let [linear, angular] = self.speeds[bound.frame];
            bound.margin = 0.5 * NEAR + 2.0 * step * (linear + angular * bound.arm) + fall;
        }
        self.find_near();
        self.contacts.clear();
        for &i in &self.near {
            let pair = &self.pairs[i as usize];
            let (at, bt) = (&self.poses[pair.a], &self.poses[pair.b]);
            let (one, two) = (&self.bounds[pair.a], &self.bounds[pair.b]);
            let margin = one.margin + two.margin;
            if far(one.reach, at, two.reach, bt, margin) {
                continue;
            }
            let (a, b) = (&self.colliders[pair.a], &self.colliders[pair.b]);
            self.touches.clear();
            self.narrow.touch(&a.shape, at, &b.shape, bt, margin, &mut self.touches);
            for touch in &self.touches {
                self.contacts.push(Contact {
                    id: u64::from(i) * FEATURES + u64::from(touch.feature),
                    a: a.frame,
                    b: b.frame,
                    point: touch.point,
                    normal: touch.normal,
                    gap: touch.gap,
                    surface: pair.surface,
                });
            }
        }
    }
}

/// How fast a frame moves and turns.
fn speeds(motion: &Motion) -> [f64; 2] {
    let square = |x: Vec3| x.x * x.x + x.y * x.y + x.z * x.z;
    [square(motion.linear).sqrt(), square(motion.angular).sqrt()]
}

linkwork::functions! {
    /// Where colliders are, from where their frames are.
    fn PlaceColliders((poses, seats, colliders, bounds): (&mut [Pose], &[Pose], &[Collider], &[Bound])) -> () {
        for ((pose, collider), bound) in poses.iter_mut().zip(colliders).zip(bounds) {
            *pose = seats[bound.frame] * collider.pose;
        }
    }
}

/// Whether balls about two shapes are further apart than a margin; of planes there are none.
fn far(one: Option<f64>, at: &Pose, two: Option<f64>, bt: &Pose, margin: f64) -> bool {
    let between = at.translation - bt.translation;
    // Not fused: a fused product is a call here.
    let dot = |x: Vec3, y: Vec3| x.x * y.x + x.y * y.y + x.z * y.z;
    match (one, two) {
        (None, None) => true,
        (None, Some(reach)) => -dot(between, at.rotation.z) > reach + margin,
        (Some(reach), None) => dot(between, bt.rotation.z) > reach + margin,
        (Some(one), Some(two)) => dot(between, between) > (one + two + margin).powi(2),
    }
}
