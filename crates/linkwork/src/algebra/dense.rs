//! Expressions by their definitions: every operator a dense matrix, multiplied as it is written.
//!
//! Nothing here is fast; it is what compiled algorithms are held against. φ is built from the links' poses, H from their
//! Jacobians, P by the Riccati equation with matrices.

use super::algorithm::defined;
use super::coupled::{by_ratios, of_joints, of_trees};
use super::dense_inverses::Inverter;
use super::dense_links::links;
use super::dense_matrix::Matrix;
use super::expression::Expression;
use super::infer::{CONSTRAINT_BIAS, LOG_DET, LOG_DET_GRADIENT};
use super::notation::Notation;
use super::op::Op;
use super::space::Space;
use super::sum::{Factor, Sum, Vector};
use crate::closed::{ClosedMechanism, Row, Tie};
use crate::model::{FrameId, Mechanism};
use crate::spatial::{Force, Inertia, Motion, Pose, Reference, Vec3};
use crate::{Error, Result};

/// A mechanism at a state, as dense operators in the users' frames and order.
#[derive(Clone, Debug)]
#[allow(non_snake_case)]
pub struct Dense {
    nv: usize,
    tips: usize,
    n: usize,
    H: Matrix,
    M: Matrix,
    P: Matrix,
    P_plus: Matrix,
    D: Matrix,
    root: Matrix,
    G: Matrix,
    E_phi: Matrix,
    B: Matrix,
    rotors: Matrix,
    upsilon: Matrix,
    qd: Vec<f64>,
    a0: Vec<f64>,
    /// H*Ṙẏ, where joints follow others by curves.
    bend: Vec<f64>,
    /// R\*AṘẏ, what turns the rotors of followers faster: part of C.
    spin: Vec<f64>,
    /// Forces of constraints on links, and what these accelerate by.
    Bc: Matrix,
    constraint_bias: Vec<f64>,
    /// Where the constraints' frames are.
    pub(super) ends: Vec<Ends>,
    /// The chosen frames, and whose they are.
    frames: Vec<FrameId>,
    references: Vec<Reference>,
    pub(super) mechanism: Mechanism,
    /// The mechanism, if joints follow others, and whether some follow by curves.
    coupled: Option<String>,
    pub(super) is_curved: bool,
}

fn singular() -> Error {
    Error::Binding {
        name: "D".to_owned(),
        problem: "it is not positive at this configuration; give every joint something to move".to_owned(),
    }
}

/// The 6×6 matrix whose columns are images of unit vectors.
fn six(f: impl Fn([f64; 6]) -> [f64; 6]) -> Matrix {
    let columns: [[f64; 6]; 6] = core::array::from_fn(|j| f(core::array::from_fn(|i| if i == j { 1.0 } else { 0.0 })));
    Matrix::from_fn(6, 6, |i, j| columns[j][i])
}

fn force_in(pose: &Pose) -> Matrix {
    six(|f| pose.force_in(Force::from_array(f)).to_array())
}

fn spatial_inertia(body: &Inertia) -> Matrix {
    let [xx, xy, xz, yy, yz, zz] = body.moments;
    let about = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
    let (m, c) = (body.mass, body.com);
    six(|v| {
        let v = Motion::from_array(v);
        // Momentum: linear m(v + ω × c), angular about the frame's origin.
        let linear = (v.linear + v.angular.cross(c)) * m;
        let w = v.angular.to_array();
        let spin: [f64; 3] = core::array::from_fn(|i| (0..3).map(|j| about[i][j] * w[j]).sum());
        Force::new(Vec3::from(spin) + c.cross(linear), linear).to_array()
    })
}

