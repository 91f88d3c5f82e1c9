//! A scene in motion.

use crate::scene::Scene;
use linkwork::Result;
use linkwork::closed::ClosedMechanism;
use linkwork::contact::{Settings, StepReport, Stepper};
use linkwork::simulate::{Advance, Drive, Now, State};

/// A scene in motion under a drive: what a [`Run`](linkwork::simulate::Run) walks with, or a [`Course`](linkwork::simulate::Course).
///
/// ```
/// use linkwork::contact::{Settings, Surface};
/// use linkwork::model::{Joint, Link, Mechanism};
/// use linkwork::simulate::{Method, Run, State};
/// use linkwork::spatial::{Inertia, Pose};
/// use linkwork_scene::{Collider, Scene, ColliderShape, Touching};
///
/// let m = Mechanism::builder("ball")
///     .link(Link::new("ball", Inertia::sphere(1.0, 0.1)))
///     .joint(Joint::free("free").between("world", "ball"))
///     .build()?;
/// let scene = Scene::new(&m, vec![
///     Collider::on(m.frame("ball")?, ColliderShape::Sphere { radius: 0.1 }),
///     Collider::ground(Pose::IDENTITY, Surface::default()),
/// ])?;
/// let mut touching = Touching::new(scene, Settings::new(0.002), ())?;
/// let run = Run::new(Method::SemiImplicitEuler, 1.0).step(0.002);
/// let start = State::at_rest(&m, &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.3]);
/// let end = run.walk(&mut touching, start, &mut ()).state;
/// assert!((end.q[6] - 0.1).abs() < 1e-4);
/// let force = touching.report().contacts[0].force(touching.step());
/// assert!((force.z - 9.81).abs() < 1e-3);
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Debug)]
pub struct Touching<D> {
    scene: Scene,
    stepper: Stepper,
    drive: D,
    torque: Vec<f64>,
    q: Vec<f64>,
    v: Vec<f64>,
    crossed: Option<(usize, usize)>,
}

impl<D: Drive> Touching<D> {
    /// A scene, how it is stepped, and what drives it.
    pub fn new(scene: Scene, settings: Settings, drive: D) -> Result<Self> {
        let m = scene.mechanism();
        Ok(Self {
            stepper: Stepper::new(m, settings)?,
            torque: vec![0.0; m.nv()],
            q: m.neutral(),
            v: vec![0.0; m.nv()],
            scene,
            drive,
            crossed: None,
        })
    }

    /// The same with the loops of a closed mechanism, whose tree the scene is of.
    pub fn closed(scene: Scene, closed: &ClosedMechanism, settings: Settings, drive: D) -> Result<Self> {
        let stepper = Stepper::closed(closed, settings)?;
        Ok(Self {
            stepper,
            ..Self::new(scene, settings, drive)?
        })
    }

    /// What the step takes that starts at a state, without going there.
    pub fn look<T>(&mut self, state: &State, look: impl FnOnce(&mut Stepper, &mut D) -> Result<T>) -> Result<T> {
        let (kept, mut next) = (self.stepper.clone(), state.clone());
        let h = self.step();
        let done = self.advance(&mut next, h);
        let seen = done.and_then(|()| look(&mut self.stepper, &mut self.drive));
        self.stepper = kept;
        seen
    }

    /// The stepper, to ask it what the last step took, and what drives.
    pub fn parts(&mut self) -> (&mut Stepper, &mut D) {
        (&mut self.stepper, &mut self.drive)
    }

    /// The scene.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The scene, to ask it about states.
    pub fn scene_mut(&mut self) -> &mut Scene {
        &mut self.scene
    }

    /// What drives it.
    pub fn drive(&mut self) -> &mut D {
        &mut self.drive
    }

    /// What the last step did.
    pub fn report(&self) -> &StepReport {
        self.stepper.report()
    }

    /// The length of the last step, over which its impulses are forces.
    pub fn step(&self) -> f64 {
        self.stepper.settings().step
    }

    /// T of the drive in the last step; joints' own forces are the step's.
    pub fn torques(&self) -> &[f64] {
        &self.torque
    }

    /// Two colliders of which one went through the other in the last step, by their places in the scene.
    pub fn crossed(&self) -> Option<(usize, usize)> {
        self.crossed
    }
}

impl<D: Drive> Advance for Touching<D> {
    fn advance(&mut self, state: &mut State, h: f64) -> Result<()> {
        if h != self.step() {
            let settings = Settings {
                step: h,
                ..*self.stepper.settings()
            };
            self.stepper.set(settings)?;
        }
        self.q.copy_from_slice(&state.q);
        self.v.copy_from_slice(&state.v);
        let (t, q, v) = (state.t, &self.q, &self.v);
        let (drive, torque) = (&mut self.drive, &mut self.torque);
        let done = self.scene.step_driven(
            &mut self.stepper,
            &mut state.q,
            &mut state.v,
            |moving, tau, resistance| {
                drive.drive(Now { t, q, v }, moving, tau)?;
                torque.copy_from_slice(tau);
                drive.resist(h, tau, resistance);
                Ok(())
            },
        );
        if let Err(problem) = done {
            state.q.copy_from_slice(&self.q);
            state.v.copy_from_slice(&self.v);
            return Err(problem);
        }
        self.crossed = self.scene.crossed(&state.q)?;
        Ok(())
    }

    fn forget(&mut self) {
        self.stepper.forget();
    }
}
