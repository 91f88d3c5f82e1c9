//! 𝓐 = 𝓜 + A + ΣJ*GJ as an operation of a posed state.

mod changes;

use super::{Configured, check_length};
use crate::body::Hinge;
use crate::dynamics::augmented::{Augmented as Memory, Row, Tree};
use crate::dynamics::kinematics::Placements;
use crate::model::{FrameId, Mechanism, Placed};
use crate::scalar::Scalar;
use crate::simd::Instructions;
use crate::spatial::{Articulated, Force, Pose, Reference};
use crate::stage::Stages;
use crate::{Error, Result};

/// Memory for [`Configured::augment`], made once for a mechanism.
#[derive(Clone, Debug)]
pub struct Augmented<S: 'static = f64>(pub(crate) Memory<S>);

/// Whether links have their masses, and joints their rotors, in 𝓐.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Masses {
    /// 𝓐 = 𝓜 + A + ΣJ*GJ: contacts, soft tasks, implicit dampers and springs.
    Kept,
    /// 𝓐 = A + ΣJ*GJ: damped least squares, as of inverse kinematics.
    None,
}

impl Mechanism {
    /// Memory for [`Configured::augment`] with `f64`.
    pub fn augmented(&self) -> Augmented<f64> {
        self.augmented_of()
    }

    /// The same with another scalar.
    pub fn augmented_of<S: Scalar>(&self) -> Augmented<S> {
        Augmented(Memory::new(&self.compiled))
    }
}

/// 𝓐 = 𝓜 + A + ΣJ*GJ at a configuration: weights G on the motions of frames, and A on degrees of freedom.
///
/// Products and solutions take time proportional to the number of links and weights. Weights between two moving links are
/// eliminated with free bodies first; where they join links of trees, a small system of those links remains.
///
/// ```
/// use linkwork::{Reference, workspace::Masses};
/// let arm = linkwork::model::examples::arm7();
/// let (mut workspace, mut memory) = (arm.workspace(), arm.augmented());
/// let mut posed = workspace.at(&[0.3; 7])?;
/// // 𝓜 + J*GJ: the arm as it is with a spring at its flange that acts within a step.
/// let mut stiff = posed.augment(&mut memory, Masses::Kept)?;
/// let mut weight = [[0.0; 6]; 6];
/// (3..6).for_each(|i| weight[i][i] = 10.0);
/// stiff.weigh(arm.frame("flange")?, Reference::Aligned, &weight)?;
/// let (mut x, mut back) = ([0.0; 7], [0.0; 7]);
/// stiff.solve(&[1.0; 7], &mut x)?;
/// stiff.times(&x, &mut back)?;
/// assert!(back.iter().all(|x| (x - 1.0).abs() < 1e-9));
/// # Ok::<(), linkwork::Error>(())
/// ```
pub struct AugmentedMass<'a, S: 'static = f64> {
    mechanism: &'a Mechanism,
    instructions: Instructions,
    stages: &'a mut Stages<S>,
    memory: &'a mut Memory<S>,
}

impl<S> core::fmt::Debug for AugmentedMass<'_, S> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("AugmentedMass")
            .field("mechanism", &self.mechanism.name())
            .finish_non_exhaustive()
    }
}

impl<S: Scalar> Configured<'_, S> {
    /// 𝓐 without any weights yet.
    ///
    /// ```
    /// use linkwork::model::examples;
    /// use linkwork::{Reference, workspace::Masses};
    /// let arm = examples::puma560();
    /// let (mut workspace, mut memory) = (arm.workspace(), arm.augmented());
    /// let mut posed = workspace.at(&[0.0, 0.8, 3.1, 0.1, 0.8, 0.0])?;
    /// // One step of inverse kinematics by damped least squares: the hand is to move by e.
    /// let hand = arm.frame("link6_dh")?;
    /// let mut task = posed.augment(&mut memory, Masses::None)?;
    /// task.add_diagonal(&[1e-6; 6])?;
    /// let mut weight = [[0.0; 6]; 6];
    /// (0..6).for_each(|i| weight[i][i] = 1.0);
    /// task.weigh(hand, Reference::Aligned, &weight)?;
    /// let mut step = [0.0; 6];
    /// task.solve_weighted(hand, Reference::Aligned, &weight, [0.0, 0.0, 0.0, 0.001, 0.0, 0.0], &mut step)?;
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn augment<'a>(&'a mut self, memory: &'a mut Augmented<S>, masses: Masses) -> Result<AugmentedMass<'a, S>> {
        let mechanism = self.view.mechanism;
        let (m, memory) = (&mechanism.compiled, &mut memory.0);
        if memory.weights.len() != m.bodies.len() || memory.diagonal.len() != m.nv {
            return Err(Error::Unsolved {
                what: "the augmented mass operator",
                problem: format!(
                    "its memory was made for another mechanism than `{}`; make it by `augmented` of this one",
                    mechanism.name()
                ),
            });
        }
        self.view.need::<Placements>();
        memory.clear(m, masses == Masses::Kept);
        Ok(AugmentedMass {
            mechanism,
            instructions: self.view.instructions,
            stages: &mut *self.view.stages,
            memory,
        })
    }
}

