//! Branches side by side: subtrees of one tree that do not touch, each in a lane of a register.
//!
//! Legs and arms of most robots are alike: chains of revolute joints that hang on a trunk, and fingers on them. Where it saves
//! time, a tree is taken apart into a trunk, swept link by link, and rows of links that do not depend on each other, swept all
//! at once. Rows follow each other in runs, lane by lane along chains. The chains of a run need not have the same length: where
//! one has no link, a lane carries a link of nothing.

mod fold;
mod mass_places;
mod plan;

use crate::body::{Body, GAP, Hinge, Layout, PACK, Passage};
use crate::scalar::Copies;
use crate::spatial::ECCENTRIC;
use fold::fold;
use mass_places::copies;
use plan::{MOST_LINKS, Plan, children};

/// One number per lane.
pub(crate) type Each = [f64; PACK];

/// A tree taken apart.
#[derive(Clone, Debug)]
pub(crate) struct Bundles {
    /// The links of the trunk and the roots of branches, parents first.
    pub(crate) trunk: Vec<Met>,
    /// Parents first.
    pub(crate) runs: Vec<Run>,
    /// The ways of columns of 𝓜 that stand several to a register: runs whose links have no columns of their own.
    pub(crate) folded: Vec<Run>,
    /// How many rows all runs have, and how many places where chains hang on others.
    pub(crate) rows: usize,
    pub(crate) slots: usize,
    /// Whether 𝓜 goes that way too; if not, there are no columns and no registers for them.
    pub(crate) takes_mass: bool,
    /// Of 𝓜, run after run: those that start at a row, and after each those that come to it from other runs.
    pub(crate) columns: Vec<Column>,
    /// How many registers those take with their elements and one that is zero, and how these get into 𝓜.
    pub(crate) registers: usize,
    pub(crate) copies: Copies,
}

/// What a sweep along the trunk meets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Met {
    Link(usize),
    /// The first link of the branch in a lane of a run.
    Branch {
        root: usize,
        run: usize,
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

/// Up to four chains.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// Every link hangs on the one before it in its lane.
    pub(crate) rows: Vec<Abreast>,
    /// Which of all rows its first one is.
    pub(crate) first_row: usize,
    /// The links that the chains hang on, and whether these are of the trunk.
    pub(crate) parents: [usize; PACK],
    pub(crate) on_trunk: [bool; PACK],
    /// Chains of other runs that hang on links of the last row as their first child; and on any row as another child, row by
    /// row, the last children first.
    pub(crate) borne: Vec<Borne>,
    pub(crate) others: Vec<(usize, Vec<Borne>)>,
    /// One past its last column of 𝓜.
    pub(crate) end: usize,
    /// The links of the trunk that its chains hang on, directly or not, children first.
    pub(crate) onward: Vec<Passed>,
}

/// A link of the trunk, and what of a run hangs on it.
#[derive(Clone, Debug)]
pub(crate) struct Passed {
    pub(crate) link: usize,
    /// Lanes, as bits.
    pub(crate) lanes: u8,
    /// The columns of 𝓜 that have any of these, and whether they have others that must stay as they are.
    pub(crate) columns: Vec<(usize, bool)>,
    /// Per degree of freedom of its joint, for those lanes.
    pub(crate) lines: Vec<Line>,
    /// Where the elements of these columns go, a register each: one degree of freedom after the other. None at a free base,
    /// where they are the columns themselves.
    pub(crate) elements: Option<usize>,
}

/// Degrees of freedom side by side, and where their rows of 𝓜 start; gaps where there are none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub(crate) dofs: [usize; PACK],
    pub(crate) starts: [usize; PACK],
}

/// Links side by side. What inverse dynamics needs comes first: rows of large mechanisms come from slow memory.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Abreast {
    /// The links; where there is none, that of another lane.
    pub(crate) links: [usize; PACK],
    /// Their degrees of freedom, likewise; and with gaps.
    pub(crate) dofs: [usize; PACK],
    pub(crate) own_dofs: [usize; PACK],
    pub(crate) along: Each,
    pub(crate) lean: [Each; 2],
    /// [`Body::laden`], as far as it is not zero.
    pub(crate) laden: [Each; ECCENTRIC],
    /// The constant screws that the parents have not absorbed, if there are any: cosine, sine and shift.
    pub(crate) before: Option<[Each; 3]>,
    /// [`Body::aside`], if there are any.
    pub(crate) aside: Option<[Each; 2]>,
    /// Shifts along y, if there are any.
    pub(crate) across: Option<Each>,
    /// Where it finds what other children in other runs hand to these links, and whether any child is in another run.
    pub(crate) slot: Option<usize>,
    pub(crate) bears: bool,
    /// Flat or a quarter turn in every lane; lean otherwise.
    pub(crate) tilt: Passage,
    /// Mass, first and second moments, and the differences of the latter.
    pub(crate) inertia: [Each; 13],
    /// One where there is a link, zero elsewhere; and the other way round.
    pub(crate) real: Each,
    pub(crate) unreal: Each,
    /// The rotors' inertias, one where there is no link; none if the joints have no rotors.
    pub(crate) rotors: Option<Each>,
    pub(crate) line: Line,
    /// Its column of 𝓜, and one past those that come to it there.
    pub(crate) column: usize,
    pub(crate) come: usize,
    /// Where the elements of all that pass it go, a register each.
    pub(crate) elements: usize,
}

