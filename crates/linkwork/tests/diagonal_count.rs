//! What the diagonalized equations cost, beside the published counts.

mod support;

use linkwork::Mechanism;
use linkwork::model::{Joint, Link};
use linkwork::scalar::Count;
use linkwork::spatial::{Pose, Rotation};
use linkwork::workspace::Scaling::{self, Normalized, Unnormalized};
use support::random::Random;

/// A revolute arm in which nothing is parallel, orthogonal or nought.
fn general_arm(n: usize) -> Mechanism {
    let mut random = Random::new(6);
    let mut builder = Mechanism::builder(format!("general{n}")).gravity([0.3, -0.4, -9.7]);
    for k in 0..n {
        let inner = if k == 0 {
            "world".to_owned()
        } else {
            format!("link{}", k - 1)
        };
        let mut inertia = random.inertia();
        inertia.com = random.vector(0.2);
        let placed = Pose::new(Rotation::from_quaternion(random.quaternion()), random.vector(0.5));
        let joint = Joint::revolute(format!("joint{k}"), random.direction());
        builder = builder
            .link(Link::new(format!("link{k}"), inertia))
            .joint(joint.between(inner, format!("link{k}")).placed(placed));
    }
    builder.build().unwrap()
}

/// Multiplications and additions from (q, total rates), sines given, to q̇ and total accelerations; and of forward dynamics.
fn counts(n: usize, scaling: Scaling) -> (u64, u64) {
    let arm = general_arm(n);
    let mut random = Random::new(1);
    let mut numbers = || random.numbers(n, 1.0).into_iter().map(Count).collect::<Vec<_>>();
    let (q, total, tau, mut out) = (numbers(), numbers(), numbers(), numbers());
    let mut workspace = arm.workspace_of::<Count>();
    let diagonalized = Count::operations(|| {
        let mut posed = workspace.at(&q).unwrap();
        let mut moving = posed.moving_at_total_rates(scaling, &total).unwrap();
        moving.total_accelerations(scaling, &tau, &mut out).unwrap();
    });
    let standard = Count::operations(|| {
        let mut posed = workspace.at(&q).unwrap();
        posed.moving(&total).unwrap().forward_dynamics(&tau, &mut out).unwrap();
    });
    (diagonalized.total(), standard.total())
}

#[test]
fn diagonalized_equations_cost_less_than_published() {
    println!("   N  normalized (1135N−910)  un-normalized (926N−605)  forward dynamics  ratio");
    for n in [6, 12, 100] {
        let ((normalized, standard), (plain, _)) = (counts(n, Normalized), counts(n, Unnormalized));
        let (published_normalized, published) = (1135 * n as u64 - 910, 926 * n as u64 - 605);
        let ratio = plain as f64 / standard as f64;
        println!(
            "{n:4}  {normalized:10} ({published_normalized:6})  {plain:13} ({published:5})  {standard:16}  {ratio:.2}"
        );
        assert!(normalized < published_normalized && plain < published);
        assert!(ratio < 1.6, "{ratio}");
    }
}
