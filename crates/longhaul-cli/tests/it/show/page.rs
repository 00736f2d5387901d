//! The list for people: what is in it, and that it fits.

use unicode_width::UnicodeWidthStr;

use super::{adds_up, fixture, json};
use crate::support::{Finish, World, plain, rich_session};

#[test]
fn z1_the_fixture_is_listed_block_by_block() {
    let world = World::new();
    let mut command = world.longhaul(["show"]);
    let run = command.arg(fixture("session.jsonl")).finish().ends(0);
    let run = run.prints("next request · claude-sonnet-4-5-20250929 · 18 messages · 22 items");
    let run = run.prints("(summary) This session is being");
    let run = run
        .prints("The changelog first.")
        .prints("tool_result Read");
    let run = run.prints("The file records no request prefix");
    assert_eq!(run.err, "");
    let list = json(&world, &fixture("session.jsonl"), &[], 0);
    adds_up(&list);
    assert_eq!(list["head"], "none");
    assert_eq!(list["request"], "nothing_asked");
}

#[test]
fn m4_a_damaged_file_is_listed_and_the_damage_reported() {
    let world = World::new();
    let mut command = world.longhaul(["show"]);
    let run = command.arg(fixture("damaged.jsonl")).finish().ends(1);
    run.says("ignored; `longhaul inspect` says which");
    adds_up(&json(&world, &fixture("damaged.jsonl"), &[], 1));
    let mut command = world.longhaul(["show", "--turn", "-1"]);
    let run = command.arg(fixture("damaged.jsonl")).finish().ends(1);
    run.says("warning: line 12: not UTF-8")
        .prints("request of response 32 of 32");
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let world = World::new();
    world.write("s.jsonl", rich_session().bytes);
    for columns in ["40", "60", "80", "120"] {
        for args in [
            vec!["show", "s.jsonl"],
            vec!["show", "s.jsonl", "--turn", "30"],
        ] {
            let page = world
                .longhaul(args)
                .env("COLUMNS", columns)
                .finish()
                .ends(0)
                .out;
            let most: usize = columns.parse().unwrap();
            assert!(page.lines().all(|line| line.width() <= most), "{page}");
        }
    }
}

#[test]
fn color_comes_only_where_it_is_wanted() {
    let world = World::new();
    world.write("s.jsonl", rich_session().bytes);
    let page = world.run(["show", "s.jsonl"]).ends(0).out;
    assert_eq!(plain(&page), page);
    let mut command = world.longhaul(["show", "s.jsonl"]);
    let colored = command.env("CLICOLOR_FORCE", "1").finish().ends(0).out;
    assert_eq!(plain(&colored), page);
    assert_ne!(colored, page);
}

#[test]
fn full_prints_whole_texts_and_one_of_them_by_its_number() {
    let world = World::new();
    let file = fixture("session.jsonl");
    let list = json(&world, &file, &["--full"], 0);
    let text = list["items"][0]["text"].as_str().unwrap();
    assert!(text.len() > 500);
    let mut command = world.longhaul(["show"]);
    let one = command.arg(&file).args(["--full", "1"]).finish().ends(0);
    assert_eq!(
        one.out,
        format!("#1 · messages · message 1, user · text · summary · 246 tokens\n{text}\n")
    );
    let only = json(&world, &file, &["--full", "1"], 0);
    assert_eq!(only["items"].as_array().unwrap().len(), 1);
    assert_eq!(only["items"][0]["text"], text);
    // The file may come after the flag.
    let mut command = world.longhaul(["show", "--full"]);
    let all = command.arg(&file).finish().ends(0).out;
    assert!(all.contains(&one.out));
    // Escapes in results do not reach the terminal.
    assert!(!all.contains('\u{1b}'));
}

#[test]
fn standard_input_and_a_session_id_do_as_well_as_a_file() {
    let world = World::new();
    let bytes = rich_session().bytes;
    let id = "6113e919-67d3-417b-b525-c63700228d19";
    let file = world.write(format!("claude/projects/-p/{id}.jsonl"), &bytes);
    let mut of_file = json(&world, &file, &[], 0);
    let mut of_id = world.run(["show", "6113e919", "--json"]).ends(0).json();
    let mut of_stdin = world
        .longhaul(["show", "-", "--json"])
        .finish_with(&bytes)
        .json();
    assert_eq!(of_stdin["file"], serde_json::Value::Null);
    for list in [&mut of_file, &mut of_id, &mut of_stdin] {
        list["file"].take();
    }
    assert_eq!(of_id, of_file);
    assert_eq!(of_stdin, of_file);
}

#[test]
fn o6_a_summary_of_folds_is_shown_as_such() {
    let world = World::new();
    let mut bytes = crate::support::folded();
    bytes.extend_from_slice(
        br#"{"type":"user","uuid":"u1","parentUuid":"s-folded","sessionId":"s","message":{"role":"user","content":"go on"}}"#,
    );
    bytes.push(b'\n');
    let file = world.write("folded.jsonl", bytes);
    let mut command = world.longhaul(["show"]);
    let run = command.arg(&file).finish().ends(0);
    run.prints("(summary, folds: 2 spans) Part 1, part 2.");
    let list = json(&world, &file, &[], 0);
    assert_eq!(list["items"][0]["folds"], 2);
}
