//! What a state determines, computed once and read by many.
//!
//! A stage is a struct of arrays in the compiled frames, filled by one sweep. [`Stages`] owns them all and knows which
//! are filled; the views of [`crate::workspace`] hand them out, so that nothing stale can be read.

pub(crate) mod branches;
pub(crate) mod cache_lines;
pub(crate) mod crossing;
pub(crate) mod diagonal;
mod filled;
pub(crate) mod home_gains;
pub(crate) mod inertia_rates;
pub(crate) mod inflow;
pub(crate) mod joints;
pub(crate) mod linear;
pub(crate) mod out_of_line;
pub(crate) mod outflow;
pub(crate) mod rates;
pub(crate) mod riccati;
mod scratch;
pub(crate) mod velocity;
pub(crate) mod way_to_parent;
pub(crate) mod world;

use crate::coupled::stage::embedded::Embedded;
use crate::coupled::stage::{Coupled, Lent};
use crate::model::Compiled;
use crate::plan::{Course, Whole};
use crate::scalar::{Pack, Scalar};
use crate::spatial::{Force, Motion};
use cache_lines::Numbers;
use diagonal::Diagonal;
use filled::Filled;
use home_gains::HomeGain;
use joints::Joints;
use linear::Linear;
use rates::Rate;
use riccati::Riccati;
use scratch::Scratch;
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
    pub(crate) diagonal: Diagonal<S>,
    /// External forces on the links, in their compiled frames, and whether there are any.
    pub(crate) loads: Vec<Force<S>>,
    pub(crate) loaded: bool,
    /// α(k) of the links' origins, with the base accelerating against gravity.
    pub(crate) alpha: Vec<Motion<S>>,
    /// Forces across the joints, or what is on the way to them.
    pub(crate) force: Vec<Force<S>>,
    pub(crate) coupled: Lent<Coupled<S>>,
    pub(crate) embedded: Embedded<S>,
    /// The point that dynamics is linearized about.
    pub(crate) linear: Linear<S>,
    pub(crate) scratch: Scratch<S>,
}

/// Up to so many degrees of freedom, room for dense results is made with the workspace; beyond, when first needed.
pub(crate) const LARGE: usize = 1000;

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
            diagonal: Diagonal::new(m),
            loads: vec![Force::ZERO; n],
            loaded: false,
            alpha: vec![Motion::ZERO; n],
            force: vec![Force::ZERO; n],
            coupled: Lent::new(Coupled::new(m)),
            embedded: Embedded::new(m),
            linear: Linear::new(m),
            scratch: Scratch::new(m),
        }
    }

    /// Whether forward dynamics looks at the pivots of D on its way: not where operations are counted or slow.
    pub(crate) const JUDGES: bool = S::ORDER == 0 && S::JUDGES;

    /// Keeps what it saw.
    #[inline(always)]
    pub(crate) fn judge(&mut self, unsound: S) {
        self.unsound = unsound;
        self.filled.judged = const { Self::JUDGES };
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
        self.riccati.fill::<SPECIAL>(m, &self.joints, &mut self.scratch.waiting);
        self.filled.gains = true;
    }

    /// D and G, without keeping P where that takes code of its own.
    #[inline(always)]
    pub(crate) fn fill_gains<const SPECIAL: bool>(&mut self, m: &Compiled) {
        if SPECIAL {
            self.riccati
                .fill_gains::<SPECIAL>(m, &self.joints, &mut self.scratch.waiting);
        } else {
            self.need_riccati(m);
        }
    }

    /// G at home, and the columns that go with it.
    #[inline(always)]
    pub(crate) fn fill_home_gains<const SPECIAL: bool>(&mut self, m: &Compiled) {
        self.need_columns(m);
        self.need_gains(m);
        home_gains::fill(m, &self.world, &self.riccati, &mut self.home_gains);
    }
}

/// Fills a stage.
type Fill<S> = fn(&Compiled, &mut Stages<S>);

/// The stages that are filled on demand, as a list for a macro: the stage, the name of the sweep that fills it, what asks for
/// it, and what fills it.
macro_rules! each_stage {
    ($then:ident) => {
        $then!(
            rates Rates need_rates fill_rates,
            velocities Velocities need_velocities fill_velocities,
            world World need_world fill_world,
            columns Columns need_columns fill_columns,
            riccati Riccati need_riccati fill_riccati,
            gains Gains need_gains fill_gains,
            home_gains HomeGains need_home_gains fill_home_gains
        );
    };
}
pub(crate) use each_stage;

macro_rules! fills {
    ($($stage:ident $name:ident $need:ident $fill:ident),*) => {
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

each_stage!(fills);

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