#[allow(non_snake_case)]
impl Dense {
    /// Builds all operators at a state.
    pub fn new(mechanism: &Mechanism, q: &[f64], qd: &[f64], frames: &[(FrameId, Reference)]) -> Result<Self> {
        if mechanism.is_coupled() {
            return Self::of_coupled(mechanism, q, qd, frames);
        }
        mechanism.check_vector("qd", qd)?;
        let (links, place) = links(mechanism, q)?;
        let (n, nv) = (links.len(), mechanism.nv());
        let mut H = Matrix::zeros(nv, 6 * n);
        let (mut M, mut E_phi) = (Matrix::zeros(6 * n, 6 * n), Matrix::zeros(6 * n, 6 * n));
        let mut a0 = vec![0.0; 6 * n];
        let rotors = Matrix::from_fn(nv, nv, |i, j| if i == j { mechanism.compiled.armature[i] } else { 0.0 });
        for (k, link) in links.iter().enumerate() {
            for (i, column) in link.columns.iter().enumerate() {
                (0..6).for_each(|c| H.set(link.dofs.start + i, 6 * k + c, column[c]));
            }
            M.set_block(6 * k, 6 * k, &spatial_inertia(&link.inertia));
            match link.parent {
                Some(p) => E_phi.set_block(6 * p, 6 * k, &force_in(&(links[p].pose.inverse() * link.pose))),
                None => {
                    let base = Motion::new(Vec3::ZERO, -mechanism.gravity());
                    a0[6 * k..6 * k + 6].copy_from_slice(&link.pose.motion_out(base).to_array());
                }
            }
        }
        let (mut P, mut P_plus) = (M.clone(), M.clone());
        let (mut D, mut root) = (Matrix::zeros(nv, nv), Matrix::zeros(nv, nv));
        let mut G = Matrix::zeros(6 * n, nv);
        // Links by depth, deepest first: a parent's P is whole when its turn comes.
        let mut order: Vec<usize> = (0..n).collect();
        let depth = |mut k: usize| {
            let mut depth = 0;
            while let Some(p) = links[k].parent {
                (k, depth) = (p, depth + 1);
            }
            depth
        };
        order.sort_by_key(|&k| core::cmp::Reverse(depth(k)));
        for &k in &order {
            let (at, d) = (links[k].dofs.start, links[k].dofs.len());
            let own = P.block(6 * k, 6 * k, 6, 6);
            let h = H.block(at, 6 * k, d, 6);
            let u = &own * &h.transposed();
            let pivot = &(&h * &u) + &rotors.block(at, at, d, d);
            let g = &u * &pivot.inverse().ok_or_else(singular)?;
            let plus = &own - &(&g * &u.transposed());
            D.set_block(at, at, &pivot);
            root.set_block(at, at, &pivot.cholesky().ok_or_else(singular)?);
            G.set_block(6 * k, at, &g);
            P_plus.set_block(6 * k, 6 * k, &plus);
            if let Some(p) = links[k].parent {
                let phi = E_phi.block(6 * p, 6 * k, 6, 6);
                let sum = &P.block(6 * p, 6 * p, 6, 6) + &(&(&phi * &plus) * &phi.transposed());
                P.set_block(6 * p, 6 * p, &sum);
            }
        }
        let mut B = Matrix::zeros(6 * n, 6 * frames.len());
        for (i, &(frame, reference)) in frames.iter().enumerate() {
            mechanism.own_frame(frame)?;
            if let Some((k, pose)) = place(frame, reference) {
                B.set_block(6 * k, 6 * i, &force_in(&(links[k].pose.inverse() * pose)));
            }
        }
        let mut dense = Self {
            nv,
            tips: frames.len(),
            n,
            H,
            M,
            P,
            P_plus,
            D,
            root,
            G,
            E_phi,
            B,
            rotors,
            upsilon: Matrix::zeros(0, 0),
            qd: qd.to_vec(),
            a0,
            bend: Vec::new(),
            spin: Vec::new(),
            Bc: Matrix::zeros(6 * n, 0),
            constraint_bias: Vec::new(),
            ends: Vec::new(),
            frames: frames.iter().map(|f| f.0).collect(),
            references: frames.iter().map(|f| f.1).collect(),
            mechanism: mechanism.clone(),
            coupled: None,
            is_curved: false,
        };
        // Υ is the diagonal of ψ*H*D⁻¹Hψ.
        let H_psi = &dense.H * &dense.operator(Op::Psi)?;
        let all = &(&H_psi.transposed() * &dense.operator(Op::DInv)?) * &H_psi;
        dense.upsilon = Matrix::zeros(6 * n, 6 * n);
        for k in 0..n {
            dense.upsilon.set_block(6 * k, 6 * k, &all.block(6 * k, 6 * k, 6, 6));
        }
        Ok(dense)
    }

