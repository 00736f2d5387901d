//! A full window.

use longhaul::session::CompactOutcome;
use longhaul_agent::agent::Start;
use longhaul_agent::event::{AgentEvent, Ended};
use longhaul_core::engine::{CompactRequest, Event};

use super::house::{House, long, say, text, texts};

#[tokio::test]
async fn o5_input_is_refused_where_nothing_may_act_and_compacting_by_hand_helps() {
    let turns: Vec<_> = (0..9).map(|_| text("Noted.")).collect();
    let mut house = House::scripted(&turns).await;
    house.config.window_cap = Some(24_000);
    house.config.switches.automatic = false;
    let (mut agent, mut events) = house.open(Start::New).await;
    let mut refused = None;
    for _ in 0..8 {
        let (ended, _) = say(
            &mut agent,
            &mut events,
            &"So much to say about this. ".repeat(700),
        )
        .await;
        if let Ended::Refused(sentence) = ended {
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
    assert!(matches!(ended, Ended::Refused(_)));
    let now = std::fs::metadata(&agent.place().transcript).unwrap().len();
    assert_eq!(now, size, "what is refused is not taken down");
    let done = agent.compact(CompactRequest::default()).await.unwrap();
    assert!(matches!(done, CompactOutcome::Done(_)));
    let (ended, _) = say(&mut agent, &mut events, "Please?").await;
    assert_eq!(ended, Ended::Done);
}

#[tokio::test]
async fn q1_the_conversation_compacts_itself_and_goes_on() {
    let turns: Vec<_> = (0..30).map(|_| text("Noted.")).collect();
    let mut house = House::scripted(&turns).await;
    house.config.window_cap = Some(24_000);
    let (mut agent, mut events) = house.open(Start::New).await;
    let mut compacted = 0;
    for number in 0..8 {
        let said = format!(
            "Part {number}. {}",
            "So much to say about this. ".repeat(500)
        );
        let (ended, told) = say(&mut agent, &mut events, &said).await;
        assert_eq!(ended, Ended::Done);
        compacted += told
            .iter()
            .filter(|event| matches!(event, AgentEvent::Engine(Event::Compacted(_))))
            .count();
    }
    assert!(compacted >= 1);
    assert!(agent.glance().percent_left > 0);
}

#[tokio::test]
async fn y6_a_summary_is_shown_changed_and_taken() {
    let house = House::scripted(&[long(), text("Two.")]).await;
    let (mut agent, mut events) = house.open(Start::New).await;
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
