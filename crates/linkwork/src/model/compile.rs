//! From links and joints as given to the form that sweeps run on.

use super::compiled::{Columns, Compiled, Part, Placed, Slide, Spins};
use super::{Joint, JointKind, Link};
use crate::body::{Body, GAP, Hinge, Layout, PACK, Passage, runs};
use crate::plan::{Bundles, Tiles, Zeros};
use crate::spatial::{Inertia, Lean, PlanarTurn, Pose, RigidBody, Rotation, Screw, Skew, Tilt, Vec3};

/// Links and joints whose names are resolved and whose tree is known to be one.
pub(crate) struct Resolved<'a> {
    pub(crate) links: &'a [Link],
    pub(crate) joints: &'a [Joint],
    /// Per link, the joint that holds it.
    pub(crate) inboard: &'a [usize],
    /// Per link, its parent link; none for the world.
    pub(crate) parent: &'a [Option<usize>],
    /// Where each joint's coordinates start.
    pub(crate) q_start: &'a [usize],
    pub(crate) v_start: &'a [usize],
    pub(crate) armature: Vec<f64>,
    pub(crate) gravity: Vec3,
}

/// The compiled mechanism.
pub(crate) fn compile(given: Resolved<'_>) -> Compiled {
    let order = depth_first(given.parent, given.inboard);
    let (mut bodies, mut placed, inertias) = merge(&given, &order);
    align(&mut bodies, &mut placed, &given.armature);
    for (body, inertia) in bodies.iter_mut().zip(&inertias) {
        body.inertia = RigidBody::from(inertia);
    }
    // Inertias were gathered in frames that `align` has since turned: bring them along.
    for (body, turn) in bodies.iter_mut().zip(&placed.turned) {
        body.inertia = body.inertia.through(&turn.inverse());
    }
    lade(&mut bodies);
    let branches = connect(&mut bodies);
    let nq = given.joints.iter().map(|j| j.kind.nq()).sum();
    let link_space = link_space(&given, &placed);
    let columns = columns(&bodies, &given.armature);
    let refines = carries_heavy(&bodies);
    Compiled {
        nq,
        nv: given.armature.len(),
        turning: turning(&bodies),
        sliding: sliding(&bodies),
        general_links: (0..bodies.len())
            .filter(|&k| bodies[k].passage == Passage::General)
            .collect(),
        branches,
        is_chain: bodies.iter().enumerate().all(|(k, b)| b.parent == k.checked_sub(1)),
        has_armature: given.armature.iter().any(|&x| x != 0.0),
        bundles: Bundles::of(&bodies, &given.armature, &columns.single),
        refines,
        columns,
        armature: given.armature,
        gravity: given.gravity,
        link_space,
        reduction: None,
        parts: parts(&placed.links),
        link_frames: placed.links,
        bodies,
    }
}

/// By how much a link outweighs one that carries it before forward dynamics is refined: some five of sixteen digits are lost
/// without.
const HEAVY: f64 = 1e5;

/// Whether some link carries one so much heavier.
fn carries_heavy(bodies: &[Body]) -> bool {
    let mut heaviest = vec![0.0_f64; bodies.len()];
    for k in (0..bodies.len()).rev() {
        let own = bodies[k].inertia.mass;
        if own > 0.0 && heaviest[k] > HEAVY * own {
            return true;
        }
        if let Some(p) = bodies[k].parent {
            heaviest[p] = heaviest[p].max(heaviest[k]).max(own);
        }
    }
    false
}

/// Every link that turns or slides along an axis leaves to its parent, or to the world, what is the same wherever it is.
fn lade(bodies: &mut [Body]) {
    bodies.iter_mut().for_each(|body| body.laden = body.inertia);
    for k in (0..bodies.len()).rev() {
        let left = match bodies[k].hinge {
            Hinge::Revolute => bodies[k].laden.take_off_symmetric(),
            Hinge::Prismatic => bodies[k].laden.take_off_turning(),
            _ => continue,
        };
        let body = bodies[k];
        if let Some(p) = body.parent {
            let turn = Skew {
                lean: body.lean,
                across: body.across,
            };
            let along = body.along;
            let (sin, cos) = body.theta.sin_cos();
            let own = Screw::new(cos, sin, body.shift);
            let left = left.through_screw(own).through_tilt(&Tilt { turn, along });
            bodies[p].laden += body.before.map_or(left, |z| left.through_screw(z));
        }
    }
}

