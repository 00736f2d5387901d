//! Forking another program's session.

use std::path::Path;

use longhaul_core::json::ObjectReader;
use longhaul_store::{
    Durability, ForkError, Home, HomeOwner, SessionId, TranscriptWriter, fork, load,
};

use longhaul_testkit::corpora::corpora;

use crate::support::{at, entry, file_at, our_home};

fn id(text: &str) -> SessionId {
    SessionId::parse(text).unwrap()
}

#[test]
fn g2_a_fork_has_the_same_lines_and_says_where_they_came_from() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let theirs = Home::at(one.path(), HomeOwner::ClaudeCode).unwrap();
    let ours = our_home(&two.path().join("new/home"));
    let source = theirs.transcript("-work-app", &id("old"));
    let text = format!(
        "\u{feff}{}\r\n\n{{bad\n{}\n",
        entry("a", None),
        entry("b", Some("a"))
    );
    file_at(&source, &text, 1_000);

    let path = fork(&source, &ours, &id("new"), at(1_770_912_145)).unwrap();
    assert_eq!(path, ours.transcript("-work-app", &id("new")));
    assert_eq!(std::fs::read_to_string(&source).unwrap(), text);
    assert_eq!(source.metadata().unwrap().modified().unwrap(), at(1_000));
    let copy = std::fs::read(&path).unwrap();
    let added = copy.strip_prefix(text.as_bytes()).unwrap();
    let record = ObjectReader::new(added);
    assert_eq!(record.string("type").as_deref(), Some("session-fork"));
    assert_eq!(record.string("sessionId").as_deref(), Some("new"));
    assert_eq!(
        record.string("timestamp").as_deref(),
        Some("2026-02-12T16:02:25.000Z")
    );
    assert_eq!(record.get("uuid"), None);
    let from = record.object("forkedFrom").unwrap();
    assert_eq!(from.string("sessionId").as_deref(), Some("old"));
    assert_eq!(from.count("bytes"), Some(text.len() as u64));
    let real = source.canonicalize().unwrap();
    assert_eq!(from.string("path").as_deref(), real.to_str());

    let mut writer = TranscriptWriter::open(&path, Durability::EveryAppend).unwrap();
    let _ = writer.append(entry("c", Some("b")).as_bytes()).unwrap();
    let left: Vec<_> = path.parent().unwrap().read_dir().unwrap().collect();
    assert_eq!(left.len(), 1, "no temporary file is left");
}

#[test]
#[cfg(unix)]
fn g2_a_fork_is_private_to_the_user() {
    use std::os::unix::fs::PermissionsExt;
    let root = tempfile::tempdir().unwrap();
    let source = root.path().join("theirs/s.jsonl");
    file_at(&source, &entry("a", None), 1);
    let home = our_home(&root.path().join("ours"));
    let path = fork(&source, &home, &id("new"), at(1)).unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    assert_eq!(mode(home.root()), 0o700);
}

#[test]
fn g2_a_torn_tail_gets_its_newline_in_the_fork() {
    let root = tempfile::tempdir().unwrap();
    let source = root.path().join("theirs/s.jsonl");
    let text = format!("{}\n{{\"type\":\"as", entry("a", None));
    file_at(&source, &text, 1);
    let path = fork(&source, &our_home(root.path()), &id("new"), at(1)).unwrap();
    let copy = std::fs::read_to_string(&path).unwrap();
    assert!(copy.starts_with(&format!("{text}\n{{")));
    let loaded = load(&path).unwrap();
    assert_eq!((loaded.entries().count(), loaded.damaged().count()), (2, 1));
    let name = path
        .parent()
        .unwrap()
        .file_name()
        .unwrap()
        .to_str()
        .unwrap();
    assert!(
        name.ends_with("-theirs"),
        "outside the layout: by its folder"
    );

    file_at(&source, "", 1);
    let path = fork(&source, &our_home(root.path()), &id("of-nothing"), at(1)).unwrap();
    assert_eq!(load(&path).unwrap().lines().len(), 1);
}

#[test]
fn g2_a_fork_replaces_no_session_and_needs_a_file() {
    let root = tempfile::tempdir().unwrap();
    let home = our_home(root.path());
    let source = home.transcript("-work", &id("s"));
    file_at(&source, &entry("a", None), 1);
    let path = fork(&source, &home, &id("new"), at(1)).unwrap();
    let before = std::fs::read(&path).unwrap();
    let again = fork(&source, &home, &id("new"), at(1)).unwrap_err();
    assert!(matches!(again, ForkError::Exists { .. }), "{again}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let folder = fork(root.path(), &home, &id("x"), at(1)).unwrap_err();
    assert!(matches!(folder, ForkError::NotAFile { .. }), "{folder}");
    let missing = root.path().join("none.jsonl");
    let missing = fork(&missing, &home, &id("x"), at(1)).unwrap_err();
    assert!(matches!(missing, ForkError::Unreadable { .. }), "{missing}");
}

#[test]
fn g2_real_sessions_are_forked_byte_for_byte() {
    let Some(corpora) = corpora() else { return };
    let root = tempfile::tempdir().unwrap();
    for name in ["entire/cd-95adddad32-0", "spotter/short"] {
        let source = corpora.join(format!("claude-code/{name}.jsonl"));
        let new = id(&name.replace('/', "-"));
        let path = fork(&source, &our_home(root.path()), &new, at(1)).unwrap();
        let original = std::fs::read(&source).unwrap();
        assert!(
            std::fs::read(&path).unwrap().starts_with(&original),
            "{name}"
        );
        assert_eq!(load(&path).unwrap().damaged().count(), 0);
    }
}
