//! Constraints of single directions, of velocities alone, that move by themselves, and on one side: against definitions by
//! differences, and the dense equations of motion.
#![allow(non_snake_case)]

mod support;

use linkwork::closed::{ClosedMechanism, Constraint, ConstraintKind, ConstraintTarget};
use linkwork::spatial::{Motion, Pose, Rotation, Vec3};
use linkwork::{Mechanism, model::examples};
use support::dense::Dense;
use support::library::matrix;
use support::matrix::Matrix;
use support::random::{Random, State, random_state, random_tree};
use support::{assert_close, assert_close_of};

fn unit(i: usize) -> Vec3 {
    let mut e = [0.0; 3];
    e[i] = 1.0;
    e.into()
}

/// A motion of a target: a fixed screw times t, and its derivatives.
#[derive(Clone, Copy)]
struct Screw {
    axis: Vec3,
    rate: f64,
    from: Vec3,
    speed: Vec3,
    gain: Vec3,
}

impl Screw {
    fn random(random: &mut Random) -> Self {
        Self {
            axis: random.direction(),
            rate: random.within(-1.0, 1.0),
            from: random.vector(0.4),
            speed: random.vector(0.7),
            gain: random.vector(0.9),
        }
    }

    fn at(&self, t: f64) -> ConstraintTarget {
        let turn = Rotation::about(self.axis, self.rate * t + 0.3 * t * t);
        let shift = self.from + self.speed * t + self.gain * (0.5 * t * t);
        ConstraintTarget {
            pose: Pose::new(turn, shift),
            velocity: Motion::new(self.axis * (self.rate + 0.6 * t), self.speed + self.gain * t),
            acceleration: Motion::new(self.axis * 0.6, self.gain),
        }
    }
}

fn any_kind(random: &mut Random) -> ConstraintKind {
    let some = |random: &mut Random| [0; 3].map(|_| random.chance(0.5));
    match random.below(5) {
        0 | 1 => ConstraintKind::Directions {
            turns: some(random),
            shifts: some(random),
        },
        2 => ConstraintKind::Rates {
            turns: some(random),
            shifts: some(random),
        },
        3 => ConstraintKind::Rolling {
            radius: random.within(0.1, 0.6),
            axis: random.chance(0.6).then(|| random.direction()),
            normal: random.direction(),
        },
        _ => ConstraintKind::Point,
    }
}

/// Poses of a constraint's frames, the first with the target's motion on it.
fn frames(m: &Mechanism, c: &Constraint, q: &[f64], target: Option<ConstraintTarget>) -> [Pose; 2] {
    let mut workspace = m.workspace();
    let mut posed = workspace.at(q).unwrap();
    let [a, b] = [&c.a, &c.b].map(|f| posed.pose(m.frame(f).unwrap()).unwrap());
    [target.map_or(a, |t| a * t.pose), b]
}

