//! Reading settings files.

use std::path::Path;

use longhaul::hooks::{
    HookEvent, HookLaunch, HookMatcher, HookNoticeKind, HookSettings, StartSource,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::support::{Project, pre_compact, pre_tool_use, prompt, session_start};

fn lines(settings: &HookSettings, event: &HookEvent) -> Vec<String> {
    let commands = settings.matching(event);
    let lines = commands.iter().map(|command| match &command.launch {
        HookLaunch::Line(line) => line.clone(),
        HookLaunch::Program(program, args) => format!("{program} {args:?}"),
    });
    lines.collect()
}

fn read(value: &Value) -> HookSettings {
    let mut settings = HookSettings::default();
    settings.add(Path::new("settings.json"), value.to_string().as_bytes());
    settings
}

fn kinds(settings: &HookSettings) -> Vec<(&str, &HookNoticeKind)> {
    let notices = settings.notices.iter();
    notices.map(|n| (n.place.as_str(), &n.kind)).collect()
}

#[test]
fn k1_hooks_of_all_files_run_and_the_same_command_once() {
    let project = Project::new();
    let group = |matcher: &str, lines: &[&str]| {
        let hooks = lines
            .iter()
            .map(|line| json!({"type": "command", "command": line}));
        json!({"matcher": matcher, "hooks": hooks.collect::<Vec<_>>()})
    };
    let file = |name: &str, groups: Value| {
        project.write(
            name,
            json!({"model": "x", "hooks": {"PreCompact": groups}}).to_string(),
        )
    };
    let user = file(
        "user.json",
        json!([group("auto", &["a", "b"]), group("", &["c", "a"])]),
    );
    let own = file(
        "own.json",
        json!([group("manual", &["d"]), group("manual|auto", &["b", "e"])]),
    );
    let settings = HookSettings::load([user, project.path("absent.json"), own]);
    assert_eq!(settings.notices, []);
    assert_eq!(lines(&settings, &pre_compact()), ["a", "b", "c", "e"]);
    assert!(lines(&settings, &session_start(StartSource::Compact)).is_empty());
}

#[test]
fn k1_a_broken_file_is_a_notice_with_its_line_and_the_rest_works() {
    let project = Project::new();
    let broken = project.write("broken.json", "{\n  \"hooks\": {\n    oops\n");
    let whole = project.write(
        "whole.json",
        b"\xEF\xBB\xBF{\"hooks\":{\"PreCompact\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"a\"}]}]}}",
    );
    let blank = project.write("blank.json", " \n");
    let settings = HookSettings::load([
        broken.clone(),
        blank,
        project.folder().to_owned(),
        project.pipe("pipe.json"),
        whole,
    ]);
    assert_eq!(lines(&settings, &pre_compact()), ["a"]);
    let first = &settings.notices[0];
    assert_eq!(first.kind, HookNoticeKind::NotJson { line: 3, column: 5 });
    assert!(
        first
            .to_string()
            .starts_with(&format!("{}:3:5: ", broken.display()))
    );
    assert_eq!(
        settings.notices.len(),
        3,
        "a folder and a pipe are no files"
    );
}

#[test]
fn k1_unknown_events_and_types_are_notices() {
    let hook = |kind: &str| json!({"type": kind, "command": "a", "url": "u", "prompt": "p"});
    let hooks = ["http", "mcp_tool", "prompt", "agent", "command"].map(hook);
    let settings = read(&json!({"hooks": {
        "WorktreeCreate": [{"hooks": [hook("command")]}],
        "PreCompact": [{"hooks": hooks}],
    }}));
    let place = |at: usize| format!("hooks.PreCompact[0].hooks[{at}]");
    let kind = |name: &str| HookNoticeKind::UnsupportedType(name.into());
    assert_eq!(
        kinds(&settings),
        [
            (place(0).as_str(), &kind("http")),
            (place(1).as_str(), &kind("mcp_tool")),
            (place(2).as_str(), &kind("prompt")),
            (place(3).as_str(), &kind("agent")),
            (
                "hooks.WorktreeCreate",
                &HookNoticeKind::UnknownEvent("WorktreeCreate".into())
            ),
        ]
    );
    assert_eq!(lines(&settings, &pre_compact()), ["a"]);
}

#[test]
fn k1_what_has_the_wrong_shape_is_passed_over_alone() {
    let good = json!({"type": "command", "command": "a"});
    let settings = read(&json!({"hooks": {
        "Stop": "a",
        "PreCompact": [
            7,
            {"matcher": 7, "hooks": [good]},
            {"matcher": "(", "hooks": [good]},
            {"matcher": "auto"},
            {"hooks": [
                null,
                {"command": "a"},
                {"type": "command"},
                {"type": "command", "command": "  "},
                {"type": "command", "command": "a", "args": "b"},
                {"type": "command", "command": "if", "if": "Bash(git *)"},
                {"type": "command", "command": "ps", "shell": "powershell"},
                {"type": "command", "command": "late", "timeout": "soon"},
                {"type": "command", "command": "never", "timeout": -1},
                {"type": "command", "command": "behind", "async": true},
                {"type": "command", "command": "node", "args": ["x y"], "timeout": 1.5},
            ]},
        ],
    }}));
    let places: Vec<&str> = kinds(&settings).iter().map(|(place, _)| *place).collect();
    assert_eq!(
        places,
        [
            "hooks.PreCompact[0]",
            "hooks.PreCompact[1].matcher",
            "hooks.PreCompact[2].matcher",
            "hooks.PreCompact[3].hooks",
            "hooks.PreCompact[4].hooks[0]",
            "hooks.PreCompact[4].hooks[1].type",
            "hooks.PreCompact[4].hooks[2].command",
            "hooks.PreCompact[4].hooks[3].command",
            "hooks.PreCompact[4].hooks[4].args",
            "hooks.PreCompact[4].hooks[5].if",
            "hooks.PreCompact[4].hooks[6].shell",
            "hooks.PreCompact[4].hooks[7].timeout",
            "hooks.PreCompact[4].hooks[8].timeout",
            "hooks.PreCompact[4].hooks[9].async",
            "hooks.Stop",
        ]
    );
    let remaining = lines(&settings, &pre_compact());
    assert_eq!(remaining, ["late", "never", "behind", "node [\"x y\"]"]);
    let seconds = settings.matching(&pre_compact());
    let seconds: Vec<f64> = seconds.iter().map(|c| c.timeout.as_secs_f64()).collect();
    assert_eq!(seconds, [60.0, 60.0, 60.0, 1.5]);
}

#[test]
fn k1_a_hook_at_the_end_of_a_session_has_little_time_unless_it_says_otherwise() {
    let settings = read(&json!({"hooks": {"SessionEnd": [{"hooks": [
        {"type": "command", "command": "sleep 300"},
        {"type": "command", "command": "upload", "timeout": 30},
    ]}]}}));
    let end = longhaul::hooks::HookEvent::SessionEnd {
        reason: longhaul::hooks::EndReason::Other,
    };
    let found = settings.matching(&end);
    let seconds: Vec<f64> = found.iter().map(|c| c.timeout.as_secs_f64()).collect();
    assert_eq!(seconds, [5.0, 30.0]);
}

#[test]
fn k1_a_condition_on_a_tool_call_is_not_evaluated_and_the_hook_runs() {
    let settings = read(
        &json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
            {"type": "command", "command": "guard", "if": "Bash(git *)"},
        ]}]}}),
    );
    assert_eq!(settings.notices.len(), 1);
    assert_eq!(lines(&settings, &pre_tool_use("Bash")), ["guard"]);
}

