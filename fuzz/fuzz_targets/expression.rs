#![no_main]

use libfuzzer_sys::fuzz_target;
use linkwork::algebra::{Expression, Notation};

// What is read compiles, and its printed form is read back.
fuzz_target!(|text: &str| {
    let Ok(expression) = text.parse::<Expression>() else {
        return;
    };
    let written = expression.written(Notation::Symbols);
    assert!(written.parse::<Expression>().is_ok(), "{written}");
    let _ = expression.compile(true, &[]);
});