    /// Those of the tree, with R*H for H; what has no meaning then is refused.
    fn of_coupled(mechanism: &Mechanism, y: &[f64], yd: &[f64], frames: &[(FrameId, Reference)]) -> Result<Self> {
        mechanism.check_vector("qd", yd)?;
        let (tree, q) = (mechanism.uncoupled()?, mechanism.all_coordinates(y)?);
        let mut R = Matrix::zeros(tree.nv(), mechanism.nv());
        let mut bend = Matrix::zeros(tree.nv(), 1);
        for j in 0..tree.joints().len() {
            let leader = mechanism.leader_of(j).unwrap_or(j);
            let at = mechanism.q_of(leader).start;
            for (i, to) in tree.v_of(j).zip(mechanism.v_of(leader)) {
                let (ratio, rate) = match mechanism.leader_of(j) {
                    None => (1.0, 0.0),
                    Some(_) => {
                        let [_, slope, bend] = mechanism.coupling_of(j, y[at]);
                        (slope, bend * yd[to] * yd[to])
                    }
                };
                R.set(i, to, ratio);
                bend.set(i, 0, rate);
            }
        }
        let qd = (&R * &Matrix::column(yd)).data;
        let mut same = Vec::with_capacity(frames.len());
        for &(frame, reference) in frames {
            same.push((tree.frame_at(mechanism.own_frame(frame)?.index()), reference));
        }
        let mut dense = Self::new(&tree, &q, &qd, &same)?;
        dense.bend = (&dense.H.transposed() * &bend).data;
        dense.spin = (&R.transposed() * &(&dense.rotors * &bend)).data;
        dense.H = &R.transposed() * &dense.H;
        dense.rotors = &(&R.transposed() * &dense.rotors) * &R;
        dense.nv = mechanism.nv();
        dense.qd = yd.to_vec();
        dense.coupled = Some(mechanism.name().to_owned());
        dense.is_curved = !by_ratios(mechanism);
        Ok(dense)
    }

    /// All operators of a closed mechanism, with those of its constraints.
    pub fn closed(closed: &ClosedMechanism, q: &[f64], qd: &[f64], frames: &[(FrameId, Reference)]) -> Result<Self> {
        let mechanism = closed.mechanism();
        let mut dense = Self::new(mechanism, q, qd, frames)?;
        (dense.Bc, dense.ends) = ties(closed, q)?;
        // d/dt (Jc)q̇ by differences of fourth order.
        let h = 1e-3;
        let mut total = Matrix::zeros(dense.Bc.columns, 1);
        for (step, weight) in [(-2.0, 1.0), (-1.0, -8.0), (1.0, 8.0), (2.0, -1.0)] {
            let mut there = vec![0.0; mechanism.nq()];
            let change: Vec<f64> = qd.iter().map(|x| x * h * step).collect();
            mechanism.integrate(q, &change, &mut there)?;
            let mut other = Self::new(mechanism, &there, qd, &[])?;
            other.Bc = ties(closed, &there)?.0;
            let rate = &other.operator(Op::Jc)? * &Matrix::column(qd);
            total = &total + &rate.scaled(weight / (12.0 * h));
        }
        dense.constraint_bias = total.data;
        Ok(dense)
    }

    pub(crate) fn size(&self, space: Space) -> usize {
        match space {
            Space::Number => 1,
            Space::Joint => self.nv,
            Space::Motion | Space::Force => 6 * self.n,
            Space::Tip => 6 * self.tips,
            Space::Frame => 6,
            Space::Constraint => self.Bc.columns,
            square => square.side().map_or(0, |side| self.size(side).pow(2)),
        }
    }

