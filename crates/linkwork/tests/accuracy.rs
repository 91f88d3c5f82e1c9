//! Forward dynamics of long and of badly conditioned chains against a textbook algorithm in numbers of twice the digits.

mod support;

use linkwork::Mechanism;
use linkwork::model::{Coupling, Joint, Link};
use linkwork::scalar::Dual;
use linkwork::spatial::{Inertia, Pose, Rotation};
use support::double_double::Wide;
use support::random::Random;

/// A revolute joint in its parent's frame, and the body behind it.
struct Piece {
    axis: [f64; 3],
    at: [f64; 3],
    mass: f64,
    com: [f64; 3],
    /// About the centre of mass, along the axes.
    moments: [f64; 3],
}

struct Chain {
    pieces: Vec<Piece>,
    q: Vec<f64>,
    qd: Vec<f64>,
    tau: Vec<f64>,
}

const GRAVITY: f64 = -9.81;

impl Chain {
    fn random(n: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let pieces = (0..n)
            .map(|_| Piece {
                axis: unit(&random.numbers(3, 1.0)),
                at: three(&random.numbers(3, 0.5)),
                mass: random.within(0.5, 2.0),
                com: three(&random.numbers(3, 0.3)),
                moments: [
                    random.within(0.02, 0.03),
                    random.within(0.02, 0.03),
                    random.within(0.02, 0.03),
                ],
            })
            .collect();
        Self {
            pieces,
            q: random.numbers(n, 3.0),
            qd: random.numbers(n, 1.0),
            tau: random.numbers(n, 1.0),
        }
    }

    fn mechanism(&self) -> Mechanism {
        let mut builder = Mechanism::builder("chain").gravity([0.0, 0.0, GRAVITY]);
        for (k, piece) in self.pieces.iter().enumerate() {
            let [x, y, z] = piece.moments;
            let inertia = Inertia::new(piece.mass, piece.com, [x, 0.0, 0.0, y, 0.0, z]);
            let parent = if k == 0 { "world".into() } else { format!("l{}", k - 1) };
            let joint = Joint::revolute(format!("j{k}"), piece.axis).between(parent, format!("l{k}"));
            builder = builder
                .link(Link::new(format!("l{k}"), inertia))
                .joint(joint.placed(Pose::new(Rotation::IDENTITY, piece.at)));
        }
        builder.build().unwrap()
    }

    /// |q̈ − exact| / |exact|, in the largest component.
    fn error(&self) -> f64 {
        let mechanism = self.mechanism();
        let mut qdd = vec![0.0; self.q.len()];
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&self.q).unwrap();
        let mut moving = posed.moving(&self.qd).unwrap();
        moving.forward_dynamics(&self.tau, &mut qdd).unwrap();
        let exact = self.exact();
        let size = exact.iter().fold(0.0_f64, |size, x| size.max(x.rounded().abs()));
        let pairs = qdd.iter().zip(&exact);
        let error = pairs.fold(0.0_f64, |error, (got, exact)| {
            error.max((Wide::new(*got) - *exact).rounded().abs())
        });
        error / size
    }

    /// The articulated body algorithm with 6×6 matrices in the links' own frames (Featherstone 2008, table 7.1).
    fn exact(&self) -> Vec<Wide> {
        let n = self.pieces.len();
        let (mut x, mut c, mut s) = (vec![], vec![], vec![]);
        let (mut inertia, mut bias) = (vec![], vec![]);
        let mut v = [Wide::ZERO; 6];
        for (k, piece) in self.pieces.iter().enumerate() {
            let axis = normalised(piece.axis);
            let joint = [axis[0], axis[1], axis[2], Wide::ZERO, Wide::ZERO, Wide::ZERO];
            let transform = transform(axis, Wide::new(self.q[k]), piece.at.map(Wide::new));
            let relative = joint.map(|x| x * Wide::new(self.qd[k]));
            v = plus(times(&transform, v), relative);
            c.push(cross_motion(v, relative));
            let rigid = rigid(piece);
            bias.push(cross_force(v, times(&rigid, v)));
            x.push(transform);
            s.push(joint);
            inertia.push(rigid);
        }
        let (mut u, mut d, mut rest) = (vec![[Wide::ZERO; 6]; n], vec![Wide::ZERO; n], vec![Wide::ZERO; n]);
        for k in (0..n).rev() {
            u[k] = times(&inertia[k], s[k]);
            d[k] = dot(s[k], u[k]);
            rest[k] = Wide::new(self.tau[k]) - dot(s[k], bias[k]);
            if k > 0 {
                let mut released = inertia[k];
                for i in 0..6 {
                    for j in 0..6 {
                        released[i][j] = released[i][j] - u[k][i] * u[k][j] / d[k];
                    }
                }
                let handed = plus(bias[k], times(&released, c[k]));
                let handed = plus(handed, u[k].map(|u| u * rest[k] / d[k]));
                let seen = congruent(&x[k], &released);
                for i in 0..6 {
                    inertia[k - 1][i] = plus(inertia[k - 1][i], seen[i]);
                }
                bias[k - 1] = plus(bias[k - 1], times(&transposed(&x[k]), handed));
            }
        }
        let mut a = [Wide::ZERO; 6];
        a[5] = Wide::new(-GRAVITY);
        let mut qdd = vec![];
        for k in 0..n {
            a = plus(times(&x[k], a), c[k]);
            let rate = (rest[k] - dot(u[k], a)) / d[k];
            a = plus(a, s[k].map(|s| s * rate));
            qdd.push(rate);
        }
        qdd
    }
}

