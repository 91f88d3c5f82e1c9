//! Inverse kinematics that keeps clear of shapes.

use linkwork::Mechanism;
use linkwork::contact::Surface;
use linkwork::model::{FrameId, examples};
use linkwork::motion::{Clearance, InverseKinematics, SolverOptions, Task};
use linkwork::spatial::{Pose, Vec3};
use linkwork_scene::{Collider, ColliderShape, Scene};

const Q: [f64; 7] = [0.0, 0.6, 0.0, -1.5, 0.0, 0.9, 0.0];

fn pose(m: &Mechanism, q: &[f64], frame: &str) -> Pose {
    m.workspace().at(q).unwrap().pose(m.frame(frame).unwrap()).unwrap()
}

/// Capsules on the links of an arm, and a ball beside its elbow.
fn scene(m: &Mechanism, ball: Vec3) -> Scene {
    let mut all: Vec<Collider> = ["link2", "link4", "link6"]
        .iter()
        .map(|name| {
            let shape = ColliderShape::Capsule {
                radius: 0.05,
                half: 0.06,
            };
            Collider::on(m.frame(name).unwrap(), shape)
        })
        .collect();
    let mut obstacle = Collider::on(FrameId::WORLD, ColliderShape::Sphere { radius: 0.05 });
    obstacle.pose = Pose::from_translation(ball);
    all.push(obstacle);
    all.push(Collider::ground(Pose::IDENTITY, Surface::default()));
    Scene::new(m, all).unwrap()
}

/// The least gap at q; infinite where nothing is near.
fn gap(scene: &mut Scene, q: &[f64]) -> f64 {
    let mut near = Vec::new();
    scene.near(q, 1.0, &mut near).unwrap();
    near.iter().map(|n| n.gap).fold(f64::INFINITY, f64::min)
}

#[test]
fn gaps_grow_as_normals_and_points_say() {
    let m = examples::arm7();
    let mut scene = scene(&m, pose(&m, &Q, "link4").translation + Vec3::new(0.05, 0.15, 0.05));
    let (mut near, mut moved) = (Vec::new(), Vec::new());
    scene.near(&Q, 0.5, &mut near).unwrap();
    assert!(near.len() >= 3, "{}", near.len());
    let h = 1e-7;
    for dof in 0..7 {
        let mut q = Q;
        q[dof] += h;
        moved.clear();
        scene.near(&q, 0.5, &mut moved).unwrap();
        for (a, b) in near.iter().zip(&moved) {
            let mut workspace = m.workspace();
            let mut posed = workspace.at(&Q).unwrap();
            let mut at = |frame| {
                let mut j = [0.0; 42];
                posed.jacobian(frame, linkwork::Reference::World, &mut j).unwrap();
                let six = [0, 1, 2, 3, 4, 5].map(|row| j[7 * row + dof]);
                Vec3::new(six[3], six[4], six[5]) + Vec3::new(six[0], six[1], six[2]).cross(a.point)
            };
            let rate = a.normal.dot(at(a.a) - at(a.b));
            assert!((rate - (b.gap - a.gap) / h).abs() < 1e-5, "{dof}: {a:?}");
        }
    }
}

#[test]
fn the_elbow_gives_way_and_the_hand_stays() {
    let m = examples::arm7();
    let ball = pose(&m, &Q, "link4").translation + Vec3::new(0.0, 0.08, 0.0);
    let mut scene = scene(&m, ball);
    assert!(gap(&mut scene, &Q) < 0.0);
    let hand = m.frame("flange").unwrap();
    let target = pose(&m, &Q, "flange");
    let ik = |tasks: Vec<Task>, shapes: &Scene| InverseKinematics::new(&m, tasks).unwrap().avoiding(shapes.another());
    let goals = vec![Task::pose(hand, target), Task::clear(0.03)];
    let found = ik(goals.clone(), &scene).solve_from(&Q).unwrap();
    assert!(found.reached, "{found}");
    assert!((pose(&m, &found.q, "flange").translation - target.translation).norm() < 1e-8);
    assert!(gap(&mut scene, &found.q) > 0.03 - 1e-8);
    // Many at once, each as alone.
    let many = ik(goals.clone(), &scene)
        .solve_many(&[goals.clone(), goals], &Q)
        .unwrap();
    assert_eq!(many, [found.clone(), found]);
    // As a preference it leads apart where the hand leaves room, and the hand stays.
    let soft = vec![Task::pose(hand, target), Task::clear(0.03).preferred()];
    let found = ik(soft, &scene).solve_from(&Q).unwrap();
    assert!(
        found.reached && gap(&mut scene, &found.q) > gap(&mut scene, &Q),
        "{found}"
    );
    // In levels the shapes come first, and the hand gets what they leave.
    let inside = Pose::new(target.rotation, ball);
    let wrist = m.frame("link6").unwrap();
    let tasks = vec![Task::clear(0.02), Task::position(wrist, inside.translation).level(1)];
    let options = SolverOptions {
        restarts: 5,
        ..SolverOptions::default()
    };
    let mut solver = ik(tasks, &scene).options(options).unwrap();
    let found = solver.solve_from(&Q).unwrap();
    assert!(!found.reached, "{found}");
    assert!(gap(&mut scene, &found.q) > 0.02 - 1e-4, "{}", gap(&mut scene, &found.q));
}

#[test]
fn what_cannot_be_cleared_is_named() {
    let m = examples::arm7();
    // A ball where the hand is to be: the wrist cannot be far from it.
    let target = pose(&m, &Q, "flange").translation;
    let scene = scene(&m, target);
    let hand = m.frame("flange").unwrap();
    let tasks = vec![Task::position(hand, target), Task::clear(0.3)];
    let options = SolverOptions {
        restarts: 2,
        ..SolverOptions::default()
    };
    let ik = InverseKinematics::new(&m, tasks.clone())
        .unwrap()
        .options(options)
        .unwrap();
    let said = ik.clone().avoiding(Box::new(scene)).solve_from(&Q).unwrap().to_string();
    assert!(said.contains("the clearance of `link6` and `world`"), "{said}");
    let missing = ik.clone().solve_from(&Q).unwrap_err().to_string();
    assert!(missing.contains("InverseKinematics::avoiding"), "{missing}");
    assert!(InverseKinematics::new(&m, vec![Task::clear(-1.0)]).is_err());
    let twice = vec![Task::clear(0.1), Task::clear(0.2)];
    let said = InverseKinematics::new(&m, twice).unwrap_err().to_string();
    assert!(said.contains("2 tasks are about being clear"), "{said}");
}
