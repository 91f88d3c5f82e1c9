//! Branches side by side: subtrees of one tree that do not touch, each in a lane of a register.
//!
//! Legs and arms of most robots are alike: chains of revolute joints that hang on a trunk. Where it saves time, a tree is
//! taken apart into a trunk, swept link by link, and bundles of branches, swept all at once. The branches of a bundle need
//! not have the same shape: where one has no link, a lane carries a link of nothing.

use super::compiled::{Body, GAP, PACK, Passage};

/// One number per lane.
pub(crate) type Each = [f64; PACK];

/// A tree taken apart.
#[derive(Clone, Debug)]
pub(crate) struct Bundles {
    /// The links of the trunk and the roots of branches, parents first.
    pub(crate) trunk: Vec<Met>,
    pub(crate) bundles: Vec<Bundle>,
    /// How many rows all bundles have, and how many of them have several children.
    pub(crate) rows: usize,
    pub(crate) slots: usize,
}

/// What a sweep along the trunk meets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Met {
    Link(usize),
    /// The first link of the branch in a lane of a bundle.
    Branch {
        root: usize,
        bundle: usize,
        lane: usize,
    },
}

/// Which links a sweep goes along, and in which order: outward as they stand, inward the other way.
pub(crate) trait Course: Copy {
    fn len(self) -> usize;
    fn at(self, i: usize) -> Met;
}

/// All links of a mechanism, of which there are so many.
#[derive(Clone, Copy)]
pub(crate) struct Whole(pub(crate) usize);

impl Course for Whole {
    #[inline(always)]
    fn len(self) -> usize {
        self.0
    }

    #[inline(always)]
    fn at(self, i: usize) -> Met {
        Met::Link(i)
    }
}

impl Course for &[Met] {
    #[inline(always)]
    fn len(self) -> usize {
        <[Met]>::len(self)
    }

    #[inline(always)]
    fn at(self, i: usize) -> Met {
        self[i]
    }
}

/// Up to four branches.
#[derive(Clone, Debug)]
pub(crate) struct Bundle {
    /// Parents first, the first one at the trunk.
    pub(crate) rows: Vec<Abreast>,
    /// The links of the trunk that the branches hang on.
    pub(crate) parents: [usize; PACK],
    /// Which of all rows its first one is.
    pub(crate) first_row: usize,
}

/// Links side by side.
#[derive(Clone, Debug)]
pub(crate) struct Abreast {
    /// The row that these links hang on; none at the trunk.
    pub(crate) parent: Option<usize>,
    /// The links; where there is none, that of another lane.
    pub(crate) links: [usize; PACK],
    /// Their degrees of freedom, likewise; and with gaps.
    pub(crate) dofs: [usize; PACK],
    pub(crate) own_dofs: [usize; PACK],
    /// One where there is a link, nought elsewhere; and the other way round.
    pub(crate) real: Each,
    pub(crate) unreal: Each,
    /// Flat or a quarter turn in every lane; lean otherwise.
    pub(crate) tilt: Passage,
    pub(crate) lean: [Each; 2],
    pub(crate) along: Each,
    /// Shifts along y, if there are any.
    pub(crate) across: Option<Each>,
    /// [`Body::aside`], if there are any.
    pub(crate) aside: Option<[Each; 2]>,
    /// The constant screws that the parents have not absorbed, if there are any: cosine, sine and shift.
    pub(crate) before: Option<[Each; 3]>,
    /// The rotors' inertias, one where there is no link; none if the joints have no rotors.
    pub(crate) rotors: Option<Each>,
    /// Mass, first and second moments, and the differences of the latter.
    pub(crate) inertia: [Each; 13],
    /// Whether the next row is its child; where other children leave what they hand in; and where it leaves its own.
    pub(crate) has_child: bool,
    pub(crate) slot: Option<usize>,
    pub(crate) hands_to: Option<usize>,
    /// One past the last row of its subtree.
    pub(crate) end: usize,
}

