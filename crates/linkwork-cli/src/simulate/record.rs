//! What is kept of a simulation: states, and what they mean.
//!
//! A thread of its own works out torques, total rates and energies, so that the simulation does not wait for them.

use super::control::Driver;
use crate::energy::Energies;
use linkwork::model::JointKind;
use linkwork::simulate::{Drive, Now, PassiveForces, State};
use linkwork::workspace::Scaling;
use linkwork::{Error, Mechanism, Workspace};
use linkwork_formats::Sensors;

/// Named columns over time; several columns make a quantity.
pub(crate) struct Record {
    pub(crate) quantities: Vec<Quantity>,
    pub(crate) rows: usize,
}

/// A quantity over time, row by row.
pub(crate) struct Quantity {
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    /// A label for each column.
    pub(crate) labels: Vec<String>,
    /// Whether it is a single number, without a label.
    single: bool,
    pub(crate) numbers: Vec<f64>,
}

impl Quantity {
    /// Numbers per row.
    pub(crate) fn width(&self) -> usize {
        if self.single { 1 } else { self.labels.len() }
    }

    /// Whether it is one number, not a list.
    pub(crate) fn is_number(&self) -> bool {
        self.single
    }

    /// A name for each column.
    pub(crate) fn columns(&self) -> Vec<String> {
        if self.single {
            return vec![self.name.to_owned()];
        }
        self.labels
            .iter()
            .map(|label| format!("{}.{label}", self.name))
            .collect()
    }

    /// A column over time.
    pub(crate) fn column(&self, i: usize) -> impl Iterator<Item = f64> + '_ {
        self.numbers.chunks_exact(self.width().max(1)).map(move |row| row[i])
    }
}

impl Record {
    /// An empty one, with labels of actuators and of sensors; without ν and ε where a mechanism has none.
    pub(crate) fn new(mechanism: &Mechanism, actuators: &[String], sensors: &[String]) -> Self {
        let quantity = |name, unit, labels: &[String]| Quantity {
            name,
            unit,
            labels: labels.to_vec(),
            single: false,
            numbers: Vec::new(),
        };
        let number = |name, unit| Quantity {
            single: true,
            ..quantity(name, unit, &[])
        };
        let (q, v) = labels(mechanism);
        let total = if has_total_rates(mechanism) { &v[..] } else { &[] };
        Self {
            quantities: vec![
                number("t", "s"),
                quantity("q", "rad, m", &q),
                quantity("v", "rad/s, m/s", &v),
                quantity("tau", "N m, N", &v),
                quantity("nu", "√J", total),
                quantity("eps", "√J/s", total),
                quantity("actuator", "N m, N", actuators),
                quantity("sensor", "", sensors),
                number("kinetic", "J"),
                number("potential", "J"),
            ],
            rows: 0,
        }
    }

    /// That of a run under a driver, with sensors.
    pub(crate) fn of_run(mechanism: &Mechanism, driver: &Driver, sensors: Option<&Sensors>) -> Self {
        let actuators = driver.machinery.as_ref().map_or(&[][..], |m| m.actuators());
        Self::new(mechanism, actuators, sensors.map_or(&[], |s| s.labels()))
    }

    /// The same without rows.
    pub(crate) fn empty(&self) -> Self {
        let empty = |q: &Quantity| Quantity {
            labels: q.labels.clone(),
            numbers: Vec::new(),
            ..*q
        };
        Self {
            quantities: self.quantities.iter().map(empty).collect(),
            rows: 0,
        }
    }

    /// Drops every other row.
    fn thin(&mut self) {
        for quantity in &mut self.quantities {
            let width = quantity.width().max(1);
            let mut kept = Vec::with_capacity(quantity.numbers.len() / 2 + width);
            quantity
                .numbers
                .chunks(width)
                .step_by(2)
                .for_each(|row| kept.extend_from_slice(row));
            quantity.numbers = kept;
        }
        self.rows = self.rows.div_ceil(2);
    }

    pub(crate) fn of(&self, name: &str) -> &Quantity {
        let found = self.quantities.iter().find(|q| q.name == name);
        found.expect("every record has the same quantities")
    }

    /// Numbers per row.
    pub(crate) fn width(&self) -> usize {
        self.quantities.iter().map(Quantity::width).sum()
    }

