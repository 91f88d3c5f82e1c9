//! Closed mechanisms against golden numbers and the dense equations of motion.
#![allow(non_snake_case)]

mod support;

use linkwork::closed::{ClosedMechanism, Constraint, ConstraintKind};
use linkwork::model::{Joint, Link, Mechanism};
use linkwork::spatial::{Inertia, Pose, Vec3};
use support::assert_close;
use support::dense::{Dense, Reference};
use support::golden::{LOOPS, Loop, load_loop};
use support::library::{force, matrix};
use support::matrix::{Matrix, dot};
use support::random::{Random, State, random_state, random_tree};

const GOLDEN: f64 = 1e-9;

#[test]
fn golden_loops_accelerate_as_known() {
    for name in LOOPS {
        let Loop {
            closed,
            rank,
            q,
            qd,
            tau,
            expect,
        } = load_loop(name);
        let nv = closed.mechanism().nv();
        let mut workspace = closed.workspace();
        let mut posed = workspace.at(&q).unwrap();
        assert!(posed.closure() < 1e-12, "{name}: {}", posed.closure());
        let report = posed.report().unwrap();
        assert_eq!((report.rank, report.freedom), (rank, nv - rank), "{name}: {report}");
        let mut J = Matrix::zeros(closed.rows(), nv);
        posed.jacobian(&mut J.data).unwrap();
        let mut qdd = vec![0.0; nv];
        let mut moving = posed.moving(&qd).unwrap();
        assert!(moving.closure_rate() < 1e-12);
        let lambda = moving.forward_dynamics(&tau, &mut qdd).unwrap().all().to_vec();
        let given = |key| expect.vector(key).unwrap();
        assert_close(name, &qdd, &given("forward_dynamics"), GOLDEN);
        let pull = J.t().apply(&lambda);
        assert_close(name, &pull, &given("generalized_constraint_force"), GOLDEN);
    }
}

#[test]
fn constraints_given_twice_change_no_motion() {
    for name in LOOPS {
        let known = load_loop(name);
        let nv = known.closed.mechanism().nv();
        let mut constraints = known.closed.constraints().to_vec();
        for i in 0..constraints.len() {
            let mut again = constraints[i].clone();
            again.name += " again";
            constraints.push(again);
        }
        let closed = ClosedMechanism::new(known.closed.mechanism().clone(), constraints).unwrap();
        let mut workspace = closed.workspace();
        let mut posed = workspace.at(&known.q).unwrap();
        let report = posed.report().unwrap();
        assert_eq!(report.rank, known.rank, "{name}");
        assert_eq!(report.redundant.len(), closed.rows() - known.rank, "{name}");
        let mut qdd = vec![0.0; nv];
        let mut moving = posed.moving(&known.qd).unwrap();
        let multipliers = moving.forward_dynamics(&known.tau, &mut qdd).unwrap();
        // The least norm is half for each.
        let first = force(multipliers.on_b("loop0").unwrap());
        let second = force(multipliers.on_b("loop0 again").unwrap());
        assert_close(name, &first, &second, 1e-7);
        assert_close(name, &qdd, &known.expect.vector("forward_dynamics").unwrap(), GOLDEN);
    }
}

/// The Jacobian rows and J̇q̇ of a constraint, from their definitions at two poses.
struct Rows {
    J: Matrix,
    bias: Vec<f64>,
}

/// g of a constraint at q, written from scratch: what finite differences and duals would see.
fn gaps(mechanism: &Mechanism, constraint: &Constraint, q: &[f64]) -> Vec<f64> {
    let mut workspace = mechanism.workspace();
    let mut posed = workspace.at(q).unwrap();
    let a = posed.pose(mechanism.frame(&constraint.a).unwrap()).unwrap();
    let b = posed.pose(mechanism.frame(&constraint.b).unwrap()).unwrap();
    let p = b.translation - a.translation;
    match constraint.kind {
        ConstraintKind::Distance { length } => vec![p.norm() - length],
        _ => p.to_array().to_vec(),
    }
}

