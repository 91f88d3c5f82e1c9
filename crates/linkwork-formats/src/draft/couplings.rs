//! Joints that follow others.

use super::{Draft, is_world};
use crate::report::{Findings, Remedy, Severity};
use crate::source::{At, shortened};
use linkwork::Mechanism;
use std::collections::{HashMap, HashSet};

/// More followers are not coupled: forward dynamics solves a dense system as large as they are many.
const MOST_FOLLOWERS: usize = 1000;
/// Beyond this nothing can be computed.
const FURTHEST: f64 = 1e30;

impl Draft {
    /// Leaves out loops between links that do not exist.
    pub(super) fn check_loops(&mut self, f: &mut Findings) {
        let links: HashSet<&str> = self.links.iter().map(|l| &*l.item.name).collect();
        self.loops.retain(|l| {
            let mut ends = [&l.first.0, &l.second.0].into_iter();
            let lost = ends.find(|name| !is_world(name) && !links.contains(name.as_str()));
            let (message, advice) = match lost {
                Some(lost) => (
                    format!("it ties a link `{}` that does not exist", shortened(lost)),
                    "correct the name",
                ),
                None if l.first.0 == l.second.0 => (
                    format!("it ties link `{}` to itself", shortened(&l.first.0)),
                    "tie two links",
                ),
                None => return true,
            };
            let at = At {
                what: "loop",
                name: &l.name,
                ..At::FILE
            };
            f.judge(at, "loop", message, advice, Remedy::Change("it is left out")) == Severity::Error
        });
    }

    /// Checks that couplings lead from a joint with one coordinate to another, and nowhere in a circle. Those that do
    /// not are left out.
    pub(super) fn check_couplings(&mut self, f: &mut Findings) {
        if self.couplings.is_empty() {
            return;
        }
        let freedoms: HashMap<&str, usize> = self.joints.iter().map(|j| (&*j.item.name, j.item.kind.nv())).collect();
        let mut leads: HashMap<&str, &str> = HashMap::new();
        let mut kept = vec![true; self.couplings.len()];
        for (i, coupling) in self.couplings.iter().enumerate() {
            let c = &coupling.item;
            let problem = [Some(&c.follower), c.leader.as_ref()]
                .into_iter()
                .flatten()
                .find_map(|name| match freedoms.get(name.as_str()) {
                    None => Some(format!(
                        "it refers to a joint `{}` that does not exist",
                        shortened(name)
                    )),
                    Some(1) => None,
                    Some(n) => Some(format!(
                        "joint `{}` has {n} degrees of freedom instead of one",
                        shortened(name)
                    )),
                });
            let taken = leads
                .contains_key(c.follower.as_str())
                .then(|| format!("joint `{}` follows another joint already", shortened(&c.follower)));
            let Some(problem) = problem.or(taken) else {
                leads.insert(&c.follower, c.leader.as_deref().unwrap_or_default());
                continue;
            };
            let at = At::new(coupling.spot, "joint", &c.follower);
            let remedy = Remedy::Change("it is left out");
            kept[i] = f.judge(at, "coupling", problem, "correct it", remedy) == Severity::Error;
        }
        // 1: leads out of the circle, 2: is being followed.
        let mut state: HashMap<&str, u8> = HashMap::new();
        for (i, coupling) in self.couplings.iter().enumerate() {
            if !kept[i] {
                continue;
            }
            let (mut path, mut at): (Vec<&str>, &str) = (Vec::new(), &coupling.item.follower);
            while let Some(&leader) = leads.get(at)
                && !state.contains_key(at)
            {
                state.insert(at, 2);
                path.push(at);
                at = leader;
            }
            let ring = state.get(at) == Some(&2);
            path.iter().for_each(|name| {
                state.insert(name, 1);
            });
            if ring {
                let message = format!("joint `{}` follows itself in the end", shortened(at));
                let place = At::new(coupling.spot, "joint", &coupling.item.follower);
                let remedy = Remedy::Change("this coupling is left out");
                kept[i] = f.judge(place, "coupling-cycle", message, "let one of them lead", remedy) == Severity::Error;
            }
        }
        let mut keep = kept.iter();
        self.couplings.retain(|_| keep.next() == Some(&true));
        // In strict mode circles are still there.
        if !f.failed() {
            self.chains(f);
            self.number(f);
        }
    }

