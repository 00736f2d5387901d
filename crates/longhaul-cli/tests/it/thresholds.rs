//! Limits and switches (H), as they arrive through the environment and flags.

use serde_json::Value;

use crate::support::{Finish, World, plain_session};

/// The report on a session of a model with 200,000 tokens, with these variables set.
fn report(variables: &[(&str, &str)], flags: &[&str]) -> Value {
    let world = World::new();
    world.write("s.jsonl", plain_session().bytes);
    let mut command = world.longhaul(["inspect", "s.jsonl", "--json"]);
    let run = command.args(flags).envs(variables.iter().copied()).finish();
    run.ends(0).json()
}

fn limits(report: &Value) -> [u64; 5] {
    ["limit", "warning", "error", "auto_compact", "blocking"]
        .map(|name| report["thresholds"][name].as_u64().unwrap())
}

#[test]
fn h1_h2_the_example_of_a_window_of_200k() {
    let report = report(&[], &[]);
    assert_eq!(report["window"]["size"], 200_000);
    assert_eq!(report["window"]["effective"], 180_000);
    assert_eq!(
        limits(&report),
        [167_000, 147_000, 147_000, 167_000, 177_000]
    );
    assert_eq!(report["thresholds"]["auto_compact_enabled"], true);
}

#[test]
fn h3_percent_left_is_of_the_limit() {
    let report = report(&[], &[]);
    let used = report["context_tokens"].as_f64().unwrap();
    let percent = ((167_000.0 - used) / 167_000.0 * 100.0).round().max(0.0);
    assert_eq!(
        report["thresholds"]["percent_left"].as_f64().unwrap(),
        percent
    );
}

#[test]
fn h4_a_cap_only_shrinks_the_window() {
    let capped = report(&[("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "150000")], &[]);
    assert_eq!(capped["window"]["size"], 150_000);
    assert_eq!(limits(&capped), [117_000, 97_000, 97_000, 117_000, 127_000]);
    let larger = report(&[("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "900000")], &[]);
    assert_eq!(limits(&larger), limits(&report(&[], &[])));
    let by_flag = report(
        &[("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "120000")],
        &["--window", "150000"],
    );
    assert_eq!(limits(&by_flag), limits(&capped));
}

#[test]
fn h4_a_percentage_only_lowers_the_threshold() {
    let half = report(&[("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "50")], &[]);
    assert_eq!(limits(&half), [90_000, 70_000, 70_000, 90_000, 177_000]);
    let whole = report(&[("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "100")], &[]);
    assert_eq!(limits(&whole), limits(&report(&[], &[])));
    let odd = report(&[], &["--auto-compact-percent", "33.333"]);
    assert_eq!(odd["thresholds"]["auto_compact"], 59_999);
}

#[test]
fn h4_a_value_that_does_not_parse_whole_changes_nothing_and_is_reported() {
    let world = World::new();
    world.write("s.jsonl", plain_session().bytes);
    let mut command = world.longhaul(["inspect", "s.jsonl", "--json"]);
    let run = command
        .env("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "70abc")
        .finish();
    let run = run
        .ends(0)
        .says("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE is ignored");
    assert_eq!(limits(&run.json()), limits(&report(&[], &[])));
}

#[test]
fn h4_the_blocking_limit_can_be_set_for_tests() {
    let low = report(&[], &["--blocking-limit", "100"]);
    assert_eq!(low["thresholds"]["blocking"], 100);
    assert_eq!(low["level"], "blocking");
}

#[test]
fn h5_switching_automatic_compaction_off_moves_the_limit() {
    let variables = [
        ("DISABLE_AUTO_COMPACT", "1"),
        ("DISABLE_COMPACT", "1"),
        ("LONGHAUL_COMPACTION_AUTO_COMPACT_ENABLED", "off"),
    ];
    for variable in variables {
        let off = report(&[variable], &[]);
        assert_eq!(
            off["thresholds"]["auto_compact_enabled"], false,
            "{variable:?}"
        );
        assert_eq!(off["thresholds"]["limit"], 180_000);
        assert_eq!(off["thresholds"]["warning"], 160_000);
    }
    let on = report(&[("DISABLE_AUTO_COMPACT", "0")], &[]);
    assert_eq!(on["thresholds"]["auto_compact_enabled"], true);
}

#[test]
fn h7_small_windows_scale_and_stay_in_order() {
    for window in ["4000", "8192", "32000", "65536", "99999"] {
        let small = report(&[], &["--window", window]);
        let [_, warning, _, auto_compact, blocking] = limits(&small);
        let effective = small["window"]["effective"].as_u64().unwrap();
        assert!(0 < warning && warning < auto_compact, "{small}");
        assert!(auto_compact < blocking && blocking < effective, "{small}");
    }
    let half = report(&[], &["--window", "50000"]);
    assert_eq!(half["window"]["effective"], 40_000);
    assert_eq!(limits(&half), [33_500, 23_500, 23_500, 33_500, 38_500]);
}

#[test]
fn h2_the_level_is_that_of_the_highest_limit_reached() {
    let used = report(&[], &[])["context_tokens"].as_u64().unwrap();
    // The threshold as a percentage of 180,000, so that the usage is where the test wants it.
    let level = |auto_compact: u64, blocking: u64| {
        let percent = format!("{:.4}", auto_compact as f64 / 1_800.0);
        let flags = ["--auto-compact-percent", &percent, "--blocking-limit"];
        report(&[], &[&flags[..], &[&blocking.to_string()]].concat())["level"].clone()
    };
    assert_eq!(level(used + 20_100, 170_000), "ok");
    assert_eq!(level(used + 19_900, 170_000), "warning");
    assert_eq!(level(used - 100, 170_000), "auto_compact");
    assert_eq!(level(used, used + 1), "auto_compact");
    assert_eq!(level(used, used), "blocking");
}