/// Rows of welds, points and distances by the oracle's Jacobians and their rates.
fn rows(dense: &Dense, constraint: &Constraint) -> Rows {
    let nv = dense.nv;
    let J = dense.jacobian(&constraint.b, Reference::Aligned) - dense.jacobian(&constraint.a, Reference::Aligned);
    let rate =
        dense.jacobian_rate(&constraint.b, Reference::Aligned) - dense.jacobian_rate(&constraint.a, Reference::Aligned);
    let bias = rate.apply(&dense.qd);
    match constraint.kind {
        ConstraintKind::Weld => Rows { J, bias },
        ConstraintKind::Point => Rows {
            J: J.block(3, 0, 3, nv),
            bias: bias[3..].to_vec(),
        },
        ConstraintKind::Distance { .. } => {
            let origin = |x: &str| dense.pose(x).block(0, 3, 3, 1).data;
            let p: Vec<f64> = origin(&constraint.b)
                .iter()
                .zip(origin(&constraint.a))
                .map(|(b, a)| b - a)
                .collect();
            let l = dot(&p, &p).sqrt();
            let n: Vec<f64> = p.iter().map(|x| x / l).collect();
            let v = J.apply(&dense.qd);
            let v = &v[3..];
            let along = dot(&n, v);
            let J = Matrix::from_slice(1, 3, &n) * J.block(3, 0, 3, nv);
            let bias = vec![dot(&n, &bias[3..]) + (dot(v, v) - along * along) / l];
            Rows { J, bias }
        }
        _ => panic!("not here"),
    }
}

/// q̈ by the dense equations [𝓜 −J*; J 0][q̈; λ] = [T − C; −J̇q̇], of full rank.
fn dense_forward(dense: &Dense, constraints: &[Rows], tau: &[f64]) -> Vec<f64> {
    let nv = dense.nv;
    let m: usize = constraints.iter().map(|r| r.bias.len()).sum();
    let mut K = Matrix::zeros(nv + m, nv + m);
    K.set_block(0, 0, &dense.mass_matrix());
    let mut right: Vec<f64> = tau.iter().zip(dense.bias()).map(|(t, c)| t - c).collect();
    let mut at = nv;
    for Rows { J, bias } in constraints {
        K.set_block(at, 0, J);
        K.set_block(0, at, &J.t().scale(-1.0));
        right.extend(bias.iter().map(|x| -x));
        at += bias.len();
    }
    K.solve(&Matrix::column(&right)).data[..nv].to_vec()
}

#[test]
fn random_loops_accelerate_as_the_dense_equations_say() {
    let mut random = Random::new(11);
    let mut tested = 0;
    for seed in 0..400 {
        let mechanism = random_tree(seed, 12);
        let names: Vec<String> = mechanism.links().iter().map(|l| l.name.clone()).collect();
        let mut all: Vec<String> = names.clone();
        all.push("world".into());
        let State { q, qd, tau, .. } = random_state(&mechanism, seed);
        // The frames need not meet: J and J̇ are as defined wherever they are.
        let mut constraints = Vec::new();
        for i in 0..1 + random.below(3) {
            let a = all[random.below(all.len())].clone();
            let b = all[random.below(all.len())].clone();
            let kind = [
                ConstraintKind::Weld,
                ConstraintKind::Point,
                ConstraintKind::Distance { length: 0.3 },
            ][random.below(3)];
            constraints.push(Constraint::new(format!("c{i}"), kind, a, b));
        }
        let Ok(closed) = ClosedMechanism::new(mechanism.clone(), constraints.clone()) else {
            continue;
        };
        let mut workspace = closed.workspace();
        let mut posed = workspace.at(&q).unwrap();
        if posed.report().unwrap().rank < closed.rows() {
            continue;
        }
        let dense = Dense::new(&mechanism, &q, &qd);
        let known: Vec<Rows> = constraints.iter().map(|c| rows(&dense, c)).collect();
        let got = matrix(closed.rows(), mechanism.nv(), |out| posed.jacobian(out));
        let mut at = 0;
        for r in &known {
            assert_close("J", &got.block(at, 0, r.J.rows, r.J.cols).data, &r.J.data, 1e-12);
            at += r.J.rows;
        }
        let J = got;
        let W = &J * dense.mass_matrix().inverse() * J.t();
        if W.condition() > 1e6 || dense.mass_matrix().condition() > 1e6 {
            continue;
        }
        let mut qdd = vec![0.0; mechanism.nv()];
        let mut moving = posed.moving(&qd).unwrap();
        moving.forward_dynamics(&tau, &mut qdd).unwrap();
        let expect = dense_forward(&dense, &known, &tau);
        assert_close(mechanism.name(), &qdd, &expect, 1e-8);
        tested += 1;
    }
    assert!(tested > 60, "{tested}");
}

