//! Completions, manual pages, help: made from one definition, there for every command.

use crate::support::World;

const COMMANDS: [&str; 12] = [
    "chat",
    "inspect",
    "config",
    "doctor",
    "mcp",
    "notes",
    "purge",
    "recall",
    "savings",
    "wrap",
    "completions",
    "man",
];

#[test]
fn completions_are_scripts_for_each_shell() {
    let world = World::new();
    for (shell, sign) in [
        ("bash", "complete -F _longhaul"),
        ("zsh", "#compdef longhaul"),
        ("fish", "complete -c longhaul"),
    ] {
        let run = world.run(["completions", shell]).ends(0).prints(sign);
        for command in COMMANDS {
            assert!(run.out.contains(command), "{shell}: {command}");
        }
    }
    world.run(["completions", "cobol"]).ends(2).says("bash");
}

#[test]
fn man_prints_the_page_and_writes_one_for_each_command() {
    let world = World::new();
    let page = world.run(["man"]).ends(0).prints(".TH longhaul 1").out;
    assert!(COMMANDS.iter().all(|command| page.contains(command)));
    world.run(["man", "--dir", "pages/man1"]).ends(0);
    for command in COMMANDS {
        let path = world
            .root()
            .join(format!("pages/man1/longhaul-{command}.1"));
        assert!(std::fs::read_to_string(path).unwrap().contains("Examples"));
    }
    assert!(world.root().join("pages/man1/longhaul.1").exists());
    world.write("file", "");
    world
        .run(["man", "--dir", "file/below"])
        .fails(&["cannot write file/below"]);
}

#[test]
fn help_of_every_command_shows_examples_that_parse() {
    let world = World::new();
    let mut seen = 0;
    for command in [
        &[][..],
        &["chat"],
        &["inspect"],
        &["config"],
        &["doctor"],
        &["mcp"],
        &["notes"],
        &["purge"],
        &["recall"],
        &["savings"],
        &["wrap"],
        &["completions"],
        &["man"],
    ] {
        let help = world.run(command.iter().chain(&["--help"])).ends(0).out;
        let examples = help.split("Examples:\n").nth(1).unwrap();
        for example in examples.lines().filter(|line| line.contains("longhaul ")) {
            // Another program may start it, after two dashes.
            let started = example.find("-- longhaul ").map(|at| at + 3);
            let from = started.or_else(|| example.find("longhaul ")).unwrap();
            // The text beside an example is separated by more than one space.
            let typed = example[from..].split("  ").next().unwrap();
            let words = words(typed).into_iter().skip(1);
            let words: Vec<String> = words
                .take_while(|word| !["|", ">", "<"].contains(&word.as_str()))
                .collect();
            let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
            // What comes after an agent's name is the agent's.
            let at = if words.first() == Some(&"wrap") {
                1
            } else {
                words.len()
            };
            words.insert(at, "--help");
            let run = world.run(words);
            assert_eq!(run.code, 0, "{example}\n{}", run.err);
            seen += 1;
        }
    }
    assert!(seen >= 20, "{seen}");
}

/// Splits a line as a shell would, with single quotes and nothing else.
fn words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for (at, part) in line.split('\'').enumerate() {
        match at % 2 {
            1 => words.push(part.to_owned()),
            _ => words.extend(part.split_whitespace().map(str::to_owned)),
        }
    }
    words
}

#[test]
fn version_and_help_go_to_standard_output() {
    let world = World::new();
    let run = world.run(["--version"]).ends(0);
    assert_eq!(run.out, format!("longhaul {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(run.err, "");
    let run = world.run([] as [&str; 0]).ends(2);
    assert_eq!(run.out, "");
    assert!(run.err.contains("Usage: longhaul"));
}

#[test]
fn exit_codes_are_in_the_help() {
    let run = World::new().run(["inspect", "--help"]);
    run.prints("Exit codes: 0 fine, 1 problems found in the data and reported, 2 cannot read.");
}
