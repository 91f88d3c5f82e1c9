//! Motion without contacts: v*, and the advance of configurations.
//!
//! The linear velocity of a free or planar root is advanced in fixed axes: in the link's own, explicit, it would grow by
//! √(1 + (ωΔt)²) every step. A single free body turns by the implicit midpoint, I(ω' − ω) + Δt ω_m × Iω_m = Δt N, which keeps its energy.

use crate::body::Hinge;
use crate::model::Mechanism;
use crate::spatial::{Force, Rotation, Vec3};

/// A root whose velocity is in the link's axes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Root {
    pub(super) q: usize,
    pub(super) v: usize,
    pub(super) body: usize,
    /// Planar, or free.
    pub(super) planar: bool,
    /// Whether nothing hangs on it, and nothing but its inertia resists it.
    pub(super) alone: bool,
}

/// The roots of a mechanism that move so.
pub(super) fn roots(m: &Mechanism) -> Vec<Root> {
    let (compiled, mut roots) = (&m.compiled, Vec::new());
    for (k, body) in compiled.bodies.iter().enumerate() {
        let planar = matches!(body.hinge, Hinge::Planar);
        if body.parent.is_some() || !(planar || matches!(body.hinge, Hinge::Free)) {
            continue;
        }
        let (q, v) = match &compiled.reduction {
            None => (body.q, body.v),
            Some(r) => (r.q_from[body.q], r.v_from[body.v]),
        };
        let resisted = |list: &[f64]| list[v..v + body.dofs].iter().any(|x| *x != 0.0);
        let rotors = compiled.armature[body.v..body.v + body.dofs].iter().any(|x| *x != 0.0);
        let bare = !rotors && !resisted(&m.passive.damping) && !resisted(&m.passive.stiffness);
        roots.push(Root {
            q,
            v,
            body: k,
            planar,
            alone: !planar && bare && body.end == k + 1,
        });
    }
    roots
}

impl Root {
    /// Adds Δt x, x = ω × v.
    pub(super) fn turn(&self, v: &[f64], dt: f64, out: &mut [f64]) {
        let v = &v[self.v..];
        let out = &mut out[self.v..];
        if self.planar {
            out[1] -= dt * v[0] * v[2];
            out[2] += dt * v[0] * v[1];
            return;
        }
        let x = Vec3::new(v[0], v[1], v[2]).cross(Vec3::new(v[3], v[4], v[5]));
        out[3] += dt * x.x;
        out[4] += dt * x.y;
        out[5] += dt * x.z;
    }

    /// Adds how x = ω × v changes with v.
    pub(super) fn turn_change(&self, v: &[f64], dv: &[f64], out: &mut [f64]) {
        let (v, dv, out) = (&v[self.v..], &dv[self.v..], &mut out[self.v..]);
        if self.planar {
            out[1] -= dv[0] * v[2] + v[0] * dv[2];
            out[2] += dv[0] * v[1] + v[0] * dv[1];
            return;
        }
        let [w, u, dw, du] = [&v[..3], &v[3..6], &dv[..3], &dv[3..6]].map(|x| Vec3::new(x[0], x[1], x[2]));
        let x = dw.cross(u) + w.cross(du);
        out[3] += x.x;
        out[4] += x.y;
        out[5] += x.z;
    }

    /// Adds the transpose of that.
    pub(super) fn turn_adjoint(&self, v: &[f64], y: &[f64], out: &mut [f64]) {
        let (v, y, out) = (&v[self.v..], &y[self.v..], &mut out[self.v..]);
        if self.planar {
            out[0] += v[1] * y[2] - v[2] * y[1];
            out[1] += v[0] * y[2];
            out[2] -= v[0] * y[1];
            return;
        }
        let [w, u, y] = [&v[..3], &v[3..6], &y[3..6]].map(|x| Vec3::new(x[0], x[1], x[2]));
        let back = [u.cross(y).to_array(), y.cross(w).to_array()].concat();
        for (out, x) in out.iter_mut().zip(back) {
            *out += x;
        }
    }