/// A chain of rods in the plane, or a little out of it.
pub fn chain(lean: f64) -> Mechanism {
    let mut builder = Mechanism::builder("rods").gravity([0.0, -9.81, 0.0]);
    for k in 0..4 {
        let inner = if k == 0 {
            "world".into()
        } else {
            format!("rod{}", k - 1)
        };
        let place = if k == 0 { [0.0; 3] } else { [1.0, 0.0, 0.0] };
        builder = builder
            .link(Link::new(
                format!("rod{k}"),
                Inertia::cuboid(1.0, [1.0, 0.1, 0.1]).seen_from(&Pose::from_translation([0.5, 0.0, 0.0])),
            ))
            .joint(
                Joint::revolute(format!("joint{k}"), [lean * [0.0, 1.0, -1.0, 0.5][k], 0.0, 1.0])
                    .between(inner, format!("rod{k}"))
                    .at(place),
            );
    }
    builder
        .frame("end", "rod3", Pose::from_translation([1.0, 0.0, 0.0]))
        .frame("ground", "world", Pose::from_translation([1.5, 0.3, 0.0]))
        .build()
        .unwrap()
}

#[test]
fn every_kind_keeps_its_equations() {
    // g(q + tv + ½t²a) = g + tġ + ½t²g̈: second differences along the motion that forward dynamics gives vanish.
    let kinds = [
        ConstraintKind::Weld,
        ConstraintKind::Point,
        ConstraintKind::Hinge {
            axis: Vec3::new(0.3, -0.5, 0.8),
        },
        ConstraintKind::Slider {
            axis: Vec3::new(0.2, 0.9, -0.4),
        },
        ConstraintKind::Distance { length: 0.7 },
    ];
    let arms = linkwork::model::examples::dual_arm();
    let names: Vec<String> = arms.links().iter().map(|l| l.name.clone()).collect();
    let (a, b) = (&names[names.len() / 2 - 1], &names[names.len() - 1]);
    for kind in kinds {
        let closed = ClosedMechanism::new(arms.clone(), vec![Constraint::new("tie", kind, a, b)]).unwrap();
        let State { q, qd, tau, .. } = random_state(&arms, 4);
        let q = closed.assemble(&q).unwrap_or_else(|e| panic!("{kind:?}: {e}"));
        let mut workspace = closed.workspace();
        let mut posed = workspace.at(&q).unwrap();
        assert!(posed.closure() < 1e-10, "{kind:?}");
        let mut qd = qd;
        posed.project_velocity(&mut qd).unwrap();
        let mut qdd = vec![0.0; arms.nv()];
        let mut moving = posed.moving(&qd).unwrap();
        assert!(moving.closure_rate() < 1e-12, "{kind:?}");
        moving.forward_dynamics(&tau, &mut qdd).unwrap();
        let t = 1e-4;
        let mut worst: f64 = 0.0;
        for sign in [1.0, -1.0] {
            let step: Vec<f64> = qd
                .iter()
                .zip(&qdd)
                .map(|(v, a)| sign * t * v + 0.5 * t * t * a)
                .collect();
            let mut next = q.clone();
            arms.integrate(&q, &step, &mut next).unwrap();
            worst = worst.max(workspace.at(&next).unwrap().closure());
        }
        let size = qd.iter().chain(&qdd).fold(1.0_f64, |m, x| m.max(x.abs()));
        assert!(worst < 50.0 * (t * size).powi(3) + 1e-11, "{kind:?}: {worst:e} {size}");
    }
}