impl<S: Scalar> Configured<'_, S> {
    /// 𝓐 as it was left, at the same configuration.
    pub(crate) fn resume<'a>(&'a mut self, memory: &'a mut Augmented<S>) -> AugmentedMass<'a, S> {
        AugmentedMass {
            mechanism: self.view.mechanism,
            instructions: self.view.instructions,
            stages: &mut *self.view.stages,
            memory: &mut memory.0,
        }
    }
}

impl<S: Scalar> AugmentedMass<'_, S> {
    /// Runs something on the memory with the tree beside it.
    fn with<T>(&mut self, run: impl FnOnce(&mut Memory<S>, Tree<'_, S>) -> T) -> T {
        let tree = Tree {
            m: &self.mechanism.compiled,
            joints: &self.stages.joints,
            coupled: &self.stages.coupled,
            instructions: self.instructions,
        };
        run(self.memory, tree)
    }

    /// Adds A: one number per degree of freedom, none negative.
    pub fn add_diagonal(&mut self, a: &[S]) -> Result<()> {
        check_length("a", a.len(), self.mechanism.nv())?;
        for x in a.iter() {
            let value = (0..S::LANES)
                .map(|lane| x.lane(lane))
                .find(|x| !(*x >= 0.0 && x.is_finite()));
            if let Some(value) = value {
                return Err(Error::Negative { argument: "a", value });
            }
        }
        let m = &self.mechanism.compiled;
        match &m.reduction {
            None => {
                for (sum, a) in self.memory.diagonal.iter_mut().zip(a) {
                    *sum += *a;
                }
            }
            Some(r) => {
                for (&v, a) in r.independent.iter().zip(a) {
                    self.memory.diagonal[v] += *a;
                }
            }
        }
        self.memory.has_diagonal = true;
        self.memory.sum_rotors(m);
        Ok(())
    }

    /// Adds a weight G ≥ 0 on the motion [ω; v] of a frame, taken at and in the axes that `reference` says.
    pub fn weigh(&mut self, frame: impl Into<FrameId>, reference: Reference, weight: &[[S; 6]; 6]) -> Result<()> {
        check_weight(weight)?;
        let placed = self.mechanism.placed[self.mechanism.own_frame(frame)?.index()];
        let Some(k) = placed.body else { return Ok(()) };
        let seat = self.seat(&placed, reference).seen_from(self.link(k));
        let weight = Articulated::from_rows(weight).through(&seat);
        self.memory.weigh(k, &weight);
        Ok(())
    }

    /// Adds a weight G ≥ 0 on the motion of a frame relative to another's link, both taken where and in the axes that
    /// `reference` says for the first.
    pub fn weigh_between(
        &mut self,
        frame: impl Into<FrameId>,
        other: impl Into<FrameId>,
        reference: Reference,
        weight: &[[S; 6]; 6],
    ) -> Result<()> {
        check_weight(weight)?;
        let (frame, other) = (self.mechanism.own_frame(frame)?, self.mechanism.own_frame(other)?);
        let (placed, other) = (
            self.mechanism.placed[frame.index()],
            self.mechanism.placed[other.index()],
        );
        let seat = self.seat(&placed, reference);
        let ends = [placed.body, other.body];
        if ends[0] == ends[1] {
            return Ok(());
        }
        for k in ends.into_iter().flatten() {
            let own = Articulated::from_rows(weight).through(&seat.seen_from(self.link(k)));
            self.memory.weigh(k, &own);
        }
        if let [Some(a), Some(b)] = ends {
            let (at_a, at_b) = (seat.seen_from(self.link(a)), seat.seen_from(self.link(b)));
            // −B_a G B_b*.
            let mut half = [[S::ZERO; 6]; 6];
            for i in 0..6 {
                half[i] = at_b.force_in(Force::from_array(weight[i])).to_array();
            }
            let mut x = [[S::ZERO; 6]; 6];
            for j in 0..6 {
                let column = core::array::from_fn(|i| half[i][j]);
                let column = at_a.force_in(Force::from_array(column)).to_array();
                for i in 0..6 {
                    x[i][j] = -column[i];
                }
            }
            self.memory.pairs.join(a, b, &x);
        }
        Ok(())
    }

    /// 𝓐x.
    pub fn times(&mut self, x: &[S], out: &mut [S]) -> Result<()> {
        self.mechanism.check_vector("x", x)?;
        check_length("out", out.len(), self.mechanism.nv())?;
        self.times_unchecked(x, out);
        Ok(())
    }

    /// The same without checks.
    pub(crate) fn times_unchecked(&mut self, x: &[S], out: &mut [S]) {
        self.with(|memory, tree| {
            let Some(r) = &tree.m.reduction else {
                return memory.times(tree, x, out);
            };
            let [mut wide, mut tau] = core::mem::take(&mut memory.wide);
            tree.coupled.expand(r, x, &mut wide);
            memory.times(tree, &wide, &mut tau);
            // A stands at what is independent, whose row of R is one.
            tree.coupled.contract(r, &tau, out);
            memory.wide = [wide, tau];
        });
    }

    /// 𝓐⁻¹x. An error if nothing resists a joint.
    pub fn solve(&mut self, x: &[S], out: &mut [S]) -> Result<()> {
        self.mechanism.check_vector("x", x)?;
        check_length("out", out.len(), self.mechanism.nv())?;
        self.factor()?;
        self.solve_pushed(Some(x), false, out);
        Ok(())
    }

    /// 𝓐⁻¹J*Ge: what one step of weighted least squares does for an error e of a frame's motion.
    pub fn solve_weighted(
        &mut self,
        frame: impl Into<FrameId>,
        reference: Reference,
        weight: &[[S; 6]; 6],
        e: [S; 6],
        out: &mut [S],
    ) -> Result<()> {
        check_weight(weight)?;
        super::check_six("e", e)?;
        check_length("out", out.len(), self.mechanism.nv())?;
        self.factor()?;
        let placed = self.mechanism.placed[self.mechanism.own_frame(frame)?.index()];
        self.memory.forces.fill(Force::ZERO);
        if let Some(k) = placed.body {
            let mut f = [S::ZERO; 6];
            for (f, row) in f.iter_mut().zip(weight) {
                for (x, e) in row.iter().zip(e) {
                    *f = x.mul_add(e, *f);
                }
            }
            let seat = self.seat(&placed, reference).seen_from(self.link(k));
            self.memory.forces[k] = seat.force_in(Force::from_array(f));
        }
        self.solve_pushed(None, true, out);
        Ok(())
    }

    /// 𝓐⁻¹(x + J*f) after a factor that was checked.
    pub(crate) fn solve_pushed(&mut self, x: Option<&[S]>, pushed: bool, out: &mut [S]) {
        self.with(|memory, tree| {
            let [mut tau, mut wide] = core::mem::take(&mut memory.wide);
            tau.fill(S::ZERO);
            match (&tree.m.reduction, x) {
                (None, Some(x)) => memory.solve(tree, x, pushed, out),
                (None, None) => memory.solve(tree, &tau, pushed, out),
                (Some(r), x) => {
                    for (i, &v) in r.independent.iter().enumerate() {
                        tau[v] = x.map_or(S::ZERO, |x| x[i]);
                    }
                    memory.solve(tree, &tau, pushed, &mut wide);
                    for (out, &v) in out.iter_mut().zip(&r.independent) {
                        *out = wide[v];
                    }
                }
            }
            memory.wide = [tau, wide];
        });
    }

    /// Eliminates, if that has not been done since the last weight. An error if nothing resists a joint.
    pub fn factor(&mut self) -> Result<()> {
        if self.memory.is_factored {
            return Ok(());
        }
        self.factor_unchecked();
        for lane in 0..S::LANES {
            if let Err(problem) = self.check_lane(lane) {
                self.memory.is_factored = false;
                return Err(problem);
            }
        }
        Ok(())
    }

    /// The same where D is checked by the caller.
    pub(crate) fn factor_unchecked(&mut self) {
        self.with(|memory, tree| memory.factor(tree));
    }

    /// An error if nothing resists a joint in one lane.
    pub(crate) fn check_lane(&self, lane: usize) -> Result<()> {
        let Some((dof, value)) = self.memory.unsound(&self.mechanism.compiled, lane) else {
            return Ok(());
        };
        let (joint, index) = self.mechanism.joint_of_any_dof(dof);
        let joint = self.mechanism.joints()[joint.index()].name.clone();
        Err(Error::Singular { joint, index, value })
    }

    /// log det 𝓐 = Σ log det D.
    pub fn log_det(&mut self) -> Result<f64> {
        self.factor()?;
        let [mut pivots, wide] = core::mem::take(&mut self.memory.wide);
        let n = self.mechanism.nv();
        self.memory.pivots(&self.mechanism.compiled, &mut pivots[..n]);
        let sum: f64 = pivots[..n].iter().map(|d_inv| -d_inv.lane(0).ln()).sum();
        self.memory.wide = [pivots, wide];
        Ok(sum + self.memory.log_det_joined())
    }

    /// D: what each degree of freedom works against in the elimination, in the order of v. All are positive.
    pub fn pivots(&mut self, out: &mut [S]) -> Result<()> {
        check_length("out", out.len(), self.mechanism.nv())?;
        self.factor()?;
        self.memory.pivots(&self.mechanism.compiled, out);
        for d in out {
            *d = d.recip();
        }
        Ok(())
    }

    // What a step with contact asks for, without checks.

    /// What the processor has.
    pub(crate) fn instructions(&self) -> Instructions {
        self.instructions
    }

    /// The weights and what they made, laid open.
    pub(crate) fn memory(&mut self) -> &mut Memory<S> {
        self.memory
    }

    /// Adds a weight on one direction, w xx*, x being a force on each of two moving links.
    #[inline(always)]
    pub(crate) fn weigh_row(&mut self, ends: [usize; 2], x: [[S; 6]; 2], weight: S) {
        self.memory.between.rows.push(Row { ends, x, weight });
        self.memory.is_factored = false;
    }

    /// Whether weights between two links stay apart as rows: not those on free bodies, which are eliminated, nor where joints follow
    /// others.
    #[inline(always)]
    pub(crate) fn joins_by_rows(&self, ends: [usize; 2]) -> bool {
        let m = &self.mechanism.compiled;
        let is_alone = |k: usize| {
            let body = &m.bodies[k];
            body.parent.is_none() && matches!(body.hinge, Hinge::Free) && body.end == k + 1
        };
        m.reduction.is_none() && !ends.into_iter().any(is_alone)
    }

    /// L⁻¹J*f of a force on at most two links after a factor, and with it what gives J𝓐⁻¹J* as a product.
    pub(crate) fn innovations(&mut self, ends: [Option<usize>; 2], x: &[[S; 6]; 2], eps: &mut [S], weighed: &mut [S]) {
        self.with(|memory, tree| memory.innovations(tree, ends, x, eps, weighed));
    }

    /// A, in the place of what was there.
    pub(crate) fn set_diagonal(&mut self, a: &[S]) {
        let m = &self.mechanism.compiled;
        match &m.reduction {
            None => self.memory.diagonal.copy_from_slice(a),
            Some(r) => {
                for (&v, a) in r.independent.iter().zip(a) {
                    self.memory.diagonal[v] = *a;
                }
            }
        }
        self.memory.has_diagonal = true;
        self.memory.sum_rotors(m);
    }

    /// The links' motions at x.
    pub(crate) fn move_links(&mut self, x: &[S]) {
        self.with(|memory, tree| {
            let Some(r) = &tree.m.reduction else {
                return memory.move_links(tree, x);
            };
            let [mut wide, rest] = core::mem::take(&mut memory.wide);
            tree.coupled.expand(r, x, &mut wide);
            memory.move_links(tree, &wide);
            memory.wide = [wide, rest];
        });
    }

    /// 𝓜x from the links' motions at x.
    pub(crate) fn mass_times_moved(&mut self, x: &[S], out: &mut [S]) {
        self.with(|memory, tree| {
            let Some(r) = &tree.m.reduction else {
                return memory.mass_times(tree, x, out);
            };
            let [mut wide, mut tau] = core::mem::take(&mut memory.wide);
            tree.coupled.expand(r, x, &mut wide);
            memory.mass_times(tree, &wide, &mut tau);
            tree.coupled.contract(r, &tau, out);
            memory.wide = [wide, tau];
        });
    }

    /// x*𝓜x from the links' motions at x.
    pub(crate) fn energy_moved(&mut self, x: &[S]) -> S {
        self.with(|memory, tree| {
            let Some(r) = &tree.m.reduction else {
                return memory.energy(tree, x);
            };
            let [mut wide, rest] = core::mem::take(&mut memory.wide);
            tree.coupled.expand(r, x, &mut wide);
            let energy = memory.energy(tree, &wide);
            memory.wide = [wide, rest];
            energy
        })
    }

    /// J*f, f being the forces on links.
    pub(crate) fn gather(&mut self, out: &mut [S]) {
        self.with(|memory, tree| {
            let Some(r) = &tree.m.reduction else {
                return memory.gather(tree, out);
            };
            let [wide, mut tau] = core::mem::take(&mut memory.wide);
            memory.gather(tree, &mut tau);
            tree.coupled.contract(r, &tau, out);
            memory.wide = [wide, tau];
        });
    }

    /// D⁻¹ after a factor.
    pub(crate) fn inverse_pivots(&self, out: &mut [S]) {
        self.memory.pivots(&self.mechanism.compiled, out);
    }

    /// A link's compiled frame in the world.
    #[inline(always)]
    pub(crate) fn link(&self, k: usize) -> Pose<S> {
        let (pose, home) = (self.stages.world.poses[k], self.stages.world.homes[k]);
        Pose::new(pose.rotation, pose.translation + home)
    }

    /// A frame in the world.
    pub(crate) fn frame(&self, frame: FrameId) -> Pose<S> {
        self.stages.world.frame(&self.mechanism.placed[frame.index()])
    }

    /// Where a weight on a frame is taken, in the world.
    fn seat(&self, placed: &Placed, reference: Reference) -> Pose<S> {
        let at = self.stages.world.frame(placed);
        match reference {
            Reference::Local => at,
            Reference::Aligned => Pose::from_translation(at.translation),
            Reference::World => Pose::IDENTITY,
        }
    }
}

