//! Log lines (E2): spans on stderr, as text or JSON, and never a word of what is in the entries.

use serde_json::Value;

use crate::support::{Finish, World, plain_session};

const SECRET: &str = "xyzzy-plugh-4711";

/// A transcript with a secret in every text, a damaged line with it, and a result nobody asked for.
fn world() -> World {
    let world = World::new();
    let text = String::from_utf8(plain_session().bytes).unwrap();
    let text = text
        .replace("\"text\":\"", &format!("\"text\":\"{SECRET} "))
        .replace("\"content\":\"", &format!("\"content\":\"{SECRET} "))
        .replace("\"file_path\":\"", &format!("\"file_path\":\"/{SECRET}"))
        .replace("\"command\":\"", &format!("\"command\":\"{SECRET} "));
    assert!(text.matches(SECRET).count() > 20);
    world.write(
        "home/projects/p/aaaa1111.jsonl",
        format!("{text}{{\"{SECRET}\": {SECRET}\n"),
    );
    world
}

#[test]
fn e2_log_shows_spans_on_stderr_and_leaves_stdout_alone() {
    let world = world();
    let quiet = world.run(["inspect", "aaaa1111", "--json"]).ends(1);
    assert_eq!(quiet.err, "");
    let loud = world
        .run(["inspect", "aaaa1111", "--json", "--log", "debug"])
        .ends(1);
    assert_eq!(loud.out, quiet.out);
    for words in [
        "find_session",
        "inspection{",
        "aaaa1111",
        "entries=",
        "close",
    ] {
        assert!(loud.err.contains(words), "{words}: {}", loud.err);
    }
    assert!(!loud.err.contains('\u{1b}'));
}

#[test]
fn e2_no_content_of_an_entry_is_ever_logged() {
    let world = world();
    for target in ["aaaa1111", "home"] {
        let mut command = world.longhaul(["inspect", target, "--log", "trace"]);
        let run = command.finish().ends(1);
        assert!(!run.err.is_empty());
        assert!(!run.err.contains(SECRET), "{}", run.err);
        let run = command.env("LONGHAUL_LOG_FORMAT", "json").finish();
        assert!(!run.err.contains(SECRET), "{}", run.err);
    }
}

#[test]
fn e2_log_lines_can_be_json() {
    let world = world();
    let mut command = world.longhaul(["inspect", "aaaa1111"]);
    let run = command
        .env("LONGHAUL_LOG_FORMAT", "json")
        .env("LONGHAUL_LOG", "debug")
        .finish();
    assert!(run.err.lines().count() >= 2);
    for line in run.err.lines() {
        let line: Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(
            line["timestamp"].is_string() && line["level"].is_string(),
            "{line}"
        );
    }
}

#[test]
fn e2_a_filter_that_cannot_be_used_is_named() {
    let world = world();
    let run = world.run(["inspect", "aaaa1111", "--log", "longhaul=loudly"]);
    run.fails(&[
        "the log filter \"longhaul=loudly\" cannot be used",
        "Try `debug`",
    ]);
    world
        .run(["inspect", "aaaa1111", "--log", "longhaul_store=debug"])
        .ends(1)
        .says("find_session");
    world.run(["inspect", "aaaa1111", "--log", "off"]).ends(1);
}