/// The users' links that move, body by body.
fn parts(links: &[Placed]) -> Vec<Part> {
    let part = |(link, placed): (usize, &Placed)| {
        let (body, pose) = (placed.body?, placed.pose);
        Some(Part { body, link, pose })
    };
    let mut parts: Vec<Part> = links.iter().enumerate().filter_map(part).collect();
    parts.sort_by_key(|part| part.body);
    parts
}

/// What turns the links' screws.
fn turning(bodies: &[Body]) -> Vec<Spins> {
    let turns = |k: usize| {
        let hinge = bodies.get(k).map(|body| body.hinge);
        matches!(
            hinge,
            Some(Hinge::Revolute | Hinge::Planar | Hinge::Helical { .. } | Hinge::Cylindrical)
        )
    };
    let spins_from = |link: usize| {
        let by = |k: usize| if turns(k) { bodies[k].q } else { GAP };
        let by: [usize; PACK] = core::array::from_fn(|i| by(link + i));
        Spins {
            link,
            by,
            theta: core::array::from_fn(|i| bodies.get(link + i).map_or(0.0, |body| body.theta)),
            row: (0..PACK).all(|i| by[i] != GAP && by[i] == by[0] + i).then_some(by[0]),
            turned: 0,
        }
    };
    let (mut spins, mut k) = (Vec::new(), 0);
    while k < bodies.len() {
        if !turns(k) {
            k += 1;
            continue;
        }
        // The last few of a row are taken with some before them.
        let end = (k..k + PACK).find(|&k| !turns(k)).unwrap_or(k + PACK);
        let back = end.checked_sub(PACK).map(spins_from).filter(|back| back.row.is_some());
        spins.push(match back {
            Some(back) => Spins {
                turned: k - back.link,
                ..back
            },
            None => spins_from(k),
        });
        k = if back.is_some() { end } else { k + PACK };
    }
    spins
}

/// What slides them.
fn sliding(bodies: &[Body]) -> Vec<Slide> {
    let sliding = |(link, body): (usize, &Body)| {
        let (by, pitch) = match body.hinge {
            Hinge::Prismatic => (body.q, 1.0),
            Hinge::Helical { pitch } => (body.q, pitch),
            Hinge::Cylindrical => (body.q + 1, 1.0),
            _ => return None,
        };
        Some(Slide {
            link,
            by,
            pitch,
            shift: body.shift,
        })
    };
    bodies.iter().enumerate().filter_map(sliding).collect()
}

/// The moving links in the users' order: each one's body, and its frame seen from there. The cross of a universal joint
/// comes before the link that the joint moves.
fn link_space(given: &Resolved<'_>, places: &Places) -> Vec<(usize, Pose)> {
    let mut blocks = Vec::with_capacity(places.own.len());
    for (placed, &joint) in places.links.iter().zip(given.inboard) {
        let kind = &given.joints[joint].kind;
        let (Some(k), true) = (placed.body, kind.nv() > 0) else {
            continue;
        };
        if let JointKind::Universal { .. } = kind {
            blocks.push((k - 1, places.own[k - 1]));
        }
        blocks.push((k, places.own[k]));
    }
    blocks
}

/// Links so that every parent comes before its children, and each subtree is contiguous; siblings by joint order.
fn depth_first(parent: &[Option<usize>], inboard: &[usize]) -> Vec<usize> {
    let n = parent.len();
    let mut by_joint: Vec<usize> = (0..n).collect();
    by_joint.sort_unstable_by_key(|&l| core::cmp::Reverse(inboard[l]));
    // Children as linked lists: the last link pushed, the one of the earliest joint, is visited first.
    let (mut first, mut next) = (vec![None; n], vec![None; n]);
    let mut stack = Vec::new();
    for &l in &by_joint {
        match parent[l] {
            Some(p) => {
                next[l] = first[p];
                first[p] = Some(l);
            }
            None => stack.push(l),
        }
    }
    let mut order = Vec::with_capacity(n);
    let mut siblings = Vec::new();
    while let Some(l) = stack.pop() {
        order.push(l);
        siblings.clear();
        let mut child = first[l];
        while let Some(c) = child {
            siblings.push(c);
            child = next[c];
        }
        stack.extend(siblings.iter().rev());
    }
    order
}

/// Where things are while compiling.
struct Places {
    /// Per user link.
    links: Vec<Placed>,
    /// Per compiled link: its final frame seen from the frame its inertia was gathered in.
    turned: Vec<Pose>,
    /// Per compiled link: the frame that users know it by, seen from its own.
    own: Vec<Pose>,
}

