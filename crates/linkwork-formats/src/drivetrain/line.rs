//! Lengths that depend on the configuration, and how they change with it.

use super::wrap::{Round, around};
use crate::actuators::{Target, Tendon, TendonPath, TendonPoint};
use crate::robot::{Robot, Shape};
use crate::source::shortened;
use linkwork::Mechanism;
use linkwork::model::{FrameId, JointId, JointKind};
use linkwork::spatial::{Pose, Reference, Rotation, Vec3};
use linkwork::workspace::Moving;

/// Shorter pieces of tendons have no direction, in metres.
const SHORT: f64 = 1e-15;

/// Columns of Jacobians that differ by less than this share are the same joint's.
const SHARED: f64 = 1e-12;

/// A length ℓ(q), its rate ℓ̇ = Jq̇, and the row J.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    path: Path,
    pub(crate) length: f64,
    pub(crate) rate: f64,
    /// Degrees of freedom, and J there.
    pub(crate) row: Vec<(usize, f64)>,
}

#[derive(Clone, Debug)]
enum Path {
    /// Σ c q.
    Joints(Vec<(Coordinate, f64)>),
    /// Σ |b − a| / divisor, and what is around round things.
    Pieces(Vec<Piece>, Vec<Turn>),
    /// c · (the rotation vector of a ball joint), in the axes of the child or of the parent.
    Ball { q: usize, gear: Vec3, in_parent: bool },
    /// Of no length: a force along the world's axes and a moment about the body's or the world's.
    Free {
        link: FrameId,
        /// Whether the joint's linear velocity is along the world's axes.
        split: bool,
        force: Vec3,
        moment: Vec3,
        in_parent: bool,
    },
    /// Where a site is, and how it is turned, seen from another; of no length without one.
    Site {
        frame: FrameId,
        reference: Option<FrameId>,
        force: Vec3,
        moment: Vec3,
    },
    /// Where a slider on the z axis of a frame is, which a rod joins to the crank.
    Crank {
        crank: FrameId,
        slider: FrameId,
        rod: f64,
        gear: f64,
    },
}

/// The coordinate of a joint with one; of a joint that follows another, that of its leader.
#[derive(Clone, Copy, Debug)]
struct Coordinate {
    joint: JointId,
    q: usize,
    v: usize,
    follows: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) from: FrameId,
    pub(crate) to: FrameId,
    share: f64,
    /// Where it ends, and its direction times its share, as last found.
    pub(crate) ends: [Vec3; 2],
    pub(crate) along: Vec3,
}

/// A round thing that a tendon may go around. The piece at `first` is the straight way; the two after it are those to and from
/// the thing.
#[derive(Clone, Copy, Debug)]
struct Turn {
    first: usize,
    round: Round,
    link: FrameId,
    pose: Pose,
    side: Option<FrameId>,
}

impl Piece {
    fn new(from: FrameId, to: FrameId, share: f64) -> Self {
        Self {
            from,
            to,
            share,
            ends: [Vec3::ZERO; 2],
            along: Vec3::ZERO,
        }
    }

    /// Lays it between two points; its length.
    fn lay(&mut self, ends: [Vec3; 2]) -> f64 {
        let way = ends[1] - ends[0];
        let length = way.norm();
        self.ends = ends;
        self.along = match length > SHORT {
            true => way * (self.share / length),
            false => Vec3::new(self.share, 0.0, 0.0),
        };
        length
    }

    /// Takes it away.
    fn lift(&mut self) {
        self.along = Vec3::ZERO;
    }
}

/// Why there is no such line.
type Missing = String;

fn frame(m: &Mechanism, name: &str) -> Result<FrameId, Missing> {
    m.frame(name)
        .map_err(|_| format!("there is no frame `{}`", shortened(name)))
}

fn joint(m: &Mechanism, name: &str) -> Result<JointId, Missing> {
    m.joint(name)
        .map_err(|_| format!("there is no joint `{}`", shortened(name)))
}

