//! What changes along a motion: operators, factors, Coriolis terms, q̈; and the curvature of the mass matrix.
#![allow(non_snake_case)]

mod support;

use linkwork::Mechanism;
use linkwork::model::{Joint, JointKind, Link, examples};
use linkwork::scalar::Dual;
use linkwork::spatial::Inertia;
use linkwork::workspace::Scaling::{self, Normalized, Unnormalized};
use linkwork::workspace::{Block, Seen, Small};
use support::dense::Dense;
use support::dual::{along, constant, rate};
use support::golden;
use support::library::{matrix, pose, vector};
use support::matrix::{Matrix, dot};
use support::random::{Random, State, random_state, random_tree};
use support::riccati::Riccati;
use support::rigid::{axes, blocks, crf};
use support::scale::forward_scale;
use support::worst::Worst;
use support::{assert_close, assert_close_of};

const BOTH: [Scaling; 2] = [Normalized, Unnormalized];

fn trees(count: u64) -> impl Iterator<Item = (Mechanism, State)> {
    (0..count).map(|seed| {
        let mechanism = random_tree(7 * seed + 1, if seed % 2 == 0 { 30 } else { 8 });
        let state = random_state(&mechanism, seed);
        (mechanism, state)
    })
}

/// A chain of revolute and, if asked, prismatic joints without rotors.
fn chain(seed: u64, n: usize, slides: bool) -> Mechanism {
    let mut random = Random::new(seed);
    let mut builder = Mechanism::builder(format!("chain{seed}")).gravity(random.vector(10.0));
    for k in 0..n {
        let axis = random.direction();
        let kind = if slides && k % 3 == 1 {
            JointKind::Prismatic { axis }
        } else {
            JointKind::Revolute { axis }
        };
        let parent = if k == 0 {
            "world".to_owned()
        } else {
            format!("link{}", k - 1)
        };
        let joint = Joint::new(format!("joint{k}"), kind).between(parent, format!("link{k}"));
        let origin = random.pose();
        builder = builder
            .link(Link::new(format!("link{k}"), random.inertia()))
            .joint(joint.placed(origin));
    }
    builder.build().unwrap()
}

#[test]
fn forward_dynamics_through_the_diagonalized_equations_is_the_cores() {
    let mut worst = Worst::new(1e-11);
    let mut check = |mechanism: &Mechanism, q: &[f64], qd: &[f64], tau: &[f64]| {
        let nv = mechanism.nv();
        let dense = Dense::new(mechanism, q, qd);
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(q).unwrap();
        let expect = vector(nv, |out| posed.moving(qd).unwrap().forward_dynamics(tau, out));
        for scaling in BOTH {
            let mut moving = posed.moving(qd).unwrap();
            let got = vector(nv, |out| moving.forward_dynamics_diagonalized(scaling, tau, out));
            worst.check("qdd", mechanism.name(), &got, &expect, forward_scale(&dense, tau));
        }
    };
    for file in golden::load_all() {
        for case in &file.cases {
            check(&file.mechanism, &case.q, &case.qd, &case.tau);
        }
    }
    for (mechanism, State { q, qd, tau, .. }) in trees(60) {
        check(&mechanism, &q, &qd, &tau);
    }
}