#[test]
fn k1_the_most_specific_file_says_whether_hooks_are_off() {
    let hooks = json!({"PreCompact": [{"hooks": [{"type": "command", "command": "a"}]}]});
    let mut settings = read(&json!({"disableAllHooks": true, "hooks": hooks}));
    assert!(lines(&settings, &pre_compact()).is_empty());
    assert_eq!(settings.notices[0].kind, HookNoticeKind::AllDisabled);
    settings.add(Path::new("local.json"), b"{\"disableAllHooks\": false}");
    assert_eq!(lines(&settings, &pre_compact()), ["a"]);
}

#[test]
fn k1_matchers_are_words_lists_or_patterns() {
    let cases: &[(&str, &[&str], &[&str])] = &[
        ("", &["auto", "manual"], &[]),
        ("*", &["Bash"], &[]),
        ("Bash", &["Bash"], &["BashOutput", "bash"]),
        ("Edit|Write", &["Edit", "Write"], &["NotebookEdit"]),
        ("Edit , Write", &["Edit", "Write"], &["MultiEdit"]),
        ("code-reviewer", &["code-reviewer"], &["my-code-reviewer"]),
        ("mcp__memory", &[], &["mcp__memory__read"]),
        (
            "mcp__memory__.*",
            &["mcp__memory__read"],
            &["mcp__github__read"],
        ),
        ("^Notebook", &["NotebookEdit"], &["MyNotebook"]),
        ("Note.*", &["NotebookEdit", "MyNotebook"], &["Edit"]),
        ("startup|compact", &["startup", "compact"], &["resume"]),
    ];
    for (text, yes, no) in cases {
        let matcher = HookMatcher::parse(text).unwrap();
        for subject in *yes {
            assert!(matcher.matches(Some(subject)), "{text} is for {subject}");
        }
        for subject in *no {
            assert!(
                !matcher.matches(Some(subject)),
                "{text} is not for {subject}"
            );
        }
        assert!(matcher.matches(None));
    }
    let settings = read(
        &json!({"hooks": {"UserPromptSubmit": [{"matcher": "nobody", "hooks": [
            {"type": "command", "command": "a"},
        ]}]}}),
    );
    assert_eq!(
        lines(&settings, &prompt("hi")),
        ["a"],
        "this event has nothing to match"
    );
}

/// JSON of about the right form.
fn json_like() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z*|(\\[{]{0,6}".prop_map(Value::from),
        Just(Value::from("command")),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        let keys = prop::sample::select(vec![
            "hooks",
            "PreCompact",
            "Stop",
            "Other",
            "matcher",
            "type",
            "command",
            "args",
            "timeout",
            "if",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(keys.prop_map(str::to_owned), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn k2_no_settings_file_takes_away_the_hooks_of_another(
        hooks in json_like(),
        bytes in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let own = json!({"hooks": {"PreCompact": [{"hooks": [{"type": "command", "command": "own"}]}]}});
        let mut settings = read(&own);
        settings.add(Path::new("a.json"), json!({"hooks": hooks}).to_string().as_bytes());
        settings.add(Path::new("b.json"), &bytes);
        prop_assert!(lines(&settings, &pre_compact()).contains(&"own".to_owned()));
        for notice in &settings.notices {
            prop_assert!(!notice.to_string().is_empty());
        }
    }
}