impl Coordinate {
    fn of(m: &Mechanism, name: &str) -> Result<Self, Missing> {
        let own = joint(m, name)?;
        if m.joints()[own.index()].kind.nv() != 1 {
            return Err(format!("joint `{}` has not one coordinate", shortened(name)));
        }
        let leader = m.follows(own).map_err(|e| e.to_string())?;
        let at = leader.unwrap_or(own);
        let (q, v) = (m.q_range(at), m.v_range(at));
        let [q, v] = [q, v].map(|r| r.map_err(|e| e.to_string()));
        Ok(Self {
            joint: own,
            q: q?.start,
            v: v?.start,
            follows: leader.is_some(),
        })
    }

    /// The joint's coordinate, and how it changes with the one that leads.
    fn at(&self, m: &Mechanism, q: &[f64]) -> linkwork::Result<[f64; 2]> {
        if !self.follows {
            return Ok([q[self.q], 1.0]);
        }
        let [x, slope, _] = m.coupling_at(self.joint, q[self.q])?;
        Ok([x, slope])
    }
}

/// Six numbers of a gear: three, and three more; zeros where there are fewer.
fn halves(gear: &[f64]) -> [Vec3; 2] {
    let at = |i: usize| gear.get(i).copied().unwrap_or(0.0);
    [Vec3::new(at(0), at(1), at(2)), Vec3::new(at(3), at(4), at(5))]
}

impl Line {
    fn new(path: Path, row: Vec<(usize, f64)>) -> Self {
        Self {
            path,
            length: 0.0,
            rate: 0.0,
            row,
        }
    }

    /// That of a tendon.
    pub(crate) fn of_tendon(robot: &Robot, tendon: &Tendon) -> Result<Self, Missing> {
        let m = &robot.mechanism;
        match &tendon.path {
            TendonPath::Fixed { joints } => {
                let mut all = Vec::with_capacity(joints.len());
                for (name, c) in joints {
                    all.push((Coordinate::of(m, name)?, *c));
                }
                let row = all.iter().map(|(at, _)| (at.v, 0.0)).collect();
                Ok(Self::new(Path::Joints(all), row))
            }
            TendonPath::Spatial { points } => {
                let (mut last, mut share, mut pieces) = (None, 1.0, Vec::new());
                let (mut turns, mut waiting) = (Vec::new(), None::<Turn>);
                for point in points {
                    match point {
                        TendonPoint::Site { name } => {
                            let to = frame(m, name)?;
                            if let Some(from) = last {
                                pieces.push(Piece::new(from, to, share));
                                if let Some(turn) = waiting.take() {
                                    pieces.push(Piece::new(from, turn.link, share));
                                    pieces.push(Piece::new(turn.link, to, share));
                                    turns.push(turn);
                                }
                            }
                            last = Some(to);
                        }
                        TendonPoint::Pulley { divisor } if *divisor > 0.0 => (last, share) = (None, divisor.recip()),
                        TendonPoint::Pulley { divisor } => return Err(format!("it has a pulley of divisor {divisor}")),
                        TendonPoint::Wrap { .. } if last.is_none() || waiting.is_some() => {
                            return Err("it goes around a geom that is not between two sites".to_owned());
                        }
                        TendonPoint::Wrap { geom, side } => {
                            waiting = Some(Turn::new(robot, geom, side.as_deref(), pieces.len())?);
                        }
                    }
                    if waiting.is_some() && matches!(point, TendonPoint::Pulley { .. }) {
                        return Err("it goes around a geom that is not between two sites".to_owned());
                    }
                }
                if waiting.is_some() {
                    return Err("it ends at a geom instead of a site".to_owned());
                }
                Ok(Self::new(Path::Pieces(pieces, turns), everywhere(m)))
            }
        }
    }

    /// That of an actuator on a crank, which a rod joins to a slider.
    pub(crate) fn of_crank(
        m: &Mechanism,
        [crank, slider]: [&Target; 2],
        rod: f64,
        gear: &[f64],
    ) -> Result<Self, Missing> {
        let path = Path::Crank {
            crank: frame(m, &crank.name)?,
            slider: frame(m, &slider.name)?,
            rod,
            gear: gear.first().copied().unwrap_or(1.0),
        };
        Ok(Self::new(path, everywhere(m)))
    }