#[test]
fn the_coriolis_force_is_a_skew_matrix_times_the_rates_and_does_no_work() {
    for (mechanism, State { q, qd, .. }) in trees(80) {
        let nv = mechanism.nv();
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let nu = vector(nv, |out| posed.total_rates(Normalized, &qd, out));
        let mut moving = posed.moving(&qd).unwrap();
        let terms = vector(5 * nv, |out| moving.diagonal_coriolis_terms(Normalized, out));
        let C: Vec<f64> = (0..nv).map(|i| (0..4).map(|row| terms[row * nv + i]).sum()).collect();
        let size = terms[..4 * nv].iter().fold(1e-3, |m: f64, x| m.max(x.abs()));
        let c = matrix(nv, nv, |out| moving.diagonal_coriolis_matrix(out));
        let name = mechanism.name();
        assert_close_of(
            &format!("{name} skew"),
            &c.data,
            &c.t().scale(-1.0).data,
            c.max_abs().max(1.0),
            1e-11,
        );
        assert_close_of(&format!("{name} c nu"), &c.apply(&nu), &C, size, 1e-9);
        let speed = dot(&nu, &nu).sqrt();
        assert!(dot(&nu, &C).abs() <= 1e-9 * size * speed * (nv as f64), "{name}");
        // The whole of 𝒞 adds gravity.
        let whole = vector(nv, |out| moving.diagonal_coriolis(Normalized, out));
        let sum: Vec<f64> = (0..nv).map(|i| C[i] + terms[4 * nv + i]).collect();
        assert_close_of("sum", &whole, &sum, size + 100.0, 1e-12);
    }
}

#[test]
fn the_papers_recursions_give_the_same_coriolis_terms() {
    let golden = ["arm6", "scara", "chain100"].map(|name| golden::load(name).mechanism);
    let random = (0..40).map(|seed| chain(seed, 1 + seed as usize % 12, seed % 2 == 0));
    for (seed, mechanism) in golden.into_iter().chain(random).enumerate() {
        let State { q, qd, .. } = random_state(&mechanism, seed as u64);
        let nv = mechanism.nv();
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let mut moving = posed.moving(&qd).unwrap();
        let papers = vector(4 * nv, |out| moving.diagonal_coriolis_of_chain(out));
        for scaling in BOTH {
            let terms = vector(5 * nv, |out| moving.diagonal_coriolis_terms(scaling, out));
            let expect: Vec<f64> = (0..nv).map(|i| (0..4).map(|row| terms[row * nv + i]).sum()).collect();
            let got: Vec<f64> = match scaling {
                Normalized => (0..nv).map(|i| (0..3).map(|row| papers[row * nv + i]).sum()).collect(),
                Unnormalized => papers[3 * nv..].to_vec(),
            };
            let size = terms.iter().chain(&papers).fold(0.0, |m: f64, x| m.max(x.abs()));
            assert_close_of(&format!("{} {scaling:?}", mechanism.name()), &got, &expect, size, 1e-10);
        }
    }
    let tree = examples::all()
        .into_iter()
        .map(|(_, f)| f())
        .find(|m| m.nv() > 12)
        .unwrap();
    let mut workspace = tree.workspace();
    let mut posed = workspace.at(&tree.neutral()).unwrap();
    let mut moving = posed.moving(&vec![0.0; tree.nv()]).unwrap();
    let error = moving
        .diagonal_coriolis_of_chain(&mut vec![0.0; 4 * tree.nv()])
        .unwrap_err();
    assert!(error.to_string().contains("diagonal_coriolis"), "{error}");
}

fn dense(x: Small) -> Matrix {
    Matrix::from_fn(x.rows, x.cols, |i, j| x.at[i][j])
}

fn derivative(x: Small<Dual<f64>>) -> Matrix {
    Matrix::from_fn(x.rows, x.cols, |i, j| x.at[i][j].derivative)
}

