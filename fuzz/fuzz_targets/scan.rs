//! The line scanner: it takes exactly the lines that an independent reader takes as JSON objects, and never panics.
//!
//! `fuzz/run scan 60` from the project's root. The same property runs bounded in every
//! test run: `crates/longhaul-core/tests/it/json.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use longhaul_core::message::Scanner;
use serde::de::IgnoredAny;

fuzz_target!(|line: &[u8]| {
    let scanned = Scanner::default().scan(line).is_ok();
    let is_object = std::str::from_utf8(line).is_ok_and(|text| {
        let mut reader = serde_json::Deserializer::from_str(text);
        // Depth is no damage for the scanner, and inputs here are too short to exhaust a stack.
        reader.disable_recursion_limit();
        let value: Result<IgnoredAny, _> = serde::Deserialize::deserialize(&mut reader);
        value.is_ok() && reader.end().is_ok() && text.trim_start_matches([' ', '\t', '\r', '\n']).starts_with('{')
    });
    assert_eq!(scanned, is_object);
});
