//! What a state determines, computed once and read by many.
//!
//! A stage is a struct of arrays in the compiled frames, filled by one sweep. [`Stages`] owns them all and knows which
//! are filled; the views of [`crate::workspace`] hand them out, so that nothing stale can be read.

pub(crate) mod branches;
pub(crate) mod changing;
pub(crate) mod crossing;
pub(crate) mod diagonal;
pub(crate) mod home;
pub(crate) mod inflow;
pub(crate) mod joints;
pub(crate) mod linear;
pub(crate) mod numbers;
pub(crate) mod out_of_line;
pub(crate) mod outflow;
pub(crate) mod rates;
pub(crate) mod riccati;
pub(crate) mod velocity;
pub(crate) mod way;
pub(crate) mod world;

use crate::coupled::stage::embedded::Embedded;
use crate::coupled::stage::{Coupled, Lent};
use crate::model::Compiled;
use crate::plan::{Course, Whole};
use crate::scalar::{Pack, Scalar};
use crate::spatial::{Force, Motion, RigidBody};
use branches::Abreast;
use diagonal::Diagonal;
use home::HomeGain;
use inflow::Waiting;
use joints::Joints;
use linear::Linear;
use numbers::{LINE, Numbers};
use rates::Rate;
use riccati::Riccati;
use world::World;

/// All memory of a workspace.
#[derive(Clone, Debug)]
pub(crate) struct Stages<S: 'static> {
    fills: &'static Fills<S>,
    /// Which stages hold for the present state.
    pub(crate) filled: Filled,
    /// Zero where every pivot of D is sound.
    pub(crate) unsound: S,
    pub(crate) q: Numbers<S>,
    pub(crate) qd: Numbers<S>,
    pub(crate) joints: Joints<S>,
    pub(crate) world: World<S>,
    pub(crate) rates: Vec<Rate<S>>,
    /// V(k) in the links' compiled frames.
    pub(crate) velocities: Vec<Motion<S>>,
    pub(crate) riccati: Riccati<S>,
    /// G and D^-½ per degree of freedom, in the world's axes about home.
    pub(crate) home_gains: Vec<HomeGain<S>>,
    /// The links from one to its root.
    pub(crate) path: Vec<usize>,
    pub(crate) diagonal: Diagonal<S>,
    /// External forces on the links, in their compiled frames, and whether there are any.
    pub(crate) loads: Vec<Force<S>>,
    pub(crate) loaded: bool,
    /// α(k) of the links' origins, with the base accelerating against gravity.
    pub(crate) alpha: Vec<Motion<S>>,
    /// λ(k), the accelerations that 𝓜⁻¹ alone gives.
    pub(crate) lambda: Vec<Motion<S>>,
    /// The links' motions along a third vector of joint rates, where one is asked for.
    pub(crate) along: Vec<Motion<S>>,
    /// Forces across the joints, or what is on the way to them.
    pub(crate) force: Vec<Force<S>>,
    /// Composite bodies and their rates of change.
    pub(crate) composite: Vec<RigidBody<S>>,
    pub(crate) composite_rate: Vec<RigidBody<S>>,
    /// ε, and other numbers per degree of freedom.
    pub(crate) eps: Vec<S>,
    pub(crate) dofs: Vec<S>,
    /// T − T(q̈) and the change of q̈, where forward dynamics is refined.
    pub(crate) refinement: [Vec<S>; 2],
    /// Per degree of freedom, a motion or a force in the world's axes.
    pub(crate) motions: Vec<Motion<S>>,
    pub(crate) forces: Vec<Force<S>>,
    /// Rows of one number per column, for dense results.
    pub(crate) columns: Vec<S>,
    /// Columns in registers, and the rows that they make.
    pub(crate) tiles: Vec<S>,
    pub(crate) coupled: Lent<Coupled<S>>,
    /// Whether the last sweep is not defined for followers, and was not run.
    pub(crate) is_refused: bool,
    pub(crate) embedded: Embedded<S>,
    pub(crate) waiting: Waiting<S>,
    pub(crate) waiting_too: Waiting<S>,
    pub(crate) abreast: Abreast<S>,
    /// The point that dynamics is linearized about.
    pub(crate) linear: Linear<S>,
}

/// Up to so many degrees of freedom, room for dense results is made with the workspace; beyond, when first needed.
pub(crate) const LARGE: usize = 1000;

