#![no_main]

use libfuzzer_sys::fuzz_target;
use linkwork_formats::Format;

// A file that declares the namespace of xacro is expanded before it is read.
fuzz_target!(|body: &str| {
    let text = format!("<robot name=\"r\" xmlns:xacro=\"http://www.ros.org/wiki/xacro\">{body}</robot>");
    linkwork_fuzz::reads(Format::Urdf, text.as_bytes());
});
