//! A world among others: what it asks for, it waits for.

use super::shared::{Ask, Shared, pose, put, six, take, vector};
use crate::Result;
use crate::contact::operator::{Forces, Motions, Operator, Weights};
use crate::contact::rows::Six;
use crate::simd::{Instructions, Lanes};
use crate::spatial::{Articulated, Force, Motion, Pose, Vec3};
use crate::workspace::{Augmented, Posed};
use core::cell::{Ref, RefCell, RefMut};
use core::pin::Pin;
use core::task::{Context, Poll};

/// A world's place among the others.
pub(super) struct Seat<'a, S: 'static> {
    pub(super) lane: usize,
    pub(super) shared: &'a RefCell<Shared<S>>,
    pub(super) instructions: Instructions,
}

/// Waits once.
struct Wait(bool);

impl Future for Wait {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        match core::mem::replace(&mut self.0, true) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

impl<S: Lanes<Element = f64>> Seat<'_, S> {
    async fn ask(&self, ask: Ask, arguments: impl FnOnce(&mut Shared<S>)) {
        {
            let mut shared = self.shared.borrow_mut();
            arguments(&mut shared);
            shared.asks[self.lane] = Some(ask);
        }
        Wait(false).await;
    }

    fn out(&self, out: &mut [f64]) {
        take(self.lane, &self.shared.borrow().out, out);
    }
}

struct LaneMotions<'a, S: 'static>(Ref<'a, Shared<S>>, usize);
struct LaneForces<'a, S: 'static>(RefMut<'a, Shared<S>>, usize);
struct LaneWeights<'a, S: 'static>(RefMut<'a, Shared<S>>, usize);

impl<S: Lanes<Element = f64>> Motions for LaneMotions<'_, S> {
    #[inline(always)]
    fn motion(&self, k: usize) -> [f64; 6] {
        let motion = &self.0.memory.0.lambda[k];
        six(self.1, &motion.angular, &motion.linear)
    }
}

impl<S: Lanes<Element = f64>> Forces for LaneForces<'_, S> {
    #[inline(always)]
    fn force(&self, k: usize) -> [f64; 6] {
        let force = &self.0.memory.0.forces[k];
        six(self.1, &force.moment, &force.force)
    }

    #[inline(always)]
    fn set_force(&mut self, k: usize, force: [f64; 6]) {
        let lane = self.1;
        let Force { moment, force: along } = &mut self.0.memory.0.forces[k];
        moment.x.put(lane, force[0]);
        moment.y.put(lane, force[1]);
        moment.z.put(lane, force[2]);
        along.x.put(lane, force[3]);
        along.y.put(lane, force[4]);
        along.z.put(lane, force[5]);
    }
}

impl<S: Lanes<Element = f64>> Weights for LaneWeights<'_, S> {
    #[inline(always)]
    fn weigh(&mut self, k: usize, weight: &Articulated<f64>) {
        let lane = self.1;
        let memory = &mut self.0.memory.0;
        let sum = &mut memory.weights[k];
        let add = |to: &mut S, x: f64| to.put(lane, to.at(lane) + x);
        for i in 0..6 {
            add(&mut sum.a[i], weight.a[i]);
            add(&mut sum.c[i], weight.c[i]);
        }
        for i in 0..3 {
            for j in 0..3 {
                add(&mut sum.b[i][j], weight.b[i][j]);
            }
        }
        memory.touched[k] = true;
        self.0.factored[lane] = false;
    }

    fn joins_by_rows(&self, _: [usize; 2]) -> bool {
        false
    }

    fn weigh_row(&mut self, _: [usize; 2], _: [[f64; 6]; 2], _: f64) {
        unreachable!("contacts between moving links are stepped alone");
    }

    fn join(&mut self, _: usize, _: usize, _: &Six) {
        unreachable!("contacts between moving links are stepped alone");
    }
}

