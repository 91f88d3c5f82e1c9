//! A mechanism as its dense operators: the definitions themselves, with nothing clever.
//!
//! Everything is in the users' link frames, links in the order of `Mechanism::links`, degrees of freedom in the order
//! of v. Fixed joints have no columns; a universal joint is one joint whose H depends on q. Built from public data only.

use super::matrix::{Matrix, dot};
use super::rigid::{axes, crf, crm, force_in, from_pose, inverse, motion, motion_in, origin, spatial_inertia, tilde};
use linkwork::Mechanism;
use std::ops::Range;

/// Where the velocity of a frame is taken and in whose axes it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// At the world's origin, in the world's axes.
    World,
    /// At the frame's origin, in its own axes.
    Local,
    /// At the frame's origin, in the world's axes.
    Aligned,
}

pub const REFERENCES: [Reference; 3] = [Reference::World, Reference::Local, Reference::Aligned];

/// A frame's name, the link it is fixed to (none: the world) and its 4×4 there.
type NamedFrame = (String, Option<usize>, Matrix);

/// A mechanism at q and q̇.
pub struct Dense {
    pub nv: usize,
    /// Per link: its parent, none for the world.
    pub parent: Vec<Option<usize>>,
    /// Links with every parent before its children.
    pub order: Vec<usize>,
    /// Per link: the degrees of freedom of its joint.
    pub dofs: Vec<Range<usize>>,
    /// Per link: whether any joint moves it. What is welded to the world is the world.
    pub moves: Vec<bool>,
    /// Per link: its pose in the world, 4×4.
    pub world: Vec<Matrix>,
    /// World, links and named frames.
    pub frames: Vec<NamedFrame>,
    /// φ, 6L×6L.
    pub phi: Matrix,
    /// H, nv×6L.
    pub H: Matrix,
    /// Its rate as seen in the link frames.
    pub H_rate: Matrix,
    /// M, 6L×6L.
    pub M: Matrix,
    /// φ*H*, 6L×nv: every link's Jacobian.
    pub J: Matrix,
    /// V = φ*H*q̇.
    pub V: Vec<f64>,
    /// a = crm(V) H*q̇ + Ḣ*q̇.
    pub a: Vec<f64>,
    /// b = crf(V) M V, without gravity and external forces.
    pub b: Vec<f64>,
    /// Rotor inertia per degree of freedom.
    pub armature: Vec<f64>,
    pub gravity: [f64; 3],
    pub qd: Vec<f64>,
}

