//! Texts in files and names of files are shown, never obeyed; programs get them byte for byte.

use crate::support::{World, plain_session};

/// Every name in the session replaced by something that would control a terminal.
fn hostile() -> (Vec<u8>, &'static str) {
    let bytes = String::from_utf8(plain_session().bytes).unwrap();
    let evil = "Re\\u001b[2J\\u009b31m\\u202ead\\u007f";
    let bytes = bytes
        .replace("\"name\":\"Read\"", &format!("\"name\":\"{evil}\""))
        .replace("claude-sonnet-4-5-20250929", &format!("claude-{evil}"))
        .replace(
            "\"file_path\":\"/",
            "\"file_path\":\"/\\u001b]0;owned\\u0007\\r\\n",
        );
    (bytes.into_bytes(), "Re\u{1b}[2J\u{9b}31m\u{202e}ad\u{7f}")
}

#[test]
fn a_page_never_steers_the_terminal() {
    let world = World::new();
    let (bytes, _) = hostile();
    world.write("evil\u{1b}[31m\n.jsonl", &bytes);
    world.write("other/evil\u{1b}]0;owned\u{7}.jsonl", "plain text\n");
    for target in [
        "evil\u{1b}[31m\n.jsonl",
        ".",
        "other/evil\u{1b}]0;owned\u{7}.jsonl",
        "\u{1b}[2J",
    ] {
        for color in ["", "1"] {
            let mut command = world.longhaul(["inspect", target]);
            let run = crate::support::Finish::finish(command.env("CLICOLOR_FORCE", color));
            for text in [&run.out, &run.err] {
                // The only escapes are our own colors.
                for code in text.split('\u{1b}').skip(1) {
                    let end = code.find(|c: char| !c.is_ascii_digit() && c != ';' && c != '[');
                    assert!(
                        color == "1" && code[end.unwrap()..].starts_with('m'),
                        "{code:?} in {text:?}"
                    );
                }
                let steers =
                    |c: char| (c.is_control() && c != '\n' && c != '\u{1b}') || c == '\u{202e}';
                assert!(!text.contains(steers), "{text:?}");
                assert!(!text.contains("\u{1b}[31m\n"), "{text:?}");
            }
        }
    }
}

#[test]
fn programs_get_names_as_they_are() {
    let world = World::new();
    let (bytes, name) = hostile();
    let report = world.inspect(&bytes).ends(0).json();
    assert!(report["tools"].get(name).is_some(), "{}", report["tools"]);
    assert_eq!(report["window"]["model"], format!("claude-{name}"));
}

#[test]
fn a_session_id_cannot_lead_out_of_the_homes() {
    let world = World::new();
    world.write("secret.jsonl", plain_session().bytes);
    world.write("home/projects/p/1111.jsonl", plain_session().bytes);
    for id in [
        "../../secret",
        "../../../secret.json",
        "../../etc/passwd-not-there",
        "p/1111",
        "..",
        ".",
        "*",
        "1111*",
        "-1111",
        "1111\n",
        "con:1111",
    ] {
        let mut args = vec!["inspect", "--json", "--"];
        args.push(id);
        let run = world.run(args);
        if [".", ".."].contains(&id) {
            // These are folders, and are inspected as such.
            assert_eq!(run.out.is_empty(), run.code == 2);
        } else {
            run.fails(&[]);
        }
    }
    let long = "a".repeat(5_000);
    world.run(["inspect", &long]).fails(&[]);
}
