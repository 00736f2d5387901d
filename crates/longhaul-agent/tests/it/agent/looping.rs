//! Turns and calls until there is nothing more to do.

use std::path::PathBuf;
use std::sync::Arc;

use longhaul_agent::agent::SessionChoice;
use longhaul_agent::event::{AgentEvent, ApprovalAnswer, PromptOutcome};
use longhaul_agent::permission::RuleLifetime;
use longhaul_agent::tool::{ToolAccess, ToolCallOutput, Toolbox};
use serde_json::{Value, json};
use tokio::sync::Barrier;

use super::house::{House, Rules, Toy, calls, say, text, texts, work};

fn reads() -> ToolAccess {
    ToolAccess::Reads(PathBuf::from("/x"))
}

fn writes() -> ToolAccess {
    ToolAccess::Writes(PathBuf::from("/x"))
}

#[tokio::test]
async fn q1_a_prompt_is_answered_and_told_as_it_comes() {
    let house = House::scripted(&[text("Hello there.")]).await;
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    let (ended, told) = say(&mut agent, &mut events, "Hi").await;
    assert_eq!(ended, PromptOutcome::Done);
    assert_eq!(agent.last_text(), "Hello there.");
    let streamed: String = told
        .iter()
        .filter_map(|event| match event {
            AgentEvent::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(streamed, "Hello there.");
    assert!(matches!(
        told.last(),
        Some(AgentEvent::Ended(PromptOutcome::Done))
    ));
    let glance = agent.agent_status();
    assert!(glance.cost.unwrap().pico() > 0 && glance.used > 0);
    assert!(glance.cache_hit_rate.is_some());
}

#[tokio::test]
async fn q1_calls_that_only_look_run_side_by_side_and_results_keep_their_order() {
    let turn = calls(&[
        ("Look", json!({"what": "1"})),
        ("Look", json!({"what": "2"})),
        ("Look", json!({"what": "3"})),
    ]);
    let mut house = House::scripted(&[turn, text("Seen.")]).await;
    // No call proceeds before all three have arrived.
    let barrier = Arc::new(Barrier::new(3));
    house.toolbox = Toolbox::default().with(Toy::new("Look", reads(), move |input, _| {
        let barrier = barrier.clone();
        Box::pin(async move {
            barrier.wait().await;
            ToolCallOutput::text(format!("saw {}", input["what"]), "ok")
        })
    }));
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    let (ended, _) = say(&mut agent, &mut events, "Look around.").await;
    assert_eq!(ended, PromptOutcome::Done);
    let seen = texts(&house.last_body());
    let seen: Vec<&String> = seen.iter().filter(|text| text.starts_with("saw")).collect();
    assert_eq!(seen, ["saw \"1\"", "saw \"2\"", "saw \"3\""]);
    let results = house.last_body()["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| {
            message["content"]
                .as_array()
                .unwrap()
                .iter()
                .any(|block| block["type"] == "tool_result")
        })
        .count();
    assert_eq!(results, 1, "one message holds them all");
}

#[tokio::test]
async fn q1_calls_that_change_something_run_one_after_the_other() {
    let turn = calls(&[
        ("Change", json!({})),
        ("Change", json!({})),
        ("Change", json!({})),
    ]);
    let mut house = House::scripted(&[turn, text("Done.")]).await;
    let busy = Arc::new(tokio::sync::Mutex::new(()));
    house.toolbox = Toolbox::default().with(Toy::new("Change", writes(), move |_, _| {
        let busy = busy.clone();
        Box::pin(async move {
            let alone = busy.try_lock();
            tokio::task::yield_now().await;
            match alone {
                Ok(_) => ToolCallOutput::text("alone", "ok"),
                Err(_) => ToolCallOutput::error("not alone"),
            }
        })
    }));
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    say(&mut agent, &mut events, "Change it.").await;
    let seen = texts(&house.last_body());
    assert_eq!(seen.iter().filter(|text| *text == "alone").count(), 3);
}

#[tokio::test]
async fn q1_what_cannot_run_is_told_to_the_model() {
    let mut house = House::scripted(&[
        calls(&[("Nothing", json!({})), ("Bang", json!({}))]),
        text("I see."),
    ])
    .await;
    house.toolbox = Toolbox::default()
        .with(Toy::echo("Nothing", ToolAccess::Nothing))
        .with(Toy::new("Bang", ToolAccess::Nothing, |_, _| {
            Box::pin(async { panic!("no") })
        }));
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    let (ended, told) = say(&mut agent, &mut events, "Go.").await;
    assert_eq!(ended, PromptOutcome::Done);
    let failed = told
        .iter()
        .filter(|event| matches!(event, AgentEvent::ToolEnded { output, .. } if output.is_error));
    assert_eq!(failed.count(), 1);
    assert!(
        texts(&house.last_body())
            .iter()
            .any(|text| text.contains("failed inside"))
    );
}

#[tokio::test]
async fn q1_a_rule_that_denies_and_a_user_who_agrees() {
    let turn = calls(&[
        ("Secret", json!({})),
        ("Change", json!({})),
        ("Change", json!({})),
    ]);
    let mut house = House::scripted(&[turn, text("Done.")]).await;
    house.toolbox = Toolbox::default()
        .with(Toy::echo("Secret", reads()))
        .with(Toy::echo("Change", writes()));
    let gate = Arc::new(Rules {
        ask: vec!["Change"],
        deny: vec!["Secret"],
        ..Rules::default()
    });
    house.gate = Some(gate.clone());
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    let (ended, _) = work(
        &mut agent,
        &mut events,
        "Go.",
        |_| {},
        || Some(ApprovalAnswer::Session),
    )
    .await;
    assert_eq!(ended, PromptOutcome::Done);
    let seen = texts(&house.last_body());
    assert!(
        seen.iter()
            .any(|text| text.contains("Secret is forbidden by a rule"))
    );
    assert_eq!(
        seen.iter()
            .filter(|text| text.starts_with("Change saw"))
            .count(),
        2
    );
    let remembered = gate.remembered.lock().unwrap().clone();
    assert_eq!(
        remembered,
        [("Change".to_owned(), RuleLifetime::Session)],
        "asked once"
    );
}

#[tokio::test]
async fn q1_a_no_with_words_goes_to_the_model_and_one_without_ends_the_work() {
    let turn = calls(&[("Change", json!({})), ("Change", json!({}))]);
    for (answer, ended, said) in [
        (
            Some(ApprovalAnswer::No(Some("Use the other file.".into()))),
            PromptOutcome::Done,
            "Use the other file.",
        ),
        (
            Some(ApprovalAnswer::No(None)),
            PromptOutcome::Cancelled,
            "[Request interrupted by user for tool use]",
        ),
        (None, PromptOutcome::Done, "nobody is there to give it"),
    ] {
        let mut house = House::scripted(&[turn.clone(), text("Well."), text("Yes?")]).await;
        house.toolbox = Toolbox::default().with(Toy::echo("Change", writes()));
        house.gate = Some(Arc::new(Rules {
            ask: vec!["Change"],
            ..Rules::default()
        }));
        let (mut agent, mut events) = house.open(SessionChoice::New).await;
        let (came, _) = work(&mut agent, &mut events, "Go.", |_| {}, || answer.clone()).await;
        assert_eq!(came, ended);
        // The strict simulator accepts the next turn, whatever happened.
        let (came, _) = say(&mut agent, &mut events, "And now?").await;
        assert_eq!(came, PromptOutcome::Done);
        let seen = texts(&house.last_body());
        assert!(seen.iter().any(|text| text.contains(said)), "{seen:?}");
    }
}

#[tokio::test]
async fn q1_no_more_turns_than_agreed() {
    let turn = calls(&[("Look", json!({}))]);
    let mut house = House::scripted(&[turn.clone(), turn.clone(), turn]).await;
    house.toolbox = Toolbox::default().with(Toy::echo("Look", reads()));
    house.max_turns = Some(2);
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    let (ended, _) = say(&mut agent, &mut events, "Go.").await;
    assert_eq!(ended, PromptOutcome::TurnsUsedUp(2));
}

#[tokio::test]
async fn q1_pictures_go_with_the_words() {
    let house = House::scripted(&[text("A dot.")]).await;
    let (mut agent, _events) = house.open(SessionChoice::New).await;
    let pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let said = longhaul_agent::agent::UserPrompt {
        text: "What is this?".into(),
        blocks: vec![
            json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": pixel}}),
        ],
        ..longhaul_agent::agent::UserPrompt::default()
    };
    assert_eq!(agent.prompt(said).await, PromptOutcome::Done);
    let body = house.last_body();
    let kinds: Vec<&Value> = body["messages"][0]["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| &block["type"])
        .collect();
    assert!(kinds.contains(&&json!("image")), "{kinds:?}");
}
