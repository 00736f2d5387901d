//! What exit codes and output mean for which event.

use longhaul::hooks::{
    HookError, HookEvent, HookEventName, HookFailure, HookPermission, HookReason, HookResponse,
    Hooks, StartSource,
};
use proptest::prelude::*;
use serde_json::json;

use super::support::{
    Project, command, ends, post_compact, post_tool_use, pre_compact, pre_tool_use, prompt,
    session_start, stop,
};

fn hook(event: HookEventName, at: usize) -> String {
    format!("settings.json hooks.{event}[0].hooks[{at}]")
}

fn reason(event: HookEventName, text: &str) -> Option<HookReason> {
    Some(HookReason {
        hook: hook(event, 0),
        text: text.into(),
    })
}

fn failures(outcome: &HookResponse) -> Vec<&HookFailure> {
    outcome.errors.iter().map(|error| &error.failure).collect()
}

fn say(json: &serde_json::Value) -> String {
    format!("cat <<'END'\n{json}\nEND")
}

#[tokio::test]
async fn k1_plain_output_before_a_compaction_is_instructions() {
    let outcome = Project::new()
        .answer(pre_compact(), &["echo ' keep the schema '"])
        .await;
    assert_eq!(
        outcome,
        HookResponse {
            instructions: vec!["keep the schema".into()],
            ..HookResponse::default()
        }
    );
}

#[tokio::test]
async fn k1_f10_plain_output_after_a_compaction_and_at_a_start_joins_the_conversation() {
    let project = Project::new();
    for event in [
        post_compact(),
        session_start(StartSource::Compact),
        prompt("hi"),
    ] {
        let outcome = project.answer(event, &["echo one", "echo two"]).await;
        let context = vec!["one".into(), "two".into()];
        assert_eq!(
            outcome,
            HookResponse {
                context,
                ..HookResponse::default()
            }
        );
    }
    for event in [stop(), pre_tool_use("Bash")] {
        assert_eq!(
            project.answer(event, &["echo one"]).await,
            HookResponse::default()
        );
    }
}

#[tokio::test]
async fn k1_code_two_blocks_where_something_can_be_blocked() {
    let project = Project::new();
    let line = "echo unused; echo not now >&2; exit 2";
    for event in [pre_compact(), stop(), prompt("hi"), pre_tool_use("Bash")] {
        let name = event.name();
        let outcome = project.answer(event, &[line]).await;
        let blocked = reason(name, "not now");
        assert_eq!(
            outcome,
            HookResponse {
                blocked,
                ..HookResponse::default()
            }
        );
    }
    for event in [post_compact(), session_start(StartSource::Compact)] {
        let outcome = project.answer(event, &[line]).await;
        let messages = vec!["not now".into()];
        assert_eq!(
            outcome,
            HookResponse {
                messages,
                ..HookResponse::default()
            }
        );
    }
    let outcome = project.answer(post_tool_use(json!("ok")), &[line]).await;
    assert_eq!(
        outcome.context,
        ["not now"],
        "the model learns what was wrong with it"
    );
    let outcome = project.answer(pre_compact(), &["exit 2"]).await;
    assert_eq!(
        outcome.blocked,
        reason(
            HookEventName::PreCompact,
            "A hook blocked this and gave no reason."
        )
    );
}

#[tokio::test]
async fn k1_other_codes_are_errors_for_the_user_and_stop_nothing() {
    let line = "echo half; echo first >&2; echo second >&2; exit 3";
    let outcome = Project::new()
        .answer(pre_compact(), &[line, "echo whole"])
        .await;
    let errors = vec![HookError {
        hook: hook(HookEventName::PreCompact, 0),
        failure: HookFailure::Exit {
            code: 3,
            stderr: "first".into(),
        },
    }];
    let instructions = vec!["whole".into()];
    assert_eq!(
        outcome,
        HookResponse {
            errors,
            instructions,
            ..HookResponse::default()
        }
    );
    assert_eq!(
        outcome.errors[0].to_string(),
        "hook settings.json hooks.PreCompact[0].hooks[0]: ended with code 3: first"
    );
}