    /// That of an actuator on a joint or a site.
    pub(crate) fn of_target(
        m: &Mechanism,
        target: &Target,
        reference: Option<&Target>,
        gear: &[f64],
    ) -> Result<Self, Missing> {
        let (in_parent, [first, second]) = (target.kind == "jointinparent", halves(gear));
        match &*target.kind {
            "joint" | "jointinparent" => {
                let id = joint(m, &target.name)?;
                let given = &m.joints()[id.index()];
                let link = frame(m, &given.child)?;
                let v = m.v_range(id).map_err(|e| e.to_string())?.start;
                match given.kind {
                    JointKind::Free => {
                        let path = Path::Free {
                            link,
                            split: false,
                            force: first,
                            moment: second,
                            in_parent,
                        };
                        Ok(Self::new(path, (v..v + 6).map(|i| (i, 0.0)).collect()))
                    }
                    JointKind::Spherical => {
                        // A free joint that was read as a translation and a ball joint.
                        let before = m.joints().iter().find(|j| j.child == given.parent);
                        let before =
                            before.filter(|j| j.kind == JointKind::Translation && j.name.starts_with(&given.name));
                        if let Some(position) = before {
                            let from = joint(m, &position.name)?;
                            let from = m.v_range(from).map_err(|e| e.to_string())?;
                            let path = Path::Free {
                                link,
                                split: true,
                                force: first,
                                moment: second,
                                in_parent,
                            };
                            return Ok(Self::new(path, (v..v + 3).chain(from).map(|i| (i, 0.0)).collect()));
                        }
                        let q = m.q_range(id).map_err(|e| e.to_string())?.start;
                        let path = Path::Ball {
                            q,
                            gear: first,
                            in_parent,
                        };
                        Ok(Self::new(path, (v..v + 3).map(|i| (i, 0.0)).collect()))
                    }
                    _ => {
                        let at = Coordinate::of(m, &target.name)?;
                        Ok(Self::new(Path::Joints(vec![(at, first.x)]), vec![(at.v, 0.0)]))
                    }
                }
            }
            "site" => {
                let reference = reference.map(|r| frame(m, &r.name)).transpose()?;
                let path = Path::Site {
                    frame: frame(m, &target.name)?,
                    reference,
                    force: first,
                    moment: second,
                };
                Ok(Self::new(path, everywhere(m)))
            }
            other => Err(format!("driving a {} is not modelled", shortened(other))),
        }
    }