    pub(super) fn operator(&self, op: Op) -> Result<Matrix> {
        let plain = !of_trees(op) && !of_joints(op) || matches!(op, Op::Mass | Op::MassInv);
        if let (Some(mechanism), false) = (&self.coupled, plain) {
            return Err(Error::Coupled {
                what: op.symbol(),
                mechanism: mechanism.clone(),
            });
        }
        let inverse = |x: &Matrix| x.inverse().ok_or_else(singular);
        let one = || Matrix::identity(6 * self.n);
        let tau_bar = || &one() - &(&self.G * &self.H);
        let E_psi = || &self.E_phi * &tau_bar();
        let K = || &self.E_phi * &self.G;
        Ok(match op {
            Op::H => self.H.clone(),
            Op::M => self.M.clone(),
            Op::P => self.P.clone(),
            Op::PPlus => self.P_plus.clone(),
            Op::D => self.D.clone(),
            Op::DInv => inverse(&self.D)?,
            Op::G => self.G.clone(),
            Op::K => K(),
            Op::TauBar => tau_bar(),
            Op::EPhi => self.E_phi.clone(),
            Op::EPsi => E_psi(),
            Op::PhiInv => &one() - &self.E_phi,
            Op::PsiInv => &one() - &E_psi(),
            Op::Phi => inverse(&(&one() - &self.E_phi))?,
            Op::Psi => inverse(&(&one() - &E_psi()))?,
            Op::Mass => {
                let J = &self.H * &self.operator(Op::Phi)?;
                &(&(&J * &self.M) * &J.transposed()) + &self.rotors
            }
            Op::MassInv => inverse(&self.operator(Op::Mass)?)?,
            Op::B => self.B.clone(),
            Op::J => (&(&self.H * &self.operator(Op::Phi)?) * &self.B).transposed(),
            Op::N => &Matrix::identity(self.nv) - &(&(&self.H * &self.operator(Op::Psi)?) * &K()),
            Op::F => &Matrix::identity(self.nv) + &(&(&self.H * &self.operator(Op::Phi)?) * &K()),
            Op::Root => self.root.clone(),
            Op::RootInv => inverse(&self.root)?,
            Op::Upsilon => self.upsilon.clone(),
            // The diagonal of φMφ*.
            Op::Composite => {
                let phi = self.operator(Op::Phi)?;
                let all = &(&phi * &self.M) * &phi.transposed();
                let mut r = Matrix::zeros(all.rows, all.columns);
                for k in 0..all.rows / 6 {
                    r.set_block(6 * k, 6 * k, &all.block(6 * k, 6 * k, 6, 6));
                }
                r
            }
            Op::Rotors => self.rotors.clone(),
            Op::MInv => self.M.inverse().ok_or_else(|| no_inverse("M"))?,
            Op::PInv => self.P.inverse().ok_or_else(|| no_inverse("P"))?,
            Op::Seen => Matrix::from_fn(6 * self.tips, 6 * self.tips, |i, j| {
                let kept = match self.references[i / 6] {
                    Reference::Local => 0,
                    Reference::Aligned => 3,
                    Reference::World => 6,
                };
                if i == j && i % 6 < kept { 1.0 } else { 0.0 }
            }),
            Op::Bc if self.Bc.columns == 0 => {
                return Err(Error::Binding {
                    name: "Jc".to_owned(),
                    problem: "the mechanism has no constraints; build it by Dense::closed".to_owned(),
                });
            }
            Op::Bc => self.Bc.clone(),
            Op::Jc => (&(&self.H * &self.operator(Op::Phi)?) * &self.operator(Op::Bc)?).transposed(),
        })
    }

    /// The value of an expression, as it is written: a matrix, or one column.
    pub fn evaluate(&self, expression: &Expression, given: &[(&str, &[f64])]) -> Result<Matrix> {
        let mut names: Vec<String> = given.iter().map(|(name, _)| (*name).to_owned()).collect();
        if self.coupled.is_some() {
            names.push("C".to_owned());
        }
        let mut all = self.sum(&defined(&expression.sum, &names), given)?;
        for sum in &expression.more {
            let next = self.sum(&defined(sum, &names), given)?;
            all.data.extend(next.data);
            all.rows += next.rows;
        }
        Ok(all)
    }

