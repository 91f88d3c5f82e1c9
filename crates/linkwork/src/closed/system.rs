//! W λ = b with W = J𝓜⁻¹J*, from rows of D^-½HψB: the small dense part of a closed mechanism's dynamics.
//!
//! Without hubs W falls into groups, each factored on its own. With hubs W = W' + E_hE_h*: each group of W' is factored,
//! and (I + E_h*W'⁻¹E_h) y = E_h*W'⁻¹b, λ = W'⁻¹(b − E_h y). That takes O(ℓ) for ℓ arms that hold one object. Where a
//! group of W' is singular though W may not be, all of W is factored instead.

use super::plan::{Group, MOST_ROWS, Plan, Strand, Tie};
use crate::dense::{Semidefinite, add_scaled, dot};
use crate::simd::{Instructions, Task};

/// The memory and the factors of one group.
#[derive(Clone, Debug, Default)]
struct Block {
    w: Vec<f64>,
    factor: Semidefinite,
    /// E_h by columns: one of these rows' numbers for every degree of freedom of the hubs, then W'⁻¹E_h likewise.
    hub: Vec<f64>,
    solved: Vec<f64>,
    b: Vec<f64>,
}

impl Block {
    fn new(rows: usize, hub: usize) -> Self {
        Self {
            w: vec![0.0; rows * rows],
            factor: Semidefinite::new(rows),
            hub: vec![0.0; rows * hub],
            solved: vec![0.0; rows * hub],
            b: vec![0.0; rows],
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct System {
    /// Per constraint: rows of D^-½HψB along its strand.
    innovations: Vec<f64>,
    blocks: Vec<Block>,
    whole: Block,
    is_whole: bool,
    /// How many rows are not held.
    left_out: usize,
    hub: Vec<f64>,
    hub_factor: Semidefinite,
    hub_b: Vec<f64>,
}

impl System {
    pub(crate) fn new(plan: &Plan) -> Self {
        let block = |group: &Group| Block::new(group.rows.len(), plan.hub_size);
        Self {
            innovations: vec![0.0; plan.numbers],
            blocks: plan.groups.iter().map(block).collect(),
            whole: Block::default(),
            is_whole: false,
            left_out: 0,
            hub: vec![0.0; plan.hub_size * plan.hub_size],
            hub_factor: Semidefinite::new(plan.hub_size),
            hub_b: vec![0.0; plan.hub_size],
        }
    }

    /// Takes in the numbers of the rows of a constraint along one of its ways.
    pub(crate) fn take_in(&mut self, strand: &Strand, side: usize, numbers: &[f64]) {
        let (width, length) = (strand.dofs.len(), strand.ways[side]);
        let rows = self.innovations[strand.start..].chunks_exact_mut(width);
        for (row, numbers) in rows.zip(numbers.chunks_exact(length)) {
            for (n, x) in numbers.iter().enumerate() {
                row[strand.place(side, n)] += x;
            }
        }
    }

    /// Forgets all rows.
    pub(crate) fn clear(&mut self) {
        self.innovations.fill(0.0);
    }

    /// Factors the system of the rows that are held; rows whose square is at most `floor` are rounding. None if all rows would
    /// have to be factored together, and are too many.
    #[must_use]
    pub(crate) fn factor(
        &mut self,
        instructions: Instructions,
        (plan, ties): (&Plan, &[Tie]),
        held: &[bool],
        floor: f64,
    ) -> Option<()> {
        let mut done = None;
        let (system, given) = (self, (plan, ties));
        instructions.perform::<f64, _>(Factor(system, given, held, floor, &mut done));
        done
    }

    /// Solves Wλ = b for the rows in `lambda`, and writes E*λ: the innovations that they give.
    pub(crate) fn solve_and_pull(
        &mut self,
        instructions: Instructions,
        given: (&Plan, &[Tie]),
        lambda: &mut [f64],
        innovations: &mut [f64],
    ) {
        instructions.perform::<f64, _>(Solve(self, given, lambda, innovations));
    }

    #[inline(always)]
    fn factor_rows(&mut self, plan: &Plan, ties: &[Tie], held: &[bool], floor: f64) -> Option<()> {
        let mut full = true;
        self.left_out = held.iter().filter(|held| !**held).count();
        for (group, block) in plan.groups.iter().zip(&mut self.blocks) {
            gather(group, plan, &plan.place, ties, &self.innovations, &mut block.w);
            leave_out(group, held, floor, &mut block.w);
            block.factor.factor(&block.w, floor);
            full &= block.factor.is_full();
        }
        self.is_whole = false;
        if plan.hub_size == 0 {
            return Some(());
        }
        if full {
            self.border(plan, ties, held);
            return Some(());
        }
        let n = plan.rows;
        if n > MOST_ROWS {
            return None;
        }
        let whole = plan.whole();
        self.is_whole = true;
        if self.whole.w.is_empty() {
            self.whole = Block::new(n, 0);
        }
        // In the whole a row's place is its number.
        gather(whole, plan, &whole.rows, ties, &self.innovations, &mut self.whole.w);
        leave_out(whole, held, floor, &mut self.whole.w);
        self.whole.factor.factor(&self.whole.w, floor);
        Some(())
    }

    /// I + E_h*W'⁻¹E_h.
    #[inline(always)]
    fn border(&mut self, plan: &Plan, ties: &[Tie], held: &[bool]) {
        let h = plan.hub_size;
        self.hub.fill(0.0);
        for i in 0..h {
            self.hub[i * h + i] = 1.0;
        }
        for (group, block) in plan.groups.iter().zip(&mut self.blocks) {
            let n = group.rows.len();
            block.hub.fill(0.0);
            for &tie in &group.ties {
                let strand = &plan.strands[tie];
                let numbers = self.innovations[strand.start..].chunks_exact(strand.dofs.len());
                for (row, numbers) in ties[tie].rows.clone().zip(numbers).filter(|(row, _)| held[*row]) {
                    for (&dof, x) in strand.dofs.iter().zip(numbers) {
                        if let Some(at) = plan.hub[dof] {
                            block.hub[at * n + plan.place[row]] += x;
                        }
                    }
                }
            }
            block.solved.copy_from_slice(&block.hub);
            for column in block.solved.chunks_exact_mut(n) {
                block.factor.solve(column);
            }
            for i in 0..h {
                for j in 0..=i {
                    let sum = dot(&block.hub[i * n..(i + 1) * n], &block.solved[j * n..(j + 1) * n]);
                    self.hub[i * h + j] += sum;
                }
            }
        }
        self.hub_factor.factor(&self.hub, 0.0);
    }

    /// b ← W⁺b.
    #[inline(always)]
    fn solve(&mut self, plan: &Plan, b: &mut [f64]) {
        if self.is_whole {
            self.whole.factor.solve(b);
            return;
        }
        self.hub_b.fill(0.0);
        for (group, block) in plan.groups.iter().zip(&mut self.blocks) {
            for (x, &row) in block.b.iter_mut().zip(&group.rows) {
                *x = b[row];
            }
            let n = group.rows.len();
            for (y, solved) in self.hub_b.iter_mut().zip(block.solved.chunks_exact(n)) {
                *y += dot(solved, &block.b);
            }
            block.factor.solve(&mut block.b);
        }
        if plan.hub_size > 0 {
            self.hub_factor.solve(&mut self.hub_b);
        }
        for (group, block) in plan.groups.iter().zip(&mut self.blocks) {
            let n = group.rows.len();
            for (y, solved) in self.hub_b.iter().zip(block.solved.chunks_exact(n)) {
                add_scaled(&mut block.b, -y, solved);
            }
            for (x, &row) in block.b.iter().zip(&group.rows) {
                b[row] = *x;
            }
        }
    }

    /// out += E*λ: the innovations that multipliers give.
    #[inline(always)]
    fn pull(&self, plan: &Plan, ties: &[Tie], lambda: &[f64], out: &mut [f64]) {
        for (tie, strand) in ties.iter().zip(&plan.strands) {
            let numbers = self.innovations[strand.start..].chunks_exact(strand.dofs.len());
            for (row, numbers) in tie.rows.clone().zip(numbers) {
                for (&dof, x) in strand.dofs.iter().zip(numbers) {
                    out[dof] = lambda[row].mul_add(*x, out[dof]);
                }
            }
        }
    }

    /// What a row does by the innovations of multipliers: a row of Wλ.
    pub(crate) fn row_of(&self, strand: &Strand, row: usize, innovations: &[f64]) -> f64 {
        let width = strand.dofs.len();
        let numbers = &self.innovations[strand.start + row * width..][..width];
        numbers
            .iter()
            .zip(&strand.dofs)
            .map(|(x, &dof)| x * innovations[dof])
            .sum()
    }

    /// The rank of the rows that are held.
    pub(crate) fn rank(&self) -> usize {
        let rank = if self.is_whole {
            self.whole.factor.rank()
        } else {
            self.blocks.iter().map(|block| block.factor.rank()).sum()
        };
        rank.saturating_sub(self.left_out)
    }

    /// Rows that depend on others, in order.
    pub(crate) fn dependent(&self, plan: &Plan) -> Vec<usize> {
        let mut found = if self.is_whole {
            self.whole.factor.dependent().to_vec()
        } else {
            let blocks = plan.groups.iter().zip(&self.blocks);
            blocks
                .flat_map(|(group, block)| block.factor.dependent().iter().map(|&i| group.rows[i]))
                .collect()
        };
        found.sort_unstable();
        found
    }
}

/// The dense work, compiled for what the processor has: a multiply-add of plain code may be a call.
struct Factor<'a>(
    &'a mut System,
    (&'a Plan, &'a [Tie]),
    &'a [bool],
    f64,
    &'a mut Option<()>,
);

impl Task for Factor<'_> {
    #[inline(always)]
    fn run(self) {
        let Self(system, (plan, ties), held, floor, done) = self;
        *done = system.factor_rows(plan, ties, held, floor);
    }
}

struct Solve<'a>(&'a mut System, (&'a Plan, &'a [Tie]), &'a mut [f64], &'a mut [f64]);

