//! `linkwork cost`: multiplications and additions of every algorithm, beside the published ones.
//!
//! A scalar that counts runs through the same sweeps as numbers do. Sines and cosines are not counted, nor what is done
//! once for a mechanism.

mod conventional;

use crate::random::Random;
use crate::robot::{Chosen, Loading};
use crate::style::{self, grouped, pad};
use anyhow::Result;
use clap::{Args, ValueEnum};
use linkwork::model::{Joint, Link};
use linkwork::quantity::{Call, Given, Quantity};
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
(diagonalized), e to h Jain and Rodriguez (linearized: Algorithms 1, 2, 5 and 6), i for inverse dynamics of general arms and
j of arms whose axes are parallel or perpendicular (--arm perpendicular). δq̈ is counted from the linearized point on, with
P, D and G, as published. Conventional ways are run with the library's own sweeps and dense factors, and counted: Walker and
Orin's four, and Algorithms 3 and 4 of Jain and Rodriguez. Sines and cosines are not counted. Where ours are above, the
reason stands below the table. Kozłowski's counts of 1992 are not among them: the papers that this follows cite them without
the numbers.")]
pub(crate) struct Arguments {
    /// A built-in robot or a file; general arms if left out.
    robot: Option<String>,
    #[command(flatten)]
    loading: Loading,
    /// How many links the general arms have.
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', default_values_t = [1, 2, 6, 7, 12, 30],
          value_parser = clap::value_parser!(u16).range(1..=1000), conflicts_with = "robot")]
    links: Vec<u16>,
    /// What the arms are like.
    #[arg(long, value_enum, default_value_t = Arm::General, conflicts_with = "robot")]
    arm: Arm,
    /// Multiplications and additions apart.
    #[arg(long, conflicts_with = "json")]
    apart: bool,
    /// Print one line of JSON for each algorithm and robot.
    #[arg(long)]
    json: bool,
}

/// An arm to count on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Arm {
    /// Nothing is parallel, orthogonal or zero.
    General,
    /// Each axis is parallel or perpendicular to the next, in turn.
    Perpendicular,
}

impl Arm {
    /// Whether a published count is of such arms.
    fn has(self, source: &str) -> bool {
        (source == "j") == (self == Self::Perpendicular)
    }
}

/// What is counted: a quantity of the library's list, or an algorithm that begins elsewhere than those do.
struct Row {
    name: String,
    work: Work,
    /// What was published, each by its source and the coefficients of N², N and 1.
    published: &'static [(&'static str, [f64; 3])],
    /// Why it takes more than that, for those that do.
    excess: &'static str,
}

enum Work {
    Listed(&'static Quantity),
    Other {
        run: fn(&mut Bench) -> linkwork::Result<()>,
        /// What is done before and not counted.
        beforehand: Option<fn(&mut Bench) -> linkwork::Result<()>>,
    },
}

impl Row {
    /// All rows: the list's, each by its name, and then the others.
    fn all(bench: &mut Bench) -> Vec<Self> {
        let counted = Quantity::all().filter(|quantity| bench.count(quantity).is_some());
        let listed = counted.map(|quantity| {
            let known = PUBLISHED.iter().find(|known| known.0 == quantity.name);
            let (_, published, excess) = known.copied().unwrap_or(("", &[], ""));
            Self {
                name: quantity.name.replace('_', " "),
                work: Work::Listed(quantity),
                published,
                excess,
            }
        });
        let others = OTHERS.iter().map(|other| Self {
            name: other.name.to_owned(),
            work: Work::Other {
                run: other.run,
                beforehand: other.beforehand,
            },
            published: other.published,
            excess: other.excess,
        });
        listed.chain(others).collect()
    }