    pub(crate) fn sum(&self, sum: &Sum, given: &[(&str, &[f64])]) -> Result<Matrix> {
        let mut total = Matrix::zeros(self.size(sum.range), self.size(sum.domain));
        for term in &sum.terms {
            let mut product = Matrix::identity(self.size(sum.domain));
            for factor in term.factors.iter().rev() {
                product = &self.factor(factor, given)? * &product;
            }
            total = &total + &product.scaled(term.scale);
        }
        Ok(total)
    }

    pub(crate) fn factor(&self, factor: &Factor, given: &[(&str, &[f64])]) -> Result<Matrix> {
        Ok(match factor {
            Factor::Op(op, false) => self.operator(*op)?,
            Factor::Op(op, true) => self.operator(*op)?.transposed(),
            Factor::Vector(v, false) => Matrix::column(&self.vector(v, given)?),
            Factor::Vector(v, true) => Matrix::column(&self.vector(v, given)?).transposed(),
            Factor::Sum(inner) => self.sum(inner, given)?,
            Factor::Inverse(inner) | Factor::Augmented(inner) => {
                let inverse = self.sum(inner, given)?.inverse();
                inverse.ok_or_else(|| no_inverse(&inner.written(Notation::Ascii)))?
            }
            Factor::Pseudo(inner) => {
                let x = self.sum(inner, given)?;
                let mut data = x.data.clone();
                Inverter::default().pseudo_invert(&mut data, x.rows);
                Matrix::from_fn(x.columns, x.rows, |i, j| data[i * x.rows + j])
            }
            Factor::Diagonal(v, inverted) => {
                let w = self.vector(v, given)?;
                let at = |i: usize| if *inverted { w[i].recip() } else { w[i] };
                Matrix::from_fn(w.len(), w.len(), |i, j| if i == j { at(i) } else { 0.0 })
            }
            Factor::Matrix(v) => {
                let (w, n) = (self.vector(v, given)?, self.size(factor.range()));
                Matrix::from_fn(n, n, |i, j| w[i * n + j])
            }
            Factor::By(by, vector) => {
                let v = self.sum(vector, given)?;
                self.made_by(*by, &v.data)?
            }
            Factor::Held(vector, false) => self.sum(vector, given)?,
            Factor::Held(vector, true) => self.sum(vector, given)?.transposed(),
            Factor::Select(name, adjoint) => {
                let id = self.mechanism.frame(name)?;
                let place = self.frames.iter().position(|f| *f == id);
                let place = place.ok_or_else(|| Error::Binding {
                    name: name.to_string(),
                    problem: "it is not among the frames; add it to them".to_owned(),
                })?;
                let one = |i: usize, j: usize| if j == 6 * place + i { 1.0 } else { 0.0 };
                let select = Matrix::from_fn(6, 6 * self.tips, one);
                if *adjoint { select.transposed() } else { select }
            }
        })
    }

