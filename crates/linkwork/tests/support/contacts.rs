//! Bodies that touch the ground and each other, for steps with contact.

use linkwork::contact::{Contact, Settings, StepReport, Stepper, Surface};
use linkwork::model::{FrameId, Joint, Link};
use linkwork::spatial::{Inertia, Pose, Rotation, Vec3};
use linkwork::{Mechanism, Workspace};

/// What may touch.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A ball about a place of its link.
    Ball { link: String, at: Vec3, radius: f64 },
    /// The corners of a box about its link's origin.
    Block { link: String, half: Vec3 },
}

/// A mechanism on a plane through the origin, perhaps with boxes that stand on each other.
pub struct World<'m> {
    pub mechanism: &'m Mechanism,
    pub shapes: Vec<Shape>,
    pub normal: Vec3,
    pub surface: Surface,
    /// Blocks that stand on others: pairs of indices into `shapes`, the upper first.
    pub stacked: Vec<(usize, usize)>,
    pub stepper: Stepper,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub margin: f64,
    workspace: Workspace,
}

pub fn corners(half: Vec3) -> [Vec3; 8] {
    std::array::from_fn(|i| {
        let sign = |bit: usize| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
        Vec3::new(sign(0) * half.x, sign(1) * half.y, sign(2) * half.z)
    })
}

impl<'m> World<'m> {
    pub fn new(mechanism: &'m Mechanism, settings: Settings, shapes: Vec<Shape>) -> Self {
        Self {
            mechanism,
            shapes,
            normal: Vec3::new(0.0, 0.0, 1.0),
            surface: Surface::default(),
            stacked: Vec::new(),
            stepper: Stepper::new(mechanism, settings).unwrap(),
            q: mechanism.neutral(),
            v: vec![0.0; mechanism.nv()],
            margin: 0.05,
            workspace: mechanism.workspace(),
        }
    }

    pub fn contacts(&mut self) -> Vec<Contact> {
        let mut posed = self.workspace.at(&self.q).unwrap();
        let mut contacts = Vec::new();
        for (i, shape) in self.shapes.iter().enumerate() {
            let (link, places, radius) = match shape {
                Shape::Ball { link, at, radius } => (link, vec![*at], *radius),
                Shape::Block { link, half } => (link, corners(*half).to_vec(), 0.0),
            };
            let frame = self.mechanism.frame(link).unwrap();
            let pose: Pose = posed.pose(frame).unwrap();
            for (j, place) in places.iter().enumerate() {
                let at = pose.point(*place);
                let gap = at.dot(self.normal) - radius;
                if gap < self.margin {
                    contacts.push(Contact {
                        id: (i * 16 + j) as u64,
                        a: frame,
                        b: FrameId::WORLD,
                        point: at - self.normal * radius,
                        normal: self.normal,
                        gap,
                        surface: self.surface,
                    });
                }
            }
        }
        for &(upper, lower) in &self.stacked {
            let (Shape::Block { link: a, half: h }, Shape::Block { link: b, half }) =
                (&self.shapes[upper], &self.shapes[lower])
            else {
                continue;
            };
            let [a, b] = [a, b].map(|link| self.mechanism.frame(link).unwrap());
            let (above, below): (Pose, Pose) = (posed.pose(a).unwrap(), posed.pose(b).unwrap());
            for (j, place) in corners(*h).iter().enumerate() {
                let at = above.point(*place);
                let normal = below.rotation.z;
                let gap = (at - below.translation).dot(normal) - half.z;
                if gap.abs() < self.margin {
                    contacts.push(Contact {
                        id: 1_000_000 + (upper * 16 + j) as u64,
                        a,
                        b,
                        point: at - normal * (0.5 * gap),
                        normal,
                        gap,
                        surface: self.surface,
                    });
                }
            }
        }
        contacts
    }

    pub fn step(&mut self, torque: &[f64]) -> StepReport {
        let contacts = self.contacts();
        self.stepper
            .step(&mut self.q, &mut self.v, torque, &contacts)
            .unwrap()
            .clone()
    }

    /// Runs without torques; the last report.
    pub fn run(&mut self, seconds: f64) -> StepReport {
        let steps = (seconds / self.stepper.settings().step).round() as usize;
        let (mut report, none) = (StepReport::default(), vec![0.0; self.v.len()]);
        for _ in 0..steps {
            report = self.step(&none);
            assert!(report.settled, "{report:?}");
        }
        report
    }

    /// Kinetic and potential energy.
    pub fn energy(&self) -> f64 {
        let mut workspace = self.mechanism.workspace();
        let mut posed = workspace.at(&self.q).unwrap();
        let potential = posed.potential_energy();
        potential + posed.moving(&self.v).unwrap().kinetic_energy()
    }
}

/// Free boxes, their links `box0` …
pub fn boxes(sizes: &[(f64, Vec3)]) -> Mechanism {
    let mut builder = Mechanism::builder("boxes");
    for (i, (mass, half)) in sizes.iter().enumerate() {
        builder = builder
            .link(Link::new(format!("box{i}"), Inertia::cuboid(*mass, *half * 2.0)))
            .joint(Joint::free(format!("free{i}")).between("world", format!("box{i}")));
    }
    builder.build().unwrap()
}

pub fn ball(mass: f64, radius: f64) -> Mechanism {
    Mechanism::builder("ball")
        .link(Link::new("ball", Inertia::sphere(mass, radius)))
        .joint(Joint::free("free").between("world", "ball"))
        .build()
        .unwrap()
}

/// A free body's coordinates.
pub fn place(at: Vec3, turn: Rotation) -> Vec<f64> {
    let mut q = turn.to_quaternion().to_vec();
    q.extend(at.to_array());
    q
}
