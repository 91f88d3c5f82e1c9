//! Links, and the joints that hold them.

use super::{Draft, Placed, free_name, is_world, joint_at, link_at};
use crate::report::{Findings, Remedy, Severity};
use crate::source::shortened;
use linkwork::model::{Joint, WORLD};
use std::collections::{HashMap, HashSet};

/// Names are compared for hints in files up to this size.
const HINTED: usize = 1000;

impl Draft {
    /// Makes the links a forest on the world, or reports why they are none.
    pub(super) fn tree(&mut self, f: &mut Findings) {
        self.the_world(f);
        let place: HashMap<&str, usize> = self.links.iter().enumerate().map(|(i, l)| (&*l.item.name, i)).collect();
        let n = self.links.len();
        let (mut holder, mut parent) = (vec![None; n], vec![None; n]);
        for (j, joint) in self.joints.iter().enumerate() {
            let at = joint_at(joint);
            let mut find = |end: &str, name: &str| {
                if name.is_empty() {
                    f.error(at, "missing-link", format!("the joint has no {end} link"), "name one");
                } else if !place.contains_key(name) {
                    let hint = self.hint(name);
                    let message = format!("its {end} link `{}` does not exist{hint}", shortened(name));
                    f.error(at, "missing-link", message, "correct the name, or add the link");
                }
                place.get(name).copied()
            };
            let inner = if is_world(&joint.item.parent) {
                None
            } else {
                find("parent", &joint.item.parent)
            };
            let Some(child) = find("child", &joint.item.child) else {
                continue;
            };
            if joint.item.parent == joint.item.child {
                let message = format!("it connects link `{}` to itself", shortened(&joint.item.child));
                f.error(at, "self-loop", message, "give it another parent or child");
                continue;
            }
            if let Some(first) = holder[child] {
                let first: &Placed<Joint> = &self.joints[first];
                let (child, name) = (shortened(&joint.item.child), shortened(&first.item.name));
                let message = format!(
                    "link `{child}` is held by joint `{name}` already, on line {}",
                    f.line(first.spot)
                );
                f.error(
                    at,
                    "two-parents",
                    message,
                    "keep one of them; a closed loop is a constraint, not a joint",
                );
                continue;
            }
            (holder[child], parent[child]) = (Some(j), inner);
        }
        if f.failed() {
            return;
        }
        self.rings(&holder, &parent, f);
        let roots: Vec<usize> = (0..n).filter(|&l| holder[l].is_none()).collect();
        drop(place);
        self.root(&roots, f);
    }

    /// A root link named `world` is the world; another link of that name gets a new one.
    fn the_world(&mut self, f: &mut Findings) {
        let Some(i) = self.links.iter().position(|l| is_world(&l.item.name)) else {
            return;
        };
        if self.joints.iter().all(|j| !is_world(&j.item.child)) {
            let world = self.links.remove(i);
            if world.item.inertia.mass != 0.0 {
                let message = "the root link `world` has mass, which plays no part: the world does not move";
                f.note(
                    link_at(&world),
                    "world-mass",
                    message,
                    "rename the link if it is meant to move",
                );
            }
            return;
        }
        let names: HashSet<&str> = self.links.iter().map(|l| &*l.item.name).collect();
        let new = free_name("world_link", |name| names.contains(name));
        let how = format!("it is now `{new}`");
        let message = "a link that a joint holds is named `world`, as the frame that everything stands in";
        let done = f.judge(
            link_at(&self.links[i]),
            "world-link",
            message,
            "rename it",
            Remedy::Change(&how),
        );
        if done == Severity::Error {
            return;
        }
        self.links[i].item.name.clone_from(&new);
        let rename = |name: &mut String| {
            if is_world(name) {
                name.clone_from(&new);
            }
        };
        for joint in &mut self.joints {
            rename(&mut joint.item.parent);
            rename(&mut joint.item.child);
        }
        self.geometry.iter_mut().for_each(|g| rename(&mut g.link));
        self.frames.iter_mut().for_each(|x| rename(&mut x.item.link));
    }

    /// Reports links that hold each other in a ring.
    fn rings(&self, holder: &[Option<usize>], parent: &[Option<usize>], f: &mut Findings) {
        // Zero: not met; else the number of the walk that met it.
        let mut met = vec![0; holder.len()];
        for start in 0..holder.len() {
            let (walk, mut l) = (start + 1, start);
            while met[l] == 0 {
                met[l] = walk;
                match parent[l] {
                    Some(p) => l = p,
                    None => break,
                }
            }
            if met[l] != walk || parent[l].is_none() {
                continue;
            }
            let (first, mut ring) = (l, Vec::new());
            loop {
                ring.push(shortened(&self.links[l].item.name));
                match parent[l] {
                    Some(p) if p != first && ring.len() < 5 => l = p,
                    _ => break,
                }
            }
            let joint = holder[first].map(|j| joint_at(&self.joints[j]));
            let at = joint.unwrap_or(link_at(&self.links[first]));
            let more = if ring.len() == 5 { ", …" } else { "" };
            let message = format!("links hold each other in a ring: {}{more}", ring.join(", "));
            f.error(
                at,
                "cycle",
                message,
                "remove one of the joints; a closed loop is a constraint, not a joint",
            );
        }
    }

    /// Welds what no joint holds to the world, first in the order of joints.
    fn root(&mut self, roots: &[usize], f: &mut Findings) {
        if let [first, second, ..] = roots[..] {
            let other = shortened(&self.links[first].item.name);
            let message = format!(
                "no joint holds this link, nor link `{other}`: the robot has {} roots",
                roots.len()
            );
            let advice = "connect it to another link with a joint";
            let remedy = Remedy::Change("each is welded to the world");
            f.judge(link_at(&self.links[second]), "two-roots", message, advice, remedy);
        }
        let mut taken: HashSet<String> = self.joints.iter().map(|j| j.item.name.clone()).collect();
        let mut welds = Vec::with_capacity(roots.len() + self.joints.len());
        for (i, &l) in roots.iter().enumerate() {
            let wish = if i == 0 {
                "root_joint".to_owned()
            } else {
                format!("root_joint{}", i + 1)
            };
            let name = free_name(&wish, |name| taken.contains(name));
            taken.insert(name.clone());
            let link = &self.links[l];
            welds.push(Placed {
                item: Joint::fixed(name).between(WORLD, link.item.name.clone()),
                spot: link.spot,
            });
        }
        welds.append(&mut self.joints);
        self.joints = welds;
    }

    /// The name that may have been meant.
    fn hint(&self, name: &str) -> String {
        if self.links.len() > HINTED || name.len() > 64 {
            return String::new();
        }
        linkwork::model::did_you_mean(name, self.links.iter().map(|l| &*l.item.name).filter(|n| n.len() <= 64))
    }
}
