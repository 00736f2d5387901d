//! What is said at the end: where the report cannot be printed, and where the input or the output cannot be used.

use std::fs::File;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::{Found, compact, entry, lines, talk};
use crate::support::{Finish, World};

/// Entries of a session that was recorded in the world's folder, so that its files are there.
fn recorded_in(world: &World, mut entries: Vec<Value>) -> Vec<u8> {
    for entry in &mut entries {
        entry["cwd"] = json!(world.root());
    }
    lines(&entries)
}

/// A place where nothing can be written.
#[cfg(target_os = "linux")]
fn full() -> File {
    File::options().write(true).open("/dev/full").unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn y3_a_compaction_that_was_made_is_no_failure_where_its_report_cannot_be_printed() {
    let world = World::new();
    let before = lines(&talk(30, 30));
    let file = world.write("s.jsonl", &before);
    let made = "the compaction was made; its report could not be printed: ";
    let copy = ["compact", "s.jsonl", "--local", "-o", "out.jsonl"];
    for more in [&[][..], &["--json"], &["--report"]] {
        let mut command = world.longhaul(copy);
        let run = command.args(more).arg("--force").stdout(full()).finish();
        run.ends(0).says("warning: ").says(made);
        assert!(Found::at(&world.root().join("out.jsonl")).size < 12_000);
    }
    let in_place = ["compact", "s.jsonl", "--local", "--force"];
    let run = world.longhaul(in_place).stdout(full()).finish();
    run.ends(0).says(made);
    assert!(Found::at(&file).size < 12_000);
    let undo = ["compact", "s.jsonl", "--undo", "--force"];
    let run = world.longhaul(undo).stdout(full()).finish();
    run.ends(0)
        .says("was taken back; its report could not be printed: ");
    assert!(Found::at(&file).size > 12_000);
    // A preview is nothing but what it prints.
    let preview = ["compact", "s.jsonl", "--local", "--preview"];
    let run = world.longhaul(preview).stdout(full()).finish();
    run.ends(2).says("cannot write to standard output");
}

#[test]
fn y3_a_given_summary_that_is_too_long_is_refused_with_the_sizes() {
    let world = World::new();
    let file = world.write("s.jsonl", lines(&talk(30, 30)));
    world.write("summary.md", "word ".repeat(40_000));
    let window = ["--summary", "summary.md"];
    let run = compact(&world, &file, &window).ends(1);
    let run = run.says("the given summary is too long: it has about 66,");
    run.says("tokens")
        .says("make it shorter")
        .says("nothing was changed");
    assert!(!world.root().join("out.jsonl").exists());
}

#[test]
fn y3_files_that_were_left_out_to_fit_are_counted() {
    let world = World::new();
    let text = "content of a file, rather long and always the same\n".repeat(400);
    let paths: Vec<String> = (0..4)
        .map(|at| world.write(format!("{at}.rs"), &text).display().to_string())
        .collect();
    let mut entries = vec![entry(0, "user", json!("Look at the files."))];
    for (at, path) in paths.iter().enumerate() {
        let id = format!("toolu_{at}");
        let call =
            json!([{"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": path}}]);
        let result =
            json!([{"type": "tool_result", "tool_use_id": id, "content": "x ".repeat(200)}]);
        entries.push(entry(2 * at + 1, "assistant", call));
        entries.push(entry(2 * at + 2, "user", result));
    }
    entries.push(entry(
        9,
        "assistant",
        json!([{"type": "text", "text": "Done."}]),
    ));
    let file = world.write("s.jsonl", recorded_in(&world, entries.clone()));
    // Nothing can be restored: the conversation would be larger than before.
    let told = compact(&world, &file, &["--local"]).ends(0).json();
    let files = &told["report"]["files"];
    assert_eq!(files["touched"], 4, "{told}");
    assert_eq!(files["restored"], 0, "{told}");
    assert_eq!(files["left_out"], 4, "{told}");
    // Where there is room, all are restored, in part.
    let more = "x ".repeat(60_000);
    let call = json!([{"type": "tool_use", "id": "toolu_9", "name": "Bash", "input": {"command": "make"}}]);
    let result = json!([{"type": "tool_result", "tool_use_id": "toolu_9", "content": more}]);
    entries.push(entry(10, "user", json!("Build.")));
    entries.push(entry(11, "assistant", call));
    entries.push(entry(12, "user", result));
    entries.push(entry(
        13,
        "assistant",
        json!([{"type": "text", "text": "Built."}]),
    ));
    let file = world.write("t.jsonl", recorded_in(&world, entries));
    let told = compact(&world, &file, &["--local"]).ends(0).json();
    let files = &told["report"]["files"];
    assert_eq!(files["restored"], 4, "{told}");
    assert_eq!(files["left_out"], 0, "{told}");
}

#[test]
fn r1_a_file_of_one_line_that_was_cut_says_how_many_bytes_are_shown() {
    let world = World::new();
    let text = "x".repeat(80_000);
    let path = world.write("one.txt", &text).display().to_string();
    let call = json!([{"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": path}}]);
    let result = json!([{"type": "tool_result", "tool_use_id": "toolu_1", "content": text}]);
    let file = world.write(
        "s.jsonl",
        recorded_in(
            &world,
            vec![
                entry(0, "user", json!("Look.")),
                entry(1, "assistant", call),
                entry(2, "user", result),
                entry(3, "assistant", json!([{"type": "text", "text": "Seen."}])),
            ],
        ),
    );
    compact(&world, &file, &["--local"]).ends(0);
    let said = Found::at(&world.root().join("out.jsonl")).said();
    let says =
        said.contains("[cut here: the first ") && said.contains(" of 80,000 bytes are shown");
    assert!(says, "{}", &said[said.len() - 300..]);
}

#[test]
fn g2_what_cannot_be_compacted_or_written_to_is_said_with_the_next_step() {
    let world = World::new();
    let bytes = lines(&talk(30, 30));
    world.write("s.jsonl", &bytes);
    let run = world.run(["compact", "s.jsonl", "--local", "-o", "-"]);
    run.fails(&["standard output", "name a file"]);
    assert!(!world.root().join("-").exists());
    let mut command = world.longhaul(["compact", "-", "--preview"]);
    let run = command.finish_with(&bytes);
    run.fails(&["standard input", "needs a file"]);
    let run = world.run(["compact", "s.jsonl", "--local", "-o", "missing/out.jsonl"]);
    run.fails(&["missing/out.jsonl", "Create the folder"]);
    symlink("gone.jsonl", world.root().join("link.jsonl")).unwrap();
    world
        .run(["compact", "link.jsonl", "--local"])
        .fails(&["which does not exist", "Remove the link"]);
    symlink("self.jsonl", world.root().join("self.jsonl")).unwrap();
    world
        .run(["compact", "self.jsonl", "--local"])
        .fails(&["symbolic links", "leads back to itself"]);
}

#[cfg(target_os = "linux")]
#[test]
fn g2_a_pipe_is_refused_as_something_that_is_no_regular_file() {
    let world = World::new();
    let bytes = lines(&talk(30, 30));
    for target in ["/dev/fd/0", "/dev/stdin"] {
        let mut command = world.longhaul(["compact", target, "--local", "-o", "out.jsonl"]);
        let run = command.finish_with(&bytes);
        run.fails(&[target, "not a regular file"]);
        assert!(!world.root().join("out.jsonl").exists());
    }
}
