//! Derivatives of expressions, against dual numbers, differences and the library's own linearized sweeps.

mod support;

use linkwork::algebra::{Evaluator, Expression, Space};
use linkwork::model::FrameId;
use linkwork::scalar::Scalar;
use linkwork::{Mechanism, Reference};
use support::arm::general_arm;
use support::dual::{D, along, constant, rates, varied};
use support::random::{Random, State, random_state, random_tree};

/// The last link of a mechanism in three references.
fn frames(mechanism: &Mechanism) -> Vec<(FrameId, Reference)> {
    let last = mechanism.links().last().unwrap().name.clone();
    let first = mechanism.links()[0].name.clone();
    vec![
        (mechanism.frame(&last).unwrap(), Reference::Local),
        (mechanism.frame(&last).unwrap(), Reference::World),
        (mechanism.frame(&first).unwrap(), Reference::Aligned),
    ]
}

/// An expression's numbers: a vector, or the rows of a matrix.
fn value<S: Scalar>(text: &str, mechanism: &Mechanism, q: &[S], qd: &[S], given: &[(&str, &[S])]) -> Vec<S> {
    let expression: Expression = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
    let frames = frames(mechanism);
    let mut run = Evaluator::<S>::new(&expression, mechanism, &frames, &[]).unwrap_or_else(|e| panic!("{text}: {e}"));
    let inputs = run.algorithm().inputs();
    let used: Vec<_> = given
        .iter()
        .filter(|(name, _)| inputs.iter().any(|(n, _)| n == name))
        .copied()
        .collect();
    let columns = if expression.is_vector() {
        1
    } else {
        run.size(expression.domain())
    };
    let mut out = vec![S::ZERO; run.len() * columns];
    let mut workspace = mechanism.workspace_of::<S>();
    let mut posed = workspace.at(q).unwrap();
    let mut moving = posed.moving(qd).unwrap();
    match expression.is_vector() {
        true => moving.evaluate(&mut run, &used, &mut out),
        false => moving.matrix(&mut run, &used, &mut out),
    }
    .unwrap_or_else(|e| panic!("{text}: {e}"));
    out
}

#[track_caller]
fn close(what: &str, got: &[f64], expect: &[f64]) {
    assert_eq!(got.len(), expect.len(), "{what}");
    let size = expect.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    for (i, (a, b)) in got.iter().zip(expect).enumerate() {
        assert!((a - b).abs() < 1e-8 * size, "{what}, number {i}: {a} is not {b}");
    }
}

/// Random vectors for a mechanism.
struct Given {
    w: Vec<f64>,
    u: Vec<f64>,
    y: Vec<f64>,
    f: Vec<f64>,
}

impl Given {
    fn new(mechanism: &Mechanism, seed: u64) -> Self {
        let mut random = Random::new(seed + 99);
        let size: Expression = "M".parse().unwrap();
        let run = Evaluator::<f64>::new(&size, mechanism, &[], &[]).unwrap();
        let (n, links) = (mechanism.nv(), run.size(Space::Force));
        Self {
            w: random.numbers(n, 1.0),
            u: random.numbers(n, 1.0),
            y: random.numbers(links, 1.0),
            f: random.numbers(18, 1.0),
        }
    }
}

const OPERATORS: [&str; 27] = [
    "Upsilon",
    "H",
    "M",
    "B",
    "E_phi",
    "phi",
    "Mass",
    "inv(Mass)",
    "J",
    "J inv(Mass) J^*",
    "P",
    "P_plus",
    "D",
    "inv(D)",
    "G",
    "K",
    "tau_bar",
    "E_psi",
    "psi",
    "inv(phi)",
    "inv(psi)",
    "(I - H psi K)",
    "(I + H phi K)",
    "sqrt(D)",
    "m",
    "ell",
    "ell^*",
];

