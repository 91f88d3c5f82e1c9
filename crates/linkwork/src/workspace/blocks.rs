//! The blocks of the operators at a joint, and how they change; the derivatives of the mass matrix.

use super::{Configured, Moving, View, check_length};
use crate::dynamics::composite::CompositeOf;
use crate::dynamics::diagonal::terms::ArticulatedRates;
use crate::dynamics::kinematics::{Columns, Velocities};
use crate::model::{JointId, JointKind, Placed};
use crate::scalar::Scalar;
use crate::spatial::{Articulated, Force, Motion, Pose, Vec3};
use crate::stage::crossing::{AnyJoint, Crossing};
use crate::{Error, Result};

/// A block of an operator at a joint that leads from link p to link k, in the frames of these links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Block {
    /// M(k), 6 × 6: spatial inertia of the link and what is welded to it.
    M,
    /// P(k), 6 × 6: articulated inertia.
    P,
    /// D(k) = HPH\* + armature, d × d.
    D,
    /// G(k) = PH\*D⁻¹, 6 × d.
    G,
    /// τ̄(k) = I − GH, 6 × 6.
    TauBar,
    /// φ(p, k), the block of E_φ, 6 × 6: takes forces from link k to link p.
    Phi,
    /// ψ(p, k) = φ(p, k)τ̄(k), the block of E_ψ, 6 × 6.
    Psi,
    /// H(k), d × 6.
    H,
}

/// Who sees a block change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Seen {
    /// From the link, or from the inner one of two.
    Locally,
    /// From axes that do not turn.
    Inertially,
}

/// A matrix of at most 6 × 6.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Small<S = f64> {
    /// Rows in use.
    pub rows: usize,
    /// Columns in use.
    pub cols: usize,
    /// The numbers, row by row; zero where not in use.
    pub at: [[S; 6]; 6],
}

impl<S: Scalar> Small<S> {
    fn zeros(rows: usize, cols: usize) -> Self {
        let at = [[S::ZERO; 6]; 6];
        Self { rows, cols, at }
    }

    fn from_fn(rows: usize, cols: usize, f: impl Fn(usize, usize) -> S) -> Self {
        let mut x = Self::zeros(rows, cols);
        for i in 0..rows {
            for j in 0..cols {
                x.at[i][j] = f(i, j);
            }
        }
        x
    }

    /// A 6 × 6 by what it does to forces.
    fn of_forces(f: impl Fn(Force<S>) -> Force<S>) -> Self {
        let mut x = Self::zeros(6, 6);
        for j in 0..6 {
            let mut one = [S::ZERO; 6];
            one[j] = S::ONE;
            for (i, y) in f(Force::from_array(one)).to_array().into_iter().enumerate() {
                x.at[i][j] = y;
            }
        }
        x
    }

    fn times(&self, o: &Self) -> Self {
        Self::from_fn(self.rows, o.cols, |i, j| {
            (0..self.cols).fold(S::ZERO, |sum, l| self.at[i][l].mul_add(o.at[l][j], sum))
        })
    }

    fn plus(&self, o: &Self, factor: f64) -> Self {
        Self::from_fn(self.rows, self.cols, |i, j| {
            S::lift(factor).mul_add(o.at[i][j], self.at[i][j])
        })
    }

    fn transposed(&self) -> Self {
        Self::from_fn(self.cols, self.rows, |i, j| self.at[j][i])
    }

    /// D⁻¹ of a positive definite D, by elimination.
    fn inverse(&self) -> Self {
        let n = self.rows;
        let (mut d, mut out) = (*self, Self::from_fn(n, n, |i, j| if i == j { S::ONE } else { S::ZERO }));
        for pivot in 0..n {
            let r = d.at[pivot][pivot].recip();
            for j in 0..n {
                d.at[pivot][j] = d.at[pivot][j] * r;
                out.at[pivot][j] = out.at[pivot][j] * r;
            }
            for i in (0..n).filter(|i| *i != pivot) {
                let f = -d.at[i][pivot];
                for j in 0..n {
                    d.at[i][j] = f.mul_add(d.at[pivot][j], d.at[i][j]);
                    out.at[i][j] = f.mul_add(out.at[pivot][j], out.at[i][j]);
                }
            }
        }
        out
    }
}

/// What every block is made of.
struct At<S> {
    m: Small<S>,
    p: Small<S>,
    d: Small<S>,
    h: Small<S>,
    phi: Small<S>,
}

impl<S: Scalar> At<S> {
    fn g(&self) -> Small<S> {
        self.p.times(&self.h.transposed()).times(&self.d.inverse())
    }

    fn tau_bar(&self) -> Small<S> {
        let identity = Small::from_fn(6, 6, |i, j| if i == j { S::ONE } else { S::ZERO });
        identity.plus(&self.g().times(&self.h), -1.0)
    }
}

