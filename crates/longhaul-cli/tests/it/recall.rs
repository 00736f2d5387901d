//! `longhaul recall`: finding something again.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Finish, World, plain, rich_session};

const THEIRS: &str = "claude/projects/-srv-app/bbbb2222-0000-4000-8000-000000000002.jsonl";
const OURS: &str = "home/projects/-srv-app/aaaa1111-0000-4000-8000-000000000001.jsonl";

/// A conversation that was cleared once and summarized once.
fn lines() -> Vec<Value> {
    let at = |minute: u32| format!("2026-02-12T16:{minute:02}:00.000Z");
    vec![
        json!({"type": "user", "uuid": "u1", "parentUuid": null, "sessionId": "s", "timestamp": at(1),
            "message": {"role": "user", "content": "Why does the login form forget fooBar? 登录失败"}}),
        json!({"type": "assistant", "uuid": "a1", "parentUuid": "u1", "sessionId": "s", "timestamp": at(2),
            "message": {"id": "m1", "role": "assistant", "content": [
                {"type": "tool_use", "id": "toolu_read", "name": "Read", "input": {"file_path": "/srv/app/src/login.rs"}}]}}),
        json!({"type": "user", "uuid": "r1", "parentUuid": "a1", "sessionId": "s", "timestamp": at(3),
            "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_read",
                "content": "fn login() {\n\tsession_token.forget();\u{1b}[31m\n}\n"}]}}),
        json!({"type": "system", "subtype": "compact_boundary", "uuid": "b", "parentUuid": null,
            "logicalParentUuid": "r1", "sessionId": "s", "timestamp": at(4),
            "compactMetadata": {"trigger": "auto", "preTokens": 100}}),
        json!({"type": "user", "uuid": "s1", "parentUuid": "b", "isCompactSummary": true, "sessionId": "s",
            "timestamp": at(5), "message": {"role": "user", "content": "The gist: login forgets its token."}}),
        json!({"type": "assistant", "uuid": "a2", "parentUuid": "s1", "sessionId": "s", "timestamp": at(6),
            "message": {"id": "m2", "role": "assistant", "content": [
                {"type": "tool_use", "id": "toolu_bash", "name": "Bash", "input": {"command": "cargo test login"}}]}}),
        json!({"type": "user", "uuid": "r2", "parentUuid": "a2", "sessionId": "s", "timestamp": at(7),
            "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_bash",
                "content": "test login ... ok"}]}}),
        json!({"type": "system", "subtype": "microcompact_boundary", "uuid": "c", "parentUuid": "r2", "sessionId": "s",
            "timestamp": at(8), "microcompactMetadata": {"compactedToolIds": ["toolu_bash"]}}),
        json!({"type": "assistant", "uuid": "a3", "parentUuid": "c", "sessionId": "s", "timestamp": at(9),
            "message": {"id": "m3", "role": "assistant", "content": [{"type": "text", "text": "The login works again."}]}}),
    ]
}

fn text(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn world() -> World {
    let world = World::new();
    world.write(THEIRS, text(&lines()));
    world
}

/// All files below a folder, sorted.
fn files(folder: PathBuf) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path)
            } else {
                found.push(path)
            }
        }
    }
    found.sort();
    found
}

