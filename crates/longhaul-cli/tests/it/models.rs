//! Models are data (N1): a user's file adds and overrides models, and assumptions about unknown ones are reported.

use longhaul_testkit::SessionSpec;

use crate::support::{Finish, World, plain_session};

fn world(model: &str) -> World {
    let world = World::new();
    world.write(
        "s.jsonl",
        SessionSpec::new(5, 12).plain().model(model).bytes(),
    );
    world
}

const MINE: &str = "
[models.mine-1]
window = 64_000
max_output = 8_000
prices = { input = 2, cache_write_5m = 3, cache_write_1h = 4, cache_read = 0.5, output = 10 }
";

#[test]
fn n1_an_unknown_model_works_and_what_is_assumed_is_said_once() {
    let world = world("mine-1");
    let report = world.run(["inspect", "s.jsonl", "--json"]).ends(0).json();
    assert_eq!(report["window"]["model"], "mine-1");
    assert_eq!(report["window"]["size"], 200_000);
    assert_eq!(report["cost_usd"], 0.0);
    assert!(report["turns"][0]["cost_usd"].is_null());
    let assumptions = report["assumptions"].as_array().unwrap();
    let about = |word: &str| {
        let about = |text: &&serde_json::Value| text.as_str().unwrap().contains(word);
        assumptions.iter().filter(about).count()
    };
    assert_eq!(about("200,000 tokens are assumed"), 1);
    assert_eq!(about("price"), 1, "{assumptions:?}");
    let page = world.run(["inspect", "s.jsonl"]).ends(0);
    page.prints("\nAssumed\n")
        .prints("200,000 tokens are assumed")
        .prints("?");
}

#[test]
fn n1_a_file_adds_a_model_with_its_window_and_prices() {
    let world = world("mine-1");
    world.write("models.toml", MINE);
    let run = world.run(["inspect", "s.jsonl", "--json", "--models", "models.toml"]);
    let report = run.ends(0).json();
    assert_eq!(report["window"]["size"], 64_000);
    assert_eq!(report["window"]["max_output"], 8_000);
    let usage = |class: &str| report["usage"][class].as_f64().unwrap();
    let cost = (usage("input") * 2.0
        + usage("cache_write_5m") * 3.0
        + usage("cache_write_1h") * 4.0
        + usage("cache_read") * 0.5
        + usage("output") * 10.0)
        / 1e6;
    assert!((report["cost_usd"].as_f64().unwrap() - cost).abs() < 1e-9);
    assert!(cost > 0.0);
}

#[test]
fn n1_the_file_can_come_from_the_environment_and_the_configuration() {
    let world = world("mine-1");
    let path = world.write("models.toml", MINE);
    let mut command = world.longhaul(["inspect", "s.jsonl", "--json"]);
    let report = command.env("LONGHAUL_MODELS_FILE", &path).finish().json();
    assert_eq!(report["window"]["size"], 64_000);
    world.write(
        "home/config.toml",
        format!("[models]\nfile = {:?}\n", path.to_str().unwrap()),
    );
    let report = world.run(["inspect", "s.jsonl", "--json"]).json();
    assert_eq!(report["window"]["size"], 64_000);
}

#[test]
fn n1_a_file_overrides_a_field_of_a_known_model() {
    let world = world("claude-sonnet-4-5-20250929");
    world.write(
        "models.toml",
        "[models.claude-sonnet-4-5]\nwindow = 123_456\n",
    );
    let before = world.run(["inspect", "s.jsonl", "--json"]).json();
    let run = world.run(["inspect", "s.jsonl", "--json", "--models", "models.toml"]);
    let after = run.ends(0).json();
    assert_eq!(after["window"]["size"], 123_456);
    assert_eq!(after["cost_usd"], before["cost_usd"]);
}

#[test]
fn n1_a_typo_in_the_file_is_named_with_its_line() {
    let world = world("mine-1");
    let typo = MINE.replace("max_output", "max_ouput");
    world.write("models.toml", typo);
    let run = world.run(["inspect", "s.jsonl", "--models", "models.toml"]);
    run.fails(&["models.toml: line 4: ", "max_ouput", "max_output"]);
    world.write("models.toml", "[models.mine-1]\nprices = { input = 2 }\n");
    let run = world.run(["inspect", "s.jsonl", "--models", "models.toml"]);
    run.fails(&["models.toml: line 1: ", "no price for output"]);
    let run = world.run(["inspect", "s.jsonl", "--models", "gone.toml"]);
    run.fails(&["cannot read gone.toml"]);
}

#[test]
fn n1_the_model_flag_counts_where_the_transcript_names_none() {
    let world = World::new();
    let bytes = plain_session().bytes;
    let prompt = bytes.split_inclusive(|byte| *byte == b'\n').next().unwrap();
    world.write("s.jsonl", prompt);
    let size = |args: &[&str]| {
        let mut command = world.longhaul(["inspect", "s.jsonl", "--json"]);
        command.args(args).finish().ends(0).json()["window"]["size"].clone()
    };
    assert_eq!(size(&[]), 200_000);
    assert_eq!(size(&["--model", "claude-opus-4-8"]), 1_000_000);
    world.write("s.jsonl", &bytes);
    assert_eq!(size(&["--model", "claude-opus-4-8"]), 200_000);
}