    /// Finds length, rate and row at a state; `room` has 12nv numbers.
    pub(crate) fn find(
        &mut self,
        q: &[f64],
        v: &[f64],
        moving: &mut Moving<'_>,
        room: &mut [f64],
    ) -> linkwork::Result<()> {
        let (m, row) = (moving.mechanism(), &mut self.row);
        self.length = 0.0;
        match &mut self.path {
            Path::Joints(joints) => {
                for ((at, c), entry) in joints.iter().zip(row.iter_mut()) {
                    let [x, slope] = at.at(m, q)?;
                    self.length += c * x;
                    entry.1 = c * slope;
                }
            }
            Path::Pieces(pieces, turns) => {
                row.iter_mut().for_each(|entry| entry.1 = 0.0);
                let (mut turns, mut next) = (turns.iter().peekable(), 0);
                while next < pieces.len() {
                    let [a, b] = [pieces[next].from, pieces[next].to].map(|f| moving.pose(f));
                    let (ends, share) = ([a?.translation, b?.translation], pieces[next].share);
                    let Some(turn) = turns.next_if(|turn| turn.first == next) else {
                        self.length += share * pieces[next].lay(ends);
                        next += 1;
                        continue;
                    };
                    let side = turn
                        .side
                        .map(|s| moving.pose(s))
                        .transpose()?
                        .map(|pose| pose.translation);
                    let at = moving.pose(turn.link)? * turn.pose;
                    if let Some(([p, q], arc)) = around(turn.round, &at, ends, side) {
                        pieces[next].lift();
                        let before = pieces[next + 1].lay([ends[0], p]);
                        let after = pieces[next + 2].lay([q, ends[1]]);
                        self.length += share * (before + arc + after);
                    } else {
                        self.length += share * pieces[next].lay(ends);
                        pieces[next + 1].lift();
                        pieces[next + 2].lift();
                    }
                    next += 3;
                }
                for piece in pieces.iter().filter(|piece| piece.along != Vec3::ZERO) {
                    for (frame, end, force) in [
                        (piece.to, piece.ends[1], piece.along),
                        (piece.from, piece.ends[0], -piece.along),
                    ] {
                        let lever = end - moving.pose(frame)?.translation;
                        add(moving, frame, [lever.cross(force), force], room, row)?;
                    }
                }
            }
            Path::Ball { q: at, gear, in_parent } => {
                let at = *at;
                let turn = Rotation::from_quaternion([q[at], q[at + 1], q[at + 2], q[at + 3]]);
                let gear = if *in_parent { turn.inverse_mul(*gear) } else { *gear };
                self.length = gear.dot(turned([q[at], q[at + 1], q[at + 2], q[at + 3]]));
                set(row, gear.to_array());
            }
            Path::Free {
                link,
                split,
                force,
                moment,
                in_parent,
            } => {
                let turn = moving.pose(*link)?.rotation;
                let moment = if *in_parent { turn.inverse_mul(*moment) } else { *moment };
                let force = if *split { *force } else { turn.inverse_mul(*force) };
                set(row, moment.to_array().into_iter().chain(force.to_array()));
            }
            Path::Crank {
                crank,
                slider,
                rod,
                gear,
            } => {
                row.iter_mut().for_each(|entry| entry.1 = 0.0);
                let base = moving.pose(*slider)?;
                let (axis, way) = (base.rotation.z, moving.pose(*crank)?.translation - base.translation);
                // ℓ = z − √(ρ² − (|c|² − z²)), z = c·axis being where the crank is along the axis.
                let z = axis.dot(way);
                let square = z * z + *rod * *rod - way.dot(way);
                let (length, by_way, by_axis) = match square > 0.0 {
                    true => {
                        let root = square.sqrt();
                        let share = 1.0 - z / root;
                        (z - root, axis * share + way * (1.0 / root), way * share)
                    }
                    // A rod that is too short follows as it can.
                    false => (z, axis, way),
                };
                self.length = *gear * length;
                let (force, moment) = (by_way * *gear, axis.cross(by_axis) * *gear);
                add(moving, *crank, [Vec3::ZERO, force], room, row)?;
                add(moving, *slider, [moment, -force], room, row)?;
            }
            Path::Site {
                frame,
                reference,
                force,
                moment,
            } => {
                row.iter_mut().for_each(|entry| entry.1 = 0.0);
                let own = moving.pose(*frame)?;
                let Some(reference) = reference else {
                    let turn = &own.rotation;
                    add(moving, *frame, [*turn * *moment, *turn * *force], room, row)?;
                    self.rate = row.iter().map(|(i, x)| x * v[*i]).sum();
                    return Ok(());
                };
                let seen = moving.pose(*reference)?;
                let turn = &seen.rotation;
                self.length = force.dot(turn.inverse_mul(own.translation - seen.translation));
                self.length += moment.dot(turned((turn.inverse() * own.rotation).to_quaternion()));
                let nv = row.len();
                let (here, there) = room.split_at_mut(6 * nv);
                moving.jacobian(*frame, Reference::World, here)?;
                moving.jacobian(*reference, Reference::World, there)?;
                let (moment, force) = (*turn * *moment, *turn * *force);
                let about = |at: Pose| {
                    let moment = moment + at.translation.cross(force);
                    [moment.to_array(), force.to_array()]
                };
                let [own, seen] = [about(own), about(seen)].map(|[m, f]| [m[0], m[1], m[2], f[0], f[1], f[2]]);
                for (i, entry) in row.iter_mut().enumerate() {
                    let (a, b) = (|k: usize| here[k * nv + i], |k: usize| there[k * nv + i]);
                    // What moves both does not move one against the other.
                    if (0..6).any(|k| (a(k) - b(k)).abs() > SHARED * a(k).abs().max(b(k).abs())) {
                        entry.1 = (0..6).map(|k| own[k] * a(k) - seen[k] * b(k)).sum();
                    }
                }
            }
        }
        self.rate = row.iter().map(|(i, x)| x * v[*i]).sum();
        Ok(())
    }