#[test]
fn inverse_dynamics_inverts_forward_dynamics() {
    let closed = ClosedMechanism::new(chain(0.0), vec![Constraint::point("loop", "end", "ground")]).unwrap();
    let q = closed.assemble(&[1.2, -0.4, -1.0, -1.1]).unwrap();
    let mut workspace = closed.workspace();
    let mut posed = workspace.at(&q).unwrap();
    let mut qd = vec![0.3, -0.2, 0.9, 0.1];
    posed.project_velocity(&mut qd).unwrap();
    let mut moving = posed.moving(&qd).unwrap();
    let (mut qdd, mut tau) = (vec![0.0; 4], vec![0.0; 4]);
    // Two freedoms, two motors: the torques are unique.
    moving.forward_dynamics(&[3.0, 0.0, 0.0, -2.0], &mut qdd).unwrap();
    moving.inverse_dynamics(&qdd, &[0, 3], &mut tau).unwrap();
    assert_close("two motors", &tau, &[3.0, 0.0, 0.0, -2.0], 1e-11);
    // More motors: the same motion for less.
    moving.inverse_dynamics(&qdd, &[0, 1, 2, 3], &mut tau).unwrap();
    assert!(dot(&tau, &tau) < 13.0);
    let mut again = vec![0.0; 4];
    moving.forward_dynamics(&tau, &mut again).unwrap();
    assert_close("over-actuated", &again, &qdd, 1e-10);
    // One motor cannot drive two freedoms; accelerations that tear the loop are named.
    let text = moving.inverse_dynamics(&qdd, &[1], &mut tau).unwrap_err().to_string();
    assert!(text.contains("actuate more joints"), "{text}");
    let text = moving
        .inverse_dynamics(&[1.0, 0.0, 0.0, 0.0], &[0, 3], &mut tau)
        .unwrap_err()
        .to_string();
    assert!(text.contains("`loop`") && text.contains("break"), "{text}");
}

#[test]
fn free_directions_and_their_mass_matrix_are_consistent() {
    let closed = ClosedMechanism::new(chain(0.1), vec![Constraint::distance("bar", "end", "ground", 0.5)]).unwrap();
    let q = closed.assemble(&[1.2, -0.4, -1.0, -1.1]).unwrap();
    let mut workspace = closed.workspace();
    let mut posed = workspace.at(&q).unwrap();
    let (mut basis, mut mass) = (Vec::new(), Vec::new());
    assert_eq!(posed.free_directions(&mut basis), 3);
    assert_eq!(posed.free_mass_matrix(&mut mass).unwrap(), 3);
    let N = Matrix::from_slice(3, 4, &basis);
    let dense = Dense::new(closed.mechanism(), &q, &[0.0; 4]);
    let expect = &N * dense.mass_matrix() * N.t();
    assert_close("N M N*", &mass, &expect.data, 1e-12);
    // 𝓜_c⁻¹ = N*(N𝓜N*)⁻¹N.
    let inverse = N.t() * (expect.inverse() * &N);
    let x = [0.4, -1.0, 0.3, 2.0];
    let mut out = [0.0; 4];
    posed.inverse_mass_times(&x, &mut out).unwrap();
    assert_close("inverse", &out, &inverse.apply(&x), 1e-11);
}

