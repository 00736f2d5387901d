//! Results that an agent's tools bring a second time (V8): the model is sent a pointer, and the transcript keeps the result.

use longhaul_agent::agent::SessionChoice;
use longhaul_agent::event::AgentEvent;
use longhaul_agent::tool::{ToolAccess, ToolCallOutput, Toolbox};
use longhaul_core::engine::Event;
use serde_json::{Value, json};

use super::house::{House, Toy, calls, say, text, texts};

#[tokio::test]
async fn v8_q1_an_agent_sends_an_identical_result_once_and_failed_ones_as_they_are() {
    let again = || calls(&[("Bash", json!({"what": "ls"}))]);
    let failing = || calls(&[("Check", json!({"what": "all"}))]);
    let turns = [
        again(),
        again(),
        failing(),
        failing(),
        text("Done."),
        text("Yes."),
    ];
    let mut house = House::scripted(&turns).await;
    house.config.switches.notes = false;
    let output = "one line of the output of a command\n".repeat(80);
    let failed = "error: a line of the output of a check\n".repeat(80);
    let (shown, told) = (output.clone(), failed.clone());
    house.toolbox = Toolbox::default()
        .with(Toy::new("Bash", ToolAccess::Nothing, move |_, _| {
            let shown = shown.clone();
            Box::pin(async move { ToolCallOutput::text(shown, "ok") })
        }))
        .with(Toy::new("Check", ToolAccess::Nothing, move |_, _| {
            let told = told.clone();
            Box::pin(async move { ToolCallOutput::error(told) })
        }));
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    let (_, told) = say(&mut agent, &mut events, "Run them twice.").await;
    let body = house.last_body();
    let sent = texts(&body);
    let count = |text: &str| sent.iter().filter(|sent| *sent == text).count();
    assert_eq!((count(&output), count(&failed)), (1, 2), "{sent:?}");
    let reduced = told.iter().filter_map(|event| match event {
        AgentEvent::Engine(Event::ResultsReduced { calls, .. }) => Some(calls.len()),
        _ => None,
    });
    assert_eq!(reduced.sum::<usize>(), 1);
    let transcript = std::fs::read_to_string(&agent.place().transcript).unwrap();
    let kept = transcript.lines().filter(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["message"]["content"][0]["content"] == output
    });
    assert_eq!(kept.count(), 2);
    // The next request repeats the bytes.
    say(&mut agent, &mut events, "Sure?").await;
    assert_eq!(texts(&house.last_body())[..sent.len()], sent[..]);
}
