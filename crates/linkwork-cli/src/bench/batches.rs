//! Nanoseconds per state of batches.

use super::{Algorithm, Protocol, configuration};
use crate::random::Random;
use anyhow::{Result, anyhow};
use linkwork::Mechanism;
use linkwork::batch::{Batch, Real};
use linkwork::model::FrameId;
use std::hint::black_box;
use std::time::Instant;

/// The algorithms that batches have.
pub(super) const ALGORITHMS: [Algorithm; 8] = [
    Algorithm::Fk,
    Algorithm::Rnea,
    Algorithm::Crba,
    Algorithm::CrbaEntries,
    Algorithm::Aba,
    Algorithm::Minv,
    Algorithm::RneaDerivatives,
    Algorithm::AbaDerivatives,
];

/// A robot, its states one after the other, and room for results.
pub(super) struct Batched<T: Real> {
    batch: Batch<T>,
    states: usize,
    frames: Vec<FrameId>,
    /// Elements of the mass matrix that are not zero.
    entries: usize,
    q: Vec<T>,
    qd: Vec<T>,
    input: Vec<T>,
    out: Vec<T>,
}

impl<T: Real> Batched<T> {
    pub(super) fn new(mechanism: &Mechanism, states: usize, threads: usize) -> Result<Self> {
        let mut random = Random::new(1);
        let nv = mechanism.nv();
        let lifted = |x: Vec<f64>| x.into_iter().map(T::lift).collect::<Vec<T>>();
        let q = (0..states)
            .flat_map(|_| configuration(mechanism, &mut random))
            .collect();
        let q = lifted(q);
        let (qd, input) = (lifted(random.numbers(nv * states)), lifted(random.numbers(nv * states)));
        let links = mechanism.links().iter();
        let frames = links
            .map(|link| mechanism.frame(&link.name))
            .collect::<linkwork::Result<Vec<_>>>()?;
        let largest = (3 * nv * nv).max(12 * frames.len());
        Ok(Self {
            batch: mechanism.batch_of().with_threads(threads),
            states,
            frames,
            entries: mechanism.mass_pattern().len(),
            q,
            qd,
            input,
            out: vec![T::ZERO; largest * states],
        })
    }

    /// Median and minimum nanoseconds per state.
    pub(super) fn time(&mut self, algorithm: Algorithm, protocol: &Protocol) -> Result<(f64, f64)> {
        self.call(algorithm)
            .map_err(|e| anyhow!(e).context(format!("{} of a batch failed", algorithm.words())))?;
        let mut times = Vec::new();
        // Whole calls, for about as long as the protocol measures one state at a time.
        let start = Instant::now();
        while times.len() < protocol.batches || start.elapsed().as_nanos() < protocol.total() {
            let begun = Instant::now();
            self.call(algorithm)?;
            times.push(begun.elapsed().as_nanos() as f64 / self.states as f64);
        }
        times.sort_by(f64::total_cmp);
        Ok((times[times.len() / 2], times[0]))
    }

    fn call(&mut self, algorithm: Algorithm) -> linkwork::Result<()> {
        let nv = self.batch.mechanism().nv();
        let (q, qd, input) = black_box((&self.q[..], &self.qd[..], &self.input[..]));
        let vector = nv * self.states;
        let out = &mut self.out;
        match algorithm {
            Algorithm::Fk => {
                let numbers = 12 * self.frames.len() * self.states;
                self.batch.poses(&self.frames, q, &mut out[..numbers])?;
            }
            Algorithm::Rnea => self.batch.inverse_dynamics(q, qd, input, &mut out[..vector])?,
            Algorithm::Crba => self.batch.mass_matrix(q, &mut out[..nv * vector])?,
            Algorithm::CrbaEntries => {
                let numbers = self.entries * self.states;
                self.batch.mass_matrix_entries(q, &mut out[..numbers])?;
            }
            Algorithm::Aba => self.batch.forward_dynamics(q, qd, input, &mut out[..vector])?,
            Algorithm::Minv => self.batch.mass_matrix_inverse(q, &mut out[..nv * vector])?,
            Algorithm::RneaDerivatives => self
                .batch
                .inverse_derivatives(q, qd, input, &mut out[..3 * nv * vector])?,
            Algorithm::AbaDerivatives => self
                .batch
                .forward_derivatives(q, qd, input, &mut out[..3 * nv * vector])?,
            _ => unreachable!("only the algorithms of batches are asked for"),
        }
        black_box(&self.out);
        Ok(())
    }
}
