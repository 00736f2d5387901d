//! Hooks around prompts, calls and sessions.

use std::path::PathBuf;
use std::sync::Arc;

use longhaul::hooks::fake::FakeHooks;
use longhaul::hooks::{
    EndReason, HookEvent, HookEventName, HookPermission, HookReason, HookResponse,
};
use longhaul_agent::agent::SessionChoice;
use longhaul_agent::event::{AgentEvent, PromptOutcome};
use longhaul_agent::tool::{ToolAccess, Toolbox};
use serde_json::json;

use super::house::{House, Rules, Toy, calls, say, text, texts};

fn no(text: &str) -> Option<HookReason> {
    Some(HookReason {
        hook: "test".into(),
        text: text.into(),
    })
}

fn saying(text: &str) -> HookResponse {
    HookResponse {
        context: vec![text.into()],
        ..HookResponse::default()
    }
}

async fn house(hooks: FakeHooks) -> House {
    let turns = [
        calls(&[("Change", json!({"what": "a"}))]),
        text("Done."),
        text("Again."),
    ];
    let mut house = House::scripted(&turns).await;
    let writes = ToolAccess::Writes(PathBuf::from("/x"));
    house.toolbox = Toolbox::default().with(Toy::echo("Change", writes));
    house.hooks = Some(Arc::new(hooks));
    house
}

#[tokio::test]
async fn k1_every_event_of_a_session_is_told() {
    let house = house(FakeHooks::default()).await;
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    std::fs::write(house.cwd().join("CLAUDE.md"), "Be brief.").unwrap();
    say(&mut agent, &mut events, "Go.").await;
    agent.clear().await.unwrap();
    agent.close(EndReason::PromptInputExit).await;
    let events = house.hooks.unwrap().events();
    use HookEventName::*;
    let expected = [
        SessionStart,
        UserPromptSubmit,
        PreToolUse,
        PostToolUse,
        Stop,
        SessionEnd,
        InstructionsLoaded,
        SessionStart,
        SessionEnd,
    ];
    assert_eq!(events, expected);
}

#[tokio::test]
async fn k1_a_prompt_that_a_hook_refuses_is_not_taken_down() {
    let refuses = HookResponse {
        blocked: no("no secrets here"),
        ..HookResponse::default()
    };
    let house =
        house(FakeHooks::default().answering(HookEventName::UserPromptSubmit, refuses)).await;
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    let (ended, _) = say(&mut agent, &mut events, "The password is x.").await;
    assert!(matches!(ended, PromptOutcome::Refused(why) if why.contains("no secrets here")));
    assert!(house.bodies().is_empty());
    assert_eq!(
        std::fs::metadata(&agent.place().transcript).unwrap().len(),
        0
    );
}

#[tokio::test]
async fn k1_what_hooks_say_joins_the_conversation() {
    let hooks = FakeHooks::default()
        .answering(HookEventName::SessionStart, saying("It is Monday."))
        .answering(
            HookEventName::UserPromptSubmit,
            saying("The user is in a hurry."),
        )
        .answering(HookEventName::PreToolUse, saying("Mind the lock."))
        .answering(HookEventName::PostToolUse, saying("The linter is happy."));
    let house = house(hooks).await;
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    say(&mut agent, &mut events, "Go.").await;
    let seen = texts(&house.last_body()).join("\n");
    for part in [
        "It is Monday.",
        "in a hurry",
        "Mind the lock.",
        "linter is happy",
    ] {
        assert!(seen.contains(part), "{part}");
    }
}

