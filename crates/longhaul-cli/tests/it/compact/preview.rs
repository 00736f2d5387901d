//! Previews (Y6), reports (Y3), and messages.

use serde_json::json;

use super::{Found, compact, lines, talk};
use crate::support::{World, plain_session, rich_session};

#[test]
fn y6_a_preview_shows_the_summary_and_what_it_saves_and_changes_nothing() {
    let world = World::new();
    let bytes = lines(&talk(30, 30));
    let file = world.write("a.jsonl", &bytes);
    let page = world
        .run(["compact", "a.jsonl", "--local", "--preview"])
        .ends(0);
    for words in [
        "## Summary",
        "Turn 0: look at part 0",
        "User messages",
        "Nothing was changed.",
    ] {
        assert!(page.out.contains(words), "{words}: {}", page.out);
    }
    let told = world
        .run(["compact", "a.jsonl", "--preview", "--json", "--keep", "4"])
        .ends(0);
    assert!(told.err.contains("No model is asked"), "{}", told.err);
    let told = told.json();
    assert_eq!(
        (&told["output"], &told["boundary"]),
        (&json!(null), &json!(null))
    );
    assert_eq!(told["before"], json!(Found::at(&file).size));
    assert!(told["after"].as_u64() < told["before"].as_u64());
    let args = [
        "compact",
        "a.jsonl",
        "--local",
        "--preview",
        "--output",
        "b.jsonl",
    ];
    world.run(args).ends(0);
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
    assert!(!world.home().exists(), "not even an archive is made");
    assert_eq!(std::fs::read_dir(world.root()).unwrap().count(), 1);
}

#[test]
fn y6_a_summary_can_be_edited_and_given_back() {
    let world = World::new();
    let file = world.write("a.jsonl", lines(&talk(30, 30)));
    world.write(
        "mine.md",
        "The machine has sixty parts; all are known by now.",
    );
    let run = compact(&world, &file, &["--summary", "mine.md"]).ends(0);
    let told = run.json();
    assert_eq!(told["summariser"], "approved");
    let out = Found::at(&world.root().join("out.jsonl"));
    assert!(out.said().contains("all are known by now"));
    // What the user said is kept anyway (X1).
    super::holds("mine", &file, &world.root().join("out.jsonl"), &told);
    world.write("empty.md", "  \n");
    let run = compact(&world, &file, &["--summary", "empty.md"]).ends(2);
    assert!(run.err.contains("empty"), "{}", run.err);
}

#[test]
fn y3_the_report_is_printed_recorded_and_shown_by_inspect() {
    let world = World::new();
    let file = world.write("a.jsonl", lines(&talk(30, 30)));
    let told = compact(&world, &file, &["--local"]).ends(0).json();
    let inspected = world.run(["inspect", "out.jsonl", "--json"]).ends(0).json();
    let boundary = &inspected["boundaries"][0];
    assert_eq!(boundary["uuid"], told["boundary"]);
    assert_eq!(boundary["report"], told["report"]);
    assert_eq!(
        told["report"]["results"]["cleared"],
        told["report"]["results"]["archived"]
    );
    let page = world.run(["inspect", "out.jsonl"]).ends(0).out;
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("everything the user said is kept"), "{page}");
}

#[test]
fn p1_a_pivot_is_named_by_the_beginning_of_its_id() {
    let world = World::new();
    let file = world.write("a.jsonl", lines(&talk(30, 30)));
    let run = compact(&world, &file, &["--local", "--up-to", "00000030"]).ends(0);
    assert_eq!(run.json()["kept"], 60 - 0x30);
    compact(&world, &file, &["--local", "--up-to", "0000003"])
        .fails(&["begins with", "12 entries"]);
    compact(&world, &file, &["--local", "--from", "ffff"]).fails(&["no entry in view", "uuid"]);
    compact(&world, &file, &["--local", "--up-to", "00000000"]).ends(1);
    let run = compact(&world, &file, &["--local", "--keep", "100"]).ends(1);
    assert!(run.err.contains("only 60 messages"), "{}", run.err);
}

#[test]
fn p1_messages_are_counted_as_inspect_counts_them() {
    let world = World::new();
    for session in [rich_session(), plain_session()] {
        let file = world.write("a.jsonl", session.bytes);
        let messages = &world.run(["inspect", "a.jsonl", "--json"]).json()["messages"];
        let run = compact(&world, &file, &["--local", "--keep", "100000"]).ends(1);
        let only = format!("only {messages} messages");
        assert!(run.err.contains(&only), "{only}: {}", run.err);
    }
}

#[test]
fn h5_compaction_that_is_switched_off_stays_off() {
    use crate::support::Finish;
    let world = World::new();
    world.write("a.jsonl", lines(&talk(30, 30)));
    let mut command = world.longhaul(["compact", "a.jsonl", "--local", "--output", "b.jsonl"]);
    let run = command.env("DISABLE_COMPACT", "1").finish();
    run.fails(&["switched off"]);
    assert!(!world.root().join("b.jsonl").exists());
}