/// One body per moving joint (two for a universal one); fixed links join the body that carries them.
/// Bodies still have the frames of the links as given, and `placement` is the joint's frame at q = 0.
fn merge(given: &Resolved<'_>, order: &[usize]) -> (Vec<Body>, Places, Vec<Inertia>) {
    let mut bodies: Vec<Body> = Vec::with_capacity(order.len());
    let mut inertias: Vec<Inertia> = Vec::with_capacity(order.len());
    let world = Placed {
        body: None,
        pose: Pose::IDENTITY,
    };
    let mut links = vec![world; order.len()];
    let mut own = Vec::with_capacity(order.len());
    for &l in order {
        let j = given.inboard[l];
        let joint = &given.joints[j];
        let inner = given.parent[l].map_or(world, |p| links[p]);
        let placement = inner.pose * joint.origin;
        let mut add = |parent, hinge, placement, dof, inertia| {
            bodies.push(Body {
                parent,
                hinge,
                dofs: hinge.axes().len(),
                revolute: hinge == Hinge::Revolute,
                turns: false,
                q: given.q_start[j] + dof,
                v: given.v_start[j] + dof,
                passage: Passage::Root,
                before: None,
                lean: Lean { cos: 1.0, sin: 0.0 },
                along: 0.0,
                across: 0.0,
                aside: None,
                theta: 0.0,
                shift: 0.0,
                inertia: RigidBody::ZERO,
                laden: RigidBody::ZERO,
                has_child: false,
                branch: None,
                hands_to: None,
                end: 0,
                root: 0,
                placement,
                floats: false,
                at_origin: false,
                general: 0,
            });
            inertias.push(inertia);
            bodies.len() - 1
        };
        let inertia = given.links[l].inertia;
        // `turn` leads from the body's frame, whose z is the joint's axis, to the link's own.
        let mut single = |hinge, axis: Option<Vec3>| {
            let turn = axis.map_or(Pose::IDENTITY, along_z);
            let seen = inertia.seen_from(&turn.inverse());
            let k = add(inner.body, hinge, placement * turn, 0, seen);
            own.push(turn.inverse());
            Placed {
                body: Some(k),
                pose: turn.inverse(),
            }
        };
        links[l] = match joint.kind {
            JointKind::Fixed => {
                if let Some(k) = inner.body {
                    inertias[k] = inertias[k].with(&inertia.seen_from(&placement));
                }
                Placed {
                    body: inner.body,
                    pose: placement,
                }
            }
            JointKind::Revolute { axis } | JointKind::Continuous { axis } => single(Hinge::Revolute, Some(axis)),
            JointKind::Prismatic { axis } => single(Hinge::Prismatic, Some(axis)),
            JointKind::Helical { axis, pitch } => single(Hinge::Helical { pitch }, Some(axis)),
            JointKind::Cylindrical { axis } => single(Hinge::Cylindrical, Some(axis)),
            JointKind::Planar => single(Hinge::Planar, None),
            JointKind::Translation => single(Hinge::Translation, None),
            JointKind::Spherical => single(Hinge::Spherical, None),
            JointKind::Free => single(Hinge::Free, None),
            JointKind::Universal { axes } => {
                let [first, second] = axes.map(along_z);
                let cross = add(inner.body, Hinge::Revolute, placement * first, 0, Inertia::ZERO);
                let seen = inertia.seen_from(&second.inverse());
                let k = add(Some(cross), Hinge::Revolute, first.inverse() * second, 1, seen);
                own.extend([first.inverse(), second.inverse()]);
                Placed {
                    body: Some(k),
                    pose: second.inverse(),
                }
            }
        };
    }
    let turned = vec![Pose::IDENTITY; bodies.len()];
    (bodies, Places { links, turned, own }, inertias)
}

/// The least turn that takes z to an axis.
fn along_z(axis: Vec3) -> Pose {
    let z = axis * (1.0 / axis.norm());
    let across = Vec3::new(-z.y, z.x, 0.0);
    let sin = across.norm();
    let rotation = if sin < 1e-150 {
        // Along z already, or against it: half a turn about x.
        let s = z.z.signum();
        Rotation::from_rows([[1.0, 0.0, 0.0], [0.0, s, 0.0], [0.0, 0.0, s]])
    } else {
        let x = Vec3::new(z.x * z.z / sin, z.y * z.z / sin, -sin);
        let y = Vec3::new(-z.y / sin, z.x / sin, 0.0);
        Rotation { x, y, z }
    };
    Pose::from_rotation(rotation)
}

