//! Sessions on disk: resuming, rewinding and switching.

use longhaul::session::CompactOutcome;
use longhaul_agent::agent::{
    AgentError, CopyPolicy, ModelOrigin, ResumeOptions, SessionChoice, list,
};
use longhaul_agent::event::{AgentEvent, PromptOutcome};
use longhaul_core::engine::{CompactRequest, Event};
use longhaul_core::inspect::{Inspection, LineEnd};
use longhaul_core::models::ModelTable;
use longhaul_core::window::WindowSettings;
use longhaul_store::layout::{Home, HomeOwner};

use super::house::{House, long, say, text, texts};

fn four() -> [serde_json::Value; 4] {
    [text("One."), text("Two."), text("Three."), text("Four.")]
}

/// Four answers, the first long enough to be worth summarizing.
fn long_and_three() -> [serde_json::Value; 4] {
    [long(), text("Two."), text("Three."), text("Four.")]
}

/// A request without the cache breakpoints, which move.
fn unmarked(body: &str) -> String {
    body.replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "")
        .replace("\"cache_control\":{\"type\":\"ephemeral\"},", "")
}

#[tokio::test]
async fn y2_a_resumed_session_repeats_the_bytes_of_the_last_request() {
    let house = House::scripted(&four()).await;
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    say(&mut agent, &mut events, "First.").await;
    say(&mut agent, &mut events, "Second.").await;
    let id = agent.session_id().to_owned();
    drop(agent);
    // What changed in the meantime is not applied before a compaction: it would break the cache.
    std::fs::write(house.cwd().join("CLAUDE.md"), "A new rule.").unwrap();
    let (mut agent, mut events) = house.open(SessionChoice::Resume(id[..8].to_owned())).await;
    assert_eq!(agent.session_id(), id);
    let (ended, _) = say(&mut agent, &mut events, "Third.").await;
    assert_eq!(ended, PromptOutcome::Done);
    let bodies = house.sent.lock().unwrap().clone();
    let (before, after) = (unmarked(&bodies[1]), unmarked(&bodies[2]));
    let common = before
        .bytes()
        .zip(after.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    assert!(
        common + 4 >= before.len(),
        "only the end differs: {common} of {}",
        before.len()
    );
    let usage = agent.spent().usage;
    assert!(
        usage.cache_read > usage.input,
        "the cache still hits: {usage:?}"
    );
}

#[tokio::test]
async fn g2_the_newest_session_of_the_folder_goes_on() {
    let house = House::scripted(&four()).await;
    let none = house.builder().open(SessionChoice::Continue).await;
    assert!(matches!(none.err(), Some(AgentError::NoSession { .. })));
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    say(&mut agent, &mut events, "First.").await;
    let id = agent.session_id().to_owned();
    let listed = agent.sessions();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].title.as_deref(), Some("First."));
    assert_eq!(
        (listed[0].turns, listed[0].owner),
        (Some(1), HomeOwner::Longhaul)
    );
    drop(agent);
    let (agent, _) = house.open(SessionChoice::Continue).await;
    assert_eq!(agent.session_id(), id);
}