fn rows<S: Scalar>(p: Articulated<S>, frame: &Placed) -> Small<S> {
    let rows = p.through(&frame.pose.inverse().lift()).to_rows();
    Small::from_fn(6, 6, |i, j| rows[i][j])
}

impl<S: Scalar> Configured<'_, S> {
    /// A block of an operator at a joint.
    ///
    /// ```
    /// use linkwork::workspace::Block;
    /// let arm = linkwork::model::examples::puma560();
    /// let elbow = arm.joint("joint3")?;
    /// let mut workspace = arm.workspace();
    /// let g = workspace.at(&[0.2; 6])?.block(elbow, Block::G)?;
    /// assert_eq!((g.rows, g.cols), (6, 1));
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn block(&mut self, joint: JointId, block: Block) -> Result<Small<S>> {
        self.view
            .refuse_coupled("a block of the factors of a tree\'s mass matrix")?;
        let (at, _, _) = self.blocks(joint)?;
        Ok(match block {
            Block::M => at.m,
            Block::P => at.p,
            Block::D => at.d,
            Block::G => at.g(),
            Block::TauBar => at.tau_bar(),
            Block::Phi => at.phi,
            Block::Psi => at.phi.times(&at.tau_bar()),
            Block::H => at.h,
        })
    }

    /// The blocks at a joint, and the frames of the links that it connects.
    fn blocks(&mut self, joint: JointId) -> Result<(At<S>, Placed, Placed)> {
        let mechanism = self.view.mechanism;
        let given = &mechanism.joints()[mechanism.own_joint(joint)?];
        if matches!(given.kind, JointKind::Fixed | JointKind::Universal { .. }) {
            let problem = "a fixed joint has no blocks of operators, and a universal one has those of the two revolute joints it is made of; ask for another joint";
            return Err(Error::Joint {
                joint: given.name.clone(),
                problem: problem.into(),
            });
        }
        let (child, parent) = (mechanism.frame(&given.child)?, mechanism.frame(&given.parent)?);
        let (outer, inner) = (mechanism.placed[child.index()], mechanism.placed[parent.index()]);
        // The child of a joint that moves is on a body of its own.
        let k = outer.body.unwrap_or_default();
        self.articulated_inertia(mechanism.link(&given.child)?)?;
        let body = &mechanism.compiled.bodies[k];
        let mut d = Small::zeros(body.dofs, body.dofs);
        let mut numbers = [S::ZERO; 36];
        self.joint_inertia(joint, &mut numbers[..body.dofs * body.dofs])?;
        for i in 0..body.dofs {
            for j in 0..body.dofs {
                d.at[i][j] = numbers[body.dofs * i + j];
            }
        }
        let stages = &*self.view.stages;
        let crossing = AnyJoint::of(body, &stages.joints, k);
        let (own, back): (Pose<S>, Pose<S>) = (outer.pose.lift(), inner.pose.inverse().lift());
        let mut h = Small::zeros(body.dofs, 6);
        for i in 0..body.dofs {
            let mut one = [S::ZERO; 6];
            one[i] = S::ONE;
            h.at[i] = own.motion_out(body.hinge.motion(&one)).to_array();
        }
        let at = At {
            m: rows(Articulated::from(body.inertia.lift::<S>()), &outer),
            p: rows(stages.riccati.p[k], &outer),
            d,
            h,
            phi: Small::of_forces(|f| back.force_in(crossing.force_in(own.force_in(f)))),
        };
        Ok((at, outer, inner))
    }

    /// ∂𝓜/∂q along one degree of freedom of a joint, nv × nv, in closed form: with the joint go all links outboard, so that
    /// only elements between them and the joints inboard change.
    ///
    /// 𝓜_θi = Hφ[H̃ⁱφM − Mφ\*H̃ⁱ]φ\*H\*: with s the joint's motion and r composite inertias, s_j\* crf(s) r_k s_k for k outboard
    /// and j inboard of it, and s_j\*(crf(s) r − r crm(s)) s_k for both inboard.
    pub fn mass_matrix_derivative(&mut self, joint: JointId, index: usize, out: &mut [S]) -> Result<()> {
        let (mechanism, n) = (self.view.mechanism, self.view.nv());
        check_length("out", out.len(), n * n)?;
        let range = mechanism.v_range(joint)?;
        if index >= range.len() {
            return Err(Error::Joint {
                joint: mechanism.joints()[joint.index()].name.clone(),
                problem: format!(
                    "it has {} degrees of freedom, counted from zero; there is no number {index}",
                    range.len()
                ),
            });
        }
        let dof = range.start + index;
        if mechanism.is_coupled() {
            self.view.coupled_mass_derivative(dof, out);
        } else {
            self.view.tree_mass_derivative(dof, out);
        }
        Ok(())
    }
}

