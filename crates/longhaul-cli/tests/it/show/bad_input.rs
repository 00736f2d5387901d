//! Input that cannot be shown: a message, a next step and exit code 2.

use super::fixture;
use crate::support::{Finish, World, plain_session};

#[test]
fn what_is_no_session_is_refused() {
    let world = World::new();
    world.write("p/s.jsonl", plain_session().bytes);
    world.write("text.jsonl", "plain text\nand more\n");
    world
        .run(["show", "no/such.jsonl"])
        .fails(&["no/such.jsonl: no such file or folder"]);
    world
        .run(["show", "p"])
        .fails(&["p: this is a folder", "inspect"]);
    world
        .run(["show", "text.jsonl"])
        .fails(&["text.jsonl: this is"]);
    world.run(["show"]).ends(2).says("<FILE|SESSION-ID>");
    world.run(["show", "--full"]).ends(0).says("no entries yet");
}

#[test]
fn an_empty_file_has_nothing_to_show() {
    let world = World::new();
    world.write("s.jsonl", "");
    let run = world.run(["show", "s.jsonl"]).ends(0);
    run.says("s.jsonl: no entries yet")
        .prints("There is no message to send yet.");
    world
        .run(["show", "s.jsonl", "--request"])
        .fails(&["no message yet", "--say"]);
    world
        .run(["show", "s.jsonl", "--say", "Hello", "--request"])
        .fails(&["nothing names a model", "--model"]);
    let body = world.run([
        "show",
        "s.jsonl",
        "--say",
        "Hello",
        "--model",
        "claude-opus-4-8",
        "--request",
    ]);
    let body = body.ends(0).json();
    assert_eq!(body["model"], "claude-opus-4-8");
    assert_eq!(body["messages"][0]["content"][0]["text"], "Hello");
    world.write("torn.jsonl", "{\"type\":\"user\",\"uuid\":\"1");
    world
        .run(["show", "torn.jsonl"])
        .ends(1)
        .says("line 1: the file ends inside this line");
}

#[test]
fn numbers_out_of_range_say_what_there_is() {
    let world = World::new();
    let show = |args: &[&str]| {
        let mut command = world.longhaul(["show"]);
        command.arg(fixture("session.jsonl")).args(args).finish()
    };
    for turn in [
        "33",
        "0",
        "-33",
        "9223372036854775807",
        "-9223372036854775808",
    ] {
        let wrong = format!("there is no response {turn}: this conversation has 32");
        show(&["--turn", turn]).fails(&[&wrong, "--turns"]);
    }
    for item in ["0", "23", "x", "-1", "99999999999999999999"] {
        show(&["--full", item]).ends(2);
    }
    show(&["--full", "23"]).fails(&["there is no item 23: the list ends with 22"]);
    show(&["--turn", "x"]).ends(2);
    show(&["--request", "--json"])
        .ends(2)
        .says("cannot be used with");
    show(&["--turn", "1", "--say", "x"])
        .ends(2)
        .says("cannot be used with");
    show(&["--request"]).fails(&[
        "the conversation ends with a reply",
        "--say TEXT",
        "--turn -1",
    ]);
}

#[test]
fn n1_the_model_is_that_of_the_transcript_or_the_one_given() {
    let world = World::new();
    let file = world.write("s.jsonl", plain_session().bytes);
    let body = |args: &[&str]| {
        let mut command = world.longhaul(["show", "--request", "--turn", "1"]);
        command.arg(&file).args(args).finish().ends(0).json()
    };
    let own = body(&["--model", "claude-opus-4-8"]);
    assert!(
        own["model"]
            .as_str()
            .is_some_and(|model| model != "claude-opus-4-8"),
        "{own}"
    );
    assert!(own["max_tokens"].as_u64().unwrap() > 4_000);
    assert_eq!(
        body(&["--set", "window.max_output=4000"])["max_tokens"],
        4_000
    );
    assert_eq!(own.get("system"), None);
    assert_eq!(own.get("tools"), None);
}
