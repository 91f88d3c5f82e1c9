//! A motion that was recorded: rows of a log.

use crate::frame::Arrow;
use crate::simulation::touches;
use linkwork::simulate::State;
use linkwork::{Mechanism, Result};
use linkwork_scene::Scene;

/// States over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// Times, which grow.
    pub t: Vec<f64>,
    /// nq numbers for each time.
    pub q: Vec<f64>,
    /// nv numbers for each time.
    pub v: Vec<f64>,
    /// nv numbers for each time, or none.
    pub tau: Vec<f64>,
    /// Forces for each time, or none.
    pub arrows: Vec<Vec<Arrow>>,
}

/// A state of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Configuration.
    pub q: Vec<f64>,
    /// Velocity.
    pub v: Vec<f64>,
    /// Torques, if they were recorded.
    pub tau: Option<Vec<f64>>,
}

impl Recording {
    /// One row: a configuration at rest, and where bodies of a scene touch.
    pub fn still(state: &State, scene: Option<&mut Scene>) -> Result<Self> {
        let touching = scene.map(|scene| touches(scene, &state.q)).transpose()?;
        Ok(Self {
            t: vec![0.0],
            q: state.q.clone(),
            v: vec![0.0; state.v.len()],
            tau: Vec::new(),
            arrows: touching.into_iter().collect(),
        })
    }

    /// The first and last time; zeros where there is no row.
    pub fn span(&self) -> (f64, f64) {
        (
            self.t.first().copied().unwrap_or(0.0),
            self.t.last().copied().unwrap_or(0.0),
        )
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.t.len()
    }

    /// The row at or before a time.
    pub fn row(&self, t: f64) -> usize {
        self.t.partition_point(|x| *x <= t).saturating_sub(1)
    }

    /// The forces at or before a time; none where they were not recorded.
    pub fn forces(&self, t: f64) -> Option<&[Arrow]> {
        self.arrows.get(self.row(t)).map(|list| &**list)
    }

    /// The state at a time, between rows along the shortest way.
    pub fn at(&self, mechanism: &Mechanism, t: f64) -> Result<Row> {
        let (nq, nv) = (mechanism.nq(), mechanism.nv());
        let row = self.row(t);
        let next = (row + 1).min(self.rows().saturating_sub(1));
        let part = match self.t[next] - self.t[row] {
            gap if gap > 0.0 => ((t - self.t[row]) / gap).clamp(0.0, 1.0),
            _ => 0.0,
        };
        let mut q = vec![0.0; nq];
        let at = |row: usize| &self.q[row * nq..(row + 1) * nq];
        mechanism.interpolate(at(row), at(next), part, &mut q)?;
        let mix = |list: &[f64]| -> Vec<f64> {
            (0..nv)
                .map(|i| (1.0 - part) * list[row * nv + i] + part * list[next * nv + i])
                .collect()
        };
        Ok(Row {
            q,
            v: mix(&self.v),
            tau: (!self.tau.is_empty()).then(|| mix(&self.tau)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_between_rows_are_between_their_states() {
        let robot = linkwork::model::examples::pendulum();
        let log = Recording {
            t: vec![1.0, 2.0, 4.0],
            q: vec![0.0, 1.0, 3.0],
            v: vec![1.0, 2.0, 3.0],
            ..Recording::default()
        };
        let at = |t: f64| log.at(&robot, t).unwrap().q[0];
        for (t, q) in [
            (0.0, 0.0),
            (1.0, 0.0),
            (1.5, 0.5),
            (2.0, 1.0),
            (3.0, 2.0),
            (4.0, 3.0),
            (9.0, 3.0),
        ] {
            assert!((at(t) - q).abs() < 1e-15, "{t}");
        }
        assert_eq!((log.span(), log.row(3.9), log.row(4.0)), ((1.0, 4.0), 1, 2));
    }
}