impl<S: Scalar> Pose<S> {
    /// This frame, seen from another in the same.
    fn seen_from(&self, other: Self) -> Self {
        other.inverse() * *self
    }
}

/// An error unless a weight is symmetric and made of numbers.
fn check_weight<S: Scalar>(weight: &[[S; 6]; 6]) -> Result<()> {
    let largest = weight
        .iter()
        .flatten()
        .fold(0.0, |most: f64, x| most.max(x.lane(0).abs()));
    for i in 0..6 {
        for j in 0..6 {
            let (x, y) = (weight[i][j], weight[j][i]);
            if !x.is_finite() {
                return Err(Error::Parameter {
                    argument: "weight",
                    value: x.lane(0),
                });
            }
            if (x - y).lane(0).abs() > 1e-9 * largest {
                return Err(Error::Unsolved {
                    what: "the augmented mass operator",
                    problem: format!(
                        "weight[{i}][{j}] is {}, weight[{j}][{i}] is {}; a weight must be symmetric",
                        x.lane(0),
                        y.lane(0)
                    ),
                });
            }
        }
        if weight[i][i].lane(0) < 0.0 {
            return Err(Error::Negative {
                argument: "weight, on its diagonal,",
                value: weight[i][i].lane(0),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Masses;
    use crate::model::examples;

    #[test]
    fn rows_between_links_of_one_tree_are_solved_as_they_multiply() {
        let arm = examples::arm7();
        let (mut workspace, mut memory) = (arm.workspace(), arm.augmented());
        let mut posed = workspace.at(&[0.4; 7]).unwrap();
        let (mut mass, mut product, mut back) = ([0.0; 7], [0.0; 7], [0.0; 7]);
        let x = [0.3, -0.2, 0.5, 0.1, -0.4, 0.6, -0.1];
        posed.mass_times(&x, &mut mass).unwrap();
        let mut a = posed.augment(&mut memory, Masses::Kept).unwrap();
        assert!(a.joins_by_rows([2, 5]));
        a.weigh_row(
            [2, 5],
            [[0.5, -0.3, 0.2, 0.7, 0.1, -0.4], [-0.6, 0.2, 0.9, -0.8, 0.3, 0.5]],
            3.0,
        );
        a.times(&x, &mut product).unwrap();
        a.solve(&product, &mut back).unwrap();
        for i in 0..7 {
            assert!((back[i] - x[i]).abs() < 1e-9, "{back:?}");
        }
        // w(x*J*)² is what the row adds to x*𝓜x.
        let added: f64 = (0..7).map(|i| x[i] * (product[i] - mass[i])).sum();
        assert!(added > 1e-3, "{added}");
    }
}
