//! Operational space: what forces on frames and joints do, through 𝓜⁻¹ = (I − HψK)* D⁻¹ (I − HψK).  (SOA 5)
//!
//! J𝓜⁻¹J* = B*ψ*H* D⁻¹ HψB. In the world's axes at home φ is the identity, so that ψ passes a degree of freedom by
//! τ̄ = I − G H alone: twelve multiplications for a force, about eighty for Υ. Only the way from a frame to its root is
//! travelled; 𝓜 is never formed. [`HomeGains`] comes before all of them.

use crate::dynamics::innovations;
use crate::model::{Compiled, Placed};
use crate::scalar::{Scalar, zeros};
use crate::spatial::{Force, Motion, Reference, Vec3};
use crate::stage::Stages;
use crate::sweep::{At, Sweep, algorithm};

/// What the others read: G and D^-½ at home.
pub(crate) struct HomeGains;
/// Thirty-six numbers: Λ⁻¹ = J𝓜⁻¹J* of a frame, by Υ(k) = H*D⁻¹H + ψ*(p,k) Υ(p) ψ(p,k) outward.
pub(crate) struct Compliance;
/// Υ of every link at its home in the world's axes, thirty-six numbers each.
pub(crate) struct Compliances;
/// Forces on a frame, six numbers each → D^-½HψB f, each a row over the degrees of freedom from the root to the frame.
/// The products of such rows are the elements of J𝓜⁻¹J*.
pub(crate) struct InnovationsOfForces;
/// ∂ log det 𝓜/∂q: Υ is the adjoint of the Riccati sweep, Υ(k) = ∂ log det 𝓜/∂P(k).
pub(crate) struct LogDetGradient;
/// e → (I − HψK)* D^-½ e: from a sum of such rows to accelerations.
pub(crate) struct FromInnovations;

algorithm! {
    HomeGains: Plain;
    Compliance: Plain;
    Compliances: Plain, Often;
    LogDetGradient: Tree;
    InnovationsOfForces: Plain;
    FromInnovations: Plain;
}

impl<S: Scalar> Sweep<S> for HomeGains {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], _: &mut [S]) {
        s.need_home_gains(m);
    }
}

impl<S: Scalar> Sweep<S> for Compliance {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, at: At<'_>, _: &[S], out: &mut [S]) {
        zeros(out);
        let Some(tip) = at.frame.body else { return };
        find_path(m, &mut s.scratch.path, tip);
        let mut upsilon = Upsilon([[S::ZERO; 6]; 6]);
        for &k in s.scratch.path.iter().rev() {
            let body = &m.bodies[k];
            for v in (body.v..body.v + body.dofs).rev() {
                upsilon.pass(s.world.columns[v], s.home_gains[v].g, s.riccati.gains[v].d_inv);
            }
        }
        upsilon.write(&Seat::new(s, at.frame, tip, at.reference), out);
    }
}

impl<S: Scalar> Sweep<S> for Compliances {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], out: &mut [S]) {
        for (k, body) in m.bodies.iter().enumerate() {
            let mut upsilon = Upsilon([[S::ZERO; 6]; 6]);
            if let Some(p) = body.parent {
                for i in 0..6 {
                    upsilon.0[i].copy_from_slice(&out[36 * p + 6 * i..36 * p + 6 * i + 6]);
                }
            }
            for v in (body.v..body.v + body.dofs).rev() {
                upsilon.pass(s.world.columns[v], s.home_gains[v].g, s.riccati.gains[v].d_inv);
            }
            for i in 0..6 {
                for j in 0..6 {
                    out[36 * k + 6 * i + j] = upsilon.at(i, j);
                }
            }
        }
    }
}

