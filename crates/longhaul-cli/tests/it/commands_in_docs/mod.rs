//! Every command in the README and in docs/ works as it is written there: it runs, or, where it would need a network, a
//! terminal or hours, what it names exists. `lines.rs` finds the commands, `names.rs` looks for what Cargo is told to run.
#![cfg(unix)]

mod lines;
mod names;

use std::fs::File;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use lines::without_variables;
use names::wrong_names;

use crate::serve;
use crate::support::{World, plain_session};

/// How a command is checked.
#[derive(Debug, PartialEq, Eq)]
enum CommandCheck {
    /// It is run by a shell and ends with 0 or 1.
    Runs,
    /// The program reads its arguments, and does no more: it would not end by itself, or wants a terminal.
    Parses,
    /// Cargo would find what it names.
    NamesExist,
    /// It is not checked, for this reason.
    Exception(&'static str),
}

/// What a line is, by its beginning; the first rule that fits counts.
const RULES: &[(&str, CommandCheck)] = &[
    ("longhaul chat -p", CommandCheck::Runs),
    // It asks an upstream.
    ("longhaul doctor --offline", CommandCheck::Runs),
    ("longhaul doctor", CommandCheck::Parses),
    ("longhaul savings --store postgres:", CommandCheck::Parses),
    ("longhaul chat", CommandCheck::Parses),
    ("longhaul sim", CommandCheck::Parses),
    ("longhaul serve", CommandCheck::Parses),
    ("longhaul wrap", CommandCheck::Parses),
    ("longhaul ", CommandCheck::Runs),
    ("zcat ", CommandCheck::Runs),
    ("claude mcp add", CommandCheck::Parses),
    ("cargo ", CommandCheck::NamesExist),
    ("claude", CommandCheck::Exception("is another program")),
    ("my-agent", CommandCheck::Exception("is another program")),
    (
        "curl ",
        CommandCheck::Exception("asks a simulator; its tests send the same requests"),
    ),
    (
        "tar ",
        CommandCheck::Exception("installs a package; `packages.rs` does"),
    ),
    (
        "pip install",
        CommandCheck::Exception("installs a package; `packages.rs` does"),
    ),
    (
        "uvx ",
        CommandCheck::Exception("installs a package; `packages.rs` does"),
    ),
    (
        "npm install",
        CommandCheck::Exception("installs a package; `packages.rs` does"),
    ),
    ("git clone", CommandCheck::Exception("needs a network")),
    (
        "docker ",
        CommandCheck::Exception("needs a container engine; `cargo xtask dist` reads the recipe"),
    ),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A session of the user's own.
const STORED: &str = "home/projects/-p/6113e919-0000-4000-8000-000000000000.jsonl";

/// Makes the session one that nobody has used since yesterday: what was changed just now may be in use, and is not changed in
/// place.
fn leave_alone(world: &World) {
    let yesterday = SystemTime::now() - Duration::from_secs(86_400);
    let path = world.root().join(STORED);
    if let Ok(stored) = File::options().write(true).open(path) {
        stored.set_modified(yesterday).unwrap();
    }
}

/// A user's machine: sessions of both programs, the files that the examples name, and the program on the path.
fn machine() -> World {
    let world = World::new();
    let session = with_entry(plain_session().bytes, "5358a642");
    world.write("session.jsonl", &session);
    world.write("build.log", "error: it does not build\n");
    world.write(STORED, &session);
    with_usage_log(&world);
    world.write(".claude/projects/-home-me-app/aaaa.jsonl", &session);
    let fixtures = root().join("fixtures");
    for name in ["session.jsonl", "damaged.jsonl"] {
        let bytes = std::fs::read(fixtures.join(name)).unwrap();
        world.write(format!("fixtures/{name}"), bytes);
    }
    let packed = Command::new("gzip")
        .args(["-c", "session.jsonl"])
        .current_dir(world.root())
        .output()
        .unwrap();
    world.write("old.jsonl.gz", packed.stdout);
    std::fs::create_dir_all(world.root().join("bin")).unwrap();
    let program = env!("CARGO_BIN_EXE_longhaul");
    std::os::unix::fs::symlink(program, world.root().join("bin/longhaul")).unwrap();
    // What the examples pipe into is not what is tested.
    let jq = world.write("bin/jq", "#!/bin/sh\nexec cat\n");
    std::fs::set_permissions(jq, std::fs::Permissions::from_mode(0o755)).unwrap();
    world
}

/// The usage log that a gateway has left.
fn with_usage_log(world: &World) {
    let (child, addr) = serve::started(serve::longhaul(&world.home(), &[]));
    serve::hello(&addr);
    serve::end(child);
}

/// The session with an entry near its end, which stays when older ones are summarized, whose id begins like this, as the examples name it.
fn with_entry(session: Vec<u8>, id: &str) -> Vec<u8> {
    let text = String::from_utf8(session).unwrap();
    let line = text.lines().rev().nth(4).unwrap();
    let at = line.find("\"uuid\":\"").unwrap() + "\"uuid\":\"".len();
    text.replace(&line[at..at + id.len()], id).into_bytes()
}

/// Runs a line: how it ends, and what it writes to stderr.
fn shell(world: &World, line: &str) -> (i32, String) {
    let (code, _, errors) = ran(world, line);
    (code, errors)
}

/// Runs a line: how it ends, and what it writes to stdout.
fn said(world: &World, line: &str) -> (i32, String) {
    let (code, said, _) = ran(world, line);
    (code, said)
}

fn ran(world: &World, line: &str) -> (i32, String, String) {
    let path = format!(
        "{}:{}",
        world.root().join("bin").display(),
        std::env::var("PATH").unwrap()
    );
    let output = Command::new("sh")
        .args(["-c", line])
        .env_clear()
        .env("PATH", path)
        .env("HOME", world.root())
        .env("LONGHAUL_HOME", world.home())
        .current_dir(world.root())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code().unwrap_or(-1),
        text(&output.stdout),
        text(&output.stderr),
    )
}

/// The words of a line that a program reads, with a request for help as the last: arguments that do not exist are
/// refused before it.
fn help_of(line: &str) -> String {
    let line = line.rsplit(" -- ").next().unwrap();
    let line = line.split(" | ").next().unwrap();
    format!("{line} --help")
}

/// What is wrong with the subcommand and the flags of a command of ours. What follows an agent's name is the agent's.
fn wrong_flags(world: &World, line: &str) -> Option<String> {
    const AGENTS: [&str; 4] = ["claude", "opencode", "aider", "--"];
    let mut words = line.split_whitespace().skip(1).peekable();
    let subcommand = words.next_if(|word| word.chars().all(|letter| letter.is_ascii_lowercase()));
    let help = format!("longhaul {} --help", subcommand.unwrap_or_default());
    let (code, help) = said(world, &help);
    if code != 0 {
        return Some(format!("no subcommand {subcommand:?}"));
    }
    let mut flags = words.take_while(|word| !AGENTS.contains(word));
    let wrong = flags.find(|word| {
        let flag = word.split('=').next().unwrap();
        flag.starts_with('-') && !help.contains(flag)
    });
    wrong.map(|flag| format!("no flag {flag}"))
}

/// What is wrong with a command in a block.
fn wrong_command(world: &World, line: &str) -> Option<String> {
    let ends_with = |line: &str, most: i32| match shell(world, line) {
        (code, _) if (0..=most).contains(&code) => None,
        (code, said) => Some(format!("ends with {code}: {said}")),
    };
    let bare = without_variables(line);
    let rule = RULES.iter().find(|(begin, _)| bare.starts_with(begin));
    match rule.map(|(_, check)| check) {
        Some(CommandCheck::Runs) => ends_with(line, 1),
        Some(CommandCheck::Parses) if bare.starts_with("longhaul wrap ") => {
            wrong_flags(world, bare)
        }
        Some(CommandCheck::Parses) => ends_with(&help_of(bare), 0),
        Some(CommandCheck::NamesExist) => wrong_names(bare).or_else(|| {
            // The arguments of the program that Cargo runs.
            let given = bare.split_once(" -- ")?;
            let is_ours = given.0.starts_with("cargo run") && given.0.contains("-p longhaul-cli");
            is_ours.then(|| ends_with(&format!("longhaul {} --help", given.1), 0))?
        }),
        Some(CommandCheck::Exception(_)) => None,
        None => Some("no rule says how it is checked".to_owned()),
    }
}

/// What is wrong with a command in a sentence, which may have placeholders and leave something out.
fn wrong_mention(world: &World, line: &str) -> Option<String> {
    let bare = without_variables(line);
    if bare.starts_with("longhaul ") {
        return wrong_flags(world, bare);
    }
    if bare.starts_with("cargo ") {
        return wrong_names(bare);
    }
    let program = bare.split_whitespace().next().unwrap();
    (!root().join(program).exists()).then(|| format!("no {program}"))
}

/// README.md, and everything in docs/.
fn documents() -> Vec<PathBuf> {
    let mut found = vec![root().join("README.md")];
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ext| ext == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn every_command_in_the_readme_and_the_documents_works() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for document in documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        let world = machine();
        let in_blocks = lines::commands(&text).into_iter().map(|line| {
            leave_alone(&world);
            let why = wrong_command(&world, &line);
            (line, why)
        });
        let mentions = lines::inline(&text).into_iter().map(|line| {
            let why = wrong_mention(&world, &line);
            (line, why)
        });
        let unmarked = lines::unmarked(&text).into_iter().map(|line| {
            let why = "this block must say that it is `sh`, or what else it is";
            (line, Some(why.to_owned()))
        });
        for (line, why) in in_blocks.chain(mentions).chain(unmarked) {
            checked += 1;
            wrong.extend(why.map(|why| format!("{}: {line}\n  {why}", document.display())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked > 200, "{checked}");
}

#[test]
fn the_names_in_the_commands_for_contributors_exist() {
    let text = std::fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let commands = lines::commands(&text)
        .into_iter()
        .chain(lines::inline(&text));
    let wrong: Vec<String> = commands
        .filter(|line| without_variables(line).starts_with("cargo "))
        .filter_map(|line| {
            wrong_names(without_variables(&line)).map(|why| format!("{line}: {why}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
