//! `longhaul config`: file < environment < flags, and where each value came from (G1).

use serde_json::Value;

use crate::support::{Finish, Run, World};

fn setting(run: &Run, key: &str) -> (Value, String) {
    let object = run.json();
    let settings = object["settings"].as_array().unwrap();
    let found = settings.iter().find(|setting| setting["key"] == key);
    let found = found.unwrap_or_else(|| panic!("{key} is not in {object}"));
    (
        found["value"].clone(),
        found["source"].as_str().unwrap().to_owned(),
    )
}

#[test]
fn g1_without_anything_set_all_is_default() {
    let world = World::new();
    let run = world.run(["config", "--json"]).ends(0);
    assert_eq!(run.err, "");
    let object = run.json();
    assert_eq!(object["notices"], serde_json::json!([]));
    for setting in object["settings"].as_array().unwrap() {
        assert_eq!(setting["source"], "default", "{setting}");
        assert!(setting["doc"].as_str().unwrap().ends_with('.'), "{setting}");
        assert!(!setting["env_names"].as_array().unwrap().is_empty());
    }
    let page = world
        .run(["config"])
        .ends(0)
        .prints("compaction.enabled = true\n");
    page.prints("window.cap = (unset)\n");
    let page = world
        .run(["config", "--explain"])
        .ends(0)
        .prints("    from default\n");
    page.prints("environment: LONGHAUL_WINDOW_CAP, CLAUDE_CODE_AUTO_COMPACT_WINDOW\n");
}

#[test]
fn g1_flags_win_over_the_environment_and_that_over_the_file() {
    let world = World::new();
    let file = "# mine\n[window]\ncap = 150000\nauto_compact_percent = 80\nmax_output = 9000\n";
    let path = world.write("home/config.toml", file);
    let mut command = world.longhaul(["config", "--json", "--set", "window.max_output=7000"]);
    command.env("LONGHAUL_WINDOW_AUTO_COMPACT_PERCENT", "60");
    command.env("LONGHAUL_WINDOW_MAX_OUTPUT", "8000");
    let run = command.finish().ends(0);
    let from_file = format!("{}:3", path.display());
    assert_eq!(
        setting(&run, "window.cap"),
        ("150000".into(), from_file.clone())
    );
    assert_eq!(
        setting(&run, "window.auto_compact_percent"),
        (
            "60".into(),
            "environment: LONGHAUL_WINDOW_AUTO_COMPACT_PERCENT".to_owned()
        )
    );
    let (value, source) = setting(&run, "window.max_output");
    assert_eq!(value, "7000");
    assert!(source.starts_with("flag "), "{source}");
    assert_eq!(setting(&run, "model"), (Value::Null, "default".to_owned()));
    command.arg("--explain");
    let page = world
        .run(["config", "--explain"])
        .prints("window.cap = 150000\n");
    page.prints(&format!("    from {from_file}\n"));
}