/// Beyond so many links nobody's trunk and branches are looked for: a humanoid with hands has a hundred.
const MOST_LINKS: usize = 400;
/// What a row costs, and a bundle beside its rows, in links swept one by one.
const ROW: f64 = 1.2;
const BUNDLE: f64 = 1.0;
/// Taking a tree apart must save so much of it.
const WORTH: f64 = 0.9;

impl Bundles {
    /// The cheapest way to take a tree apart; none if it is best left whole.
    pub(crate) fn of(bodies: &[Body], armature: &[f64]) -> Option<Self> {
        let n = bodies.len();
        if n > MOST_LINKS {
            return None;
        }
        // Start with the joints that lanes cannot take, and whatever lies between them and the base.
        let mut in_trunk = vec![false; n];
        for k in (0..n).rev() {
            let below = |c: usize| bodies[c].parent == Some(k) && in_trunk[c];
            in_trunk[k] = !goes_abreast(&bodies[k]) || (k + 1..bodies[k].end).any(below);
        }
        let mut best: Option<(f64, Vec<bool>)> = None;
        loop {
            let roots = roots(bodies, &in_trunk);
            let (mut cost, mut trunk) = (0.0, in_trunk.clone());
            for branches in roots.chunks(PACK) {
                let rows = union(bodies, branches);
                let together = ROW * rows.len() as f64 + BUNDLE;
                let links: usize = branches.iter().map(|&root| bodies[root].end - root).sum();
                if together < links as f64 && rows.iter().all(|(_, links)| alike(bodies, links)) {
                    cost += together;
                } else {
                    branches
                        .iter()
                        .for_each(|&root| trunk[root..bodies[root].end].fill(true));
                }
            }
            cost += trunk.iter().filter(|&&own| own).count() as f64;
            if cost < best.as_ref().map_or(WORTH * n as f64, |(least, _)| *least) {
                best = Some((cost, trunk));
            }
            // The largest branch may hide several in its outer links.
            match roots.first() {
                Some(&root) => in_trunk[root] = true,
                None => break,
            }
        }
        let (_, in_trunk) = best?;
        Some(Self::new(bodies, armature, &in_trunk))
    }

    fn new(bodies: &[Body], armature: &[f64], in_trunk: &[bool]) -> Self {
        let roots = roots(bodies, in_trunk);
        let mut trunk: Vec<(usize, Met)> = (0..bodies.len())
            .filter(|&k| in_trunk[k])
            .map(|k| (k, Met::Link(k)))
            .collect();
        for (bundle, roots) in roots.chunks(PACK).enumerate() {
            for (lane, &root) in roots.iter().enumerate() {
                trunk.push((root, Met::Branch { root, bundle, lane }));
            }
        }
        trunk.sort_unstable_by_key(|(k, _)| *k);
        let (mut bundles, mut rows, mut slots) = (Vec::new(), 0, 0);
        for roots in roots.chunks(PACK) {
            let bundle = Bundle::new(bodies, armature, roots, rows, &mut slots);
            rows += bundle.rows.len();
            bundles.push(bundle);
        }
        Self {
            trunk: trunk.into_iter().map(|(_, met)| met).collect(),
            bundles,
            rows,
            slots,
        }
    }
}

/// Whether a link may stand beside others.
fn goes_abreast(body: &Body) -> bool {
    body.revolute && !matches!(body.passage, Passage::Root | Passage::General)
}

/// Whether links may stand side by side: all of them have rotors, or none.
fn alike(bodies: &[Body], links: &[Option<usize>; PACK]) -> bool {
    let mut turns = links.iter().flatten().map(|&k| bodies[k].turns);
    let first = turns.next();
    turns.all(|turns| Some(turns) == first)
}

/// The first links outside the trunk, those of the largest branches first.
fn roots(bodies: &[Body], in_trunk: &[bool]) -> Vec<usize> {
    let hangs_on_trunk = |k: &usize| !in_trunk[*k] && bodies[*k].parent.is_some_and(|p| in_trunk[p]);
    let mut roots: Vec<usize> = (0..bodies.len()).filter(hangs_on_trunk).collect();
    roots.sort_by_key(|&k| core::cmp::Reverse(bodies[k].end - k));
    roots
}