impl Dense {
    pub fn new(mechanism: &Mechanism, q: &[f64], qd: &[f64]) -> Self {
        let (links, nv) = (mechanism.links(), mechanism.nv());
        let n = links.len();
        assert_eq!((q.len(), qd.len()), (mechanism.nq(), nv));
        let find = |name: &str| links.iter().position(|l| l.name == name);
        let joint_of = |k: usize| {
            mechanism
                .joints()
                .iter()
                .position(|j| j.child == links[k].name)
                .unwrap()
        };
        let joints: Vec<usize> = (0..n).map(joint_of).collect();
        let parent: Vec<Option<usize>> = joints.iter().map(|&j| find(&mechanism.joints()[j].parent)).collect();
        let order = outward(&parent);

        let mut world = vec![Matrix::identity(4); n];
        let (mut H, mut H_rate) = (Matrix::zeros(nv, 6 * n), Matrix::zeros(nv, 6 * n));
        let mut M = Matrix::zeros(6 * n, 6 * n);
        let (mut dofs, mut moves, mut armature) = (vec![0..0; n], vec![false; n], vec![0.0; nv]);
        for &k in &order {
            let joint = &mechanism.joints()[joints[k]];
            let id = mechanism.joint(&joint.name).unwrap();
            let v = mechanism.v_range(id).unwrap();
            let now = motion(&joint.kind, &q[mechanism.q_range(id).unwrap()], &qd[v.clone()]);
            let inner = parent[k].map_or(Matrix::identity(4), |p| world[p].clone());
            world[k] = inner * from_pose(&joint.origin) * now.pose;
            H.set_block(v.start, 6 * k, &now.subspace.t());
            H_rate.set_block(v.start, 6 * k, &now.rate.t());
            M.set_block(6 * k, 6 * k, &spatial_inertia(&links[k].inertia));
            for (i, dof) in v.clone().enumerate() {
                armature[dof] = match joint.armature[..] {
                    [] => 0.0,
                    [one] => one,
                    ref each => each[i],
                };
            }
            moves[k] = !v.is_empty() || parent[k].is_some_and(|p| moves[p]);
            dofs[k] = v;
        }

        // Block (i, j) is the rigid transformation from j to its ancestor-or-self i.
        let mut phi = Matrix::zeros(6 * n, 6 * n);
        for j in 0..n {
            let mut ancestor = Some(j);
            while let Some(i) = ancestor {
                phi.set_block(6 * i, 6 * j, &force_in(&(inverse(&world[i]) * &world[j])));
                ancestor = parent[i];
            }
        }
        let J = phi.t() * H.t();
        let V = J.apply(qd);
        let own = H.t().apply(qd);
        let mut a = H_rate.t().apply(qd);
        let mut b = M.apply(&V);
        for k in 0..n {
            let (v, at) = (&V[6 * k..6 * k + 6], 6 * k..6 * k + 6);
            let coriolis = crm(v).apply(&own[at.clone()]);
            a[at.clone()].iter_mut().zip(coriolis).for_each(|(a, c)| *a += c);
            let gyroscopic = crf(v).apply(&b[at.clone()]);
            b[at].copy_from_slice(&gyroscopic);
        }

        let mut frames = vec![("world".to_owned(), None, Matrix::identity(4))];
        frames.extend(
            links
                .iter()
                .enumerate()
                .map(|(k, l)| (l.name.clone(), Some(k), Matrix::identity(4))),
        );
        let named = mechanism.frames().iter();
        frames.extend(named.map(|f| (f.name.clone(), find(&f.link), from_pose(&f.pose))));
        Self {
            nv,
            parent,
            order,
            dofs,
            moves,
            world,
            frames,
            phi,
            H,
            H_rate,
            M,
            J,
            V,
            a,
            b,
            armature,
            gravity: mechanism.gravity().to_array(),
            qd: qd.to_vec(),
        }
    }

    pub fn links(&self) -> usize {
        self.parent.len()
    }

    /// M(k), P(k) …: the 6×6 block of a link.
    pub fn own(&self, x: &Matrix, k: usize) -> Matrix {
        x.block(6 * k, 6 * k, 6, 6)
    }

    /// 𝓜 = HφMφ*H*, and the rotors.
    pub fn mass_matrix(&self) -> Matrix {
        self.J.t() * (&self.M * &self.J) + Matrix::diagonal(&self.armature)
    }

    /// d𝓜/dt along q̇.
    pub fn mass_matrix_rate(&self) -> Matrix {
        let half = self.jacobians_rate().t() * (&self.M * &self.J);
        &half + half.t()
    }

    /// α = φ*(H*q̈ + a), without gravity: the spatial acceleration of every link, 6L numbers.
    pub fn accelerations(&self, qdd: &[f64]) -> Vec<f64> {
        plus(&self.J.apply(qdd), &self.phi.t().apply(&self.a))
    }

    /// The acceleration that stands in for gravity: [0; −g] of the base, seen from every link.
    fn lift(&self) -> Vec<f64> {
        let seen = |x: &Matrix| axes(x).t().scale(-1.0).apply(&self.gravity);
        self.world
            .iter()
            .flat_map(|x| [vec![0.0; 3], seen(x)].concat())
            .collect()
    }

    /// f = φ(Mα + b − external): the force that each link's joint passes on, about and in the link's frame.
    /// `external` has [N; F] per link, in the link's frame.
    pub fn reactions(&self, qdd: &[f64], external: Option<&[f64]>) -> Vec<f64> {
        let alpha = plus(&self.accelerations(qdd), &self.lift());
        let mut f = plus(&self.M.apply(&alpha), &self.b);
        if let Some(external) = external {
            f.iter_mut().zip(external).for_each(|(f, x)| *f -= x);
        }
        self.phi.apply(&f)
    }

