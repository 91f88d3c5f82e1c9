//! Where 𝓜 is not zero: between a degree of freedom and those that it carries.

use super::Mechanism;

impl Mechanism {
    /// The rows and columns of the elements of 𝓜 that are not zero, one of each symmetric pair, in the order of
    /// [`crate::batch::Batch::mass_matrix_entries`]: what never changes with the configuration, for sparse matrices.
    ///
    /// Two degrees of freedom meet in 𝓜 if one carries the other: a floating robot with long legs and arms has far fewer
    /// such pairs than elements. Pairs stand row by row, in the order in which an outward sweep meets the joints; each row
    /// begins with its diagonal element and goes on with all that its joint carries. Where users' joints are in that order
    /// too, as in most robot files, these are the rows of the upper triangle.
    ///
    /// ```
    /// let arm = linkwork::model::examples::arm7();
    /// let pattern = arm.mass_pattern();
    /// let mut entries = vec![0.0; pattern.len()];
    /// arm.batch().mass_matrix_entries(&arm.neutral(), &mut entries)?;
    /// let mut mass = [[0.0; 7]; 7];
    /// for (&(row, column), &x) in pattern.iter().zip(&entries) {
    ///     mass[row][column] = x;
    ///     mass[column][row] = x;
    /// }
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn mass_pattern(&self) -> Vec<(usize, usize)> {
        match &self.compiled.reduction {
            None => self.tree_pattern().collect(),
            Some(r) => r.pattern(&self.compiled).to_vec(),
        }
    }

    /// How many elements that is.
    pub(crate) fn mass_pattern_length(&self) -> usize {
        match &self.compiled.reduction {
            None => self.compiled.columns.rows[self.compiled.nv],
            Some(r) => r.pattern(&self.compiled).len(),
        }
    }

    /// Pairs of degrees of freedom of all joints.
    fn tree_pattern(&self) -> impl Iterator<Item = (usize, usize)> {
        let layout = &self.compiled.columns.single;
        let row = move |c: usize| (c..layout.end_at[c]).map(move |other| (layout.dof[c], layout.dof[other]));
        (0..layout.dof.len()).flat_map(row)
    }
}
