//! The links of link space as dense operators are made of them.

use crate::Result;
use crate::model::{FrameId, JointKind, Mechanism};
use crate::spatial::{Inertia, Motion, Pose, Reference, Rotation, Vec3};

/// One link of link space.
pub(super) struct Link {
    pub(super) pose: Pose,
    pub(super) parent: Option<usize>,
    pub(super) dofs: core::ops::Range<usize>,
    /// H*, columns of [ω; v].
    pub(super) columns: Vec<[f64; 6]>,
    pub(super) inertia: Inertia,
}

/// The links of link space, and where frames are: the link, and the frame that tip space refers to, in the world.
pub(super) type Place<'a> = Box<dyn Fn(FrameId, Reference) -> Option<(usize, Pose)> + 'a>;

pub(super) fn links<'a>(mechanism: &'a Mechanism, q: &[f64]) -> Result<(Vec<Link>, Place<'a>)> {
    let nv = mechanism.nv();
    let mut workspace = mechanism.workspace();
    let mut posed = workspace.at(q)?;
    let poses = posed.poses().to_vec();
    let mut found: Vec<Link> = Vec::new();
    // Per users' link: its place in link space, through whatever carries it.
    let mut place: Vec<Option<usize>> = vec![None; poses.len()];
    let mut jacobian = vec![0.0; 6 * nv];
    for (l, link) in mechanism.links().iter().enumerate() {
        let Some(joint) = mechanism.joints().iter().find(|j| j.child == link.name) else {
            continue;
        };
        let id = mechanism.joint(&joint.name)?;
        let dofs = mechanism.v_range(id)?;
        if dofs.is_empty() {
            continue;
        }
        posed.jacobian(mechanism.link(&link.name)?, Reference::Local, &mut jacobian)?;
        let column = |v: usize| core::array::from_fn(|i| jacobian[i * nv + v]);
        let mut dofs = dofs;
        if let JointKind::Universal { axes: [first, _] } = joint.kind {
            let inner = match mechanism.link(&joint.parent) {
                Ok(parent) => poses[parent.index()],
                Err(_) => Pose::IDENTITY,
            };
            let axis = first * (1.0 / first.norm());
            let angle = q[mechanism.q_of(id.index()).start];
            found.push(Link {
                pose: inner * joint.origin * Pose::from_rotation(Rotation::about(axis, angle)),
                parent: None,
                dofs: dofs.start..dofs.start + 1,
                columns: vec![Motion::new(axis, Vec3::ZERO).to_array()],
                inertia: Inertia::ZERO,
            });
            dofs.start += 1;
        }
        place[l] = Some(found.len());
        found.push(Link {
            pose: poses[l],
            parent: None,
            columns: dofs.clone().map(column).collect(),
            dofs,
            inertia: link.inertia,
        });
    }
    // What carries each link: itself if its joint moves, else what carries its parent.
    let index = |name: &str| mechanism.link(name).ok().map(crate::model::LinkId::index);
    let parent_of = |l: usize| {
        let joint = mechanism.joints().iter().find(|j| j.child == mechanism.links()[l].name);
        joint.and_then(|j| index(&j.parent))
    };
    let carrier = |l: Option<usize>| {
        let mut l = l;
        while let Some(at) = l {
            if place[at].is_some() {
                break;
            }
            l = parent_of(at);
        }
        l.and_then(|at| place[at])
    };
    for l in 0..poses.len() {
        match place[l] {
            Some(k) => {
                let inner = carrier(parent_of(l));
                let crossed = k > 0
                    && found[k - 1].inertia == Inertia::ZERO
                    && found[k - 1].dofs.end == found[k].dofs.start
                    && mechanism
                        .joints()
                        .iter()
                        .any(|j| j.child == mechanism.links()[l].name && matches!(j.kind, JointKind::Universal { .. }));
                if crossed {
                    found[k].parent = Some(k - 1);
                    found[k - 1].parent = inner;
                } else {
                    found[k].parent = inner;
                }
            }
            None => {
                if let Some(k) = carrier(Some(l)) {
                    let seen = mechanism.links()[l]
                        .inertia
                        .seen_from(&(found[k].pose.inverse() * poses[l]));
                    found[k].inertia = found[k].inertia.with(&seen);
                }
            }
        }
    }
    let places: Vec<Option<usize>> = (0..poses.len()).map(|l| carrier(Some(l))).collect();
    let find = move |frame: FrameId, reference: Reference| {
        let (l, local) = match frame.index() {
            0 => return None,
            i if i <= poses.len() => (i - 1, Pose::IDENTITY),
            i => {
                let frame = &mechanism.frames()[i - 1 - poses.len()];
                (index(&frame.link)?, frame.pose)
            }
        };
        let at = poses[l] * local;
        let pose = match reference {
            Reference::Local => at,
            Reference::World => Pose::IDENTITY,
            Reference::Aligned => Pose::new(Rotation::IDENTITY, at.translation),
        };
        Some((places[l]?, pose))
    };
    Ok((found, Box::new(find)))
}
