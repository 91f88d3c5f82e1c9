//! Rewriting by the laws, never to anything that costs more.

use super::laws::{self, Law};
use super::notation::Notation;
use super::op::Op;
use super::sum::{Factor, Sum, Term};
use std::cell::Cell;

/// More terms than this are not multiplied out.
const MOST_TERMS: usize = 64;
/// So many laws may be applied in a row.
const MOST_STEPS: usize = 200;

/// What a search may cost: factors of sums that are looked at, each as often as the sum has factors, as the cost of a sum
/// grows about so; a second's worth. A count, not a time: the same expression has the same form on every machine.
const BUDGET: usize = 4_000_000;

/// What is left to spend on a search.
pub(crate) struct Budget {
    left: Cell<usize>,
    /// Factors of what is looked at along with every sum.
    beside: usize,
}

impl Budget {
    /// That of one expression.
    pub(crate) fn new() -> Self {
        Self {
            left: Cell::new(BUDGET),
            beside: 0,
        }
    }

    /// A part of it for one search; what that leaves goes back by [`Self::take_back`].
    pub(crate) fn part(&self, one_of: usize, beside: usize) -> Self {
        let part = self.left.get() / one_of.max(1);
        self.left.set(self.left.get() - part);
        Self {
            left: Cell::new(part),
            beside,
        }
    }

    pub(crate) fn take_back(&self, part: Self) {
        self.left.set(self.left.get() + part.left.get());
    }

    /// Spends what a look at a sum costs; false where nothing is left.
    fn spend(&self, sum: &Sum) -> bool {
        let size = sum.size() + self.beside;
        match self.left.get().checked_sub(size * size + size) {
            Some(left) => {
                self.left.set(left);
                true
            }
            None => {
                self.left.set(0);
                false
            }
        }
    }

    fn is_spent(&self) -> bool {
        self.left.get() == 0
    }
}

/// An expression and the laws that led to it.
#[derive(Clone, Debug)]
pub(crate) struct Rewritten {
    pub(crate) sum: Sum,
    pub(crate) laws: Vec<&'static Law>,
    pub(crate) cost: f64,
    /// Whether the search ended before all was tried.
    pub(crate) cut_short: bool,
}

/// The cheapest form that is found, by `cost`.
pub(crate) fn cheapest(sum: &Sum, rotors: bool, budget: &Budget, cost: &dyn Fn(&Sum) -> f64) -> Rewritten {
    let given = Rewritten::new(kept(sum.clone(), rotors), Vec::new(), cost);
    let flat = match given.sum.expanded(MOST_TERMS) {
        Some(flat) => flat,
        None if is_power(&given.sum) => return by_parts(given, rotors, budget, cost),
        None => given.sum.clone(),
    };
    let flat = Rewritten::new(flat, Vec::new(), cost);
    // What has a name gets it at first, so that inverses can meet; then names are written out again.
    let pairs: Vec<&'static Law> = laws::pairs(rotors).collect();
    let products: Vec<&'static Law> = laws::named().iter().collect();
    let mut named = flat.clone();
    for _ in 0..2 {
        named = exhaust(exhaust(named, &pairs, rotors, budget), &products, rotors, budget);
        named = descend(Rewritten::new(named.sum, named.laws, cost), rotors, cost, budget);
    }
    let mut candidates = Vec::new();
    for way in laws::written_out() {
        let way: Vec<&'static Law> = way.iter().collect();
        let out = exhaust(named.clone(), &way, rotors, budget);
        candidates.push(descend(Rewritten::new(out.sum, out.laws, cost), rotors, cost, budget));
    }
    candidates.extend([named, descend(flat, rotors, cost, budget), given]);
    let first = candidates.swap_remove(0);
    let best = candidates
        .into_iter()
        .fold(first, |best, next| if next.cost < best.cost { next } else { best });
    Rewritten {
        cut_short: budget.is_spent(),
        ..best
    }
}

/// Whether some product has so many parentheses that their order is best kept.
fn is_power(sum: &Sum) -> bool {
    let parentheses = |t: &Term| t.factors.iter().filter(|f| matches!(f, Factor::Sum(_))).count();
    sum.terms.iter().any(|t| parentheses(t) > 3)
}

/// What is too long to be multiplied out: every parenthesis by itself, equal ones once.
fn by_parts(given: Rewritten, rotors: bool, budget: &Budget, cost: &dyn Fn(&Sum) -> f64) -> Rewritten {
    let mut known: Vec<(Sum, Rewritten)> = Vec::new();
    let (mut sum, mut laws) = (given.sum.clone(), Vec::new());
    for factor in sum.terms.iter_mut().flat_map(|t| &mut t.factors) {
        let Factor::Sum(inner) = factor else { continue };
        let found = match known.iter().find(|(of, _)| *of == **inner) {
            Some((_, found)) => found.clone(),
            None => {
                let alone = |sum: &Sum| super::algorithm::cost_of(sum);
                let found = cheapest(inner, rotors, budget, &alone);
                known.push(((**inner).clone(), found.clone()));
                laws.extend(found.laws.iter().copied());
                found
            }
        };
        **inner = found.sum;
    }
    let whole = Rewritten {
        cut_short: true,
        ..Rewritten::new(sum, laws, cost)
    };
    if whole.cost < given.cost {
        whole
    } else {
        Rewritten {
            cut_short: true,
            ..given
        }
    }
}

