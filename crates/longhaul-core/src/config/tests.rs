//! Tests for G1: which layer wins, where each value is reported to come from, and what happens to invalid ones.

use super::*;
use crate::window::{WindowInput, WindowLevel, WindowStatus};

fn layers(file: &str, env: &[(&str, &str)], flags: &[(&str, &str)]) -> ConfigLayers {
    let pairs = |given: &[(&str, &str)]| {
        let owned = given.iter().map(|(k, v)| (k.to_string(), v.to_string()));
        owned.collect()
    };
    ConfigLayers {
        file: Some(ConfigFileLayer {
            path: "config.toml".into(),
            text: file.into(),
        }),
        env: pairs(env),
        flags: pairs(flags),
    }
}

fn loaded(file: &str, env: &[(&str, &str)], flags: &[(&str, &str)]) -> Config {
    Config::load(&layers(file, env, flags)).expect("a good configuration")
}

fn from_env(env: &[(&str, &str)]) -> Config {
    loaded("", env, &[])
}

fn refused(file: &str, flags: &[(&str, &str)]) -> String {
    let config = Config::load(&layers(file, &[], flags));
    config.expect_err("a bad configuration").to_string()
}

fn source(config: &Config, key: &str) -> String {
    let explained = config.explain().iter().find(|one| one.key == key);
    explained.expect("a known key").source.to_string()
}

fn notices(config: &Config) -> Vec<String> {
    config.notices().iter().map(ToString::to_string).collect()
}

#[test]
fn g1_a_time_has_a_unit_and_may_be_zero() {
    for (text, seconds) in [
        ("90s", 90),
        ("10m", 600),
        ("1h", 3_600),
        ("0", 0),
        ("0s", 0),
    ] {
        let config = loaded(&format!("retry.patience = {text:?}"), &[], &[]);
        assert_eq!(config.retry_patience.as_secs(), seconds, "{text}");
    }
    assert_eq!(
        loaded("retry.patience = 0", &[], &[])
            .retry_patience
            .as_secs(),
        0
    );
    assert_eq!(loaded("", &[], &[]).retry_patience.as_secs(), 600);
    for text in [
        "10",
        "-1s",
        "s",
        "10d",
        "100h",
        "1.5m",
        "99999999999999999999s",
    ] {
        let said = refused("", &[("retry.patience", text)]);
        assert!(said.contains("a time such as"), "{said}");
    }
}

#[test]
fn g1_with_nothing_set_all_is_default() {
    let config = Config::load(&ConfigLayers::default()).expect("nothing to refuse");
    assert_eq!(config.switches, Switches::default());
    assert_eq!(config.window_settings(), WindowSettings::default());
    assert_eq!(config.retention_days, None);
    assert_eq!(config.log, "warn");
    assert_eq!(config.explain().len(), SETTINGS.len());
    assert!(
        config
            .explain()
            .iter()
            .all(|one| one.source == SettingSource::Default)
    );
    assert!(config.notices().is_empty());
}

#[test]
fn g1_the_file_yields_to_the_environment_and_that_to_flags() {
    let file = "# mine\n[window]\ncap = 300_000\nmax_output = 9_000\nblocking_limit = 0xFFFF\n";
    let env = [
        ("LONGHAUL_WINDOW_CAP", "200000"),
        ("LONGHAUL_WINDOW_MAX_OUTPUT", "8000"),
    ];
    let config = loaded(file, &env, &[("window.cap", "100000")]);
    assert_eq!(config.window_cap, Some(100_000));
    assert_eq!(config.max_output, Some(8_000));
    assert_eq!(config.blocking_limit, Some(65_535));
    assert_eq!(source(&config, "window.cap"), "flag --window");
    assert_eq!(
        source(&config, "window.max_output"),
        "environment: LONGHAUL_WINDOW_MAX_OUTPUT"
    );
    assert_eq!(source(&config, "window.blocking_limit"), "config.toml:5");
    assert_eq!(source(&config, "model"), "default");
}