#[test]
fn impulses_take_exactly_what_breaks_the_constraints() {
    let closed = ClosedMechanism::new(chain(0.1), vec![Constraint::point("loop", "end", "ground")]).unwrap();
    let q = closed.assemble(&[1.2, -0.4, -1.0, -1.1]).unwrap();
    let mut workspace = closed.workspace();
    let mut posed = workspace.at(&q).unwrap();
    let before = [0.5, -0.7, 1.1, 0.2];
    let mut after = before;
    let impulse = posed.project_velocity(&mut after).unwrap().to_vec();
    assert!(posed.moving(&after).unwrap().closure_rate() < 1e-13);
    let J = matrix(closed.rows(), 4, |out| posed.jacobian(out));
    let mass = Dense::new(closed.mechanism(), &q, &before).mass_matrix();
    let change: Vec<f64> = after.iter().zip(before).map(|(a, b)| a - b).collect();
    assert_close("momentum", &mass.apply(&change), &J.t().apply(&impulse), 1e-10);
    // Projecting again changes nothing.
    let mut again = after;
    posed.project_velocity(&mut again).unwrap();
    assert_close("idempotent", &again, &after, 1e-13);
}

#[test]
fn forces_on_the_two_frames_are_opposite() {
    let closed = ClosedMechanism::new(chain(0.1), vec![Constraint::point("loop", "end", "ground")]).unwrap();
    let q = closed.assemble(&[1.2, -0.4, -1.0, -1.1]).unwrap();
    let mut workspace = closed.workspace();
    let mut posed = workspace.at(&q).unwrap();
    let mut moving = posed.moving(&[0.0; 4]).unwrap();
    let mut qdd = [0.0; 4];
    let multipliers = moving.forward_dynamics(&[0.0; 4], &mut qdd).unwrap();
    let (a, b) = (multipliers.on_a("loop").unwrap(), multipliers.on_b("loop").unwrap());
    assert_close("action and reaction", &force(-a), &force(b), 1e-15);
    assert!(b.force.norm() > 1.0 && b.moment.norm() == 0.0);
    assert!(multipliers.on_a("lop").unwrap_err().to_string().contains("loop"));
    // The loop's force pushed on an open chain gives the same accelerations.
    let mut open = closed.mechanism().workspace();
    let mut open = open.at(&q).unwrap();
    let end = closed.mechanism().frame("end").unwrap();
    open.apply_force(end, linkwork::Reference::Aligned, a).unwrap();
    let mut expect = [0.0; 4];
    open.moving(&[0.0; 4])
        .unwrap()
        .forward_dynamics(&[0.0; 4], &mut expect)
        .unwrap();
    assert_close("pushed", &qdd, &expect, 1e-11);
}

#[test]
fn bad_mechanisms_are_refused_with_reasons() {
    let text = |constraints| ClosedMechanism::new(chain(0.0), constraints).err().unwrap().to_string();
    let point = |a: &str, b: &str| vec![Constraint::point("loop", a, b)];
    assert!(text(point("end", "rod3")).contains("same rigid body"));
    assert!(text(point("world", "ground")).contains("same rigid body"));
    assert!(text(point("ned", "ground")).contains("did you mean `end`"));
    assert!(text(vec![Constraint::distance("d", "end", "ground", 0.0)]).contains("length is 0"));
    assert!(text(vec![Constraint::hinge("h", "end", "ground", [0.0; 3])]).contains("no direction"));
    let twice = [point("end", "ground"), point("rod1", "ground")].concat();
    assert!(text(twice).contains("another constraint"));
    // A loop that cannot close, because the ground is out of reach.
    let far = chain(0.0)
        .to_builder()
        .frame("far", "world", Pose::from_translation([9.0, 0.0, 0.0]))
        .build()
        .unwrap();
    let closed = ClosedMechanism::new(far, point("end", "far")).unwrap();
    let text = closed.assemble(&[0.3, 0.2, 0.1, 0.0]).unwrap_err().to_string();
    assert!(text.contains("`loop` does not close") && text.contains("5.0"), "{text}");
    // More constraints than freedom: a truss that stands still, and a report that says so.
    let truss = ClosedMechanism::new(
        chain(0.0),
        vec![
            Constraint::weld("clamp", "end", "ground"),
            Constraint::point("pin", "rod2", "rod0"),
        ],
    )
    .unwrap();
    let mut workspace = truss.workspace();
    let mut posed = workspace.at(&[0.3, 0.4, -0.5, 0.6]).unwrap();
    let report = posed.report().unwrap();
    assert_eq!((report.rows, report.freedom), (9, 0), "{report}");
    assert!(report.to_string().contains("redundant: `"), "{report}");
    assert!(truss.assemble(&[0.3, 0.4, -0.5, 0.6]).is_err());
}