/// Factors every placement into screw, tilt and screw, and lets each parent absorb the inner screw of its first child.
fn align(bodies: &mut [Body], places: &mut Places, armature: &[f64]) {
    let mut generals = 0;
    for k in 0..bodies.len() {
        let mut body = bodies[k];
        if let Some(p) = body.parent {
            // The parent's frame may have moved since the placement was taken.
            body.placement = places.turned[p].inverse() * body.placement;
        }
        if !body.hinge.is_screw() {
            body.passage = Passage::General;
            body.general = generals;
            body.at_origin = body.placement == Pose::IDENTITY;
            let rotors = &armature[body.v..body.v + body.dofs];
            let is_free = matches!(body.hinge, Hinge::Free);
            body.floats = is_free && body.parent.is_none() && rotors.iter().all(|&rotor| rotor == 0.0);
            generals += 1;
        } else if let Some(p) = body.parent {
            let factors = factor(&body.placement);
            (body.theta, body.shift) = factors.outer;
            (body.lean, body.along, body.across) = (factors.lean, factors.along, factors.across);
            let (angle, shift) = factors.inner;
            // Only for the first child: no placement in the parent's frame has been taken yet.
            if bodies[p].hinge.is_screw() && p + 1 == k {
                bodies[p].theta += angle;
                bodies[p].shift = rounded(bodies[p].shift + shift, shift);
                places.turned[p] = places.turned[p] * screw_pose(angle, shift);
            } else if angle != 0.0 || shift != 0.0 {
                let (sin, cos) = angle.sin_cos();
                body.before = Some(Screw::new(cos, sin, shift));
            }
            let shift = body.before.map_or(0.0, |z| z.shift);
            if body.across != 0.0 || shift != 0.0 {
                let (y, z) = body.lean.pair_back(body.across, shift);
                body.aside = Some([y, z]);
            }
            body.turns = body.revolute && armature[body.v] == 0.0;
            body.passage = passage(&body);
        }
        bodies[k] = body;
    }
    for placed in &mut places.links {
        if let Some(k) = placed.body {
            placed.pose = places.turned[k].inverse() * placed.pose;
        }
    }
    for (own, turned) in places.own.iter_mut().zip(&places.turned) {
        *own = turned.inverse() * *own;
    }
}

/// The name of the way to a moving parent.
fn passage(body: &Body) -> Passage {
    let flat = body.lean.sin == 0.0 && body.lean.cos > 0.0;
    let quarter = body.lean.cos == 0.0;
    match body.hinge {
        _ if body.turns && flat => Passage::TurnFlat,
        _ if body.turns && quarter => Passage::TurnQuarter,
        _ if body.turns && body.across == 0.0 => Passage::TurnLean,
        Hinge::Prismatic if quarter => Passage::SlideQuarter,
        _ if flat => Passage::ScrewFlat,
        _ if quarter => Passage::ScrewQuarter,
        _ if body.across == 0.0 => Passage::ScrewLean,
        _ => Passage::ScrewSkew,
    }
}

fn screw_pose(angle: f64, shift: f64) -> Pose {
    let (s, c) = angle.sin_cos();
    let rotation = Rotation::from_rows([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]);
    Pose::new(rotation, [0.0, 0.0, shift])
}

struct Factored {
    /// Angle and shift of the screw about the parent's z.
    inner: (f64, f64),
    lean: Lean,
    along: f64,
    across: f64,
    /// Angle and shift of the screw about the child's z.
    outer: (f64, f64),
}

/// Below this sine of the angle between two axes their common normal is too far away to be used.
const NEARLY_PARALLEL: f64 = 0.3;
/// Below this a sine or cosine is rounding.
const ROUNDING: f64 = 1e-15;

