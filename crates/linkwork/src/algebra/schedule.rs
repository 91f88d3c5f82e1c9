//! From a graph to sweeps: each node in the earliest sweep that runs its way.

use super::cost::{self, Cost};
use super::graph::{Core, Graph, Id, Local, Node};
use super::space::Space;

/// What is done on one way along the links.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sweep {
    pub(crate) inward: bool,
    /// The Riccati recursion, or that of Υ, runs along.
    pub(crate) riccati: bool,
    pub(crate) upsilon: bool,
    /// Link by link, in this order.
    pub(crate) nodes: Vec<Id>,
    /// When the sweep is over.
    pub(crate) after: Vec<Id>,
}

impl Sweep {
    /// Whether it needs a direction at all.
    fn directed(&self, graph: &Graph) -> bool {
        self.riccati || self.upsilon || self.nodes.iter().any(|&id| way(&graph.nodes[id]).is_some())
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    /// Before the first sweep.
    pub(crate) before: Vec<Id>,
    pub(crate) sweeps: Vec<Sweep>,
    pub(crate) keeps: Keeps,
}

/// What of the Riccati equation must be kept for later steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Keeps {
    pub(crate) gains: bool,
    pub(crate) p: bool,
    pub(crate) p_plus: bool,
    pub(crate) upsilon: bool,
}

/// Whether a node runs inward, outward or neither.
fn way(node: &Node) -> Option<bool> {
    match node {
        Node::Core(core, ..) => Some(core.inward()),
        Node::Shift(inward, _) => Some(*inward),
        Node::PRate(_) | Node::Composite => Some(true),
        Node::RateAdjoint(_) | Node::UpsilonRate(..) => Some(false),
        _ => None,
    }
}

/// Whether a node is computed as a whole, between sweeps.
fn between(graph: &Graph, id: Id) -> bool {
    match graph.nodes[id] {
        Node::Given(_) | Node::Unit => false,
        Node::Spread(_) | Node::Pick(_) | Node::Dot(..) | Node::Solve(..) | Node::Augmented(..) => true,
        Node::Tie(_) | Node::Untie(_) | Node::TieRate(..) | Node::Seen(_) | Node::LogDet | Node::Matrix(..) => true,
        Node::Joint(of) | Node::Link(of) => matches!(graph.nodes[of], Node::Augmented(..)),
        _ => !matches!(graph.spaces[id], Space::Joint | Space::Motion | Space::Force),
    }
}

impl Keeps {
    fn of(graph: &Graph) -> Self {
        let mut keeps = Self::default();
        for (id, node) in graph.nodes.iter().enumerate() {
            match *node {
                Node::Local(local, _) => {
                    keeps.gains |= local.needs_riccati();
                    keeps.p |= matches!(local, Local::P | Local::PInv);
                    keeps.p_plus |= local == Local::PPlus;
                    keeps.upsilon |= local == Local::Upsilon;
                }
                Node::Core(..) => keeps.gains |= core_reads_gains(graph, id),
                Node::UpsilonRate(..) => keeps.upsilon = true,
                Node::LogDet => keeps.gains = true,
                Node::PRate(_) | Node::RateAdjoint(_) => {
                    keeps.gains = true;
                    keeps.p_plus = true;
                }
                _ => {}
            }
        }
        keeps
    }
}

/// Whether a recursion needs G: φ does where K t goes in or K*y comes out.
pub(crate) fn core_reads_gains(graph: &Graph, id: Id) -> bool {
    match graph.nodes[id] {
        Node::Core(Core::InPsi | Core::OutPsi, ..) => true,
        Node::Core(Core::InPhi, t, _) => t.is_some(),
        Node::Core(Core::OutPhi, ..) => joint_result(graph, id),
        _ => false,
    }
}

/// Whether the joint result of a recursion is asked for.
pub(crate) fn joint_result(graph: &Graph, core: Id) -> bool {
    graph.nodes.contains(&Node::Joint(core))
}