#[tokio::test]
async fn k1_a_hook_denies_changes_or_allows_a_call() {
    let denies = HookResponse {
        blocked: no("not on Fridays"),
        permission: Some(HookPermission::Deny),
        ..HookResponse::default()
    };
    let changes = HookResponse {
        updated_input: Some(json!({"what": "b"})),
        ..HookResponse::default()
    };
    let allows = HookResponse {
        permission: Some(HookPermission::Allow),
        ..HookResponse::default()
    };
    for (answer, expected) in [
        (denies, "not on Fridays"),
        (changes, "Change saw {\"what\":\"b\"}"),
        (allows, "Change saw {\"what\":\"a\"}"),
    ] {
        let asks = answer.permission == Some(HookPermission::Allow);
        let mut house =
            house(FakeHooks::default().answering(HookEventName::PreToolUse, answer)).await;
        if asks {
            // The user would be asked about the call, and nobody answers.
            house.gate = Some(Arc::new(Rules {
                ask: vec!["Change"],
                ..Rules::default()
            }));
        }
        let (mut agent, mut events) = house.open(SessionChoice::New).await;
        say(&mut agent, &mut events, "Go.").await;
        let seen = texts(&house.last_body());
        assert!(
            seen.iter().any(|text| text.contains(expected)),
            "{expected}: {seen:?}"
        );
    }
}

#[tokio::test]
async fn k1_a_hook_may_not_allow_what_a_rule_forbids() {
    let allows = HookResponse {
        permission: Some(HookPermission::Allow),
        ..HookResponse::default()
    };
    let mut house = house(FakeHooks::default().answering(HookEventName::PreToolUse, allows)).await;
    house.gate = Some(Arc::new(Rules {
        deny: vec!["Change"],
        ..Rules::default()
    }));
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    say(&mut agent, &mut events, "Go.").await;
    assert!(
        texts(&house.last_body())
            .iter()
            .any(|text| text.contains("forbidden by a rule"))
    );
}

#[tokio::test]
async fn k1_a_stop_is_held_back_once() {
    let holds = HookResponse {
        blocked: no("run the tests first"),
        ..HookResponse::default()
    };
    let house = house(FakeHooks::default().answering(HookEventName::Stop, holds)).await;
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    let (ended, _) = say(&mut agent, &mut events, "Go.").await;
    assert_eq!(ended, PromptOutcome::Done);
    assert!(
        texts(&house.last_body())
            .iter()
            .any(|text| text.contains("run the tests first"))
    );
    let stops: Vec<bool> = house
        .hooks
        .as_ref()
        .unwrap()
        .calls()
        .iter()
        .filter_map(|call| match call.event {
            HookEvent::Stop {
                stop_hook_active, ..
            } => Some(stop_hook_active),
            _ => None,
        })
        .collect();
    assert_eq!(stops, [false, true]);
}

#[tokio::test]
async fn k1_what_hooks_tell_the_user_is_told() {
    let tells = HookResponse {
        messages: vec!["formatted two files".into()],
        ..HookResponse::default()
    };
    let house = house(FakeHooks::default().answering(HookEventName::PostToolUse, tells)).await;
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    let (_, told) = say(&mut agent, &mut events, "Go.").await;
    assert!(
        told.iter().any(
            |event| matches!(event, AgentEvent::Notice(text) if text == "formatted two files")
        )
    );
}

#[tokio::test]
async fn k1_a_hook_may_answer_in_the_users_place() {
    let answers = [
        (Some(HookPermission::Allow), None, "Change saw {"),
        (None, no("not on a Friday"), "not on a Friday"),
    ];
    for (permission, blocked, expected) in answers {
        let answer = HookResponse {
            permission,
            blocked,
            ..HookResponse::default()
        };
        let hooks = FakeHooks::default().answering(HookEventName::PermissionRequest, answer);
        let mut house = house(hooks).await;
        house.gate = Some(Arc::new(Rules {
            ask: vec!["Change"],
            ..Rules::default()
        }));
        let (mut agent, mut events) = house.open(SessionChoice::New).await;
        let (_, told) = say(&mut agent, &mut events, "Go.").await;
        assert!(
            !told.iter().any(|it| matches!(it, AgentEvent::Asks(_))),
            "the user is not asked"
        );
        let result = house.last_body()["messages"].to_string();
        assert!(result.contains(expected), "{expected}: {result}");
        let calls = house.hooks.as_ref().unwrap().calls();
        let asked = calls.iter().find_map(|call| match &call.event {
            HookEvent::PermissionRequest { tool_name, .. } => Some(tool_name.clone()),
            _ => None,
        });
        assert_eq!(asked.as_deref(), Some("Change"));
    }
}
