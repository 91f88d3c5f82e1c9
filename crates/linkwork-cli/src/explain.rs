//! `linkwork explain`: one joint of a robot in words: what its torque is for, what its Coriolis term is made of, what it moves.

use crate::plot::{Area, Drawn, FONT, Picture};
use crate::random::Random;
use crate::rates::columns;
use crate::robot::Chosen;
use crate::style;
use crate::user_error::UserError;
use anyhow::Result;
use clap::Args;
use linkwork::Mechanism;
use linkwork::algebra::{TorqueShares, link_space, torque_shares};
use linkwork::model::JointKind;
use linkwork::workspace::Scaling;
use plotters::prelude::*;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `linkwork explain`.
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
    /// The joint, by name or by its number from zero; the first one that moves if left out.
    #[arg(long, value_name = "JOINT")]
    joint: Option<String>,
    /// The configuration, nq numbers; neutral if left out.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_hyphen_values = true)]
    q: Option<Vec<f64>>,
    /// The velocity, nv numbers; one rad/s or m/s everywhere if left out.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_hyphen_values = true)]
    v: Option<Vec<f64>>,
    /// The acceleration, nv numbers; zero if left out.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_hyphen_values = true)]
    qdd: Option<Vec<f64>>,
    /// A random configuration, velocity and acceleration instead, from a seed.
    #[arg(long, value_name = "SEED", conflicts_with_all = ["q", "v", "qdd"], value_parser = crate::numbers::seed)]
    random: Option<u64>,
    /// What pushes a link from outside, in its own frame: LINK=Nx,Ny,Nz,Fx,Fy,Fz. May be given several times.
    #[arg(long, value_name = "LINK=NUMBERS", allow_hyphen_values = true)]
    push: Vec<String>,
    /// Draw the skew matrix c of 𝒞(q, ν) = cν as a heat map, into an SVG or PNG file.
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

const HELP: &str = "\
The torque T of the joint is what it takes to move every link outboard of it: for the joints' accelerations, for velocities,
against gravity, and against what pushes the link from outside.

𝒞(q, ξ) is the Coriolis term of the diagonalized equations, Dξ̇ + 𝒞 = κ: what the links outboard hand in, the motion of the
links inboard as it meets the change of P, the present link's own gyroscopic force; and gravity.

P is the inertia of the reduced manipulator, from the joint's link outward with all joints free; r the same with all locked.

--picture draws the matrix c of the Coriolis term 𝒞(q, ν) = cν in total joint rates: which joint's rate turns which other's.
It is skew, so that 𝒞 does no work.

The last lines say whether coordinates y exist in which the mass matrix is the identity everywhere: only where its
curvature vanishes. There ẏ = Wq̇ with Ẇ = W𝓜⁻¹C, whatever the way from the neutral configuration, and their values are printed.

Examples:
  linkwork explain puma560 --joint joint2
  linkwork explain arm7 --joint 3 --random 5 --json
  linkwork explain puma560 --random 2 --picture c.svg
  linkwork explain double_pendulum --q 0.3,0.8 --v 1,0";

/// What is told.
#[derive(Serialize)]
struct Told {
    robot: String,
    joint: String,
    q: Vec<f64>,
    degrees_of_freedom: Vec<Degree>,
    /// P of the joint's link, in its frame, with everything outboard free.
    #[serde(skip_serializing_if = "Option::is_none")]
    articulated_inertia: Option<[[f64; 6]; 6]>,
    /// r, with everything locked.
    composite_inertia: [[f64; 6]; 6],
    /// The skew matrix c of 𝒞(q, ν) = cν, row by row.
    #[serde(skip_serializing_if = "Option::is_none")]
    coriolis_matrix: Option<Vec<f64>>,
    curvature: Curvature,
}

#[derive(Serialize)]
struct Degree {
    index: usize,
    torque: f64,
    rotor: f64,
    links: Vec<Share>,
    #[serde(skip_serializing_if = "Option::is_none")]
    coriolis: Option<Coriolis>,
    inertia_free: f64,
    inertia_locked: f64,
}

#[derive(Serialize)]
struct Share {
    link: String,
    acceleration: f64,
    velocity: f64,
    gravity: f64,
    outside: f64,
}

#[derive(Serialize)]
struct Coriolis {
    outboard: f64,
    inboard: f64,
    present: f64,
    gravity: f64,
    sum: f64,
}

