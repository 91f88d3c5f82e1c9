//! What the sweeps cost, in multiplications and additions.

mod support;

use linkwork::scalar::{Count, Operations};
use support::arm::general_arm;
use support::random::Random;

/// Counts of forward dynamics, inverse dynamics, 𝓜, the Riccati sweep, 𝓜⁻¹ and q alone, from q (sines given) on.
fn counts(n: usize) -> [Operations; 6] {
    let arm = general_arm(n);
    let mut random = Random::new(1);
    let mut numbers = || random.numbers(n, 1.0).into_iter().map(Count).collect::<Vec<_>>();
    let (q, qd, given) = (numbers(), numbers(), numbers());
    let (mut one, mut square) = (vec![Count(0.0); n], vec![Count(0.0); n * n]);
    let mut workspace = arm.workspace_of::<Count>();
    let forward = Count::operations(|| {
        let mut posed = workspace.at(&q).unwrap();
        posed.moving(&qd).unwrap().forward_dynamics(&given, &mut one).unwrap();
    });
    let inverse = Count::operations(|| {
        let mut posed = workspace.at(&q).unwrap();
        posed.moving(&qd).unwrap().inverse_dynamics(&given, &mut one).unwrap();
    });
    let mass = Count::operations(|| workspace.at(&q).unwrap().mass_matrix(&mut square).unwrap());
    let riccati = Count::operations(|| workspace.at(&q).unwrap().log_det_mass().unwrap());
    let inverse_mass = Count::operations(|| workspace.at(&q).unwrap().mass_matrix_inverse(&mut square).unwrap());
    let at = Count::operations(|| workspace.at(&q).map(|posed| posed.mass()).unwrap());
    [forward, inverse, mass, riccati, inverse_mass, at]
}

#[test]
fn forward_dynamics_of_a_general_arm_is_below_the_articulated_body_count() {
    println!("   N  forward (× +)        579N−526 477N−503  inverse      𝓜  Riccati     𝓜⁻¹     at");
    for n in [6, 12, 30] {
        let all = counts(n);
        let [forward, inverse, mass, riccati, inverse_mass, at] = all.map(Operations::total);
        let (articulated, filter) = (579 * n as u64 - 526, 477 * n as u64 - 503);
        let Operations {
            multiplications,
            additions,
        } = all[0];
        println!(
            "{n:4} {forward:6} ({multiplications:5} + {additions:5}) {articulated:8} {filter:8} {inverse:8} {mass:6} {riccati:8} {inverse_mass:7} {at:6}"
        );
        assert!(forward < articulated, "{n} links: {forward} against {articulated}");
        assert!(n < 30 || forward < filter, "{n} links: {forward} against {filter}");
    }
}

#[test]
fn sweeps_cost_the_same_for_every_link_inside_an_arm() {
    let [six, seven, twelve] = [6, 7, 12].map(counts);
    for (sweep, name) in [(0, "forward"), (1, "inverse"), (3, "Riccati"), (5, "at")] {
        let per_link = seven[sweep].total() - six[sweep].total();
        assert_eq!(twelve[sweep].total() - six[sweep].total(), 6 * per_link, "{name}");
        println!(
            "{name}: {per_link} N + {}",
            six[sweep].total() as i64 - 6 * per_link as i64
        );
    }
}

/// Counts of Algorithms 1, 2, 5 and 6 of JL, from q on; Algorithm 5 without what the point and the Riccati sweep hold.
fn linearized_counts(n: usize) -> [u64; 4] {
    let arm = general_arm(n);
    let mut random = Random::new(2);
    let mut numbers = |n: usize| random.numbers(n, 1.0).into_iter().map(Count).collect::<Vec<_>>();
    let (q, qd, given, change) = (numbers(n), numbers(n), numbers(n), numbers(3 * n));
    let (mut one, mut out) = (vec![Count(0.0); n], arm.derivatives_of::<Count>());
    let mut workspace = arm.workspace_of::<Count>();
    let product = Count::operations(|| {
        let mut posed = workspace.at(&q).unwrap();
        let mut moving = posed.moving(&qd).unwrap();
        let mut linearized = moving.linearized(&given).unwrap();
        linearized.torque_change(&change, &mut one).unwrap();
    });
    let matrices = Count::operations(|| {
        let mut posed = workspace.at(&q).unwrap();
        let mut moving = posed.moving(&qd).unwrap();
        moving
            .linearized(&given)
            .unwrap()
            .inverse_derivatives(&mut out)
            .unwrap();
    });
    let forward_matrices = Count::operations(|| {
        let mut posed = workspace.at(&q).unwrap();
        let mut moving = posed.moving(&qd).unwrap();
        let mut linearized = moving.linearized_under(&given, &mut one).unwrap();
        linearized.forward_derivatives(&mut out).unwrap();
    });
    let mut posed = workspace.at(&q).unwrap();
    let mut moving = posed.moving(&qd).unwrap();
    let mut linearized = moving.linearized_under(&given, &mut one).unwrap();
    let mut change_out = one.clone();
    let forward = Count::operations(|| linearized.acceleration_change(&change, &mut change_out).unwrap());
    [product, matrices, forward, forward_matrices].map(Operations::total)
}

/// δq̈ costs less than published, and ∂T/∂q, ∂T/∂q̇ do on long arms. The others cost somewhat more, for a reason: all columns of
/// a block go the same way, so that four take the time of one. The forward matrices carry each column through every link, where
/// Algorithm 6 keeps one row for three matrices; the point is made in full for every joint kind and for both.
#[test]
fn linearized_dynamics_beside_the_published_counts() {
    const AT_MOST: [f64; 4] = [1.25, 1.2, 1.0, 1.7];
    println!("   n       δT published |   ∂T matrices published |       δq̈ published |  ∂q̈ matrices published");
    for n in [6, 12, 30, 100] {
        let ours = linearized_counts(n);
        let n = n as f64;
        let published = [
            623.0 * n - 308.0,
            44.5 * n * n + 635.5 * n - 277.0,
            491.0 * n - 252.0,
            69.0 * n * n + 1554.0 * n - 480.0,
        ];
        print!("{n:4}");
        for (ours, published) in ours.into_iter().zip(published) {
            print!(" {ours:9} {published:9} |");
        }
        println!();
        for ((ours, published), at_most) in ours.into_iter().zip(published).zip(AT_MOST) {
            assert!(
                (ours as f64) < at_most * published,
                "{n} links: {ours} against {published}"
            );
        }
        assert!(n < 100.0 || (ours[1] as f64) < published[1]);
    }
}
