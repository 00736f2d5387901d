//! Appending to a transcript.

use std::path::PathBuf;
use std::time::Duration;

use longhaul_store::{AppendError, Durability, ParentLink, TranscriptWriter, load};
use tempfile::TempDir;

use crate::support::entry;

fn transcript(text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

fn open(path: &std::path::Path) -> TranscriptWriter {
    TranscriptWriter::open(path, Durability::EveryAppend).unwrap()
}

#[test]
fn m3_entries_are_appended_as_they_are_and_the_acknowledgement_says_where() {
    let (_folder, path) = transcript("");
    let mut writer = open(&path);
    let lines = [entry("a", None), entry("b", Some("a"))];
    let first = writer.append_all(&lines).unwrap();
    assert_eq!((first.offset, first.lines), (0, 2));
    let title = r#"{"type":"summary","summary":"no uuid","parentUuid":"nowhere"}"#;
    let second = writer.append(title.as_bytes()).unwrap();
    assert_eq!(second.offset, first.bytes);
    let nothing = writer.append_all::<&[u8]>(&[]).unwrap();
    assert_eq!(
        (nothing.offset, nothing.bytes),
        (second.offset + second.bytes, 0)
    );
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, format!("{}\n{}\n{title}\n", lines[0], lines[1]));
}

#[test]
#[cfg(unix)]
fn g2_files_and_folders_are_created_private_to_the_user() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("projects/-work/s.jsonl");
    let _ = open(&path).append(entry("a", None).as_bytes()).unwrap();
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    assert_eq!(mode(&folder.path().join("projects")), 0o700);
}

#[test]
fn m4_a_torn_last_line_stays_alone_when_an_entry_follows() {
    let before = format!("{}\n{{\"type\":\"us", entry("a", None));
    let (_folder, path) = transcript(&before);
    let line = entry("b", Some("a"));
    let appended = open(&path).append(line.as_bytes()).unwrap();
    assert_eq!(appended.offset, before.len() as u64 + 1);
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, format!("{before}\n{line}\n"));
    assert_eq!(load(&path).unwrap().entries().count(), 2);
}

#[test]
fn m3_what_is_not_one_intact_line_is_refused() {
    let (_folder, path) = transcript("");
    let mut writer = open(&path);
    let good = entry("a", None);
    let damaged = writer
        .append_all(&[good.as_str(), "{\"type\":"])
        .unwrap_err();
    assert!(matches!(damaged, AppendError::NotAnEntry { index: 1, .. }));
    for broken in ["{\n}", "{}\r", "{\r\n}"] {
        let error = writer.append(broken.as_bytes()).unwrap_err();
        assert!(matches!(error, AppendError::LineBreak { index: 0 }));
    }
    assert_eq!(std::fs::read(&path).unwrap(), b"", "nothing was written");
}

#[test]
fn y8_an_entry_whose_parent_is_not_in_the_file_is_refused() {
    let (_folder, path) = transcript(&format!("{}\n", entry("a", None)));
    let mut writer = open(&path);
    let before = std::fs::read(&path).unwrap();
    // The parent is missing, is the entry itself, or comes after it.
    for lines in [
        vec![entry("b", Some("ghost"))],
        vec![entry("b", Some("b"))],
        vec![entry("b", Some("c")), entry("c", Some("a"))],
    ] {
        let error = writer.append_all(&lines).unwrap_err();
        let AppendError::DanglingParent { index, link, .. } = error else {
            panic!("{error}");
        };
        assert_eq!((index, link), (0, ParentLink::Parent));
    }
    let boundary = r#"{"type":"system","subtype":"compact_boundary","uuid":"x","parentUuid":null,"logicalParentUuid":"ghost"}"#;
    let error = writer.append(boundary.as_bytes()).unwrap_err();
    assert!(
        error.to_string().contains("logicalParentUuid \"ghost\""),
        "{error}"
    );
    assert_eq!(std::fs::read(&path).unwrap(), before, "nothing was written");
}