#[derive(Serialize)]
struct Curvature {
    /// None where it is not computed.
    flat: Option<bool>,
    largest: f64,
    verdict: String,
    /// Where it is flat, coordinates in which the mass matrix is the identity, zero at the neutral configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    coordinates: Option<Vec<f64>>,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let loaded = arguments.chosen.load_tree()?;
    let mechanism = &loaded.robot.mechanism;
    let hint = || {
        let (name, nq, nv) = (mechanism.name(), mechanism.nq(), mechanism.nv());
        format!("`{name}` has nq = {nq} and nv = {nv}")
    };
    let wrong = |e: linkwork::Error| UserError::usage(e.to_string(), hint());
    let joint = chosen(arguments.joint.as_deref(), mechanism)?;
    let name = mechanism.joints()[joint].name.clone();
    let id = mechanism.joint(&name)?;
    let (q, v, qdd) = state(arguments, mechanism);
    let outside = pushes(&arguments.push, mechanism)?;
    let n = mechanism.nv();
    let range = mechanism.v_range(id)?;
    let mut workspace = mechanism.workspace();
    let mut posed = workspace.at(&q).map_err(wrong)?;
    let link = mechanism.link(&mechanism.joints()[joint].child)?;
    let composite_inertia = posed.composite_inertia(link)?;
    let articulated_inertia = posed.articulated_inertia(link).ok();
    let mut moving = posed.moving(&v).map_err(wrong)?;
    let table = moving.total_rate_table(&vec![0.0; n])?;
    let mut terms = vec![0.0; 5 * n];
    // Refused where joints follow others.
    let has_terms = moving
        .diagonal_coriolis_terms(Scaling::Unnormalized, &mut terms)
        .is_ok();
    let mut matrix = vec![0.0; n * n];
    let coriolis_matrix = moving.diagonal_coriolis_matrix(&mut matrix).is_ok().then_some(matrix);
    if let Some(path) = &arguments.picture {
        let Some(c) = &coriolis_matrix else {
            let problem = format!("the matrix c of `{}` cannot be computed here", mechanism.name());
            return Err(UserError::usage(problem, "choose another configuration"));
        };
        let map = HeatMap {
            title: format!("c of {}: the Coriolis term is cν", loaded.name),
            names: names_of_rates(mechanism),
            numbers: c,
        };
        map.write(path)?;
    }
    let mut degrees = Vec::with_capacity(range.len());
    for (index, dof) in range.enumerate() {
        let shares = torque_shares(mechanism, &q, &v, &qdd, &outside, dof).map_err(wrong)?;
        let row = |row: usize| terms[row * n + dof];
        degrees.push(Degree {
            coriolis: has_terms.then(|| Coriolis {
                outboard: row(0),
                inboard: row(1),
                present: row(2),
                gravity: row(4),
                sum: (0..5).map(row).sum(),
            }),
            inertia_free: table[dof].inertia_free,
            inertia_locked: table[dof].inertia_locked,
            ..degree(index, shares)
        });
    }
    let told = Told {
        robot: loaded.name.clone(),
        joint: name,
        degrees_of_freedom: degrees,
        articulated_inertia,
        composite_inertia,
        coriolis_matrix,
        curvature: curvature(mechanism, &q),
        q,
    };
    match arguments.json {
        true => Ok(writeln!(anstream::stdout(), "{}", serde_json::to_string(&told)?)?),
        false => print(&told),
    }
}

/// The joint's place among all.
fn chosen(joint: Option<&str>, mechanism: &Mechanism) -> Result<usize> {
    let moves = |j: usize| {
        let id = mechanism.joint(&mechanism.joints()[j].name);
        id.and_then(|id| mechanism.v_range(id))
            .is_ok_and(|range| !range.is_empty())
    };
    let all = 0..mechanism.joints().len();
    let found = match joint {
        None => all.clone().find(|&j| moves(j)),
        Some(text) => {
            let by_name = all.clone().find(|&j| mechanism.joints()[j].name == text);
            by_name.or_else(|| text.parse().ok().filter(|j| all.contains(j)))
        }
    };
    let names = || {
        let names = all
            .clone()
            .filter(|&j| moves(j))
            .map(|j| &mechanism.joints()[j].name[..]);
        format!("its joints are {}", names.collect::<Vec<_>>().join(", "))
    };
    match found {
        Some(j) if moves(j) => Ok(j),
        Some(j) => {
            let name = &mechanism.joints()[j].name;
            let problem = format!("joint `{name}` has no degree of freedom of its own");
            Err(UserError::usage(problem, names()))
        }
        None => {
            let problem = format!("`{}` has no joint `{}`", mechanism.name(), joint.unwrap_or_default());
            Err(UserError::usage(problem, names()))
        }
    }
}

