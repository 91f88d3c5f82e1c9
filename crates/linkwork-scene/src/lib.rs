//! Shapes that touch: from colliders on links to the contacts of a step.
//!
//! A [`Scene`] knows a mechanism's colliders and which pairs of them may touch. At a state it finds the contacts that might close
//! within a step: spheres, capsules, boxes, cylinders, ellipsoids and convex hulls against planes, height fields and each other, with points that keep
//! their identity from step to step, so that friction is remembered and steps start where the last one ended.
//!
//! ```
//! use linkwork::contact::{Settings, Stepper, Surface};
//! use linkwork::model::{Joint, Link, Mechanism};
//! use linkwork::spatial::{Inertia, Pose, Vec3};
//! use linkwork_scene::{Collider, Scene, ColliderShape};
//!
//! let half = Vec3::new(0.1, 0.1, 0.1);
//! let m = Mechanism::builder("box")
//!     .link(Link::new("box", Inertia::cuboid(1.0, half * 2.0)))
//!     .joint(Joint::free("free").between("world", "box"))
//!     .build()?;
//! let mut scene = Scene::new(&m, vec![
//!     Collider::on(m.frame("box")?, ColliderShape::Cuboid { half }),
//!     Collider::ground(Pose::IDENTITY, Surface::default()),
//! ])?;
//! let mut stepper = Stepper::new(&m, Settings::new(0.005))?;
//! let (mut q, mut v) = (vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.3], vec![0.0; 6]);
//! for _ in 0..200 {
//!     let contacts = scene.contacts(&q, &v, 0.005)?.to_vec();
//!     stepper.step(&mut q, &mut v, &[0.0; 6], &contacts)?;
//! }
//! assert!((q[6] - 0.1).abs() < 1e-4);
//! # Ok::<(), linkwork::Error>(())
//! ```

mod bodies;
mod broad_phase;
mod height_field;
mod hull;
mod meetings;
mod narrow;
mod robot;
mod scene;
mod settle;
mod shape;
mod surfaces;
mod touching;
mod worlds;

pub use height_field::HeightField;
pub use hull::Hull;
pub use narrow::{ClosedForm, Narrow, TouchPoint};
pub use robot::{Ground, colliders};
pub use scene::{Collider, LeftOut, Scene};
pub use shape::ColliderShape;
pub use surfaces::{Matter, combine};
pub use touching::Touching;
pub use worlds::{WorldOutcome, Worlds};
