//! Random trees with random couplings, and R by its definition.

use super::dense::Dense;
use super::matrix::Matrix;
use super::random::{Random, random_tree};
use linkwork::Mechanism;
use linkwork::model::{Coupling, Law};

/// A coupled mechanism at a state, and the same with every joint on its own.
pub struct Case {
    pub seed: u64,
    pub coupled: Mechanism,
    pub tree: Mechanism,
    pub y: Vec<f64>,
    pub yd: Vec<f64>,
    /// The coordinates of all joints.
    pub q: Vec<f64>,
    /// q̇ = Rẏ, q̈ = Rÿ + Ṙẏ.
    pub R: Matrix,
    pub R_rate: Matrix,
    pub dense: Dense,
}

/// The function of couplings that are no polynomials: y + sin(y)/2, which has all derivatives.
fn wavy(y: f64) -> [f64; 6] {
    let (s, c) = (0.5 * y.sin(), 0.5 * y.cos());
    [y + s, 1.0 + c, -s, -c, s, c]
}

/// A coordinate and its first two derivatives by that of the last leader, from the couplings as given.
fn follow(couplings: &[Coupling], joint: &str, y: &dyn Fn(&str) -> f64) -> (String, [f64; 3]) {
    let Some(coupling) = couplings.iter().find(|c| c.follower == joint) else {
        return (joint.to_owned(), [y(joint), 1.0, 0.0]);
    };
    let (last, [x, slope, bend]) = follow(couplings, &coupling.leader, y);
    let [g, first, second] = match &coupling.law {
        Law::Polynomial(c) => {
            let term = |k: usize, c: f64, order: usize| {
                let falling: f64 = (0..order).map(|i| k as f64 - i as f64).product();
                if k < order {
                    0.0
                } else {
                    falling * c * x.powi((k - order) as i32)
                }
            };
            [0, 1, 2].map(|order| c.iter().enumerate().map(|(k, &c)| term(k, c, order)).sum())
        }
        Law::Function(_) => {
            let g = wavy(x);
            [g[0], g[1], g[2]]
        }
    };
    (last, [g, first * slope, second * slope * slope + first * bend])
}

/// A random tree with couplings between joints of one coordinate: gears, curves and functions, followers of followers.
fn case(seed: u64) -> Option<Case> {
    let mut random = Random::new(seed ^ 0xc0de);
    let tree = random_tree(seed, 14);
    let single = tree.joints().iter().filter(|j| j.kind.nv() == 1);
    let mut single: Vec<String> = single.map(|j| j.name.clone()).collect();
    if single.len() < 3 {
        return None;
    }
    random.shuffle(&mut single);
    let mut builder = tree.to_builder();
    let count = 1 + random.below((single.len() - 1).min(4));
    for k in 0..count {
        let leader = &single[random.below(single.len() - k - 1) + k + 1];
        let mut coefficients = random.numbers(2, 1.5);
        let coupling = if random.chance(0.25) {
            Coupling::function(&single[k], leader, wavy)
        } else {
            if random.chance(0.3) {
                coefficients.push(random.within(-0.4, 0.4));
            }
            Coupling::polynomial(&single[k], leader, coefficients)
        };
        builder = builder.couple(coupling);
    }
    let coupled = builder.build().unwrap_or_else(|e| panic!("{e}"));
    let y = coupled.random(seed);
    let yd = random.numbers(coupled.nv(), 1.0);
    let q = coupled.all_coordinates(&y).unwrap();
    let (n, nv) = (tree.nv(), coupled.nv());
    let (mut R, mut R_rate) = (Matrix::zeros(n, nv), Matrix::zeros(n, nv));
    let coordinate = |name: &str| y[coupled.q_range(coupled.joint(name).unwrap()).unwrap().start];
    for joint in tree.joints() {
        let all = tree.joint(&joint.name).unwrap();
        let id = coupled.joint(&joint.name).unwrap();
        let rows = tree.v_range(all).unwrap();
        if coupled.follows(id).unwrap().is_none() {
            rows.zip(coupled.v_range(id).unwrap())
                .for_each(|(i, j)| R.set(i, j, 1.0));
            continue;
        }
        let (last, [at, slope, bend]) = follow(coupled.couplings(), &joint.name, &coordinate);
        let place = q[tree.q_range(all).unwrap().start];
        assert!((place - at).abs() < 1e-12 * (1.0 + at.abs()));
        let leader = coupled.joint(&last).unwrap();
        assert_eq!(coupled.follows(id).unwrap(), Some(leader));
        let j = coupled.v_range(leader).unwrap().start;
        R.set(rows.start, j, slope);
        R_rate.set(rows.start, j, bend * yd[j]);
    }
    let dense = Dense::new(&tree, &q, &R.apply(&yd));
    Some(Case {
        seed,
        coupled,
        tree,
        y,
        yd,
        q,
        R,
        R_rate,
        dense,
    })
}

pub fn cases() -> impl Iterator<Item = Case> {
    let sound = |c: &Case| (c.R.t() * c.dense.mass_matrix() * &c.R).condition() < 1e7;
    (0..300).filter_map(case).filter(sound)
}