#[tokio::test]
async fn g2_another_programs_session_is_copied_and_that_is_said() {
    let house = House::scripted(&four()).await;
    let home = Home::claude(&house.env()).unwrap();
    let folder = home.project_folder(&house.cwd());
    std::fs::create_dir_all(&folder).unwrap();
    let theirs = folder.join("11111111-2222-3333-4444-555555555555.jsonl");
    let line = serde_json::json!({"type": "user", "uuid": "u1", "parentUuid": null, "sessionId": "x",
        "timestamp": "2026-01-01T00:00:00.000Z", "message": {"role": "user", "content": "Said elsewhere."}});
    let reply = serde_json::json!({"type": "assistant", "uuid": "u2", "parentUuid": "u1", "sessionId": "x",
        "timestamp": "2026-01-01T00:00:01.000Z", "message": {"id": "m1", "role": "assistant", "model": "claude-sonnet-4-6",
        "type": "message", "content": [{"type": "text", "text": "Answered there."}], "stop_reason": "end_turn",
        "usage": {"input_tokens": 10, "output_tokens": 3}}});
    std::fs::write(&theirs, format!("{line}\n{reply}\n")).unwrap();
    let before = std::fs::read(&theirs).unwrap();
    assert_eq!(
        list(&house.env(), &house.cwd())[0].owner,
        HomeOwner::ClaudeCode
    );
    let (mut agent, mut events) = house.open(SessionChoice::Resume("11111111".into())).await;
    assert!(
        agent
            .place()
            .transcript
            .starts_with(house.folder.path().join("home"))
    );
    let (ended, told) = say(&mut agent, &mut events, "Go on here.").await;
    assert_eq!(ended, PromptOutcome::Done);
    let said = told
        .iter()
        .any(|event| matches!(event, AgentEvent::Notice(text) if text.contains("copy")));
    assert!(said);
    assert!(
        texts(&house.last_body())
            .iter()
            .any(|text| text == "Said elsewhere.")
    );
    assert_eq!(std::fs::read(&theirs).unwrap(), before);
}

#[tokio::test]
async fn q3_a_cleared_conversation_is_a_new_session() {
    let house = House::scripted(&four()).await;
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    say(&mut agent, &mut events, "First.").await;
    let (id, path) = (
        agent.session_id().to_owned(),
        agent.place().transcript.clone(),
    );
    agent.clear().await.unwrap();
    assert_ne!(agent.session_id(), id);
    assert!(path.exists());
    say(&mut agent, &mut events, "Anew.").await;
    assert!(
        !texts(&house.last_body())
            .iter()
            .any(|text| text == "First.")
    );
    agent.resume(&id).await.unwrap();
    say(&mut agent, &mut events, "Back.").await;
    assert!(
        texts(&house.last_body())
            .iter()
            .any(|text| text == "First.")
    );
}

#[tokio::test]
async fn q3_another_model_takes_the_conversation_over() {
    let house = House::scripted(&four()).await;
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    say(&mut agent, &mut events, "First.").await;
    agent.switch_model("claude-opus-5-5").await.unwrap();
    let (ended, _) = say(&mut agent, &mut events, "Second.").await;
    assert_eq!(ended, PromptOutcome::Done);
    let body = house.last_body();
    assert_eq!(body["model"], "claude-opus-5-5");
    assert!(texts(&body).iter().any(|text| text == "First."));
}

