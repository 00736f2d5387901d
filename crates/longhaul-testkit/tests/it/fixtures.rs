//! The transcripts that the project ships are those that this crate generates.
//!
//! `UPDATE_FIXTURES=1 cargo test -p longhaul-testkit fixtures` writes them again.

use std::path::{Path, PathBuf};

use longhaul_testkit::damage;
use longhaul_testkit::session::{CompactionSchedule, Feature, KeptRounds, SessionSpec};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures")
        .join(name)
}

/// A session of one afternoon: two compactions, sub-agents, repeated reads, clearings.
fn session() -> Vec<u8> {
    let spec = SessionSpec::new(7, 36)
        .without(Feature::Images)
        .without(Feature::HookProgress);
    spec.compaction(CompactionSchedule::EveryRounds(14))
        .kept(KeptRounds::AfterSummary)
        .bytes()
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
fn fixtures_are_current() {
    for (name, bytes) in [("session.jsonl", session()), ("damaged.jsonl", damaged())] {
        let path = fixture(name);
        if std::env::var_os("UPDATE_FIXTURES").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &bytes).unwrap();
        }
        let shipped = std::fs::read(&path).unwrap_or_default();
        assert!(
            shipped == bytes,
            "fixtures/{name} differs from what is generated"
        );
    }
}