/// T = Z(inner) X(lean) Z(outer).
fn factor(t: &Pose) -> Factored {
    let (r, l) = (&t.rotation, t.translation);
    let sin = r.z.x.hypot(r.z.y);
    let cos = r.z.z;
    let parallel = sin < ROUNDING;
    // The inner turn brings x to the common normal of the two axes; parallel axes have many, and the one through
    // the child's origin leaves nothing to shift across.
    let inner_angle = if !parallel {
        r.z.x.atan2(-r.z.y)
    } else if l.x.hypot(l.y) > 0.0 {
        l.y.atan2(l.x)
    } else {
        0.0
    };
    let unturned = screw_pose(inner_angle, 0.0).inverse() * *t;
    let l = unturned.translation;
    // What remains after inner turn and tilt is a turn about z; its x axis lies in the first column.
    let x = unturned.rotation.x;
    let outer_angle = cos.mul_add(x.y, sin * x.z).atan2(x.x);
    // Slide along the child's axis, (0, −sin, cos), moves its origin to the common normal.
    let slide = if sin > NEARLY_PARALLEL { -l.y / sin } else { 0.0 };
    let across = if sin > NEARLY_PARALLEL || parallel { 0.0 } else { l.y };
    let lean = if cos.abs() < ROUNDING {
        Lean { cos: 0.0, sin: 1.0 }
    } else if parallel {
        Lean {
            cos: cos.signum(),
            sin: 0.0,
        }
    } else {
        Lean { cos, sin }
    };
    let length = t.translation.norm();
    Factored {
        inner: (inner_angle, rounded(l.z - slide * cos, length)),
        lean,
        along: rounded(l.x, length),
        across,
        outer: (outer_angle, rounded(slide, length)),
    }
}

/// A length, or zero where it is only what rounding left of others.
fn rounded(x: f64, other: f64) -> f64 {
    if x.abs() < ROUNDING * other.abs() { 0.0 } else { x }
}

/// Fills in what depends on the neighbours, and counts.
fn connect(bodies: &mut [Body]) -> usize {
    let n = bodies.len();
    let mut branches = 0;
    for k in (0..n).rev() {
        bodies[k].end = bodies[k].end.max(k + 1);
        if let Some(p) = bodies[k].parent {
            bodies[p].end = bodies[p].end.max(bodies[k].end);
            if p + 1 == k {
                bodies[p].has_child = true;
            } else {
                if bodies[p].branch.is_none() {
                    bodies[p].branch = Some(branches);
                    branches += 1;
                }
                bodies[k].hands_to = bodies[p].branch;
            }
        }
    }
    for k in 0..n {
        bodies[k].root = bodies[k].parent.map_or(k, |p| bodies[p].root);
    }
    branches
}

/// The degrees of freedom as columns.
fn columns(bodies: &[Body], armature: &[f64]) -> Columns {
    // Beyond this a dense matrix is no longer small, nor asked for at every step.
    const LARGE: usize = 1000;
    const NOT_SMALL: usize = 40;
    let (n, nv) = (bodies.len(), armature.len());
    let single = layout(bodies);
    let mut rows = vec![0];
    for (c, end) in single.end_at.iter().enumerate() {
        rows.push(rows[c] + (end - c));
    }
    let mut level = vec![0; n];
    for k in 0..n {
        level[k] = match bodies[k].parent {
            Some(p) if bodies[k].end == bodies[p].end => level[p],
            Some(p) => level[p] + 1,
            None => 0,
        };
    }
    // Multiplications per element of 𝓜⁻¹: one per common ancestor, or twelve.
    let (mut product, mut sweep) = (0, 0);
    for (k, body) in bodies.iter().enumerate() {
        let (subtree, rest) = (single.end[k] - single.start[k], single.end[body.root] - single.start[k]);
        product += body.dofs * subtree * subtree / 2;
        sweep += body.dofs * rest * 12;
    }
    Columns {
        zeros: (nv <= NOT_SMALL).then(|| Zeros::of(&single)),
        tiles: (product < sweep && nv <= LARGE)
            .then(|| Tiles::new(bodies, armature, &single))
            .flatten(),
        in_users_order: single.dof.iter().enumerate().all(|(i, &v)| i == v),
        runs: runs(&single.dof),
        single,
        rows,
        levels: level.iter().max().map_or(0, |l| l + 1),
        level,
    }
}

/// Degrees of freedom one after the other, link by link.
fn layout(bodies: &[Body]) -> Layout {
    let mut l = Layout::default();
    for body in bodies {
        l.start.push(l.dof.len());
        l.dof.extend(body.v..body.v + body.dofs);
    }
    let nv = l.dof.len();
    l.end = bodies
        .iter()
        .map(|b| l.start.get(b.end).copied().unwrap_or(nv))
        .collect();
    l.up = vec![GAP; nv];
    l.end_at = vec![0; nv];
    for (k, body) in bodies.iter().enumerate() {
        let (start, past) = (l.start[k], l.start[k] + body.dofs);
        for at in start..past {
            l.up[at] = match body.parent {
                _ if at + 1 < past => at + 1,
                Some(p) => l.start[p],
                None => GAP,
            };
            l.end_at[at] = l.end[k];
        }
    }
    l
}