impl Schedule {
    /// The shorter of the schedules that start inward and outward.
    pub(crate) fn new(graph: &Graph) -> Self {
        let (inward, outward) = (Self::starting(graph, true), Self::starting(graph, false));
        if outward.count(graph) < inward.count(graph) {
            outward
        } else {
            inward
        }
    }

    fn starting(graph: &Graph, start_inward: bool) -> Self {
        let keeps = Keeps::of(graph);
        // Sweeps are numbered from one; zero is what is given.
        let is_inward = |level: usize| (level % 2 == 1) == start_inward;
        let next = |least: usize, inward: bool| {
            let least = least.max(1);
            if is_inward(least) == inward { least } else { least + 1 }
        };
        let riccati = if keeps.gains { next(1, true) } else { 0 };
        let upsilon = if keeps.upsilon { next(riccati, false) } else { 0 };
        let mut levels = vec![0; graph.nodes.len()];
        let mut last = riccati.max(upsilon);
        for id in 0..graph.nodes.len() {
            let node = &graph.nodes[id];
            if matches!(node, Node::Given(_) | Node::Unit) {
                continue;
            }
            let whole = between(graph, id);
            let mut level = usize::from(!whole);
            for read in graph.reads(id) {
                let ready = levels[read] + usize::from(between(graph, read) && !whole);
                level = level.max(ready);
            }
            match *node {
                Node::Local(Local::Upsilon, _) => level = level.max(upsilon),
                Node::Local(local, _) if local.needs_riccati() => level = level.max(riccati),
                Node::Core(..) if core_reads_gains(graph, id) => level = level.max(riccati),
                Node::PRate(_) | Node::RateAdjoint(_) | Node::RootRate(..) | Node::LogDet => {
                    level = level.max(riccati);
                }
                Node::UpsilonRate(..) => level = level.max(upsilon),
                _ => {}
            }
            if let Some(inward) = way(node) {
                level = next(level, inward);
            }
            levels[id] = level;
            last = last.max(level);
        }
        let mut schedule = Self {
            before: Vec::new(),
            sweeps: (1..=last)
                .map(|level| Sweep {
                    inward: is_inward(level),
                    riccati: level == riccati,
                    upsilon: level == upsilon,
                    ..Sweep::default()
                })
                .collect(),
            keeps,
        };
        for id in 0..graph.nodes.len() {
            let whole = between(graph, id);
            match (levels[id], whole) {
                (0, true) => schedule.before.push(id),
                (0, false) => {}
                (level, true) => schedule.sweeps[level - 1].after.push(id),
                (level, false) => schedule.sweeps[level - 1].nodes.push(id),
            }
        }
        schedule
    }

    /// How many sweeps there are; what goes link by link only needs none.
    pub(crate) fn count(&self, graph: &Graph) -> usize {
        let augmented = graph.nodes.iter().filter(|n| matches!(n, Node::Augmented(..))).count();
        self.sweeps.iter().filter(|s| s.directed(graph)).count() + 2 * augmented
    }

    /// What it all costs, per link.
    pub(crate) fn cost(&self, graph: &Graph) -> Cost {
        let mut total = cost::stages(self.keeps);
        for id in 0..graph.nodes.len() {
            total = total + cost::node(graph, id);
        }
        total.sweeps = self.count(graph);
        total
    }
}

/// What it costs to run every operator by itself, in a sweep of its own where it needs one.
pub(crate) fn naive_cost(graph: &Graph) -> Cost {
    let keeps = Keeps::of(graph);
    let mut total = cost::stages(keeps);
    total.sweeps = usize::from(keeps.gains) + usize::from(keeps.upsilon);
    for (id, node) in graph.nodes.iter().enumerate() {
        total = total + cost::node(graph, id);
        total.sweeps += usize::from(way(node).is_some()) + 2 * usize::from(matches!(node, Node::Augmented(..)));
    }
    total
}
