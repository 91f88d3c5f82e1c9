//! What constraints take from a tree.

use super::multipliers::Level;
use super::posed::ClosedPosed;
use crate::Result;

/// How constraints share the freedom of a tree.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ConstraintReport {
    /// How many equations the constraints stand for that hold here.
    pub rows: usize,
    /// How many of them are independent.
    pub rank: usize,
    /// The degrees of freedom that are left.
    pub freedom: usize,
    /// Rows that depend on the others here, by constraint: the forces along them are shared in the sense of least norm.
    pub redundant: Vec<Redundant>,
}

/// A row that depends on others.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Redundant {
    /// The constraint.
    pub constraint: String,
    /// Which of its rows, from zero.
    pub row: usize,
    /// What the row keeps from happening, in the world's axes.
    pub what: &'static str,
}

impl core::fmt::Display for ConstraintReport {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self {
            rows, rank, freedom, ..
        } = self;
        write!(
            f,
            "{rows} equations of rank {rank}; {freedom} degrees of freedom are left"
        )?;
        for r in &self.redundant {
            write!(f, "\nredundant: `{}`, {}", r.constraint, r.what)?;
        }
        Ok(())
    }
}

impl ClosedPosed<'_> {
    /// Rank, freedom and redundant rows here, of all constraints that are on; one-sided ones count where they touch.
    pub fn report(&mut self) -> Result<ConstraintReport> {
        self.memory.choose(self.closed, Level::Velocity);
        self.memory.factor(self.closed, &mut self.tree)?;
        let (closed, system) = (self.closed, &self.memory.system);
        let rank = system.rank();
        let redundant = system.dependent(&closed.plan).into_iter().map(|row| {
            let i = closed.ties.partition_point(|tie| tie.rows.end <= row);
            let (tie, constraint) = (&closed.ties[i], &closed.constraints[i]);
            let row = row - tie.rows.start;
            Redundant {
                constraint: constraint.name.clone(),
                row,
                what: tie.kind.row_name(row),
            }
        });
        Ok(ConstraintReport {
            rows: self.memory.held.iter().filter(|held| **held).count(),
            rank,
            freedom: closed.mechanism.nv().saturating_sub(rank),
            redundant: redundant.collect(),
        })
    }
}