    /// v* of a single free body in gravity, under a torque and a force from outside.
    pub(super) fn fall(
        &self,
        m: &Mechanism,
        q: &[f64],
        v: &[f64],
        (torque, load): (&[f64], Force),
        dt: f64,
        out: &mut [f64],
    ) {
        let body = &m.compiled.bodies[self.body];
        let (v, torque) = (&v[self.v..], &torque[self.v..]);
        let inertia = &body.inertia;
        let mass = inertia.mass;
        let c = inertia.first * mass.recip();
        // About the centre of mass: J − m(c²I − cc*).
        let j = inertia.second;
        let cc = c.dot(c);
        let x = c.to_array();
        let own = |i: usize, k: usize, j: f64| j - mass * (if i == k { cc } else { 0.0 } - x[i] * x[k]);
        let rows = [
            [own(0, 0, j[0]), own(0, 1, j[1]), own(0, 2, j[2])],
            [own(1, 0, j[1]), own(1, 1, j[3]), own(1, 2, j[4])],
            [own(2, 0, j[2]), own(2, 1, j[4]), own(2, 2, j[5])],
        ];
        let times = |w: Vec3| {
            let row = |r: &[f64; 3]| r[0] * w.x + r[1] * w.y + r[2] * w.z;
            Vec3::new(row(&rows[0]), row(&rows[1]), row(&rows[2]))
        };
        let (w, u) = (Vec3::new(v[0], v[1], v[2]), Vec3::new(v[3], v[4], v[5]));
        let (n, f) = (
            Vec3::new(torque[0], torque[1], torque[2]) + load.moment,
            Vec3::new(torque[3], torque[4], torque[5]) + load.force,
        );
        let axes = body.placement.rotation * quaternion(&q[self.q..]);
        let gravity = axes.inverse_mul(m.gravity());
        let u_c = u + w.cross(c) + (gravity + f * mass.recip()) * dt;
        let w_next = spin(&times, &rows, w, n - c.cross(f), dt);
        // What the centre of mass has is kept: it is seen from where the origin will be.
        let moved = turned(w_next * dt) * c;
        let u_next = u_c - w_next.cross(moved);
        out[self.v..self.v + 6].copy_from_slice(&[w_next.x, w_next.y, w_next.z, u_next.x, u_next.y, u_next.z]);
    }

    /// The position after a step at v, given in the axes of its start, and v in those of its end.
    pub(super) fn advance(&self, q: &[f64], v: &mut [f64], dt: f64, out: &mut [f64]) {
        let v = &mut v[self.v..];
        if self.planar {
            let (sin, cos) = q[self.q].sin_cos();
            out[self.q + 1] = q[self.q + 1] + dt * (cos * v[1] - sin * v[2]);
            out[self.q + 2] = q[self.q + 2] + dt * (sin * v[1] + cos * v[2]);
            let (sin, cos) = (-dt * v[0]).sin_cos();
            (v[1], v[2]) = (cos * v[1] - sin * v[2], sin * v[1] + cos * v[2]);
            return;
        }
        let (old, new) = (quaternion(&q[self.q..]), quaternion(&out[self.q..]));
        let along = old * Vec3::new(v[3], v[4], v[5]);
        for (i, x) in along.to_array().into_iter().enumerate() {
            out[self.q + 4 + i] = q[self.q + 4 + i] + dt * x;
        }
        let along = new.inverse_mul(along);
        (v[3], v[4], v[5]) = (along.x, along.y, along.z);
    }
}

fn quaternion(q: &[f64]) -> Rotation {
    Rotation::from_quaternion([q[0], q[1], q[2], q[3]])
}

/// The rotation by a vector.
fn turned(w: Vec3) -> Rotation {
    let angle = w.norm();
    if angle == 0.0 {
        return Rotation::IDENTITY;
    }
    Rotation::about(w * angle.recip(), angle)
}

/// ω' of I(ω' − ω) + Δt ω_m × Iω_m = Δt N: a few Newton steps on three numbers.
fn spin(times: &impl Fn(Vec3) -> Vec3, rows: &[[f64; 3]; 3], w: Vec3, torque: Vec3, dt: f64) -> Vec3 {
    let mut next = w;
    for _ in 0..4 {
        let mid = (w + next) * 0.5;
        let l = times(mid);
        let rest = times(next - w) + (mid.cross(l) - torque) * dt;
        // I + ½Δt(ω_m~ I − (Iω_m)~).
        let (cross, half) = (skew(mid), 0.5 * dt);
        let turned = skew(l);
        let mut a = [[0.0; 4]; 3];
        for i in 0..3 {
            for j in 0..3 {
                let product: f64 = (0..3).map(|k| cross[i][k] * rows[k][j]).sum();
                a[i][j] = rows[i][j] + half * (product - turned[i][j]);
            }
            a[i][3] = rest.to_array()[i];
        }
        let Some(step) = solve3(a) else { return next };
        next -= Vec3::from(step);
        // Newton's method doubles the digits: none are left to gain.
        let size = |x: Vec3| x.x.abs() + x.y.abs() + x.z.abs();
        if size(step.into()) <= 1e-9 * size(next) {
            return next;
        }
    }
    next
}

fn skew(w: Vec3) -> [[f64; 3]; 3] {
    [[0.0, -w.z, w.y], [w.z, 0.0, -w.x], [-w.y, w.x, 0.0]]
}

fn solve3(mut a: [[f64; 4]; 3]) -> Option<[f64; 3]> {
    for c in 0..3 {
        let best = (c..3).fold(c, |best, r| if a[r][c].abs() > a[best][c].abs() { r } else { best });
        a.swap(c, best);
        if a[c][c] == 0.0 {
            return None;
        }
        for r in 0..3 {
            if r != c {
                let factor = a[r][c] / a[c][c];
                for k in c..4 {
                    a[r][k] -= factor * a[c][k];
                }
            }
        }
    }
    Some([a[0][3] / a[0][0], a[1][3] / a[1][1], a[2][3] / a[2][2]])
}
