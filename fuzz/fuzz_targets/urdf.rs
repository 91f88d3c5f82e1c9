#![no_main]

use libfuzzer_sys::fuzz_target;
use linkwork_formats::Format;

fuzz_target!(|bytes: &[u8]| linkwork_fuzz::reads(Format::Urdf, bytes));
