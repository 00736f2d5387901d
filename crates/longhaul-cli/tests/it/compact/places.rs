//! Where a compaction is written, and where not.

use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, SystemTime};

use longhaul_store::archive::{Archive, SearchScope, archive_path};
use longhaul_store::layout::{Home, HomeOwner};
use serde_json::{Value, json};

use super::{Found, entry, holds, lines, talk, talk_from};
use crate::support::{Finish, World};

fn aged(path: &Path) {
    let file = std::fs::File::options().append(true).open(path).unwrap();
    let hour_ago = SystemTime::now() - Duration::from_secs(3600);
    file.set_modified(hour_ago).unwrap();
}

#[test]
fn g2_another_programs_file_is_changed_in_place_only_by_force() {
    let world = World::new();
    let bytes = lines(&talk(30, 30));
    let file = world.write("theirs.jsonl", &bytes);
    aged(&file);
    let run = world.run(["compact", "theirs.jsonl", "--local"]);
    run.fails(&["belongs to another program", "--output"]);
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
    let before = world.write("before.jsonl", &bytes);
    let told = world.run(["compact", "theirs.jsonl", "--local", "--force", "--json"]);
    holds("in place", &before, &file, &told.ends(0).json());
}

#[test]
fn g2_our_own_session_is_compacted_in_place_by_its_id_once_it_rests() {
    let world = World::new();
    let bytes = lines(&talk(30, 30));
    let id = "11111111-0000-4000-8000-000000000000";
    let file = world.write(format!("home/projects/-p/{id}.jsonl"), &bytes);
    let run = world.run(["compact", "11111111", "--local"]);
    run.fails(&["may be in use", "--force"]);
    aged(&file);
    let run = world
        .run(["compact", "11111111", "--local", "--report"])
        .ends(0);
    assert!(
        run.out.contains("Compacted ") && run.out.contains("User messages"),
        "{}",
        run.out
    );
    assert!(run.err.is_empty(), "{}", run.err);
    assert!(Found::at(&file).size < 12_000);
    // What left the view is in the archive.
    let home = Home::at(&world.home(), HomeOwner::Longhaul).unwrap();
    let archive = Archive::open(&archive_path(&home, &file)).unwrap();
    let found = archive
        .search("machine", SearchScope::Everything, 5)
        .unwrap();
    assert!(!found.hits.is_empty());
}

#[test]
fn output_replaces_nothing_unless_it_is_forced_and_never_the_transcript() {
    let world = World::new();
    let bytes = lines(&talk(30, 30));
    let file = world.write("a.jsonl", &bytes);
    world.write("there.jsonl", "precious");
    let args = ["compact", "a.jsonl", "--local", "--output"];
    let to = |output: &str| world.longhaul(args).arg(output).finish();
    to("there.jsonl").fails(&["exists already", "--force"]);
    assert_eq!(
        std::fs::read(world.root().join("there.jsonl")).unwrap(),
        b"precious"
    );
    to("./a.jsonl").fails(&["the transcript itself"]);
    to("no/such/folder/b.jsonl").fails(&["cannot write"]);
    world
        .longhaul(args)
        .args(["a.jsonl", "--force"])
        .finish()
        .ends(2);
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
    world
        .longhaul(args)
        .args(["there.jsonl", "--force"])
        .finish()
        .ends(0);
    assert!(
        std::fs::read(world.root().join("there.jsonl"))
            .unwrap()
            .starts_with(&bytes)
    );
    let left: Vec<_> = std::fs::read_dir(world.root()).unwrap().collect();
    assert!(
        left.iter()
            .flatten()
            .all(|left| !left.file_name().to_string_lossy().starts_with('.'))
    );
}

