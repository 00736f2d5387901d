//! A full disk.
#![cfg(unix)]

use std::path::Path;
use std::process::Command;

use longhaul_store::{AppendError, Durability, TranscriptWriter, load};

use crate::child::{Said, arguments, listen, told};
use crate::support::entry;

#[test]
#[cfg(target_os = "linux")]
fn y7_a_full_disk_is_named_and_nothing_is_acknowledged() {
    let full = Path::new("/dev/full");
    let mut writer = TranscriptWriter::open(full, Durability::EveryAppend).unwrap();
    let error = writer.append(entry("a", None).as_bytes()).unwrap_err();
    assert!(matches!(error, AppendError::NotWritten { .. }), "{error}");
    let text = error.to_string();
    for part in ["/dev/full", "nothing was acknowledged", "free some space"] {
        assert!(text.contains(part), "{text}");
    }
}

/// The limit on a file's size acts like a full disk: the last write ends half-way.
#[test]
fn y7_a_write_that_ends_half_way_spoils_no_other_entry() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("limited.jsonl");
    let mut writer = TranscriptWriter::open(&path, Durability::EveryAppend).unwrap();
    let _ = writer.append(entry("root", None).as_bytes()).unwrap();

    let mut command = Command::new("sh");
    command
        .args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(arguments());
    let mut child = told(&mut command, &path, "n", 1_000).spawn().unwrap();
    let mut said: Vec<Said> = listen(child.stdout.take().unwrap()).collect();
    child.wait().unwrap();
    let Some(Said::Failed(error)) = said.pop() else {
        panic!("the limit was not reached: {said:?}");
    };
    assert!(error.contains("nothing was acknowledged"), "{error}");
    assert!(said.len() > 5 && said.len() < 1_000);

    let last = format!("n-{}", said.len() - 1);
    let _ = writer
        .append(entry("next", Some(&last)).as_bytes())
        .unwrap();
    let loaded = load(&path).unwrap();
    assert_eq!(loaded.entries().count(), 1 + said.len() + 1);
    assert_eq!(
        loaded.damaged().count(),
        0,
        "what was written of it is taken back"
    );
}
