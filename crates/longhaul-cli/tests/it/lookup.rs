//! Sessions by their id, or the beginning of it, in Longhaul's home and Claude Code's (G2).

use longhaul_testkit::SessionSpec;

use crate::support::{Finish, World};

const OURS: &str = "home/projects/-srv-app/aaaa1111-0000-4000-8000-000000000001.jsonl";
const THEIRS: &str = "claude/projects/-srv-app/bbbb2222-0000-4000-8000-000000000002.jsonl";
const THEIRS_TOO: &str = "claude/projects/-srv-lib/bbbb3333-0000-4000-8000-000000000003.jsonl";

fn world() -> World {
    let world = World::new();
    world.write(OURS, SessionSpec::new(1, 3).bytes());
    world.write(THEIRS, SessionSpec::new(2, 4).bytes());
    world.write(THEIRS_TOO, SessionSpec::new(3, 5).bytes());
    world
}

#[track_caller]
fn finds(world: &World, id: &str, file: &str, rounds: u64) {
    let report = world.run(["inspect", id, "--json"]).ends(0).json();
    let found = report["file"].as_str().unwrap();
    assert!(found.ends_with(file), "{found}");
    assert_eq!(report["rounds"], rounds);
}

#[test]
fn g2_a_session_is_found_by_its_id_in_either_home() {
    let world = world();
    finds(&world, "aaaa1111-0000-4000-8000-000000000001", OURS, 3);
    finds(&world, "bbbb2222-0000-4000-8000-000000000002", THEIRS, 4);
}

#[test]
fn g2_the_beginning_of_an_id_is_enough() {
    let world = world();
    finds(&world, "a", OURS, 3);
    finds(&world, "bbbb2", THEIRS, 4);
    finds(&world, "bbbb3333", THEIRS_TOO, 5);
}

#[test]
fn g2_an_ambiguous_beginning_is_refused_with_the_candidates() {
    let run = world().run(["inspect", "bbbb"]);
    run.fails(&[
        "bbbb may mean any of",
        THEIRS,
        THEIRS_TOO,
        "give more of the id",
    ]);
}

#[test]
fn g2_a_whole_id_wins_over_a_longer_one() {
    let world = world();
    world.write(
        "claude/projects/-srv-app/bbbb.jsonl",
        SessionSpec::new(4, 6).bytes(),
    );
    finds(&world, "bbbb", "bbbb.jsonl", 6);
}

#[test]
fn g2_an_unknown_id_says_where_it_was_looked_for() {
    let world = world();
    let run = world.run(["inspect", "cccc"]);
    let run = run.fails(&["cccc: no such file, and no session cccc found under"]);
    for home in [world.home(), world.claude()] {
        assert!(run.err.contains(home.join("projects").to_str().unwrap()));
    }
}

#[test]
fn g2_a_file_wins_over_a_session_of_the_same_name() {
    let world = world();
    world.write("bbbb2222", SessionSpec::new(9, 2).bytes());
    finds(&world, "bbbb2222", "bbbb2222", 2);
}

#[test]
fn g2_homes_default_to_the_users_folders() {
    let world = World::new();
    world.write(
        ".claude/projects/-srv-app/cccc4444.jsonl",
        SessionSpec::new(5, 2).bytes(),
    );
    world.write(
        ".local/share/longhaul/projects/-srv-app/dddd5555.jsonl",
        SessionSpec::new(6, 3).bytes(),
    );
    for (id, rounds) in [("cccc", 2), ("dddd", 3)] {
        let mut command = world.longhaul(["inspect", id, "--json"]);
        command
            .env_remove("LONGHAUL_HOME")
            .env_remove("CLAUDE_CONFIG_DIR");
        // On other systems the data folder is elsewhere.
        if cfg!(target_os = "linux") || id == "cccc" {
            assert_eq!(command.finish().ends(0).json()["rounds"], rounds);
        }
    }
}
