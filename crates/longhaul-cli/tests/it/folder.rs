//! `inspect FOLDER`: every transcript below it, the totals, and what was left out.

use std::os::unix::fs::symlink;

use longhaul_testkit::SessionSpec;
use longhaul_testkit::session::TranscriptRole;
use unicode_width::UnicodeWidthStr;

use crate::support::{Finish, World, plain, plain_session, rich_session};

/// Two sessions, one of them with a sub-agent, and files of others.
fn project(world: &World) {
    world.write("p/1111.jsonl", rich_session().bytes);
    world.write("p/2222.jsonl", plain_session().bytes);
    let agent = SessionSpec::new(8, 5)
        .role(TranscriptRole::SubAgent)
        .bytes();
    world.write("p/1111/subagents/agent-a1.jsonl", agent);
    world.write("p/notes.md", "not looked at");
    world.write(
        "p/log.jsonl",
        "{\"level\":\"info\"}\n{\"level\":\"info\"}\n",
    );
}

#[test]
fn a_folder_is_one_object_with_files_what_was_skipped_and_totals() {
    let world = World::new();
    project(&world);
    let run = world.run(["inspect", "p", "--json"]).ends(1);
    assert_eq!(run.err, "");
    let folder = run.json();
    let keys: Vec<_> = folder.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["files", "folder", "skipped", "totals"]);
    assert_eq!(folder["folder"], "p");
    let files = folder["files"].as_array().unwrap();
    let names: Vec<_> = files
        .iter()
        .map(|file| file["file"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "p/1111/subagents/agent-a1.jsonl",
            "p/1111.jsonl",
            "p/2222.jsonl"
        ]
    );
    assert_eq!(folder["skipped"][0]["file"], "p/log.jsonl");
    let reason = folder["skipped"][0]["reason"].as_str().unwrap();
    assert_eq!(reason, "this is JSON lines, but not those of a transcript");
    assert_eq!(folder["totals"]["files"], 3);
    for (total, parts) in [
        ("entries", &["/entries"][..]),
        ("rounds", &["/rounds", "/sidechains/rounds"]),
    ] {
        let of = |file: &serde_json::Value| -> u64 {
            parts
                .iter()
                .map(|part| file.pointer(part).unwrap().as_u64().unwrap())
                .sum()
        };
        assert_eq!(folder["totals"][total], files.iter().map(of).sum::<u64>());
    }
    let cost = |file: &serde_json::Value| {
        file["cost_usd"].as_f64().unwrap() + file["sidechains"]["cost_usd"].as_f64().unwrap()
    };
    let sum: f64 = files.iter().map(cost).sum();
    assert!((folder["totals"]["cost_usd"].as_f64().unwrap() - sum).abs() < 1e-9);
    assert_eq!(folder["totals"]["problems"], 0);
}

#[test]
fn a_file_in_a_folder_is_reported_as_it_is_alone() {
    let world = World::new();
    project(&world);
    let folder = world.run(["inspect", "p", "--json"]).json();
    let alone = world.run(["inspect", "p/1111.jsonl", "--json"]).json();
    assert_eq!(folder["files"][1], alone);
}

#[test]
fn a_person_gets_a_row_a_file_and_the_sums() {
    let world = World::new();
    project(&world);
    let run = world.run(["inspect", "p"]).ends(1);
    assert_eq!(run.err, "");
    let row = |name: &str| {
        let row = run
            .out
            .lines()
            .find(|line| line.trim_start().starts_with(name));
        row.unwrap_or_else(|| panic!("{name} is not in:\n{}", run.out))
            .to_owned()
    };
    assert!(row("2222.jsonl").contains("$"));
    assert!(row("agent-a1.jsonl").starts_with("  "), "below its folder");
    row("1111/subagents/");
    row("3 files, ");
    assert!(row("skipped p/log.jsonl: ").contains("this is"));
}

#[test]
fn a_folders_table_fits_its_terminal_and_keeps_the_beginning_of_ids() {
    let world = World::new();
    let id = "6113e919-67d3-417b-b525-c63700228d19";
    for project in [
        "-srv-app",
        "-srv-a-project-with-quite-a-long-name-in-a-deep-folder",
    ] {
        let path = format!("all/{project}/{id}.jsonl");
        world.write(path, plain_session().bytes);
    }
    for columns in [40, 60, 80, 120] {
        for color in ["", "1"] {
            let mut command = world.longhaul(["inspect", "all"]);
            command
                .env("COLUMNS", columns.to_string())
                .env("CLICOLOR_FORCE", color);
            let table = plain(&command.finish().ends(0).out);
            for line in table.lines() {
                assert!(line.width() <= columns, "{columns}: {line}");
                assert_eq!(line, line.trim_end());
            }
            assert_eq!(table.matches("6113e919-67d3").count(), 2, "{table}");
        }
    }
}

#[test]
fn a_damaged_file_in_a_folder_is_a_problem() {
    let world = World::new();
    project(&world);
    std::fs::remove_file(world.root().join("p/log.jsonl")).unwrap();
    world.run(["inspect", "p"]).ends(0);
    world.write(
        "p/3333.jsonl",
        [&plain_session().bytes[..], b"{\"torn\":"].concat(),
    );
    let folder = world.run(["inspect", "p", "--json"]).ends(1).json();
    assert_eq!(folder["totals"]["problems"], 1);
}

#[test]
fn links_in_a_circle_are_followed_once_and_links_to_nowhere_are_skipped() {
    let world = World::new();
    project(&world);
    std::fs::remove_file(world.root().join("p/log.jsonl")).unwrap();
    symlink(".", world.root().join("p/self")).unwrap();
    symlink("..", world.root().join("p/1111/up")).unwrap();
    let folder = world.run(["inspect", "p", "--json"]).ends(0).json();
    assert_eq!(folder["totals"]["files"], 3);
    symlink("gone", world.root().join("p/9999.jsonl")).unwrap();
    let folder = world.run(["inspect", "p", "--json"]).ends(1).json();
    assert_eq!(folder["totals"]["files"], 3);
    assert_eq!(folder["skipped"][0]["file"], "p/9999.jsonl");
}

#[test]
fn an_empty_transcript_in_a_folder_counts_as_a_file() {
    let world = World::new();
    world.write("p/1111.jsonl", "");
    let folder = world.run(["inspect", "p", "--json"]).ends(0).json();
    assert_eq!(folder["totals"]["files"], 1);
    assert_eq!(folder["totals"]["entries"], 0);
}

#[test]
fn a_link_to_nowhere_that_is_not_named_like_a_transcript_is_ignored() {
    let world = World::new();
    world.write("p/1111.jsonl", plain_session().bytes);
    symlink("gone", world.root().join("p/latest")).unwrap();
    symlink("round.txt", world.root().join("p/round.txt")).unwrap();
    let folder = world.run(["inspect", "p", "--json"]).ends(0).json();
    assert_eq!(folder["skipped"].as_array().unwrap().len(), 0, "{folder}");
    let replayed = world.run(["replay", "p"]).ends(0);
    assert!(!replayed.out.contains("latest"), "{}", replayed.out);
}
