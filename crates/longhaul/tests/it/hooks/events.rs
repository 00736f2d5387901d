//! The input of hooks, field by field.

use longhaul::hooks::{
    CompactionTrigger, EndReason, HookCommon, HookEffort, HookEvent, HookEventName, HookInput,
    LoadReason, MemoryType, NotificationType, StartSource,
};
use longhaul_core::money::Usd;
use serde_json::{Value, json};

use super::support::{
    post_compact, post_tool_use, pre_compact, pre_tool_use, prompt, session_start, stop,
};

fn told(event: HookEvent) -> Value {
    let common = HookCommon {
        session_id: "s".into(),
        transcript_path: "t.jsonl".into(),
        cwd: "w".into(),
        ..HookCommon::default()
    };
    HookInput { common, event }.to_json()
}

/// The event's own fields beside the common ones.
#[track_caller]
fn check(event: HookEvent, own: Value) {
    let mut wanted = json!({"session_id": "s", "transcript_path": "t.jsonl", "cwd": "w"});
    wanted["hook_event_name"] = event.name().as_str().into();
    for (key, value) in own.as_object().unwrap() {
        wanted[key] = value.clone();
    }
    assert_eq!(told(event), wanted);
}

#[test]
fn k1_every_event_has_the_fields_of_claude_code() {
    check(
        pre_compact(),
        json!({"trigger": "auto", "custom_instructions": null}),
    );
    check(
        HookEvent::PreCompact {
            trigger: CompactionTrigger::Manual,
            custom_instructions: Some("keep the plan".into()),
        },
        json!({"trigger": "manual", "custom_instructions": "keep the plan"}),
    );
    check(
        post_compact(),
        json!({"trigger": "auto", "compact_summary": "All is well."}),
    );
    check(
        session_start(StartSource::Compact),
        json!({"source": "compact"}),
    );
    check(
        HookEvent::SessionStart {
            source: StartSource::Resume,
            model: Some("m".into()),
            session_title: Some("t".into()),
            seconds_since_last_response: Some(600),
            context_tokens: Some(80_000),
            prompt_cache_likely_expired: Some(true),
            estimated_cache_write_usd: Some(Usd::from_pico(500_000_000_000)),
        },
        json!({
            "source": "resume", "model": "m", "session_title": "t", "seconds_since_last_response": 600,
            "context_tokens": 80_000, "prompt_cache_likely_expired": true, "estimated_cache_write_usd": 0.5,
        }),
    );
    check(
        HookEvent::InstructionsLoaded {
            file_path: "w/CLAUDE.md".into(),
            memory_type: MemoryType::Project,
            load_reason: LoadReason::Compact,
            globs: Vec::new(),
            trigger_file_path: None,
            parent_file_path: None,
        },
        json!({"file_path": "w/CLAUDE.md", "memory_type": "Project", "load_reason": "compact"}),
    );
    check(
        HookEvent::InstructionsLoaded {
            file_path: "w/rule.md".into(),
            memory_type: MemoryType::User,
            load_reason: LoadReason::PathGlobMatch,
            globs: vec!["*.rs".into()],
            trigger_file_path: Some("w/a.rs".into()),
            parent_file_path: Some("w/CLAUDE.md".into()),
        },
        json!({
            "file_path": "w/rule.md", "memory_type": "User", "load_reason": "path_glob_match",
            "globs": ["*.rs"], "trigger_file_path": "w/a.rs", "parent_file_path": "w/CLAUDE.md",
        }),
    );
    check(
        HookEvent::Notification {
            message: "It needs your permission to use Bash".into(),
            title: Some("Permission needed".into()),
            notification_type: NotificationType::PermissionPrompt,
        },
        json!({
            "message": "It needs your permission to use Bash", "title": "Permission needed",
            "notification_type": "permission_prompt",
        }),
    );
    check(
        HookEvent::SessionEnd {
            reason: EndReason::PromptInputExit,
        },
        json!({"reason": "prompt_input_exit"}),
    );
    check(stop(), json!({"stop_hook_active": false}));
    check(
        HookEvent::SubagentStart {
            agent_id: "a".into(),
            agent_type: "Explore".into(),
        },
        json!({"agent_id": "a", "agent_type": "Explore"}),
    );
    check(
        HookEvent::SubagentStop {
            stop_hook_active: true,
            agent_id: "a".into(),
            agent_type: "Explore".into(),
            agent_transcript_path: "a.jsonl".into(),
            last_assistant_message: Some("done".into()),
        },
        json!({
            "stop_hook_active": true, "agent_id": "a", "agent_type": "Explore",
            "agent_transcript_path": "a.jsonl", "last_assistant_message": "done",
        }),
    );
    let call =
        json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "toolu_1"});
    check(pre_tool_use("Bash"), call.clone());
    let mut answered = call;
    answered["tool_response"] = json!("a.rs");
    check(post_tool_use(json!("a.rs")), answered);
    check(prompt("hi"), json!({"prompt": "hi"}));
}

#[test]
fn k1_common_fields_appear_where_the_host_knows_them() {
    let common = HookCommon {
        permission_mode: Some("plan".into()),
        prompt_id: Some("p".into()),
        agent_id: Some("parent".into()),
        agent_type: Some("main".into()),
        effort: Some(HookEffort {
            level: "high".into(),
        }),
        ..HookCommon::default()
    };
    let input = HookInput {
        common: common.clone(),
        event: stop(),
    }
    .to_json();
    assert_eq!(input["permission_mode"], "plan");
    assert_eq!(input["prompt_id"], "p");
    assert_eq!(input["agent_id"], "parent");
    assert_eq!(input["effort"], json!({"level": "high"}));
    let event = HookEvent::SubagentStart {
        agent_id: "child".into(),
        agent_type: "Plan".into(),
    };
    let input = HookInput { common, event }.to_json();
    assert_eq!(
        (&input["agent_id"], &input["agent_type"]),
        (&json!("child"), &json!("Plan"))
    );
}

#[test]
fn k1_a_path_that_is_no_text_is_told_as_well_as_it_can_be() {
    use std::os::unix::ffi::OsStrExt;
    let odd = std::ffi::OsStr::from_bytes(b"caf\xE9");
    let common = HookCommon {
        cwd: odd.into(),
        ..HookCommon::default()
    };
    let event = HookEvent::InstructionsLoaded {
        file_path: odd.into(),
        memory_type: MemoryType::Local,
        load_reason: LoadReason::Include,
        globs: Vec::new(),
        trigger_file_path: None,
        parent_file_path: Some(odd.into()),
    };
    let input = HookInput { common, event }.to_json();
    for field in ["cwd", "file_path", "parent_file_path"] {
        assert_eq!(input[field], "caf\u{FFFD}");
    }
}

#[test]
fn k1_names_are_read_as_they_are_written() {
    for event in HookEventName::ALL {
        assert_eq!(HookEventName::parse(event.as_str()), Some(event));
    }
    assert_eq!(HookEventName::parse("precompact"), None);
}