fn state(arguments: &Arguments, mechanism: &Mechanism) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let n = mechanism.nv();
    if let Some(seed) = arguments.random {
        let mut random = Random::new(seed);
        return (mechanism.random(seed), random.numbers(n), random.numbers(n));
    }
    let q = arguments.q.clone().unwrap_or_else(|| mechanism.neutral());
    let v = arguments.v.clone().unwrap_or_else(|| vec![1.0; n]);
    (q, v, arguments.qdd.clone().unwrap_or_else(|| vec![0.0; n]))
}

/// Forces on all links of link space.
fn pushes(given: &[String], mechanism: &Mechanism) -> Result<Vec<f64>> {
    if given.is_empty() {
        return Ok(Vec::new());
    }
    let names = link_space(mechanism);
    let mut outside = vec![0.0; 6 * names.len()];
    for text in given {
        let wrong = |problem: String| {
            let hint = format!("as in --push {}=0,0,0,0,0,-10", names.last().map_or("link", |n| n));
            UserError::usage(format!("--push {text}: {problem}"), hint)
        };
        let (link, numbers) = text.split_once('=').ok_or_else(|| wrong("it has no `=`".to_owned()))?;
        let Some(at) = names.iter().position(|name| name == link) else {
            return Err(wrong(format!("`{link}` is not a link that moves by itself")));
        };
        let numbers: Vec<f64> = numbers.split(',').filter_map(|x| x.trim().parse().ok()).collect();
        if numbers.len() != 6 || numbers.iter().any(|x| !x.is_finite()) {
            return Err(wrong("it needs six finite numbers".to_owned()));
        }
        outside[6 * at..6 * at + 6]
            .iter_mut()
            .zip(numbers)
            .for_each(|(f, x)| *f += x);
    }
    Ok(outside)
}

fn degree(index: usize, shares: TorqueShares) -> Degree {
    let links = shares.links.into_iter().map(|share| Share {
        link: share.link,
        acceleration: share.acceleration,
        velocity: share.velocity,
        gravity: share.gravity,
        outside: share.outside,
    });
    Degree {
        index,
        torque: shares.total,
        rotor: shares.rotor,
        links: links.collect(),
        coriolis: None,
        inertia_free: 0.0,
        inertia_locked: 0.0,
    }
}

/// Flat, or not and because of which joints.
fn curvature(mechanism: &Mechanism, q: &[f64]) -> Curvature {
    let found = match mechanism.curvature(q) {
        Ok(found) => found,
        Err(problem) => {
            return Curvature {
                flat: None,
                largest: 0.0,
                verdict: format!("not computed: {problem}"),
                coordinates: None,
            };
        }
    };
    let largest = found.largest();
    if found.is_flat() {
        let verdict = "flat at this configuration: every R_hijk vanishes";
        return Curvature {
            flat: Some(true),
            largest,
            verdict: verdict.to_owned(),
            coordinates: flat_coordinates(mechanism, q).unwrap_or(None),
        };
    }
    let n = mechanism.nv();
    let names = names_of_rates(mechanism);
    let symbols = found.symbols().iter().enumerate();
    let at = symbols
        .max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))
        .map_or(0, |(i, _)| i);
    let name = |i: usize| names.get(i).map_or("", |n| n);
    let [h, i, j, k] = [at / (n * n * n), at / (n * n) % n, at / n % n, at % n].map(name);
    Curvature {
        flat: Some(false),
        largest,
        verdict: format!(
            "not flat, because of R({h}, {i}, {j}, {k}) = {:.4}",
            found.symbols()[at]
        ),
        coordinates: None,
    }
}

/// What every number of q̇ is called.
fn names_of_rates(mechanism: &Mechanism) -> Vec<String> {
    mechanism
        .joints()
        .iter()
        .flat_map(|joint| {
            let range = mechanism.joint(&joint.name).and_then(|id| mechanism.v_range(id));
            let d = range.map_or(0, |r| r.len());
            (0..d).map(move |i| {
                if d == 1 {
                    joint.name.clone()
                } else {
                    format!("{}[{i}]", joint.name)
                }
            })
        })
        .collect()
}