/// ġ by differences of poses alone, at X(t) = a⁻¹b: what each kind says in words.
fn rates_by_differences(kind: &ConstraintKind, x: impl Fn(f64) -> [Pose; 2]) -> Vec<f64> {
    let h = 1e-3;
    let relative = |t: f64| {
        let [a, b] = x(t);
        a.inverse() * b
    };
    // Of fourth order.
    let rate = |f: &dyn Fn(&Pose) -> f64| {
        let [a, b, c, d] = [2.0 * h, h, -h, -2.0 * h].map(|t| f(&relative(t)));
        (-a + 8.0 * b - 8.0 * c + d) / (12.0 * h)
    };
    let now = relative(0.0);
    let mut out = Vec::new();
    match *kind {
        ConstraintKind::Point => {
            for i in 0..3 {
                // In the world's axes.
                let [p, q, r, s] = [2.0 * h, h, -h, -2.0 * h].map(|t| {
                    let [a, b] = x(t);
                    (b.translation - a.translation).to_array()[i]
                });
                out.push((-p + 8.0 * q - 8.0 * r + s) / (12.0 * h));
            }
        }
        ConstraintKind::Directions { turns, shifts } => {
            let held: Vec<usize> = (0..3).filter(|&i| turns[i]).collect();
            for &i in &held {
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                out.push(match held.len() {
                    1 => rate(&|x| (x.rotation * unit(j)).dot(unit(k))),
                    2 if turns[j] => rate(&|x| -(x.rotation * unit(k)).dot(unit(j))),
                    2 => rate(&|x| (x.rotation * unit(j)).dot(unit(k))),
                    _ => {
                        // Angular velocity in the world's axes.
                        let [p, q, r, s] = [2.0 * h, h, -h, -2.0 * h].map(|t| {
                            let [a, b] = x(t);
                            let [a0, b0] = x(0.0);
                            let turn = |from: &Pose, to: &Pose| {
                                let rows = (to.rotation * from.rotation.inverse()).to_rows();
                                0.5 * (rows[k][j] - rows[j][k])
                            };
                            turn(&b0, &b) - turn(&a0, &a)
                        });
                        (-p + 8.0 * q - 8.0 * r + s) / (12.0 * h)
                    }
                });
            }
            for i in (0..3).filter(|&i| shifts[i]) {
                out.push(rate(&|x| x.translation.to_array()[i]));
            }
        }
        ConstraintKind::Rates { turns, shifts } => {
            for i in (0..3).filter(|&i| turns[i]) {
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                out.push(rate(&|x| (now.rotation * unit(k)).dot(x.rotation * unit(j))));
            }
            for i in (0..3).filter(|&i| shifts[i]) {
                out.push(rate(&|x| (now.rotation * unit(i)).dot(x.translation)));
            }
        }
        ConstraintKind::Rolling { radius, axis, normal } => {
            // The point of b that is lowest now, followed as a point of b.
            let k = axis.map_or(Vec3::ZERO, |k| now.rotation * (k * (1.0 / k.norm())));
            let s = normal - k * normal.dot(k);
            let lowest = now.translation - s * (radius / s.norm());
            let on_b = now.inverse().point(lowest);
            for i in 0..3 {
                out.push(rate(&|x| x.point(on_b).to_array()[i]));
            }
        }
        _ => panic!("not here"),
    }
    out
}