/// Chains of a run that hang on links of another, lane by lane.
#[derive(Clone, Debug)]
pub(crate) struct Borne {
    pub(crate) run: usize,
    pub(crate) picks: Picks,
}

/// Columns of 𝓜 side by side.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) line: Line,
    /// Where they come from, if other runs: columns there, and their lanes.
    pub(crate) from: Vec<(usize, Picks)>,
}

/// Lanes taken over into others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Picks {
    /// Which one comes to each; and one where one comes, zero elsewhere.
    pub(crate) lanes: [usize; PACK],
    pub(crate) real: Each,
}

impl Bundles {
    /// The cheapest way to take a tree apart; none if it is best left whole.
    pub(crate) fn of(bodies: &[Body], armature: &[f64], layout: &Layout) -> Option<Self> {
        let plan = Plan::cheapest(bodies)?;
        let mut trunk: Vec<_> = (0..bodies.len()).map(|k| (k, Met::Link(k))).collect();
        trunk.retain(|(k, _)| plan.in_trunk[*k]);
        let mut runs: Vec<Run> = Vec::new();
        for (i, row) in plan.rows.iter().enumerate() {
            if !row.goes_on {
                let parents = stand_ins(row.links).map(|k| bodies[k].parent.unwrap_or(0));
                let on_trunk = parents.map(|p| plan.in_trunk[p]);
                for (lane, root) in row.links.iter().enumerate() {
                    if let Some(root) = root.filter(|_| on_trunk[lane]) {
                        let run = runs.len();
                        trunk.push((root, Met::Branch { root, run, lane }));
                    }
                }
                runs.push(Run {
                    rows: Vec::new(),
                    first_row: i,
                    parents,
                    on_trunk,
                    borne: Vec::new(),
                    others: Vec::new(),
                    end: 0,
                    onward: Vec::new(),
                });
            }
            if let Some(run) = runs.last_mut() {
                run.rows.push(Abreast::new(bodies, armature, row.links));
            }
        }
        trunk.sort_unstable_by_key(|(k, _)| *k);
        let mut slots = 0;
        let takes_mass = bodies.len() <= MOST_LINKS;
        let columns = hang(bodies, &mut runs, &mut slots, takes_mass);
        let mut bundles = Self {
            trunk: trunk.into_iter().map(|(_, met)| met).collect(),
            rows: plan.rows.len(),
            slots,
            takes_mass,
            registers: 0,
            copies: Copies::default(),
            runs,
            folded: Vec::new(),
            columns,
        };
        if takes_mass {
            bundles.place_columns(bodies, armature, layout);
        }
        Some(bundles)
    }

    /// The ways of the columns of 𝓜, and where their elements go.
    fn place_columns(&mut self, bodies: &[Body], armature: &[f64], layout: &Layout) {
        for run in &mut self.runs {
            self.folded.extend(fold(bodies, armature, run, &mut self.columns));
        }
        let mut registers = 6 * self.columns.len();
        for run in self.runs.iter_mut().chain(&mut self.folded) {
            run.onward = run.along_trunk(bodies, &self.columns, armature.len());
            run.place_elements(bodies, &mut registers);
        }
        self.registers = registers + 1;
        self.copies = copies(&self.runs, &self.folded, &self.columns, layout, registers);
    }
}

/// Hangs the chains of runs on the rows of others, outer ones first, and tells every row which columns of 𝓜 it has, if
/// these are asked for.
fn hang(bodies: &[Body], runs: &mut [Run], slots: &mut usize, takes_mass: bool) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    // Where every chain starts; and the columns of every run that is done.
    let (mut place, mut done) = (vec![None; bodies.len()], vec![0..0; runs.len()]);
    for r in (0..runs.len()).rev() {
        let (start, rows) = (columns.len(), runs[r].rows.len());
        for i in 0..rows {
            let (row, column) = (&mut runs[r].rows[i], columns.len());
            if takes_mass {
                columns.push(Column::starting(row));
            }
            let borne = borne(bodies, row, &place);
            row.bears = !borne.is_empty();
            let mut others = Vec::new();
            for (child, run, picks) in borne {
                if takes_mass {
                    come(&mut columns, column + 1, done[run].clone(), picks);
                }
                // The first children of all rows but the last are in the next one.
                let to = if child == 0 { &mut runs[r].borne } else { &mut others };
                to.push(Borne { run, picks });
            }
            if !others.is_empty() {
                runs[r].rows[i].slot = Some(*slots);
                runs[r].others.push((*slots, others));
                *slots += 1;
            }
            if takes_mass {
                columns[column + 1..].sort_by_key(|column| column.line.dofs);
            }
            let row = &mut runs[r].rows[i];
            (row.column, row.come) = (column, columns.len());
        }
        runs[r].end = columns.len();
        done[r] = start..columns.len();
        let first = &runs[r].rows[0];
        first
            .lanes()
            .for_each(|lane| place[first.links[lane]] = Some((r, lane)));
    }
    columns
}

