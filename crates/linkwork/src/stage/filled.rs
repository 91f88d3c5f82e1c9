//! Which stages hold for the present state. The flags stay in this room: others tell what they filled, and ask what is there.

/// Which stages are filled.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Filled {
    pub(super) world: bool,
    pub(super) columns: bool,
    pub(super) rates: bool,
    pub(super) velocities: bool,
    pub(super) riccati: bool,
    pub(super) gains: bool,
    pub(super) home_gains: bool,
    rests: bool,
    settled: bool,
    embedded: bool,
    reduced: bool,
    eliminated: bool,
    pub(super) judged: bool,
}

impl Filled {
    /// P, P⁺, D and G are there.
    #[inline(always)]
    pub(crate) fn has_riccati(self) -> bool {
        self.riccati
    }

    /// D and G are there.
    #[inline(always)]
    pub(crate) fn has_gains(self) -> bool {
        self.gains || self.riccati
    }

    /// P⁺, D and G are there, from diagonalized dynamics.
    #[inline(always)]
    pub(crate) fn has_rests(self) -> bool {
        self.rests
    }

    /// q̇ came from total rates: P⁺, η, V and gravity in the links' axes are there.
    #[inline(always)]
    pub(crate) fn is_settled(self) -> bool {
        self.settled
    }

    /// The Riccati recursion was run with couplings in it.
    #[inline(always)]
    pub(crate) fn is_embedded(self) -> bool {
        self.embedded
    }

    /// D came from 𝓜 of what is independent.
    #[inline(always)]
    pub(crate) fn is_reduced(self) -> bool {
        self.reduced
    }

    /// D is in the stage of linearized dynamics.
    #[inline(always)]
    pub(crate) fn is_eliminated(self) -> bool {
        self.eliminated
    }

    /// The pivots of D stand in the stage of linearized dynamics alone.
    #[inline(always)]
    pub(crate) fn has_pivots_at_home(self) -> bool {
        self.eliminated && !self.has_gains()
    }

    /// It is known whether the pivots of D are sound.
    #[inline(always)]
    pub(crate) fn is_judged(self) -> bool {
        self.judged
    }

    /// D and G were filled by a sweep that had another purpose.
    #[inline(always)]
    pub(crate) fn tell_gains(&mut self) {
        self.gains = true;
    }

    /// D and G were, and so were P and P⁺.
    #[inline(always)]
    pub(crate) fn tell_riccati(&mut self) {
        self.gains = true;
        self.riccati = true;
    }

    /// D, G and P⁺ were.
    #[inline(always)]
    pub(crate) fn tell_rests(&mut self) {
        self.gains = true;
        self.rests = true;
    }

    /// See [`Filled::is_settled`].
    #[inline(always)]
    pub(crate) fn tell_settled(&mut self) {
        self.velocities = true;
        self.settled = true;
    }

    /// See [`Filled::is_embedded`].
    #[inline(always)]
    pub(crate) fn tell_embedded(&mut self) {
        self.embedded = true;
    }

    /// See [`Filled::is_reduced`].
    #[inline(always)]
    pub(crate) fn tell_reduced(&mut self) {
        self.reduced = true;
    }

    /// See [`Filled::is_eliminated`].
    #[inline(always)]
    pub(crate) fn tell_eliminated(&mut self) {
        self.eliminated = true;
    }

    /// A new velocity: what depended on the last one no longer holds.
    #[inline(always)]
    pub(crate) fn forget_motion(&mut self) {
        self.rates = false;
        self.velocities = false;
        self.settled = false;
    }
}
