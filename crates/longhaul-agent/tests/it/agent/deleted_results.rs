//! Results that the provider was asked to delete from its cache while an agent works (U4): what the reply measured is
//! reported, and dense results are deleted once.

use longhaul::session::SessionBuilder;
use longhaul_agent::agent::SessionChoice;
use longhaul_agent::event::AgentEvent;
use longhaul_agent::tool::{ToolAccess, ToolCallOutput, Toolbox};
use longhaul_core::config::ResultReduction;
use longhaul_core::engine::Event;
use serde_json::{Value, json};

use super::house::{House, Toy, calls, say, text};

/// A table with a token for every one or two characters.
fn dense() -> String {
    let rows = (0..400).map(|n| format!("{},{},{},{}", n * 7919 % 9973, n * 31 % 89, n * 17, n));
    rows.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn u4_d4_an_agents_dense_results_are_deleted_once_and_the_reply_says_how_much_that_freed() {
    let mut turns: Vec<Value> = (0..22)
        .map(|_| calls(&[("Read", json!({"what": "a.csv"}))]))
        .collect();
    turns.push(text("Done."));
    let mut house = House::scripted(&turns).await;
    house.config.switches.notes = false;
    house.config.reduce = ResultReduction::Off;
    // The trigger counts where thresholds alone decide.
    house.config.economy = longhaul::EconomyPolicy::Off;
    house.toolbox = Toolbox::default().with(Toy::new("Read", ToolAccess::Nothing, |_, _| {
        Box::pin(async { ToolCallOutput::text(dense(), "ok") })
    }));
    let builder = house.builder().session(SessionBuilder::with_cache_edits);
    let (mut agent, mut events) = builder.open(SessionChoice::New).await.unwrap();
    let (_, told) = say(&mut agent, &mut events, "Read it again and again.").await;
    let mut freed = Vec::new();
    for event in &told {
        match event {
            AgentEvent::Engine(Event::MicroCompacted { saved, .. }) => freed.push(*saved),
            AgentEvent::Engine(Event::CacheBreak(finding)) => panic!("{finding}"),
            _ => {}
        }
    }
    let transcript = std::fs::read_to_string(&agent.place().transcript).unwrap();
    let measured = transcript.lines().rev().find_map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["message"]["usage"]["cache_deleted_input_tokens"].as_u64()
    });
    assert_eq!(freed.len(), 2, "{freed:?}");
    assert_eq!(Some(freed.iter().sum::<u64>()), measured, "{freed:?}");
    let asked: Vec<usize> = (house.bodies().iter())
        .map(|body| body["cache_edits"].as_array().map_or(0, Vec::len))
        .collect();
    assert!(asked.is_sorted(), "{asked:?}");
    assert_eq!(asked.last(), Some(&14), "{asked:?}");
}
