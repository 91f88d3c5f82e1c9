//! Derivatives of steps with loops: differences, and the transpose.

use linkwork::Mechanism;
use linkwork::closed::{ClosedMechanism, Constraint, ConstraintKind, ConstraintTarget};
use linkwork::contact::{Change, Contact, Meeting, Settings, Stepper, Surface};
use linkwork::model::{FrameId, Joint, Link};
use linkwork::spatial::{Inertia, Motion, Pose, Rotation, Vec3};

const FOOT: f64 = 0.06;
/// R is 10⁻⁷ of what a loop yields, which leaves nine digits, and some dozen numbers are added up.
const ROUNDING: f64 = 5e-7;

/// A free body with two arms of different joints, whose hands are tied, and a round foot.
fn two_arms() -> Mechanism {
    let link = |name: &str, mass: f64| {
        let inertia = Inertia::new(mass, [0.03, -0.02, 0.05], [0.02, 0.001, 0.002, 0.03, -0.001, 0.025]);
        Link::new(name, inertia)
    };
    let tilted = Pose::new(Rotation::from_rpy(0.3, -0.2, 0.5), [0.02, 0.03, 0.04]);
    Mechanism::builder("two arms")
        .link(link("base", 3.0))
        .link(link("upper", 1.0))
        .link(link("fore", 0.8))
        .link(link("left", 0.5))
        .link(link("slide", 0.7))
        .link(link("right", 0.6))
        .joint(Joint::free("float").between("world", "base"))
        .joint(
            Joint::revolute("shoulder", [0.0, 0.6, 0.8])
                .between("base", "upper")
                .at([0.1, 0.1, 0.0]),
        )
        .joint(
            Joint::revolute("elbow", [1.0, 0.0, 0.0])
                .between("upper", "fore")
                .at([0.0, 0.2, 0.05]),
        )
        .joint(Joint::spherical("wrist").between("fore", "left").at([0.1, 0.1, 0.0]))
        .joint(
            Joint::helical("screw", [0.0, 0.0, 1.0], 0.1)
                .between("base", "slide")
                .at([0.1, -0.2, 0.0]),
        )
        .joint(
            Joint::universal("cardan", [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
                .between("slide", "right")
                .at([0.0, 0.1, 0.1]),
        )
        .frame("one", "left", tilted)
        .frame(
            "two",
            "right",
            Pose::new(Rotation::from_rpy(-0.1, 0.4, 0.2), [-0.03, 0.05, 0.02]),
        )
        .frame(
            "post",
            "world",
            Pose::new(Rotation::from_rpy(0.2, 0.1, -0.3), [0.2, 0.1, 0.4]),
        )
        .build()
        .unwrap()
}

struct Case {
    closed: ClosedMechanism,
    q: Vec<f64>,
    v: Vec<f64>,
    torque: Vec<f64>,
    settings: Settings,
}

impl Case {
    fn new(constraints: Vec<Constraint>) -> Self {
        let m = two_arms();
        let mut q = m.random(5);
        q[4..7].copy_from_slice(&[0.1, -0.2, 0.5]);
        let v = (0..m.nv()).map(|i| 0.3 * (1.7 * i as f64 + 0.4).sin()).collect();
        let torque = (0..m.nv()).map(|i| 0.5 * (i as f64).cos()).collect();
        let mut settings = Settings::new(2e-3);
        (settings.gyroscopic, settings.memory, settings.loads) = (false, false, false);
        (settings.tolerance, settings.coulomb_tolerance, settings.iterations) = (1e-11, 1e-11, 30);
        let closed = ClosedMechanism::new(m, constraints).unwrap();
        Self {
            closed,
            q,
            v,
            torque,
            settings,
        }
    }

    /// The foot on the ground below it, inside, so that no difference leaves it.
    fn contacts(&self, q: &[f64]) -> (Vec<Contact>, Vec<Meeting>) {
        let m = self.closed.mechanism();
        let at = |q: &[f64]| m.workspace().at(q).unwrap().pose(m.frame("base").unwrap()).unwrap();
        let below = |q: &[f64]| at(q).point(Vec3::new(0.0, 0.05, -0.1));
        let (centre, height) = (below(q), below(&self.q).z - FOOT + 1e-2);
        let n = Vec3::new(0.0, 0.0, 1.0);
        let contact = Contact {
            id: 1,
            a: m.frame("base").unwrap(),
            b: FrameId::WORLD,
            point: centre - n * FOOT,
            normal: n,
            gap: centre.z - FOOT - height,
            surface: Surface::with_friction(0.4),
        };
        let meeting = Meeting::BallOnFace {
            radius: FOOT,
            halfway: false,
        };
        (vec![contact], vec![meeting])
    }

    fn plus(&self, held: &[[f64; 2]], q: &[f64], v: &[f64], torque: &[f64]) -> Vec<f64> {
        let mut stepper = Stepper::closed(&self.closed, self.settings).unwrap();
        stepper.hold_compliance(held.to_vec());
        let (contacts, _) = self.contacts(q);
        let report = stepper.solve(q, v, torque, &contacts).unwrap();
        report.velocity.clone()
    }

    /// Checks all derivatives; whether the foot stands meanwhile.
    fn check(&self, what: &str) -> bool {
        let m = self.closed.mechanism();
        let nv = m.nv();
        let (contacts, meetings) = self.contacts(&self.q);
        let mut stepper = Stepper::closed(&self.closed, self.settings).unwrap();
        let report = stepper.solve(&self.q, &self.v, &self.torque, &contacts).unwrap();
        let stands = report.contacts[0].force(self.settings.step).norm() > 0.0;
        assert!(!report.loops.is_empty(), "{what}");
        let held: Vec<[f64; 2]> = report.contacts.iter().map(|c| c.compliance).collect();
        let mut step = stepper
            .derivatives(&self.q, &self.v, &self.torque, &contacts, &meetings)
            .unwrap();
        let mut found = [(); 3].map(|()| vec![0.0; nv * nv]);
        let [by_q, by_v, by_torque] = &mut found;
        step.matrices(by_q, by_v, by_torque).unwrap();
        // Differences of fourth order: 8(f(h) − f(−h)) − (f(2h) − f(−2h)) over 12h.
        let differ = |f: &dyn Fn(f64) -> Vec<f64>, h: f64| -> Vec<f64> {
            let [a, b, c, d] = [h, -h, 2.0 * h, -2.0 * h].map(f);
            (0..nv)
                .map(|i| (8.0 * (a[i] - b[i]) - (c[i] - d[i])) / (12.0 * h))
                .collect()
        };
        let times = |matrix: &[f64], x: &[f64]| -> Vec<f64> {
            let row = |row: &[f64]| row.iter().zip(x).map(|(a, x)| a * x).sum();
            matrix.chunks(nv).map(row).collect()
        };
        for seed in [5.0, 6.0] {
            let unit: Vec<f64> = (0..nv).map(|i| (3.0 * i as f64 + seed).sin()).collect();
            let along = |x: &[f64], h: f64| -> Vec<f64> { x.iter().zip(&unit).map(|(x, u)| x + h * u).collect() };
            let moved = |h: f64| {
                let mut q = self.q.clone();
                m.integrate(&self.q, &along(&vec![0.0; nv], h), &mut q).unwrap();
                self.plus(&held, &q, &self.v, &self.torque)
            };
            let faster = |h: f64| self.plus(&held, &self.q, &along(&self.v, h), &self.torque);
            let driven = |h: f64| self.plus(&held, &self.q, &self.v, &along(&self.torque, h));
            let expected = [differ(&moved, 2e-4), differ(&faster, 1e-3), differ(&driven, 1e-2)];
            for ((matrix, expected), word) in found.iter().zip(&expected).zip(["q", "v", "torque"]) {
                let size = expected.iter().fold(1e-3, |most: f64, x| most.max(x.abs()));
                let along = times(matrix, &unit);
                let apart = along.iter().zip(expected).map(|(x, y)| (x - y).abs());
                let worst = apart.fold(0.0, f64::max) / size;
                // R of loops, 10⁻⁷ of what they yield, is held, and what they bear is taken as it is.
                assert!(worst < 5e-6, "{what}: by {word}: {worst:e} of {size:e}");
            }
        }
        // Products and adjoints are those of the matrices.
        let direction = |seed: f64| -> Vec<f64> { (0..nv).map(|i| (7.0 * i as f64 + seed).sin()).collect() };
        let given = [direction(1.0), direction(2.0), direction(3.0)];
        let mut product = vec![0.0; nv];
        let change = Change {
            q: Some(&given[0]),
            v: Some(&given[1]),
            torque: Some(&given[2]),
            ..Change::default()
        };
        step.change(&change, &mut product).unwrap();
        for i in 0..nv {
            let expected: f64 = (0..3).map(|k| times(&found[k], &given[k])[i]).sum();
            let size = found.iter().flatten().fold(1.0, |most: f64, x| most.max(x.abs()));
            assert!(
                (product[i] - expected).abs() < ROUNDING * size,
                "{what}: {} {expected}",
                product[i]
            );
        }
        let y = direction(4.0);
        let gradient = step.adjoint(&y).unwrap();
        for (found, matrix) in [&gradient.q, &gradient.v, &gradient.torque].into_iter().zip(&found) {
            let size = matrix.iter().fold(1e-3, |most: f64, x| most.max(x.abs()));
            for j in 0..nv {
                let expected: f64 = (0..nv).map(|i| matrix[i * nv + j] * y[i]).sum();
                assert!(
                    (found[j] - expected).abs() < ROUNDING * size,
                    "{what}: {} {expected}",
                    found[j]
                );
            }
        }
        stands
    }
}

#[test]
fn steps_with_loops_of_every_kind_are_differentiated() {
    let axis = Vec3::new(0.2, 0.5, 0.8);
    let [one, two] = ["one", "two"];
    let all = vec![
        Constraint::point("point", one, two),
        Constraint::weld("weld", one, two),
        Constraint::hinge("hinge", one, two, axis),
        Constraint::slider("slider", one, two, axis),
        Constraint::distance("distance", one, two, 0.3),
        Constraint::distance("rope", one, two, 0.1).at_most(),
        Constraint::directions("directions", one, two, [true, false, false], [false, true, true]),
        Constraint::rates("rates", one, two, [true, false, false], [false, true, false]),
        Constraint::ball("ball", one, two, 0.2),
        Constraint::weld("to the world", "post", two),
    ];
    let mut stood = 0;
    for constraint in all {
        let what = constraint.name.clone();
        stood += usize::from(Case::new(vec![constraint]).check(&what));
    }
    assert!(stood > 2, "contact and loops together: {stood}");
}

#[test]
fn targets_that_move_and_several_loops_are_differentiated() {
    let mut case = Case::new(vec![
        Constraint::directions("held", "post", "one", [false; 3], [true, true, true]),
        Constraint::new(
            "wheel",
            ConstraintKind::Rolling {
                radius: 0.15,
                axis: Some(Vec3::new(0.0, 1.0, 0.2)),
                normal: Vec3::new(0.1, 0.0, 1.0),
            },
            "post",
            "two",
        ),
        Constraint::distance("off", "one", "two", 0.3),
    ]);
    let target = ConstraintTarget {
        pose: Pose::new(Rotation::from_rpy(0.1, 0.2, 0.3), [0.1, 0.0, 0.2]),
        velocity: Motion::new([0.3, 0.1, -0.2], [0.2, -0.1, 0.4]),
        acceleration: Motion::new([0.5, -1.0, 0.7], [2.0, 1.0, -1.5]),
    };
    case.closed.prescribe("held", Some(target)).unwrap();
    case.closed.switch("off", false).unwrap();
    case.check("several");
}