    /// Multiplications and additions; none where joints that follow others are not known.
    fn count(&self, bench: &mut Bench) -> linkwork::Result<Option<Operations>> {
        let counted = match &self.work {
            Work::Listed(quantity) => bench.count(quantity).unwrap_or(Ok(Operations::default())),
            Work::Other { run, beforehand } => bench.count_other(*run, *beforehand),
        };
        match counted {
            Ok(operations) => Ok(Some(operations)),
            Err(Error::Coupled { .. }) => Ok(None),
            Err(problem) => Err(problem),
        }
    }

    /// Why it takes more than some published count for N links, if it does.
    fn reason(&self, n: usize, total: u64, arm: Arm) -> Option<&'static str> {
        let is_above =
            |(source, formula): &(&str, _)| arm.has(source) && (1..total as i64).contains(&published(*formula, n));
        self.published.iter().any(is_above).then_some(self.excess)
    }
}

/// An algorithm that is no quantity of (q, q̇) alone, or several quantities at once.
struct Other {
    name: &'static str,
    run: fn(&mut Bench) -> linkwork::Result<()>,
    published: &'static [(&'static str, [f64; 3])],
    excess: &'static str,
    beforehand: Option<fn(&mut Bench) -> linkwork::Result<()>>,
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
    /// Whether it is one of the general arms.
    is_arm: bool,
}