#[tokio::test]
async fn k1_json_is_read_whatever_the_code() {
    let project = Project::new();
    let block = json!({"decision": "block", "reason": "tests are red", "systemMessage": "look"});
    for code in [0, 1] {
        let line = format!("{}\nexit {code}", say(&block));
        let outcome = project.answer(pre_compact(), &[&line]).await;
        assert_eq!(
            outcome.blocked,
            reason(HookEventName::PreCompact, "tests are red")
        );
        assert_eq!(outcome.messages, ["look"]);
        assert_eq!(outcome.errors.len(), code);
        assert!(outcome.instructions.is_empty());
    }
    let line = format!("{}\necho louder >&2\nexit 2", say(&block));
    let outcome = project.answer(pre_compact(), &[&line]).await;
    assert_eq!(outcome.blocked, reason(HookEventName::PreCompact, "louder"));
    let line = format!("{}\nexit 2", say(&block));
    let outcome = project.answer(pre_compact(), &[&line]).await;
    assert_eq!(
        outcome.blocked,
        reason(HookEventName::PreCompact, "tests are red")
    );
}

#[tokio::test]
async fn k1_context_goes_to_the_model_except_before_a_compaction() {
    let project = Project::new();
    let cases = [
        (session_start(StartSource::Startup), 1),
        (post_compact(), 1),
        (prompt("hi"), 1),
        (stop(), 1),
        (post_tool_use(json!("ok")), 1),
        (pre_compact(), 0),
    ];
    for (event, count) in cases {
        let specific =
            json!({"hookEventName": event.name().as_str(), "additionalContext": "branch: main"});
        let outcome = project
            .answer(event, &[&say(&json!({"hookSpecificOutput": specific}))])
            .await;
        assert_eq!(outcome.context.len(), count);
        assert_eq!(outcome.errors.len(), 1 - count);
        assert!(outcome.instructions.is_empty());
    }
    let other = json!({"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "x"}});
    let outcome = project.answer(post_compact(), &[&say(&other)]).await;
    assert!(outcome.context.is_empty());
    assert_eq!(outcome.errors.len(), 1, "it was meant for another event");
}

#[tokio::test]
async fn k1_continue_false_ends_a_turn_and_never_a_compaction() {
    let project = Project::new();
    let line = say(&json!({"continue": false, "stopReason": "enough"}));
    let outcome = project.answer(stop(), &[&line]).await;
    assert_eq!(outcome.stop, reason(HookEventName::Stop, "enough"));
    for event in [pre_compact(), post_compact()] {
        assert_eq!(
            project.answer(event, &[&line]).await,
            HookResponse::default()
        );
    }
}

#[tokio::test]
async fn k1_the_strictest_permission_counts_and_the_last_input() {
    let project = Project::new();
    let answer = |decision: &str, input: &str| {
        say(&json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": decision,
            "permissionDecisionReason": format!("because {decision}"), "updatedInput": {"command": input},
        }}))
    };
    let (deny, ask, allow) = (
        answer("deny", "a"),
        answer("ask", "b"),
        answer("allow", "c"),
    );
    let outcome = project.answer(pre_tool_use("Bash"), &[&allow, &ask]).await;
    assert_eq!(outcome.permission, Some(HookPermission::Ask));
    assert_eq!(outcome.blocked, None);
    assert_eq!(outcome.updated_input, Some(json!({"command": "b"})));
    let outcome = project.answer(pre_tool_use("Bash"), &[&deny, &allow]).await;
    assert_eq!(outcome.permission, Some(HookPermission::Deny));
    assert_eq!(
        outcome.blocked,
        reason(HookEventName::PreToolUse, "because deny")
    );
    let old = say(&json!({"decision": "approve"}));
    let outcome = project.answer(pre_tool_use("Bash"), &[&old]).await;
    assert_eq!(outcome.permission, Some(HookPermission::Allow));
}