#[cfg(unix)]
#[test]
fn a_link_leads_to_the_transcript_and_is_never_replaced() {
    let world = World::new();
    let bytes = lines(&talk(30, 30));
    let file = world.write("real.jsonl", &bytes);
    let link = world.root().join("link.jsonl");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let onto = world.run([
        "compact",
        "real.jsonl",
        "--local",
        "--force",
        "--output",
        "link.jsonl",
    ]);
    onto.fails(&["the transcript itself"]);
    world
        .run(["compact", "link.jsonl", "--local", "--force"])
        .ends(0);
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(std::fs::read(&file).unwrap().len() > bytes.len());
}

#[cfg(unix)]
#[test]
fn y7_what_cannot_be_written_is_said_and_nothing_changes() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let bytes = lines(&talk(30, 30));
    let file = world.write("ro/a.jsonl", &bytes);
    let folder = world.root().join("ro");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o400)).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o500)).unwrap();
    // The administrator may write everything.
    if std::fs::File::options().append(true).open(&file).is_err() {
        let run = world.run(["compact", "ro/a.jsonl", "--local", "--force"]);
        run.fails(&["cannot open", "ro/a.jsonl"]);
        let run = world.run(["compact", "ro/a.jsonl", "--local", "--output", "ro/b.jsonl"]);
        run.fails(&["cannot write", "nothing was changed"]);
    }
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
    // It can be read, and so copied elsewhere.
    world
        .run(["compact", "ro/a.jsonl", "--local", "--output", "b.jsonl"])
        .ends(0);
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn y7_a_full_disk_leaves_the_original_as_it_was() {
    let world = World::new();
    let bytes = lines(&talk(30, 30));
    let file = world.write("a.jsonl", &bytes);
    // No file may grow beyond this: the copy fails half-way.
    let limit = format!(
        "ulimit -f {}; trap '' XFSZ; exec \"$@\"",
        bytes.len() / 1024 / 2
    );
    let binary = env!("CARGO_BIN_EXE_longhaul");
    let mut shell = std::process::Command::new("bash");
    shell
        .args([
            "-c", &limit, "bash", binary, "compact", "a.jsonl", "--local", "--output", "b.jsonl",
        ])
        .env("LONGHAUL_HOME", world.home())
        .current_dir(world.root());
    shell
        .finish()
        .fails(&["cannot write", "nothing was changed"]);
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
    assert!(!world.root().join("b.jsonl").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn y7_a_full_disk_leaves_a_transcript_that_is_compacted_in_place_as_it_was() {
    let world = World::new();
    let bytes = lines(&talk(30, 30));
    let binary = env!("CARGO_BIN_EXE_longhaul");
    let mut failed = 0;
    for room in 1..40 {
        let file = world.write("a.jsonl", &bytes);
        let limit = format!(
            "ulimit -f {}; trap '' XFSZ; exec \"$@\"",
            bytes.len() / 1024 + room
        );
        let mut shell = std::process::Command::new("bash");
        shell
            .args([
                "-c", &limit, "bash", binary, "compact", "a.jsonl", "--local", "--force",
            ])
            .env("LONGHAUL_HOME", world.home())
            .current_dir(world.root());
        if shell.finish().code == 0 {
            break;
        }
        failed += 1;
        assert!(
            std::fs::read(&file).unwrap() == bytes,
            "{room} KB were free"
        );
    }
    assert!(failed > 2, "the disk was full {failed} times");
}

/// As after a power cut in the middle of a compaction, or a crash.
#[test]
fn y7_a_compaction_that_was_cut_short_does_not_count() {
    let world = World::new();
    let bytes = lines(&talk(60, 30));
    world.write("a.jsonl", &bytes);
    let before = world.run(["inspect", "a.jsonl", "--json"]).json();
    for more in [&["--keep", "6"][..], &[]] {
        let args = [
            "compact", "a.jsonl", "--local", "--force", "--output", "b.jsonl",
        ];
        world.run(args.iter().chain(more)).ends(0);
        let whole = std::fs::read(world.root().join("b.jsonl")).unwrap();
        let added = std::str::from_utf8(&whole[bytes.len()..]).unwrap();
        let boundary = added.find("compact_boundary").unwrap();
        let boundary_end = boundary + added[boundary..].find('\n').unwrap() + 1;
        let summary = added.find("\"isCompactSummary\":true").unwrap();
        let summary_end = summary + added[summary..].find('\n').unwrap();
        for cut in [
            boundary_end,
            boundary_end + 1,
            (boundary_end + summary_end) / 2,
            summary_end - 1,
        ] {
            let torn = world.write("c.jsonl", &whole[..bytes.len() + cut]);
            let found = world.run(["inspect", "c.jsonl", "--json"]).json();
            assert_eq!(found["messages"], before["messages"], "cut at {cut}");
            assert_eq!(
                found["context_tokens"], before["context_tokens"],
                "cut at {cut}"
            );
            assert_eq!(found["boundaries"], json!([]), "cut at {cut}");
            let problems = found["problems"].as_array().unwrap();
            assert!(
                problems
                    .iter()
                    .any(|one| one["kind"] == "incomplete_compaction"),
                "{problems:?}"
            );
            let size = |path: &Path| Found::at(path).size;
            assert_eq!(size(&torn), size(&world.root().join("a.jsonl")));
            let resumed = longhaul_store::resume(&torn).unwrap();
            assert_eq!(resumed.entries.len(), Found::at(&torn).view.len());
            // The session goes on from there, and is compacted as if nothing had been.
            world
                .run(["compact", "c.jsonl", "--local", "--force"])
                .ends(0);
            let again = world.run(["inspect", "c.jsonl", "--json"]).json();
            assert_eq!(again["boundaries"].as_array().unwrap().len(), 1);
        }
        std::fs::remove_file(world.root().join("b.jsonl")).unwrap();
    }
}

#[test]
fn what_is_no_transcript_is_refused() {
    let world = World::new();
    world.write("notes.txt", "Dear diary,\nnothing happened.\n");
    std::fs::create_dir(world.root().join("folder")).unwrap();
    world
        .run(["compact", "notes.txt", "--local", "--force"])
        .ends(2);
    world.run(["compact", "folder"]).fails(&["one transcript"]);
    world.run(["compact", "-"]).fails(&["needs a file"]);
    world
        .run(["compact", "nowhere.jsonl"])
        .fails(&["nowhere.jsonl"]);
    assert_eq!(
        std::fs::read(world.root().join("notes.txt")).unwrap().len(),
        30
    );
}

/// A call of Read with its result, as the entries at this index and the next.
fn reads(at: usize, path: &Path) -> [Value; 2] {
    let id = format!("toolu_{at}");
    let call =
        json!([{"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": path}}]);
    let result = json!([{"type": "tool_result", "tool_use_id": id, "content": "1\tread"}]);
    [entry(at, "assistant", call), entry(at + 1, "user", result)]
}

#[test]
fn r1_files_are_restored_from_the_recorded_folder_and_from_nowhere_else() {
    let world = World::new();
    let inside = world.write("project/src/main.rs", "fn main() { inside(); }\n");
    let outside = world.write("secret.txt", "outside the folder\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&outside, world.root().join("project/link.txt")).unwrap();
    let link = world.root().join("project/link.txt");
    let mut entries = talk(30, 30);
    for path in [&inside, &outside, &link] {
        entries.extend(reads(entries.len(), path));
    }
    for entry in &mut entries {
        entry["cwd"] = json!(world.root().join("project"));
    }
    let file = world.write("session.jsonl", lines(&entries));
    let run = super::compact(&world, &file, &["--local"]).ends(0);
    let told = run.json();
    assert_eq!(told["report"]["files"]["restored"], 1, "{told}");
    let notes = told["report"]["notes"].to_string();
    assert!(notes.contains("outside the recorded folder"), "{notes}");
    let out = world.root().join("out.jsonl");
    let said = Found::at(&out).said();
    assert!(
        said.contains("inside()") && !said.contains("outside the folder"),
        "{said}"
    );
    holds("restored", &file, &out, &told);
}

#[test]
fn p4_files_that_the_kept_part_shows_are_not_restored_again() {
    let world = World::new();
    let early = world.write("project/early.rs", "fn of_early() {}\n");
    let late = world.write("project/late.rs", "fn of_late() {}\n");
    let mut entries = talk(10, 60);
    entries.extend(reads(entries.len(), &early));
    let pivot = entries.len();
    entries.extend(talk_from(pivot, 10, 60));
    entries.extend(reads(entries.len(), &late));
    entries.extend(talk_from(entries.len(), 1, 5));
    for entry in &mut entries {
        entry["cwd"] = json!(world.root().join("project"));
    }
    let file = world.write("session.jsonl", lines(&entries));
    let out = world.root().join("out.jsonl");
    let pivot = format!("{pivot:08x}");
    for (way, early, late) in [
        (&["--local"][..], true, true),
        (&["--local", "--up-to", &pivot], true, false),
        (&["--local", "--from", &pivot], false, true),
    ] {
        let told = super::compact(&world, &file, way).ends(0).json();
        let restored = u64::from(early) + u64::from(late);
        assert_eq!(
            told["report"]["files"]["restored"], restored,
            "{way:?}: {told}"
        );
        let said = Found::at(&out).said();
        assert_eq!(said.contains("fn of_early() {}"), early, "{way:?}: {said}");
        assert_eq!(said.contains("fn of_late() {}"), late, "{way:?}: {said}");
        holds(way.last().unwrap(), &file, &out, &told);
    }
}

#[test]
fn x2_where_nothing_can_be_archived_nothing_is_compacted() {
    let world = World::new();
    world.write("s.jsonl", lines(&talk(30, 30)));
    let home = world.write("blocked", "a file where a folder should be");
    let mut command = world.longhaul(["compact", "s.jsonl", "--local", "--output", "small.jsonl"]);
    let output = command.env("LONGHAUL_HOME", home).output();
    let output = output.unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("Check the space and the permissions there"),
        "{said}"
    );
    assert!(!said.contains("WARN"), "no log lines: {said}");
    assert!(!world.root().join("small.jsonl").exists());
}

/// Ends a compaction into a copy while its model is asked, and returns the exit code and what is left of the copy.
#[cfg(unix)]
fn ended_by(signal: &str) -> (i32, Vec<String>) {
    let world = World::new();
    world.write("theirs.jsonl", lines(&talk(30, 30)));
    // A model that accepts a connection and says nothing.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut child = world
        .longhaul(["compact", "theirs.jsonl", "--output", "small.jsonl"])
        .env("ANTHROPIC_BASE_URL", url)
        .env("ANTHROPIC_API_KEY", "test-key")
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let _connection = listener.accept().unwrap();
    let kill = std::process::Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    let code = child.wait().unwrap().code().unwrap_or(-1);
    let files = std::fs::read_dir(world.root()).unwrap();
    let names = files.map(|file| file.unwrap().file_name().to_string_lossy().into_owned());
    let left = names.filter(|name| name.starts_with(".longhaul-") || name == "small.jsonl");
    (code, left.collect())
}

#[cfg(unix)]
#[test]
fn an_unfinished_copy_is_deleted_when_the_program_is_ended() {
    assert_eq!(ended_by("-TERM"), (143, Vec::new()));
    let (code, left) = ended_by("-INT");
    assert_ne!(code, 0);
    assert_eq!(left, Vec::<String>::new());
}

/// Where the tests themselves were started with `nohup`, the program ignores the signal, too.
#[cfg(target_os = "linux")]
#[test]
fn an_unfinished_copy_is_deleted_when_the_terminal_goes() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = u64::from_str_radix(ignored.unwrap().trim(), 16).unwrap();
    if ignored & 1 == 0 {
        assert_eq!(ended_by("-HUP"), (129, Vec::new()));
    }
}
