//! Every command in the README and in docs/ works as it is written there: it runs, or, where it would need a network, a
//! terminal or hours, what it names exists.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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
    ("longhaul chat", CommandCheck::Parses),
    ("longhaul sim", CommandCheck::Parses),
    ("longhaul serve", CommandCheck::Parses),
    ("longhaul wrap", CommandCheck::Parses),
    ("longhaul ", CommandCheck::Runs),
    ("zcat ", CommandCheck::Runs),
    ("claude mcp add", CommandCheck::Parses),
    ("cargo ", CommandCheck::NamesExist),
    (
        "ANTHROPIC_BASE_URL=",
        CommandCheck::Exception("runs another program"),
    ),
    (
        "OPENAI_BASE_URL=",
        CommandCheck::Exception("runs another program"),
    ),
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
    (
        "docker ",
        CommandCheck::Exception("needs a container engine; `cargo xtask dist` reads the recipe"),
    ),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The commands in a document: the lines of its shell blocks without comments. In a block that shows what a command
/// prints, commands follow a `$`.
fn commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for block in text.split("```sh\n").skip(1) {
        let block = block.split("```").next().unwrap();
        let has_output = block.starts_with("$ ");
        for line in block.lines() {
            let typed = match (has_output, line.strip_prefix("$ ")) {
                (true, None) => continue,
                (true, Some(typed)) => typed,
                (false, _) => line,
            };
            // A comment is separated by more than a space.
            let typed = typed.split("  #").next().unwrap().trim();
            let typed = typed.split(" # ").next().unwrap().trim();
            if !typed.is_empty() && !typed.starts_with('#') {
                found.push(typed.to_owned());
            }
        }
    }
    found
}

/// A user's machine: sessions of both programs, the files that the examples name, and the program on the path.
fn machine() -> World {
    let world = World::new();
    let session = plain_session().bytes;
    world.write("session.jsonl", &session);
    world.write("build.log", "error: it does not build\n");
    let id = "6113e919-0000-4000-8000-000000000000";
    world.write(format!("home/projects/-p/{id}.jsonl"), &session);
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

fn shell(world: &World, line: &str) -> (i32, String) {
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
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().unwrap_or(-1), said)
}

/// The words of a line that a program reads, with a request for help as the last: arguments that do not exist are
/// refused before it.
fn help_of(line: &str) -> String {
    let line = line.rsplit(" -- ").next().unwrap();
    let line = line.split(" | ").next().unwrap();
    match line.strip_prefix("longhaul wrap ") {
        // What follows the agent's name is the agent's.
        Some(rest) => format!("longhaul wrap --help {rest}"),
        None => format!("{line} --help"),
    }
}

/// What is wrong with the names in a line of Cargo's.
fn wrong_names(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let after = |flag: &str| {
        let at = words.iter().position(|word| *word == flag)?;
        words.get(at + 1).copied()
    };
    let package = after("-p").or_else(|| after("--package"));
    if let Some(package) = package.filter(|package| !package.starts_with('<')) {
        let folder = root().join("crates").join(package);
        if !folder.is_dir() {
            return Some(format!("no crate {package}"));
        }
        for (flag, below) in [
            ("--bench", "benches"),
            ("--example", "examples"),
            ("--test", "tests"),
        ] {
            let Some(name) = after(flag) else { continue };
            let file = folder.join(below).join(name);
            if !file.is_dir() && !file.with_extension("rs").is_file() {
                return Some(format!("no {flag} {name} in {package}"));
            }
        }
    }
    if let Some(path) = after("--path").or_else(|| after("--manifest-path"))
        && !root().join(path).exists()
    {
        return Some(format!("no {path}"));
    }
    if words.get(1) == Some(&"xtask") {
        let task = words.get(2).copied().unwrap_or_default();
        let main = std::fs::read_to_string(root().join("xtask/src/main.rs")).unwrap();
        if !main.contains(&format!("[\"{task}\"")) {
            return Some(format!("no task {task}"));
        }
    }
    let features = after("--features").unwrap_or_default();
    let manifest = std::fs::read_to_string(root().join("crates/longhaul-cli/Cargo.toml")).unwrap();
    for feature in features.split(',').filter(|feature| !feature.is_empty()) {
        if !manifest.contains(&format!("\n{feature} = [")) {
            return Some(format!("no feature {feature}"));
        }
    }
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let profile = after("--profile").unwrap_or("release");
    (!manifest.contains(&format!("[profile.{profile}]"))).then(|| format!("no profile {profile}"))
}

#[test]
fn every_command_in_the_readme_and_the_documents_works() {
    let mut documents = vec![root().join("README.md"), root().join("CONTRIBUTING.md")];
    let docs = std::fs::read_dir(root().join("docs")).unwrap();
    documents.extend(docs.map(|entry| entry.unwrap().path()));
    documents.retain(|path| path.extension().is_some_and(|ext| ext == "md"));
    let world = machine();
    let mut wrong = Vec::new();
    let mut checked = 0;
    for document in documents {
        let text = std::fs::read_to_string(&document).unwrap();
        let is_for_users = !document.ends_with("CONTRIBUTING.md");
        for line in commands(&text) {
            let rule = RULES.iter().find(|(begin, _)| line.starts_with(begin));
            let problem = match rule.map(|(_, check)| check) {
                Some(CommandCheck::Runs) => match shell(&world, &line) {
                    (0 | 1, _) => None,
                    (code, said) => Some(format!("ends with {code}: {said}")),
                },
                Some(CommandCheck::Parses) => match shell(&world, &help_of(&line)) {
                    (0, _) => None,
                    (code, said) => Some(format!("ends with {code}: {said}")),
                },
                Some(CommandCheck::NamesExist) => wrong_names(&line),
                Some(CommandCheck::Exception(_)) => None,
                None if is_for_users => Some("no rule says how it is checked".to_owned()),
                None => None,
            };
            checked += 1;
            wrong.extend(problem.map(|why| format!("{}: {line}\n  {why}", document.display())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked > 40, "{checked}");
}
