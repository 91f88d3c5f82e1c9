//! Steps in time, on the manifold of configurations.

use linkwork::{Mechanism, Result, Workspace};

/// The commutator-free Runge–Kutta method of order four of Celledoni, Marthinsen and Owren (2003), without torques.
///
/// On coordinates that are plain numbers it is the classical method; a quaternion moves along exponentials and so stays
/// of unit length. With k the (q̇, q̈) of each stage:
///
/// ```text
/// Y₁ = y    Y₂ = y ⊕ ½hk₁    Y₃ = y ⊕ ½hk₂    Y₄ = Y₂ ⊕ (hk₃ − ½hk₁)
/// y ← y ⊕ h/12 (3k₁ + 2k₂ + 2k₃ − k₄) ⊕ h/12 (−k₁ + 2k₂ + 2k₃ + 3k₄)
/// ```
pub(crate) struct RungeKutta<'m> {
    mechanism: &'m Mechanism,
    workspace: Workspace<'m>,
    torque: Vec<f64>,
    stages: [Stage; 4],
    change: Vec<f64>,
    half_way: Vec<f64>,
}

/// A state and its acceleration.
struct Stage {
    q: Vec<f64>,
    v: Vec<f64>,
    a: Vec<f64>,
}

impl<'m> RungeKutta<'m> {
    pub(crate) fn new(mechanism: &'m Mechanism) -> Self {
        let (nq, nv) = (mechanism.nq(), mechanism.nv());
        let stage = || Stage {
            q: vec![0.0; nq],
            v: vec![0.0; nv],
            a: vec![0.0; nv],
        };
        Self {
            mechanism,
            workspace: mechanism.workspace(),
            torque: vec![0.0; nv],
            stages: [stage(), stage(), stage(), stage()],
            change: vec![0.0; nv],
            half_way: vec![0.0; nq],
        }
    }

    /// Advances q and v by a time h.
    pub(crate) fn step(&mut self, q: &mut [f64], v: &mut [f64], h: f64) -> Result<()> {
        let [one, two, three, four] = &mut self.stages;
        let (mechanism, workspace, torque, change) =
            (self.mechanism, &mut self.workspace, &self.torque, &mut self.change);
        let mut accelerate = |stage: &mut Stage| {
            let mut posed = workspace.at(&stage.q)?;
            posed.moving(&stage.v)?.forward_dynamics(torque, &mut stage.a)
        };
        let combine = |out: &mut [f64], of: &dyn Fn(usize) -> f64| (0..out.len()).for_each(|i| out[i] = of(i));

        one.q.copy_from_slice(q);
        one.v.copy_from_slice(v);
        accelerate(one)?;

        combine(change, &|i| 0.5 * h * one.v[i]);
        mechanism.integrate(q, change, &mut two.q)?;
        combine(&mut two.v, &|i| v[i] + 0.5 * h * one.a[i]);
        accelerate(two)?;

        combine(change, &|i| 0.5 * h * two.v[i]);
        mechanism.integrate(q, change, &mut three.q)?;
        combine(&mut three.v, &|i| v[i] + 0.5 * h * two.a[i]);
        accelerate(three)?;

        combine(change, &|i| h * three.v[i] - 0.5 * h * one.v[i]);
        mechanism.integrate(&two.q, change, &mut four.q)?;
        combine(&mut four.v, &|i| v[i] + h * three.a[i]);
        accelerate(four)?;

        let twelfth = h / 12.0;
        combine(change, &|i| {
            twelfth * (3.0 * one.v[i] + 2.0 * (two.v[i] + three.v[i]) - four.v[i])
        });
        mechanism.integrate(q, change, &mut self.half_way)?;
        combine(change, &|i| {
            twelfth * (3.0 * four.v[i] + 2.0 * (two.v[i] + three.v[i]) - one.v[i])
        });
        mechanism.integrate(&self.half_way, change, q)?;
        for (i, v) in v.iter_mut().enumerate() {
            *v += h / 6.0 * (one.a[i] + 2.0 * (two.a[i] + three.a[i]) + four.a[i]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkwork::model::examples;

    /// Where a mechanism is after a quarter of a second.
    fn end(mechanism: &Mechanism, steps: usize) -> Vec<f64> {
        let (mut q, mut v) = (mechanism.random(5), vec![0.7; mechanism.nv()]);
        let mut stepper = RungeKutta::new(mechanism);
        for _ in 0..steps {
            stepper.step(&mut q, &mut v, 0.25 / steps as f64).unwrap();
        }
        q
    }

    #[test]
    fn the_error_falls_with_the_fourth_power_of_the_step() {
        // A free base puts quaternions to the test.
        for robot in [
            examples::double_pendulum(),
            examples::arm7().with_floating_base().unwrap(),
        ] {
            let exact = end(&robot, 1600);
            let error = |steps| robot.distance(&exact, &end(&robot, steps)).unwrap();
            let order = (error(50) / error(100)).log2();
            assert!((3.7..4.5).contains(&order), "{}: order {order}", robot.name());
        }
    }
}
