//! A chain with torsions alone in a bath: equipartition, and what Fixman's potential corrects.
//!
//! Where bonds and angles are rigid, torsions q are found with the density √det 𝓜(q), not evenly. The force −½kT ∂ log det 𝓜/∂q
//! makes them even again. Velocities are drawn from N(0, kT 𝓜⁻¹) again and again, and the chain swings freely in between.
//!
//! `cargo run --release --example torsion_chain`

use linkwork::model::{Joint, Link};
use linkwork::spatial::{Inertia, Pose, Rotation, Vec3};
use linkwork::workspace::{Normal, Scaling, Workspace};
use linkwork::{Mechanism, Result};
use std::f64::consts::{PI, TAU};

const KT: f64 = 0.7;
const SWINGS: usize = 4000;
const STEPS: usize = 12;
const STEP: f64 = 0.06;
const BINS: usize = 12;

/// Bonds of unit length at right angles, an atom at the end of each, and a torsion about each.
fn chain() -> Result<Mechanism> {
    let mut builder = Mechanism::builder("torsion chain").gravity([0.0; 3]);
    for k in 0..3 {
        let inner = if k == 0 {
            "world".to_owned()
        } else {
            format!("bond{}", k - 1)
        };
        // The torsion is about z; the bond goes on along x, which is the next torsion's z.
        let bend = Pose::new(Rotation::from_rpy(0.0, PI / 2.0, 0.0), Vec3::new(1.0, 0.0, 0.0));
        let atom = Inertia::new(1.0, Vec3::ZERO, [0.02, 0.0, 0.0, 0.02, 0.0, 0.02]);
        let at = Pose::new(Rotation::IDENTITY, Vec3::new(1.0, 0.0, 0.0));
        let mut joint = Joint::revolute(format!("torsion{k}"), [0.0, 0.0, 1.0]).between(inner, format!("bond{k}"));
        if k > 0 {
            joint = joint.placed(bend);
        }
        builder = builder
            .link(Link::new(format!("bond{k}"), atom.seen_from(&at)))
            .joint(joint);
    }
    builder.build()
}

/// q̈ under Fixman's force, or none.
fn accelerate(workspace: &mut Workspace, q: &[f64], qd: &[f64], fixman: bool, out: &mut [f64]) -> Result<()> {
    let mut force = vec![0.0; q.len()];
    let mut posed = workspace.at(q)?;
    if fixman {
        posed.log_det_mass_gradient(&mut force)?;
        force.iter_mut().for_each(|f| *f *= -0.5 * KT);
    }
    posed.moving(qd)?.forward_dynamics(&force, out)
}

/// One step of Runge and Kutta's method.
fn step(workspace: &mut Workspace, q: &mut [f64], qd: &mut [f64], fixman: bool) -> Result<()> {
    let n = q.len();
    let mut slopes: Vec<(Vec<f64>, Vec<f64>)> = Vec::with_capacity(4);
    for ahead in [0.0, 0.5, 0.5, 1.0] {
        let (at, rate) = match slopes.last() {
            None => (q.to_vec(), qd.to_vec()),
            Some((v, a)) => {
                let moved = |x: &[f64], slope: &[f64]| -> Vec<f64> {
                    x.iter().zip(slope).map(|(x, s)| x + ahead * STEP * s).collect()
                };
                (moved(q, v), moved(qd, a))
            }
        };
        let mut acceleration = vec![0.0; n];
        accelerate(workspace, &at, &rate, fixman, &mut acceleration)?;
        slopes.push((rate, acceleration));
    }
    for ((v, a), weight) in slopes.iter().zip([1.0, 2.0, 2.0, 1.0]) {
        for i in 0..n {
            q[i] += STEP / 6.0 * weight * v[i];
            qd[i] += STEP / 6.0 * weight * a[i];
        }
    }
    Ok(())
}

/// How often the last torsion is found in each part of its circle, and the mean energy of each total rate.
fn sample(chain: &Mechanism, fixman: bool) -> Result<([f64; BINS], Vec<f64>)> {
    let n = chain.nv();
    let (mut workspace, mut normal) = (chain.workspace(), Normal::new(5));
    let (mut q, mut qd, mut nu) = (vec![0.4; n], vec![0.0; n], vec![0.0; n]);
    let (mut found, mut energies) = ([0.0; BINS], vec![0.0; n]);
    for _ in 0..SWINGS {
        workspace.at(&q)?.thermal_rates(KT, &mut normal, &mut qd)?;
        for _ in 0..STEPS {
            step(&mut workspace, &mut q, &mut qd, fixman)?;
        }
        workspace.at(&q)?.total_rates(Scaling::Normalized, &qd, &mut nu)?;
        for (energy, nu) in energies.iter_mut().zip(&nu) {
            *energy += 0.5 * nu * nu / SWINGS as f64;
        }
        let part = (q[n - 1].rem_euclid(TAU) / TAU * BINS as f64) as usize;
        found[part.min(BINS - 1)] += 1.0 / SWINGS as f64;
    }
    Ok((found, energies))
}

/// The same from the density √det 𝓜, summed over the other torsions.
fn expected(chain: &Mechanism) -> Result<[f64; BINS]> {
    let (mut workspace, mut density) = (chain.workspace(), [0.0; BINS]);
    let fine = 8;
    for i in 0..BINS * fine {
        for j in 0..48 {
            let at = |i: usize, n: usize| (i as f64 + 0.5) / n as f64 * TAU;
            let q = [0.0, at(j, 48), at(i, BINS * fine)];
            density[i / fine] += (0.5 * workspace.at(&q)?.log_det_mass()?).exp();
        }
    }
    let sum: f64 = density.iter().sum();
    Ok(density.map(|x| x / sum))
}

fn main() -> Result<()> {
    let chain = chain()?;
    let density = expected(&chain)?;
    let even = [1.0 / BINS as f64; BINS];
    for (fixman, expect, name) in [
        (false, density, "rigid: √det 𝓜"),
        (true, even, "with Fixman's potential: even"),
    ] {
        let (found, energies) = sample(&chain, fixman)?;
        println!("{name}");
        println!("  last torsion   found  expected");
        for (i, (x, y)) in found.iter().zip(&expect).enumerate() {
            let bar = "#".repeat((x * 400.0) as usize);
            println!(
                "  {:>4.0}°         {x:.4}   {y:.4}  {bar}",
                i as f64 / BINS as f64 * 360.0
            );
        }
        let shares: Vec<String> = energies.iter().map(|e| format!("{:.3}", e / KT)).collect();
        println!("  mean ½ν² over kT, ½ each by equipartition: {}\n", shares.join(", "));
        let worst = found
            .iter()
            .zip(&expect)
            .map(|(x, y)| (x - y).abs())
            .fold(0.0, f64::max);
        // Swings of one chain are not quite independent.
        let spread = (even[0] / SWINGS as f64).sqrt();
        assert!(worst < 6.0 * spread, "{name}: {worst} of {spread}");
        assert!(energies.iter().all(|e| (e / KT - 0.5).abs() < 0.06), "{shares:?}");
    }
    Ok(())
}
