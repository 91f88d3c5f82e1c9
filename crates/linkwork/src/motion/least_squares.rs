//! Damped least squares over the joints that move what tasks are about.
//!
//! In the world's axes at a tree's home the rigid steps φ are identities: P goes from joint to joint as it is, and joints that
//! move no task have no part. With a joint's column S,
//!
//! ```text
//! inward    P = ΣP⁺ + X*GX    u = PS    D = S·u + A    ε = b − S·z    P⁺ = P − uu*/D    z⁺ = z + uε/D
//! outward   x = ε/D − u·λ/D   λ ← λ + Sx
//! ```
//!
//! which is (A + ΣJ*GJ)⁻¹b, as the augmented operator gives it, for tasks about one link each and ways without followers.

use super::task::{Goal, Task};
use crate::model::Mechanism;
use crate::scalar::Scalar;
use crate::simd::{self, Instructions};
use crate::spatial::{Articulated, Force, Motion, Vec3};
use crate::stage::world::World;

/// A task as it is seen, for one state or several: where the frame is, what turning and moving weigh in the world's axes as xx,
/// xy, xz, yy, yz, zz, and Ge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look<S> {
    pub(super) at: Vec3<S>,
    pub(super) g: [[S; 6]; 2],
    pub(super) force: [Vec3<S>; 2],
}

impl<S: Scalar> Look<S> {
    pub(super) const NOTHING: Self = Self {
        at: Vec3::ZERO,
        g: [[S::ZERO; 6]; 2],
        force: [Vec3::ZERO; 2],
    };
}

/// A degree of freedom that moves a task.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// Its column among those of all joints, and its number among the users'.
    column: usize,
    dof: usize,
    /// The next one towards the root.
    inner: Option<usize>,
    /// Whether the one before hands to it, whether others do, and whether tasks weigh on it.
    continues: bool,
    joins: bool,
    is_weighed: bool,
}

/// The degrees of freedom that move tasks, children before parents, and what elimination makes of them.
#[derive(Clone, Debug)]
pub(super) struct Reach<S> {
    nodes: Vec<Node>,
    /// Per task: the node that carries what it is about, and the body; none where nothing moves it.
    seats: Vec<Option<(usize, usize)>>,
    /// The users' degrees of freedom that move no task.
    others: Vec<usize>,
    columns: Vec<Motion<S>>,
    weights: Vec<Articulated<S>>,
    pushes: Vec<Force<S>>,
    /// What is handed in from side branches.
    p: Vec<Articulated<S>>,
    z: Vec<Force<S>>,
    gains: Vec<[S; 6]>,
    d_inv: Vec<S>,
    eps: Vec<S>,
    lambda: Vec<Motion<S>>,
}

impl<S: Scalar> Reach<S> {
    /// None for tasks between two moving links, about the centre of mass or about shapes, and where a follower moves one.
    pub(super) fn new(m: &Mechanism, tasks: &[Task]) -> Option<Self> {
        let c = &m.compiled;
        let body = |task: &Task| task.frame().and_then(|f| m.placed[f.index()].body);
        let mut marked = vec![false; c.bodies.len()];
        for task in tasks {
            let between = task.other.is_some_and(|f| m.placed[f.index()].body.is_some());
            if between || matches!(task.goal, Goal::Com { .. } | Goal::Clear { .. }) {
                return None;
            }
            let mut next = body(task);
            while let Some(k) = next {
                marked[k] = true;
                next = c.bodies[k].parent;
            }
        }
        let mut users = vec![None; c.nv];
        match &c.reduction {
            None => users.iter_mut().enumerate().for_each(|(i, user)| *user = Some(i)),
            Some(r) => {
                for (i, &v) in r.independent.iter().enumerate() {
                    users[v] = Some(i);
                }
            }
        }
        let (mut first, mut nodes) = (vec![0; c.bodies.len()], Vec::new());
        for (k, body) in c.bodies.iter().enumerate().rev().filter(|(k, _)| marked[*k]) {
            first[k] = nodes.len();
            for column in body.v..body.v + body.dofs {
                nodes.push(Node {
                    column,
                    dof: users[column]?,
                    inner: Some(nodes.len() + 1),
                    continues: false,
                    joins: false,
                    is_weighed: false,
                });
            }
        }
        for (k, body) in c.bodies.iter().enumerate().filter(|(k, _)| marked[*k]) {
            // Every body that is left by the compiler moves on its parent.
            nodes[first[k] + body.dofs.checked_sub(1)?].inner = body.parent.map(|p| first[p]);
        }
        for i in 0..nodes.len() {
            if let Some(inner) = nodes[i].inner {
                match inner == i + 1 {
                    true => nodes[inner].continues = true,
                    false => nodes[inner].joins = true,
                }
            }
        }
        let seats: Vec<_> = tasks.iter().map(|t| body(t).map(|k| (first[k], k))).collect();
        for (node, _) in seats.iter().flatten() {
            nodes[*node].is_weighed = true;
        }
        let mut moves = vec![false; m.nv()];
        nodes.iter().for_each(|node| moves[node.dof] = true);
        let n = nodes.len();
        Some(Self {
            seats,
            others: (0..m.nv()).filter(|&dof| !moves[dof]).collect(),
            columns: vec![Motion::ZERO; n],
            weights: vec![Articulated::ZERO; n],
            pushes: vec![Force::ZERO; n],
            p: vec![Articulated::ZERO; n],
            z: vec![Force::ZERO; n],
            gains: vec![[S::ZERO; 6]; n],
            d_inv: vec![S::ZERO; n],
            eps: vec![S::ZERO; n],
            lambda: vec![Motion::ZERO; n],
            nodes,
        })
    }

