//! Conversations of odd sizes and shapes, and damaged files.

use longhaul_testkit::SessionSpec;
use serde_json::json;

use super::{Found, compact, entry, holds, lines, talk};
use crate::support::World;

#[test]
fn y1_a_single_result_of_three_megabytes_is_compacted() {
    let world = World::new();
    let text = "line of output, rather long and always the same\n".repeat(65_000);
    let file = world.write(
        "big.jsonl",
        lines(&[
            entry(0, "user", json!("Run the build.")),
            entry(1, "assistant", json!([{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "make"}}])),
            entry(2, "user", json!([{"type": "tool_result", "tool_use_id": "toolu_1", "content": text}])),
            entry(3, "assistant", json!([{"type": "text", "text": "It is built."}])),
        ]),
    );
    for window in ["200000", "20000", "4000"] {
        let run = compact(&world, &file, &["--local", "--window", window]).ends(0);
        holds(window, &file, &world.root().join("out.jsonl"), &run.json());
    }
    // If it is kept word for word, the result stays: there is nothing to gain.
    compact(&world, &file, &["--local", "--keep", "2"]).ends(1);
}

#[test]
fn y1_two_thousand_small_turns_are_compacted_and_archived() {
    let world = World::new();
    let file = world.write("many.jsonl", lines(&talk(2_000, 2)));
    for window in ["200000", "20000"] {
        let run = compact(&world, &file, &["--local", "--window", window]).ends(0);
        let told = run.json();
        holds(window, &file, &world.root().join("out.jsonl"), &told);
        let notes = told["report"]["notes"].to_string();
        assert!(!notes.contains("archive could not"), "{notes}");
    }
}

#[test]
fn y1_a_conversation_of_twice_the_window_is_compacted_below_the_threshold() {
    let world = World::new();
    let file = world.write("full.jsonl", lines(&talk(500, 120)));
    let found = Found::at(&file);
    assert!(found.size > 380_000, "{}", found.size);
    for more in [&["--local"][..], &["--local", "--keep", "20"]] {
        let mut args = vec!["--window", "200000"];
        args.extend(more);
        let run = compact(&world, &file, &args).ends(0);
        let told = run.json();
        holds("full", &file, &world.root().join("out.jsonl"), &told);
        assert!(told["after"].as_u64().unwrap() < 167_000, "{told}");
        let left_out = &told["report"]["user_messages"];
        assert!(left_out["verbatim"].as_u64() >= Some(4), "{left_out}");
    }
}

#[test]
fn f1_a_file_without_a_conversation_is_nothing_to_compact() {
    let world = World::new();
    let title = b"{\"type\":\"summary\",\"summary\":\"A title\",\"leafUuid\":\"x\"}\n";
    for (name, bytes) in [("empty", &b""[..]), ("blank", b"\n\n"), ("title", title)] {
        let file = world.write(format!("{name}.jsonl"), bytes);
        let run = compact(&world, &file, &["--local"]).ends(1);
        assert!(
            run.err.contains("nothing to compact"),
            "{name}: {}",
            run.err
        );
        assert!(!world.root().join("out.jsonl").exists());
    }
}

#[test]
fn m1_meta_entries_are_summed_up_like_any_other() {
    let world = World::new();
    let mut entries = talk(30, 30);
    for entry in &mut entries {
        entry["isMeta"] = json!(true);
    }
    let file = world.write("meta.jsonl", lines(&entries));
    let run = compact(&world, &file, &["--local"]).ends(0);
    holds("meta", &file, &world.root().join("out.jsonl"), &run.json());
}

#[test]
fn y1_a_summary_alone_is_not_summed_up_again() {
    let world = World::new();
    let mut summary = entry(0, "user", json!("This session continues. ".repeat(500)));
    summary["isCompactSummary"] = json!(true);
    let file = world.write("summary.jsonl", lines(&[summary]));
    let run = compact(&world, &file, &["--local"]).ends(1);
    assert!(run.err.contains("nothing was said since"), "{}", run.err);
}

#[test]
fn m4_a_torn_tail_and_damaged_lines_stay_and_are_reported() {
    let world = World::new();
    let mut bytes = lines(&talk(30, 30));
    let middle = bytes.len() / 2;
    let middle = middle
        + bytes[middle..]
            .iter()
            .position(|byte| *byte == b'\n')
            .unwrap()
        + 1;
    bytes.splice(middle..middle, *b"{\"type\":\"user\",\"uu\nnonsense\n");
    bytes.extend_from_slice(b"{\"type\":\"assistant\",\"uuid\":\"torn");
    let file = world.write("torn.jsonl", &bytes);
    let run = compact(&world, &file, &["--local"]).ends(0);
    assert!(run.err.contains("3 lines are damaged"), "{}", run.err);
    let out = world.root().join("out.jsonl");
    holds("torn", &file, &out, &run.json());
    let new = std::fs::read(&out).unwrap();
    assert_eq!(new[bytes.len()], b'\n', "the torn line is closed first");
}

#[test]
fn x6_generated_sessions_with_every_feature_are_compacted_and_taken_back() {
    let world = World::new();
    for seed in 0..12 {
        let file = world.write("session.jsonl", SessionSpec::new(seed, 40).bytes());
        let before = Found::at(&file);
        let run = compact(&world, &file, &["--local", "--window", "50000"]);
        if run.code == 1 {
            continue;
        }
        let out = world.root().join("out.jsonl");
        holds(&format!("seed {seed}"), &file, &out, &run.json());
        world
            .run(["compact", "out.jsonl", "--undo", "--force"])
            .ends(0);
        assert_eq!(Found::at(&out).sent(), before.sent(), "seed {seed}");
    }
}