#[test]
fn blocks_of_operators_change_as_the_table_says() {
    const ALL: [Block; 8] = [
        Block::M,
        Block::P,
        Block::D,
        Block::G,
        Block::TauBar,
        Block::Phi,
        Block::Psi,
        Block::H,
    ];
    for (mechanism, State { q, qd, .. }) in trees(24) {
        let moved = along(&mechanism, &q, &qd);
        let (mut workspace, mut duals) = (mechanism.workspace(), mechanism.workspace_of::<Dual<f64>>());
        let (mut posed, mut varied) = (workspace.at(&q).unwrap(), duals.at(&moved).unwrap());
        let harm = 1.0 + 1e-3 * matrix(mechanism.nv(), mechanism.nv(), |out| posed.mass_matrix(out)).condition();
        for joint in mechanism.joints() {
            if matches!(joint.kind, JointKind::Fixed | JointKind::Universal { .. }) {
                continue;
            }
            let id = mechanism.joint(&joint.name).unwrap();
            let turned = |name: &str, posed: &mut linkwork::workspace::Posed| {
                let R = axes(&pose(posed.pose(mechanism.frame(name).unwrap()).unwrap()));
                blocks(&R, &Matrix::zeros(3, 3), &Matrix::zeros(3, 3), &R)
            };
            let (R, R_inner) = (turned(&joint.child, &mut posed), turned(&joint.parent, &mut posed));
            for block in ALL {
                let value = dense(posed.block(id, block).unwrap());
                let expect = derivative(varied.block(id, block).unwrap());
                let mut moving = posed.moving(&qd).unwrap();
                let what = format!("{} {} {block:?}", mechanism.name(), joint.name);
                let got = dense(moving.block_rate(id, block, Seen::Locally).unwrap());
                // τ̄ and ψ are differences from one.
                let unit = if matches!(block, Block::TauBar | Block::Psi) {
                    1.0
                } else {
                    0.0
                };
                let size = (value.max_abs() + expect.max_abs() + unit) * harm;
                assert_close_of(&what, &got.data, &expect.data, size, 1e-11);

                // In fixed axes: the derivative of R X R*, by the product rule on R˙ = R ω̃.
                let spin = |name: &str, moving: &mut linkwork::workspace::Moving| {
                    let V = moving
                        .velocity(mechanism.frame(name).unwrap(), linkwork::Reference::Local)
                        .unwrap();
                    crf(&[V.angular.x, V.angular.y, V.angular.z, 0.0, 0.0, 0.0])
                };
                let (W, W_inner) = (spin(&joint.child, &mut moving), spin(&joint.parent, &mut moving));
                let inertial = dense(moving.block_rate(id, block, Seen::Inertially).unwrap());
                let (left, left_rate) = match block {
                    Block::D | Block::H => (Matrix::identity(value.rows), Matrix::zeros(value.rows, value.rows)),
                    Block::Phi | Block::Psi => (R_inner.clone(), &R_inner * &W_inner),
                    _ => (R.clone(), &R * &W),
                };
                let (right, right_rate) = match block {
                    Block::D | Block::G => (Matrix::identity(value.cols), Matrix::zeros(value.cols, value.cols)),
                    _ => (R.t(), (&R * &W).t()),
                };
                let fixed = &left * &expect * &right + &left_rate * &value * &right + &left * &value * &right_rate;
                let got = &left * &inertial * &right;
                assert_close_of(&format!("{what}, inertial"), &got.data, &fixed.data, size * 4.0, 1e-11);
            }
        }
    }
}

#[test]
fn derivatives_of_the_mass_matrix_and_its_factor_are_exact() {
    for (mechanism, State { q, qd, tau, .. }) in trees(30) {
        let nv = mechanism.nv();
        let (mut workspace, mut duals) = (mechanism.workspace(), mechanism.workspace_of::<Dual<f64>>());
        let mut posed = workspace.at(&q).unwrap();
        let mass = matrix(nv, nv, |out| posed.mass_matrix(out));
        for joint in mechanism.joints() {
            let id = mechanism.joint(&joint.name).unwrap();
            for (index, i) in mechanism.v_range(id).unwrap().enumerate() {
                let mut direction = vec![0.0; nv];
                direction[i] = 1.0;
                let moved = along(&mechanism, &q, &direction);
                let expect = rate(nv, nv, |out| duals.at(&moved).unwrap().mass_matrix(out));
                let got = matrix(nv, nv, |out| posed.mass_matrix_derivative(id, index, out));
                let size = mass.max_abs();
                assert_close_of(mechanism.name(), &got.data, &expect.data, size, 1e-12);
            }
            assert!(
                posed
                    .mass_matrix_derivative(id, joint.kind.nv(), &mut vec![0.0; nv * nv])
                    .is_err()
            );
        }
        let moved = along(&mechanism, &q, &qd);
        let mut varied = duals.at(&moved).unwrap();
        for scaling in BOTH {
            let expect = rate(nv, 1, |out| varied.joint_torques(scaling, &constant(&tau), out));
            let mut moving = posed.moving(&qd).unwrap();
            let got = vector(nv, |out| moving.factor_rate_times(scaling, &tau, out));
            let harm = 1.0 + 1e-3 * mass.condition();
            let size = (expect.max_abs() + 5.0 * mass.max_abs().sqrt()) * harm;
            assert_close_of(mechanism.name(), &got, &expect.data, size, 1e-11);
        }
    }
}