    fn vector(&self, v: &Vector, given: &[(&str, &[f64])]) -> Result<Vec<f64>> {
        if let Some((_, x)) = given.iter().find(|(name, _)| **name == *v.name) {
            let needed = self.size(v.space);
            if x.len() != needed {
                return Err(Error::Binding {
                    name: v.name.to_string(),
                    problem: format!("{} needs {needed} numbers, not {}", v.space, x.len()),
                });
            }
            return Ok(x.to_vec());
        }
        let blocks = |x: &[f64], y: &[f64], f: &dyn Fn(Motion, [f64; 6]) -> [f64; 6]| -> Vec<f64> {
            let each = x.chunks_exact(6).zip(y.chunks_exact(6));
            each.flat_map(|(x, y)| {
                let x = Motion::from_array(core::array::from_fn(|i| x[i]));
                f(x, core::array::from_fn(|i| y[i]))
            })
            .collect()
        };
        let own = || (&self.H.transposed() * &Matrix::column(&self.qd)).data;
        let velocity = || -> Result<Vec<f64>> {
            let phi = self.operator(Op::Phi)?;
            Ok((&phi.transposed() * &Matrix::column(&own())).data)
        };
        Ok(match &*v.name {
            "qd" => self.qd.clone(),
            "a0" => self.a0.clone(),
            CONSTRAINT_BIAS => self.constraint_bias.clone(),
            LOG_DET => {
                let root = self.operator(Op::Mass)?.cholesky().ok_or_else(singular)?;
                vec![2.0 * (0..self.nv).map(|i| root.at(i, i).ln()).sum::<f64>()]
            }
            LOG_DET_GRADIENT => self.log_det_gradient()?,
            "C" => {
                let of_links = self.sum(&defined(&Sum::of(Factor::Vector(v.clone(), false)), &[]), given)?;
                of_links.data.iter().zip(&self.spin).map(|(c, spin)| c + spin).collect()
            }
            "a" => {
                let mut a = blocks(&velocity()?, &own(), &|v, x| v.cross(Motion::from_array(x)).to_array());
                a.iter_mut().zip(&self.a0).for_each(|(a, base)| *a += base);
                a.iter_mut().zip(&self.bend).for_each(|(a, bend)| *a += bend);
                a
            }
            "b" => {
                let V = velocity()?;
                let momentum = (&self.M * &Matrix::column(&V)).data;
                blocks(&V, &momentum, &|v, f| v.cross_force(Force::from_array(f)).to_array())
            }
            name => {
                return Err(Error::Binding {
                    name: name.to_owned(),
                    problem: format!("it is needed ({}) but was not given; give it", v.space),
                });
            }
        })
    }
}

fn no_inverse(name: &str) -> Error {
    Error::Binding {
        name: name.to_owned(),
        problem: "it has no inverse at this configuration".to_owned(),
    }
}

/// One constraint: for each of its frames the link, and where it is, seen from the link and from the world.
pub(super) type Ends = (Tie, [(Option<usize>, Pose, Pose); 2]);

/// The forces on links of the multipliers of constraints, and where these are.
fn ties(closed: &ClosedMechanism, q: &[f64]) -> Result<(Matrix, Vec<Ends>)> {
    let mechanism = closed.mechanism();
    let (tree, q) = match mechanism.is_coupled() {
        true => (mechanism.uncoupled()?, mechanism.all_coordinates(q)?),
        false => (mechanism.clone(), q.to_vec()),
    };
    let (links, place) = links(&tree, &q)?;
    let ties = closed.active_ties();
    let rows = ties.last().map_or(0, |tie| tie.rows.end);
    let mut all = Matrix::zeros(6 * links.len(), rows);
    let mut ends = Vec::with_capacity(ties.len());
    for tie in &ties {
        let at = |frame: FrameId, reference| {
            let frame = tree.frame_at(frame.index());
            let fixed = tree.placed[frame.index()].pose;
            (place(frame, reference), fixed)
        };
        let poses = tie
            .frames
            .map(|f| at(f, Reference::Local))
            .map(|(found, fixed)| found.map_or(fixed, |f| f.1));
        ends.push((
            tie.clone(),
            core::array::from_fn(|side| {
                let found = at(tie.frames[side], Reference::Local).0;
                let seen = found.as_ref().map_or(poses[side], |f| links[f.0].pose.inverse() * f.1);
                (found.map(|f| f.0), seen, poses[side])
            }),
        ));
        let rows: Vec<Row> = tie.equations.iter().map(|e| e.row(&poses[0], &poses[1])).collect();
        for (side, &frame) in tie.frames.iter().enumerate() {
            let (Some((k, pose)), _) = at(frame, Reference::Aligned) else {
                continue;
            };
            let seat = links[k].pose.inverse() * pose;
            for (row, column) in rows.iter().zip(tie.rows.clone()) {
                let f = seat.force_in(row.on(side)).to_array();
                for (i, f) in f.into_iter().enumerate() {
                    all.set(6 * k + i, column, all.at(6 * k + i, column) + f);
                }
            }
        }
    }
    Ok((all, ends))
}