type Six = [Wide; 6];

fn three(x: &[f64]) -> [f64; 3] {
    [x[0], x[1], x[2]]
}

fn unit(x: &[f64]) -> [f64; 3] {
    let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
    three(x).map(|x| x / length)
}

fn normalised(x: [f64; 3]) -> [Wide; 3] {
    let x = x.map(Wide::new);
    let length = (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]).sqrt();
    x.map(|x| x / length)
}

fn dot(a: Six, b: Six) -> Wide {
    (0..6).fold(Wide::ZERO, |sum, i| sum + a[i] * b[i])
}

fn plus(a: Six, b: Six) -> Six {
    core::array::from_fn(|i| a[i] + b[i])
}

fn times(m: &[Six; 6], x: Six) -> Six {
    core::array::from_fn(|i| dot(m[i], x))
}

fn transposed(m: &[Six; 6]) -> [Six; 6] {
    core::array::from_fn(|i| core::array::from_fn(|j| m[j][i]))
}

/// X* m X.
fn congruent(x: &[Six; 6], m: &[Six; 6]) -> [Six; 6] {
    let x_star = transposed(x);
    let half: [Six; 6] = core::array::from_fn(|i| times(m, x_star[i]));
    core::array::from_fn(|i| times(&x_star, half[i]))
}