/// How many steps the way to a configuration is taken in.
const STEPS: usize = 200;

/// y at q, from zero at the neutral configuration: ẏ = Wq̇ and Ẇ = W𝓜⁻¹C along the way, by Runge and Kutta, from W = m*. None
/// where a joint has quaternions, whose rates are not those of coordinates.
fn flat_coordinates(mechanism: &Mechanism, q: &[f64]) -> linkwork::Result<Option<Vec<f64>>> {
    let n = mechanism.nv();
    if mechanism.nq() != n || mechanism.joints().iter().any(|j| matches!(j.kind, JointKind::Planar)) {
        return Ok(None);
    }
    let neutral = mechanism.neutral();
    let way: Vec<f64> = q.iter().zip(&neutral).map(|(q, start)| q - start).collect();
    let mut workspace = mechanism.workspace();
    let mut state = vec![0.0; n * n + n];
    let mut unit = vec![0.0; n];
    for j in 0..n {
        let mut column = vec![0.0; n];
        unit.fill(0.0);
        unit[j] = 1.0;
        workspace
            .at(&neutral)?
            .total_rates(Scaling::Normalized, &unit, &mut column)?;
        (0..n).for_each(|i| state[i * n + j] = column[i]);
    }
    // W and y, one after the other.
    let mut rates = |s: f64, state: &[f64]| -> linkwork::Result<Vec<f64>> {
        let there: Vec<f64> = neutral.iter().zip(&way).map(|(start, by)| start + s * by).collect();
        let (mut c, mut inverse) = (vec![0.0; n * n], vec![0.0; n * n]);
        let mut posed = workspace.at(&there)?;
        posed.mass_matrix_inverse(&mut inverse)?;
        posed.moving(&way)?.coriolis_matrix(&mut c)?;
        let times = |row: &[f64], x: &[f64]| -> Vec<f64> {
            (0..n).map(|j| (0..n).map(|k| row[k] * x[k * n + j]).sum()).collect()
        };
        let mut out = vec![0.0; n * n + n];
        for i in 0..n {
            let row = &state[i * n..(i + 1) * n];
            out[i * n..(i + 1) * n].copy_from_slice(&times(&times(row, &inverse), &c));
            out[n * n + i] = row.iter().zip(&way).map(|(w, qd)| w * qd).sum();
        }
        Ok(out)
    };
    let h = 1.0 / STEPS as f64;
    for i in 0..STEPS {
        let s = i as f64 * h;
        let moved = |by: &[f64], h: f64| -> Vec<f64> { state.iter().zip(by).map(|(x, r)| x + h * r).collect() };
        let a = rates(s, &state)?;
        let b = rates(s + 0.5 * h, &moved(&a, 0.5 * h))?;
        let c = rates(s + 0.5 * h, &moved(&b, 0.5 * h))?;
        let d = rates(s + h, &moved(&c, h))?;
        for (i, x) in state.iter_mut().enumerate() {
            *x += h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]);
        }
    }
    Ok(Some(state.split_off(n * n)))
}

/// A square matrix as colours: blue below zero, red above.
struct HeatMap<'a> {
    title: String,
    names: Vec<String>,
    numbers: &'a [f64],
}

/// Pixels of a cell, of the margin for names, and of the title.
const CELL: u32 = 36;
const MARGIN: u32 = 150;
const TITLE: u32 = 60;

