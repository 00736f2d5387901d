//! `longhaul purge`: what is deleted, what is reported, and that nothing else is touched (G2).

use std::collections::BTreeMap;
use std::fs::{File, FileTimes};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::support::{World, plain_session};

const OLD: &str = "home/projects/-srv-app/aaaa1111-0000-4000-8000-000000000001.jsonl";
const OLD_AGENT: &str =
    "home/projects/-srv-app/aaaa1111-0000-4000-8000-000000000001/subagents/agent-a1.jsonl";
const NEW: &str = "home/projects/-srv-app/bbbb2222-0000-4000-8000-000000000002.jsonl";
const THEIRS: &str = "claude/projects/-srv-app/cccc3333-0000-4000-8000-000000000003.jsonl";

fn world() -> World {
    let world = World::new();
    for name in [OLD, OLD_AGENT, NEW, THEIRS] {
        world.write(name, plain_session().bytes);
    }
    world.write("home/config.toml", "# mine\n");
    world.write("outside.jsonl", plain_session().bytes);
    for name in [OLD, OLD_AGENT, THEIRS] {
        let then = SystemTime::now() - Duration::from_secs(40 * 24 * 60 * 60);
        let file = File::options()
            .append(true)
            .open(world.root().join(name))
            .unwrap();
        file.set_times(FileTimes::new().set_modified(then)).unwrap();
    }
    world
}

/// Every file below the world, with its size.
fn files(folder: &Path, found: &mut BTreeMap<PathBuf, u64>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            files(&path, found);
        } else {
            found.insert(path.clone(), path.symlink_metadata().unwrap().len());
        }
    }
}

/// The files that are gone after running this.
fn gone(world: &World, args: &[&str], code: i32) -> Vec<String> {
    let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
    files(world.root(), &mut before);
    world.run(args).ends(code);
    files(world.root(), &mut after);
    assert!(after.iter().all(|file| before.get(file.0) == Some(file.1)));
    let name = |path: &PathBuf| {
        let path = path.strip_prefix(world.root()).unwrap();
        path.to_str().unwrap().to_owned()
    };
    before
        .keys()
        .filter(|path| !after.contains_key(*path))
        .map(name)
        .collect()
}

#[test]
fn g2_a_dry_run_says_what_would_go_and_deletes_nothing() {
    let world = world();
    let run = world
        .run(["purge", "--older-than", "30", "--dry-run"])
        .ends(0);
    let said = run.prints("would delete").prints(OLD).prints(OLD_AGENT);
    assert!(!said.out.contains("bbbb2222") && !said.out.contains("cccc3333"));
    said.prints("would delete 2 files in all");
    assert!(gone(&world, &["purge", "--all", "--dry-run"], 0).is_empty());
}

#[test]
fn g2_old_sessions_go_with_their_sub_agents_and_nothing_else() {
    let world = world();
    let gone = gone(&world, &["purge", "--older-than", "30", "--yes"], 0);
    assert_eq!(
        gone,
        [OLD, OLD_AGENT]
            .map(str::to_owned)
            .into_iter()
            .rev()
            .collect::<Vec<_>>()
    );
}

#[test]
fn g2_one_session_goes_by_its_id() {
    let world = world();
    let id = "bbbb2222-0000-4000-8000-000000000002";
    assert_eq!(gone(&world, &["purge", "--session", id, "--yes"], 0), [NEW]);
    let run = world.run(["purge", "--session", id, "--yes"]);
    run.fails(&[&format!("no session {id} found under")]);
}

#[test]
fn g2_all_means_all_of_ours_and_never_claude_codes() {
    let world = world();
    let gone = gone(&world, &["purge", "--all", "--yes"], 0);
    assert_eq!(gone.len(), 3);
    assert!(gone.iter().all(|path| path.starts_with("home/projects/")));
    world
        .run(["purge", "--all", "--yes"])
        .ends(0)
        .prints("Nothing to delete.");
}

#[test]
fn g2_without_a_terminal_nothing_is_deleted_unasked() {
    let world = world();
    let run = world.run(["purge", "--all"]);
    run.fails(&["this would delete 3 files", "--yes", "--dry-run"]);
    assert!(gone(&world, &["purge", "--all"], 2).is_empty());
    assert!(gone(&world, &["purge", "--all", "--json"], 2).is_empty());
}

#[test]
fn g2_without_a_choice_the_retention_setting_decides() {
    let world = world();
    world
        .run(["purge", "--yes"])
        .fails(&["no sessions were selected to delete", "retention.days"]);
    world.write("home/config.toml", "[retention]\ndays = 30\n");
    assert_eq!(gone(&world, &["purge", "--yes"], 0).len(), 2);
}

#[test]
fn g2_programs_get_one_object_of_what_went() {
    let world = world();
    let plan = world
        .run(["purge", "--all", "--dry-run", "--json"])
        .ends(0)
        .json();
    assert_eq!(plan["files"].as_array().unwrap().len(), 3);
    assert_eq!(plan["files"][0]["deleted"], false);
    let done = world
        .run(["purge", "--older-than", "30", "--yes", "--json"])
        .ends(0)
        .json();
    let files = done["files"].as_array().unwrap();
    assert_eq!(files.len(), 2);
    for file in files {
        assert_eq!(file["deleted"], true);
        assert!(file["bytes"].as_u64().unwrap() > 0);
        assert!(file["age_seconds"].as_u64().unwrap() > 30 * 24 * 60 * 60);
        assert!(!Path::new(file["path"].as_str().unwrap()).exists());
    }
    assert_eq!(done["kept"], serde_json::json!([]));
    let none = world
        .run(["purge", "--older-than", "30", "--yes", "--json"])
        .ends(0)
        .json();
    assert_eq!(none["files"], serde_json::json!([]));
}

#[test]
fn g2_links_are_not_followed_out_of_the_home() {
    let world = world();
    symlink(
        world.claude().join("projects/-srv-app"),
        world.home().join("projects/theirs"),
    )
    .unwrap();
    symlink(
        world.root().join("outside.jsonl"),
        world.home().join("projects/-srv-app/dddd.jsonl"),
    )
    .unwrap();
    let gone = gone(&world, &["purge", "--all", "--yes"], 0);
    assert!(
        gone.iter().all(|path| path.starts_with("home/projects/")),
        "{gone:?}"
    );
    assert!(world.root().join(THEIRS).exists() && world.root().join("outside.jsonl").exists());
}

#[test]
fn g2_claude_codes_folder_is_never_ours() {
    let world = world();
    for home in [world.claude(), world.root().to_owned(), PathBuf::from("/")] {
        let mut command = world.longhaul(["purge", "--all", "--yes"]);
        let run = crate::support::Finish::finish(command.env("LONGHAUL_HOME", &home));
        run.fails(&["LONGHAUL_HOME"]);
    }
    assert!(world.root().join(THEIRS).exists());
}

#[test]
fn g2_hostile_ids_are_refused() {
    let world = world();
    for id in ["../../../outside", "..", "", "*", "-srv-app/bbbb2222"] {
        let run = world.run(["purge", "--yes", &format!("--session={id}")]);
        run.ends(2);
    }
    assert!(world.root().join("outside.jsonl").exists());
    assert!(
        gone(&world, &["purge", "--session=bbbb", "--yes"], 2).is_empty(),
        "a beginning is not enough"
    );
}
