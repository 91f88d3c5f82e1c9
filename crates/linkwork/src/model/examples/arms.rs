//! Arms.

use super::built;
use crate::Mechanism;
use crate::model::{Builder, Dh, DhRow, Joint, Link};
use crate::spatial::{Inertia, Pose, Rotation};
use core::f64::consts::{FRAC_PI_2, PI};

/// Diagonal moments.
fn body(mass: f64, com: [f64; 3], [xx, yy, zz]: [f64; 3]) -> Inertia {
    Inertia::new(mass, com, [xx, 0.0, 0.0, yy, 0.0, zz])
}

/// A four-joint SCARA with the reach of an Adept Cobra 600 (325 and 275 mm, 210 mm of stroke); masses are our own.
pub fn scara() -> Mechanism {
    let rows = [
        DhRow::revolute(0.387, 0.325, 0.0)
            .inertia(body(8.0, [-0.15, 0.0, 0.0], [0.02, 0.09, 0.09]))
            .motor(1e-4, 50.0)
            .limits(-1.85, 1.85),
        DhRow::revolute(0.0, 0.275, PI)
            .inertia(body(6.0, [-0.12, 0.0, -0.03], [0.015, 0.05, 0.05]))
            .motor(5e-5, 50.0)
            .limits(-2.6, 2.6),
        DhRow::prismatic(0.0, 0.0, 0.0)
            .inertia(body(1.2, [0.0, 0.0, -0.1], [0.012, 0.012, 0.0003]))
            .limits(0.0, 0.21),
        DhRow::revolute(0.0, 0.0, 0.0)
            .inertia(body(0.4, [0.0, 0.0, 0.02], [0.0003, 0.0003, 0.0002]))
            .limits(-2.0 * PI, 2.0 * PI),
    ];
    built(Builder::from_dh("scara", Dh::Standard, &rows))
}

/// The Unimation PUMA 560 with the parameters of Corke and Armstrong-Hélouvry (ICRA 1994): standard
/// Denavit–Hartenberg table, motors with their gears, viscous and dry friction at the joints.
///
/// The moments were identified from torques: links 1 and 3 have some that no body has. Dry friction is the mean of
/// the two directions.
///
/// ```
/// let puma = linkwork::model::examples::puma560();
/// assert_eq!((puma.nv(), puma.gravity().z), (6, -9.81));
/// ```
pub fn puma560() -> Mechanism {
    /// Motor inertia, gear ratio, viscous friction and the two dry ones at the motor, limits in degrees.
    struct Drive(f64, f64, f64, [f64; 2], [f64; 2]);
    let row = |(d, a, alpha): (f64, f64, f64), inertia, drive: Drive| {
        let Drive(rotor, ratio, viscous, [forth, back], [lower, upper]) = drive;
        DhRow::revolute(d, a, alpha)
            .inertia(inertia)
            .motor(rotor, ratio)
            .resistance(viscous * ratio * ratio, 0.5 * (forth + back) * ratio.abs())
            .limits(f64::to_radians(lower), f64::to_radians(upper))
    };
    let rows = [
        row(
            (0.0, 0.0, FRAC_PI_2),
            body(0.0, [0.0; 3], [0.0, 0.35, 0.0]),
            Drive(200e-6, -62.6111, 1.48e-3, [0.395, 0.435], [-160.0, 160.0]),
        ),
        row(
            (0.0, 0.4318, 0.0),
            body(17.4, [-0.3638, 0.006, 0.2275], [0.13, 0.524, 0.539]),
            Drive(200e-6, 107.815, 0.817e-3, [0.126, 0.071], [-45.0, 225.0]),
        ),
        row(
            (0.15005, 0.0203, -FRAC_PI_2),
            body(4.8, [-0.0203, -0.0141, 0.070], [0.066, 0.086, 0.0125]),
            Drive(200e-6, -53.7063, 1.38e-3, [0.132, 0.105], [-225.0, 45.0]),
        ),
        row(
            (0.4318, 0.0, FRAC_PI_2),
            body(0.82, [0.0, 0.019, 0.0], [1.8e-3, 1.3e-3, 1.8e-3]),
            Drive(33e-6, 76.0364, 71.2e-6, [11.2e-3, 16.9e-3], [-110.0, 170.0]),
        ),
        row(
            (0.0, 0.0, -FRAC_PI_2),
            body(0.34, [0.0; 3], [0.3e-3, 0.4e-3, 0.3e-3]),
            Drive(33e-6, 71.923, 82.6e-6, [9.26e-3, 14.5e-3], [-100.0, 100.0]),
        ),
        row(
            (0.0, 0.0, 0.0),
            body(0.09, [0.0, 0.0, 0.032], [0.15e-3, 0.15e-3, 0.04e-3]),
            Drive(33e-6, 76.686, 36.7e-6, [3.96e-3, 10.5e-3], [-266.0, 266.0]),
        ),
    ];
    built(Builder::from_dh("puma560", Dh::Standard, &rows).any_positive_inertia())
}

