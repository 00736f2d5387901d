//! The references are current: every field of the output is documented, the settings are those of the program.
//!
//! `UPDATE_DOCS=1 cargo test -p longhaul-cli docs` rewrites what is generated.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use longhaul_core::transcript::TranscriptProblemKind;
use serde_json::Value;

use crate::support::{Finish, World, folded, long_session, plain_session};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(name)
}

fn read(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap_or_default()
}

/// Compares a document with what it should be, or rewrites it if asked to.
#[track_caller]
fn current(name: &str, wanted: &str) {
    if std::env::var_os("UPDATE_DOCS").is_some_and(|value| value == "1") {
        std::fs::create_dir_all(path("")).unwrap();
        std::fs::write(path(name), wanted).unwrap();
    }
    assert!(
        read(name) == wanted,
        "docs/{name} is not current: run with UPDATE_DOCS=1"
    );
}

#[test]
fn g1_the_reference_of_settings_is_current() {
    current(
        "configuration.md",
        &longhaul_core::config::reference_markdown(),
    );
}

#[test]
fn a_settings_own_flag_is_documented_with_the_commands_that_have_it() {
    let world = World::new();
    let commands = [
        "chat", "compact", "config", "doctor", "inspect", "mcp", "notes", "purge", "recall",
        "replay", "savings", "serve", "show", "sim", "wrap",
    ];
    let text = read("configuration.md");
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    let mut seen = 0;
    for row in rows {
        let cell = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        let Some((flag, whose)) = cell.split_once(" VALUE` of ") else {
            continue;
        };
        let flag = flag.trim_start_matches('`');
        for command in commands {
            let is_said = whose == "every command" || whose.contains(&format!("`{command}`"));
            // These have a flag of the same name that means something else.
            let is_another = matches!(
                (command, flag),
                ("replay", "--window" | "--model") | ("compact" | "sim", "--model")
            );
            let taken = world.run([command, flag, "1", "--help"]).code == 0;
            assert_eq!(taken && !is_another, is_said, "{command} {flag}");
        }
        seen += 1;
    }
    assert_eq!(seen, 9);
}

/// Paths of all fields, `[]` for items of lists and `*` for members that are named by the data.
fn fields(value: &Value, at: &str, found: &mut BTreeSet<String>) {
    const BY_NAME: [&str; 3] = [
        "tools",
        "categories.tool_results_by_tool",
        "duplicate_reads.files",
    ];
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let name = if BY_NAME.contains(&at) { "*" } else { name };
                let path = if at.is_empty() {
                    name.to_owned()
                } else {
                    format!("{at}.{name}")
                };
                fields(value, &path, found);
                found.insert(path);
            }
        }
        Value::Array(items) => {
            for item in items {
                fields(item, &format!("{at}[]"), found);
            }
        }
        _ => {}
    }
}

/// Paths in the first column of the tables below a heading.
fn documented(text: &str, heading: &str) -> BTreeSet<String> {
    let section = text.split(&format!("\n## {heading}\n")).nth(1);
    let section = section.unwrap_or_else(|| panic!("no section {heading}"));
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.map(|row| row.split('`').next().unwrap().to_owned())
        .collect()
}

/// The same session, whose compactions and clearings were decided by price (V6).
fn by_price(session: &str) -> String {
    let decided = |action: &str| {
        let record = serde_json::json!({"policy": "full", "action": action, "priceUsd": 0.14, "rentUsd": 0.08, "waivedUsd": 0.07,
            "tokensFreed": 20_000, "savedPerRequestUsd": 0.006, "payBackRequests": 24});
        format!("\"economy\":{record},")
    };
    let mut session = session.to_owned();
    for (metadata, action) in [
        ("compactMetadata", "summarize"),
        ("microcompactMetadata", "clear"),
    ] {
        let begins = format!("\"{metadata}\":{{");
        let with = format!("{begins}{}", decided(action));
        assert!(session.contains(&begins), "{metadata}");
        session = session.replace(&begins, &with);
    }
    session
}

#[test]
fn t4_every_field_of_a_report_is_documented_and_nothing_else_is() {
    let world = World::new();
    let mut bytes = folded();
    bytes.extend(long_session().bytes);
    bytes.extend_from_slice(b"{\"torn\":");
    let bytes = by_price(&String::from_utf8(bytes).unwrap());
    let report = world.inspect(bytes.as_bytes()).ends(1).json();
    let mut found = BTreeSet::new();
    fields(&report, "", &mut found);
    let documented = documented(&read("inspect-json.md"), "One file");
    let missing: Vec<_> = found.difference(&documented).collect();
    assert!(missing.is_empty(), "not documented: {missing:?}");
    let gone: Vec<_> = documented.difference(&found).collect();
    assert!(gone.is_empty(), "documented, but not there: {gone:?}");
}

#[test]
fn every_field_of_a_folder_is_documented_and_nothing_else_is() {
    let world = World::new();
    world.write("p/1111.jsonl", plain_session().bytes);
    world.write("p/text.jsonl", "plain text\n");
    let mut folder = world.run(["inspect", "p", "--json"]).ends(1).json();
    folder["files"] = Value::Array(Vec::new());
    let mut found = BTreeSet::new();
    fields(&folder, "", &mut found);
    assert_eq!(documented(&read("inspect-json.md"), "A folder"), found);
}

#[test]
fn every_field_of_a_list_is_documented_and_nothing_else_is() {
    let world = World::new();
    let file = world.write("s.jsonl", plain_session().bytes);
    let mut command = world.longhaul(["show", "--json", "--full"]);
    let mut list = command.arg(file).finish().ends(0).json();
    // A file with prefix entries has breakpoints.
    list["marks"] = serde_json::json!([{"item": 1, "ttl": "5m", "tokens": 1}]);
    let mut found = BTreeSet::new();
    fields(&list, "", &mut found);
    for lists in ["zones", "marks", "items"] {
        found.remove(lists);
    }
    let text = read("show.md");
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    let names = rows.flat_map(|row| row.split('|').nth(1).unwrap().split('`').skip(1).step_by(2));
    let documented: BTreeSet<String> = names.map(str::to_owned).collect();
    assert_eq!(documented, found);
}

#[test]
fn the_example_in_the_reference_is_what_the_program_prints() {
    let world = World::new();
    let bytes = longhaul_testkit::SessionSpec::new(1, 2).plain().bytes();
    world.write("session.jsonl", bytes);
    let example = world
        .run(["inspect", "session.jsonl", "--json"])
        .ends(0)
        .out;
    let text = read("inspect-json.md");
    let (before, rest) = text.split_once("```json\n").unwrap();
    let (_, after) = rest.split_once("```\n").unwrap();
    current(
        "inspect-json.md",
        &format!("{before}```json\n{example}```\n{after}"),
    );
}

#[test]
fn m4_every_kind_of_problem_is_documented() {
    let documented = documented(&read("inspect-json.md"), "Kinds of problem");
    let kinds = TranscriptProblemKind::ALL.map(|kind| kind.name().to_owned());
    assert_eq!(documented, BTreeSet::from(kinds));
}

#[test]
fn the_readme_shows_what_the_program_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let shown = readme
        .split("```text\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let mut command = World::new().longhaul(["inspect"]);
    let page = command
        .arg(root.join("fixtures/session.jsonl"))
        .current_dir(&root);
    page.finish().ends(0).prints(shown);
}