    /// Adds rows, in which quantities stand one after another.
    pub(crate) fn extend(&mut self, rows: &[f64]) {
        for row in rows.chunks(self.width()) {
            let mut rest = row;
            for quantity in &mut self.quantities {
                let (own, after) = rest.split_at(quantity.width());
                quantity.numbers.extend_from_slice(own);
                rest = after;
            }
            self.rows += 1;
        }
    }

    /// The times.
    pub(crate) fn times(&self) -> &[f64] {
        &self.of("t").numbers
    }

    /// Kinetic and potential energies.
    pub(crate) fn energies(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let (kinetic, potential) = (&self.of("kinetic").numbers, &self.of("potential").numbers);
        kinetic.iter().copied().zip(potential.iter().copied())
    }
}

/// Whether total rates are defined: not where joints follow others.
fn has_total_rates(mechanism: &Mechanism) -> bool {
    let (mut out, zero) = (vec![0.0; mechanism.nv()], vec![0.0; mechanism.nv()]);
    let mut workspace = mechanism.workspace();
    let tried = workspace
        .at(&mechanism.neutral())
        .and_then(|mut posed| posed.moving(&zero)?.total_rates(Scaling::Normalized, &zero, &mut out));
    !matches!(tried, Err(Error::Coupled { .. }))
}

/// A label for every number of q and of v.
pub(crate) fn labels(mechanism: &Mechanism) -> (Vec<String>, Vec<String>) {
    let (mut q, mut v) = (Vec::new(), Vec::new());
    for (joint, _, own) in mechanism.layout() {
        // A joint that follows another has no coordinates.
        if own.is_empty() {
            continue;
        }
        let (of_q, of_v): (&[&str], &[&str]) = match joint.kind {
            JointKind::Fixed => (&[], &[]),
            JointKind::Cylindrical { .. } => (&[".angle", ".slide"], &[".angle", ".slide"]),
            JointKind::Universal { .. } => (&[".first", ".second"], &[".first", ".second"]),
            JointKind::Planar => (&[".angle", ".x", ".y"], &[".w", ".vx", ".vy"]),
            JointKind::Translation => (&[".x", ".y", ".z"], &[".x", ".y", ".z"]),
            JointKind::Spherical => (&[".qx", ".qy", ".qz", ".qw"], &[".wx", ".wy", ".wz"]),
            JointKind::Free => (
                &[".qx", ".qy", ".qz", ".qw", ".x", ".y", ".z"],
                &[".wx", ".wy", ".wz", ".vx", ".vy", ".vz"],
            ),
            _ => (&[""], &[""]),
        };
        q.extend(of_q.iter().map(|part| format!("{}{part}", joint.name)));
        v.extend(of_v.iter().map(|part| format!("{}{part}", joint.name)));
    }
    (q, v)
}

/// What is known of a run in the end.
pub(crate) struct Summary {
    pub(crate) rows: usize,
    /// The last of them.
    pub(crate) last: Record,
    pub(crate) energy: Energies,
    /// Some of the rows, evenly apart, for plots.
    pub(crate) some: Record,
}

/// Rows that are kept for plots: no fewer, once there are as many, and at most twice as many.
const KEPT: usize = 4096;

/// Turns states into rows of a record.
pub(crate) struct Recorder {
    workspace: Workspace,
    driver: Driver,
    sensors: Option<Sensors>,
    measured: Vec<f64>,
    qdd: Vec<f64>,
    resistance: PassiveForces,
    /// What the velocities of states are; none for q̇ itself.
    scaling: Option<Scaling>,
    /// Whether torques, ν and ε are wanted, for a log or plot.
    whole: bool,
    qd: Vec<f64>,
    tau: Vec<f64>,
    room: Vec<f64>,
    /// Whether there are total rates.
    total: bool,
    /// Empty.
    form: Record,
    rows: usize,
    last: Vec<f64>,
    energy: Energies,
    /// Whether rows are kept for plots: every so many.
    plots: bool,
    stride: usize,
    some: Record,
}

