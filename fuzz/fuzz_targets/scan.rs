//! The line scanner: it accepts exactly the lines that an independent reader accepts as JSON objects, and it never panics.
//!
//! Run it with `fuzz/run scan 60` from the project's root. Every test run checks the same property within bounds:
//! `crates/longhaul-core/tests/it/json.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use longhaul_core::message::LineScanner;
use serde::de::IgnoredAny;

fuzz_target!(|line: &[u8]| {
    let scanned = LineScanner::default().scan(line).is_ok();
    let is_object = std::str::from_utf8(line).is_ok_and(|text| {
        let mut reader = serde_json::Deserializer::from_str(text);
        // The scanner does not treat depth as damage, and inputs here are too short to exhaust the stack.
        reader.disable_recursion_limit();
        let value: Result<IgnoredAny, _> = serde::Deserialize::deserialize(&mut reader);
        value.is_ok() && reader.end().is_ok() && text.trim_start_matches([' ', '\t', '\r', '\n']).starts_with('{')
    });
    assert_eq!(scanned, is_object);
});
