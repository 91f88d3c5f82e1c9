//! Long expressions end.

use linkwork::algebra::Expression;
use std::time::{Duration, Instant};

#[test]
fn powers_of_sums_end() {
    for text in ["(Mass + I)^20 T", "(Mass + I)^64 T", "(Mass + inv(Mass))^6 T"] {
        let begun = Instant::now();
        let expression: Expression = text.parse().unwrap();
        let algorithm = expression.compile(false, &[]);
        assert!(algorithm.cost().total() <= algorithm.naive_cost().total(), "{text}");
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "{text}: {:?}",
            begun.elapsed()
        );
    }
    let short: Expression = "inv(Mass) (T - C)".parse().unwrap();
    assert!(!short.compile(false, &[]).is_cut_short());
}