/// Outward: Y = P⁺Υ(p);  the change along a column h of H* is 2 tr(Y crf(h));  Υ(k) = H*D⁻¹H + τ̄*Υ(p)τ̄.
impl<S: Scalar> Sweep<S> for LogDetGradient {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], out: &mut [S]) {
        s.need_riccati(m);
        s.need_home_gains(m);
        let mut kept = core::mem::take(&mut s.scratch.upsilon);
        kept.resize(m.bodies.len(), [[S::ZERO; 6]; 6]);
        for (k, body) in m.bodies.iter().enumerate() {
            let dofs = body.v..body.v + body.dofs;
            let mut upsilon = Upsilon([[S::ZERO; 6]; 6]);
            let mut turn = Force::ZERO;
            if let Some(p) = body.parent {
                upsilon.0 = kept[p];
                turn = upsilon.turning(&s.riccati.p_plus[k].through(&s.world.poses[k]).to_rows());
            }
            for v in dofs.rev() {
                out[v] = s.world.columns[v].dot(turn);
                upsilon.pass(s.world.columns[v], s.home_gains[v].g, s.riccati.gains[v].d_inv);
            }
            kept[k] = upsilon.0;
        }
        s.scratch.upsilon = kept;
    }
}

impl<S: Scalar> Sweep<S> for InnovationsOfForces {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, at: At<'_>, forces: &[S], out: &mut [S]) {
        let Some(tip) = at.frame.body else { return };
        let rows = forces.len() / 6;
        if rows == 0 {
            return;
        }
        let length = out.len() / rows;
        let seat = Seat::new(s, at.frame, tip, at.reference);
        for (f, row) in forces.chunks_exact(6).zip(out.chunks_exact_mut(length)) {
            let f = Force::from_array([f[0], f[1], f[2], f[3], f[4], f[5]]);
            inward(m, s, Some(tip), seat.force_home(f), row);
        }
    }
}

impl<S: Scalar> Sweep<S> for FromInnovations {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, e: &[S], out: &mut [S]) {
        for v in 0..m.nv {
            s.scratch.eps[v] = e[v] * s.home_gains[v].d_root.recip();
        }
        innovations::outward::<S, SPECIAL>(
            m,
            &s.joints,
            &s.riccati.gains,
            &s.scratch.eps,
            &mut s.scratch.lambda,
            out,
        );
    }
}

/// The links from one to its root.
#[inline(always)]
fn find_path(m: &Compiled, path: &mut Vec<usize>, tip: usize) {
    path.clear();
    let mut next = Some(tip);
    while let Some(k) = next {
        path.push(k);
        next = m.bodies[k].parent;
    }
}

/// Inward from a link: ε = H z;  z⁺ = z − G ε. The row, D^-½ε, is filled from its end.
#[inline(always)]
fn inward<S: Scalar>(m: &Compiled, s: &Stages<S>, tip: Option<usize>, mut z: Force<S>, row: &mut [S]) {
    let mut next = row.len();
    let mut link = tip;
    while let Some(k) = link {
        let body = &m.bodies[k];
        for v in body.v..body.v + body.dofs {
            let eps = s.world.columns[v].dot(z);
            let gain = &s.home_gains[v];
            z = gain.g.mul_add(-eps, z);
            next -= 1;
            row[next] = eps * gain.d_root;
        }
        link = body.parent;
    }
}

/// Where a frame's motions and forces are taken, seen from home: the arm to the point, and the axes if not the world's.
struct Seat<S> {
    arm: Vec3<S>,
    axes: Option<[Vec3<S>; 3]>,
}

impl<S: Scalar> Seat<S> {
    #[inline(always)]
    fn new(s: &Stages<S>, frame: &Placed, k: usize, reference: Reference) -> Self {
        let at = s.world.poses[k] * frame.pose.lift();
        let r = at.rotation;
        match reference {
            Reference::World => Self {
                arm: -s.world.homes[k],
                axes: None,
            },
            Reference::Aligned => Self {
                arm: at.translation,
                axes: None,
            },
            Reference::Local => Self {
                arm: at.translation,
                axes: Some([r.x, r.y, r.z]),
            },
        }
    }

