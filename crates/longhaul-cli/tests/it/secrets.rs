//! Keys stay with the program, and its output cannot control a terminal.

use std::path::PathBuf;
use std::process::Command;

use crate::chat::Provider;
use crate::support::{Finish, World};

const SECRETS: &[(&str, &str)] = &[
    ("ANTHROPIC_AUTH_TOKEN", "hush-1"),
    ("OPENAI_API_KEY", "hush-2"),
    ("LONGHAUL_GATEWAY_TOKEN", "hush-3"),
    ("AWS_SECRET_ACCESS_KEY", "hush-4"),
    ("GITHUB_TOKEN", "hush-5"),
    ("DB_PASSWORD", "hush-6"),
];

/// Variables whose names do not show what they hold.
const IN_VALUES: &[(&str, &str)] = &[
    ("DATABASE_URL", "postgres://me:hush-7@db.example/shop"),
    ("BROKER", "amqp://me:hush-8@queue.example"),
    ("STORAGE", "AccountName=me;AccountKey=hush-9"),
    ("CHAT_BOT", "xoxb-0123456789-hush"),
    ("LOGIN", "sk-ant-hush0123456789ABCDEF"),
];

/// A project whose command, hook and server each write their environment to a file.
fn leaky(world: &World) -> (PathBuf, Provider) {
    let hook = r#"{"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "env > hook.txt"}]}]},
        "passEnvironment": ["OPENAI_API_KEY"]}"#;
    world.write("project/.claude/settings.json", hook);
    let server = r#"{"mcpServers": {"leaky": {"command": "sh", "args": ["-c", "env > server.txt"],
        "env": {"FOR_ME": "${GITHUB_TOKEN}"}}}}"#;
    world.write("claude/.claude.json", server);
    let provider = Provider::scripted(&[
        r#"{"tools":[{"name":"Bash","input":{"command":"env > command.txt"}}]}"#,
        r#"{"text":"Done."}"#,
    ]);
    (world.root().join("project"), provider)
}

fn run(world: &World, provider: &Provider, folder: &PathBuf) -> [String; 3] {
    let args = ["-p", "Go.", "--trust", "--allowed-tools", "Bash"];
    let mut chat: Command = provider.chat(world, &args);
    chat.envs(SECRETS.iter().chain(IN_VALUES).copied())
        .env("HARMLESS", "seen")
        .env("OPEN_URL", "postgres://me@db.example/shop");
    chat.current_dir(folder).finish().ends(0);
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    ["command.txt", "hook.txt", "server.txt"].map(read)
}

#[test]
fn keys_are_not_in_the_environment_of_commands_hooks_and_servers() {
    let world = World::new();
    let (folder, provider) = leaky(&world);
    let [command, hook, server] = run(&world, &provider, &folder);
    for text in [&command, &hook, &server] {
        assert!(text.contains("HARMLESS=seen"), "{text}");
        assert!(text.contains("OPEN_URL=postgres://me@db"), "{text}");
        assert!(!text.contains("ANTHROPIC_API_KEY"), "{text}");
    }
    assert!(
        !command.contains("hush") && !hook.contains("hush"),
        "{command}{hook}"
    );
    // A server gets the variables that its own entry names, under the names given there.
    assert!(server.contains("FOR_ME=hush-5") && !server.contains("GITHUB_TOKEN"));
    assert_eq!(server.matches("hush").count(), 1, "{server}");
}

#[test]
fn a_key_that_the_user_lists_is_passed_on_and_one_that_the_project_lists_is_not() {
    let world = World::new();
    let own =
        r#"{"passEnvironment": ["GITHUB_TOKEN", "AWS_*"], "env": {"DB_PASSWORD": "on purpose"}}"#;
    world.write("claude/settings.json", own);
    let (folder, provider) = leaky(&world);
    let [command, hook, server] = run(&world, &provider, &folder);
    for text in [&command, &hook, &server] {
        assert!(text.contains("GITHUB_TOKEN=hush-5"), "{text}");
        assert!(text.contains("AWS_SECRET_ACCESS_KEY=hush-4"), "{text}");
        assert!(
            !text.contains("OPENAI_API_KEY") && !text.contains("ANTHROPIC_A"),
            "{text}"
        );
    }
    assert!(command.contains("DB_PASSWORD=on purpose") && hook.contains("DB_PASSWORD=on purpose"));
}

#[test]
fn secrets_that_only_their_values_tell_of_are_withheld_unless_the_user_lists_their_variables() {
    let world = World::new();
    world.write(
        "claude/settings.json",
        r#"{"passEnvironment": ["DATABASE_URL"]}"#,
    );
    let (folder, provider) = leaky(&world);
    for text in run(&world, &provider, &folder) {
        assert!(
            text.contains("DATABASE_URL=postgres://me:hush-7@"),
            "{text}"
        );
        for (name, _) in &IN_VALUES[1..] {
            assert!(!text.contains(name), "{name} in {text}");
        }
    }
}

/// Checks that line breaks and tabs are the only control characters.
#[track_caller]
fn is_harmless(text: &str) {
    let steers = |c: char| {
        c.is_control() && c != '\n' && c != '\t' || ('\u{202a}'..='\u{202e}').contains(&c)
    };
    assert!(!text.contains(steers), "{text:?}");
}

#[test]
fn what_a_model_says_never_steers_the_terminal() {
    let world = World::new();
    let evil = r"title \u001b]0;gone\u0007 clear \u001b[2J\u009b2J back\rover del\u007f turned \u202egnp.exe";
    let answer = format!(r#"{{"text":"{evil}"}}"#);
    let call = format!(
        r#"{{"text":"{evil}","tools":[{{"name":"Read","input":{{"file_path":"{evil}"}}}}]}}"#
    );
    let prompt = "Say \u{1b}[2J\u{9b}31m\u{7f} it.";
    for format in ["text", "json", "stream-json"] {
        let provider = Provider::scripted(&[&call, &answer]);
        let args = ["-p", prompt, "--output-format", format];
        let run = provider.chat(&world, &args).finish().ends(0);
        assert!(
            run.out.contains("gone") && run.out.contains("2J back"),
            "{}",
            run.out
        );
        is_harmless(&run.out);
        is_harmless(&run.err);
    }
    let provider = Provider::scripted(&[&call, &answer]);
    let args = ["-p", prompt, "--output-format", "json"];
    let run = provider.chat(&world, &args).finish().ends(0);
    let id = run.json()["session_id"].as_str().unwrap().to_owned();
    assert!(run.json()["result"].as_str().unwrap().contains("\u{9b}2J"));
    for args in [
        &["inspect", &id][..],
        &["inspect", &id, "--json"],
        &["show", &id],
        &["show", &id, "--json"],
        &["show", &id, "--full"],
        &["show", &id, "--full", "--json"],
        &["recall", &id, "title"],
        &["recall", &id, "title", "--json"],
        &["compact", &id, "--local", "--preview"],
        &["compact", &id, "--local", "--preview", "--json"],
    ] {
        let run = world.run(args);
        assert!([0, 1].contains(&run.code), "{args:?}: {run:?}");
        is_harmless(&run.out);
        is_harmless(&run.err);
    }
}
