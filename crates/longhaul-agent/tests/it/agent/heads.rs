//! The request prefix.

use longhaul_agent::agent::{
    ConversationRole, ConversationTools, EventCallback, SessionChoice, ToolStateSources,
};
use longhaul_agent::event::{PromptOutcome, TodoItem, TodoStatus};
use longhaul_core::engine::CompactRequest;
use longhaul_core::prompt::{OutputStyle, ServerInstructions};
use longhaul_core::rehydrate::{PlanFile, RestoreSourceResult};
use std::sync::{Arc, Mutex};

use super::house::{House, long, say, text, texts};

#[tokio::test]
async fn a4_memory_files_and_the_date_go_before_the_first_message() {
    let house = House::scripted(&[text("Yes.")]).await;
    std::fs::write(house.cwd().join("CLAUDE.md"), "Always use tabs.").unwrap();
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    say(&mut agent, &mut events, "Hi").await;
    let body = house.last_body();
    let first = body["messages"][0]["content"][0]["text"].as_str().unwrap();
    assert!(first.contains("<system-reminder>") && first.contains("Always use tabs."));
    let year = jiff::Zoned::now().date().year().to_string();
    assert!(first.contains(&year), "the date is there");
    let system = body["system"].to_string();
    assert!(
        system.contains(&house.cwd().display().to_string()) && system.contains("claude-sonnet-4-6")
    );
    assert!(
        !system.contains(&format!("{year}-")),
        "the date is not in the cached part"
    );
}

#[tokio::test]
async fn r2_the_state_of_tools_and_fresh_memory_files_survive_a_compaction() {
    let turns = [long(), text("Two."), text("Three.")];
    let house = House::scripted(&turns).await;
    let memory = house.cwd().join("CLAUDE.md");
    std::fs::write(&memory, "Old rule.").unwrap();
    let plan = house.cwd().join("plan.md");
    let outfit = move |_: &longhaul_agent::session_paths::SessionPaths,
                       _: ConversationRole,
                       _: &EventCallback| {
        let plan = plan.clone();
        ConversationTools {
            sources: ToolStateSources {
                todos: Arc::new(|| {
                    vec![TodoItem {
                        content: "Write the parser".into(),
                        status: TodoStatus::InProgress,
                        active_form: "Writing the parser".into(),
                    }]
                }),
                plan: Arc::new(move || {
                    Some(RestoreSourceResult::Found(PlanFile {
                        path: plan.clone(),
                        text: "First the lexer.".into(),
                    }))
                }),
                plan_mode: Arc::new(|| Some("Plan mode is on.".into())),
                skill_listing: Arc::new(|| Some("- review: reads a change".into())),
                ..ToolStateSources::default()
            },
            ..ConversationTools::default()
        }
    };
    let (mut agent, mut events) = house
        .builder()
        .outfit(Arc::new(outfit))
        .open(SessionChoice::New)
        .await
        .unwrap();
    say(&mut agent, &mut events, "Do many things.").await;
    assert!(
        texts(&house.last_body())
            .iter()
            .any(|text| text.contains("- review: reads a change"))
    );
    std::fs::write(&memory, "New rule.").unwrap();
    agent.compact(CompactRequest::default()).await.unwrap();
    let (ended, _) = say(&mut agent, &mut events, "Go on.").await;
    assert_eq!(ended, PromptOutcome::Done);
    let seen = texts(&house.last_body()).join("\n");
    for part in [
        "Write the parser",
        "First the lexer.",
        "Plan mode is on.",
        "New rule.",
        "general-purpose",
    ] {
        assert!(seen.contains(part), "{part}");
    }
    assert!(!seen.contains("Old rule."));
    assert!(
        !seen.contains("- review: reads a change"),
        "the list of skills is not sent again (R3)"
    );
}

#[tokio::test]
async fn a2_a_section_that_is_declared_per_turn_is_computed_per_turn() {
    let house = House::scripted(&[text("One."), text("Two."), text("Three.")]).await;
    let said: Arc<Mutex<String>> = Arc::default();
    let servers = said.clone();
    let outfit = move |_: &longhaul_agent::session_paths::SessionPaths,
                       _: ConversationRole,
                       _: &EventCallback| {
        let servers = servers.clone();
        ConversationTools {
            sources: ToolStateSources {
                servers: Arc::new(move || {
                    vec![ServerInstructions {
                        name: "tickets".into(),
                        instructions: servers.lock().unwrap().clone(),
                    }]
                }),
                ..ToolStateSources::default()
            },
            ..ConversationTools::default()
        }
    };
    let builder = house.builder().outfit(Arc::new(outfit));
    let (mut agent, mut events) = builder.open(SessionChoice::New).await.unwrap();
    for (instructions, prompt) in [("", "A"), ("Close what is done.", "B"), ("", "C")] {
        *said.lock().unwrap() = instructions.to_owned();
        say(&mut agent, &mut events, prompt).await;
    }
    let systems: Vec<String> = (house.bodies().iter())
        .map(|body| body["system"].to_string())
        .collect();
    assert!(!systems[0].contains("Close what is done."));
    assert!(systems[1].contains("Close what is done."));
    assert_eq!(systems[0], systems[2]);
}

#[tokio::test]
async fn a3_a_system_prompt_of_the_users_own_replaces_all() {
    let house = House::scripted(&[text("Ahoy.")]).await;
    let own = Some("You are a pirate.".to_owned());
    let builder = house.builder().system_prompt(own);
    let (mut agent, mut events) = builder.open(SessionChoice::New).await.unwrap();
    say(&mut agent, &mut events, "Hi").await;
    let body = house.last_body();
    let blocks = body["system"].as_array().unwrap();
    assert_eq!(blocks.len(), 1);
    assert_eq!(blocks[0]["text"], "You are a pirate.");
}

#[tokio::test]
async fn a1_language_style_scratch_folder_and_budgets_are_told() {
    let house = House::scripted(&[text("Shwmae.")]).await;
    let style = OutputStyle {
        name: "Terse".into(),
        instructions: "Never more than a line.".into(),
    };
    let builder = house
        .builder()
        .language(Some("Welsh".into()))
        .output_style(Some(style))
        .max_turns(Some(7))
        .max_reply(Some(4_000));
    let (mut agent, mut events) = builder.open(SessionChoice::New).await.unwrap();
    let scratch = agent.place().scratchpad();
    assert!(!scratch.exists(), "nothing was said yet");
    say(&mut agent, &mut events, "Hi").await;
    assert!(scratch.is_dir());
    let system = house.last_body()["system"].to_string();
    for told in [
        "in Welsh",
        "Never more than a line.",
        "Turns: at most 7",
        "at most 4000 tokens",
        &scratch.display().to_string(),
    ] {
        assert!(system.contains(told), "{told}: {system}");
    }
}