/// The chains of other runs that hang on a row: which child of its link each starts with, the last ones first; its run; and
/// its lane.
fn borne(bodies: &[Body], row: &Abreast, place: &[Option<(usize, usize)>]) -> Vec<(usize, usize, Picks)> {
    let mut borne: Vec<(usize, usize, Picks)> = Vec::new();
    for lane in row.lanes() {
        for (i, child) in children(bodies, row.links[lane]).into_iter().enumerate() {
            let Some((run, from)) = place[child] else { continue };
            let at = borne.iter().position(|b| (b.0, b.1) == (i, run));
            let at = at.unwrap_or_else(|| {
                borne.push((i, run, Picks::NONE));
                borne.len() - 1
            });
            let picks = &mut borne[at].2;
            (picks.lanes[lane], picks.real[lane]) = (from, 1.0);
        }
    }
    borne.sort_by_key(|b| core::cmp::Reverse(b.0));
    borne
}

/// Columns come from another run, beside others that came if their lanes are free there.
fn come(columns: &mut Vec<Column>, first: usize, from: core::ops::Range<usize>, picks: Picks) {
    for c in from {
        let Line { dofs, starts } = columns[c].line;
        let (dofs, starts) = (picks.of(&dofs), picks.of(&starts));
        if dofs == [GAP; PACK] {
            continue;
        }
        let is_free = |x: &&mut Column| (0..PACK).all(|l| dofs[l] == GAP || x.line.dofs[l] == GAP);
        match columns[first..].iter_mut().find(is_free) {
            None => columns.push(Column {
                line: Line { dofs, starts },
                from: vec![(c, picks)],
            }),
            Some(column) => {
                for lane in (0..PACK).filter(|&lane| dofs[lane] != GAP) {
                    (column.line.dofs[lane], column.line.starts[lane]) = (dofs[lane], starts[lane]);
                }
                column.from.push((c, picks));
            }
        }
    }
}

impl Run {
    /// The links of the trunk on the ways of its chains to the base.
    fn along_trunk(&self, bodies: &[Body], columns: &[Column], n: usize) -> Vec<Passed> {
        let mut onward: Vec<(usize, u8)> = Vec::new();
        for lane in self.rows[0].lanes().filter(|&lane| self.on_trunk[lane]) {
            let mut next = Some(self.parents[lane]);
            while let Some(link) = next {
                match onward.iter_mut().find(|passed| passed.0 == link) {
                    Some(passed) => passed.1 |= 1 << lane,
                    None => onward.push((link, 1 << lane)),
                }
                next = bodies[link].parent;
            }
        }
        onward.sort_unstable_by_key(|passed| core::cmp::Reverse(passed.0));
        let pass = |&(link, lanes): &(usize, u8)| {
            let (body, passes) = (&bodies[link], |lane: usize| (lanes >> lane) & 1 == 1);
            let line = |v: usize| Line::of(core::array::from_fn(|lane| passes(lane).then_some(v)), n);
            let used = |c: usize| (0..PACK).filter(move |&lane| columns[c].line.dofs[lane] != GAP);
            let all = self.rows[0].column..self.end;
            Passed {
                link,
                lanes,
                columns: all
                    .filter(|&c| used(c).any(passes))
                    .map(|c| (c, !used(c).all(passes)))
                    .collect(),
                lines: (body.v..body.v + body.dofs).map(line).collect(),
                elements: None,
            }
        };
        onward.iter().map(pass).collect()
    }

    /// Finds room for the elements that its columns give, from some register on.
    fn place_elements(&mut self, bodies: &[Body], next: &mut usize) {
        for row in &mut self.rows {
            row.elements = *next;
            *next += self.end - row.column;
        }
        for passed in &mut self.onward {
            let body = &bodies[passed.link];
            if body.parent.is_some() || body.hinge != Hinge::Free {
                passed.elements = Some(*next);
                *next += body.dofs * passed.columns.len();
            }
        }
    }
}

