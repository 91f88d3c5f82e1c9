//! Long expressions end, with the right numbers.

use linkwork::Mechanism;
use linkwork::algebra::{Evaluator, Expression, Look};
use linkwork::model::examples;
use std::time::{Duration, Instant};

/// x → a power of (𝓜 + I), or of (𝓜 + 𝓜⁻¹), one factor after another.
fn powers(arm: &Mechanism, q: &[f64], power: usize, inverse: bool, x: &[f64]) -> Vec<f64> {
    let mut workspace = arm.workspace();
    let mut posed = workspace.at(q).unwrap();
    let (mut x, mut y, mut z) = (x.to_vec(), x.to_vec(), x.to_vec());
    for _ in 0..power {
        posed.mass_times(&x, &mut y).unwrap();
        match inverse {
            true => posed.inverse_mass_times(&x, &mut z).unwrap(),
            false => z.copy_from_slice(&x),
        }
        x.iter_mut().zip(y.iter().zip(&z)).for_each(|(x, (y, z))| *x = y + z);
    }
    x
}

#[test]
fn powers_of_sums_end() {
    let arm = examples::puma560();
    let (q, torques) = ([0.3, -0.5, 0.2, 0.1, 0.6, -0.2], [1.0, -2.0, 0.5, 0.3, -0.1, 0.2]);
    for (text, power, inverse) in [
        ("(Mass + I)^20 T", 20, false),
        ("(Mass + I)^64 T", 64, false),
        ("(Mass + inv(Mass))^6 T", 6, true),
    ] {
        let begun = Instant::now();
        let expression: Expression = text.parse().unwrap();
        let algorithm = expression.compile(false, &["T"]);
        assert!(
            algorithm.cost().total() <= algorithm.naive_cost().total(),
            "{text}: {:?}",
            algorithm.cost()
        );
        // A search that ends early says so.
        let told = algorithm.explain(Look::Plain).contains("cut short");
        assert_eq!(told, algorithm.is_cut_short(), "{text}");
        assert!(told || !inverse, "{text}");
        let mut run = Evaluator::<f64>::new(&expression, &arm, &[], &["T"]).unwrap();
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "{text}: {:?}",
            begun.elapsed()
        );
        let mut out = [0.0; 6];
        let mut workspace = arm.workspace();
        let mut posed = workspace.at(&q).unwrap();
        posed.evaluate(&mut run, &[("T", &torques)], &mut out).unwrap();
        let expect = powers(&arm, &q, power, inverse, &torques);
        let scale = expect.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        // Powers of wrists of 1e-4 kg m² and shoulders of 5 lose what their sums cancel.
        for (a, b) in out.iter().zip(&expect) {
            assert!((a - b).abs() <= 1e-9 * scale, "{text}: {a} instead of {b}");
        }
    }
    let short: Expression = "inv(Mass) (T - C)".parse().unwrap();
    assert!(!short.compile(false, &[]).is_cut_short());
}

#[test]
fn many_results_share_one_budget() {
    // Each result is costed together with all others: without a common budget this would grow with the cube of their number.
    let one = |i: usize| format!("x{i} = d(inv(Mass) (T - C), w{i}:joint)");
    let time = |count: usize| {
        let text: Vec<String> = (0..count).map(one).collect();
        let expression: Expression = text.join("; ").parse().unwrap();
        let begun = Instant::now();
        let algorithm = expression.compile(false, &[]);
        (begun.elapsed(), algorithm)
    };
    let (few, _) = time(4);
    let (many, algorithm) = time(16);
    assert!(algorithm.is_cut_short());
    assert!(algorithm.cost().total() <= algorithm.naive_cost().total());
    // Four times as many, and each about four times as long to write down.
    assert!(many < 40 * few.max(Duration::from_millis(20)), "{few:?}, then {many:?}");
}