#[test]
fn random_rows_accelerate_as_the_dense_equations_say() {
    let mut random = Random::new(29);
    let (mut tested, mut moving_targets) = (0, 0);
    for seed in 0..500 {
        let m = random_tree(seed, 10);
        let mut all: Vec<String> = m.links().iter().map(|l| l.name.clone()).collect();
        all.push("world".into());
        let State { q, qd, tau, .. } = random_state(&m, seed);
        let constraints: Vec<Constraint> = (0..1 + random.below(3))
            .map(|i| {
                let [a, b] = [0; 2].map(|_| all[random.below(all.len())].clone());
                Constraint::new(format!("c{i}"), any_kind(&mut random), a, b)
            })
            .collect();
        let screws: Vec<Option<Screw>> = constraints
            .iter()
            .map(|_| random.chance(0.4).then(|| Screw::random(&mut random)))
            .collect();
        let Ok(closed) = ClosedMechanism::new(m.clone(), constraints.clone()) else {
            continue;
        };
        let (rows, nv) = (closed.rows(), m.nv());
        let mut workspace = closed.workspace();
        let moved = |t: f64| {
            let mut there = q.clone();
            let step: Vec<f64> = qd.iter().map(|v| v * t).collect();
            m.integrate(&q, &step, &mut there).unwrap();
            there
        };
        // ġ with the same numbers of velocity, along the motion that these give.
        let mut rates = |t: f64| {
            for (c, screw) in constraints.iter().zip(&screws) {
                workspace.prescribe(&c.name, screw.map(|s| s.at(t))).unwrap();
            }
            let mut out = vec![0.0; rows];
            let mut posed = workspace.at(&moved(t)).unwrap();
            posed.moving(&qd).unwrap().gap_rates(&mut out).unwrap();
            out
        };
        let h = 1e-3;
        let [p, r, s, u] = [2.0 * h, h, -h, -2.0 * h].map(&mut rates);
        let bias: Vec<f64> = (0..rows)
            .map(|i| (-p[i] + 8.0 * r[i] - 8.0 * s[i] + u[i]) / (12.0 * h))
            .collect();
        let now = rates(0.0);
        // What the words say, by differences of poses.
        let mut at = 0;
        for (c, screw) in constraints.iter().zip(&screws) {
            let poses = |t: f64| frames(&m, c, &moved(t), screw.map(|s| s.at(t)));
            let known = rates_by_differences(&c.kind, poses);
            let got = &now[at..at + c.kind.rows()];
            let size = qd.iter().fold(1.0, |m: f64, x| m.max(x.abs())).powi(5);
            if let ConstraintKind::Rolling { normal, .. } = c.kind {
                // Tangents are any two: the squares add up.
                let v = Vec3::new(known[0], known[1], known[2]);
                let up = v.dot(normal) / normal.norm();
                assert_close_of("leaving", &got[..1], &[up], size, 1e-8);
                let slip = (v.dot(v) - up * up).max(0.0).sqrt();
                assert_close_of("slipping", &[got[1].hypot(got[2])], &[slip], size, 1e-7);
            } else {
                assert_close_of(&format!("{:?}", c.kind), got, &known, size, 1e-8);
            }
            at += c.kind.rows();
        }
        // The dense equations.
        let mut posed = workspace.at(&q).unwrap();
        if posed.report().unwrap().rank < rows {
            continue;
        }
        let J = matrix(rows, nv, |out| posed.jacobian(out));
        let dense = Dense::new(&m, &q, &qd);
        let mass = dense.mass_matrix();
        let W = &J * mass.inverse() * J.t();
        if W.condition() > 1e5 || mass.condition() > 1e5 {
            continue;
        }
        let mut K = Matrix::zeros(nv + rows, nv + rows);
        K.set_block(0, 0, &mass);
        K.set_block(nv, 0, &J);
        K.set_block(0, nv, &J.t().scale(-1.0));
        let mut right: Vec<f64> = tau.iter().zip(dense.bias()).map(|(t, c)| t - c).collect();
        right.extend(bias.iter().map(|x| -x));
        let expect = K.solve(&Matrix::column(&right)).data;
        let mut qdd = vec![0.0; nv];
        let mut moving = posed.moving(&qd).unwrap();
        let lambda = moving.forward_dynamics(&tau, &mut qdd).unwrap().all().to_vec();
        let size = bias.iter().chain(&expect[..nv]).fold(1.0, |m: f64, x| m.max(x.abs()));
        assert_close_of(m.name(), &qdd, &expect[..nv], size * W.condition().sqrt() * 10.0, 1e-7);
        let size = expect[nv..].iter().fold(size, |m: f64, x| m.max(x.abs()));
        assert_close_of("λ", &lambda, &expect[nv..], size * W.condition(), 1e-7);
        // Velocities are projected onto the moving constraints; impulses are what it takes.
        let mut v = qd.clone();
        let impulse = posed.project_velocity(&mut v).unwrap().to_vec();
        assert!(posed.moving(&v).unwrap().closure_rate() < 1e-9 * W.condition());
        let change: Vec<f64> = v.iter().zip(&qd).map(|(a, b)| a - b).collect();
        let (given, taken) = (mass.apply(&change), J.t().apply(&impulse));
        let size = taken.iter().fold(1e-3, |m: f64, x| m.max(x.abs()));
        assert_close_of("momentum", &given, &taken, size * mass.condition(), 1e-11);
        tested += 1;
        moving_targets += usize::from(screws.iter().any(Option::is_some));
    }
    assert!(tested > 60 && moving_targets > 25, "{tested} {moving_targets}");
}