/// The links of several branches side by side, parents first, each with the place of its parent.
fn union(bodies: &[Body], roots: &[usize]) -> Vec<(Option<usize>, [Option<usize>; PACK])> {
    let mut lanes = [None; PACK];
    for (lane, &root) in lanes.iter_mut().zip(roots) {
        *lane = Some(root);
    }
    let (mut rows, mut open) = (Vec::new(), vec![(None, lanes)]);
    while let Some((parent, links)) = open.pop() {
        let place = rows.len();
        rows.push((parent, links));
        let children = links.map(|link| link.map_or_else(Vec::new, |k| children(bodies, k)));
        let most = children.iter().map(Vec::len).max().unwrap_or(0);
        // The first child comes next.
        for i in (0..most).rev() {
            let abreast = core::array::from_fn(|lane| children[lane].get(i).copied());
            open.push((Some(place), abreast));
        }
    }
    rows
}

fn children(bodies: &[Body], k: usize) -> Vec<usize> {
    let mut children = Vec::new();
    let mut next = k + 1;
    while next < bodies[k].end {
        children.push(next);
        next = bodies[next].end;
    }
    children
}

impl Bundle {
    fn new(bodies: &[Body], armature: &[f64], roots: &[usize], first_row: usize, slots: &mut usize) -> Self {
        let union = union(bodies, roots);
        let mut slot_of = vec![None; union.len()];
        for (i, (parent, _)) in union.iter().enumerate() {
            if let Some(p) = parent.filter(|p| p + 1 != i)
                && slot_of[p].is_none()
            {
                slot_of[p] = Some(*slots);
                *slots += 1;
            }
        }
        let rows = union.iter().enumerate().map(|(i, &(parent, links))| Abreast {
            parent,
            has_child: union.get(i + 1).is_some_and(|(p, _)| *p == Some(i)),
            slot: slot_of[i],
            hands_to: parent.filter(|p| p + 1 != i).and_then(|p| slot_of[p]),
            end: (i + 1..union.len())
                .find(|&j| union[j].0.is_none_or(|p| p < i))
                .unwrap_or(union.len()),
            ..Abreast::new(bodies, armature, links)
        });
        let stand_in = |lane: usize| roots[lane.min(roots.len() - 1)];
        Self {
            rows: rows.collect(),
            parents: core::array::from_fn(|lane| bodies[stand_in(lane)].parent.unwrap_or(0)),
            first_row,
        }
    }
}

