//! What the diagonalized equations cost, beside the published counts.

mod support;

use linkwork::scalar::Count;
use linkwork::workspace::Scaling::{self, Normalized, Unnormalized};
use support::arm::general_arm;
use support::random::Random;

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