impl<S: Scalar> View<'_, S> {
    /// ∂𝓜/∂q along one of the degrees of freedom of all joints.
    pub(crate) fn tree_mass_derivative(&mut self, i: usize, out: &mut [S]) {
        self.need::<Columns>();
        self.need::<CompositeOf>();
        let (m, s) = (&self.mechanism.compiled, &*self.stages);
        let n = m.nv;
        let moved = |b: usize| (m.bodies[b].v..m.bodies[b].v + m.bodies[b].dofs).contains(&i);
        let Some(own) = (0..m.bodies.len()).find(|b| moved(*b)) else {
            return;
        };
        let along = s.world.columns[i];
        let at_home = |k: usize| s.scratch.composite[k].through(&s.world.poses[k]);
        out.fill(S::ZERO);
        let turned = Articulated::from(at_home(own)).carried_by(along);
        let mut inboard = m.bodies[own].parent;
        while let Some(p) = inboard {
            for j in m.bodies[p].v..m.bodies[p].v + m.bodies[p].dofs {
                let s_j = s.world.columns[j];
                for k in own..m.bodies[own].end {
                    for c in m.bodies[k].v..m.bodies[k].v + m.bodies[k].dofs {
                        let change = s_j.dot(along.cross_force(at_home(k).times(s.world.columns[c])));
                        out[j * n + c] = change;
                        out[c * n + j] = change;
                    }
                }
                let mut other = Some(p);
                while let Some(b) = other {
                    for c in m.bodies[b].v..m.bodies[b].v + m.bodies[b].dofs {
                        let change = s_j.dot(turned.times(s.world.columns[c]));
                        out[j * n + c] = change;
                        out[c * n + j] = change;
                    }
                    other = m.bodies[b].parent;
                }
            }
            inboard = m.bodies[p].parent;
        }
    }
}

impl<S: Scalar> Moving<'_, S> {
    /// The time derivative of a block of an operator at a joint, as the link sees it or in axes that do not turn.
    pub fn block_rate(&mut self, joint: JointId, block: Block, seen: Seen) -> Result<Small<S>> {
        self.view
            .refuse_coupled("a block of the factors of a tree\'s mass matrix")?;
        let (at, outer, inner) = self.blocks(joint)?;
        self.view.need::<Velocities>();
        self.view.need::<ArticulatedRates>();
        let (mechanism, stages) = (self.view.mechanism, &*self.view.stages);
        let k = outer.body.unwrap_or_default();
        let body = &mechanism.compiled.bodies[k];
        let own: Pose<S> = outer.pose.lift();
        let delta = own.motion_out(body.hinge.motion(&stages.qd[body.v..]));
        let p_rate = rows(stages.diagonal.p_rate[k], &outer);
        let turn = Small::of_forces(|f| delta.cross_force(f));
        let h_adjoint = at.h.transposed();
        let g_rate = || at.tau_bar().times(&p_rate).times(&h_adjoint).times(&at.d.inverse());
        let local = match block {
            Block::M => Small::zeros(6, 6),
            Block::P => p_rate,
            Block::D => at.h.times(&p_rate).times(&h_adjoint),
            Block::G => g_rate(),
            Block::TauBar => Small::zeros(6, 6).plus(&g_rate().times(&at.h), -1.0),
            Block::Phi => at.phi.times(&turn),
            Block::Psi => {
                let changed = turn.times(&at.tau_bar()).plus(&g_rate().times(&at.h), -1.0);
                at.phi.times(&changed)
            }
            Block::H => Small::zeros(body.dofs, 6),
        };
        if seen == Seen::Locally {
            return Ok(local);
        }
        let spin = |frame: &Placed| {
            let omega = match frame.body {
                Some(b) => frame.pose.lift().rotation.inverse_mul(stages.velocities[b].angular),
                None => Vec3::ZERO,
            };
            Small::of_forces(|f| Motion::new(omega, Vec3::ZERO).cross_force(f))
        };
        let (own_spin, inner_spin) = (spin(&outer), spin(&inner));
        let both = |x: &Small<S>, left: &Small<S>| local.plus(&left.times(x), 1.0).plus(&x.times(&own_spin), -1.0);
        Ok(match block {
            Block::M => both(&at.m, &own_spin),
            Block::P => both(&at.p, &own_spin),
            Block::D => local,
            Block::G => local.plus(&own_spin.times(&at.g()), 1.0),
            Block::TauBar => both(&at.tau_bar(), &own_spin),
            Block::Phi => both(&at.phi, &inner_spin),
            Block::Psi => both(&at.phi.times(&at.tau_bar()), &inner_spin),
            Block::H => local.plus(&at.h.times(&own_spin), -1.0),
        })
    }
}
