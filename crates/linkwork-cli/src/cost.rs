//! `linkwork cost`: multiplications and additions of every algorithm, beside the published ones.
//!
//! A scalar that counts runs through the same sweeps as numbers do. Sines and cosines are not counted, nor what is done
//! once for a mechanism.

use crate::random::Random;
use crate::robot::{Chosen, Loading};
use crate::style::{self, grouped, pad};
use anyhow::Result;
use clap::Args;
use linkwork::model::{Joint, Link};
use linkwork::scalar::{Count, Operations};
use linkwork::spatial::{Inertia, Pose, Rotation};
use linkwork::workspace::Derivatives;
use linkwork::workspace::Scaling::{Normalized, Unnormalized};
use linkwork::{Error, Mechanism, Workspace};
use serde::Serialize;
use std::io::Write;

/// Arguments of `linkwork cost`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  linkwork cost
  linkwork cost --links 6,7,30
  linkwork cost humanoid --json

Without a robot: general revolute arms, in which nothing is parallel, orthogonal or zero; the published counts are for
those. Published: a Featherstone 1987, b Brandl, Johanni and Otter 1986, c Kozłowski 1993 (Kalman filtering), d Kozłowski
(diagonalized), e to h Jain and Rodriguez (linearized: Algorithms 1, 2, 5 and 6). δq̈ is counted from the linearized point
on. Sines and cosines are not counted. Where ours are above, the reason stands below the table.")]
pub(crate) struct Arguments {
    /// A built-in robot or a file; general arms if left out.
    robot: Option<String>,
    #[command(flatten)]
    loading: Loading,
    /// How many links the general arms have.
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', default_values_t = [1, 2, 6, 7, 12, 30],
          value_parser = clap::value_parser!(u16).range(1..=1000), conflicts_with = "robot")]
    links: Vec<u16>,
    /// Print one line of JSON for each algorithm and robot.
    #[arg(long)]
    json: bool,
}

/// An algorithm: its name, what it does, and what was published.
struct Algorithm {
    name: &'static str,
    run: fn(&mut Bench) -> linkwork::Result<()>,
    /// Each by its source and the coefficients of N², N and 1.
    published: &'static [(&'static str, [f64; 3])],
    /// Why it takes more than that, for those that do.
    excess: &'static str,
    /// What is done before and not counted.
    beforehand: Option<fn(&mut Bench) -> linkwork::Result<()>>,
}

impl Algorithm {
    /// Multiplications and additions; none where joints that follow others are not known.
    fn count(&self, bench: &mut Bench) -> linkwork::Result<Option<Operations>> {
        let mut before = Operations::default();
        let mut done = Ok(());
        if let Some(prepare) = self.beforehand {
            before = Count::operations(|| done = prepare(bench));
        }
        let mut all = before;
        if done.is_ok() {
            all = Count::operations(|| done = (self.run)(bench));
        }
        match done {
            Ok(()) => Ok(Some(Operations {
                multiplications: all.multiplications - before.multiplications,
                additions: all.additions - before.additions,
            })),
            Err(Error::Coupled { .. }) => Ok(None),
            Err(problem) => Err(problem),
        }
    }

    /// Why it takes more than some published count for N links, if it does.
    fn reason(&self, n: usize, total: u64) -> Option<&'static str> {
        let is_above = |(_, formula): &(_, _)| (1..total as i64).contains(&published(*formula, n));
        self.published.iter().any(is_above).then_some(self.excess)
    }
}

/// Of sweeps that take fewer operations per link than published, but more on the shortest arms.
const ENDS: &str = "fewer per link, but less is saved at the first and the last";

/// What was published for N links.
fn published([square, linear, rest]: [f64; 3], n: usize) -> i64 {
    let n = n as f64;
    (square * n * n + linear * n + rest).round() as i64
}

/// A robot of counting numbers.
struct Bench {
    workspace: Workspace<Count>,
    q: Vec<Count>,
    qd: Vec<Count>,
    given: Vec<Count>,
    /// 3nv numbers: changes of q, q̇ and q̈ or T.
    change: Vec<Count>,
    vector: Vec<Count>,
    second: Vec<Count>,
    matrix: Vec<Count>,
    derivatives: Derivatives<Count>,
}

static ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "forward dynamics",
        run: |b| {
            b.workspace
                .at(&b.q)?
                .moving(&b.qd)?
                .forward_dynamics(&b.given, &mut b.vector)
        },
        published: &[
            ("a", [0.0, 579.0, -526.0]),
            ("b", [0.0, 470.0, -420.0]),
            ("c", [0.0, 477.0, -503.0]),
        ],
        excess: ENDS,
        beforehand: None,
    },
    Algorithm {
        name: "forward dynamics, bias-free",
        run: |b| {
            b.workspace
                .at(&b.q)?
                .moving(&b.qd)?
                .forward_dynamics_bias_free(&b.given, &mut b.vector)
        },
        published: &[],
        excess: "",
        beforehand: None,
    },
    Algorithm {
        name: "forward dynamics, biased",
        run: |b| {
            b.workspace
                .at(&b.q)?
                .moving(&b.qd)?
                .forward_dynamics_biased(&b.given, &mut b.vector)
        },
        published: &[],
        excess: "",
        beforehand: None,
    },
    Algorithm {
        name: "inverse dynamics",
        run: |b| {
            b.workspace
                .at(&b.q)?
                .moving(&b.qd)?
                .inverse_dynamics(&b.given, &mut b.vector)
        },
        published: &[],
        excess: "",
        beforehand: None,
    },
    Algorithm {
        name: "bias",
        run: |b| b.workspace.at(&b.q)?.moving(&b.qd)?.bias(&mut b.vector),
        published: &[],
        excess: "",
        beforehand: None,
    },
    Algorithm {
        name: "gravity torque",
        run: |b| b.workspace.at(&b.q)?.gravity_torque(&mut b.vector),
        published: &[],
        excess: "",
        beforehand: None,
    },
    Algorithm {
        name: "mass matrix",
        run: |b| b.workspace.at(&b.q)?.mass_matrix(&mut b.matrix),
        published: &[],
        excess: "",
        beforehand: None,
    },
    Algorithm {
        name: "mass matrix inverse",
        run: |b| b.workspace.at(&b.q)?.mass_matrix_inverse(&mut b.matrix),
        published: &[],
        excess: "",
        beforehand: None,
    },
    Algorithm {
        name: "𝓜⁻¹ x",
        run: |b| b.workspace.at(&b.q)?.inverse_mass_times(&b.given, &mut b.vector),
        published: &[],
        excess: "",
        beforehand: None,
    },
    Algorithm {
        name: "diagonalized, normalized",
        run: |b| {
            let mut posed = b.workspace.at(&b.q)?;
            let mut moving = posed.moving_at_total_rates(Normalized, &b.qd)?;
            moving.total_accelerations(Normalized, &b.given, &mut b.vector)
        },
        published: &[("d", [0.0, 1135.0, -910.0])],
        excess: ENDS,
        beforehand: None,
    },
    Algorithm {
        name: "diagonalized, un-normalized",
        run: |b| {
            let mut posed = b.workspace.at(&b.q)?;
            let mut moving = posed.moving_at_total_rates(Unnormalized, &b.qd)?;
            moving.total_accelerations(Unnormalized, &b.given, &mut b.vector)
        },
        published: &[("d", [0.0, 926.0, -605.0])],
        excess: "",
        beforehand: None,
    },
    Algorithm {
        name: "δT of δq, δq̇, δq̈",
        run: |b| {
            let mut posed = b.workspace.at(&b.q)?;
            let mut moving = posed.moving(&b.qd)?;
            let mut linearized = moving.linearized(&b.given)?;
            linearized.torque_change(&b.change, &mut b.vector)
        },
        published: &[("e", [0.0, 623.0, -308.0])],
        excess: "three quarters are the linearization point, made in full: also what only the matrices read",
        beforehand: None,
    },
    Algorithm {
        name: "𝓜, ∂T/∂q, ∂T/∂q̇",
        run: |b| {
            let mut posed = b.workspace.at(&b.q)?;
            let mut moving = posed.moving(&b.qd)?;
            moving.linearized(&b.given)?.inverse_derivatives(&mut b.derivatives)
        },
        published: &[("f", [44.5, 635.5, -277.0])],
        excess: "fewer per pair of joints, but more per link: the point is made in full, for joints of any kind",
        beforehand: None,
    },
    Algorithm {
        name: "δq̈ of δq, δq̇, δT",
        run: |b| {
            let mut posed = b.workspace.at(&b.q)?;
            let mut moving = posed.moving(&b.qd)?;
            let mut linearized = moving.linearized_under(&b.given, &mut b.second)?;
            linearized.acceleration_change(&b.change, &mut b.vector)
        },
        published: &[("g", [0.0, 491.0, -252.0])],
        excess: "",
        beforehand: Some(|b| {
            let mut posed = b.workspace.at(&b.q)?;
            let mut moving = posed.moving(&b.qd)?;
            moving.linearized_under(&b.given, &mut b.second).map(drop)
        }),
    },
    Algorithm {
        name: "𝓜⁻¹, ∂q̈/∂q, ∂q̈/∂q̇",
        run: |b| {
            let mut posed = b.workspace.at(&b.q)?;
            let mut moving = posed.moving(&b.qd)?;
            let mut linearized = moving.linearized_under(&b.given, &mut b.second)?;
            linearized.forward_derivatives(&mut b.derivatives)
        },
        published: &[("h", [69.0, 1554.0, -480.0])],
        excess: "a column of each matrix goes through every link; Algorithm 6, for chains alone, keeps one row for all three",
        beforehand: None,
    },
];