    /// Takes up tasks as they are seen, one each: J*Ge over the users' degrees of freedom.
    pub(super) fn take(&mut self, instructions: Instructions, world: &World<S>, looks: &[Look<S>], gradient: &mut [S]) {
        instructions.perform::<S, _>(Take {
            reach: self,
            world,
            looks,
            gradient,
        });
    }

    /// x = (A + ΣJ*GJ)⁻¹b over the users' degrees of freedom.
    pub(super) fn solve(&mut self, instructions: Instructions, a: &[S], b: &[S], out: &mut [S]) {
        instructions.perform::<S, _>(Solve { reach: self, a, b, out });
    }

    /// The motions at x of the links that tasks are about.
    pub(super) fn move_links(&mut self, x: &[S]) {
        for i in (0..self.nodes.len()).rev() {
            let node = &self.nodes[i];
            let inner = node.inner.map_or(Motion::ZERO, |j| self.lambda[j]);
            self.lambda[i] = inner + self.columns[i] * x[node.dof];
        }
    }

    /// The motion of the link that a task is about, at its home.
    pub(super) fn motion(&self, task: usize) -> Motion<S> {
        self.seats[task].map_or(Motion::ZERO, |(node, _)| self.lambda[node])
    }

    /// The body that a task is about.
    pub(super) fn body(&self, task: usize) -> Option<usize> {
        self.seats[task].map(|(_, body)| body)
    }
}

/// Takes up tasks as they are seen: [`Reach::take`].
pub(super) struct Take<'a, S> {
    pub(super) reach: &'a mut Reach<S>,
    pub(super) world: &'a World<S>,
    pub(super) looks: &'a [Look<S>],
    pub(super) gradient: &'a mut [S],
}

impl<S: Scalar> simd::Task for Take<'_, S> {
    #[inline(always)]
    fn run(self) {
        let Self {
            reach: r,
            world,
            looks,
            gradient,
        } = self;
        for i in 0..r.nodes.len() {
            r.columns[i] = world.columns[r.nodes[i].column];
            if r.nodes[i].is_weighed {
                r.weights[i] = Articulated::ZERO;
                r.pushes[i] = Force::ZERO;
            }
            if r.nodes[i].joins {
                r.z[i] = Force::ZERO;
            }
        }
        for i in 0..looks.len() {
            let Some((node, body)) = r.seats[i] else { continue };
            let look = &looks[i];
            let arm = look.at - world.homes[body];
            r.weights[node] += weight_at_home(arm, &look.g);
            let [turn, push] = look.force;
            r.pushes[node] += Force::new(turn + arm.cross(push), push);
        }
        let mut last = Force::ZERO;
        for i in 0..r.nodes.len() {
            let node = &r.nodes[i];
            let mut f = if node.continues { last } else { Force::ZERO };
            if node.joins {
                f += r.z[i];
            }
            if node.is_weighed {
                f += r.pushes[i];
            }
            gradient[node.dof] = dot(&r.columns[i].to_array(), &f.to_array());
            match node.inner {
                Some(j) if j != i + 1 => r.z[j] += f,
                _ => last = f,
            }
        }
        for i in 0..r.others.len() {
            gradient[r.others[i]] = S::ZERO;
        }
    }
}

