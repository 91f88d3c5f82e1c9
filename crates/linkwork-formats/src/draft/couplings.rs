//! Joints that follow others.

use super::{Draft, is_world};
use crate::report::{Findings, Remedy, Severity};
use crate::source::{At, shortened};
use std::collections::{HashMap, HashSet};

impl Draft {
    /// Leaves out loops between links that do not exist.
    pub(super) fn check_loops(&mut self, f: &mut Findings) {
        let links: HashSet<&str> = self.links.iter().map(|l| &*l.item.name).collect();
        self.loops.retain(|l| {
            let mut ends = [&l.first.0, &l.second.0].into_iter();
            let Some(lost) = ends.find(|name| !is_world(name) && !links.contains(name.as_str())) else {
                return true;
            };
            let message = format!("it ties a link `{}` that does not exist", shortened(lost));
            let at = At {
                what: "loop",
                name: &l.name,
                ..At::FILE
            };
            f.judge(
                at,
                "loop",
                message,
                "correct the name",
                Remedy::Change("it is left out"),
            ) == Severity::Error
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
        if let Some(first) = self.couplings.first() {
            let at = At::new(first.spot, "joint", &first.item.follower);
            let message = match self.couplings.len() {
                1 => "it follows another joint; the coupling is kept but not applied".to_owned(),
                n => format!("{n} joints follow others; the couplings are kept but not applied"),
            };
            f.doubt(
                at,
                "coupling-not-applied",
                message,
                "the joints of the mechanism move on their own: ask for the robot with its couplings, or drive or lock the followers",
            );
        }
    }
}