impl Picture for HeatMap<'_> {
    fn size(&self) -> (u32, u32) {
        let side = CELL * self.names.len() as u32;
        ((MARGIN + side + 40).max(420), TITLE + MARGIN / 3 + side + 40)
    }

    fn draw<B: DrawingBackend>(&self, root: &Area<B>) -> Drawn
    where
        B::ErrorType: 'static,
    {
        root.fill(&WHITE)?;
        root.draw(&Text::new(self.title.clone(), (20, 16), (FONT, 20).into_font()))?;
        let n = self.names.len();
        let largest = self.numbers.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let scale = format!("from {:.3} (blue) to {largest:.3} (red)", -largest);
        root.draw(&Text::new(scale, (20, 42), (FONT, 13).into_font()))?;
        let (left, top, cell) = (MARGIN as i32, (TITLE + MARGIN / 3) as i32, CELL as i32);
        for i in 0..n {
            let short: String = self.names[i].chars().take(16).collect();
            let y = top + i as i32 * cell + cell / 2 - 6;
            root.draw(&Text::new(short, (12, y), (FONT, 13).into_font()))?;
            let x = left + i as i32 * cell + cell / 2 - 6;
            root.draw(&Text::new(format!("{i}"), (x, top - 20), (FONT, 13).into_font()))?;
            for j in 0..n {
                let x = if largest > 0.0 {
                    self.numbers[i * n + j] / largest
                } else {
                    0.0
                };
                let fade = |full: f64| (255.0 - (255.0 - full) * x.abs()).round() as u8;
                let colour = match x < 0.0 {
                    true => RGBColor(fade(33.0), fade(102.0), fade(172.0)),
                    false => RGBColor(fade(178.0), fade(24.0), fade(43.0)),
                };
                let (x, y) = (left + j as i32 * cell, top + i as i32 * cell);
                root.draw(&Rectangle::new([(x, y), (x + cell - 1, y + cell - 1)], colour.filled()))?;
                root.draw(&Rectangle::new(
                    [(x, y), (x + cell - 1, y + cell - 1)],
                    RGBColor(220, 220, 220),
                ))?;
            }
        }
        Ok(())
    }
}

fn print(told: &Told) -> Result<()> {
    let mut out = anstream::stdout();
    for degree in &told.degrees_of_freedom {
        let title = match told.degrees_of_freedom.len() {
            1 => format!("{} of {}", told.joint, told.robot),
            _ => format!("{}[{}] of {}", told.joint, degree.index, told.robot),
        };
        let torque = format!("{title}: T = {:.6}, which is", degree.torque);
        writeln!(out, "{}", style::paint(style::HEAD, &torque))?;
        let mut names: Vec<String> = degree.links.iter().map(|s| s.link.clone()).collect();
        let mut rows: Vec<Vec<f64>> = degree
            .links
            .iter()
            .map(|s| {
                let sum = s.acceleration + s.velocity + s.gravity + s.outside;
                vec![s.acceleration, s.velocity, s.gravity, s.outside, sum]
            })
            .collect();
        if degree.rotor != 0.0 {
            names.push("rotor".to_owned());
            rows.push(vec![degree.rotor, 0.0, 0.0, 0.0, degree.rotor]);
        }
        names.push("all".to_owned());
        rows.push((0..5).map(|i| rows.iter().map(|row| row[i]).sum()).collect());
        let width = names.iter().map(|n| n.chars().count()).max().unwrap_or(0).max(8);
        let heads = ["accel.", "velocity", "gravity", "outside", "sum"];
        columns(&mut out, "for link", width, &heads, &names, &rows)?;
        if let Some(c) = &degree.coriolis {
            writeln!(out)?;
            let row = vec![c.outboard, c.inboard, c.present, c.gravity, c.sum];
            let heads = ["outboard", "inboard", "present", "gravity", "sum"];
            columns(
                &mut out,
                "𝒞(q, ξ)",
                width,
                &heads,
                std::slice::from_ref(&told.joint),
                &[row],
            )?;
        }
        writeln!(
            out,
            "\nit moves D = {:.6} with the joints outboard free, {:.6} with them locked\n",
            degree.inertia_free, degree.inertia_locked
        )?;
    }
    let axes = ["ωx", "ωy", "ωz", "vx", "vy", "vz"];
    let names = axes.map(str::to_owned);
    if let Some(p) = &told.articulated_inertia {
        let rows: Vec<Vec<f64>> = p.iter().map(|row| row.to_vec()).collect();
        columns(&mut out, "P, free", 10, &axes, &names, &rows)?;
    }
    let rows: Vec<Vec<f64>> = told.composite_inertia.iter().map(|row| row.to_vec()).collect();
    columns(&mut out, "r, locked", 10, &axes, &names, &rows)?;
    writeln!(out, "\ncurvature: {}", told.curvature.verdict)?;
    if let Some(y) = &told.curvature.coordinates {
        let y: Vec<String> = y.iter().map(|y| format!("{y:.6}")).collect();
        writeln!(
            out,
            "coordinates in which the mass matrix is the identity: y = ({}),",
            y.join(", ")
        )?;
        writeln!(
            out,
            "zero at the neutral configuration; ẏ = Wq̇ with Ẇ = W𝓜⁻¹C, from W = m*"
        )?;
    }
    Ok(())
}