/// X*GX of weights that are taken at a place so far from home.
#[inline(always)]
fn weight_at_home<S: Scalar>(arm: Vec3<S>, [turning, moving]: &[[S; 6]; 2]) -> Articulated<S> {
    let m = moving;
    // Columns of r~G, and then its rows.
    let x = arm.cross(Vec3::new(m[0], m[1], m[2]));
    let y = arm.cross(Vec3::new(m[1], m[3], m[4]));
    let z = arm.cross(Vec3::new(m[2], m[4], m[5]));
    let b = [[x.x, y.x, z.x], [x.y, y.y, z.y], [x.z, y.z, z.z]];
    let across = |i: usize| arm.cross(Vec3::new(b[i][0], b[i][1], b[i][2]));
    let (x, y, z, t) = (across(0), across(1), across(2), turning);
    Articulated {
        a: [t[0] + x.x, t[1] + x.y, t[2] + x.z, t[3] + y.y, t[4] + y.z, t[5] + z.z],
        b,
        c: *m,
    }
}

#[inline(always)]
fn dot<S: Scalar>(a: &[S; 6], b: &[S; 6]) -> S {
    let (mut x, mut y) = (a[0] * b[0], a[3] * b[3]);
    x = a[1].mul_add(b[1], x);
    y = a[4].mul_add(b[4], y);
    x = a[2].mul_add(b[2], x);
    y = a[5].mul_add(b[5], y);
    x + y
}

/// Eliminates: [`Reach::solve`].
pub(super) struct Solve<'a, S> {
    pub(super) reach: &'a mut Reach<S>,
    pub(super) a: &'a [S],
    pub(super) b: &'a [S],
    pub(super) out: &'a mut [S],
}

impl<S: Scalar> simd::Task for Solve<'_, S> {
    #[inline(always)]
    fn run(self) {
        let Self { reach: r, a, b, out } = self;
        let n = r.nodes.len();
        for i in 0..n {
            if r.nodes[i].joins {
                r.p[i] = Articulated::ZERO;
                r.z[i] = Force::ZERO;
            }
        }
        let (mut p, mut z) = (Articulated::ZERO, Force::ZERO);
        for i in 0..n {
            let node = &r.nodes[i];
            if !node.continues {
                (p, z) = (Articulated::ZERO, Force::ZERO);
            }
            if node.joins {
                p += r.p[i];
                z += r.z[i];
            }
            if node.is_weighed {
                p += r.weights[i];
            }
            let s = r.columns[i];
            let (u, s) = (p.times(s).to_array(), s.to_array());
            // Rounding must not make it negative.
            let own = dot(&s, &u);
            let d = own.where_below(0.0, S::ZERO, own) + a[node.dof];
            let d_inv = d.recip();
            let g = [
                u[0] * d_inv,
                u[1] * d_inv,
                u[2] * d_inv,
                u[3] * d_inv,
                u[4] * d_inv,
                u[5] * d_inv,
            ];
            let eps = b[node.dof] - dot(&s, &z.to_array());
            (r.gains[i], r.d_inv[i], r.eps[i]) = (g, d_inv, eps);
            let Some(inner) = node.inner else { continue };
            p.subtract_outer(g, u);
            z += Force::from_array([g[0] * eps, g[1] * eps, g[2] * eps, g[3] * eps, g[4] * eps, g[5] * eps]);
            if inner != i + 1 {
                r.p[inner] += p;
                r.z[inner] += z;
            }
        }
        for i in (0..n).rev() {
            let node = &r.nodes[i];
            let inner = match node.inner {
                Some(j) => r.lambda[j],
                None => Motion::ZERO,
            };
            let x = r.d_inv[i] * r.eps[i] - dot(&r.gains[i], &inner.to_array());
            r.lambda[i] = inner + r.columns[i] * x;
            out[node.dof] = x;
        }
        for i in 0..r.others.len() {
            let dof = r.others[i];
            out[dof] = b[dof] * a[dof].recip();
        }
    }
}