/// Published counts of quantities, by name, and why ours are above.
type Known = (&'static str, &'static [(&'static str, [f64; 3])], &'static str);

static PUBLISHED: &[Known] = &[
    (
        "forward_dynamics",
        &[
            ("a", [0.0, 579.0, -526.0]),
            ("b", [0.0, 470.0, -420.0]),
            ("c", [0.0, 477.0, -503.0]),
        ],
        ENDS,
    ),
    (
        "inverse_dynamics",
        &[("i", [0.0, 251.0, -296.0]), ("j", [0.0, 191.0, -219.0])],
        ENDS,
    ),
    (
        "torque_change",
        &[("e", [0.0, 623.0, -308.0])],
        "three quarters are the linearization point, made in full: also what only the matrices read",
    ),
];

static OTHERS: &[Other] = &[
    Other {
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
    Other {
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
    Other {
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
    Other {
        name: "δq̈ of δq, δq̇, δT",
        run: |b| {
            let mut posed = b.workspace.at(&b.q)?;
            let mut moving = posed.moving(&b.qd)?;
            moving
                .linearized(&b.given)?
                .acceleration_change(&b.change, &mut b.vector)
        },
        published: &[("g", [0.0, 491.0, -252.0])],
        excess: "the Riccati equation is in it, and the change of T is made for joints of any kind",
        // The point, but neither P, D nor G.
        beforehand: Some(|b| {
            let mut posed = b.workspace.at(&b.q)?;
            let mut moving = posed.moving(&b.qd)?;
            moving.linearized(&b.given).map(drop)
        }),
    },
    Other {
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
    conventional("Walker and Orin 1: columns", conventional::by_columns),
    conventional(
        "Walker and Orin 2: from a joint",
        conventional::by_columns_from_the_joint_on,
    ),
    conventional("Walker and Orin 3: composite", conventional::by_composite_bodies),
    conventional("Walker and Orin 4: gradients", conventional::by_conjugate_gradients),
    conventional("δq̈ by Algorithm 3, dense", conventional::acceleration_change),
    conventional("∂q̈ by Algorithm 4, dense", conventional::forward_derivatives),
];

/// A conventional way, counted to compare.
const fn conventional(name: &'static str, run: fn(&mut Bench) -> linkwork::Result<()>) -> Other {
    Other {
        name,
        run,
        published: &[],
        excess: "",
        beforehand: None,
    }
}

/// One line of results.
#[derive(Serialize)]
struct Line<'a> {
    robot: &'a str,
    nv: usize,
    algorithm: &'a str,
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

/// Seconds to count all algorithms on a robot, over the cube of its degrees of freedom.
const COUNT_RATE: f64 = 3e-8;

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
            let arm = |n: &u16| {
                let links = usize::from(*n);
                let made = match arguments.arm {
                    Arm::General => general_arm(links)?,
                    Arm::Perpendicular => perpendicular_arm(links)?,
                };
                Ok((format!("{n} link{}", plural(*n)), made))
            };
            arguments.links.iter().map(arm).collect::<Result<_>>()?
        }
    };
    let arm = general.then_some(arguments.arm);
    let mut out = anstream::stdout();
    let mut counted: Vec<Vec<Option<Operations>>> = Vec::new();
    let mut rows = Vec::new();
    for (name, mechanism) in &robots {
        crate::expected_duration::tell("counting the operations of all algorithms", mechanism.nv(), COUNT_RATE);
        let mut bench = Bench::new(mechanism, arm == Some(Arm::General));
        let mut column = Vec::new();
        if rows.is_empty() {
            rows = Row::all(&mut bench);
        }
        for row in &rows {
            let operations = row.count(&mut bench)?;
            if let (true, Some(counted)) = (arguments.json, &operations) {
                writeln!(out, "{}", line(name, mechanism.nv(), row, counted, arm)?)?;
            }
            column.push(operations);
        }
        counted.push(column);
    }
    if !arguments.json {
        table(&rows, &robots, &counted, arm, arguments.apart)?;
    }
    Ok(())
}

fn line(robot: &str, nv: usize, row: &Row, counted: &Operations, arm: Option<Arm>) -> Result<String> {
    let of_arm = row.published.iter().filter(|p| arm.is_some_and(|arm| arm.has(p.0)));
    let published = of_arm.map(|(source, formula)| Published {
        source,
        total: published(*formula, nv),
    });
    Ok(serde_json::to_string(&Line {
        robot,
        nv,
        algorithm: &row.name,
        multiplications: counted.multiplications,
        additions: counted.additions,
        total: counted.total(),
        published: published.collect(),
        reason: arm.and_then(|arm| row.reason(nv, counted.total(), arm)),
    })?)
}

/// How wide the first column is.
const NAME: usize = 32;

/// Multiplications and additions together: a row per algorithm, a column per robot.
fn table(
    rows: &[Row],
    robots: &[(String, Mechanism)],
    counted: &[Vec<Option<Operations>>],
    arm: Option<Arm>,
    apart: bool,
) -> Result<()> {
    let mut out = anstream::stdout();
    let width = |name: &str| name.chars().count().max(10);
    let mut head = String::new();
    for (name, _) in robots {
        head += &format!(" {name:>w$}", w = width(name));
    }
    let title = style::paint(style::HEAD, &pad("multiplications + additions", NAME));
    writeln!(out, "{title}{}", style::paint(style::FAINT, &head))?;
    for (i, of) in rows.iter().enumerate() {
        let mut row = pad(&of.name, NAME);
        for ((name, _), column) in robots.iter().zip(counted) {
            let total = column[i].map_or_else(|| "–".to_owned(), |o| grouped(o.total()));
            row += &format!(" {total:>w$}", w = width(name));
        }
        writeln!(out, "{row}")?;
        for (sign, which) in [("×", 0), ("+", 1)].into_iter().filter(|_| apart) {
            let mut row = pad(&format!("  {sign}"), NAME);
            for ((name, _), column) in robots.iter().zip(counted) {
                let number = column[i].map(|o| [o.multiplications, o.additions][which]);
                let number = number.map_or_else(|| "–".to_owned(), grouped);
                row += &format!(" {number:>w$}", w = width(name));
            }
            writeln!(out, "{}", style::paint(style::FAINT, &row))?;
        }
        let of_arm = of.published.iter().filter(|p| arm.is_some_and(|arm| arm.has(p.0)));
        for (source, formula) in of_arm {
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
    match arm {
        Some(arm) => reasons(&mut out, rows, robots, counted, arm),
        None => Ok(()),
    }
}

/// Why some counts are above published ones.
fn reasons(
    out: &mut impl Write,
    rows: &[Row],
    robots: &[(String, Mechanism)],
    counted: &[Vec<Option<Operations>>],
    arm: Arm,
) -> Result<()> {
    let mut title = Some("\nabove a published count, and why");
    for (i, row) in rows.iter().enumerate() {
        let mut columns = robots.iter().zip(counted);
        let reason = columns.find_map(|((_, m), column)| row.reason(m.nv(), column[i]?.total(), arm));
        let Some(reason) = reason else { continue };
        if let Some(title) = title.take() {
            writeln!(out, "{}", style::paint(style::HEAD, title))?;
        }
        writeln!(out, "{} {reason}", pad(&row.name, NAME))?;
    }
    Ok(())
}

impl Bench {
    fn new(mechanism: &Mechanism, is_arm: bool) -> Self {
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
            matrix: vec![Count(0.0); nv * nv],
            derivatives: mechanism.derivatives_of(),
            is_arm,
        }
    }
}

impl Bench {
    /// The operations of a quantity; none if it is not one that is counted.
    fn count(&mut self, quantity: &Quantity) -> Option<linkwork::Result<Operations>> {
        let given = Given {
            q: &self.q,
            qd: &self.qd,
            qdd: &self.given,
            tau: &self.given,
            x: &self.given,
            change: &self.change,
            ..Given::default()
        };
        let run = quantity.over::<Count>()?;
        let size = quantity.dimensions(self.workspace.mechanism(), None);
        let mut out = vec![Count(0.0); size.map_or(0, |size| size.iter().product())];
        let mut done = Ok(());
        let operations = Count::operations(|| {
            done = call(&mut self.workspace, run, &given, &mut out);
        });
        Some(done.map(|()| operations))
    }

    fn count_other(
        &mut self,
        run: fn(&mut Self) -> linkwork::Result<()>,
        beforehand: Option<fn(&mut Self) -> linkwork::Result<()>>,
    ) -> linkwork::Result<Operations> {
        let (mut before, mut done) = (Operations::default(), Ok(()));
        if let Some(prepare) = beforehand {
            before = Count::operations(|| done = prepare(self));
            done?;
        }
        let mut done = Ok(());
        let all = Count::operations(|| done = run(self));
        done.map(|()| Operations {
            multiplications: all.multiplications - before.multiplications,
            additions: all.additions - before.additions,
        })
    }
}

fn call(
    workspace: &mut Workspace<Count>,
    run: Call<Count>,
    given: &Given<'_, Count>,
    out: &mut [Count],
) -> linkwork::Result<()> {
    run(&mut workspace.at(given.q)?.moving(given.qd)?, given, out)
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

/// A revolute arm whose axes are in turn perpendicular and parallel to the next, with offsets along one axis each.
fn perpendicular_arm(n: usize) -> Result<Mechanism> {
    let mut random = Random::new(6);
    let mut builder = Mechanism::builder("perpendicular").gravity([0.0, 0.0, -9.81]);
    for k in 0..n {
        let inner = if k == 0 {
            "world".to_owned()
        } else {
            format!("link{}", k - 1)
        };
        let some: Vec<f64> = random.numbers(3);
        let cuboid = Inertia::cuboid(2.0 + some[0], [0.3 + 0.2 * some[1], 0.3, 0.4]);
        let turned = Rotation::from_rpy(some[2], 0.4, 0.2 + some[0]);
        let inertia = cuboid.seen_from(&Pose::new(turned, [0.1 + 0.1 * some[1], 0.05, 0.2]));
        let (turn, place) = match k % 2 {
            0 => (core::f64::consts::FRAC_PI_2, [0.0, 0.0, 0.3]),
            _ => (0.0, [0.4, 0.0, 0.0]),
        };
        let joint = Joint::revolute(format!("joint{k}"), [0.0, 0.0, 1.0]);
        builder = builder.link(Link::new(format!("link{k}"), inertia)).joint(
            joint
                .between(inner, format!("link{k}"))
                .placed(Pose::new(Rotation::from_rpy(turn, 0.0, 0.0), place)),
        );
    }
    Ok(builder.build()?)
}
