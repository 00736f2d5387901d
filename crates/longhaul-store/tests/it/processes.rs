//! Two processes on one transcript.

use std::collections::BTreeSet;

use longhaul_store::{AppendError, Durability, TranscriptWriter, load};

use crate::child::{Said, listen, start};
use crate::support::entry;

#[test]
fn m3_two_processes_appending_lose_and_mix_no_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shared.jsonl");
    let mut writer = TranscriptWriter::open(&path, Durability::EveryAppend).unwrap();
    let _ = writer.append(entry("root", None).as_bytes()).unwrap();

    let mut children = ["left", "right"].map(|name| start(&path, name, 500));
    for child in &mut children {
        let said: Vec<Said> = listen(child.stdout.take().unwrap()).collect();
        assert_eq!(said.len(), 500);
        assert!(
            said.iter()
                .all(|said| matches!(said, Said::Acknowledged(_)))
        );
        assert!(child.wait().unwrap().success());
    }

    let loaded = load(&path).unwrap();
    assert_eq!(loaded.damaged().count(), 0);
    assert_eq!(loaded.lines().len(), 1001);
    let mut seen = BTreeSet::new();
    for entry in loaded.entries() {
        let view = entry.view();
        if let Some(parent) = view.parent() {
            assert!(seen.contains(&parent), "a parent before its child");
        }
        assert!(seen.insert(view.uuid().unwrap()), "no line twice");
    }

    // This process has not appended since, and still sees what the others appended.
    let taken = writer
        .append(entry("left-17", None).as_bytes())
        .unwrap_err();
    assert!(
        matches!(taken, AppendError::DuplicateUuid { .. }),
        "{taken}"
    );
    let line = entry("after", Some("right-499"));
    let _ = writer.append(line.as_bytes()).unwrap();
}
