//! Inverses in closed form, by weights, and of frames by name, against dense algebra on random trees.

mod support;

use linkwork::algebra::{Dense, Evaluator, Expression, Matrix};
use linkwork::{Mechanism, Reference};
use support::random::{Random, random_state, random_tree};

fn parse(text: &str) -> Expression {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn norm(x: &Matrix) -> f64 {
    x.data.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Frames of a tree: `a`, `b` by the names of links.
fn frames(mechanism: &Mechanism, random: &mut Random) -> (Vec<(linkwork::model::FrameId, Reference)>, [String; 2]) {
    let links = mechanism.links();
    let first = random.below(links.len());
    let second = (first + 1 + random.below(links.len().max(2) - 1)) % links.len();
    let names = [links[first].name.clone(), links[second].name.clone()];
    let references = [Reference::Aligned, Reference::Local];
    let chosen = names
        .iter()
        .zip(references)
        .map(|(n, r)| (mechanism.frame(n).unwrap(), r));
    (chosen.collect(), names)
}

/// A and B stand for the names of two frames.
const EXPRESSIONS: [&str; 26] = [
    "inv(Mass + J^* J)",
    "inv(2 Mass + 0.5 J^* J + 3 I)",
    "inv(Mass + J^* diag(w:tip) J)",
    "inv(Mass + diag(d:joint) + J^* diag(w:tip) J)",
    "inv(Mass + J[A]^* diag(u:frame) J[A])",
    "inv(Mass + J[A]^* J[A] + 2 J[B]^* J[B])",
    "inv(J^* J + 0.1 I)",
    "inv(H phi M phi^* H^* + A + H phi B B^* phi^* H^*)",
    "inv(I + J inv(Mass) J^*)",
    "inv(inv(diag(w:tip)) + J inv(Mass) J^*)",
    "inv(I + J[A] inv(Mass) J[A]^*)",
    "inv(Mass + J^* J) J^*",
    "J inv(Mass + J^* J) J^*",
    "J inv(Mass + J^* J) J^* f",
    "inv(Mass + J^* J) (T - C - J^* f)",
    "inv(Mass + J^* J) (Mass + J^* J) T",
    "J[A] - J[B]",
    "(J[A] - J[B]) inv(Mass) (J[A] - J[B])^*",
    "B[A] B[B]^* phi^* H^* T",
    "inv(2 I + (J[A] - J[B]) inv(Mass) (J[A] - J[B])^*)",
    "diag(d:joint) inv(Mass) inv(diag(d:joint)) T",
    "Phi M phi^* H^* T + phi~ M H^* T",
    "Psi M H' T",
    "sqrt(Mass) sqrt(Mass)'",
    "sqrt(inv(Mass)) sqrt(inv(Mass))'",
    "inv(I_t + J inv(Mass + J^* J) J^*)",
];

#[test]
fn weighted_inverses_agree_with_dense_algebra_on_random_trees() {
    let mut tested = 0;
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let mechanism = random_tree(seed, 7);
        if mechanism.links().len() < 2 {
            continue;
        }
        let state = random_state(&mechanism, seed);
        let (frames, [a, b]) = frames(&mechanism, &mut random);
        let (nv, nt) = (mechanism.nv(), 12);
        let positive = |n: usize, random: &mut Random| -> Vec<f64> {
            random.numbers(n, 1.0).iter().map(|x| 0.3 + x.abs()).collect()
        };
        let (w, u, d) = (
            positive(nt, &mut random),
            positive(6, &mut random),
            positive(nv, &mut random),
        );
        let (t, f) = (random.numbers(nv, 1.0), random.numbers(nt, 1.0));
        let all: [(&str, &[f64]); 5] = [("w", &w), ("u", &u), ("d", &d), ("T", &t), ("f", &f)];
        let dense = Dense::new(&mechanism, &state.q, &state.qd, &frames).unwrap();
        let size = |text: &str| norm(&dense.evaluate(&parse(text), &[]).unwrap());
        let condition = (1.0 + size("Mass")) * (1.0 + size("inv(Mass)")) * (1.0 + size("J")).powi(2);
        for text in EXPRESSIONS {
            let text = text.replace("[A]", &format!("[{a}]")).replace("[B]", &format!("[{b}]"));
            let expression = parse(&text);
            let given: Vec<_> = all
                .into_iter()
                .filter(|(n, _)| expression.vectors().iter().any(|v| v.0 == *n))
                .collect();
            let expect = dense.evaluate(&expression, &given).unwrap();
            let mut run =
                Evaluator::new(&expression, &mechanism, &frames, &[]).unwrap_or_else(|e| panic!("{text}: {e}"));
            let mut got = vec![0.0; expect.data.len()];
            let mut workspace = mechanism.workspace();
            let mut posed = workspace.at(&state.q).unwrap();
            let mut moving = posed.moving(&state.qd).unwrap();
            let done = match expression.is_vector() {
                true => moving.evaluate(&mut run, &given, &mut got),
                false => moving.matrix(&mut run, &given, &mut got),
            };
            done.unwrap_or_else(|e| panic!("{seed}: {text}: {e}"));
            let error = got
                .iter()
                .zip(&expect.data)
                .map(|(a, b)| (a - b).powi(2))
                .sum::<f64>()
                .sqrt();
            assert!(
                error <= 1e-13 * condition * (norm(&expect) + 1e-3),
                "{seed}: {text}: {error:e} of {:e}, {condition:e}",
                norm(&expect)
            );
            tested += 1;
        }
    }
    assert!(tested > 500, "{tested}");
}

#[test]
fn weights_take_two_sweeps_and_no_dense_matrix() {
    for (text, sweeps) in [
        ("inv(Mass + J^* diag(w:tip) J) T", 2),
        ("inv(Mass + J^* J) J^* f", 2),
        ("J inv(Mass + J^* J) J^* f", 2),
        ("inv(I + J inv(Mass) J^*) f", 2),
        ("inv(Mass + J^* J) (T - C - J^* f)", 4),
    ] {
        let algorithm = parse(text).compile(false, &[]);
        assert!(algorithm.solves().is_empty(), "{text}");
        assert!(algorithm.cost().sweeps <= sweeps, "{text}: {}", algorithm.cost().sweeps);
    }
}

#[test]
fn inertias_of_links_are_inverted_or_the_link_is_named() {
    let (mut sound, mut refused) = (0, 0);
    for seed in 0..40 {
        let mechanism = random_tree(seed, 6);
        let state = random_state(&mechanism, seed);
        let dense = Dense::new(&mechanism, &state.q, &state.qd, &[]).unwrap();
        for (text, of) in [("inv(M)", "M"), ("inv(P)", "P"), ("(inv(P) inv(psi))'", "P psi^*")] {
            let x = dense.evaluate(&parse(of), &[]).unwrap();
            let expression = parse(text);
            let mut y = Matrix::zeros(x.rows, x.columns);
            let run = Evaluator::new(&expression, &mechanism, &[], &[]);
            let mut workspace = mechanism.workspace();
            let mut posed = workspace.at(&state.q).unwrap();
            let done = run.and_then(|mut run| posed.matrix(&mut run, &[], &mut y.data));
            match done {
                Ok(()) => {
                    let product = &x * &y;
                    let error = norm(&(&product - &Matrix::identity(x.rows)));
                    assert!(error < 1e-12 * norm(&x) * norm(&y), "{seed}: {text}: {error:e}");
                    sound += 1;
                }
                Err(problem) => {
                    let problem = problem.to_string();
                    assert!(problem.contains("no inertia about some axis"), "{problem}");
                    refused += 1;
                }
            }
        }
    }
    assert!(sound > 20, "{sound} and {refused}");
}

#[test]
fn pseudo_inverses_and_projectors_at_any_rank() {
    for seed in 0..30 {
        let mut random = Random::new(seed);
        let mechanism = random_tree(seed, 7);
        if mechanism.links().len() < 2 {
            continue;
        }
        let state = random_state(&mechanism, seed);
        let (frames, _) = frames(&mechanism, &mut random);
        let of = |text: &str, rows: usize, columns: usize| {
            let mut run = Evaluator::new(&parse(text), &mechanism, &frames, &[]).unwrap();
            let mut x = Matrix::zeros(rows, columns);
            let mut workspace = mechanism.workspace();
            workspace
                .at(&state.q)
                .unwrap()
                .matrix(&mut run, &[], &mut x.data)
                .unwrap();
            x
        };
        let n = mechanism.nv();
        let (j, p) = (of("J", 12, n), of("pinv(J)", n, 12));
        let scale = (1.0 + norm(&j)) * (1.0 + norm(&p));
        assert!(
            norm(&(&(&(&j * &p) * &j) - &j)) < 1e-12 * scale * norm(&j).max(1.0),
            "{seed}"
        );
        assert!(
            norm(&(&(&(&p * &j) * &p) - &p)) < 1e-12 * scale * norm(&p).max(1.0),
            "{seed}"
        );
        let null = of("I - pinv(J) J", n, n);
        assert!(norm(&(&j * &null)) < 1e-12 * scale * norm(&j).max(1.0), "{seed}");
        assert!(norm(&(&(&null * &null) - &null)) < 1e-11 * scale, "{seed}");
    }
}

#[test]
fn frames_that_are_not_chosen_and_weights_that_are_none_are_refused() {
    let arm = linkwork::model::examples::arm7();
    let names: Vec<String> = arm.links().iter().map(|l| l.name.clone()).collect();
    let frames = [(arm.frame(&names[2]).unwrap(), Reference::Local)];
    let text = format!("J[{}] qd", names[5]);
    assert_eq!(parse(&text).frames(), [names[5].clone()]);
    let problem = Evaluator::<f64>::new(&parse(&text), &arm, &frames, &[])
        .unwrap_err()
        .to_string();
    assert!(problem.contains(&names[5]) && problem.contains("add it"), "{problem}");
    let problem = Evaluator::<f64>::new(&parse("J[nowhere] qd"), &arm, &frames, &[]).unwrap_err();
    assert!(problem.to_string().contains("nowhere"), "{problem}");
    let problem = Evaluator::<f64>::new(&parse("Jc qd"), &arm, &frames, &[])
        .unwrap_err()
        .to_string();
    assert!(problem.contains("no constraints"), "{problem}");
    let mut run = Evaluator::new(&parse("inv(Mass + J^* diag(w) J) T"), &arm, &frames, &[]).unwrap();
    let mut workspace = arm.workspace();
    let mut posed = workspace.at(&arm.neutral()).unwrap();
    let given: [(&str, &[f64]); 2] = [("w", &[1.0, 1.0, -1.0, 1.0, 1.0, 1.0]), ("T", &[0.0; 7])];
    let problem = posed.evaluate(&mut run, &given, &mut [0.0; 7]).unwrap_err().to_string();
    assert!(problem.contains('w') && problem.contains("not negative"), "{problem}");
    for (text, reason) in [
        ("J[", "never closed"),
        ("J[] qd", "name is missing"),
        ("M[left] V", "does not belong to a frame"),
    ] {
        let problem = text.parse::<Expression>().unwrap_err().to_string();
        assert!(problem.contains(reason), "{text}: {problem}");
    }
}
