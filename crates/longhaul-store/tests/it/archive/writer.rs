//! Archiving outside the turn.

use std::fs;

use longhaul_core::message::Entry;
use longhaul_store::archive::{
    Archive, ArchiveBatch, ArchiveError, ArchiveWriter, ArchivedPart, NotQueued, SearchScope,
    ViewPresence,
};
use longhaul_testkit::SessionSpec;
use serde_json::json;
use tempfile::TempDir;

use super::{call, finds, message, result};

fn writer() -> (TempDir, ArchiveWriter) {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("s.jsonl");
    fs::write(&transcript, SessionSpec::new(4, 10).bytes()).unwrap();
    let writer = ArchiveWriter::start(folder.path().join("archive.db"), transcript).unwrap();
    (folder, writer)
}

fn batch(entries: &[Entry], part: ArchivedPart, presence: ViewPresence) -> ArchiveBatch {
    ArchiveBatch {
        entries: entries.to_vec(),
        part,
        presence,
    }
}

fn open(folder: &TempDir) -> Archive {
    Archive::open(&folder.path().join("archive.db")).unwrap()
}

#[test]
fn y7_what_was_flushed_is_on_disk_before_a_clearing_is_written() {
    let (folder, writer) = writer();
    writer
        .remember(&call("t1", "Bash", json!({"command": "ls"}), 1))
        .unwrap();
    let both = super::entry(
        &json!({"type": "user", "uuid": "r", "message": {"content": [
        {"type": "tool_result", "tool_use_id": "t1", "content": "plum"},
        {"type": "tool_result", "tool_use_id": "t2", "content": "fig"}]}}),
    );
    let cleared = ArchivedPart::Results(vec!["t1".to_owned()]);
    writer
        .archive(&batch(&[both], cleared, ViewPresence::Cleared))
        .unwrap();
    writer.flush().unwrap();
    // Another connection sees it while the writer still exists, so it is committed.
    let archive = open(&folder);
    let records = archive.by_tool_use_id("t1").unwrap();
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].tool.as_deref(), Some("Bash"));
    assert_eq!(records[0].presence, ViewPresence::Cleared);
    assert!(
        archive.by_tool_use_id("t2").unwrap().is_empty(),
        "not cleared"
    );
    writer.flush().unwrap();
}

#[test]
fn x2_dropping_the_writer_finishes_what_was_handed_over() {
    let (folder, writer) = writer();
    for number in 0..200 {
        let entry = message(&format!("m{number}"), &format!("plum {number}"));
        writer
            .archive(&batch(
                &[entry],
                ArchivedPart::Whole,
                ViewPresence::Summarized,
            ))
            .unwrap();
    }
    drop(writer);
    assert_eq!(
        open(&folder)
            .newest(SearchScope::OutOfView, 1_000)
            .unwrap()
            .len(),
        200
    );
}

#[test]
fn x2_handing_over_never_waits_even_when_the_archive_cannot_be_written() {
    let (folder, writer) = writer();
    let archive = open(&folder);
    // Another process holds the database: nothing can be committed meanwhile.
    let holder = rusqlite::Connection::open(archive.path()).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let entry = batch(
        &[message("m", "plum")],
        ArchivedPart::Whole,
        ViewPresence::Summarized,
    );
    let full = (0..100_000).find_map(|_| writer.archive(&entry).err());
    assert_eq!(full, Some(NotQueued::Full), "bounded, and told at once");
    holder.execute_batch("ROLLBACK").unwrap();
    writer.flush().unwrap();
    assert_eq!(finds(&archive, "plum"), ["m"]);
}

#[test]
fn x2_the_writer_survives_a_damaged_archive_and_fills_it_from_the_transcript() {
    let (folder, writer) = writer();
    let path = folder.path().join("archive.db");
    fs::write(&path, "garbage ".repeat(1_000)).unwrap();
    writer
        .archive(&batch(
            &[message("m", "plum")],
            ArchivedPart::Whole,
            ViewPresence::Summarized,
        ))
        .unwrap();
    writer.flush().unwrap();
    assert_eq!(finds(&open(&folder), "plum"), ["m"]);
    assert!(folder.path().join("archive.db.damaged-1").exists());
    // Indexing continues after the flush; whatever is unfinished when the writer is dropped is picked up by the next
    // one.
    drop(writer);
    let mut archive = open(&folder);
    archive
        .index(&folder.path().join("s.jsonl"), super::go_on)
        .unwrap();
    assert!(
        archive
            .newest(SearchScope::Everything, 1_000)
            .unwrap()
            .len()
            > 10
    );
}

#[test]
#[cfg(unix)]
fn y7_an_archive_that_was_deleted_under_the_writer_is_begun_anew() {
    let (folder, writer) = writer();
    let one = |uuid| {
        batch(
            &[message(uuid, "plum")],
            ArchivedPart::Whole,
            ViewPresence::Summarized,
        )
    };
    writer.archive(&one("a")).unwrap();
    writer.flush().unwrap();
    fs::remove_file(folder.path().join("archive.db")).unwrap();
    writer.archive(&one("b")).unwrap();
    writer.flush().unwrap();
    assert_eq!(finds(&open(&folder), "plum"), ["b"]);
}

#[test]
#[cfg(unix)]
fn g2_what_was_purged_with_its_transcript_is_not_brought_back() {
    let (folder, writer) = writer();
    let one = |uuid| {
        batch(
            &[message(uuid, "plum")],
            ArchivedPart::Whole,
            ViewPresence::Summarized,
        )
    };
    writer.archive(&one("a")).unwrap();
    writer.flush().unwrap();
    fs::remove_file(folder.path().join("s.jsonl")).unwrap();
    fs::remove_file(folder.path().join("archive.db")).unwrap();
    writer.archive(&one("b")).unwrap();
    let error = writer.flush().unwrap_err();
    assert!(matches!(error, ArchiveError::Moved { .. }), "{error}");
    writer.catch_up();
    drop(writer);
    assert!(!folder.path().join("archive.db").exists());
}

#[test]
fn x2_catching_up_makes_the_whole_transcript_searchable_while_flushes_go_on() {
    let (folder, writer) = writer();
    writer.catch_up();
    writer.catch_up();
    let entries = [
        call("t", "Read", json!({"file_path": "x.rs"}), 1),
        result("t", "plum", 1),
    ];
    writer
        .archive(&batch(
            &entries,
            ArchivedPart::Whole,
            ViewPresence::Summarized,
        ))
        .unwrap();
    writer.flush().unwrap();
    let archive = open(&folder);
    assert_eq!(archive.by_path("x.rs").unwrap().unwrap().1.len(), 2);
    // Other items come from the transcript, sooner or later.
    while archive.newest(SearchScope::Everything, 10).unwrap().len() < 10 {
        std::thread::yield_now();
    }
}
