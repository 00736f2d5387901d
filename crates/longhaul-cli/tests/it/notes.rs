//! `longhaul notes`: what is noted about a session.

use longhaul_core::notes::DEFAULT_TEMPLATE;

use crate::support::{Finish, World, plain_session};

const SESSION: &str = "home/projects/-srv-app/aaaa1111-0000-4000-8000-000000000001.jsonl";
const FOLDER: &str = "home/projects/-srv-app/aaaa1111-0000-4000-8000-000000000001/session-memory";

fn world() -> World {
    let world = World::new();
    world.write(SESSION, plain_session().bytes);
    world
}

#[test]
fn s1_notes_are_printed_byte_for_byte() {
    let world = world();
    let text = "Mine.\r\n\r\n# Current state\r\n_Now_\r\n\r\nhalf done\r\n# My own\r\nx";
    world.write(format!("{FOLDER}/summary.md"), text);
    for session in ["aaaa1111", SESSION] {
        let run = world.run(["notes", session]).ends(0);
        assert_eq!((run.out.as_str(), run.err.as_str()), (text, ""));
    }
}

#[test]
fn s1_where_there_are_none_it_is_said_why() {
    let world = world();
    let run = world.run(["notes", "aaaa"]).ends(1);
    assert_eq!(run.out, "");
    let run = run
        .says("There are no notes: ")
        .says("summary.md does not exist");
    run.says("from 10,000 tokens");
    let off = ["notes", "aaaa", "--set", "compaction.notes=false"];
    world.run(off).ends(1).says("switched off");
    let early = ["notes", "aaaa", "--set", "notes.start_tokens=7000"];
    world.run(early).ends(1).says("from 7,000 tokens");
    world.write(format!("{FOLDER}/summary.md"), DEFAULT_TEMPLATE);
    let run = world.run(["notes", "aaaa"]).ends(1);
    assert_eq!(run.out, "");
    run.says("Nothing is noted yet");
    world.write(format!("{FOLDER}/summary.md"), "# Own\nfixed\n");
    world.run(["notes", "aaaa"]).ends(0).prints("fixed");
    world.write(format!("{FOLDER}/config/template.md"), "# Own\nfixed\n");
    world
        .run(["notes", "aaaa"])
        .ends(1)
        .says("Nothing is noted");
}

#[test]
fn s1_the_path_is_printed_whether_the_file_is_there_or_not() {
    let world = world();
    let path = format!(
        "{}\n",
        world.root().join(FOLDER).join("summary.md").display()
    );
    assert_eq!(world.run(["notes", "aaaa", "--path"]).ends(1).out, path);
    world.write(format!("{FOLDER}/summary.md"), "# A\nx\n");
    assert_eq!(world.run(["notes", "aaaa", "--path"]).ends(0).out, path);
}

#[test]
fn s4_s5_programs_are_told_what_each_section_holds_and_how_far_they_reach() {
    let world = world();
    let none = world.run(["notes", "aaaa", "--json"]).ends(1).json();
    assert_eq!(none["state"], "none");
    assert_eq!(none["sections"].as_array().unwrap().len(), 0);
    let long = "x".repeat(8_004);
    let text = format!("# Worklog\n_Steps_\n\n{long}\n\n# Learnings\nsome\n");
    world.write(format!("{FOLDER}/summary.md"), &text);
    let progress = r#"{"lastSummarizedUuid":"u7","tokens":12000}"#;
    world.write(format!("{FOLDER}/progress.json"), progress);
    let found = world.run(["notes", "aaaa", "--json"]).ends(0).json();
    assert_eq!(found["state"], "noted");
    assert_eq!(found["last_summarized_uuid"], "u7");
    assert_eq!(found["sections"][0]["description"], "_Steps_");
    assert_eq!(found["sections"][0]["tokens"], 2_001);
    assert_eq!(found["sections"][0]["over"], true);
    assert_eq!(found["sections"][1]["body"], "some");
    assert_eq!(found["sections"][1]["over"], false);
    let document = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/notes.md");
    let document = std::fs::read_to_string(document).unwrap();
    for field in found.as_object().unwrap().keys() {
        assert!(document.contains(&format!("| `{field}")), "{field}");
    }
    for field in found["sections"][0].as_object().unwrap().keys() {
        assert!(
            document.contains(&format!("`sections[].{field}`")),
            "{field}"
        );
    }
}

#[test]
fn one_session_is_wanted() {
    let world = world();
    world
        .run(["notes", "home"])
        .fails(&["one session is wanted"]);
    world.run(["notes", "-"]).fails(&["one session is wanted"]);
    world.run(["notes", "nope"]).fails(&["no such file"]);
}

#[cfg(unix)]
#[test]
fn s1_what_is_no_notes_file_is_refused_and_never_read() {
    use std::os::unix::fs::symlink;
    let world = world();
    let file = world.write(format!("{FOLDER}/summary.md"), "# A\nx\n");
    let elsewhere = world.write("elsewhere.md", "# Secret\nhunter2\n");
    let progress = world.root().join(FOLDER).join("progress.json");
    symlink(&elsewhere, &progress).unwrap();
    world.run(["notes", "aaaa", "--json"]).fails(&["is a link"]);
    std::fs::remove_file(&progress).unwrap();
    std::fs::remove_file(&file).unwrap();
    symlink(&elsewhere, &file).unwrap();
    for more in [&[][..], &["--json"]] {
        let run = world.longhaul(["notes", "aaaa"]).args(more).finish();
        run.fails(&["is a link", "remove it"]);
    }
    std::fs::remove_file(&file).unwrap();
    // A sparse file: it takes no room on the disk.
    let sparse = std::fs::File::create(&file).unwrap();
    sparse.set_len(3 << 30).unwrap();
    let run = world.run(["notes", "aaaa"]);
    run.fails(&["not text of at most", "move it away"]);
    std::fs::remove_file(&file).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&file).status();
    assert!(made.unwrap().success());
    let run = world.run(["notes", "aaaa"]);
    run.fails(&["is not what notes are kept in", "move it away"]);
    // The folder, too.
    let folder = world.root().join(FOLDER);
    std::fs::remove_dir_all(&folder).unwrap();
    symlink(world.root(), &folder).unwrap();
    world.run(["notes", "aaaa"]).fails(&["is a link"]);
}