#[test]
fn operators_change_as_dual_numbers_say() {
    for seed in 0..24 {
        let mechanism = random_tree(seed, 5);
        let State { q, qd, .. } = random_state(&mechanism, seed);
        let Given { w, .. } = Given::new(&mechanism, seed);
        for text in OPERATORS {
            let moved = value::<D>(text, &mechanism, &along(&mechanism, &q, &w), &constant(&qd), &[]);
            let got = value::<f64>(&format!("d({text}, w:joint)"), &mechanism, &q, &qd, &[("w", &w)]);
            close(&format!("{text} along w, robot {seed}"), &got, &rates(&moved));
            let moved = value::<D>(text, &mechanism, &along(&mechanism, &q, &qd), &constant(&qd), &[]);
            let got = value::<f64>(&format!("dot({text})"), &mechanism, &q, &qd, &[]);
            close(&format!("dot({text}), robot {seed}"), &got, &rates(&moved));
        }
    }
}

const VECTORS: [&str; 19] = [
    "Mass qdd + C",
    "inv(Mass) (T - C)",
    "inv(Mass) (T - C - J^* f)",
    "C",
    "g",
    "V",
    "phi^* (H^* qdd + a)",
    "phi (M phi^* (H^* qdd + a) + b)",
    "J qd",
    "J inv(Mass) (T - C)",
    "ell T",
    "m^* qd",
    "m u:joint",
    "ell^* u:joint",
    "(I + H phi K) T",
    "psi y:force",
    "P V",
    "inv(sqrt(D)) T",
    "inv(Mass + diag(T) diag(T) + J^* J) u:joint",
];

