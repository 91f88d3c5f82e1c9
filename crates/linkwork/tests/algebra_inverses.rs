//! Inverses in expressions: in closed form, or as a dense solve between sweeps, against their dense definitions.

mod support;

use linkwork::algebra::{BatchEvaluator, Dense, Evaluator, Expression, Matrix, Notation, Space};
use linkwork::model::FrameId;
use linkwork::{Mechanism, Reference};
use support::expressions::norm;
use support::random::{Random, random_state, random_tree};

fn parse(text: &str) -> Expression {
    text.parse().unwrap_or_else(|e| panic!("{e}"))
}

/// The matrix of an operator at a configuration, by the compiled algorithm.
fn compiled(mechanism: &Mechanism, q: &[f64], frames: &[(FrameId, Reference)], text: &str) -> linkwork::Result<Matrix> {
    let expression = parse(text);
    let mut run = Evaluator::new(&expression, mechanism, frames, &[])?;
    let (rows, columns) = (run.len(), run.size(expression.domain()));
    let mut data = vec![f64::NAN; rows * columns];
    mechanism.workspace().at(q)?.matrix(&mut run, &[], &mut data)?;
    Ok(Matrix { rows, columns, data })
}

/// How far two matrices are apart, relative to the second.
fn apart(a: &Matrix, b: &Matrix) -> f64 {
    assert_eq!((a.rows, a.columns), (b.rows, b.columns));
    norm(&(a - b)) / norm(b).max(f64::MIN_POSITIVE)
}

/// Each, and what it is the inverse of.
const CLOSED: [(&str, &str); 12] = [
    ("inv(H phi M phi^* H^* + A)", "Mass"),
    ("inv(A + H phi M phi^* H^*)", "Mass"),
    ("inv(I + H (phi - I) G)", "I + H phi K"),
    ("inv(I + H phi E_phi G)", "I + H phi K"),
    ("inv(I - H psi E_phi G)", "I - H psi K"),
    ("inv((I + H (phi - I) G) D (I + H (phi - I) G)^*)", "Mass"),
    ("inv(I - psi K H)", "I - psi K H"),
    ("inv(I - K H psi)", "I - K H psi"),
    ("inv(I + phi K H)", "I + phi K H"),
    ("inv(2 I + 2 K H phi)^*", "(2 I + 2 K H phi)^*"),
    ("sqrt(inv(D)) inv(sqrt(D))", "D"),
    ("inv(H P H^* + A)", "D"),
];

#[test]
fn inverses_in_closed_form_undo_what_they_invert_on_random_trees() {
    for seed in 0..60 {
        let mechanism = random_tree(seed, 6);
        let state = random_state(&mechanism, seed);
        let dense = Dense::new(&mechanism, &state.q, &state.qd, &[]).unwrap();
        for (inverse, of) in CLOSED {
            let expression = parse(inverse);
            assert!(!expression.written(Notation::Ascii).contains("inv(H"), "{inverse}");
            let algorithm = expression.compile(true, &[]);
            assert!(
                !algorithm.explain(linkwork::algebra::Look::Plain).contains("dense"),
                "{inverse}"
            );
            let x = dense.evaluate(&parse(of), &[]).unwrap();
            let y = compiled(&mechanism, &state.q, &[], inverse).unwrap();
            let condition = norm(&x) * norm(&y);
            let error = norm(&(&(&x * &y) - &Matrix::identity(x.rows)));
            assert!(error < 1e-12 * condition, "{seed}: {inverse}: {error:e}, {condition:e}");
        }
    }
}