    /// T = Hf.
    pub fn inverse_dynamics(&self, qdd: &[f64], external: Option<&[f64]>) -> Vec<f64> {
        let rotors = Matrix::diagonal(&self.armature).apply(qdd);
        plus(&self.H.apply(&self.reactions(qdd, external)), &rotors)
    }

    /// q̈ = 𝓜⁻¹(T − C).
    pub fn forward_dynamics(&self, tau: &[f64], external: Option<&[f64]>) -> Vec<f64> {
        let c = self.inverse_dynamics(&vec![0.0; self.nv], external);
        let rest: Vec<f64> = tau.iter().zip(c).map(|(t, c)| t - c).collect();
        self.mass_matrix().solve(&Matrix::column(&rest)).data
    }

    /// C: inverse dynamics at q̈ = 0, gravity included.
    pub fn bias(&self) -> Vec<f64> {
        self.inverse_dynamics(&vec![0.0; self.nv], None)
    }

    /// What holds the mechanism still.
    pub fn gravity_torque(&self) -> Vec<f64> {
        self.J.t().apply(&self.M.apply(&self.lift()))
    }

    /// ½q̇*𝓜q̇, rotors included.
    pub fn kinetic_energy(&self) -> f64 {
        0.5 * dot(&self.qd, &self.mass_matrix().apply(&self.qd))
    }

    /// −Σ m g·c.
    pub fn potential_energy(&self) -> f64 {
        -self.mass() * dot(&self.gravity, &self.com())
    }

    /// The mass of all that moves.
    pub fn mass(&self) -> f64 {
        (0..self.links())
            .filter(|&k| self.moves[k])
            .map(|k| self.M.at(6 * k + 3, 6 * k + 3))
            .sum()
    }

    /// The centre of mass of all that moves, in the world.
    pub fn com(&self) -> Vec<f64> {
        let mut sum = Matrix::zeros(3, 1);
        for k in (0..self.links()).filter(|&k| self.moves[k]) {
            // The upper right block is m p̃.
            let M = self.own(&self.M, k);
            let first = [M.at(2, 4), M.at(0, 5), M.at(1, 3)];
            let turned = axes(&self.world[k]).apply(&first);
            sum = sum + Matrix::column(&turned) + Matrix::column(&origin(&self.world[k])).scale(M.at(3, 3));
        }
        sum.scale(1.0 / self.mass()).data
    }

    /// The velocity of the centre of mass per q̇, 3×nv.
    pub fn com_jacobian(&self) -> Matrix {
        self.centroidal().block(3, 0, 3, self.nv).scale(1.0 / self.mass())
    }

    /// The centroidal momentum matrix, 6×nv: momentum about the centre of mass, in the world's axes, without rotors.
    pub fn centroidal(&self) -> Matrix {
        about(&self.com()) * self.momentum()
    }

    /// Its rate along q̇.
    pub fn centroidal_rate(&self) -> Matrix {
        let mut rate = Matrix::zeros(6, self.nv);
        let MJ = &self.M * &self.J;
        let MJ_rate = &self.M * self.jacobians_rate();
        for k in 0..self.links() {
            let rows = |x: &Matrix| x.block(6 * k, 0, 6, self.nv);
            rate = rate + force_in(&self.world[k]) * (crf(&self.V[6 * k..6 * k + 6]) * rows(&MJ) + rows(&MJ_rate));
        }
        let drift = about(&self.com_jacobian().apply(&self.qd)) - Matrix::identity(6);
        about(&self.com()) * rate + drift * self.momentum()
    }

    /// Momentum about the world's origin per q̇.
    fn momentum(&self) -> Matrix {
        let MJ = &self.M * &self.J;
        let seen = |k: usize| force_in(&self.world[k]) * MJ.block(6 * k, 0, 6, self.nv);
        (0..self.links())
            .map(seen)
            .fold(Matrix::zeros(6, self.nv), |sum, x| sum + x)
    }