    /// The straight pieces of a tendon past sites.
    pub(crate) fn pieces(&self) -> &[Piece] {
        match &self.path {
            Path::Pieces(pieces, _) => pieces,
            _ => &[],
        }
    }

    /// Adds J* times a force.
    pub(crate) fn pull(&self, force: f64, tau: &mut [f64]) {
        for (i, x) in &self.row {
            tau[*i] += x * force;
        }
    }
}

impl Turn {
    fn new(robot: &Robot, geom: &str, side: Option<&str>, first: usize) -> Result<Self, Missing> {
        let found = robot.geometry.iter().find(|g| g.name == geom && !geom.is_empty());
        let found = found.ok_or_else(|| format!("there is no geom `{}`", shortened(geom)))?;
        let round = match found.shape {
            Shape::Sphere { radius } => Round::Ball { radius },
            Shape::Cylinder { radius, .. } => Round::Cylinder { radius },
            _ => return Err(format!("geom `{}` is neither a sphere nor a cylinder", shortened(geom))),
        };
        Ok(Self {
            first,
            round,
            link: frame(&robot.mechanism, &found.link)?,
            pose: found.pose,
            side: side.map(|name| frame(&robot.mechanism, name)).transpose()?,
        })
    }
}

fn everywhere(m: &Mechanism) -> Vec<(usize, f64)> {
    (0..m.nv()).map(|i| (i, 0.0)).collect()
}

fn set(row: &mut [(usize, f64)], numbers: impl IntoIterator<Item = f64>) {
    row.iter_mut().zip(numbers).for_each(|(entry, x)| entry.1 = x);
}

/// Adds the row of a moment and a force on a frame's link, along the world's axes.
fn add(
    moving: &mut Moving<'_>,
    frame: FrameId,
    [moment, force]: [Vec3; 2],
    room: &mut [f64],
    row: &mut [(usize, f64)],
) -> linkwork::Result<()> {
    along(moving, frame, [moment, force], room, row.len(), |i, x| row[i].1 += x)
}

/// Adds the torques of a moment and a force on a frame's link, along the world's axes.
pub(super) fn push(
    moving: &mut Moving<'_>,
    frame: FrameId,
    wrench: [Vec3; 2],
    room: &mut [f64],
    tau: &mut [f64],
) -> linkwork::Result<()> {
    along(moving, frame, wrench, room, tau.len(), |i, x| tau[i] += x)
}

fn along(
    moving: &mut Moving<'_>,
    frame: FrameId,
    [moment, force]: [Vec3; 2],
    room: &mut [f64],
    nv: usize,
    mut add: impl FnMut(usize, f64),
) -> linkwork::Result<()> {
    let room = &mut room[..6 * nv];
    moving.jacobian(frame, Reference::Aligned, room)?;
    let [m, f] = [moment.to_array(), force.to_array()];
    for (k, x) in m.into_iter().chain(f).enumerate().filter(|(_, x)| *x != 0.0) {
        let of = &room[k * nv..(k + 1) * nv];
        of.iter().enumerate().for_each(|(i, j)| add(i, x * j));
    }
    Ok(())
}

/// The rotation vector of x, y, z, w, no longer than π.
fn turned([x, y, z, w]: [f64; 4]) -> Vec3 {
    let v = Vec3::new(x, y, z);
    let sin = v.norm();
    if sin == 0.0 {
        return Vec3::ZERO;
    }
    let mut angle = 2.0 * sin.atan2(w);
    if angle > core::f64::consts::PI {
        angle -= 2.0 * core::f64::consts::PI;
    }
    v * (angle / sin)
}