#[tokio::test]
async fn k1_the_fields_of_single_events_arrive() {
    let project = Project::new();
    let line = say(&json!({"hookSpecificOutput": {
        "hookEventName": "SessionStart", "initialUserMessage": "go on", "sessionTitle": "The port",
    }}));
    let outcome = project
        .answer(session_start(StartSource::Startup), &[&line])
        .await;
    assert_eq!(outcome.initial_user_message.as_deref(), Some("go on"));
    assert_eq!(outcome.session_title.as_deref(), Some("The port"));
    let line = say(&json!({
        "decision": "block", "reason": "not formatted",
        "hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": "short"},
    }));
    let outcome = project.answer(post_tool_use(json!("long")), &[&line]).await;
    assert_eq!(outcome.updated_output, Some(json!("short")));
    assert_eq!(
        (outcome.blocked, outcome.context),
        (None, vec!["not formatted".to_owned()])
    );
}

#[tokio::test]
async fn k2_garbage_json_is_named_by_its_place_and_not_used() {
    let project = Project::new();
    for garbage in [
        "{\"decision\": \"block\"",
        "{not json",
        "{} {}",
        "{\n  \"a\": oops }",
    ] {
        let outcome = project
            .answer(pre_compact(), &[&format!("echo '{garbage}'"), "echo whole"])
            .await;
        assert!(
            matches!(failures(&outcome)[..], [HookFailure::NotJson { .. }]),
            "{outcome:?}"
        );
        assert_eq!(outcome.blocked, None);
        assert_eq!(outcome.instructions, ["whole"]);
    }
}

#[tokio::test]
async fn k2_fields_of_the_wrong_type_are_named_and_the_others_used() {
    let line = say(&json!({
        "continue": "no", "stopReason": 7, "decision": "perhaps", "reason": [], "systemMessage": "heard",
        "hookSpecificOutput": "x",
    }));
    let outcome = Project::new().answer(stop(), &[&line]).await;
    assert_eq!(outcome.messages, ["heard"]);
    assert_eq!(
        (outcome.blocked.clone(), outcome.stop.clone()),
        (None, None)
    );
    assert_eq!(outcome.errors.len(), 5);
}

fn any_event() -> impl Strategy<Value = HookEvent> {
    prop::sample::select(vec![
        pre_compact(),
        post_compact(),
        session_start(StartSource::Compact),
        stop(),
        pre_tool_use("Bash"),
    ])
}

fn any_output() -> impl Strategy<Value = Vec<u8>> {
    let word = prop::sample::select(vec![
        "{",
        "}",
        "\"decision\":",
        "\"block\"",
        "\"continue\":false",
        ",",
        "\"hookSpecificOutput\":{",
        "\"hookEventName\":\"SessionStart\"",
        "\"additionalContext\":\"x\"",
        "[",
        "null",
        "\u{0}",
        "é",
    ]);
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        prop::collection::vec(word, 0..12).prop_map(|words| words.concat().into_bytes()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn k2_whatever_a_hook_prints_only_blocking_events_are_blocked(
        event in any_event(),
        output in any_output(),
        code in 0..4,
    ) {
        let project = Project::new();
        project.write("output", &output);
        let hooks = project.hooks(
            event.name(),
            json!([command(&format!("cat output; cat output >&2; exit {code}"), 60.0), command("exit 0", 60.0)]),
        );
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let call = project.call(event.clone());
        let outcome = runtime.block_on(ends(hooks.run(&call)));
        prop_assert!(outcome.blocked.is_none() || event.name().can_block());
        prop_assert!(outcome.instructions.is_empty() || event.name() == HookEventName::PreCompact);
        prop_assert!(!outcome.cancelled);
    }
}