impl<S: Lanes<Element = f64>> Operator for Seat<'_, S> {
    fn instructions(&self) -> Instructions {
        self.instructions
    }

    fn begin(&mut self) -> Result<()> {
        self.clear_weights();
        let mut shared = self.shared.borrow_mut();
        if core::mem::take(&mut shared.diagonal[self.lane]) {
            drop(shared);
            self.set_rotors(|_| 0.0);
        }
        Ok(())
    }

    fn alone(&mut self) -> Option<(Posed<'_>, &mut Augmented)> {
        None
    }

    #[inline(always)]
    fn link(&self, k: usize) -> Pose {
        let shared = self.shared.borrow();
        let world = &shared.workspace.stages().world;
        let pose = pose(self.lane, &world.poses[k]);
        Pose::new(pose.rotation, pose.translation + vector(self.lane, &world.homes[k]))
    }

    #[inline(always)]
    fn home(&self, k: usize) -> Vec3 {
        vector(self.lane, &self.shared.borrow().workspace.stages().world.homes[k])
    }

    async fn find_yields(&mut self, _: &mut [Six]) -> Result<()> {
        self.ask(Ask::Yields, |_| ()).await;
        self.shared.borrow_mut().workspace.at_again().check_lane(self.lane)
    }

    fn take_yield(&self, k: usize, own: &mut [Six]) {
        let shared = self.shared.borrow();
        for (own, row) in own[k].iter_mut().zip(&shared.yields[k]) {
            take(self.lane, row, own);
        }
    }

    fn yield_between(&self, _: usize, _: usize, _: Force) -> f64 {
        unreachable!("contacts between moving links are stepped alone")
    }

    fn home_gain(&self, dof: usize) -> (f64, Force) {
        let shared = self.shared.borrow();
        let stages = shared.workspace.stages();
        let g = &stages.home_gains[dof].g;
        let g = six(self.lane, &g.moment, &g.force);
        (stages.riccati.gains[dof].d_inv.at(self.lane), Force::from_array(g))
    }

    async fn inverse_mass_element(&mut self, body: usize, dof: usize, _: &mut [f64]) -> Result<f64> {
        self.ask(Ask::Element { body, dof }, |_| ()).await;
        Ok(self.shared.borrow().out[0].at(self.lane))
    }

    async fn inverse_mass_pivots(&mut self, out: &mut [f64]) {
        self.ask(Ask::Pivots, |_| ()).await;
        self.out(out);
    }

    async fn inverse_dynamics(&mut self, at: &[f64], x: Option<&[f64]>, out: &mut [f64]) -> Result<()> {
        let accelerating = x.is_some();
        self.ask(Ask::InverseDynamics { accelerating }, |shared| {
            put(self.lane, at, &mut shared.v);
            put(self.lane, x.unwrap_or_default(), &mut shared.x);
        })
        .await;
        self.out(out);
        Ok(())
    }

    #[inline(always)]
    fn motions(&self) -> impl Motions {
        LaneMotions(self.shared.borrow(), self.lane)
    }

    #[inline(always)]
    fn forces(&mut self) -> impl Forces {
        LaneForces(self.shared.borrow_mut(), self.lane)
    }

    fn clear_forces(&mut self) {
        let mut forces = LaneForces(self.shared.borrow_mut(), self.lane);
        for k in 0..forces.0.memory.0.forces.len() {
            forces.set_force(k, [0.0; 6]);
        }
    }

    #[inline(always)]
    fn weights(&mut self) -> impl Weights {
        LaneWeights(self.shared.borrow_mut(), self.lane)
    }

    fn clear_weights(&mut self) {
        let mut shared = self.shared.borrow_mut();
        let memory = &mut shared.memory.0;
        for (weight, _) in memory.weights.iter_mut().zip(&memory.touched).filter(|(_, t)| **t) {
            for x in weight
                .a
                .iter_mut()
                .chain(&mut weight.c)
                .chain(weight.b.as_flattened_mut())
            {
                x.put(self.lane, 0.0);
            }
        }
        shared.factored[self.lane] = false;
    }

    fn set_diagonal(&mut self, a: &[f64]) {
        self.set_rotors(|v| a[v]);
        self.shared.borrow_mut().diagonal[self.lane] = true;
    }

    fn has_diagonal(&self) -> bool {
        self.shared.borrow().diagonal[self.lane]
    }

    async fn factor(&mut self) -> Result<()> {
        let (factored, diagonal) = {
            let shared = self.shared.borrow();
            (shared.factored[self.lane], shared.diagonal[self.lane])
        };
        if factored {
            return Ok(());
        }
        self.ask(Ask::Factor { diagonal }, |_| ()).await;
        let shared = &mut *self.shared.borrow_mut();
        let mut posed = shared.workspace.at_again();
        posed.resume(&mut shared.memory).check_lane(self.lane)?;
        shared.factored[self.lane] = true;
        Ok(())
    }

    async fn solve(&mut self, x: Option<&[f64]>, pushed: bool, out: &mut [f64]) {
        self.ask(Ask::Solve { pushed }, |shared| match x {
            Some(x) => put(self.lane, x, &mut shared.x),
            None => shared.x.iter_mut().for_each(|to| to.put(self.lane, 0.0)),
        })
        .await;
        self.out(out);
    }

    async fn move_links(&mut self, x: &[f64]) {
        self.ask(Ask::Move, |shared| put(self.lane, x, &mut shared.x)).await;
    }

    async fn move_with_energy(&mut self, x: &[f64]) -> f64 {
        self.ask(Ask::Energy, |shared| put(self.lane, x, &mut shared.x)).await;
        self.shared.borrow().energy.at(self.lane)
    }

    async fn mass_times_moved(&mut self, _: &[f64], _: &mut [f64]) {
        unreachable!("what bounces is stepped alone")
    }

    async fn gather(&mut self, out: &mut [f64]) {
        self.ask(Ask::Gather, |_| ()).await;
        self.out(out);
    }

    fn has_innovations(&self) -> bool {
        true
    }

    async fn innovations(&mut self, ends: [Option<usize>; 2], x: &[[f64; 6]; 2], eps: &mut [f64], weighed: &mut [f64]) {
        self.ask(Ask::Innovate { ends }, |shared| {
            for (x, to) in x.iter().zip(&mut shared.pair) {
                put(self.lane, x, to);
            }
        })
        .await;
        self.out(eps);
        take(self.lane, &self.shared.borrow().weighed, weighed);
    }
}

impl<S: Lanes<Element = f64>> Seat<'_, S> {
    /// A, and with it A + rotors.
    fn set_rotors(&self, a: impl Fn(usize) -> f64) {
        let shared = &mut *self.shared.borrow_mut();
        let memory = &mut shared.memory.0;
        let armature = &shared.workspace.mechanism().compiled.armature;
        for (v, rotor) in armature.iter().enumerate() {
            memory.diagonal[v].put(self.lane, a(v));
            memory.rotors[v].put(self.lane, a(v) + rotor);
        }
        shared.factored[self.lane] = false;
    }

    /// Takes in a state, with all others.
    pub(super) async fn configure(&self, q: &[f64], v: &[f64], poses: &mut [Pose], motions: &mut [Motion]) {
        self.ask(Ask::Configure, |shared| {
            put(self.lane, q, &mut shared.q);
            put(self.lane, v, &mut shared.v);
        })
        .await;
        let shared = self.shared.borrow();
        for (to, from) in poses.iter_mut().zip(&shared.poses) {
            *to = pose(self.lane, from);
        }
        for (to, from) in motions.iter_mut().zip(&shared.motions) {
            *to = Motion::from_array(six(self.lane, &from.angular, &from.linear));
        }
    }
}