/// ṁ = Hφ[Ω_δφ̃P + ½(I + τ̄)λ̇]H*D^-½ of revolute chains, as the papers have it.
#[test]
fn the_factors_rate_is_the_papers_closed_form() {
    for seed in 0..10 {
        let mechanism = chain(seed, 2 + seed as usize % 6, false);
        let State { q, qd, .. } = random_state(&mechanism, seed);
        let nv = mechanism.nv();
        let of = Dense::new(&mechanism, &q, &qd);
        let riccati = Riccati::new(&of);
        let (P_rate, _) = riccati.rates(&of);
        let (mut turn, mut tau_bar, mut lambda_rate) = (
            Matrix::zeros(6 * nv, 6 * nv),
            Matrix::zeros(6 * nv, 6 * nv),
            Matrix::zeros(6 * nv, 6 * nv),
        );
        for k in 0..nv {
            let H = of.H.block(k, 6 * k, 1, 6);
            let W = crf(&H.t().apply(&qd[k..=k]));
            let X = &W * &riccati.P[k];
            turn.set_block(6 * k, 6 * k, &W);
            tau_bar.set_block(6 * k, 6 * k, &riccati.tau_bar[k]);
            lambda_rate.set_block(6 * k, 6 * k, &(&P_rate[k] + &X + X.t()));
        }
        let identity = Matrix::identity(6 * nv);
        let inner = &turn * (&of.phi - &identity) * &riccati.P_all + (&identity + &tau_bar).scale(0.5) * &lambda_rate;
        let expect = &of.H * &of.phi * inner * of.H.t() * riccati.D_root(&of).inverse();
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let mut moving = posed.moving(&qd).unwrap();
        let got = Matrix::from_fn(nv, nv, |_, _| 0.0);
        let mut got = got;
        for j in 0..nv {
            let mut one = vec![0.0; nv];
            one[j] = 1.0;
            let column = vector(nv, |out| moving.factor_rate_times(Normalized, &one, out));
            got.set_block(0, j, &Matrix::column(&column));
        }
        assert_close(mechanism.name(), &got.data, &expect.data, 1e-9);
    }
}

fn two_links(mass_centre: f64) -> (Mechanism, [f64; 3]) {
    let y = [0.0, 1.0, 0.0];
    let body = |com: f64| Inertia::new(2.0, [com, 0.0, 0.0], [0.1, 0.0, 0.0, 0.1, 0.0, 0.1]);
    let arm = Mechanism::builder("two links")
        .link(Link::new("first", body(0.4)))
        .link(Link::new("second", body(mass_centre)))
        .joint(Joint::revolute("shoulder", y).between("world", "first"))
        .joint(
            Joint::revolute("elbow", y)
                .between("first", "second")
                .at([0.7, 0.0, 0.0]),
        )
        .build()
        .unwrap();
    // 𝓜 = [[a + 2b cos q₂, d + b cos q₂], [·, d]].
    let d = 0.1 + 2.0 * mass_centre * mass_centre;
    let a = 0.1 + 2.0 * 0.16 + 2.0 * 0.49 + d;
    (arm, [a, 2.0 * 0.7 * mass_centre, d])
}

