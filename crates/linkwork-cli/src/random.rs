//! Random numbers that are the same on every machine and every run.

/// The SplitMix64 generator (Steele, Lea and Flood 2014).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [−1, 1).
    pub(crate) fn number(&mut self) -> f64 {
        const SCALE: f64 = 1.0 / (1_u64 << 52) as f64;
        (self.bits() >> 11) as f64 * SCALE - 1.0
    }

    /// So many of them.
    pub(crate) fn numbers(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.number()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fill_the_interval_evenly() {
        let x = Random::new(1).numbers(100_000);
        let mean = x.iter().sum::<f64>() / 1e5;
        let square = x.iter().map(|x| x * x).sum::<f64>() / 1e5;
        assert!(x.iter().all(|x| (-1.0..1.0).contains(x)));
        assert!(mean.abs() < 0.01 && (square - 1.0 / 3.0).abs() < 0.01);
    }
}