    /// A force as the reference sees it, taken about home in the world's axes.
    #[inline(always)]
    fn force_home(&self, f: Force<S>) -> Force<S> {
        let turn = |v: Vec3<S>| match &self.axes {
            Some([x, y, z]) => x.mul_add(v.x, y.mul_add(v.y, *z * v.z)),
            None => v,
        };
        let force = turn(f.force);
        Force::new(turn(f.moment) + self.arm.cross(force), force)
    }

    /// A motion at home in the world's axes, as the reference sees it.
    #[inline(always)]
    fn motion_seen(&self, v: Motion<S>) -> Motion<S> {
        let turn = |v: Vec3<S>| match &self.axes {
            Some([x, y, z]) => Vec3::new(x.dot(v), y.dot(v), z.dot(v)),
            None => v,
        };
        Motion::new(turn(v.angular), turn(v.linear + v.angular.cross(self.arm)))
    }
}

/// Υ at home: symmetric, what a force on the link does to its acceleration. Only the upper triangle is kept.
struct Upsilon<S>([[S; 6]; 6]);

impl<S: Scalar> Upsilon<S> {
    /// Across one degree of freedom: τ̄*Υτ̄ + h D⁻¹ h* = Υ − h w* − w h*, with u = Υg and w = u − ½(g·u + D⁻¹)h.
    #[inline(always)]
    fn pass(&mut self, h: Motion<S>, g: Force<S>, d_inv: S) {
        let u = self.times(g);
        let half = S::lift(0.5) * (u.dot(g) + d_inv);
        let w = h.mul_add(-half, u).to_array();
        let h = h.to_array();
        for i in 0..6 {
            for j in i..6 {
                self.0[i][j] = (-h[i]).mul_add(w[j], (-w[i]).mul_add(h[j], self.0[i][j]));
            }
        }
    }

    /// w with h·w = 2 tr(PΥ crf(h)) for every motion h: of Y = PΥ, 2[vx(Y₁₁ + Y₂₂); vx(Y₂₁)].
    #[inline(always)]
    fn turning(&self, p: &[[S; 6]; 6]) -> Force<S> {
        let mut y = [[S::ZERO; 6]; 6];
        for i in 0..6 {
            for j in 0..6 {
                for (l, p) in p[i].iter().enumerate() {
                    y[i][j] = p.mul_add(self.at(l, j), y[i][j]);
                }
            }
        }
        let two = S::lift(2.0);
        let mut w = [S::ZERO; 6];
        for i in 0..3 {
            let (a, b) = ((i + 1) % 3, (i + 2) % 3);
            w[i] = two * (y[a][b] - y[b][a] + y[a + 3][b + 3] - y[b + 3][a + 3]);
            w[i + 3] = two * (y[a + 3][b] - y[b + 3][a]);
        }
        Force::from_array(w)
    }

    #[inline(always)]
    fn at(&self, i: usize, j: usize) -> S {
        if i <= j { self.0[i][j] } else { self.0[j][i] }
    }

    #[inline(always)]
    fn times(&self, f: Force<S>) -> Motion<S> {
        let f = f.to_array();
        let mut v = [S::ZERO; 6];
        for i in 0..6 {
            for j in 0..6 {
                v[i] = self.at(i, j).mul_add(f[j], v[i]);
            }
        }
        Motion::from_array(v)
    }

    /// The matrix as a reference sees it, row by row and exactly symmetric.
    #[inline(always)]
    fn write(&self, seat: &Seat<S>, out: &mut [S]) {
        for j in 0..6 {
            let mut unit = [S::ZERO; 6];
            unit[j] = S::ONE;
            let column = seat.motion_seen(self.times(seat.force_home(Force::from_array(unit))));
            for (i, x) in column.to_array().into_iter().enumerate().take(j + 1) {
                out[6 * i + j] = x;
                out[6 * j + i] = x;
            }
        }
    }
}
