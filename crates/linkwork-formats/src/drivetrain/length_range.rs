//! Between which lengths muscles work, where their file does not say it.
//!
//! MuJoCo pulls and pushes along each muscle in a simulation, at an acceleration of 20, until lengths stay; limits of joints, which
//! are soft there, stop it. Here the length goes up and down its slope within the limits, each coordinate by its share over its
//! element of 𝓜, to where nothing is left to gain; from the written configuration and some others, of which the furthest counts.
//! The ends are the same but for that softness, some thousandths of the range.

use super::Drivetrain;
use crate::robot::Robot;
use linkwork::Result;

/// The longest step of a coordinate, in rad or m, and the shortest worth taking.
const LONGEST: f64 = 0.05;
const SHORTEST: f64 = 1e-9;
/// What has not ended then has no end.
const STEPS: usize = 5_000;
/// Configurations to start at besides the written one.
const SEEDS: u64 = 6;

impl Drivetrain {
    /// The least and most length along an actuator's line; none where it has no end, or is always the same.
    pub(super) fn length_range(&mut self, robot: &Robot, line: usize, ratio: f64) -> Result<Option<[f64; 2]>> {
        let mut ends = [f64::INFINITY, f64::NEG_INFINITY];
        for seed in 0..=SEEDS {
            let start = match seed {
                0 => robot.written_configuration(),
                _ => robot.mechanism.random(seed),
            };
            for (end, sign) in ends.iter_mut().zip([-1.0, 1.0]) {
                let Some(found) = self.extreme(robot, &start, line, sign)? else {
                    return Ok(None);
                };
                *end = sign * (sign * *end).max(sign * found);
            }
        }
        let ends = ends.map(|end| ratio * end);
        let (lower, upper) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        Ok(Some([lower, upper]).filter(|_| upper - lower > SHORTEST * (1.0 + upper.abs())))
    }

    /// The length furthest along a sign, if it ends somewhere.
    fn extreme(&mut self, robot: &Robot, start: &[f64], line: usize, sign: f64) -> Result<Option<f64>> {
        let m = &robot.mechanism;
        let nv = m.nv();
        let mut q = start.to_vec();
        m.clamp(&mut q)?;
        let (mut slope, mut step, mut next) = (vec![0.0; nv], vec![0.0; nv], q.clone());
        self.still(m, &q)?;
        let (mut length, mut reach) = (self.lines[line].length, LONGEST);
        for _ in 0..STEPS {
            slope.fill(0.0);
            self.lines[line].pull(sign, &mut slope);
            let mass = m.mass_matrix(&q)?;
            for i in 0..nv {
                slope[i] /= mass[i * nv + i];
            }
            let steepest = slope.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            if steepest == 0.0 {
                return Ok(Some(length));
            }
            loop {
                // What is stopped by its limit does not make the others' steps short.
                step.iter_mut().zip(&slope).for_each(|(step, x)| {
                    *step = (x / steepest * reach).clamp(-LONGEST, LONGEST);
                });
                m.integrate(&q, &step, &mut next)?;
                m.clamp(&mut next)?;
                self.still(m, &next)?;
                let gained = sign * (self.lines[line].length - length);
                if gained > 0.0 {
                    length = self.lines[line].length;
                    core::mem::swap(&mut q, &mut next);
                    reach = (2.0 * reach).min(LONGEST * 1e6);
                    break;
                }
                reach *= 0.5;
                if reach < SHORTEST {
                    return Ok(Some(length));
                }
            }
        }
        Ok(None)
    }
}
