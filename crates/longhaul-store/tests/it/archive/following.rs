//! Following a transcript.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;

use longhaul_store::archive::{
    Archive, ArchiveItemKind, IndexingOutcome, SearchScope, ViewPresence,
};
use longhaul_testkit::SessionSpec;
use longhaul_testkit::session::{CompactionSchedule, KeptRounds};
use serde_json::json;
use tempfile::TempDir;

use super::{finds, go_on, indexed, items, message};

fn transcript(bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

/// Everything an archive holds, in a form to compare.
fn dump(archive: &Archive) -> BTreeMap<(String, &'static str, String), (&'static str, String)> {
    let records = archive.newest(SearchScope::Everything, usize::MAX).unwrap();
    let keyed = records.into_iter().map(|record| {
        let text = archive.text(&record).unwrap();
        let id = record.tool_use_id.clone().unwrap_or_default();
        let about = format!("{:?} {:?}", record.tool, record.path);
        let key = (record.uuid, record.kind.name(), id + &about);
        (key, (record.presence.name(), text))
    });
    keyed.collect()
}

fn session() -> longhaul_testkit::GeneratedSession {
    SessionSpec::new(11, 70)
        .compaction(CompactionSchedule::EveryRounds(20))
        .kept(KeptRounds::AfterSummary)
        .generate()
}

#[test]
fn x2_the_index_is_made_from_the_transcript_alone_and_grows_with_it() {
    let bytes = session().bytes;
    let (_folder, path) = transcript(&bytes);
    let whole = dump(&indexed(&path));
    assert!(whole.len() > 200, "{}", whole.len());

    // The same file grows in steps, some of which end within a line.
    let (_folder, path) = transcript(b"");
    for end in (0..bytes.len())
        .step_by(bytes.len() / 7 + 1)
        .chain([bytes.len()])
    {
        fs::write(&path, &bytes[..end]).unwrap();
        indexed(&path);
    }
    let archive = indexed(&path);
    assert_eq!(dump(&archive), whole);
    let mut archive = archive;
    let again = archive.index(&path, go_on).unwrap();
    assert_eq!((again.update, again.items), (IndexingOutcome::Current, 0));
    let again = archive.rebuild(&path, go_on).unwrap();
    assert_eq!(
        (again.update, again.items),
        (IndexingOutcome::Anew, whole.len() as u64)
    );
    assert_eq!(dump(&archive), whole);
}

#[test]
fn x2_what_is_indexed_says_whether_the_model_still_sees_it() {
    let mut seen = BTreeMap::new();
    for seed in 1..7 {
        let spec = SessionSpec::new(seed, 90).compaction(CompactionSchedule::EveryRounds(35));
        let session = spec.kept(KeptRounds::AfterSummary).generate();
        let (_folder, path) = transcript(&session.bytes);
        let text = String::from_utf8(session.bytes).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let uuid = |line: &usize| {
            let entry: serde_json::Value = serde_json::from_str(lines[line - 1]).unwrap();
            entry["uuid"].as_str().unwrap().to_owned()
        };
        let live: Vec<String> = session.truth.live.iter().map(uuid).collect();
        let clearings = session.truth.clearings.iter();
        let cleared: Vec<&String> = clearings.flat_map(|clearing| &clearing.tool_ids).collect();
        let records = indexed(&path)
            .newest(SearchScope::Everything, usize::MAX)
            .unwrap();
        for record in records {
            *seen.entry(record.presence.name()).or_insert(0) += 1;
            let is_live = matches!(record.presence, ViewPresence::Live | ViewPresence::Cleared);
            // The model never sees replies that report an API error.
            if record.kind != ArchiveItemKind::AssistantMessage {
                assert_eq!(is_live, live.contains(&record.uuid), "{record:?}");
            }
            if record.kind == ArchiveItemKind::ToolResult && is_live {
                let call = record.tool_use_id.as_ref().unwrap();
                let is_cleared = record.presence == ViewPresence::Cleared;
                assert_eq!(is_cleared, cleared.contains(&call), "{record:?}");
            }
        }
    }
    let kinds: Vec<_> = seen.keys().copied().collect();
    assert_eq!(
        kinds,
        ["abandoned", "live", "sidechain", "summarised"],
        "{seen:?}"
    );
}

#[test]
fn u2_a_clearing_marks_its_results_as_cleared() {
    let mut lines = vec![
        json!({"type": "user", "uuid": "u", "parentUuid": null, "message": {"content": "go"}}),
        json!({"type": "assistant", "uuid": "a", "parentUuid": "u", "message": {"id": "m", "content": [
            {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "x.rs"}}]}}),
        json!({"type": "user", "uuid": "r", "parentUuid": "a", "message": {"content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "pear"}]}}),
    ];
    let text = |lines: &[serde_json::Value]| {
        lines
            .iter()
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    };
    let (_folder, path) = transcript(text(&lines).as_bytes());
    let presence = |archive: &Archive| {
        let records = archive.by_tool_use_id("t1").unwrap();
        records
            .iter()
            .map(|record| record.presence)
            .collect::<Vec<_>>()
    };
    assert_eq!(presence(&indexed(&path)), [ViewPresence::Live; 2]);
    lines.push(
        json!({"type": "system", "subtype": "microcompact_boundary", "uuid": "c", "parentUuid": "r",
        "microcompactMetadata": {"compactedToolIds": ["t1"]}}),
    );
    fs::write(&path, text(&lines)).unwrap();
    // The call stays, its result is gone.
    assert_eq!(
        presence(&indexed(&path)),
        [ViewPresence::Live, ViewPresence::Cleared]
    );
}

#[test]
fn x2_a_rewritten_transcript_is_indexed_anew_and_what_was_archived_stays() {
    let (_folder, path) = transcript(&SessionSpec::new(1, 6).plain().bytes());
    let mut archive = indexed(&path);
    archive
        .put(&items(
            &[message("kept", "quince jam")],
            ViewPresence::Summarized,
        ))
        .unwrap();
    let before = dump(&archive);
    let other = SessionSpec::new(2, 9).plain().bytes();
    fs::write(&path, &other).unwrap();
    let update = archive.index(&path, go_on).unwrap();
    assert_eq!(update.update, IndexingOutcome::Anew);
    let (_other_folder, fresh) = transcript(&other);
    let mut expected = dump(&indexed(&fresh));
    expected.extend(before.into_iter().filter(|(key, _)| key.0 == "kept"));
    assert_eq!(dump(&archive), expected);
    assert_eq!(finds(&archive, "quince"), ["kept"]);

    // The file is now shorter than its indexed part.
    fs::write(&path, &other[..other.len() / 2]).unwrap();
    assert_eq!(
        archive.index(&path, go_on).unwrap().update,
        IndexingOutcome::Anew
    );
}

#[test]
fn x2_a_line_is_indexed_once_though_it_was_read_before_its_end_was_written() {
    let line = json!({"type": "user", "uuid": "u", "message": {"content": "plum"}}).to_string();
    let (_folder, path) = transcript(line.as_bytes());
    assert_eq!(finds(&indexed(&path), "plum"), ["u"]);
    let mut file = fs::File::options().append(true).open(&path).unwrap();
    writeln!(file).unwrap();
    writeln!(
        file,
        "{}",
        line.replace("plum", "fig").replace("\"u\"", "\"v\"")
    )
    .unwrap();
    let archive = indexed(&path);
    assert_eq!(finds(&archive, "plum"), ["u"]);
    assert_eq!(finds(&archive, "fig"), ["v"]);
}

#[test]
fn x2_indexing_that_is_broken_off_goes_on_from_there() {
    let mut bytes = Vec::new();
    for number in 0..40 {
        let text = format!("number{number} {}", "filler ".repeat(100_000));
        let line =
            json!({"type": "user", "uuid": format!("u{number}"), "message": {"content": text}});
        writeln!(bytes, "{line}").unwrap();
    }
    let (_folder, path) = transcript(&bytes);
    let mut archive = Archive::open(&path.with_extension("db")).unwrap();
    let broken = archive.index(&path, |_| ControlFlow::Break(())).unwrap();
    assert_eq!(broken.update, IndexingOutcome::BrokenOff);
    assert!((1..40).contains(&broken.items), "{broken:?}");
    let mut told = Vec::new();
    let rest = archive.index(&path, |progress| {
        told.push(progress.done);
        ControlFlow::Continue(())
    });
    let rest = rest.unwrap();
    assert_eq!(
        (rest.update, rest.items),
        (IndexingOutcome::Added, 40 - broken.items)
    );
    assert!(
        told.is_sorted() && told.last() == Some(&(bytes.len() as u64)),
        "{told:?}"
    );
    assert_eq!(finds(&archive, "number39"), ["u39"]);
}

#[test]
fn x2_damaged_and_odd_files_are_indexed_as_far_as_they_are_intact() {
    let line = |uuid: &str| {
        json!({"type": "user", "uuid": uuid, "message": {"content": "plum"}}).to_string()
    };
    let text = format!(
        "\u{feff}{}\r\ngarbage\r\n\r\n{}\r\n{{\"torn\":",
        line("a"),
        line("b")
    );
    let (_folder, path) = transcript(text.as_bytes());
    let mut archive = indexed(&path);
    assert_eq!(finds(&archive, "plum").len(), 2);
    fs::write(&path, format!("{text}1}}\r\n{}\r\n", line("c"))).unwrap();
    assert_eq!(
        archive.index(&path, go_on).unwrap().update,
        IndexingOutcome::Added
    );
    assert_eq!(finds(&archive, "plum").len(), 3);
    let (_folder, empty) = transcript(b"");
    assert!(indexed(&empty).is_empty().unwrap());
}

#[test]
fn x2_every_recorded_transcript_can_be_indexed_and_searched() {
    let Some(files) = longhaul_testkit::corpora::claude_code_transcripts() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    // A sample, because indexing all files would take minutes in a test build.
    let sample = files
        .iter()
        .filter(|file| fs::metadata(file).is_ok_and(|m| m.len() < 3_000_000));
    for (number, file) in sample.step_by(9).enumerate() {
        let mut archive = Archive::open(&folder.path().join(format!("{number}.db"))).unwrap();
        archive.index(file, go_on).unwrap();
        for hit in archive
            .search("error file", SearchScope::Everything, 3)
            .unwrap()
            .hits
        {
            assert!(!archive.by_id(hit.record.id()).unwrap().is_empty());
        }
    }
}