impl Abreast {
    fn new(bodies: &[Body], armature: &[f64], links: [Option<usize>; PACK]) -> Self {
        let some = links.into_iter().flatten().next().unwrap_or(0);
        let stand_ins = links.map(|link| link.unwrap_or(some));
        let each = |number: &dyn Fn(&Body) -> f64| stand_ins.map(|k| number(&bodies[k]));
        let real = links.map(|link| if link.is_some() { 1.0 } else { 0.0 });
        let inertia = |i: usize| {
            links.map(|link| match link {
                Some(k) => bodies[k].inertia.numbers()[i],
                None => 0.0,
            })
        };
        let same = |tilts: [Passage; 2]| stand_ins.iter().all(|&k| tilts.contains(&bodies[k].passage));
        let has_across = stand_ins.iter().any(|&k| bodies[k].across != 0.0);
        let has_before = stand_ins.iter().any(|&k| bodies[k].before.is_some());
        let before = |body: &Body| {
            body.before
                .map_or([1.0, 0.0, 0.0], |z| [z.turn.cos, z.turn.sin, z.shift])
        };
        Self {
            parent: None,
            links: stand_ins,
            dofs: stand_ins.map(|k| bodies[k].v),
            own_dofs: links.map(|link| link.map_or(GAP, |k| bodies[k].v)),
            real,
            unreal: real.map(|real| 1.0 - real),
            tilt: if same([Passage::TurnFlat, Passage::ScrewFlat]) {
                Passage::TurnFlat
            } else if same([Passage::TurnQuarter, Passage::ScrewQuarter]) {
                Passage::TurnQuarter
            } else {
                Passage::TurnLean
            },
            lean: [each(&|body| body.lean.cos), each(&|body| body.lean.sin)],
            along: each(&|body| body.along),
            across: has_across.then(|| each(&|body| body.across)),
            aside: stand_ins
                .iter()
                .any(|&k| bodies[k].aside.is_some())
                .then(|| [0, 1].map(|i| each(&|body| body.aside.map_or(0.0, |aside| aside[i])))),
            before: has_before.then(|| core::array::from_fn(|i| each(&|body| before(body)[i]))),
            rotors: (!bodies[some].turns).then(|| {
                links.map(|link| match link {
                    Some(k) => armature[bodies[k].v],
                    None => 1.0,
                })
            }),
            inertia: core::array::from_fn(inertia),
            has_child: false,
            slot: None,
            hands_to: None,
            end: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Met;
    use crate::Mechanism;
    use crate::model::{Joint, Link, examples};
    use crate::spatial::{Inertia, Pose};

    /// Links in the trunk, and rows of each bundle.
    fn taken_apart(mechanism: &Mechanism) -> Option<(usize, Vec<usize>)> {
        let bundles = mechanism.compiled.bundles.as_ref()?;
        let rows = bundles.bundles.iter().map(|bundle| bundle.rows.len());
        let links = bundles.trunk.iter().filter(|met| matches!(met, Met::Link(_)));
        Some((links.count(), rows.collect()))
    }

    /// Chains of revolute joints on a floating base: on which link, and how long.
    fn limbs(limbs: &[(usize, usize)]) -> Mechanism {
        let body = |k: usize| Link::new(format!("{k}"), Inertia::sphere(1.0, 0.1));
        let mut builder = Mechanism::builder("limbs")
            .link(body(0))
            .joint(Joint::free("base").between("world", "0"));
        let mut links = 1;
        for &(on, length) in limbs {
            let mut parent = on;
            for _ in 0..length {
                let axis = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]][links % 2];
                let joint = Joint::revolute(format!("joint{links}"), axis)
                    .between(format!("{parent}"), format!("{links}"))
                    .placed(Pose::from_translation([0.0, 0.0, -0.2]));
                builder = builder.link(body(links)).joint(joint);
                parent = links;
                links += 1;
            }
        }
        builder.build().unwrap()
    }

    #[test]
    fn trees_are_taken_apart_where_they_branch() {
        assert_eq!(taken_apart(&examples::arm7()), None);
        assert_eq!(taken_apart(&examples::cart_pole()), None);
        // Limbs on a floating base: legs together; a waist first where arms hang on it; five limbs of which one is left over.
        assert_eq!(taken_apart(&limbs(&[(0, 3); 4])), Some((1, vec![3])));
        let humanoid = [(0, 6), (0, 6), (0, 3), (15, 7), (15, 7)];
        assert_eq!(taken_apart(&limbs(&humanoid)), Some((4, vec![7])));
        let five = [(0, 6), (0, 6), (0, 6), (0, 5), (0, 2)];
        assert_eq!(taken_apart(&limbs(&five)), Some((3, vec![6])));
        assert_eq!(taken_apart(&examples::quadruped()), Some((1, vec![3])));
    }

    #[test]
    fn every_link_has_one_place() {
        for mechanism in [limbs(&[(0, 3); 4]), limbs(&[(0, 2), (2, 5), (2, 4), (1, 6), (0, 7)])] {
            let b = mechanism.compiled.bundles.as_ref().unwrap();
            let mut places = vec![0; mechanism.compiled.bodies.len()];
            for met in &b.trunk {
                if let Met::Link(k) = met {
                    places[*k] += 1;
                }
            }
            for row in b.bundles.iter().flat_map(|bundle| &bundle.rows) {
                for lane in (0..row.links.len()).filter(|&lane| row.real[lane] == 1.0) {
                    places[row.links[lane]] += 1;
                }
            }
            assert!(places.iter().all(|&n| n == 1), "{}: {places:?}", mechanism.name());
        }
    }
}
