//! Input that cannot be read: a clear message and exit code 2. Input that is merely empty: exit code 0.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::support::{Finish, World, plain_session};

#[test]
fn an_empty_file_is_fine_and_said_to_be_empty() {
    let world = World::new();
    for nothing in ["", "\n", "\n\n  \t\n\r\n\n"] {
        let run = world.inspect(nothing.as_bytes());
        let report = if nothing.contains('\r') {
            // A line end of another kind is a problem even where it ends nothing.
            run.ends(1)
        } else {
            run.ends(0).says("no entries yet")
        };
        let report = report.json();
        assert_eq!(report["entries"], 0);
        assert_eq!(report["context_tokens"], 0);
        assert_eq!(report["level"], "ok");
        assert_eq!(report["cost_usd"], 0.0);
        assert_eq!(report["turns"], json!([]));
    }
    world
        .page(b"")
        .ends(0)
        .says("no entries yet")
        .prints("0 tokens in use");
}

#[test]
fn a_single_torn_line_is_a_problem_not_a_refusal() {
    let bytes = plain_session().bytes;
    let world = World::new();
    let report = world.inspect(&bytes[..bytes.len().min(300)]).ends(1).json();
    assert_eq!(report["entries"], 0);
    assert_eq!(report["problems"][0]["kind"], "torn_line");
    assert_eq!(report["problems"][0]["line"], 1);
}

#[test]
fn a_missing_file_is_named() {
    let world = World::new();
    let run = world.run(["inspect", "no/such.jsonl"]);
    run.fails(&["no/such.jsonl: no such file or folder", "session id"]);
    world.run(["inspect", ""]).ends(2);
    world.run(["inspect"]).ends(2).says("<FILE|DIR|SESSION-ID>");
}

#[test]
fn where_claude_code_keeps_no_sessions_yet_the_advice_is_not_to_look_there() {
    let world = World::new();
    let folder = world.root().join(".claude/projects");
    let run = world.run(["inspect".as_ref(), folder.as_os_str()]);
    run.fails(&["no such file or folder", "has none of this user yet"]);
}

#[test]
fn a_file_behind_a_file_cannot_be() {
    let world = World::new();
    world.write("s.jsonl", plain_session().bytes);
    world
        .run(["inspect", "s.jsonl/x.jsonl"])
        .fails(&["s.jsonl/x.jsonl"]);
}

#[test]
fn a_link_to_nowhere_is_named_with_its_goal() {
    let world = World::new();
    symlink("gone.jsonl", world.root().join("link.jsonl")).unwrap();
    let run = world.run(["inspect", "link.jsonl"]);
    run.fails(&["link.jsonl: a link to gone.jsonl, which does not exist"]);
    symlink("self.jsonl", world.root().join("self.jsonl")).unwrap();
    world.run(["inspect", "self.jsonl"]).fails(&["self.jsonl"]);
}