#[test]
fn g1_the_original_names_are_honoured_and_ours_win() {
    let world = World::new();
    for (name, value, key, becomes) in [
        ("DISABLE_COMPACT", "1", "compaction.enabled", "false"),
        (
            "DISABLE_AUTO_COMPACT",
            "true",
            "compaction.automatic",
            "false",
        ),
        (
            "CLAUDE_CODE_AUTO_COMPACT_WINDOW",
            "120000",
            "window.cap",
            "120000",
        ),
        (
            "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE",
            "50",
            "window.auto_compact_percent",
            "50",
        ),
        (
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
            "5000",
            "window.max_output",
            "5000",
        ),
    ] {
        let run = world
            .longhaul(["config", "--json"])
            .env(name, value)
            .finish()
            .ends(0);
        assert_eq!(
            setting(&run, key),
            (becomes.into(), format!("environment: {name}"))
        );
    }
    let mut command = world.longhaul(["config", "--json"]);
    command.env("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "120000");
    let run = command.env("LONGHAUL_WINDOW_CAP", "90000").finish();
    assert_eq!(setting(&run, "window.cap").0, "90000");
}

#[test]
fn g1_h4_a_value_that_does_not_parse_whole_is_ignored_and_reported() {
    let world = World::new();
    let mut command = world.longhaul(["config", "--json"]);
    let run = command
        .env("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "70abc")
        .finish()
        .ends(0);
    assert!(
        run.err
            .starts_with("warning: CLAUDE_AUTOCOMPACT_PCT_OVERRIDE is ignored"),
        "{}",
        run.err
    );
    assert!(run.err.contains("\"70abc\""));
    assert_eq!(
        setting(&run, "window.auto_compact_percent"),
        (Value::Null, "default".to_owned())
    );
    let notices = run.json()["notices"].clone();
    assert_eq!(notices[0]["kind"], "ignored_value");
    assert_eq!(notices[0]["variable"], "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE");
}

#[test]
fn g1_a_slip_in_a_variables_name_is_pointed_out() {
    let world = World::new();
    let mut command = world.longhaul(["config"]);
    let run = command.env("LONGHAUL_WINDOW_CAPP", "5").finish().ends(0);
    run.says("LONGHAUL_WINDOW_CAPP is not known; did you mean LONGHAUL_WINDOW_CAP?");
}

#[test]
fn g1_a_typo_in_the_file_is_an_error_with_its_line_and_a_suggestion() {
    let world = World::new();
    let path = world.write(
        "home/config.toml",
        "[compaction]\nenabled = true\nautomatc = false\n",
    );
    world.write("s.jsonl", "");
    let place = format!("{}:3", path.display());
    for args in [
        &["config"][..],
        &["inspect", "s.jsonl"],
        &["purge", "--all", "--yes"],
    ] {
        world.run(args).fails(&[
            &place,
            "`compaction.automatc`",
            "did you mean `compaction.automatic`?",
        ]);
    }
    world.write("home/config.toml", "[window]\n\ncap = \"big\"\n");
    world
        .run(["config"])
        .fails(&["config.toml:3: `window.cap` takes"]);
    world.write("home/config.toml", "[window\n");
    world.run(["config"]).fails(&["config.toml:1: "]);
}

#[test]
fn g1_what_must_work_without_settings_does() {
    let world = World::new();
    world.write("home/config.toml", "[window\n");
    world.run(["completions", "bash"]).ends(0);
    world.run(["man"]).ends(0);
    world.run(["--version"]).ends(0);
}

#[test]
fn g1_set_takes_any_setting_and_names_what_it_does_not_know() {
    let world = World::new();
    let run = world.run([
        "config",
        "--json",
        "--set",
        "compaction.micro=off",
        "--set",
        "model=x",
    ]);
    assert_eq!(setting(&run, "compaction.micro").0, "false");
    assert_eq!(setting(&run, "model").0, "x");
    world
        .run(["config", "--set", "model"])
        .fails(&["--set \"model\" is not KEY=VALUE"]);
    let run = world.run(["config", "--set", "compaction.mikro=1"]);
    run.fails(&[
        "`compaction.mikro` is not a setting",
        "did you mean `compaction.micro`?",
    ]);
    let run = world.run(["config", "--set", "window.cap=lots"]);
    run.fails(&["takes a whole number of tokens", "\"lots\""]);
}

#[test]
fn g1_config_names_another_file_which_must_be_there() {
    let world = World::new();
    world.write("home/config.toml", "[window]\ncap = 100000\n");
    world.write("other.toml", "log = \"error\"\n");
    let run = world
        .run(["config", "--json", "--config", "other.toml"])
        .ends(0);
    assert_eq!(
        setting(&run, "log"),
        ("error".into(), "other.toml:1".to_owned())
    );
    assert_eq!(setting(&run, "window.cap").1, "default");
    let run = world.run(["config", "--config", "gone.toml"]);
    run.fails(&["cannot read gone.toml: ", "Check the path."]);
}

#[test]
fn h7_a_cap_that_is_too_small_is_refused_where_settings_are_read() {
    let world = World::new();
    let file = world.write("small.toml", "# mine\n[window]\ncap = 3000\n");
    let small = ["3,000 tokens", "too small", "at least 4,000 are needed"];
    let run = world.run(["config", "--config", "small.toml"]);
    run.fails(&small).says("small.toml:3: ");
    let run = world.run(["config", "--set", "window.cap=3000"]);
    run.fails(&small).says("--window");
    let mut command = world.longhaul(["config"]);
    command.env("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "3000");
    command
        .finish()
        .fails(&small)
        .says("CLAUDE_CODE_AUTO_COMPACT_WINDOW");
    // A stronger layer counts alone.
    let args = [
        "config",
        "--config",
        "small.toml",
        "--set",
        "window.cap=4000",
    ];
    world.run(args).ends(0).prints("window.cap = 4000\n");
    let args = ["doctor", "--json", "--offline", "--config", "small.toml"];
    let found = world.run(args).ends(1).json();
    let found = found["findings"].as_array().unwrap();
    let one = found.iter().find(|one| one["check"] == "settings").unwrap();
    assert_eq!(one["state"], "broken", "{one}");
    assert!(one["says"].as_str().unwrap().contains(small[2]), "{one}");
    drop(file);
}