/// One line of results.
#[derive(Serialize)]
struct Line<'a> {
    robot: &'a str,
    nv: usize,
    algorithm: &'static str,
    multiplications: u64,
    additions: u64,
    total: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    published: Vec<Published>,
    /// Why the total is above a published one.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

#[derive(Serialize)]
struct Published {
    source: &'static str,
    total: i64,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let general = arguments.robot.is_none();
    let robots = match &arguments.robot {
        Some(robot) => {
            let chosen = Chosen {
                robot: robot.clone(),
                loading: arguments.loading.clone(),
            };
            let loaded = chosen.load_tree()?;
            vec![(loaded.name, loaded.robot.mechanism)]
        }
        None => {
            let plural = |n: u16| if n == 1 { "" } else { "s" };
            let arm = |n: &u16| Ok((format!("{n} link{}", plural(*n)), general_arm(usize::from(*n))?));
            arguments.links.iter().map(arm).collect::<Result<_>>()?
        }
    };
    let mut out = anstream::stdout();
    let mut counted: Vec<Vec<Option<Operations>>> = Vec::new();
    for (name, mechanism) in &robots {
        let mut bench = Bench::new(mechanism);
        let mut column = Vec::new();
        for algorithm in ALGORITHMS {
            let operations = algorithm.count(&mut bench)?;
            if let (true, Some(counted)) = (arguments.json, &operations) {
                writeln!(out, "{}", line(name, mechanism.nv(), algorithm, counted, general)?)?;
            }
            column.push(operations);
        }
        counted.push(column);
    }
    if !arguments.json {
        table(&robots, &counted, general)?;
    }
    Ok(())
}

fn line(robot: &str, nv: usize, algorithm: &Algorithm, counted: &Operations, general: bool) -> Result<String> {
    let published = algorithm.published.iter().map(|(source, formula)| Published {
        source,
        total: published(*formula, nv),
    });
    Ok(serde_json::to_string(&Line {
        robot,
        nv,
        algorithm: algorithm.name,
        multiplications: counted.multiplications,
        additions: counted.additions,
        total: counted.total(),
        published: if general { published.collect() } else { Vec::new() },
        reason: algorithm.reason(nv, counted.total()).filter(|_| general),
    })?)
}

/// How wide the first column is.
const NAME: usize = 28;