#[test]
fn the_mass_matrix_by_its_definition_is_inverted_with_and_without_rotors() {
    let text = "inv(H phi M phi^* H^*)";
    let closed = parse(text).compile(false, &[]);
    assert_eq!(closed.rewritten(), parse("inv(Mass)").compile(false, &[]).rewritten());
    assert_eq!(closed.cost().sweeps, 2);
    let mut with_rotors = 0;
    for seed in 0..60 {
        let mechanism = random_tree(seed, 6);
        let state = random_state(&mechanism, seed);
        let dense = Dense::new(&mechanism, &state.q, &state.qd, &[]).unwrap();
        let x = dense.evaluate(&parse("H phi M phi^* H^*"), &[]).unwrap();
        let rotors = dense.evaluate(&parse("A"), &[]).unwrap();
        let Ok(y) = compiled(&mechanism, &state.q, &[], text) else {
            // Rotors may be all the inertia that a joint has.
            assert!(norm(&rotors) > 0.0);
            continue;
        };
        with_rotors += usize::from(norm(&rotors) > 0.0);
        let condition = norm(&x) * norm(&y);
        let error = norm(&(&(&x * &y) - &Matrix::identity(x.rows)));
        assert!(error < 1e-12 * condition, "{seed}: {error:e}, {condition:e}");
    }
    assert!(with_rotors > 5, "{with_rotors}");
}

/// Two frames of one mechanism.
fn tips(mechanism: &Mechanism, random: &mut Random) -> Vec<(FrameId, Reference)> {
    let links = mechanism.links();
    let mut frame = || mechanism.frame(&links[random.below(links.len())].name).unwrap();
    vec![(frame(), Reference::Aligned), (frame(), Reference::Local)]
}

/// Dense solves that exist on every mechanism, whatever the rank of J.
const SOLVED: [&str; 8] = [
    "inv(I + J inv(Mass) J^*)",
    "inv(I_t + J Jᵀ)",
    "inv(Mass + J^* J)",
    "J^* inv(I + J inv(Mass) J^*) J inv(Mass)",
    "inv(Mass) - inv(Mass) J^* inv(I + J inv(Mass) J^*) J inv(Mass)",
    "inv(inv(I + J J^*))",
    "(inv(Mass + 2 I - H psi K) inv(I + J^T J))^T",
    "H phi B inv(I + J J') B^* phi^* H^*",
];

#[test]
fn dense_solves_between_sweeps_agree_with_dense_algebra_on_random_trees() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let mechanism = random_tree(seed, 6);
        let state = random_state(&mechanism, seed);
        let frames = tips(&mechanism, &mut random);
        let dense = Dense::new(&mechanism, &state.q, &state.qd, &frames).unwrap();
        let mass = dense.evaluate(&parse("Mass"), &[]).unwrap();
        let inverse = dense.evaluate(&parse("inv(Mass)"), &[]).unwrap();
        let jacobian = norm(&dense.evaluate(&parse("J"), &[]).unwrap());
        let condition = (1.0 + norm(&mass)) * (1.0 + norm(&inverse)) * (1.0 + jacobian).powi(4);
        for text in SOLVED {
            let expect = dense.evaluate(&parse(text), &[]).unwrap();
            let got = compiled(&mechanism, &state.q, &frames, text).unwrap_or_else(|e| panic!("{seed}: {text}: {e}"));
            let error = norm(&(&got - &expect));
            assert!(
                error < 3e-14 * condition.sqrt() * norm(&expect),
                "{seed}: {text}: {error:e}, {condition:e}"
            );
        }
        // Woodbury's identity.
        let (left, right) = (
            compiled(&mechanism, &state.q, &frames, SOLVED[2]).unwrap(),
            compiled(&mechanism, &state.q, &frames, SOLVED[4]).unwrap(),
        );
        assert!(norm(&(&left - &right)) < 1e-14 * condition * norm(&left));
    }
}

