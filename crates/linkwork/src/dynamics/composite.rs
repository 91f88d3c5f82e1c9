//! The mass matrix by composite bodies: 𝓜(i,k) = H(i) φ(i,k) r(k) H*(k).  (RK)

use super::{branches, mass_columns};
use crate::model::{Compiled, Placed};
use crate::plan::Whole;
use crate::scalar::{Pack, Scalar, zeros};
use crate::spatial::{Articulated, RigidBody};
use crate::stage::Stages;
use crate::stage::crossing::{Crossing, at_joint};
use crate::stage::inflow::Inflow;
use crate::sweep::{At, PackedSweep, Sweep, algorithm};

/// 𝓜, dense and row by row. Inward: r(k) = M(k) + Σ φ r(c) φ*; its columns r(k)H*(k) join those of the subtree, which give
/// an element at every joint that they pass on the way to the base: O(n · depth).
pub(crate) struct MassMatrix;
/// Thirty-six numbers: r(k) of a link in a frame on it.
pub(crate) struct CompositeOf;
/// Thirty-six numbers: P(k) of a link in a frame on it.
pub(crate) struct ArticulatedOf;

algorithm! {
    MassMatrix: Form, Packed =>
        ("mass_matrix", "𝓜", "the mass matrix, nv × nv"), ["crba", "joint_space_inertia"], [Q] -> [Nv, Nv];
    CompositeOf: Plain;
    ArticulatedOf: Tree;
}

impl<S: Scalar> Sweep<S> for MassMatrix {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], out: &mut [S]) {
        write_zeros(m, out);
        mass_columns::inward::<S, SPECIAL>(m, s, Whole(m.bodies.len()), out);
        add_rotors(m, out);
    }
}

/// Branches side by side, where that saves time: the same 𝓜 to the bit.
impl PackedSweep for MassMatrix {
    #[inline(always)]
    fn packed<P: Pack<f64>>(m: &Compiled, s: &mut Stages<f64>, at: At<'_>, input: &[f64], out: &mut [f64]) {
        let Some(b) = m.bundles.as_ref().filter(|b| b.takes_mass) else {
            return Self::run::<true>(m, s, at, input, out);
        };
        branches::composites::<P>(m, b, s, out);
        mass_columns::inward::<f64, true>(m, s, &b.trunk[..], out);
        add_rotors(m, out);
    }
}

#[inline(always)]
fn write_zeros<S: Scalar>(m: &Compiled, out: &mut [S]) {
    match &m.columns.zeros {
        Some(places) => places.write(out),
        None => zeros(out),
    }
}

#[inline(always)]
pub(super) fn add_rotors<S: Scalar>(m: &Compiled, out: &mut [S]) {
    if m.has_armature {
        for i in 0..m.nv {
            out[i * m.nv + i] += S::lift(m.armature[i]);
        }
    }
}

impl<S: Scalar> Sweep<S> for CompositeOf {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, at: At<'_>, _: &[S], out: &mut [S]) {
        let mut inflow = Inflow::<S, RigidBody<S>>::new(&mut s.scratch.waiting);
        for k in (0..m.bodies.len()).rev() {
            let body = &m.bodies[k];
            let r = inflow.gather(body, body.inertia.lift::<S>());
            s.scratch.composite[k] = r;
            if body.parent.is_some() {
                at_joint!(<S, SPECIAL> m.bodies, s.joints, k, joint => inflow.hand_in(body, joint.carry_rigid_in(r)));
            }
        }
        if let Some(k) = at.frame.body {
            write_in_frame(s.scratch.composite[k].into(), at.frame, out);
        }
    }
}

impl<S: Scalar> Sweep<S> for ArticulatedOf {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, at: At<'_>, _: &[S], out: &mut [S]) {
        s.need_riccati(m);
        if let Some(k) = at.frame.body {
            write_in_frame(s.riccati.p[k], at.frame, out);
        }
    }
}

/// An inertia in the compiled frame of a link, seen from a frame on it.
#[inline(always)]
fn write_in_frame<S: Scalar>(inertia: Articulated<S>, frame: &Placed, out: &mut [S]) {
    let rows = inertia.through(&frame.pose.inverse().lift()).to_rows();
    for (i, row) in rows.iter().enumerate() {
        out[6 * i..6 * i + 6].copy_from_slice(row);
    }
}