/// Multiplications and additions together: a row per algorithm, a column per robot.
fn table(robots: &[(String, Mechanism)], counted: &[Vec<Option<Operations>>], general: bool) -> Result<()> {
    let mut out = anstream::stdout();
    let width = |name: &str| name.chars().count().max(10);
    let mut head = String::new();
    for (name, _) in robots {
        head += &format!(" {name:>w$}", w = width(name));
    }
    let title = style::paint(style::HEAD, &pad("multiplications + additions", NAME));
    writeln!(out, "{title}{}", style::paint(style::FAINT, &head))?;
    for (i, algorithm) in ALGORITHMS.iter().enumerate() {
        let mut row = pad(algorithm.name, NAME);
        for ((name, _), column) in robots.iter().zip(counted) {
            let total = column[i].map_or_else(|| "–".to_owned(), |o| grouped(o.total()));
            row += &format!(" {total:>w$}", w = width(name));
        }
        writeln!(out, "{row}")?;
        for (source, formula) in algorithm.published.iter().filter(|_| general) {
            let [square, linear, rest] = *formula;
            let square = match square {
                0.0 => String::new(),
                _ => format!("{square}N² + "),
            };
            let mut row = pad(&format!("  {source}: {square}{linear}N − {}", -rest), NAME);
            for (name, mechanism) in robots {
                let total = published(*formula, mechanism.nv());
                let total = u64::try_from(total).map_or_else(|_| "–".to_owned(), grouped);
                row += &format!(" {total:>w$}", w = width(name));
            }
            writeln!(out, "{}", style::paint(style::FAINT, &row))?;
        }
    }
    if general {
        reasons(&mut out, robots, counted)?;
    }
    Ok(())
}

/// Why some counts are above published ones.
fn reasons(out: &mut impl Write, robots: &[(String, Mechanism)], counted: &[Vec<Option<Operations>>]) -> Result<()> {
    let mut title = Some("\nabove a published count, and why");
    for (i, algorithm) in ALGORITHMS.iter().enumerate() {
        let mut columns = robots.iter().zip(counted);
        let reason = columns.find_map(|((_, m), column)| algorithm.reason(m.nv(), column[i]?.total()));
        let Some(reason) = reason else { continue };
        if let Some(title) = title.take() {
            writeln!(out, "{}", style::paint(style::HEAD, title))?;
        }
        writeln!(out, "{} {reason}", pad(algorithm.name, NAME))?;
    }
    Ok(())
}

impl Bench {
    fn new(mechanism: &Mechanism) -> Self {
        let mut random = Random::new(1);
        let nv = mechanism.nv();
        let mut some = |n: usize| random.numbers(n).into_iter().map(Count).collect::<Vec<_>>();
        let change = some(3 * nv);
        let mut numbers = || some(nv);
        Self {
            workspace: mechanism.workspace_of(),
            q: mechanism.random(1).into_iter().map(Count).collect(),
            qd: numbers(),
            given: numbers(),
            change,
            vector: numbers(),
            second: numbers(),
            derivatives: mechanism.derivatives_of(),
            matrix: vec![Count(0.0); nv * nv],
        }
    }
}

/// A revolute arm in which nothing is parallel, orthogonal or zero.
fn general_arm(n: usize) -> Result<Mechanism> {
    let mut random = Random::new(6);
    let mut vector = |size: f64| {
        [0; 3].map(|_| {
            let x = random.number();
            size * (0.1_f64.copysign(x) + 0.9 * x)
        })
    };
    let mut builder = Mechanism::builder("general").gravity([0.3, -0.4, -9.7]);
    for k in 0..n {
        let inner = if k == 0 {
            "world".to_owned()
        } else {
            format!("link{}", k - 1)
        };
        let [x, y, z] = vector(1.0);
        let [a, b, c] = vector(1.0);
        let turn = Rotation::from_rpy(1.0 + a, 0.3 + b, c - 2.0);
        // A cuboid's inertia, turned.
        let cuboid = Inertia::cuboid(2.0 + x, [0.3 + 0.2 * y, 0.3 + 0.1 * z, 0.4]);
        let inertia = cuboid.seen_from(&Pose::new(turn, vector(0.2)));
        let placed = Pose::new(Rotation::from_rpy(c + 0.2, 1.0 - a, b + 0.4), vector(0.5));
        let joint = Joint::revolute(format!("joint{k}"), vector(1.0));
        builder = builder
            .link(Link::new(format!("link{k}"), inertia))
            .joint(joint.between(inner, format!("link{k}")).placed(placed));
    }
    Ok(builder.build()?)
}