#[test]
fn y8_a_parent_is_found_wherever_it_lies_in_the_file() {
    let mut text = format!("{}\r\n", entry("first", None));
    for index in 0..5_000 {
        text.push_str(&entry(&format!("n{index}"), Some("first")));
        text.push_str("\r\n{damaged\n");
    }
    let (_folder, path) = transcript(&text);
    let mut writer = open(&path);
    let _ = writer
        .append(entry("near", Some("n4999")).as_bytes())
        .unwrap();
    let _ = writer
        .append(entry("far", Some("first")).as_bytes())
        .unwrap();
    let _ = writer
        .append(entry("own", Some("near")).as_bytes())
        .unwrap();
    assert_eq!(load(&path).unwrap().entries().count(), 5_004);
}

#[test]
fn y8_a_uuid_that_is_known_is_not_appended_again() {
    let (_folder, path) = transcript(&format!("{}\n", entry("a", None)));
    let loaded = load(&path).unwrap();
    let mut writer = open(&path).knowing(&loaded);
    let of_the_file = writer.append(entry("a", None).as_bytes()).unwrap_err();
    assert!(matches!(of_the_file, AppendError::DuplicateUuid { .. }));
    let twice = [entry("b", Some("a")), entry("b", Some("a"))];
    let error = writer.append_all(&twice).unwrap_err();
    assert!(matches!(error, AppendError::DuplicateUuid { index: 1, .. }));
    let _ = writer.append(twice[0].as_bytes()).unwrap();
    let error = writer.append(twice[0].as_bytes()).unwrap_err();
    assert!(matches!(error, AppendError::DuplicateUuid { index: 0, .. }));
}

#[test]
fn y8_what_another_writer_appended_is_known() {
    let (_folder, path) = transcript("");
    let (mut one, mut other) = (open(&path), open(&path));
    let _ = one.append(entry("a", None).as_bytes()).unwrap();
    let _ = other.append(entry("b", Some("a")).as_bytes()).unwrap();
    let error = one.append(entry("b", None).as_bytes()).unwrap_err();
    assert!(matches!(error, AppendError::DuplicateUuid { .. }));
}

#[test]
fn y8_a_file_that_was_shortened_no_longer_holds_what_it_held() {
    let (_folder, path) = transcript("");
    let mut writer = open(&path);
    let _ = writer.append(entry("a", None).as_bytes()).unwrap();
    std::fs::write(&path, "").unwrap();
    let error = writer.append(entry("b", Some("a")).as_bytes()).unwrap_err();
    assert!(matches!(error, AppendError::DanglingParent { .. }));
}

#[test]
fn m3_a_file_that_another_process_holds_is_waited_for_and_then_named() {
    let (_folder, path) = transcript("");
    let holder = std::fs::File::open(&path).unwrap();
    holder.lock().unwrap();
    let mut writer = open(&path).with_patience(Duration::from_millis(5));
    let error = writer.append(entry("a", None).as_bytes()).unwrap_err();
    assert!(matches!(error, AppendError::Busy { .. }));
    assert!(error.to_string().contains("t.jsonl"), "{error}");
    holder.unlock().unwrap();
    let _ = writer.append(entry("a", None).as_bytes()).unwrap();
}

#[test]
#[cfg(unix)]
fn y7_a_file_that_was_deleted_or_replaced_takes_no_entries() {
    let (_folder, path) = transcript("");
    let mut writer = open(&path);
    std::fs::remove_file(&path).unwrap();
    let error = writer.append(entry("a", None).as_bytes()).unwrap_err();
    assert!(matches!(error, AppendError::Moved { .. }), "{error}");
    std::fs::write(&path, "").unwrap();
    let error = writer.append(entry("a", None).as_bytes()).unwrap_err();
    assert!(matches!(error, AppendError::Moved { .. }), "{error}");
    let _ = open(&path).append(entry("a", None).as_bytes()).unwrap();
}

#[test]
fn m3_a_folder_cannot_be_opened_as_a_transcript() {
    let folder = tempfile::tempdir().unwrap();
    let error = TranscriptWriter::open(folder.path(), Durability::OnClose).unwrap_err();
    assert!(matches!(error, AppendError::Open { .. }), "{error}");
}