fn cross(a: [Wide; 3], b: [Wide; 3]) -> [Wide; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

fn halves(v: Six) -> ([Wide; 3], [Wide; 3]) {
    ([v[0], v[1], v[2]], [v[3], v[4], v[5]])
}

fn joined(a: [Wide; 3], b: [Wide; 3]) -> Six {
    [a[0], a[1], a[2], b[0], b[1], b[2]]
}

fn sum(a: [Wide; 3], b: [Wide; 3]) -> [Wide; 3] {
    core::array::from_fn(|i| a[i] + b[i])
}

fn cross_motion(v: Six, m: Six) -> Six {
    let ((w, u), (mw, mu)) = (halves(v), halves(m));
    joined(cross(w, mw), sum(cross(w, mu), cross(u, mw)))
}

fn cross_force(v: Six, f: Six) -> Six {
    let ((w, u), (n, f)) = (halves(v), halves(f));
    joined(sum(cross(w, n), cross(u, f)), cross(w, f))
}

/// Motions of the parent seen from a link that is turned about an axis at a point of it.
fn transform(axis: [Wide; 3], angle: Wide, at: [Wide; 3]) -> [Six; 6] {
    let (sin, cos) = angle.sin_cos();
    let one = Wide::new(1.0);
    let skew = [
        [Wide::ZERO, -axis[2], axis[1]],
        [axis[2], Wide::ZERO, -axis[0]],
        [-axis[1], axis[0], Wide::ZERO],
    ];
    // The turn backwards: Eᵀ = cos + sin ã + (1 − cos) a a*.
    let e: [[Wide; 3]; 3] = core::array::from_fn(|i| {
        core::array::from_fn(|j| {
            let diagonal = if i == j { cos } else { Wide::ZERO };
            diagonal + sin * skew[j][i] + (one - cos) * axis[i] * axis[j]
        })
    });
    let mut x = [[Wide::ZERO; 6]; 6];
    for i in 0..3 {
        // −E p̃: each row of E crossed with p.
        let moved = cross(at, e[i]);
        for j in 0..3 {
            (x[i][j], x[i + 3][j + 3], x[i + 3][j]) = (e[i][j], e[i][j], moved[j]);
        }
    }
    x
}

fn rigid(piece: &Piece) -> [Six; 6] {
    let (m, c) = (Wide::new(piece.mass), piece.com.map(Wide::new));
    let square = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
    let mut inertia = [[Wide::ZERO; 6]; 6];
    let skew = [
        [Wide::ZERO, -c[2], c[1]],
        [c[2], Wide::ZERO, -c[0]],
        [-c[1], c[0], Wide::ZERO],
    ];
    for i in 0..3 {
        inertia[i + 3][i + 3] = m;
        inertia[i][i] = Wide::new(piece.moments[i]) + m * square;
        for j in 0..3 {
            inertia[i][j] = inertia[i][j] - m * c[i] * c[j];
            inertia[i][j + 3] = m * skew[i][j];
            inertia[j + 3][i] = m * skew[i][j];
        }
    }
    inertia
}

#[test]
fn wide_numbers_have_twice_the_digits() {
    let third = Wide::new(1.0) / Wide::new(3.0);
    let one = third + third + third - Wide::new(1.0);
    assert!(one.rounded().abs() < 1e-31);
    for angle in [0.0, 1e-9, 0.3, -2.5, 3.1] {
        let (s, c) = Wide::new(angle).sin_cos();
        assert!((s.rounded() - angle.sin()).abs() < 1e-15 && (c.rounded() - angle.cos()).abs() < 1e-15);
        assert!((s * s + c * c - Wide::new(1.0)).rounded().abs() < 1e-28, "{angle}");
    }
}

#[test]
fn long_chains_keep_their_digits() {
    for (n, seeds, limit) in [(10, 20, 1e-13), (100, 10, 1e-13), (1_000, 3, 1e-13), (10_000, 1, 1e-12)] {
        for seed in 0..seeds {
            let error = Chain::random(n, seed).error();
            println!("{n} links: {error:.1e}");
            assert!(error <= limit, "{n} links, seed {seed}: {error:e}");
        }
    }
}

impl Chain {
    /// Twenty links, of which the last is so many times heavier.
    fn with_heavy_tip(ratio: f64, seed: u64) -> Self {
        let mut chain = Self::random(20, seed);
        let tip = chain.pieces.last_mut().unwrap();
        tip.mass *= ratio;
        tip.moments = tip.moments.map(|x| x * ratio);
        chain
    }
}

/// Below 10⁵ nothing is refined, and no more is lost; above, one step brings back as many digits as were left.
#[test]
fn heavy_tips_lose_no_digits_and_are_flagged() {
    for (ratio, limit, poor) in [
        (1.0, 1e-13, None),
        (2e4, 1e-11, None),
        (1e6, 1e-13, Some(true)),
        (1e9, 1e-13, Some(true)),
        (1e12, 1e-7, Some(true)),
    ] {
        let mut errors = Vec::new();
        for seed in 0..40 {
            let chain = Chain::with_heavy_tip(ratio, seed);
            errors.push(chain.error());
            let mechanism = chain.mechanism();
            let mut workspace = mechanism.workspace();
            let conditioning = workspace.at(&chain.q).unwrap().conditioning().unwrap();
            assert!(poor.is_none_or(|poor| conditioning.is_poor() == poor), "{conditioning}");
        }
        errors.sort_by(f64::total_cmp);
        let (median, worst) = (errors[errors.len() / 2], errors[errors.len() - 1]);
        println!("ratio {ratio:e}: median {median:.1e}, worst {worst:.1e}");
        assert!(worst <= limit, "ratio {ratio:e}: {worst:e}");
    }
}

/// Whichever way q̈ is asked for: in batches, with the forces across the joints, or in other numbers.
#[test]
fn heavy_tips_are_refined_everywhere() {
    let chain = Chain::with_heavy_tip(1e9, 7);
    let mechanism = chain.mechanism();
    let (q, qd, tau) = (&chain.q, &chain.qd, &chain.tau);
    let qdd = mechanism.forward_dynamics(q, qd, tau).unwrap();

    let mut batch = vec![0.0; 3 * qdd.len()];
    let three = |x: &[f64]| x.repeat(3);
    let states = [three(q), three(qd), three(tau)];
    mechanism
        .batch()
        .forward_dynamics(&states[0], &states[1], &states[2], &mut batch)
        .unwrap();
    assert!(batch.chunks(qdd.len()).all(|state| state == qdd));

    let mut workspace = mechanism.workspace();
    let mut posed = workspace.at(q).unwrap();
    let mut moving = posed.moving(qd).unwrap();
    let (mut driven, mut again) = (vec![0.0; qdd.len()], vec![0.0; qdd.len()]);
    let accelerating = moving.with_torques(tau, &mut driven).unwrap();
    let base = accelerating.reaction(mechanism.joint("j0").unwrap());
    let accelerating = moving.with_accelerations(&driven, &mut again).unwrap();
    assert_eq!(base, accelerating.reaction(mechanism.joint("j0").unwrap()));
    let size = qdd.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
    assert!(qdd.iter().zip(&driven).all(|(a, b)| (a - b).abs() < 1e-13 * size));

    let lift = |x: &[f64]| x.iter().map(|x| Dual::constant(*x)).collect::<Vec<_>>();
    let mut workspace = mechanism.workspace_of::<Dual<f64>>();
    let mut posed = workspace.at(&lift(q)).unwrap();
    let mut moving = posed.moving(&lift(qd)).unwrap();
    let mut dual = lift(&qdd);
    moving.forward_dynamics(&lift(tau), &mut dual).unwrap();
    assert!(qdd.iter().zip(&dual).all(|(a, b)| (a - b.value).abs() < 1e-13 * size));
}

/// The estimate is the ratio of the outer eigenvalues, hardly from below, and D those of the factors.
#[test]
fn the_condition_is_that_of_the_mass_matrix() {
    let chain = Chain::random(6, 3);
    let mechanism = chain.mechanism();
    let mut workspace = mechanism.workspace();
    let mut posed = workspace.at(&chain.q).unwrap();
    let conditioning = posed.conditioning().unwrap();
    // Powers of 𝓜 and of its inverse single out the outer eigenvalues.
    let (mut mass, mut inverse) = (vec![0.0; 36], vec![0.0; 36]);
    posed.mass_matrix(&mut mass).unwrap();
    posed.mass_matrix_inverse(&mut inverse).unwrap();
    let outer = |m: &[f64]| {
        let mut power = m.to_vec();
        let mut logarithm = 0.0;
        let mut weight = 1.0;
        for _ in 0..12 {
            let size = power.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
            logarithm += weight * size.ln();
            weight *= 0.5;
            let unit: Vec<f64> = power.iter().map(|x| x / size).collect();
            power = (0..36)
                .map(|i| (0..6).map(|k| unit[i / 6 * 6 + k] * unit[k * 6 + i % 6]).sum())
                .collect();
        }
        f64::exp(logarithm)
    };
    let exact = outer(&mass) * outer(&inverse);
    let ratio = conditioning.condition / exact;
    assert!((0.9..1.01).contains(&ratio), "{ratio}");
    let all: Vec<f64> = (0..6)
        .map(|k| {
            let mut d = [0.0];
            posed
                .joint_inertia(mechanism.joint(&format!("j{k}")).unwrap(), &mut d)
                .unwrap();
            d[0]
        })
        .collect();
    let least = all.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = all.iter().copied().fold(0.0, f64::max);
    assert_eq!(conditioning.least.as_ref().map(|p| p.d), Some(least));
    assert!((conditioning.range() - greatest / least).abs() < 1e-12 * greatest / least);
}

/// Followers have no D of their own; their leader's is what both weigh.
#[test]
fn a_gear_is_conditioned_as_its_leader() {
    let chain = Chain::random(2, 5);
    let gear = Coupling::gear("j1", "j0", 3.0, 0.0);
    let geared = chain.mechanism().to_builder().couple(gear).build().unwrap();
    let mut workspace = geared.workspace();
    let mut posed = workspace.at(&chain.q[..1]).unwrap();
    let mut mass = [0.0];
    posed.mass_matrix(&mut mass).unwrap();
    let conditioning = posed.conditioning().unwrap();
    assert!((conditioning.condition - 1.0).abs() < 1e-12);
    let pivot = conditioning.least.unwrap();
    assert_eq!(pivot.name, "j0");
    assert!((pivot.d - mass[0]).abs() < 1e-12 * mass[0]);
}
