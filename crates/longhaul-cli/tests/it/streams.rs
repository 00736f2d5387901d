//! Standard input and output as pipes: `-`, nothing, garbage, and readers that leave early.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::json;

use crate::support::{Finish, World, plain_session, rich_session};

#[test]
fn a_dash_reads_standard_input() {
    let world = World::new();
    let session = rich_session();
    let run = world
        .longhaul(["inspect", "-", "--json"])
        .finish_with(&session.bytes);
    let mut piped = run.ends(0).json();
    assert_eq!(piped["file"], json!(null));
    let mut read = world.inspect(&session.bytes).json();
    piped["file"].take();
    read["file"].take();
    assert_eq!(piped, read);
    let page = world.longhaul(["inspect", "-"]).finish_with(&session.bytes);
    page.ends(0).prints("standard input\n");
}

#[test]
fn nothing_on_standard_input_is_an_empty_transcript() {
    let world = World::new();
    let run = world.longhaul(["inspect", "-", "--json"]).finish_with(b"");
    let report = run.ends(0).says("standard input: no entries yet").json();
    assert_eq!(report["entries"], 0);
}

#[test]
fn garbage_on_standard_input_is_refused() {
    let world = World::new();
    let run = world
        .longhaul(["inspect", "-"])
        .finish_with(&[0_u8; 1_000_000]);
    run.fails(&["standard input: this is binary data"]);
    let run = world.longhaul(["inspect", "-"]).finish_with(b"hello\n");
    run.fails(&["standard input: this is plain text"]);
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let world = World::new();
    world.write("s.jsonl", rich_session().bytes);
    for args in [
        &["inspect", "s.jsonl", "--turns"][..],
        &["inspect", "s.jsonl", "--json"],
        &["inspect", ".", "--json"],
        &["config", "--explain"],
        &["completions", "bash"],
        &["man"],
    ] {
        let mut command = world.longhaul(args);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut reader = BufReader::with_capacity(16, child.stdout.take().unwrap());
        reader.read_line(&mut line).unwrap();
        drop(reader);
        let output = child.wait_with_output().unwrap();
        assert!(!line.is_empty());
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{args:?}");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_behind_standard_output_is_an_error() {
    let world = World::new();
    world.write("s.jsonl", plain_session().bytes);
    for args in [
        &["inspect", "s.jsonl", "--json"][..],
        &["inspect", "s.jsonl"],
        &["config"],
    ] {
        let full = std::fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let output = world.longhaul(args).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("cannot write to standard output"), "{said}");
    }
}