#[test]
fn positions_close_and_rates_have_no_part_in_it() {
    let arms = examples::dual_arm();
    let names: Vec<String> = arms.links().iter().map(|l| l.name.clone()).collect();
    let (a, b) = (&names[names.len() / 2 - 1], &names[names.len() - 1]);
    let mut random = Random::new(3);
    let mut tested = 0;
    for seed in 0..12 {
        let turns = [0; 3].map(|_| random.chance(0.5));
        let shifts = [true, random.chance(0.5), random.chance(0.5)];
        let ties = vec![
            Constraint::directions("hold", a, b, turns, shifts),
            Constraint::rates("slip", a, b, [true; 3], [false; 3]),
        ];
        let mut closed = ClosedMechanism::new(arms.clone(), ties).unwrap();
        // At rest: one that turns would say other than the rates.
        let place = ConstraintTarget::at(Screw::random(&mut random).at(0.2).pose);
        closed.prescribe("hold", Some(place)).unwrap();
        let State { q, qd, .. } = random_state(&arms, seed);
        // An axis that starts the wrong way round may stay so.
        let Ok(q) = closed.assemble(&q) else { continue };
        tested += 1;
        let [at, other] = frames(&arms, &closed.constraints()[0], &q, Some(place));
        let apart = (at.inverse() * other).translation.to_array();
        for i in (0..3).filter(|&i| shifts[i]) {
            assert!(apart[i].abs() < 1e-9, "{apart:?} {shifts:?}");
        }
        // From a little off, in the metric of 𝓜: back onto the positions, whatever the rates say.
        let mut workspace = closed.workspace();
        let mut off = q.clone();
        let step: Vec<f64> = qd.iter().map(|v| 1e-3 * v).collect();
        arms.integrate(&q, &step, &mut off).unwrap();
        assert!(workspace.project(&mut off).unwrap() < 1e-12);
        let mut posed = workspace.at(&off).unwrap();
        let mut v = qd.clone();
        posed.project_velocity(&mut v).unwrap();
        assert!(posed.moving(&v).unwrap().closure_rate() < 1e-10);
    }
    assert!(tested > 7, "{tested}");
}

#[test]
fn linearized_rows_of_every_kind_are_differences() {
    let m = examples::dual_arm();
    let names: Vec<String> = m.links().iter().map(|l| l.name.clone()).collect();
    let (a, b) = (&names[names.len() / 2 - 1], &names[names.len() - 1]);
    let nv = m.nv();
    let ties = vec![
        Constraint::directions("hold", a, b, [true, true, false], [false, false, true]),
        Constraint::skate("skate", "world", b),
        Constraint::new(
            "rolls",
            ConstraintKind::Rolling {
                radius: 0.3,
                axis: Some(unit(0)),
                normal: unit(2),
            },
            "world",
            a,
        ),
    ];
    let mut closed = ClosedMechanism::new(m.clone(), ties).unwrap();
    let mut random = Random::new(8);
    closed
        .prescribe("hold", Some(Screw::random(&mut random).at(0.1)))
        .unwrap();
    let State { q, qd, tau, .. } = random_state(&m, 5);
    let linear = closed.linearize(&q, &qd, &tau).unwrap();
    let mut workspace = closed.workspace();
    let mut gives = |q: &[f64], v: &[f64], tau: &[f64]| {
        let mut qdd = vec![0.0; nv];
        let mut posed = workspace.at(q).unwrap();
        posed.moving(v).unwrap().forward_dynamics(tau, &mut qdd).unwrap();
        qdd
    };
    let base = gives(&q, &qd, &tau);
    assert_close("q̈", &linear.qdd, &base, 1e-12);
    let size = linear.by_q.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
    let h = 1e-5;
    for i in 0..nv {
        let mut change = |what: usize| {
            let mut sides = [1.0, -1.0].map(|sign| {
                let mut step = vec![0.0; nv];
                step[i] = sign * h;
                let plus = |x: &[f64]| x.iter().zip(&step).map(|(x, s)| x + s).collect::<Vec<f64>>();
                match what {
                    0 => {
                        let mut there = q.clone();
                        m.integrate(&q, &step, &mut there).unwrap();
                        gives(&there, &qd, &tau)
                    }
                    1 => gives(&q, &plus(&qd), &tau),
                    _ => gives(&q, &qd, &plus(&tau)),
                }
            });
            let [up, down] = &mut sides;
            up.iter()
                .zip(down.iter())
                .map(|(a, b)| (a - b) / (2.0 * h))
                .collect::<Vec<f64>>()
        };
        for (what, by) in [&linear.by_q, &linear.by_qd, &linear.by_tau].into_iter().enumerate() {
            let column: Vec<f64> = (0..nv).map(|k| by[k * nv + i]).collect();
            assert_close_of("column", &column, &change(what), size, 1e-6);
        }
    }
}