#[test]
fn a_planar_arm_is_curved_as_known_and_flat_when_its_second_link_is_balanced() {
    let (arm, [a, b, d]) = two_links(0.5);
    for q2 in [0.3, 1.2, -2.0_f64] {
        let curvature = arm.curvature(&[0.4, q2]).unwrap();
        let c = q2.cos();
        let expect = b * (a * d - b * b - d * d) * c / (a * d - b * b * c * c - d * d);
        assert_close("R1212", &[curvature.symbol(0, 1, 0, 1)], &[expect], 1e-12);
        assert!(!curvature.is_flat());
    }
    let (balanced, _) = two_links(0.0);
    assert!(balanced.curvature(&[0.4, 0.9]).unwrap().is_flat());
}

#[test]
fn gantries_and_single_pendulums_are_flat() {
    let body = Inertia::new(2.0, [0.1, 0.2, 0.3], [0.1, 0.0, 0.0, 0.1, 0.0, 0.1]);
    let mut gantry = Mechanism::builder("gantry");
    for (k, axis) in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        .into_iter()
        .enumerate()
    {
        let parent = if k == 0 {
            "world".to_owned()
        } else {
            format!("link{}", k - 1)
        };
        let joint = Joint::prismatic(format!("joint{k}"), axis).between(parent, format!("link{k}"));
        gantry = gantry.link(Link::new(format!("link{k}"), body)).joint(joint);
    }
    let gantry = gantry.build().unwrap();
    assert!(gantry.curvature(&[0.1, 0.2, 0.3]).unwrap().is_flat());
    let pendulum = Mechanism::builder("pendulum")
        .link(Link::new("rod", body))
        .joint(Joint::revolute("pivot", [0.0, 1.0, 0.0]).between("world", "rod"));
    assert!(pendulum.build().unwrap().curvature(&[0.7]).unwrap().is_flat());
}

#[test]
fn a_ball_on_a_spherical_joint_has_the_curvature_of_rotations() {
    // A bi-invariant metric J on SO(3): ⟨R(X, Y)Y, X⟩ = ¼|[X, Y]|².
    let J = 0.3;
    let ball = Mechanism::builder("ball")
        .link(Link::new("ball", Inertia::new(1.0, [0.0; 3], [J, 0.0, 0.0, J, 0.0, J])))
        .joint(Joint::new("socket", JointKind::Spherical).between("world", "ball"))
        .build()
        .unwrap();
    let curvature = ball.curvature(&Random::new(3).quaternion()).unwrap();
    assert_close("sectional", &[curvature.symbol(0, 1, 0, 1)], &[0.25 * J], 1e-12);
}

#[test]
fn riemann_symbols_have_their_symmetries() {
    for seed in 0..12 {
        let mechanism = random_tree(100 + seed, 3);
        let n = mechanism.nv();
        if n > 9 {
            continue;
        }
        let R = mechanism.curvature(&random_state(&mechanism, seed).q).unwrap();
        let close = |what: &str, x: f64, y: f64| {
            assert!(
                (x - y).abs() <= 1e-9 * (1.0 + R.largest()),
                "{} {what}: {x} {y}",
                mechanism.name()
            );
        };
        for index in 0..n.pow(4) {
            let (h, i, j, k) = (index / n.pow(3), index / (n * n) % n, index / n % n, index % n);
            close("last pair", R.symbol(h, i, j, k), -R.symbol(h, i, k, j));
            close("first pair", R.symbol(h, i, j, k), -R.symbol(i, h, j, k));
            close("pairs", R.symbol(h, i, j, k), R.symbol(j, k, h, i));
            let cycle = R.symbol(h, i, j, k) + R.symbol(h, j, k, i) + R.symbol(h, k, i, j);
            close("Bianchi", cycle, 0.0);
        }
    }
}