#[test]
fn joints_can_be_held_while_loops_close() {
    let closed = ClosedMechanism::new(chain(0.0), vec![Constraint::point("loop", "end", "ground")]).unwrap();
    for crank in [0.3, 0.9, 1.5] {
        let q = closed
            .assemble_holding(&[crank, -0.4, -1.0, -1.1], &["joint0"])
            .unwrap();
        assert_eq!(q[0], crank);
        assert!(
            gaps(closed.mechanism(), &closed.constraints()[0], &q)
                .iter()
                .all(|g| g.abs() < 1e-10)
        );
    }
}

#[test]
fn linearized_dynamics_are_the_slopes_of_forward_dynamics() {
    let kinds = [
        ConstraintKind::Hinge {
            axis: Vec3::new(0.3, -0.5, 0.8),
        },
        ConstraintKind::Slider {
            axis: Vec3::new(0.2, 0.9, -0.4),
        },
        ConstraintKind::Distance { length: 0.7 },
        ConstraintKind::Weld,
    ];
    let arms = linkwork::model::examples::dual_arm();
    let names: Vec<String> = arms.links().iter().map(|l| l.name.clone()).collect();
    let (a, b) = (&names[names.len() / 2 - 1], &names[names.len() - 1]);
    let nv = arms.nv();
    for (k, kind) in kinds.into_iter().enumerate() {
        let mut closed = ClosedMechanism::new(arms.clone(), vec![Constraint::new("tie", kind, a, b)]).unwrap();
        if k == 0 {
            closed = closed
                .stabilised(linkwork::closed::Stabilisation::critical(3.0))
                .unwrap();
        }
        let State { q, mut qd, tau, .. } = random_state(&arms, 4);
        let q = closed.assemble(&q).unwrap();
        let mut workspace = closed.workspace();
        workspace.at(&q).unwrap().project_velocity(&mut qd).unwrap();
        let linear = closed.linearize(&q, &qd, &tau).unwrap();
        let mut at = |q: &[f64], qd: &[f64], tau: &[f64]| {
            let mut qdd = vec![0.0; nv];
            let mut posed = workspace.at(q).unwrap();
            posed.moving(qd).unwrap().forward_dynamics(tau, &mut qdd).unwrap();
            qdd
        };
        assert_close("accelerations", &linear.qdd, &at(&q, &qd, &tau), 1e-13);
        let h = 1e-5;
        for (name, matrix) in [("q", &linear.by_q), ("v", &linear.by_qd), ("tau", &linear.by_tau)] {
            let size = matrix.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
            for i in 0..nv {
                let mut side = |sign: f64| {
                    let (mut q, mut qd, mut tau) = (q.clone(), qd.clone(), tau.clone());
                    match name {
                        "q" => {
                            let mut step = vec![0.0; nv];
                            step[i] = sign * h;
                            arms.integrate(&q.clone(), &step, &mut q).unwrap();
                        }
                        "v" => qd[i] += sign * h,
                        _ => tau[i] += sign * h,
                    }
                    at(&q, &qd, &tau)
                };
                let (up, down) = (side(1.0), side(-1.0));
                for r in 0..nv {
                    let slope = (up[r] - down[r]) / (2.0 * h);
                    let got = matrix[r * nv + i];
                    assert!(
                        (slope - got).abs() < 1e-6 * size,
                        "{kind:?} by {name}: {got} {slope} of {size}"
                    );
                }
            }
        }
    }
}