/// A seven-joint arm: the KUKA LBR iiwa 14 R820, with the inertial parameters of its public robot descriptions and the
/// limits of its data sheet. It stands upright at q = 0.
pub fn arm7() -> Mechanism {
    // The two turns between neighbouring joints, exactly.
    let flip = Rotation::from_rows([[-1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]);
    let tilt = Rotation::from_rows([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]);
    let straight = Rotation::IDENTITY;
    let links = [
        (
            straight,
            [0.0, 0.0, 0.1575],
            body(5.76, [0.0, -0.03, 0.12], [0.0333, 0.033, 0.0123]),
        ),
        (
            flip,
            [0.0, 0.0, 0.2025],
            body(6.35, [0.0003, 0.059, 0.042], [0.0305, 0.0304, 0.011]),
        ),
        (
            flip,
            [0.0, 0.2045, 0.0],
            body(3.5, [0.0, 0.03, 0.13], [0.025, 0.0238, 0.0076]),
        ),
        (
            tilt,
            [0.0, 0.0, 0.2155],
            body(3.5, [0.0, 0.067, 0.034], [0.017, 0.0164, 0.006]),
        ),
        (
            flip,
            [0.0, 0.1845, 0.0],
            body(3.5, [0.0001, 0.021, 0.076], [0.01, 0.0087, 0.00449]),
        ),
        (
            tilt,
            [0.0, 0.0, 0.2155],
            body(1.8, [0.0, 0.0006, 0.0004], [0.0049, 0.0047, 0.0036]),
        ),
        (
            flip,
            [0.0, 0.081, 0.0],
            body(1.2, [0.0, 0.0, 0.02], [0.001, 0.001, 0.001]),
        ),
    ];
    // Position in degrees, speed in degrees per second, torque in N m.
    let limits = [
        (170.0, 85.0, 320.0),
        (120.0, 85.0, 320.0),
        (170.0, 100.0, 176.0),
        (120.0, 75.0, 176.0),
        (170.0, 130.0, 110.0),
        (120.0, 135.0, 40.0),
        (175.0, 135.0, 40.0),
    ];
    let base = Link::new("base", body(5.0, [-0.1, 0.0, 0.07], [0.05, 0.06, 0.03]));
    let mut arm = Mechanism::builder("arm7")
        .link(base)
        .joint(Joint::fixed("mount").between("world", "base"));
    let mut inner = "base".to_owned();
    for (i, ((turn, shift, inertia), (angle, speed, torque))) in links.into_iter().zip(limits).enumerate() {
        let link = format!("link{}", i + 1);
        let angle = f64::to_radians(angle);
        arm = arm.link(Link::new(&link, inertia)).joint(
            Joint::revolute(format!("joint{}", i + 1), [0.0, 0.0, 1.0])
                .between(inner, &link)
                .placed(Pose::new(turn, shift))
                .position_limits(-angle, angle)
                .velocity_limit(f64::to_radians(speed))
                .effort_limit(torque),
        );
        inner = link;
    }
    built(arm.frame("flange", "link7", Pose::from_translation([0.0, 0.0, 0.045])))
}

/// Two of [`arm7`], left and right, on a torso that turns about the vertical; 15 joints. The torso is our own.
pub fn dual_arm() -> Mechanism {
    let side = |y: f64| Pose::new(Rotation::about([-y, 0.0, 0.0].into(), FRAC_PI_2), [0.0, y, 0.6]);
    let torso = Mechanism::builder("dual_arm")
        .link(Link::new("pedestal", body(40.0, [0.0, 0.0, 0.3], [2.0, 2.0, 1.2])))
        .link(Link::new("torso", body(25.0, [0.0, 0.0, 0.35], [1.1, 0.9, 0.4])))
        .joint(Joint::fixed("mount").between("world", "pedestal"))
        .joint(
            Joint::revolute("waist", [0.0, 0.0, 1.0])
                .between("pedestal", "torso")
                .at([0.0, 0.0, 0.6])
                .position_limits(-2.5, 2.5)
                .armature(0.8),
        )
        .frame("left_shoulder", "torso", side(0.2))
        .frame("right_shoulder", "torso", side(-0.2));
    let arm = arm7();
    let both = built(torso)
        .attach("left_shoulder", &arm, "left_")
        .and_then(|one| one.attach("right_shoulder", &arm, "right_"));
    both.expect("every example is a valid mechanism")
}
