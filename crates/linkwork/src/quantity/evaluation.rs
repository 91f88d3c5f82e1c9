//! Quantities of one state.

use super::{Compute, Given, Input, Quantity, Size};
use crate::closed::{ClosedMechanism, ClosedWorkspace};
use crate::model::Mechanism;
use crate::workspace::{DerivativeRates, Derivatives, Moving, SecondOrder, Workspace};
use crate::{Error, Result};

/// Memory that quantities use between them.
#[derive(Clone, Debug, Default)]
pub struct Room {
    pub(super) numbers: Vec<f64>,
    /// Once asked for: they are as large as three mass matrices.
    derivatives: Option<Derivatives>,
    second: Option<(SecondOrder, DerivativeRates)>,
}

impl Room {
    /// So many numbers.
    pub(super) fn first(&mut self, n: usize) -> &mut [f64] {
        self.numbers.resize(n, 0.0);
        &mut self.numbers
    }

    pub(super) fn derivatives(&mut self, mechanism: &Mechanism) -> &mut Derivatives {
        self.derivatives.get_or_insert_with(|| mechanism.derivatives())
    }

    pub(super) fn second_order(&mut self, mechanism: &Mechanism) -> (&mut SecondOrder, &mut DerivativeRates) {
        let make = || (mechanism.second_order(), mechanism.derivative_rates());
        let (second, rates) = self.second.get_or_insert_with(make);
        (second, rates)
    }
}

/// All memory for evaluating any quantity of one mechanism, state after state.
///
/// ```
/// use linkwork::quantity::{Evaluation, Given, Quantity};
/// let arm = linkwork::model::examples::arm7();
/// let mut evaluation = Evaluation::new(&arm);
/// let given = Given { q: &[0.1; 7], ..Given::default() };
/// let mass_matrix = evaluation.compute(Quantity::find("mass_matrix")?, &given)?;
/// assert_eq!(mass_matrix.len(), 49);
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Evaluation {
    mechanism: Mechanism,
    tree: Option<Workspace>,
    loops: Option<(ClosedMechanism, ClosedWorkspace)>,
    still: Vec<f64>,
    room: Room,
}

impl Evaluation {
    /// For a mechanism; its quantities of closed loops are refused.
    pub fn new(mechanism: &Mechanism) -> Self {
        Self {
            tree: None,
            loops: None,
            still: vec![0.0; mechanism.nv()],
            room: Room::default(),
            mechanism: mechanism.clone(),
        }
    }

    /// For a mechanism whose loops are closed; quantities of the tree are there too.
    pub fn of_closed(closed: &ClosedMechanism) -> Self {
        Self {
            loops: Some((closed.clone(), closed.workspace())),
            ..Self::new(closed.mechanism())
        }
    }

    /// The mechanism.
    pub fn mechanism(&self) -> &Mechanism {
        &self.mechanism
    }

    /// The dimensions of a quantity here; one of a joint needs to know which.
    pub fn dimensions(&self, quantity: &Quantity, given: &Given<'_, impl Sized>) -> Result<Vec<usize>> {
        match &self.loops {
            Some((closed, _)) if quantity.is_of_loops() => {
                let size = |size: &Size| match size {
                    Size::Constraints => closed.rows(),
                    _ => self.mechanism.nv(),
                };
                Ok(quantity.shape.iter().map(size).collect())
            }
            _ => quantity.dimensions(&self.mechanism, given.joint),
        }
    }

    /// How many numbers a quantity has here.
    pub fn len(&self, quantity: &Quantity, given: &Given<'_, impl Sized>) -> Result<usize> {
        Ok(self.dimensions(quantity, given)?.iter().product())
    }

    /// Writes a quantity of one state to `out`.
    pub fn evaluate(&mut self, quantity: &Quantity, given: &Given<'_>, out: &mut [f64]) -> Result<()> {
        self.check(quantity, given, out.len())?;
        // What depends on q alone takes any velocity.
        let qd = if quantity.takes(Input::Qd) {
            given.qd
        } else {
            &self.still
        };
        let tree = self.tree.get_or_insert_with(|| self.mechanism.workspace());
        match (quantity.compute, &mut self.loops) {
            (Compute::Call(call), _) => {
                let mut posed = tree.at(given.q)?;
                call(&mut posed.moving(qd)?, given, out)?;
            }
            (Compute::Tree(compute), _) => {
                let mut posed = tree.at(given.q)?;
                compute(&mut posed.moving(qd)?, given, &mut self.room, out)?;
            }
            (Compute::Closed(compute), Some((_, workspace))) => {
                compute(&mut workspace.at(given.q)?, given, &mut self.room, out)?;
            }
            (Compute::Closed(_), None) => return Err(quantity.needs_loops(&self.mechanism)),
        }
        check_finite(quantity, out)
    }

    /// A quantity of one state.
    pub fn compute(&mut self, quantity: &Quantity, given: &Given<'_>) -> Result<Vec<f64>> {
        let mut out = vec![0.0; self.len(quantity, given)?];
        self.evaluate(quantity, given, &mut out)?;
        Ok(out)
    }

    /// An error unless everything that a quantity takes is there.
    fn check(&self, quantity: &Quantity, given: &Given<'_>, out: usize) -> Result<()> {
        let lengths = quantity.inputs.iter().filter_map(|input| {
            let needed = input.len(&self.mechanism)?;
            Some((input.name(), needed, given.numbers(*input).len()))
        });
        let result = ("out", self.len(quantity, given)?, out);
        for (argument, needed, given) in lengths.chain([result]) {
            if needed != given {
                return Err(Error::Length {
                    argument,
                    needed,
                    given,
                });
            }
        }
        Ok(())
    }
}

impl Quantity {
    /// Writes it for the state of a view, which other quantities share work with. What `given` says of q and q̇ must be
    /// that state; quantities of closed loops are refused.
    pub fn evaluate_at(
        &self,
        moving: &mut Moving<'_>,
        given: &Given<'_>,
        room: &mut Room,
        out: &mut [f64],
    ) -> Result<()> {
        match self.compute {
            Compute::Call(call) => call(moving, given, out)?,
            Compute::Tree(compute) => compute(moving, given, room, out)?,
            Compute::Closed(_) => return Err(self.needs_loops(moving.mechanism())),
        }
        check_finite(self, out)
    }
}

/// No result that is not finite is given out.
fn check_finite(quantity: &Quantity, out: &[f64]) -> Result<()> {
    match out.iter().all(|x| x.is_finite()) {
        true => Ok(()),
        false => Err(Error::Overflow { what: quantity.name }),
    }
}