#[test]
fn operational_inertia_and_pseudo_inverses_are_what_they_should_be() {
    let arm = linkwork::model::examples::arm7();
    let last = &arm.links()[arm.links().len() - 1].name;
    let frames = [(arm.frame(last).unwrap(), Reference::Aligned)];
    for seed in 0..20 {
        let q = arm.random(seed);
        let of = |text: &str| compiled(&arm, &q, &frames, text).unwrap();
        let one = Matrix::identity(6);
        let (compliance, inertia) = (of("J inv(Mass) J^*"), of("inv(J inv(Mass) J^*)"));
        let condition = norm(&compliance) * norm(&inertia);
        assert!(norm(&(&(&compliance * &inertia) - &one)) < 1e-12 * condition);
        let j = of("J");
        for text in ["J^* inv(J J^*)", "inv(Mass) J^* inv(J inv(Mass) J^*)"] {
            let right = of(text);
            let condition = norm(&j) * norm(&right) * condition;
            assert!(norm(&(&(&j * &right) - &one)) < 1e-12 * condition, "{text}");
        }
        // A projector on what the tip does not feel.
        let n = of("I_q - J^* inv(J inv(Mass) J^*) J inv(Mass)");
        assert!(apart(&(&n * &n), &n) < 1e-11 * condition);
    }
}

#[test]
fn what_has_no_inverse_is_refused_with_the_reason() {
    for (text, reason) in [
        ("inv(J)", "not square"),
        ("inv(H phi M)", "not square"),
        ("inv(T)", "a vector has no inverse"),
        ("inv(f f^* + J J^*)", "vectors"),
        ("inv(E_phi)", "nilpotent"),
        ("inv(P_plus)", "rank is 6 less"),
        ("inv(tau_bar)", "projection"),
        ("inv(Upsilon)", "freedom of the first joint"),
        ("inv(M + P)", "link space is too large"),
        ("inv(I)", "the space of `I` cannot be inferred"),
        ("I", "I_q"),
        ("pinv(phi)", "joints, frames and constraints"),
        ("diag(M)", "takes a vector"),
    ] {
        let error = text.parse::<Expression>().unwrap_err().to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
    // Seven joints cannot be told from six numbers.
    let arm = linkwork::model::examples::arm7();
    let last = &arm.links()[arm.links().len() - 1].name;
    let frames = [(arm.frame(last).unwrap(), Reference::Aligned)];
    let error = compiled(&arm, &arm.random(3), &frames, "inv(J^* J)")
        .unwrap_err()
        .to_string();
    assert!(error.contains("rank is 6 of 7"), "{error}");
}

#[test]
fn batches_solve_as_single_states_do() {
    let arm = linkwork::model::examples::arm7();
    let last = &arm.links()[arm.links().len() - 1].name;
    let frames = [(arm.frame(last).unwrap(), Reference::Aligned)];
    let expression = parse("inv(J inv(Mass) J^*) f");
    let mut batch = BatchEvaluator::<f64>::new(&expression, &arm, &frames, &[]).unwrap();
    let q: Vec<f64> = (0..9).flat_map(|seed| arm.random(seed)).collect();
    let f: Vec<f64> = Random::new(1).numbers(54, 1.0);
    let mut out = vec![f64::NAN; 54];
    batch.evaluate(&q, &[("f", &f)], &mut out).unwrap();
    let mut run = Evaluator::new(&expression, &arm, &frames, &[]).unwrap();
    assert_eq!(run.size(Space::Tip), 6);
    for i in 0..9 {
        let mut one = [0.0; 6];
        let mut workspace = arm.workspace();
        let mut posed = workspace.at(&q[7 * i..7 * i + 7]).unwrap();
        posed
            .evaluate(&mut run, &[("f", &f[6 * i..6 * i + 6])], &mut one)
            .unwrap();
        assert_eq!(one, out[6 * i..6 * i + 6]);
    }
}

#[test]
fn adjoints_and_identities_are_read_as_people_write_them() {
    for text in ["Jᵀ f", "J^T f", "J' f", "J^* f"] {
        assert_eq!(parse(text), parse("J^* f"), "{text}");
    }
    assert_eq!(parse("I_q").range(), Space::Joint);
    assert_eq!(parse("I_V").range(), Space::Motion);
    assert_eq!(parse("I_f").range(), Space::Force);
    assert_eq!(parse("I_t").range(), Space::Tip);
    let error = "I_V T".parse::<Expression>().unwrap_err().to_string();
    assert!(error.contains("joint space"), "{error}");
}