/// Applies some laws wherever they can be.
fn exhaust(mut now: Rewritten, laws: &[&'static Law], rotors: bool, budget: &Budget) -> Rewritten {
    for _ in 0..MOST_STEPS {
        if !budget.spend(&now.sum) {
            break;
        }
        let apply = |law: &&'static Law| {
            let all = match law.left.len() {
                1 => laws::apply_product(&now.sum, law),
                _ => laws::apply_pair(&now.sum, law),
            };
            Some((all.into_iter().next()?, *law))
        };
        let Some((sum, law)) = laws.iter().find_map(apply) else {
            break;
        };
        now.sum = kept(sum, rotors);
        now.laws.push(law);
        if now.sum.terms.len() > MOST_TERMS {
            break;
        }
    }
    now
}

/// Applies laws as long as one lowers the cost; one that keeps it is taken if another then lowers it.
fn descend(mut now: Rewritten, rotors: bool, cost: &dyn Fn(&Sum) -> f64, budget: &Budget) -> Rewritten {
    'steps: for _ in 0..MOST_STEPS {
        let next = neighbours(&now, rotors, cost, budget);
        if let Some(lower) = least(&next).filter(|n| n.cost < now.cost) {
            now = lower.clone();
            continue;
        }
        for via in next.iter().filter(|n| n.cost <= now.cost * DETOUR) {
            let beyond = neighbours(via, rotors, cost, budget);
            if let Some(lower) = least(&beyond).filter(|n| n.cost < now.cost) {
                now = lower.clone();
                continue 'steps;
            }
        }
        return now;
    }
    now
}

/// How much more a step may cost that leads to a cheaper one.
const DETOUR: f64 = 1.3;

fn least(of: &[Rewritten]) -> Option<&Rewritten> {
    of.iter().reduce(|a, b| if b.cost < a.cost { b } else { a })
}

/// Everything that one law leads to.
fn neighbours(now: &Rewritten, rotors: bool, cost: &dyn Fn(&Sum) -> f64, budget: &Budget) -> Vec<Rewritten> {
    let mut found: Vec<Rewritten> = Vec::new();
    let products = laws::products(rotors).map(|law| (law, laws::apply_product(&now.sum, law)));
    let pairs = laws::pairs(rotors).map(|law| (law, laws::apply_pair(&now.sum, law)));
    for (law, sums) in products.chain(pairs) {
        for sum in sums {
            if !budget.spend(&sum) {
                return found;
            }
            let sum = kept(sum, rotors);
            if sum.terms.len() > MOST_TERMS || found.iter().any(|f| f.sum == sum) {
                continue;
            }
            let mut laws = now.laws.clone();
            laws.push(law);
            let cost = cost(&sum);
            found.push(Rewritten {
                sum,
                laws,
                cost,
                cut_short: false,
            });
        }
    }
    found
}

pub(crate) fn kept(sum: Sum, rotors: bool) -> Sum {
    if rotors { sum } else { without_rotors(&sum) }
}

/// What is left where there are no rotors.
fn without_rotors(sum: &Sum) -> Sum {
    let mut terms = Vec::new();
    for term in sum.terms.iter().filter(|t| !laws::has_rotors(t)) {
        let mut factors = Vec::with_capacity(term.factors.len());
        for factor in &term.factors {
            let mut factor = factor.clone();
            if let Some(inner) = factor.inside_mut() {
                *inner = without_rotors(inner);
            }
            factors.push(factor);
        }
        terms.push(Term::new(term.scale, factors));
    }
    Sum::of_terms(sum.range, sum.domain, terms)
}

impl Rewritten {
    fn new(sum: Sum, laws: Vec<&'static Law>, cost: &dyn Fn(&Sum) -> f64) -> Self {
        let cost = cost(&sum);
        Self {
            sum,
            laws,
            cost,
            cut_short: false,
        }
    }

    /// The laws as equations, in order of their first use. What only gives a thing its name, or takes it back, is
    /// left out.
    pub(crate) fn equations(&self, rotors: bool, notation: Notation) -> Vec<String> {
        let mut equations: Vec<String> = Vec::new();
        let undone = |law: &Law| {
            let back = |other: &&&Law| other.left == law.right && other.right == law.left;
            self.laws.iter().any(|other| back(&other))
        };
        let naming =
            |law: &Law| law.left.len() == 2 && matches!(law.right[0].factors[..], [Factor::Op(Op::N | Op::F, _)]);
        for law in self.laws.iter().filter(|law| !undone(law) && !naming(law)) {
            let equation = law.written(rotors, notation);
            if !equations.contains(&equation) {
                equations.push(equation);
            }
        }
        equations
    }
}