impl Line {
    fn of(dofs: [Option<usize>; PACK], n: usize) -> Self {
        Self {
            dofs: dofs.map(|v| v.unwrap_or(GAP)),
            starts: dofs.map(|v| v.map_or(GAP, |v| v * n)),
        }
    }
}

impl Column {
    /// Those that start at a row.
    fn starting(row: &Abreast) -> Self {
        Self {
            line: row.line,
            from: Vec::new(),
        }
    }
}

impl Picks {
    const NONE: Self = Self {
        lanes: [0; PACK],
        real: [0.0; PACK],
    };

    /// What comes to each lane; gaps elsewhere.
    fn of(&self, x: &[usize; PACK]) -> [usize; PACK] {
        core::array::from_fn(|lane| match self.real[lane] {
            1.0 => x[self.lanes[lane]],
            _ => GAP,
        })
    }
}

/// Links; where there is none, that of another lane.
fn stand_ins(links: [Option<usize>; PACK]) -> [usize; PACK] {
    let some = links.into_iter().flatten().next().unwrap_or(0);
    links.map(|link| link.unwrap_or(some))
}

impl Abreast {
    fn new(bodies: &[Body], armature: &[f64], links: [Option<usize>; PACK]) -> Self {
        let stand_ins = stand_ins(links);
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
            links: stand_ins,
            dofs: stand_ins.map(|k| bodies[k].v),
            own_dofs: links.map(|link| link.map_or(GAP, |k| bodies[k].v)),
            line: Line::of(links.map(|link| link.map(|k| bodies[k].v)), armature.len()),
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
            rotors: (!bodies[stand_ins[0]].turns).then(|| {
                links.map(|link| match link {
                    Some(k) => armature[bodies[k].v],
                    None => 1.0,
                })
            }),
            inertia: core::array::from_fn(inertia),
            laden: core::array::from_fn(|i| {
                links.map(|link| link.map_or(0.0, |k| bodies[k].laden.eccentric().numbers()[i]))
            }),
            slot: None,
            bears: false,
            column: 0,
            come: 0,
            elements: 0,
        }
    }

    /// The lanes that have a link.
    pub(crate) fn lanes(&self) -> impl Iterator<Item = usize> + use<> {
        let own = self.own_dofs;
        (0..PACK).filter(move |&lane| own[lane] != GAP)
    }
}

#[cfg(test)]
mod tests {
    use super::Met;
    use crate::Mechanism;
    use crate::model::{Joint, Link, examples};
    use crate::spatial::{Inertia, Pose};

    /// Links in the trunk, and rows of each run.
    fn taken_apart(mechanism: &Mechanism) -> Option<(usize, Vec<usize>)> {
        let bundles = mechanism.compiled.bundles.as_ref()?;
        let rows = bundles.runs.iter().map(|run| run.rows.len());
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
        // Limbs on a floating base: legs together; a waist first where arms hang on it; a fifth beside the ends of others.
        assert_eq!(taken_apart(&limbs(&[(0, 3); 4])), Some((1, vec![3])));
        let humanoid = [(0, 6), (0, 6), (0, 3), (15, 7), (15, 7)];
        assert_eq!(taken_apart(&limbs(&humanoid)), Some((4, vec![7])));
        let five = [(0, 6), (0, 6), (0, 6), (0, 5), (0, 2)];
        assert_eq!(taken_apart(&limbs(&five)), Some((1, vec![5, 2])));
        assert_eq!(taken_apart(&examples::quadruped()), Some((1, vec![3])));
        // Two arms with three fingers of two joints: of these, one goes on in the lane of its arm, four stand side by side.
        let hands = [
            (0, 6),
            (0, 6),
            (0, 5),
            (0, 5),
            (6, 2),
            (6, 2),
            (6, 2),
            (12, 2),
            (12, 2),
            (12, 2),
        ];
        assert_eq!(taken_apart(&limbs(&hands)), Some((1, vec![8, 2])));
    }

    #[test]
    fn every_link_has_one_place() {
        for mechanism in [
            limbs(&[(0, 3); 4]),
            limbs(&[(0, 2), (2, 5), (2, 4), (1, 6), (0, 7), (24, 1), (24, 2), (24, 3)]),
        ] {
            let b = mechanism.compiled.bundles.as_ref().unwrap();
            let mut places = vec![0; mechanism.compiled.bodies.len()];
            for met in &b.trunk {
                if let Met::Link(k) = met {
                    places[*k] += 1;
                }
            }
            for row in b.runs.iter().flat_map(|run| &run.rows) {
                for lane in (0..row.links.len()).filter(|&lane| row.real[lane] == 1.0) {
                    places[row.links[lane]] += 1;
                }
            }
            assert!(places.iter().all(|&n| n == 1), "{}: {places:?}", mechanism.name());
        }
    }
}