#[tokio::test]
async fn d1_after_another_model_was_chosen_the_cache_break_is_told_with_both_models() {
    let house = House::scripted(&four()).await;
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    let rule = "Keep this in mind, please. ".repeat(800);
    say(&mut agent, &mut events, &rule).await;
    say(&mut agent, &mut events, "Second.").await;
    let model = agent.model().to_owned();
    agent.switch_model("claude-opus-4-6").await.unwrap();
    let (ended, told) = say(&mut agent, &mut events, "Third.").await;
    assert_eq!(ended, PromptOutcome::Done);
    let breaks: Vec<String> = told
        .iter()
        .filter_map(|event| match event {
            AgentEvent::Engine(Event::CacheBreak(finding)) => Some(finding.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(breaks.len(), 1, "{breaks:?}");
    let named = format!("model {model} → claude-opus-4-6");
    assert!(breaks[0].contains(&named), "{}", breaks[0]);
    let (_, told) = say(&mut agent, &mut events, "Fourth.").await;
    let again = told
        .iter()
        .any(|event| matches!(event, AgentEvent::Engine(Event::CacheBreak(_))));
    assert!(!again, "the other model's cache is warm now");
}

#[tokio::test]
async fn m5_a_rewind_goes_back_before_a_boundary_and_the_file_only_grows() {
    let house = House::scripted(&long_and_three()).await;
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    say(&mut agent, &mut events, "First.").await;
    say(&mut agent, &mut events, &"Second, at length. ".repeat(300)).await;
    agent.compact(CompactRequest::default()).await.unwrap();
    say(&mut agent, &mut events, "Third.").await;
    let spoken = agent.rewind_points().unwrap();
    assert_eq!(spoken.len(), 3);
    assert!(!spoken[1].in_view && spoken[2].in_view);
    let before = std::fs::read(&agent.place().transcript).unwrap();
    let rewound = agent.rewind(&spoken[1].uuid).await.unwrap();
    assert!(rewound.text.starts_with("Second, at length."));
    let path = agent.place().transcript.clone();
    let after = std::fs::read(&path).unwrap();
    assert!(after.starts_with(&before) && after.len() > before.len());
    // A reader of the file sees the same at once.
    let view = longhaul_store::resume(&path).unwrap();
    let said = |text: &str| {
        view.entries
            .iter()
            .any(|entry| String::from_utf8_lossy(entry.bytes()).contains(text))
    };
    assert!(said("First.") && !said("Second, at length.") && !said("Third."));
    let (ended, _) = say(&mut agent, &mut events, "Second, but shorter.").await;
    assert_eq!(ended, PromptOutcome::Done);
    let seen = texts(&house.last_body());
    assert!(
        seen.iter().any(|text| text == "First.")
            && seen.iter().any(|text| text == "Second, but shorter.")
    );
    assert!(
        !seen
            .iter()
            .any(|text| text.contains("at length") || text == "Third.")
    );
    let mut problems = Vec::new();
    let mut table = longhaul_core::transcript::TranscriptTable::default();
    for (line, number) in longhaul_store::load(&path).unwrap().lines().iter().zip(1..) {
        if let Some(entry) = line.entry() {
            table.push(number, line.offset, entry.view());
        }
    }
    longhaul_core::transcript::ResolvedConversation::resolve(&table, &mut problems);
    assert!(problems.is_empty(), "{problems:?}");
}

#[tokio::test]
async fn m5_a_rewind_to_the_first_message_begins_anew_and_one_to_nowhere_is_refused() {
    let house = House::scripted(&four()).await;
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    say(&mut agent, &mut events, "First.").await;
    assert!(matches!(
        agent.rewind("nowhere").await,
        Err(AgentError::Rewind(_))
    ));
    let first = agent.rewind_points().unwrap()[0].uuid.clone();
    agent.rewind(&first).await.unwrap();
    let (ended, _) = say(&mut agent, &mut events, "Otherwise.").await;
    assert_eq!(ended, PromptOutcome::Done);
    assert!(
        !texts(&house.last_body())
            .iter()
            .any(|text| text == "First.")
    );
    drop(agent);
    let (mut agent, mut events) = house.open(SessionChoice::Continue).await;
    say(&mut agent, &mut events, "Go on.").await;
    let seen = texts(&house.last_body());
    assert!(
        seen.iter().any(|text| text == "Otherwise.") && !seen.iter().any(|text| text == "First.")
    );
}

#[tokio::test]
async fn x6_a_compaction_is_taken_back_and_the_conversation_goes_on() {
    let house = House::scripted(&long_and_three()).await;
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    say(&mut agent, &mut events, &"A long story. ".repeat(300)).await;
    agent.compact(CompactRequest::default()).await.unwrap();
    say(&mut agent, &mut events, "After it.").await;
    agent.undo_compaction().await.unwrap();
    let (ended, _) = say(&mut agent, &mut events, "And now.").await;
    assert_eq!(ended, PromptOutcome::Done);
    let seen = texts(&house.last_body());
    assert!(
        seen.iter()
            .any(|text| text.starts_with("A long story. A long"))
    );
    assert!(seen.iter().any(|text| text == "After it."));
    assert!(matches!(
        agent.undo_compaction().await,
        Err(AgentError::Undo(_))
    ));
}

/// What is said about the model of a session that was held with [`super::house::MODEL`], and which one answers.
async fn model_of_resumed(origin: ModelOrigin) -> (String, Option<String>) {
    let mut house = House::scripted(&four()).await;
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    say(&mut agent, &mut events, "First.").await;
    drop(agent);
    house.model = "claude-opus-4-6".to_owned();
    let builder = house.builder().model_origin(origin);
    let (mut agent, mut events) = builder.open(SessionChoice::Continue).await.unwrap();
    let (ended, told) = say(&mut agent, &mut events, "Second.").await;
    assert_eq!(ended, PromptOutcome::Done);
    let notice = told.into_iter().find_map(|event| match event {
        AgentEvent::Notice(text) if text.contains("was held with") => Some(text),
        _ => None,
    });
    let asked = house.last_body()["model"].as_str().unwrap().to_owned();
    assert_eq!(agent.model(), asked);
    (asked, notice)
}

#[tokio::test]
async fn y2_a_resumed_session_goes_on_with_its_own_model() {
    let (model, notice) = model_of_resumed(ModelOrigin::Setting).await;
    assert_eq!(model, super::house::MODEL);
    assert!(
        notice
            .unwrap()
            .contains("The settings name claude-opus-4-6")
    );
    let (model, notice) = model_of_resumed(ModelOrigin::Default).await;
    assert_eq!((&*model, notice), (super::house::MODEL, None));
    let (model, notice) = model_of_resumed(ModelOrigin::Flag).await;
    assert_eq!(model, "claude-opus-4-6");
    assert!(notice.unwrap().contains("written to the cache anew"));
    let (model, notice) = model_of_resumed(ModelOrigin::Only).await;
    assert_eq!((&*model, notice), ("claude-opus-4-6", None));
}

#[tokio::test]
async fn y6_a_copy_knows_what_its_original_has_cost_and_counts_every_token() {
    let house = House::scripted(&long_and_three()).await;
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    say(&mut agent, &mut events, "First.").await;
    say(&mut agent, &mut events, "Second.").await;
    agent.compact(CompactRequest::default()).await.unwrap();
    let before = agent.handle().spent().1.unwrap();
    let id = agent.session_id().to_owned();
    agent.close(longhaul::hooks::EndReason::Other).await;
    let resuming = ResumeOptions {
        copy: CopyPolicy::Always,
        ..ResumeOptions::default()
    };
    let builder = house.builder().resuming(resuming);
    let (agent, _events) = builder.open(SessionChoice::Resume(id)).await.unwrap();
    // The file is read beside everything else.
    while agent.handle().spent().1.unwrap().usage.output == 0 {
        tokio::task::yield_now().await;
    }
    let after = agent.handle().spent().1.unwrap();
    assert_eq!(after.usage, before.usage);
    let (before, after) = (before.cost.unwrap(), after.cost.unwrap());
    assert!((before.to_f64() - after.to_f64()).abs() < 1e-6);
}

#[tokio::test]
async fn t1_one_view_has_one_count_wherever_it_is_told() {
    let house = House::scripted(&long_and_three()).await;
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    say(&mut agent, &mut events, "First.").await;
    say(&mut agent, &mut events, "Second.").await;
    let done = agent.compact(CompactRequest::default()).await.unwrap();
    let CompactOutcome::Done(done) = done else {
        panic!("it was not a preview");
    };
    let used = agent.handle().snapshot().unwrap().status.used;
    assert_eq!(done.window, used, "the line about it and the status line");
    let transcript = std::fs::read_to_string(&agent.place().transcript).unwrap();
    let mut inspection = Inspection::new();
    let mut recorded = None;
    for (line, number) in transcript.lines().zip(1..) {
        inspection.line(number, 0, line.as_bytes(), LineEnd::Lf);
        let entry: serde_json::Value = serde_json::from_str(line).unwrap();
        recorded = entry["compactMetadata"]["made"]["windowAfter"]
            .as_u64()
            .or(recorded);
    }
    assert_eq!(recorded, Some(used), "its report");
    let models = ModelTable::builtin();
    let report = inspection.report(&models, &WindowSettings::default(), None);
    assert_eq!(report.unwrap().context_tokens, used, "inspect");
}