#[test]
fn vectors_change_as_dual_numbers_say() {
    for seed in 0..16 {
        let mechanism = random_tree(seed, 5);
        let State { q, qd, qdd, tau } = random_state(&mechanism, seed);
        let Given { w, u, y, f, .. } = Given::new(&mechanism, seed);
        let (du, dy, df) = (vec![0.3; u.len()], vec![0.2; y.len()], vec![-0.4; f.len()]);
        let dtau = vec![0.7; tau.len()];
        let jerk = vec![-0.2; qd.len()];
        for text in VECTORS {
            if text.contains("Mass + diag") && seed > 3 {
                continue;
            }
            let given: [(&str, &[f64]); 12] = [
                ("T", &tau),
                ("qdd", &qdd),
                ("u", &u),
                ("y", &y),
                ("f", &f),
                ("w", &w),
                ("T_dot", &dtau),
                ("qddd", &jerk),
                ("u_dot", &du),
                ("y_dot", &dy),
                ("f_dot", &df),
                ("qd", &qd),
            ];
            let still: Vec<(&str, Vec<D>)> = given.iter().map(|(n, x)| (*n, constant(x))).collect();
            let lent = |all: &[(&'static str, Vec<D>)]| all.to_vec();
            let run = |q: &[D], all: &[(&str, Vec<D>)]| {
                let given: Vec<(&str, &[D])> = all.iter().map(|(n, x)| (*n, &x[..])).collect();
                rates(&value::<D>(text, &mechanism, q, &constant(&qd), &given))
            };
            // By the configuration.
            let expect = run(&along(&mechanism, &q, &w), &lent(&still));
            for way in [format!("d({text}, w:joint)"), format!("d({text})/dq w")] {
                let got = value::<f64>(&way, &mechanism, &q, &qd, &given);
                close(&format!("{way}, robot {seed}"), &got, &expect);
            }
            // By the velocity.
            let mut all = lent(&still);
            all[11].1 = varied(&qd, &w);
            let expect = run(&constant(&q), &all);
            let got = value::<f64>(&format!("d({text})/dqd w"), &mechanism, &q, &qd, &given);
            close(&format!("{text} by velocities, robot {seed}"), &got, &expect);
            // In time.
            let pairs: [(usize, &[f64]); 6] = [(0, &dtau), (1, &jerk), (2, &du), (3, &dy), (4, &df), (11, &qdd)];
            let mut all = lent(&still);
            for (i, rate) in pairs {
                all[i].1 = varied(given[i].1, rate);
            }
            let expect = run(&along(&mechanism, &q, &qd), &all);
            let got = value::<f64>(&format!("dot({text})"), &mechanism, &q, &qd, &given);
            close(&format!("dot({text}), robot {seed}"), &got, &expect);
        }
    }
}

const NUMBERS: [&str; 8] = [
    "qd^* Mass qd",
    "T^* inv(Mass) T",
    "T^* inv(Mass) (T - C)",
    "f^* J inv(Mass) (T - C)",
    "qd^* C",
    "u^* ell T",
    "u^* m^* qd",
    "(P V)^* phi^* (H^* qdd + a)",
];

#[test]
fn gradients_by_all_joints_are_those_of_dual_numbers() {
    for seed in 0..16 {
        let mechanism = random_tree(seed, 5);
        let State { q, qd, qdd, tau } = random_state(&mechanism, seed);
        let Given { u, f, .. } = Given::new(&mechanism, seed);
        let given: [(&str, &[f64]); 4] = [("T", &tau), ("qdd", &qdd), ("u", &u), ("f", &f)];
        let still: Vec<(&str, Vec<D>)> = given.iter().map(|(n, x)| (*n, constant(x))).collect();
        let lent: Vec<(&str, &[D])> = still.iter().map(|(n, x)| (*n, &x[..])).collect();
        for text in NUMBERS {
            let n = mechanism.nv();
            let mut expect = Vec::new();
            for i in 0..n {
                let w: Vec<f64> = (0..n).map(|j| if i == j { 1.0 } else { 0.0 }).collect();
                let moved = value::<D>(text, &mechanism, &along(&mechanism, &q, &w), &constant(&qd), &lent);
                expect.push(moved[0].derivative);
            }
            let got = value::<f64>(&format!("grad({text})"), &mechanism, &q, &qd, &given);
            close(&format!("grad({text}), robot {seed}"), &got, &expect);
        }
    }
}

#[test]
fn inverses_of_p_and_pseudo_inverses_change_as_dual_numbers_say() {
    let arm = general_arm(6);
    let State { q, qd, tau, .. } = random_state(&arm, 3);
    let Given { w, .. } = Given::new(&arm, 3);
    for text in [
        "inv(P)",
        "pinv(J)",
        "pinv(J) J",
        "inv(J inv(Mass) J^* + I)",
        "crm(V)",
        "crf(V) M",
        "T T^*",
        "diag(T) Mass",
    ] {
        let tau_dual = constant(&tau);
        let moved = value::<D>(text, &arm, &along(&arm, &q, &w), &constant(&qd), &[("T", &tau_dual)]);
        let got = value::<f64>(&format!("d({text}, w:joint)"), &arm, &q, &qd, &[("w", &w), ("T", &tau)]);
        close(text, &got, &rates(&moved));
    }
}

/// The papers' linearizations, derived: 𝓜, A_D, B_D, 𝓜⁻¹, A_C and B_C, and the changes of T and q̈.
#[test]
fn linearized_dynamics_are_derived() {
    for seed in 0..12 {
        let mechanism = random_tree(seed, 6);
        let State { q, qd, qdd, tau } = random_state(&mechanism, seed);
        let n = mechanism.nv();
        let given: [(&str, &[f64]); 2] = [("T", &tau), ("qdd", &qdd)];
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let mut moving = posed.moving(&qd).unwrap();
        let mut d = mechanism.derivatives();
        moving.linearized(&qdd).unwrap().inverse_derivatives(&mut d).unwrap();
        let inverse = "Mass qdd + C";
        close(
            "B_D",
            &value::<f64>(&format!("d({inverse})/dq"), &mechanism, &q, &qd, &given),
            d.by_q(),
        );
        close(
            "A_D",
            &value::<f64>(&format!("d({inverse})/dqd"), &mechanism, &q, &qd, &given),
            d.by_qd(),
        );
        close(
            "𝓜",
            &value::<f64>(&format!("d({inverse})/dqdd"), &mechanism, &q, &qd, &given),
            d.by_input(),
        );
        let mut found = vec![0.0; n];
        moving
            .linearized_under(&tau, &mut found)
            .unwrap()
            .forward_derivatives(&mut d)
            .unwrap();
        let forward = "inv(Mass) (T - C)";
        close(
            "−B_C",
            &value::<f64>(&format!("d({forward})/dq"), &mechanism, &q, &qd, &given),
            d.by_q(),
        );
        close(
            "−A_C",
            &value::<f64>(&format!("d({forward})/dqd"), &mechanism, &q, &qd, &given),
            d.by_qd(),
        );
        close(
            "𝓜⁻¹",
            &value::<f64>(&format!("d({forward})/dT"), &mechanism, &q, &qd, &given),
            d.by_input(),
        );
    }
}

/// 𝒞(q, ν) = ℓC − ṁ*q̇, and the same without D^½, as the library's sweeps have them; ṁ x as well.
#[test]
fn the_coriolis_terms_of_diagonalized_dynamics_are_derived() {
    use linkwork::workspace::Scaling::{Normalized, Unnormalized};
    for seed in 0..12 {
        let mechanism = random_tree(seed, 6);
        let State { q, qd, tau, .. } = random_state(&mechanism, seed);
        let mut expect = vec![0.0; mechanism.nv()];
        let given: [(&str, &[f64]); 1] = [("T", &tau)];
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let mut moving = posed.moving(&qd).unwrap();
        moving.diagonal_coriolis(Normalized, &mut expect).unwrap();
        let derived = value::<f64>("ell C - dot(m)^* qd", &mechanism, &q, &qd, &given);
        close(&format!("𝒞(q, ν), robot {seed}"), &derived, &expect);
        moving.diagonal_coriolis(Unnormalized, &mut expect).unwrap();
        let text = "(I - H psi K) C - D dot(I + H phi K)^* qd";
        close(
            &format!("𝒞(q, ξ), robot {seed}"),
            &value::<f64>(text, &mechanism, &q, &qd, &given),
            &expect,
        );
        moving.factor_rate_times(Normalized, &tau, &mut expect).unwrap();
        close(
            &format!("ṁ x, robot {seed}"),
            &value::<f64>("dot(m) T", &mechanism, &q, &qd, &given),
            &expect,
        );
    }
}

/// Two sweeps for the change of T, as the papers' algorithm has; no matrices of links where 𝓜 alone is differentiated.
#[test]
fn derivatives_take_as_few_sweeps_as_an_expert_writes() {
    let sweeps = |text: &str| text.parse::<Expression>().unwrap().compile(false, &[]).cost().sweeps;
    assert_eq!(sweeps("d(Mass qdd + C, w)"), 2);
    assert_eq!(sweeps("d(Mass qdd + C)/dqd w"), 2);
    assert!(sweeps("d(inv(Mass) (T - C), w)") <= 6);
    assert!(sweeps("grad(qd^* Mass qd)") <= 3);
}

/// A second derivative, by dual numbers of a first.
#[test]
fn derivatives_have_derivatives() {
    for seed in 0..6 {
        let mechanism = random_tree(seed, 4);
        let State { q, qd, qdd, tau } = random_state(&mechanism, seed);
        let Given { w, u, .. } = Given::new(&mechanism, seed);
        let given: [(&str, &[f64]); 4] = [("T", &tau), ("qdd", &qdd), ("u", &u), ("w", &w)];
        let still: Vec<(&str, Vec<D>)> = given.iter().map(|(n, x)| (*n, constant(x))).collect();
        let lent: Vec<(&str, &[D])> = still.iter().map(|(n, x)| (*n, &x[..])).collect();
        for text in ["Mass qdd + C", "g", "inv(Mass) T", "qd^* Mass qd"] {
            let once = format!("d({text}, u)");
            let moved = value::<D>(&once, &mechanism, &along(&mechanism, &q, &w), &constant(&qd), &lent);
            let got = value::<f64>(&format!("d({once}, w)"), &mechanism, &q, &qd, &given);
            close(&format!("{text} twice, robot {seed}"), &got, &rates(&moved));
        }
    }
}

#[test]
fn what_has_no_derivative_is_refused_with_the_reason() {
    let refused = |text: &str| text.parse::<Expression>().unwrap_err().to_string();
    assert!(refused("d(Mass)/dq").contains("needs a direction"));
    assert!(refused("grad(b^* Upsilon b)").contains("J inv(Mass) J^*"));
    assert!(refused("d(d(P V, w), w)").contains("second derivatives of P"));
    assert!(refused("d(Mass qd)").contains("with respect to"));
    assert!(refused("d(Mass qd, V)").contains("joint space"));
    assert!(refused("crm(T)").contains("crm and crf take motions"));
}

#[test]
fn derivatives_can_be_pasted_back() {
    use linkwork::algebra::Notation;
    let mechanism = random_tree(3, 5);
    let State { q, qd, qdd, tau } = random_state(&mechanism, 3);
    let Given { w, y, .. } = Given::new(&mechanism, 3);
    let given: [(&str, &[f64]); 4] = [("T", &tau), ("qdd", &qdd), ("w", &w), ("y", &y)];
    for text in [
        "d(Mass qdd + C, w)",
        "dot(psi) y",
        "grad(qd^* Mass qd)",
        "d(ell T)/dq w",
        "d(J qd)/dq w",
        "dot(m^* qd)",
    ] {
        let expect = value::<f64>(text, &mechanism, &q, &qd, &given);
        for notation in [Notation::Ascii, Notation::Symbols] {
            let written = text.parse::<Expression>().unwrap().written(notation);
            close(&written, &value::<f64>(&written, &mechanism, &q, &qd, &given), &expect);
        }
    }
}

/// Joints that follow others by ratios move along; where they follow by curves, derivatives are refused.
#[test]
fn derivatives_where_joints_follow_others_by_ratios() {
    use linkwork::model::Coupling;
    let mut tried = 0;
    for seed in 0..40 {
        let tree = random_tree(seed, 6);
        let single: Vec<String> = tree
            .joints()
            .iter()
            .filter(|j| j.kind.nv() == 1)
            .map(|j| j.name.clone())
            .collect();
        if single.len() < 2 || tried == 6 {
            continue;
        }
        tried += 1;
        let with = |c: Vec<f64>| {
            tree.to_builder()
                .couple(Coupling::polynomial(&single[0], &single[1], c))
                .build()
                .unwrap()
        };
        let mechanism = with(vec![0.2, -1.4]);
        let State { q, qd, qdd, tau } = random_state(&mechanism, seed);
        let Given { w, .. } = Given::new(&mechanism, seed);
        let given: [(&str, &[f64]); 3] = [("T", &tau), ("qdd", &qdd), ("w", &w)];
        let still: Vec<(&str, Vec<D>)> = given.iter().map(|(n, x)| (*n, constant(x))).collect();
        let lent: Vec<(&str, &[D])> = still.iter().map(|(n, x)| (*n, &x[..])).collect();
        for text in ["Mass qdd + C", "inv(Mass) (T - C)", "J qd", "Mass", "inv(Mass)"] {
            let moved = value::<D>(text, &mechanism, &along(&mechanism, &q, &w), &constant(&qd), &lent);
            let got = value::<f64>(&format!("d({text}, w:joint)"), &mechanism, &q, &qd, &given);
            close(&format!("{text} with followers, robot {seed}"), &got, &rates(&moved));
        }
        let curved = with(vec![0.2, -1.4, 0.3]);
        let expression: Expression = "d(Mass qdd, w)".parse().unwrap();
        let refused = Evaluator::<f64>::new(&expression, &curved, &[], &[])
            .unwrap_err()
            .to_string();
        assert!(refused.contains("curves"), "{refused}");
    }
    assert_eq!(tried, 6);
}