#[test]
fn g1_every_type_can_be_set_in_the_file() {
    let config = loaded(
        "model = \"claude-opus-4-6\"\nlog = \"debug\"\ncompaction.collapse = true\nretention.days = 30\n\
         [window]\nauto_compact_percent = 70.5\n[models]\nfile = \"models.toml\"\n",
        &[],
        &[],
    );
    assert_eq!(config.model.as_deref(), Some("claude-opus-4-6"));
    assert_eq!(config.models_file.as_deref(), Some("models.toml"));
    assert_eq!(config.log, "debug");
    assert_eq!(config.retention_days, Some(30));
    assert_eq!(config.auto_compact_percent, Percent::new(70.5));
    assert!(config.switches.collapse);
    assert_eq!(source(&config, "models.file"), "config.toml:8");
}

#[test]
fn g1_the_names_of_the_original_system_are_honoured() {
    let config = from_env(&[
        ("DISABLE_COMPACT", "1"),
        ("DISABLE_AUTO_COMPACT", "TRUE"),
        ("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "150000"),
        ("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "70"),
        ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "16000"),
        ("CLAUDE_CODE_BLOCKING_LIMIT_OVERRIDE", "120000"),
    ]);
    assert!(!config.switches.compaction);
    assert!(!config.switches.automatic);
    assert_eq!(config.window_cap, Some(150_000));
    assert_eq!(config.auto_compact_percent, Percent::new(70.0));
    assert_eq!(config.max_output, Some(16_000));
    assert_eq!(config.blocking_limit, Some(120_000));
    assert_eq!(
        source(&config, "compaction.enabled"),
        "environment: DISABLE_COMPACT"
    );
    assert!(config.notices().is_empty());
}

#[test]
fn g1_our_name_wins_over_the_original_one_unless_its_value_is_bad() {
    let both = |ours| {
        from_env(&[
            ("LONGHAUL_WINDOW_CAP", ours),
            ("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "150000"),
        ])
    };
    let good = both("90000");
    assert_eq!(good.window_cap, Some(90_000));
    assert_eq!(
        source(&good, "window.cap"),
        "environment: LONGHAUL_WINDOW_CAP"
    );
    let bad = both("lots");
    assert_eq!(bad.window_cap, Some(150_000));
    assert_eq!(
        source(&bad, "window.cap"),
        "environment: CLAUDE_CODE_AUTO_COMPACT_WINDOW"
    );
    assert_eq!(bad.notices().len(), 1);
    let opposed = from_env(&[
        ("LONGHAUL_COMPACTION_ENABLED", "on"),
        ("DISABLE_COMPACT", "1"),
    ]);
    assert!(opposed.switches.compaction);
}

#[test]
fn g1_switches_in_the_environment_take_eight_words_in_any_case() {
    for (word, on) in [
        ("1", true),
        ("true", true),
        ("Yes", true),
        ("ON", true),
        ("0", false),
        ("False", false),
        ("no", false),
        (" off\r", false),
    ] {
        let config = from_env(&[("LONGHAUL_COMPACTION_MICRO", word)]);
        assert_eq!(config.switches.micro, on, "{word:?}");
        assert!(config.notices().is_empty(), "{word:?}");
        // A variable that disables something means the opposite, also when it is off.
        let config = loaded(
            "compaction.enabled = false",
            &[("DISABLE_COMPACT", word)],
            &[],
        );
        assert_eq!(config.switches.compaction, !on, "{word:?}");
    }
}

#[test]
fn h4_a_value_that_does_not_parse_whole_is_ignored_and_reported() {
    for (name, value) in [
        ("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "70abc"),
        ("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", ""),
        ("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "1e999"),
        ("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "-5"),
        ("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "0"),
        ("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "100.1"),
        ("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "nan"),
        ("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "70%"),
        ("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "200k"),
        ("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "1e5"),
        ("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "-5"),
        ("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "0"),
        ("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "99999999999999999999999"),
        ("LONGHAUL_RETENTION_DAYS", "0"),
        ("DISABLE_COMPACT", "maybe"),
        ("LONGHAUL_MODEL", " "),
    ] {
        let config = from_env(&[(name, value)]);
        assert_eq!(
            config.window_settings(),
            WindowSettings::default(),
            "{name}={value}"
        );
        let said = notices(&config);
        assert_eq!(said.len(), 1, "{name}={value}");
        assert!(said[0].starts_with(name), "{said:?}");
        assert!(said[0].contains(&format!("{value:?}")), "{said:?}");
    }
}

#[test]
fn h4_a_notice_says_what_would_have_been_taken() {
    let config = from_env(&[("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "70abc")]);
    assert_eq!(
        notices(&config),
        [
            "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE is ignored: it takes a percentage above 0, up to 100, not \"70abc\""
        ]
    );
}

#[test]
fn h4_a_bad_value_leaves_what_the_file_says() {
    let config = loaded(
        "window.cap = 50_000",
        &[("LONGHAUL_WINDOW_CAP", "50k")],
        &[],
    );
    assert_eq!(config.window_cap, Some(50_000));
    assert_eq!(source(&config, "window.cap"), "config.toml:1");
}

#[test]
fn g1_a_slip_in_one_of_our_variables_is_noticed_and_strangers_are_left_alone() {
    let config = from_env(&[
        ("LONGHAUL_WINDOW_CPA", "secret"),
        ("LONGHAUL_HOME", "/data"),
        ("LONGHAUL_GATEWAY_TOKEN", "secret"),
        ("PATH", "/bin"),
    ]);
    assert_eq!(
        notices(&config),
        ["LONGHAUL_WINDOW_CPA is not known; did you mean LONGHAUL_WINDOW_CAP?"]
    );
}

#[test]
fn g1_an_unknown_key_in_the_file_is_an_error_with_its_place_and_what_may_be_meant() {
    for (file, message) in [
        (
            "[compaction]\nenabeld = true\n",
            "config.toml:2: `compaction.enabeld` is not a setting; did you mean `compaction.enabled`?",
        ),
        (
            "\n[compacton]\nmicro = true\n",
            "config.toml:3: `compacton.micro` is not a setting; did you mean `compaction.micro`?",
        ),
        (
            "max_output = 5\n",
            "config.toml:1: `max_output` is not a setting; did you mean `window.max_output`?",
        ),
        (
            "compaction = true\n",
            "config.toml:1: `compaction` is not a setting; did you mean `compaction.enabled`?",
        ),
        (
            "colour = \"red\"\n",
            "config.toml:1: `colour` is not a setting",
        ),
    ] {
        assert_eq!(refused(file, &[]), message);
    }
}

#[test]
fn g1_a_wrong_type_in_the_file_is_an_error_with_its_place() {
    for (file, message) in [
        (
            "[window]\ncap = \"200000\"\n",
            "config.toml:2: `window.cap` takes a whole number of tokens, 1 or more, not \"200000\"",
        ),
        (
            "[window]\ncap = -5\n",
            "config.toml:2: `window.cap` takes a whole number of tokens, 1 or more, not -5",
        ),
        (
            "compaction.micro = 1\n",
            "config.toml:1: `compaction.micro` takes true or false, not 1",
        ),
        (
            "[window]\nauto_compact_percent = 101\n",
            "config.toml:2: `window.auto_compact_percent` takes a percentage above 0, up to 100, not 101",
        ),
        (
            "[model]\nname = \"x\"\n",
            "config.toml:1: `model` takes a string that is not empty, not a table",
        ),
    ] {
        assert_eq!(refused(file, &[]), message);
    }
}

#[test]
fn g1_a_file_that_is_no_toml_is_an_error_with_its_line() {
    for (file, line) in [
        ("a = \n", 1),
        ("log = \"a\"\nlog = \"b\"\n", 2),
        ("\n\n[window\n", 3),
    ] {
        let error = Config::load(&layers(file, &[], &[])).expect_err("bad");
        assert!(
            matches!(&error, ConfigError::Syntax { line: l, .. } if *l == line),
            "{error}"
        );
    }
}

#[test]
fn g1_a_file_with_a_byte_order_mark_is_read() {
    assert_eq!(loaded("\u{feff}log = \"info\"\r\n", &[], &[]).log, "info");
}

#[test]
fn g1_a_bad_flag_is_an_error() {
    assert_eq!(
        refused("", &[("window.cap", "70abc")]),
        "--window takes a whole number of tokens, 1 or more, not \"70abc\""
    );
    assert_eq!(
        refused("", &[("compaction.mirco", "on")]),
        "`compaction.mirco` is not a setting; did you mean `compaction.micro`?"
    );
    let config = loaded("", &[], &[("compaction.micro", "off")]);
    assert_eq!(
        source(&config, "compaction.micro"),
        "flag --set compaction.micro"
    );
}

#[test]
fn g1_h2_the_settings_reach_the_window() {
    let env = [("DISABLE_AUTO_COMPACT", "1")];
    let input = WindowInput {
        window: 1_000_000,
        max_output: 64_000,
        used: 170_000,
        settings: loaded("window.cap = 200_000", &env, &[]).window_settings(),
    };
    let status = WindowStatus::new(&input).expect("large enough");
    assert_eq!(
        (status.warning, status.level),
        (160_000, WindowLevel::Warning)
    );
    for switch in ["compaction.enabled", "compaction.auto_compact_enabled"] {
        let config = loaded(&format!("{switch} = false"), &[], &[]);
        assert_eq!(config.window_settings().auto_compact, AutoCompact::Off);
    }
}

#[test]
fn g1_every_variable_of_ours_is_named_after_its_key_and_stands_first() {
    let mut seen = std::collections::BTreeSet::new();
    for setting in SETTINGS {
        let expected = format!("LONGHAUL_{}", setting.key.replace('.', "_").to_uppercase());
        assert_eq!(setting.env[0].name, expected);
        assert!(setting.doc.ends_with('.'), "{}", setting.key);
        for env in setting.env {
            assert!(seen.insert(env.name), "{} sets two things", env.name);
        }
    }
}

#[test]
fn g1_the_reference_names_every_setting_variable_and_default() {
    let page = reference_markdown();
    for setting in SETTINGS {
        assert!(page.contains(&format!("| `{}` |", setting.key)));
        for env in setting.env {
            assert!(page.contains(&format!("`{}`", env.name)));
        }
    }
    assert!(page.contains(
        "| `compaction.enabled` | Whether anything may shorten the conversation, by hand or automatically, the clearing of old tool results included. \
         | 1, true, yes or on; 0, false, no or off | `true` | `LONGHAUL_COMPACTION_ENABLED`, `DISABLE_COMPACT` (inverted: on means false) |  |\n"
    ));
    let settings = page.lines().take_while(|line| !line.starts_with("## "));
    let rows = settings.filter(|line| line.starts_with('|'));
    assert!(rows.clone().all(|row| row.matches('|').count() == 7));
    assert_eq!(rows.count(), SETTINGS.len() + 2);
}

#[test]
fn g1_an_explanation_can_be_read_by_programs() {
    let config = loaded("log = \"info\"", &[], &[]);
    let json = serde_json::to_value(config.explain()).expect("serialises");
    let log = json.as_array().and_then(|all| all.last()).expect("the log");
    assert_eq!(log["key"], "log");
    assert_eq!(log["value"], "info");
    assert_eq!(log["source"], "config.toml:1");
    assert_eq!(log["env_names"][0], "LONGHAUL_LOG");
}

#[test]
fn b4_caching_is_set_by_our_names_or_those_of_the_original() {
    assert_eq!(from_env(&[]).cache, CacheSettings::default());
    let original = from_env(&[
        ("DISABLE_PROMPT_CACHING", "1"),
        ("ENABLE_PROMPT_CACHING_1H", "1"),
        ("FORCE_PROMPT_CACHING_5M", "1"),
    ]);
    let all = CacheSettings {
        enabled: false,
        one_hour: true,
        five_minutes_only: true,
    };
    assert_eq!(original.cache, all);
    let ours = from_env(&[
        ("DISABLE_PROMPT_CACHING", "1"),
        ("LONGHAUL_CACHE_ENABLED", "true"),
        ("ENABLE_PROMPT_CACHING_1H", "1"),
        ("LONGHAUL_CACHE_ONE_HOUR", "no"),
    ]);
    assert_eq!(ours.cache, CacheSettings::default(), "ours win");
    let file = loaded("[cache]\none_hour = true\n", &[], &[]);
    assert!(file.cache.one_hour);
}

#[test]
fn s2_when_notes_are_taken_can_be_set() {
    let file = "[notes]\nstart_tokens = 20_000\ntool_calls = 5\n";
    let env = [
        ("LONGHAUL_NOTES_GROWTH_TOKENS", "2000"),
        ("LONGHAUL_NOTES_TOOL_CALLS", "none"),
    ];
    let config = loaded(file, &env, &[]);
    let wanted = NotesSettings {
        start_tokens: 20_000,
        growth_tokens: 2_000,
        tool_calls: 5,
    };
    assert_eq!(config.notes, wanted);
    assert_eq!(notices(&config).len(), 1, "a bad one is told and left out");
    assert!(refused("[notes]\ntool_calls = 0\n", &[]).contains("whole number, 1 or more"));
    assert_eq!(from_env(&[]).notes, NotesSettings::default());
}
