//! The transcripts that the project ships: the damaged one is the other one with damage that this crate does.
//!
//! `UPDATE_FIXTURES=1 cargo test -p longhaul-testkit fixtures` writes it again.

use std::path::{Path, PathBuf};

use longhaul_testkit::damage;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures")
        .join(name)
}

/// The session that people are shown first. It was written by hand, so that it reads like work: somebody mends a bug
/// of summer time, with a compaction in between.
fn session() -> Vec<u8> {
    std::fs::read(fixture("session.jsonl")).unwrap()
}

/// The session with many kinds of damage.
fn damaged() -> Vec<u8> {
    let bytes = session();
    let results = damage::lines_with(&bytes, "\"tool_use_id\"");
    let bytes = damage::dangling_parent(&bytes, results[5]).bytes;
    let bytes = damage::invalid_utf8(&bytes, 12).bytes;
    let bytes = damage::garbage_line(&bytes, 30).bytes;
    damage::tear_last_line(&bytes).bytes
}

#[test]
fn the_damaged_session_is_current() {
    let path = fixture("damaged.jsonl");
    let bytes = damaged();
    if std::env::var_os("UPDATE_FIXTURES").is_some() {
        std::fs::write(&path, &bytes).unwrap();
    }
    let shipped = std::fs::read(&path).unwrap_or_default();
    assert!(
        shipped == bytes,
        "fixtures/damaged.jsonl differs from what is generated"
    );
}

#[test]
fn every_line_of_the_session_is_json() {
    let bytes = session();
    let lines = bytes.split(|byte| *byte == b'\n');
    let lines: Vec<&[u8]> = lines.filter(|line| !line.is_empty()).collect();
    assert!(lines.len() > 80);
    for line in lines {
        serde_json::from_slice::<serde_json::Value>(line).unwrap();
    }
}
