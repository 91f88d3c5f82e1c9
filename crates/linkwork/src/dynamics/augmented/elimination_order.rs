//! The order in which free bodies are eliminated, and what fills in.

/// Memory for a plan: places are those of links in the sorted list of all that are joined.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    pub(super) links: Vec<usize>,
    /// Per block, those that fill in included: the places of its rows and columns.
    pub(super) between: Vec<(usize, usize)>,
    /// The places that are eliminated, in their order, where the neighbours of each start, and the neighbours: place and block.
    pub(super) order: Vec<usize>,
    pub(super) starts: Vec<usize>,
    pub(super) steps: Vec<(usize, usize)>,
    pub(super) node_of: Vec<usize>,
    /// Per place its neighbours, sorted: place and block.
    near: Vec<Vec<(usize, usize)>>,
    waiting: Vec<usize>,
}

/// Room that a list of neighbours starts with, so that changing pairs seldom make it grow.
const ROOM: usize = 16;

impl Draft {
    /// Eliminates the free ones of the links that `pattern` joins, those with the fewest neighbours first. `fills` receives, for each
    /// of them, each of its neighbours and each before that, the block between these two.
    pub(super) fn eliminate(
        &mut self,
        pattern: &[(usize, usize)],
        free: impl Fn(usize) -> bool,
        fills: &mut Vec<usize>,
    ) {
        self.links.clear();
        self.links.extend(pattern.iter().flat_map(|&(a, b)| [a, b]));
        self.links.sort_unstable();
        self.links.dedup();
        let links = &self.links;
        for list in &mut self.near {
            list.clear();
        }
        while self.near.len() < links.len() {
            self.near.push(Vec::with_capacity(ROOM));
        }
        let at = |k: usize| links.partition_point(|&other| other < k);
        self.between.clear();
        for &(a, b) in pattern {
            let (a, b) = (at(a), at(b));
            insert(&mut self.near[a], b, self.between.len());
            insert(&mut self.near[b], a, self.between.len());
            self.between.push((a, b));
        }
        fills.clear();
        self.order.clear();
        self.steps.clear();
        self.starts.clear();
        self.waiting.clear();
        self.waiting.extend((0..links.len()).filter(|&i| free(links[i])));
        while let Some(next) = (0..self.waiting.len()).min_by_key(|&i| {
            let place = self.waiting[i];
            (self.near[place].len(), place)
        }) {
            let i = self.waiting.swap_remove(next);
            let start = self.steps.len();
            self.steps.extend_from_slice(&self.near[i]);
            self.near[i].clear();
            for at in start..self.steps.len() {
                let j = self.steps[at].0;
                self.near[j].retain(|&(other, _)| other != i);
                for before in start..at {
                    let k = self.steps[before].0;
                    let found = self.near[j].binary_search_by_key(&k, |&(other, _)| other);
                    let block = match found {
                        Ok(place) => self.near[j][place].1,
                        Err(_) => {
                            let block = self.between.len();
                            insert(&mut self.near[j], k, block);
                            insert(&mut self.near[k], j, block);
                            self.between.push((j.min(k), j.max(k)));
                            block
                        }
                    };
                    fills.push(block);
                }
            }
            self.order.push(i);
            self.starts.push(start);
        }
        self.starts.push(self.steps.len());
    }
}

fn insert(list: &mut Vec<(usize, usize)>, place: usize, block: usize) {
    let at = list.partition_point(|&(other, _)| other < place);
    list.insert(at, (place, block));
}