    /// The rate of φ*H*: φ*(crm(V)H* + Ḣ*) − crm(V)φ*H*.
    pub fn jacobians_rate(&self) -> Matrix {
        let mut cross = Matrix::zeros(6 * self.links(), 6 * self.links());
        for k in 0..self.links() {
            cross.set_block(6 * k, 6 * k, &crm(&self.V[6 * k..6 * k + 6]));
        }
        self.phi.t() * (&cross * self.H.t() + self.H_rate.t()) - cross * &self.J
    }

    fn frame(&self, name: &str) -> &NamedFrame {
        self.frames.iter().find(|f| f.0 == name).unwrap()
    }

    /// The pose of a link, a named frame or the world, in the world, 4×4.
    pub fn pose(&self, frame: &str) -> Matrix {
        let (_, link, pose) = self.frame(frame);
        link.map_or(pose.clone(), |k| &self.world[k] * pose)
    }

    /// The Jacobian of a frame, 6×nv, rows [ω; v].
    pub fn jacobian(&self, frame: &str, reference: Reference) -> Matrix {
        self.seen(frame, reference) * self.local(frame, &self.J)
    }

    /// The rate of that matrix along q̇.
    pub fn jacobian_rate(&self, frame: &str, reference: Reference) -> Matrix {
        let v = self.velocity(frame, Reference::Local);
        // How the axes that the rows are written in turn, seen from the frame.
        let drift = match reference {
            Reference::World => crm(&v),
            Reference::Local => Matrix::zeros(6, 6),
            Reference::Aligned => crm(&[&v[..3], &[0.0; 3]].concat()),
        };
        let local = self.local(frame, &self.jacobians_rate()) + drift * self.local(frame, &self.J);
        self.seen(frame, reference) * local
    }

    /// [ω; v] of a frame.
    pub fn velocity(&self, frame: &str, reference: Reference) -> Vec<f64> {
        self.jacobian(frame, reference).apply(&self.qd)
    }

    /// The rate of `velocity` as the six numbers they are, J q̈ + J̇q̇: the spatial acceleration for `World` and `Local`,
    /// the acceleration of the frame's origin for `Aligned`.
    pub fn acceleration(&self, frame: &str, reference: Reference, qdd: &[f64]) -> Vec<f64> {
        let rate = self.jacobian_rate(frame, reference).apply(&self.qd);
        plus(&self.jacobian(frame, reference).apply(qdd), &rate)
    }

    /// Rows of links, 6L×nv, as rows of a frame: B*.
    fn local(&self, frame: &str, links: &Matrix) -> Matrix {
        match self.frame(frame) {
            (_, Some(k), pose) => force_in(pose).t() * links.block(6 * k, 0, 6, self.nv),
            _ => Matrix::zeros(6, self.nv),
        }
    }

    /// From a frame's own axes and origin to a reference's.
    fn seen(&self, frame: &str, reference: Reference) -> Matrix {
        let mut pose = self.pose(frame);
        match reference {
            Reference::World => motion_in(&pose),
            Reference::Local => Matrix::identity(6),
            Reference::Aligned => {
                pose.set_block(0, 3, &Matrix::zeros(3, 1));
                motion_in(&pose)
            }
        }
    }
}

/// Momentum about another point: [[I, −c̃], [0, I]].
fn about(c: &[f64]) -> Matrix {
    let mut x = Matrix::identity(6);
    x.set_block(0, 3, &tilde(c).scale(-1.0));
    x
}

pub fn plus(x: &[f64], y: &[f64]) -> Vec<f64> {
    assert_eq!(x.len(), y.len());
    x.iter().zip(y).map(|(x, y)| x + y).collect()
}

/// Parents before children, whatever the order of links.
fn outward(parent: &[Option<usize>]) -> Vec<usize> {
    let depth = |k: usize| std::iter::successors(Some(k), |&i| parent[i]).count();
    let mut order: Vec<usize> = (0..parent.len()).collect();
    order.sort_by_key(|&k| depth(k));
    order
}
