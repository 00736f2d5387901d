//! The cache watch of a session: modes of the host, where diffs go, small models.

use longhaul::Session;
use longhaul::session::SessionBuilder;
use longhaul_core::engine::{CompactRequest, Event, PrefixChangeTime};

use super::house::{House, Talk};
use super::scripted::{Heard, MODEL, Stage, words};

/// Talks until much is cached, then lets the provider lose all of it.
async fn broken(model: &str, before_last: impl FnOnce(&mut House)) -> House {
    let mut house = House::new(model, 200_000).await;
    let mut talk = Talk::new(3);
    for turn in 0..8 {
        house.exchange(&mut talk, turn).await;
    }
    house.server.with_world(|world| world.evict());
    before_last(&mut house);
    house.exchange(&mut talk, 8).await;
    house
}

#[tokio::test]
async fn d1_a_mode_of_the_host_that_flips_is_named() {
    let house = broken("claude-sonnet-4-6", |house| {
        house.session.set_mode("fast", Some("on".to_owned()));
    })
    .await;
    let breaks = house.told().breaks;
    assert!(
        breaks.first().is_some_and(|told| told.contains("fast")),
        "{breaks:?}"
    );
}

#[tokio::test]
async fn d3_small_models_are_not_watched_unless_the_user_wants_it() {
    let watched = broken("claude-sonnet-4-6", |_| {}).await;
    assert_eq!(watched.told().breaks.len(), 1);
    let small = broken("claude-haiku-4-5", |_| {}).await;
    assert_eq!(small.told().breaks, Vec::<String>::new());
}

#[tokio::test]
async fn a1_another_prompt_holds_from_the_next_request_on_and_its_break_is_explained() {
    let mut house = House::new("claude-sonnet-4-6", 200_000).await;
    let mut talk = Talk::new(3);
    for turn in 0..8 {
        house.exchange(&mut talk, turn).await;
    }
    let mut prompt = super::house::prompt("claude-sonnet-4-6");
    prompt.system = longhaul::System::Custom("Never touch the database. Be brief.".to_owned());
    house.session.set_prompt(&prompt).unwrap();
    house.exchange(&mut talk, 8).await;
    let head = house.session.engine().assembly().unwrap().prefix();
    assert!(head.system.get().contains("Never touch the database."));
    let breaks = house.told().breaks;
    assert!(
        breaks.first().is_some_and(|told| told.contains("system")),
        "{breaks:?}"
    );
}

/// A session that its caller closed and resumes with another system prompt: the stage, the session, and the events.
async fn resumed(prefix: impl FnOnce(SessionBuilder) -> SessionBuilder) -> (Stage, Session, Heard) {
    let turns = vec![words(4_000); 8];
    let stage = Stage::new(200_000, &turns).await;
    let mut session = stage.session().open().unwrap();
    session.say("Hello.").await.unwrap();
    session.turn().await.unwrap();
    drop(session);
    let mut prompt = super::house::prompt(MODEL);
    prompt.system = longhaul::System::Custom("Never touch the database.".to_owned());
    let heard = Heard::default();
    let again = stage.session().seed(2).prompt(prompt);
    let again = again.observer(heard.clone());
    let mut session = prefix(again).open().unwrap();
    session.say("Go on.").await.unwrap();
    session.turn().await.unwrap();
    (stage, session, heard)
}

fn last_system(stage: &Stage) -> String {
    let sent = stage.sent.lock().unwrap();
    sent.last().unwrap()["system"].to_string()
}

fn changes(heard: &Heard) -> Vec<PrefixChangeTime> {
    let heard = heard.0.lock().unwrap();
    let changes = heard.iter().filter_map(|event| match event {
        Event::PrefixChanged { from, .. } => Some(*from),
        _ => None,
    });
    changes.collect()
}

#[tokio::test]
async fn a1_m7_a_resumed_session_sends_the_callers_new_prompt_at_once_and_says_so() {
    let (stage, _session, heard) = resumed(|builder| builder).await;
    assert!(last_system(&stage).contains("Never touch the database."));
    assert_eq!(changes(&heard), [PrefixChangeTime::NextRequest]);
}

#[tokio::test]
async fn a1_m7_by_choice_a_resumed_session_sends_the_new_prompt_from_the_next_compaction_on() {
    let (stage, mut session, heard) = resumed(SessionBuilder::keep_prefix_until_compaction).await;
    assert!(!last_system(&stage).contains("Never touch the database."));
    assert_eq!(changes(&heard), [PrefixChangeTime::NextCompaction]);
    session.say("Look again.").await.unwrap();
    session.turn().await.unwrap();
    session.compact(CompactRequest::default()).await.unwrap();
    session.say("Go on.").await.unwrap();
    session.turn().await.unwrap();
    assert!(last_system(&stage).contains("Never touch the database."));
}