    /// Leaves out couplings to joints that follow others if the whole of it leads out of all bounds.
    fn chains(&mut self, f: &mut Findings) {
        let place: HashMap<&str, usize> = self
            .couplings
            .iter()
            .enumerate()
            .map(|(i, c)| (&*c.item.follower, i))
            .collect();
        let next = |i: usize| place.get(self.couplings[i].item.leader.as_deref()?).copied();
        // A bound on the follower's coordinate where that of the last leader is at most one.
        let mut known: Vec<Option<f64>> = vec![None; self.couplings.len()];
        let mut kept = vec![true; self.couplings.len()];
        for start in 0..self.couplings.len() {
            if known[start].is_some() {
                continue;
            }
            let mut path = vec![start];
            while let Some(leader) = next(path[path.len() - 1]).filter(|i| known[*i].is_none()) {
                path.push(leader);
            }
            for i in path.into_iter().rev() {
                let coefficients = &self.couplings[i].item.coefficients;
                let far = next(i).filter(|i| kept[*i]).and_then(|i| known[i]).unwrap_or(1.0);
                let size = coefficients.iter().rev().fold(0.0, |sum, c| sum * far + c.abs());
                known[i] = Some(size.max(1.0));
                if size <= FURTHEST {
                    continue;
                }
                let message = "the ratios of the joints that it follows grow beyond all bounds";
                let at = At::new(self.couplings[i].spot, "joint", &self.couplings[i].item.follower);
                let remedy = Remedy::Change("the coupling is left out");
                let advice = "give smaller coefficients";
                kept[i] = f.judge(at, "coupling", message, advice, remedy) == Severity::Error;
            }
        }
        let mut keep = kept.iter();
        self.couplings.retain(|_| keep.next() == Some(&true));
    }

    /// Leaves all of them out if there are too many.
    fn number(&mut self, f: &mut Findings) {
        if self.couplings.len() <= MOST_FOLLOWERS {
            return;
        }
        let message = format!(
            "{} joints follow others, more than {MOST_FOLLOWERS}",
            self.couplings.len()
        );
        let remedy = Remedy::Change("the couplings are left out");
        let advice = "fix followers that hardly move, or lead them by a drive";
        let first = &self.couplings[0];
        let at = At::new(first.spot, "joint", &first.item.follower);
        if f.judge(at, "too-many-couplings", message, advice, remedy) < Severity::Error {
            self.couplings.clear();
        }
    }

    /// Says what couplings do.
    pub(super) fn note_couplings(&self, f: &mut Findings) {
        let (followers, held): (Vec<_>, Vec<_>) = self.couplings.iter().partition(|c| c.item.leader.is_some());
        if let Some(first) = followers.first() {
            let at = At::new(first.spot, "joint", &first.item.follower);
            let message = match followers.len() {
                1 => "it follows another joint and has no coordinate of its own".to_owned(),
                n => format!("{n} joints follow others and have no coordinates of their own"),
            };
            f.note(at, "coupling-applied", message, "");
        }
        for coupling in held {
            let place = coupling.item.coefficients.first().copied().unwrap_or(0.0);
            let at = At::new(coupling.spot, "joint", &coupling.item.follower);
            f.note(
                at,
                "held-joint",
                format!("it is held at {place}, so that it is fixed"),
                "",
            );
        }
    }

    /// Leaves out all couplings, as was asked.
    pub(super) fn uncouple(&mut self, f: &mut Findings) {
        let Some(first) = self.couplings.first() else { return };
        let at = At::new(first.spot, "joint", &first.item.follower);
        let message = match self.couplings.len() {
            1 => "its coupling is left out, as was asked: it moves on its own".to_owned(),
            n => format!("{n} couplings are left out, as was asked: their joints move on their own"),
        };
        f.note(at, "coupling-ignored", message, "");
        self.couplings.clear();
    }

    /// A mechanism whose joints keep the places that couplings to no joint say.
    pub(super) fn hold(&self, mechanism: Mechanism) -> linkwork::Result<Mechanism> {
        let held = self.couplings.iter().map(|c| &c.item).filter(|c| c.leader.is_none());
        let held: Vec<(&str, [f64; 1])> = held
            .map(|c| (&*c.follower, [c.coefficients.first().copied().unwrap_or(0.0)]))
            .collect();
        if held.is_empty() {
            return Ok(mechanism);
        }
        let held: Vec<(&str, &[f64])> = held.iter().map(|(name, at)| (*name, &at[..])).collect();
        mechanism.lock(&held)
    }
}
