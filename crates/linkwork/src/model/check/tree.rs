//! Links, and the joints that hold them.

use super::did_you_mean;
use crate::coupled::model::{Lead, resolve};
use crate::model::{Builder, WORLD};
use crate::{Error, Result};
use std::collections::HashMap;

/// A forest on the world: every link is held by one joint, and no link holds itself.
pub(crate) struct Tree {
    /// Per link, the joint that holds it.
    pub(crate) inboard: Vec<usize>,
    /// Per link, its parent link; none for the world.
    pub(crate) parent: Vec<Option<usize>>,
    /// Links, each after its parent.
    pub(crate) outward: Vec<usize>,
    /// Per frame, its link; none for the world.
    pub(crate) frames: Vec<Option<usize>>,
    /// Per joint, whom it follows in the end.
    pub(crate) leads: Vec<Option<Lead>>,
}

impl Tree {
    /// Resolves names and refuses what is no forest.
    pub(super) fn new(given: &Builder, links: &HashMap<String, usize>) -> Result<Self> {
        let find = |what, name: &str, link: &str| {
            links.get(link).copied().ok_or_else(|| Error::Dangling {
                what,
                name: name.to_owned(),
                link: link.to_owned(),
                hint: hint(given, link),
            })
        };
        let find_or_world = |what, name: &str, link: &str| match link {
            WORLD => Ok(None),
            _ => find(what, name, link).map(Some),
        };
        let n = given.links.len();
        let (mut inboard, mut parent) = (vec![usize::MAX; n], vec![None; n]);
        for (j, joint) in given.joints.iter().enumerate() {
            let inner = find_or_world("joint", &joint.name, &joint.parent)?;
            let child = find("joint", &joint.name, &joint.child)?;
            if inboard[child] != usize::MAX {
                return Err(Error::HeldTwice {
                    link: joint.child.clone(),
                    first: given.joints[inboard[child]].name.clone(),
                    second: joint.name.clone(),
                });
            }
            (inboard[child], parent[child]) = (j, inner);
        }
        if let Some(l) = inboard.iter().position(|j| *j == usize::MAX) {
            return Err(Error::Unheld {
                link: given.links[l].name.clone(),
            });
        }
        let outward = outward(&parent).map_err(|ring| Error::Cycle {
            links: ring.iter().map(|&l| given.links[l].name.clone()).collect(),
        })?;
        let frames = given.frames.iter();
        let frames = frames
            .map(|f| find_or_world("frame", &f.name, &f.link))
            .collect::<Result<_>>()?;
        Ok(Self {
            inboard,
            parent,
            outward,
            frames,
            leads: resolve(&given.joints, &given.couplings)?,
        })
    }
}

/// Links so that each comes after its parent, breadth first; or a ring of links that hold each other.
fn outward(parent: &[Option<usize>]) -> core::result::Result<Vec<usize>, Vec<usize>> {
    let n = parent.len();
    // Children of each link in one array: counted, summed, dealt out. The world is the last of n + 1 holders.
    let holder = |l: usize| parent[l].unwrap_or(n);
    let mut start = vec![0; n + 2];
    for l in 0..n {
        start[holder(l) + 1] += 1;
    }
    for i in 0..=n {
        start[i + 1] += start[i];
    }
    let (mut children, mut next) = (vec![0; n], start.clone());
    for l in 0..n {
        children[next[holder(l)]] = l;
        next[holder(l)] += 1;
    }
    let mut order = Vec::with_capacity(n);
    order.extend_from_slice(&children[start[n]..start[n + 1]]);
    let mut seen = 0;
    while seen < order.len() {
        let l = order[seen];
        order.extend_from_slice(&children[start[l]..start[l + 1]]);
        seen += 1;
    }
    if order.len() == n {
        return Ok(order);
    }
    // A link that the world does not reach leads inward to a ring.
    let mut reached = vec![false; n];
    order.iter().for_each(|&l| reached[l] = true);
    let mut l = reached.iter().position(|r| !r).unwrap_or_default();
    while !reached[l] {
        reached[l] = true;
        l = holder(l);
    }
    let (first, mut ring) = (l, vec![l]);
    while holder(l) != first {
        l = holder(l);
        ring.push(l);
    }
    Err(ring)
}

/// What may have been meant by a link's name.
fn hint(given: &Builder, link: &str) -> String {
    if let Some(frame) = given.frames.iter().find(|f| f.name == link) {
        return format!("; it is a frame: give its link `{}`, and compose the poses", frame.link);
    }
    if link.is_empty() {
        return "; connect it with Joint::between".to_owned();
    }
    if link == WORLD {
        return "; the world is held by nothing: exchange inner and outer link".to_owned();
    }
    let links = given.links.iter().map(|l| l.name.as_str());
    did_you_mean(link, links.chain([WORLD]))
}
