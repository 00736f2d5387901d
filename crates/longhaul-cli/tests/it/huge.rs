//! A line of 100 MB is a line like any other (M4), in a file and from standard input.

use std::fs::File;
use std::io::{BufWriter, Write};

use crate::support::{Finish, World, plain_session};

const SIZE: usize = 100_000_000;

/// A session with one line of 100 MB in its middle, `piece` over and over between `head` and `tail`.
fn with_huge_line(world: &World, head: &str, piece: &str, tail: &str) -> std::path::PathBuf {
    let session = plain_session().bytes;
    let middle = session.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let path = world.root().join("huge.jsonl");
    let mut file = BufWriter::new(File::create(&path).unwrap());
    file.write_all(&session[..middle]).unwrap();
    file.write_all(head.as_bytes()).unwrap();
    let block = piece.repeat(10_000);
    for _ in 0..SIZE / block.len() + 1 {
        file.write_all(block.as_bytes()).unwrap();
    }
    writeln!(file, "{tail}").unwrap();
    file.write_all(&session[middle..]).unwrap();
    file.flush().unwrap();
    path
}

#[test]
fn m4_an_intact_line_of_100_mb_is_an_entry() {
    let world = World::new();
    let head = "{\"type\":\"queue-operation\",\"content\":\"";
    let path = with_huge_line(&world, head, "a \\\"long\\\" text\\n", "\"}");
    let mut command = world.longhaul(["inspect", "--json"]);
    let report = command.arg(&path).finish().ends(0).json();
    assert_eq!(report["entries"], plain_session().truth.lines + 1);
    assert_eq!(report["rounds"], 12);
}

#[test]
fn m4_a_line_of_100_mb_of_garbage_is_reported_and_survived() {
    let world = World::new();
    let path = with_huge_line(&world, "{\"type\":\"user\",", "\"lost cargo\", ", "");
    let mut command = world.longhaul(["inspect", "--json"]);
    let report = command.arg(&path).finish().ends(1).json();
    assert_eq!(report["entries"], plain_session().truth.lines);
    let problems = report["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0]["line"], 2);
    assert_eq!(problems[0]["kind"], "damaged_line");
}

#[test]
fn m4_a_file_that_begins_with_100_mb_without_a_line_end_is_not_taken_for_something_else() {
    let world = World::new();
    let path = world.root().join("first.jsonl");
    let mut file = BufWriter::new(File::create(&path).unwrap());
    file.write_all(b"{\"type\":\"queue-operation\",\"content\":\"")
        .unwrap();
    for _ in 0..SIZE / 10_000 {
        file.write_all(&[b'x'; 10_000]).unwrap();
    }
    file.write_all(b"\"}\n").unwrap();
    file.write_all(&plain_session().bytes).unwrap();
    file.flush().unwrap();
    let mut command = world.longhaul(["inspect", "--json"]);
    let report = command.arg(&path).finish().ends(0).json();
    assert_eq!(report["entries"], plain_session().truth.lines + 1);
}