#[test]
fn constraints_that_are_off_hold_nothing() {
    let m = examples::dual_arm();
    let names: Vec<String> = m.links().iter().map(|l| l.name.clone()).collect();
    let (a, b) = (&names[names.len() / 2 - 1], &names[names.len() - 1]);
    let State { q, qd, tau, .. } = random_state(&m, 2);
    let both = vec![
        Constraint::point("first", a, b),
        Constraint::distance("second", "world", a, 0.5),
    ];
    let mut closed = ClosedMechanism::new(m.clone(), both.clone()).unwrap();
    closed.switch("first", false).unwrap();
    assert!(!closed.is_on("first").unwrap() && closed.is_on("second").unwrap());
    let only = ClosedMechanism::new(m.clone(), vec![both[1].clone()]).unwrap();
    let accelerations = |closed: &ClosedMechanism| {
        let mut workspace = closed.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let report = posed.report().unwrap();
        let mut qdd = vec![0.0; m.nv()];
        let mut moving = posed.moving(&qd).unwrap();
        let lambda = moving.forward_dynamics(&tau, &mut qdd).unwrap().all().to_vec();
        (report.rows, report.rank, qdd, lambda)
    };
    let (rows, rank, qdd, lambda) = accelerations(&closed);
    let (rows_of_one, rank_of_one, expect, multiplier) = accelerations(&only);
    assert_eq!((rows, rank), (rows_of_one, rank_of_one));
    assert_close("q̈", &qdd, &expect, 1e-13);
    assert_close("λ", &lambda, &[0.0, 0.0, 0.0, multiplier[0]], 1e-12);
    // Inverse dynamics knows the switches too, in a workspace that has done nothing else.
    let actuated: Vec<usize> = (0..m.nv()).collect();
    let (mut torques, mut again) = (vec![0.0; m.nv()], vec![0.0; m.nv()]);
    let mut workspace = closed.workspace();
    let mut posed = workspace.at(&q).unwrap();
    let mut moving = posed.moving(&qd).unwrap();
    moving.inverse_dynamics(&qdd, &actuated, &mut torques).unwrap();
    moving.forward_dynamics(&torques, &mut again).unwrap();
    assert_close("q̈ again", &again, &qdd, 1e-9);
    let mut all = closed.clone();
    all.switch("first", true).unwrap();
    assert_eq!(accelerations(&all).0, 4);
    assert!(!closed.is_on("first").unwrap(), "a clone's switches are its own");
    assert!(closed.switch("frist", true).unwrap_err().to_string().contains("first"));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let m = examples::dual_arm();
    let names: Vec<String> = m.links().iter().map(|l| l.name.clone()).collect();
    let b = &names[names.len() - 1];
    let text = |c: Constraint| ClosedMechanism::new(m.clone(), vec![c]).unwrap_err().to_string();
    assert!(text(Constraint::directions("d", "world", b, [false; 3], [false; 3])).contains("holds nothing"));
    assert!(text(Constraint::weld("w", "world", b).at_least()).contains("one row"));
    assert!(text(Constraint::skate("s", "world", b).at_most()).contains("one row"));
    assert!(text(Constraint::ball("b", "world", b, 0.0)).contains("radius is 0"));
    assert!(text(Constraint::wheel("w", "world", b, [0.0; 3], 0.1)).contains("no direction"));
    let mut closed = ClosedMechanism::new(m.clone(), vec![Constraint::distance("d", "world", b, 1.0)]).unwrap();
    let nan = ConstraintTarget::at(Pose::from_translation([f64::NAN, 0.0, 0.0]));
    assert!(
        closed
            .prescribe("d", Some(nan))
            .unwrap_err()
            .to_string()
            .contains("not finite")
    );
    let mut v = vec![0.0; m.nv()];
    let refused = closed.workspace().grasp("d", &m.neutral(), &mut v).unwrap_err();
    assert!(refused.to_string().contains("switch"), "{refused}");
}