#[test]
fn x2_words_are_found_in_any_transcript_and_shown_for_people() {
    let world = world();
    let run = world.run(["recall", "bbbb2222", "login", "forg"]).ends(0);
    assert_eq!(run.err, "");
    let expected = "\
1  2026-02-12 16:05 · summary · 9 tokens · in view
   The gist: login forgets its token.
   --id s1

2  2026-02-12 16:01 · user · 11 tokens · summarized
   Why does the login form forget fooBar? 登录失败
   --id u1

3  2026-02-12 16:03 · result of Read · /srv/app/src/login.rs · 11 tokens ·
   summarized
   fn login() { session_token.forget(); [31m }
   --id toolu_read

longhaul recall bbbb2222 --id ID shows one whole.
";
    let mut shown: Vec<&str> = run.out.split("\n\n").collect();
    let mut wanted: Vec<&str> = expected.split("\n\n").collect();
    assert_eq!(shown.len(), wanted.len(), "{}", run.out);
    // The distance between two ranks does not matter here.
    let body = |part: &&str| part.get(1..).unwrap_or_default().to_owned();
    shown.sort_by_key(body);
    wanted.sort_by_key(body);
    let bodies = |parts: &[&str]| parts.iter().map(body).collect::<Vec<_>>();
    assert_eq!(bodies(&shown), bodies(&wanted));
}

#[test]
fn x2_the_words_are_highlighted_where_there_is_color() {
    let world = world();
    let mut command = world.longhaul(["recall", "bbbb", "foo_bar"]);
    let run = command.env("CLICOLOR_FORCE", "1").finish().ends(0);
    let mark = "\u{1b}[1m\u{1b}[33mfoo\u{1b}[0m";
    assert!(run.out.contains(mark), "{:?}", run.out);
    assert!(
        plain(&run.out).contains("form forget fooBar? 登录失败"),
        "{}",
        run.out
    );
}

#[test]
fn x2_code_and_chinese_are_found_from_the_command_line() {
    let world = world();
    for (words, id) in [
        ("session_token", "toolu_read"),
        ("fooBar", "u1"),
        ("登录", "u1"),
        ("src/login.rs", "toolu_read"),
        ("\"works again\"", "a3"),
    ] {
        let found = world
            .run(["recall", "bbbb", words, "--json"])
            .ends(0)
            .json();
        let hits = found["hits"].as_array().unwrap();
        assert!(hits.iter().any(|hit| hit["id"] == id), "{words}: {found}");
    }
}

#[test]
fn u2_a_cleared_result_is_shown_whole_by_its_id() {
    let world = world();
    let run = world.run(["recall", "bbbb", "--id", "toolu_bash"]).ends(0);
    let expected = "\
2026-02-12 16:06 · call of Bash · 9 tokens · in view
command: cargo test login

2026-02-12 16:07 · result of Bash · 4 tokens · cleared
test login ... ok
";
    assert_eq!(run.out, expected);
    // Nothing of it controls the terminal; tabs stay.
    let run = world.run(["recall", "bbbb", "--id", "toolu_read"]).ends(0);
    let run = run.prints("\n\tsession_token.forget(); [31m\n}\n");
    assert!(!run.out.contains('\u{1b}'));
}

#[test]
fn x2_a_file_is_found_by_its_path() {
    let world = world();
    let found = world
        .run(["recall", "bbbb", "--path", "src/login.rs", "--json"])
        .ends(0)
        .json();
    assert_eq!(found["fit"], "end_of_path");
    assert_eq!(found["hits"].as_array().unwrap().len(), 2);
    assert_eq!(found["hits"][0]["kind"], "tool_result", "newest first");
    let run = world
        .run(["recall", "bbbb", "--path", "other/login.rs"])
        .ends(0);
    run.prints("Nothing is about that path; these are files of the same name:");
}

#[test]
fn x2_nothing_found_is_exit_code_1_with_what_to_try() {
    let world = world();
    for (args, says) in [
        (
            &["dinosaur"][..],
            "Nothing holds dinosaur. Fewer or other words",
        ),
        (
            &["--id", "toolu_x"],
            "Nothing has the id toolu_x. A search for words",
        ),
        (
            &["--path", "x.rs"],
            "Nothing is about a file x.rs. Its name alone",
        ),
        (&["?!"], "Nothing holds ?!."),
    ] {
        let run = world
            .run(["recall", "bbbb"].iter().chain(args))
            .ends(1)
            .says(says);
        assert_eq!(run.out, "");
        let json = world
            .run(["recall", "bbbb", "--json"].iter().chain(args))
            .ends(1)
            .json();
        assert_eq!(json["hits"], json!([]));
    }
}

#[test]
fn x2_what_cannot_be_searched_says_what_to_do_instead() {
    let world = world();
    world
        .run(["recall", "bbbb"])
        .ends(2)
        .says("<QUERY|--id <ID>|--path <PATH>>");
    world.run(["recall", "bbbb", "word", "--id", "x"]).ends(2);
    world
        .run(["recall", "claude", "word"])
        .fails(&["one session is wanted", "Name one of its transcripts"]);
    world
        .run(["recall", "-", "word"])
        .fails(&["one session is wanted"]);
    world
        .run(["recall", "nowhere", "word"])
        .fails(&["no session nowhere found under"]);
    world.write("other.json", r#"[{"role":"user","content":"hi"}]"#);
    let run = world.run(["recall", "other.json", "word"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(files(world.home()).is_empty(), "nothing was made for these");
}

#[test]
fn g2_the_index_lies_under_our_home_and_other_programs_files_are_left_alone() {
    let world = world();
    let before = fs::read(world.root().join(THEIRS)).unwrap();
    world.run(["recall", "bbbb", "login"]).ends(0);
    world.write(OURS, text(&lines()));
    world.run(["recall", "aaaa", "login"]).ends(0);
    assert_eq!(files(world.claude()), [world.root().join(THEIRS)]);
    assert!(fs::read(world.root().join(THEIRS)).unwrap() == before);
    let ours = files(world.home());
    let names: Vec<_> = ours
        .iter()
        .map(|path| path.strip_prefix(world.home()).unwrap().to_str().unwrap())
        .collect();
    let own = "projects/-srv-app/aaaa1111-0000-4000-8000-000000000001/archive.db";
    assert!(names.contains(&own), "{names:?}");
    let foreign = "projects/-srv-app/bbbb2222-0000-4000-8000-000000000002/archive-";
    assert!(
        names.iter().any(|name| name.starts_with(foreign)),
        "{names:?}"
    );
    assert_eq!(names.len(), 3, "no logs are left behind: {names:?}");

    // And a purge takes them away again.
    world
        .run(["purge", "--all", "--yes"])
        .ends(0)
        .prints("archive.db");
    assert!(files(world.home()).is_empty());
}

#[test]
fn x2_later_searches_see_what_was_added_and_what_was_rewritten() {
    let world = world();
    let hits = |words: &str| {
        let found = world.run(["recall", "bbbb", words, "--json"]).json();
        found["hits"].as_array().unwrap().len()
    };
    assert_eq!((hits("login"), hits("papaya")), (7, 0));
    let mut more = lines();
    more.push(
        json!({"type": "user", "uuid": "u9", "parentUuid": "a3", "message": {"content": "papaya"}}),
    );
    world.write(THEIRS, text(&more));
    assert_eq!((hits("login"), hits("papaya")), (7, 1));
    world.write(THEIRS, text(&more[8..]));
    assert_eq!((hits("login"), hits("papaya")), (1, 1));
    world.run(["recall", "bbbb", "papaya", "--rebuild"]).ends(0);
    assert_eq!((hits("login"), hits("papaya")), (1, 1));
}

#[test]
fn x2_a_damaged_index_is_made_again_with_a_warning() {
    let world = world();
    world.run(["recall", "bbbb", "login"]).ends(0);
    let archive = files(world.home()).remove(0);
    fs::write(&archive, "not a database ".repeat(500)).unwrap();
    let run = world.run(["recall", "bbbb", "login"]).ends(0);
    let run = run.says("warning: the archive was damaged and is made again");
    assert!(run.out.contains("--id s1"));
    let run = world.run(["recall", "bbbb", "login"]).ends(0);
    assert_eq!(run.err, "");
}

#[test]
fn x2_a_damaged_transcript_is_searched_as_far_as_it_is_intact() {
    let world = World::new();
    let text = format!("{}garbage\n{{\"torn\":", text(&lines()));
    world.write("s.jsonl", text);
    // Also when nothing has changed since the last search, and when nothing is found.
    for (word, code) in [("login", 0), ("login", 0), ("torn", 1)] {
        let run = world.run(["recall", "s.jsonl", word]).ends(code);
        let run = run.says("warning: line 10: not JSON");
        run.says("warning: line 11: the file ends inside this line; a write was cut short");
    }
    world.write("empty.jsonl", "");
    world.run(["recall", "empty.jsonl", "login"]).ends(1);
}

#[test]
fn x2_a_rich_session_is_searched_within_the_width_of_the_terminal() {
    let world = World::new();
    world.write("s.jsonl", rich_session().bytes);
    for columns in [40, 80, 120] {
        let mut command = world.longhaul(["recall", "s.jsonl", "error", "the"]);
        let run = command.env("COLUMNS", columns.to_string()).finish();
        assert!(run.code < 2, "{run:?}");
        for line in run.out.lines().filter(|line| !line.contains("--id")) {
            assert!(line.chars().count() <= columns, "{columns}: {line}");
        }
    }
}
