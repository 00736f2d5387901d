//! A full window.

use longhaul::session::CompactOutcome;
use longhaul::session::SessionBuilder;
use longhaul_agent::agent::SessionChoice;
use longhaul_agent::event::{AgentEvent, PromptOutcome};
use longhaul_core::engine::{CompactRequest, Event};

use longhaul_agent::tool::{ToolAccess, Toolbox};
use serde_json::json;

use super::house::{House, Toy, calls, long, say, text, texts};

/// What only an unattended model is told.
const AUTONOMOUS: &str = "You are working on your own";

#[tokio::test]
async fn o5_input_is_refused_where_nothing_may_act_and_compacting_by_hand_helps() {
    let turns: Vec<_> = (0..9).map(|_| text("Noted.")).collect();
    let mut house = House::scripted(&turns).await;
    house.config.window_cap = Some(24_000);
    house.config.switches.automatic = false;
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    let mut refused = None;
    for _ in 0..8 {
        let (ended, _) = say(
            &mut agent,
            &mut events,
            &"So much to say about this. ".repeat(700),
        )
        .await;
        if let PromptOutcome::Refused(sentence) = ended {
            refused = Some(sentence);
            break;
        }
    }
    let sentence = refused.unwrap();
    assert!(
        sentence.contains("/compact") && sentence.contains("compaction.automatic"),
        "{sentence}"
    );
    let size = std::fs::metadata(&agent.place().transcript).unwrap().len();
    let (ended, _) = say(&mut agent, &mut events, "Please?").await;
    assert!(matches!(ended, PromptOutcome::Refused(_)));
    let now = std::fs::metadata(&agent.place().transcript).unwrap().len();
    assert_eq!(now, size, "what is refused is not taken down");
    let done = agent.compact(CompactRequest::default()).await.unwrap();
    assert!(matches!(done, CompactOutcome::Done(_)));
    let (ended, _) = say(&mut agent, &mut events, "Please?").await;
    assert_eq!(ended, PromptOutcome::Done);
}

#[tokio::test]
async fn q1_the_conversation_compacts_itself_and_goes_on() {
    let turns: Vec<_> = (0..30).map(|_| text("Noted.")).collect();
    let mut house = House::scripted(&turns).await;
    house.config.window_cap = Some(24_000);
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    let mut compacted = 0;
    for number in 0..8 {
        let said = format!(
            "Part {number}. {}",
            "So much to say about this. ".repeat(500)
        );
        let (ended, told) = say(&mut agent, &mut events, &said).await;
        assert_eq!(ended, PromptOutcome::Done);
        compacted += told
            .iter()
            .filter(|event| matches!(event, AgentEvent::Engine(Event::Compacted(_))))
            .count();
    }
    assert!(compacted >= 1);
    assert!(agent.agent_status().percent_left > 0);
}

#[tokio::test]
async fn y6_a_summary_is_shown_changed_and_taken() {
    let house = House::scripted(&[long(), text("Two.")]).await;
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    say(&mut agent, &mut events, "Tell me a long story.").await;
    let request = CompactRequest {
        preview: true,
        ..CompactRequest::default()
    };
    let Ok(CompactOutcome::Preview(preview)) = agent.compact(request).await else {
        panic!("no preview");
    };
    let approved = format!("{}\nThe user likes tea.", preview.summary);
    let request = CompactRequest {
        approved: Some(approved),
        ..CompactRequest::default()
    };
    agent.compact(request).await.unwrap();
    say(&mut agent, &mut events, "Go on.").await;
    let seen = texts(&house.last_body());
    assert!(
        seen.iter().any(|text| text.contains("The user likes tea.")),
        "{seen:#?}"
    );
}

#[tokio::test]
async fn f9_where_nobody_sits_in_front_of_it_the_model_is_told_to_keep_its_loop_going() {
    let mut told = Vec::new();
    for unattended in [false, true] {
        let turns: Vec<_> = (0..30).map(|_| text("Noted.")).collect();
        let mut house = House::scripted(&turns).await;
        house.config.window_cap = Some(24_000);
        house.config.switches.notes = false;
        let builder = if unattended {
            house.builder().unattended()
        } else {
            house.builder()
        };
        let (mut agent, mut events) = builder.open(SessionChoice::New).await.unwrap();
        while agent.session().compactions() == 0 {
            let said = "So much to say about this. ".repeat(500);
            say(&mut agent, &mut events, &said).await;
        }
        told.push(texts(&house.last_body()).join("\n"));
    }
    let strong = AUTONOMOUS;
    assert!(!told[0].contains(strong), "{}", told[0]);
    assert!(told[1].contains(strong), "{}", told[1]);
}

#[tokio::test]
async fn u1_results_of_a_servers_tools_are_cleared_if_that_is_set() {
    for (more, cleared) in [(Vec::new(), 0), (vec!["mcp__docs__*".to_owned()], 2)] {
        let mut turns: Vec<_> = (0..7)
            .map(|_| calls(&[("mcp__docs__search", json!({"what": "x"}))]))
            .collect();
        turns.push(text("Done."));
        let mut house = House::scripted(&turns).await;
        house.config.more_clearable_tools = more;
        house.config.micro.trigger = 7;
        // The trigger counts where thresholds alone decide.
        house.config.economy = longhaul::EconomyPolicy::Off;
        house.toolbox =
            Toolbox::default().with(Toy::echo("mcp__docs__search", ToolAccess::Nothing));
        let builder = house.builder().session(SessionBuilder::with_cache_edits);
        let (mut agent, mut events) = builder.open(SessionChoice::New).await.unwrap();
        let (_, told) = say(&mut agent, &mut events, "Search for it.").await;
        let freed: Vec<usize> = (told.iter())
            .filter_map(|event| match event {
                AgentEvent::Engine(Event::MicroCompacted { results, .. }) => Some(*results),
                _ => None,
            })
            .collect();
        assert_eq!(freed.iter().sum::<usize>(), cleared);
    }
}