/// Which stages are filled.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Filled {
    pub(crate) world: bool,
    pub(crate) columns: bool,
    pub(crate) rates: bool,
    pub(crate) velocities: bool,
    pub(crate) riccati: bool,
    /// D and G are there; P and P⁺ only with `riccati`.
    pub(crate) gains: bool,
    pub(crate) home_gains: bool,
    /// P⁺, D and G are there.
    pub(crate) rests: bool,
    /// q̇ came from total rates: P⁺, η, V and gravity in the links' axes are there.
    pub(crate) settled: bool,
    /// The Riccati recursion was run with couplings in it.
    pub(crate) embedded: bool,
    /// D is in the stage of linearized dynamics.
    pub(crate) eliminated: bool,
    /// It is known whether the pivots of D are sound.
    pub(crate) judged: bool,
}

impl<S: Scalar> Stages<S> {
    pub(crate) fn new(m: &Compiled, fills: &'static Fills<S>) -> Self {
        let (n, nv) = (m.bodies.len(), m.nv);
        Self {
            fills,
            filled: Filled::default(),
            unsound: S::ZERO,
            q: Numbers::new(m.nq),
            qd: Numbers::new(nv),
            joints: Joints::new(m),
            world: World::new(m),
            rates: vec![Rate::ZERO; n],
            velocities: vec![Motion::ZERO; n],
            riccati: Riccati::new(m),
            home_gains: vec![HomeGain::ZERO; nv],
            path: Vec::with_capacity(n),
            diagonal: Diagonal::new(m),
            loads: vec![Force::ZERO; n],
            loaded: false,
            alpha: vec![Motion::ZERO; n],
            lambda: vec![Motion::ZERO; n],
            along: vec![Motion::ZERO; n],
            force: vec![Force::ZERO; n],
            composite: vec![RigidBody::ZERO; n],
            composite_rate: vec![RigidBody::ZERO; n],
            eps: vec![S::ZERO; nv],
            dofs: vec![S::ZERO; nv],
            refinement: [(); 2].map(|()| vec![S::ZERO; if m.refines { nv } else { 0 }]),
            motions: vec![Motion::ZERO; nv],
            forces: vec![Force::ZERO; nv],
            columns: Vec::with_capacity(if nv <= LARGE {
                (6 * m.columns.levels + 2) * nv
            } else {
                0
            }),
            tiles: Vec::with_capacity(Self::tiles(m)),
            coupled: Lent::new(Coupled::new(m)),
            is_refused: false,
            embedded: Embedded::new(m),
            waiting: Waiting::new(m.branches),
            waiting_too: Waiting::new(m.branches),
            abreast: Abreast::new(m),
            linear: Linear::new(m),
        }
    }

    /// How much room dense results need for columns and rows.
    fn tiles(m: &Compiled) -> usize {
        match m.columns.tiles {
            Some(_) => linear::inverse_room(m) + LINE,
            None if m.nv <= LARGE => (m.nv * m.nv).max(6 * m.nv) + LINE,
            None => 0,
        }
    }

    /// Makes room for so many numbers in `tiles`; where the first of them stands, so that registers do not straddle lines
    /// of the cache.
    #[inline(always)]
    pub(crate) fn make_room(&mut self, numbers: usize) -> usize {
        if self.tiles.len() < numbers + LINE {
            self.tiles.resize(numbers + LINE, S::ZERO);
        }
        numbers::first_of_line(&self.tiles)
    }

    /// Whether forward dynamics looks at the pivots of D on its way: not where operations are counted or slow.
    pub(crate) const JUDGES: bool = S::ORDER == 0 && S::JUDGES;

    /// Keeps what it saw.
    #[inline(always)]
    pub(crate) fn judge(&mut self, unsound: S) {
        self.unsound = unsound;
        self.filled.judged = const { Self::JUDGES };
    }

    /// Whether the pivots of D stand in the stage of linearized dynamics alone.
    #[inline(always)]
    pub(crate) fn has_pivots_at_home(&self) -> bool {
        self.filled.eliminated && !self.filled.gains && !self.filled.riccati
    }

    /// A new configuration: nothing that depended on the old one holds.
    #[inline(always)]
    pub(crate) fn pose<P: Pack<S>>(&mut self, m: &Compiled, q: &[S]) {
        self.leave();
        copy::<S, P>(q, &mut self.q);
        self.joints.fill::<P>(m, q);
    }