impl Recorder {
    pub(crate) fn new(
        mechanism: &Mechanism,
        driver: Driver,
        sensors: Option<Sensors>,
        resistance: PassiveForces,
        scaling: Option<Scaling>,
        [whole, plots]: [bool; 2],
    ) -> Self {
        let vector = vec![0.0; mechanism.nv()];
        let record = Record::of_run(mechanism, &driver, sensors.as_ref());
        Self {
            total: record.of("nu").width() > 0,
            workspace: mechanism.workspace(),
            driver,
            measured: vec![0.0; record.of("sensor").width()],
            sensors,
            qdd: vector.clone(),
            resistance,
            scaling,
            whole,
            qd: vector.clone(),
            tau: vector.clone(),
            room: vector,
            rows: 0,
            last: Vec::new(),
            energy: Energies::default(),
            plots,
            stride: 1,
            some: record.empty(),
            form: record,
        }
    }

    /// Works out the rows of some states, and gives them. What sensors give at each, where the run itself has measured.
    pub(crate) fn add(&mut self, states: &[State], measured: &[Vec<f64>]) -> linkwork::Result<Vec<f64>> {
        let width = self.form.width();
        let mut rows = Vec::with_capacity(states.len() * width);
        for (i, state) in states.iter().enumerate() {
            self.row(state, measured.get(i).map(|row| &row[..]), &mut rows)?;
        }
        for row in rows.chunks(width) {
            self.energy.add(row[width - 2], row[width - 1]);
            if self.plots && self.rows.is_multiple_of(self.stride) {
                self.some.extend(row);
                if self.some.rows > 2 * KEPT {
                    self.some.thin();
                    self.stride *= 2;
                }
            }
            self.rows += 1;
        }
        if let Some(last) = rows.chunks(width).last() {
            self.last.clear();
            self.last.extend_from_slice(last);
        }
        Ok(rows)
    }

    fn row(&mut self, State { t, q, v }: &State, measured: Option<&[f64]>, row: &mut Vec<f64>) -> linkwork::Result<()> {
        let mut posed = self.workspace.at(q)?;
        match self.scaling {
            None => self.qd.copy_from_slice(v),
            Some(scaling) => posed.joint_rates(scaling, v, &mut self.qd)?,
        }
        let potential = posed.potential_energy();
        let mut moving = posed.moving(&self.qd)?;
        let kinetic = moving.kinetic_energy();
        row.push(*t);
        row.extend_from_slice(q);
        row.extend_from_slice(&self.qd);
        self.tau.fill(0.0);
        self.room.fill(0.0);
        if self.whole && self.total {
            moving.total_rates(Scaling::Normalized, &self.qd, &mut self.room)?;
        }
        if self.whole {
            let now = Now { t: *t, q, v: &self.qd };
            self.driver.drive(now, &mut moving, &mut self.tau)?;
        }
        row.extend_from_slice(&self.tau);
        if self.whole {
            self.resistance.add(q, &self.qd, &mut self.tau)?;
        }
        if self.total {
            row.extend_from_slice(&self.room);
            if self.whole {
                moving.working_moments(Scaling::Normalized, &self.tau, &mut self.room)?;
            }
            row.extend_from_slice(&self.room);
        }
        if let Some(machinery) = &mut self.driver.machinery {
            let force = |i: usize| machinery.drives().actuator(i).map_or(0.0, |[.., force]| force);
            row.extend((0..machinery.actuators().len()).map(force));
            if let Some(measured) = measured {
                self.measured.copy_from_slice(measured);
            } else if let Some(sensors) = self.sensors.as_mut().filter(|_| self.whole) {
                let now = Now { t: *t, q, v: &self.qd };
                machinery.look(now, &mut moving)?;
                if sensors.need_accelerations() {
                    moving.forward_dynamics(&self.tau, &mut self.qdd)?;
                }
                sensors.measure(now, &mut moving, machinery.drives(), &self.qdd, &[], &mut self.measured)?;
            }
            row.extend_from_slice(&self.measured);
        }
        row.extend([kinetic, potential]);
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Summary {
        // The last row is drawn too.
        if self.plots && self.rows > 0 && !(self.rows - 1).is_multiple_of(self.stride) {
            self.some.extend(&self.last);
        }
        let mut last = self.form;
        last.extend(&self.last);
        Summary {
            rows: self.rows,
            last,
            energy: self.energy,
            some: self.some,
        }
    }
}