impl Task for Solve<'_> {
    #[inline(always)]
    fn run(self) {
        let Self(system, (plan, ties), lambda, innovations) = self;
        system.solve(plan, lambda);
        innovations.fill(0.0);
        system.pull(plan, ties, lambda, innovations);
    }
}

/// Rows that are not held get an equation of their own, λ = 0.
#[inline(always)]
fn leave_out(group: &Group, held: &[bool], floor: f64, w: &mut [f64]) {
    let n = group.rows.len();
    for (i, _) in group.rows.iter().enumerate().filter(|(_, row)| !held[**row]) {
        w[i * n..i * n + i].fill(0.0);
        for j in i + 1..n {
            w[j * n + i] = 0.0;
        }
        w[i * n + i] = 1.0 + floor;
    }
}

/// The lower triangle of a group's W: the products of all rows that meet.
#[inline(always)]
fn gather(group: &Group, plan: &Plan, place: &[usize], ties: &[Tie], numbers: &[f64], w: &mut [f64]) {
    let n = group.rows.len();
    w.fill(0.0);
    for meeting in &group.meetings {
        let [a, b] = meeting.ties.map(|tie| &plan.strands[tie]);
        let [rows_a, rows_b] = meeting.ties.map(|tie| ties[tie].rows.clone());
        let is_one = meeting.ties[0] == meeting.ties[1];
        for (r, row_a) in rows_a.enumerate() {
            let x = &numbers[a.start + r * a.dofs.len()..];
            let count = if is_one { r + 1 } else { rows_b.len() };
            for (s, row_b) in rows_b.clone().enumerate().take(count) {
                let y = &numbers[b.start + s * b.dofs.len()..];
                let mut sum = 0.0;
                for stretch in &group.stretches[meeting.stretches.clone()] {
                    let [p, q, length] = stretch.map(|x| x as usize);
                    sum += dot(&x[p..p + length], &y[q..q + length]);
                }
                let (i, j) = (place[row_a], place[row_b]);
                w[i.max(j) * n + i.min(j)] = sum;
            }
        }
    }
}