    /// Nothing holds any longer, and nothing pushes.
    #[inline(always)]
    pub(crate) fn leave(&mut self) {
        self.filled = Filled::default();
        if self.loaded {
            self.loads.fill(Force::ZERO);
            self.loaded = false;
        }
    }

    // What each stage is filled with; the flags are the business of `need_…`.

    #[inline(always)]
    pub(crate) fn fill_rates<const SPECIAL: bool>(&mut self, m: &Compiled) {
        self.fill_rates_of::<SPECIAL>(m, Whole(m.bodies.len()));
    }

    /// The same for some links, parents first.
    #[inline(always)]
    pub(crate) fn fill_rates_of<const SPECIAL: bool>(&mut self, m: &Compiled, course: impl Course) {
        rates::fill::<S, SPECIAL>(m, &self.joints, &self.qd, &mut self.rates, course);
    }

    #[inline(always)]
    pub(crate) fn fill_velocities<const SPECIAL: bool>(&mut self, m: &Compiled) {
        velocity::fill::<S, SPECIAL>(m, &self.joints, &self.qd, &mut self.velocities);
    }

    #[inline(always)]
    pub(crate) fn fill_world<const SPECIAL: bool>(&mut self, m: &Compiled) {
        self.world.place::<S, false, SPECIAL>(m, &self.joints);
    }

    /// The same with several coordinates to a register.
    #[inline(always)]
    pub(crate) fn need_world_packed<P: Pack<S>>(&mut self, m: &Compiled) {
        if !self.filled.world {
            self.world.place::<P, false, true>(m, &self.joints);
            self.filled.world = true;
        }
    }

    /// The same, and the users' links.
    #[inline(always)]
    pub(crate) fn place_links_packed<P: Pack<S>>(&mut self, m: &Compiled) {
        if self.filled.world {
            return self.world.place_links::<P>(m);
        }
        self.world.place::<P, true, true>(m, &self.joints);
        self.filled.world = true;
    }

    #[inline(always)]
    pub(crate) fn fill_columns<const SPECIAL: bool>(&mut self, m: &Compiled) {
        self.need_world(m);
        self.world.span(m);
    }

    #[inline(always)]
    pub(crate) fn fill_riccati<const SPECIAL: bool>(&mut self, m: &Compiled) {
        self.riccati.fill::<SPECIAL>(m, &self.joints, &mut self.waiting);
        self.filled.gains = true;
    }

    /// D and G, without keeping P where that takes code of its own.
    #[inline(always)]
    pub(crate) fn fill_gains<const SPECIAL: bool>(&mut self, m: &Compiled) {
        if SPECIAL {
            self.riccati.fill_gains::<SPECIAL>(m, &self.joints, &mut self.waiting);
        } else {
            self.need_riccati(m);
        }
    }

    /// G at home, and the columns that go with it.
    #[inline(always)]
    pub(crate) fn fill_home_gains<const SPECIAL: bool>(&mut self, m: &Compiled) {
        self.need_columns(m);
        self.need_gains(m);
        home::fill(m, &self.world, &self.riccati, &mut self.home_gains);
    }
}

/// Fills a stage.
type Fill<S> = fn(&Compiled, &mut Stages<S>);

macro_rules! fills {
    ($($stage:ident $need:ident),*) => {
        /// The sweeps that fill stages, compiled for the processor at hand: once, whoever needs the stage.
        #[derive(Debug)]
        pub(crate) struct Fills<S: 'static> {
            $(pub(crate) $stage: Fill<S>),*
        }

        impl<S: Scalar> Stages<S> {
            $(#[inline(always)]
            pub(crate) fn $need(&mut self, m: &Compiled) {
                if !self.filled.$stage {
                    let fill = self.fills.$stage;
                    fill(m, self);
                    self.filled.$stage = true;
                }
            })*
        }
    };
}

fills!(
    rates need_rates,
    velocities need_velocities,
    world need_world,
    columns need_columns,
    riccati need_riccati,
    gains need_gains,
    home_gains need_home_gains
);

/// Copies a few numbers without a call, since all that follows waits for them.
#[inline(always)]
fn copy<S: Scalar, P: Pack<S>>(from: &[S], to: &mut [S]) {
    let n = to.len();
    let Some(last) = n.checked_sub(P::COLUMNS) else {
        return to.copy_from_slice(from);
    };
    for i in (0..last).step_by(P::COLUMNS) {
        P::read(&from[i..]).write(&mut to[i..]);
    }
    P::read(&from[last..]).write(&mut to[last..]);
}