#[test]
fn a_folder_named_like_a_transcript_is_a_folder() {
    let world = World::new();
    std::fs::create_dir(world.root().join("x.jsonl")).unwrap();
    let run = world.run(["inspect", "x.jsonl"]);
    run.fails(&["x.jsonl: no transcript in this folder"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_that_opens_but_cannot_be_read_is_named() {
    let world = World::new();
    let run = world.run(["inspect", "/proc/self/mem"]);
    run.fails(&["cannot read /proc/self/mem: "]);
}

#[test]
fn a_folder_without_transcripts_says_where_they_are() {
    let world = World::new();
    world.write("empty/notes.txt", "nothing here");
    std::fs::create_dir(world.root().join("bare")).unwrap();
    for folder in ["empty", "bare"] {
        let run = world.run(["inspect", folder, "--json"]);
        run.fails(&[
            "no transcript in this folder",
            ".jsonl",
            "~/.claude/projects",
        ]);
    }
}

#[test]
fn a_folder_of_other_peoples_files_is_refused() {
    let world = World::new();
    world.write(
        "logs/a.jsonl",
        "{\"level\":\"info\"}\n{\"level\":\"info\"}\n",
    );
    let run = world.run(["inspect", "logs"]);
    run.fails(&["none of the 1 file here is a transcript"]);
}

#[test]
fn names_that_are_not_text_are_read() {
    let world = World::new();
    let name = OsStr::from_bytes(b"caf\xe9.jsonl");
    world.write(name, plain_session().bytes);
    let args = [OsStr::new("inspect"), name, OsStr::new("--json")];
    assert_eq!(world.run(args).ends(0).json()["rounds"], 12);
    assert_eq!(
        world.run(["inspect", ".", "--json"]).ends(0).json()["totals"]["files"],
        1
    );
}

#[test]
fn h7_a_window_too_small_to_work_in_is_refused_with_a_sentence() {
    let world = World::new();
    world.write("s.jsonl", plain_session().bytes);
    for target in ["s.jsonl", "."] {
        let run = world.run(["inspect", target, "--window", "3000"]);
        run.fails(&["3,000 tokens", "too small", "at least 4,000"]);
        world
            .run(["inspect", target, "--window", "3999"])
            .fails(&[]);
        world.run(["inspect", target, "--window", "4000"]).ends(0);
    }
    for command in ["serve", "chat"] {
        let run = world.run([command, "--window", "10"]);
        run.fails(&["10 tokens", "too small"]);
    }
}

#[test]
fn flags_that_make_no_sense_are_refused() {
    let world = World::new();
    world.write("s.jsonl", plain_session().bytes);
    for (flag, value) in [
        ("--window", "many"),
        ("--window", "0"),
        ("--window", "-5"),
        ("--window", "200k"),
        ("--auto-compact-percent", "0"),
        ("--auto-compact-percent", "101"),
        ("--auto-compact-percent", "70abc"),
        ("--max-output", "1.5"),
    ] {
        let run = world.run(["inspect", "s.jsonl", &format!("{flag}={value}")]);
        run.fails(&[&format!("{flag} takes"), &format!("not {value:?}")]);
    }
    world
        .run(["inspect", "s.jsonl", "--windw", "1"])
        .ends(2)
        .says("--window");
    world.run(["inspct"]).ends(2).says("inspect");
}

#[test]
fn binary_data_has_no_notes_and_is_refused() {
    let world = World::new();
    world.write("x.bin", [0_u8, 159, 146, 150].repeat(300));
    world
        .run(["notes", "x.bin"])
        .fails(&["this is binary data"]);
}

#[test]
fn a_source_without_an_end_is_refused_by_its_beginning() {
    let world = World::new();
    for command in ["show", "inspect"] {
        let run = world.run([command, "/dev/zero"]);
        run.fails(&["/dev/zero: this is binary data"]);
    }
}

#[test]
fn a_locale_without_unicode_gets_ascii_and_nothing_else_changes() {
    let world = World::new();
    let path = world.write("s.jsonl", plain_session().bytes);
    let page = |locale: &str| {
        let mut command = world.longhaul(["inspect".as_ref(), path.as_os_str()]);
        let output = command.env("LC_ALL", locale).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let (ascii, unicode) = (page("C"), page("C.UTF-8"));
    assert!(ascii.is_ascii(), "{ascii}");
    assert!(!unicode.is_ascii(), "{unicode}");
    assert_eq!(ascii.chars().count(), unicode.chars().count());
}

/// What a program run as another user, to whom a folder is closed, ends with and says; `None` where we cannot be one.
#[cfg(target_os = "linux")]
fn as_another_user(world: &World, arguments: &[&str]) -> Option<(Option<i32>, String)> {
    use std::os::unix::process::CommandExt as _;

    // Its own folder lets nobody else in; the program may be in one that is not ours to open either.
    let program = world.root().join("longhaul");
    std::fs::copy(env!("CARGO_BIN_EXE_longhaul"), &program).unwrap();
    set_mode(world.root(), 0o755);
    let mut command = std::process::Command::new(program);
    command
        .args(arguments)
        .current_dir(world.root())
        .env("LONGHAUL_HOME", world.root().join("closed/home"))
        .stdin(std::process::Stdio::null())
        .uid(65_534);
    let Ok(output) = command.output() else {
        longhaul_testkit::skipped::note("running as another user needs root");
        return None;
    };
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Some((output.status.code(), said))
}

#[cfg(target_os = "linux")]
fn set_mode(path: &std::path::Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;

    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_read_is_not_called_empty() {
    let world = World::new();
    world.write("closed/session.jsonl", plain_session().bytes);
    set_mode(&world.root().join("closed"), 0o700);
    for command in ["inspect", "replay"] {
        let Some((code, said)) = as_another_user(&world, &[command, "closed"]) else {
            return;
        };
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("Permission denied"), "{said}");
        assert!(!said.contains("no transcript"), "{said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_home_that_cannot_be_written_is_an_error_in_a_sentence_and_no_log_line() {
    let world = World::new();
    std::fs::create_dir(world.root().join("closed")).unwrap();
    set_mode(&world.root().join("closed"), 0o700);
    let Some((code, said)) = as_another_user(&world, &["chat", "-p", "Hello"]) else {
        return;
    };
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("error: ") && !said.contains("WARN"), "{said}");
}

#[test]
fn nothing_to_look_for_is_a_mistake_and_no_search_without_matches() {
    let world = World::new();
    world.write("session.jsonl", plain_session().bytes);
    for nothing in ["", "  "] {
        let run = world.run(["recall", "session.jsonl", nothing]);
        run.fails(&["nothing to look for", "--path"]);
    }
}

#[test]
fn an_address_or_a_key_that_cannot_be_used_is_named_with_its_variable() {
    let world = World::new();
    for (name, value) in [
        ("ANTHROPIC_BASE_URL", "nope"),
        ("ANTHROPIC_API_KEY", "a\nb"),
    ] {
        let mut chat = world.longhaul(["chat", "-p", "Hello"]);
        chat.env(name, value).finish().fails(&[name]);
    }
}

#[test]
fn only_a_file_is_replaced_by_a_copy_never_a_device() {
    let world = World::new();
    world.write("session.jsonl", plain_session().bytes);
    std::fs::create_dir(world.root().join("folder")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(world.root().join("pipe"))
        .status();
    assert!(made.unwrap().success());
    for target in ["folder", "pipe"] {
        let arguments = ["compact", "session.jsonl", "--local", "--force", "--output"];
        let run = world.run(arguments.into_iter().chain([target]));
        run.fails(&["is not a regular file"]);
    }
    let found = std::fs::symlink_metadata(world.root().join("pipe")).unwrap();
    assert!(!found.is_file());
}
