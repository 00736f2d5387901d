//! Background work: turns continue, cancels and drops do no harm, outcomes are taken whenever the session is driven.

use std::time::Duration;

use longhaul::session::TurnError;
use longhaul_core::engine::{Event, PreparationEvent, ToolOutput};
use longhaul_core::notes::DEFAULT_TEMPLATE;
use longhaul_store::NotesFolder;
use serde_json::json;

use super::desk::{Desk, Furniture, Kind, STATE, WORKLOG, calls, let_go, says};

const PATIENCE: Duration = Duration::from_secs(600);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s2_notes_are_taken_beside_turns_and_never_twice_at_once() {
    let mut desk = Desk::new();
    let held = desk.hold(Kind::Notes);
    desk.exchange("Build a parser.", 12_000).await;
    let reach = desk.newest_reply();
    desk.is_asked(Kind::Notes).await;
    for tokens in [18_000, 25_000, 32_000] {
        desk.exchange("Go on.", tokens).await;
    }
    assert_eq!(desk.asked(Kind::Conversation).len(), 4, "turns go on");
    assert_eq!(desk.asked(Kind::Notes).len(), 1, "and no other run begins");
    assert_eq!(desk.session().background_count(), 1);
    assert!(desk.taken().is_empty());

    desk.answer(
        Kind::Notes,
        calls(&[desk.notes_edit(STATE, "The lexer.")], 12_100),
    );
    let_go(&held, 1);
    desk.session().drive_background().await;
    let taken = desk.taken();
    assert_eq!((taken.len(), taken[0].changed), (1, 1), "{taken:?}");
    assert_eq!(taken[0].failed, None);
    assert!(desk.notes().contains("The lexer."));
    let progress = desk.progress().unwrap();
    assert_eq!(progress.last_summarized_uuid, reach);
    assert_eq!(desk.session().background_count(), 0);

    desk.answer(
        Kind::Notes,
        calls(&[desk.notes_edit(WORKLOG, "- The lexer is done.")], 39_100),
    );
    let_go(&held, 1);
    desk.exchange("Go on.", 39_000).await;
    desk.session().drive_background().await;
    assert_eq!(desk.taken().len(), 2);
    assert_eq!(
        desk.progress().unwrap().last_summarized_uuid,
        desk.newest_reply()
    );
}

#[tokio::test]
async fn s2_what_ended_while_nobody_looked_is_taken_with_the_next_call() {
    let mut desk = Desk::new();
    desk.exchange("Build a parser.", 12_000).await;
    desk.has_ended(Kind::Notes).await;
    while desk.taken().is_empty() {
        tokio::task::yield_now().await;
        desk.session().say("And?").await.unwrap();
    }
    assert_eq!(desk.taken().len(), 1);
}

#[tokio::test]
async fn s2_a_run_ends_while_a_turn_waits_for_its_reply() {
    let mut desk = Desk::new();
    desk.exchange("Build a parser.", 12_000).await;
    let held = desk.hold(Kind::Conversation);
    desk.session().say("Go on.").await.unwrap();
    let told = desk.told.clone();
    let taken = move || told_notes(&told);
    let session = desk.session.as_mut().unwrap();
    tokio::select! {
        biased;
        _ = session.turn() => panic!("it is held"),
        () = async { while taken() == 0 { tokio::task::yield_now().await } } => {}
    }
    let_go(&held, 2);
    // The dropped turn counts as cancelled; the next one runs normally.
    let reply = desk.session().turn().await.unwrap();
    assert_eq!(reply.text(), "Yes.");
}

fn told_notes(told: &super::desk::Told) -> usize {
    told.count(|event| matches!(event, Event::NotesTaken(_)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s2_cancelling_a_turn_leaves_the_notes() {
    let mut desk = Desk::new();
    let notes = desk.hold(Kind::Notes);
    desk.exchange("Build a parser.", 12_000).await;
    desk.is_asked(Kind::Notes).await;
    desk.hold(Kind::Conversation);
    desk.session().say("Go on.").await.unwrap();
    let cancel = desk.session().canceller();
    let (turn, ()) = tokio::join!(desk.session.as_mut().unwrap().turn(), async {
        desk.model.is_asked(Kind::Conversation, 2).await;
        cancel.cancel();
    });
    assert!(matches!(turn, Err(TurnError::Failed(_))), "{turn:?}");
    assert_eq!(desk.session().background_count(), 1);

    desk.answer(
        Kind::Notes,
        calls(&[desk.notes_edit(STATE, "The lexer.")], 12_100),
    );
    let_go(&notes, 1);
    desk.session().drive_background().await;
    assert_eq!(desk.taken()[0].failed, None);
    assert!(desk.notes().contains("The lexer."));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s3_dropping_a_session_ends_the_run_and_leaves_whole_notes() {
    let mut desk = Desk::new();
    desk.hold(Kind::Notes);
    desk.exchange("Build a parser.", 12_000).await;
    desk.is_asked(Kind::Notes).await;
    desk.session = None;
    desk.has_ended(Kind::Notes).await;
    assert_eq!(desk.notes(), DEFAULT_TEMPLATE);
    assert_eq!(desk.progress(), None);
    let folder = NotesFolder::of_transcript(&desk.folder.path().join("session.jsonl"));
    // The holder of the lock is gone, perhaps a moment later.
    while folder.as_ref().unwrap().lock().is_err() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn s3_closing_a_session_waits_for_notes_but_not_for_ever() {
    let mut desk = Desk::new();
    let held = desk.hold(Kind::Notes);
    desk.exchange("Build a parser.", 12_000).await;
    desk.is_asked(Kind::Notes).await;
    desk.answer(
        Kind::Notes,
        calls(&[desk.notes_edit(STATE, "The lexer.")], 12_100),
    );
    let session = desk.session.take().unwrap();
    tokio::join!(session.close(PATIENCE), async { let_go(&held, 1) });
    assert!(desk.notes().contains("The lexer."));
    assert!(desk.progress().is_some());
    let transcript = std::fs::read_to_string(desk.folder.path().join("session.jsonl")).unwrap();
    assert!(
        transcript.contains("notes-taken"),
        "what it cost is written"
    );

    let mut desk = Desk::new();
    desk.hold(Kind::Notes);
    desk.exchange("Build a parser.", 12_000).await;
    desk.is_asked(Kind::Notes).await;
    let session = desk.session.take().unwrap();
    session.close(Duration::ZERO).await;
    assert_eq!(desk.notes(), DEFAULT_TEMPLATE);
}

#[tokio::test]
async fn s3_a_panic_in_a_run_is_a_run_that_failed() {
    let mut desk = Desk::new();
    desk.answer(Kind::Notes, json!("panic"));
    let taken = desk.noted().await;
    assert!(taken.failed.unwrap().contains("panic"));
    desk.exchange("Go on.", 20_000).await;
    desk.session().drive_background().await;
    assert_eq!(desk.taken().len(), 2, "the next one is tried");
}

#[tokio::test]
async fn s3_attending_may_be_dropped_at_any_time() {
    let mut desk = Desk::new();
    let held = desk.hold(Kind::Notes);
    desk.exchange("Build a parser.", 12_000).await;
    for _ in 0..50 {
        tokio::select! {
            biased;
            () = desk.session.as_mut().unwrap().drive_background() => panic!("it is held"),
            () = tokio::task::yield_now() => {}
        }
    }
    let_go(&held, 1);
    desk.session().drive_background().await;
    assert_eq!(desk.taken().len(), 1);
    desk.session().drive_background().await;
}

#[tokio::test]
async fn s6_a_compaction_by_hand_waits_for_notes_under_way_and_can_be_cancelled() {
    let mut desk = Desk::new();
    let held = desk.hold(Kind::Notes);
    desk.exchange("Build a parser.", 12_000).await;
    desk.is_asked(Kind::Notes).await;
    let cancel = desk.session().canceller();
    let session = desk.session.as_mut().unwrap();
    let (compacted, ()) = tokio::join!(session.compact(Default::default()), async {
        tokio::task::yield_now().await;
        cancel.cancel();
    });
    let error = compacted.unwrap_err();
    assert_eq!(error.kind, longhaul_core::engine::CompactFailure::Cancelled);
    assert_eq!(desk.session().background_count(), 1, "the notes go on");
    let_go(&held, 1);
    desk.session().drive_background().await;
    assert_eq!(desk.taken().len(), 1);
}

/// A session whose window fills up, with notes off and summaries prepared ahead.
fn ahead() -> Desk {
    let mut furniture = Furniture::default();
    furniture.config.background = true;
    furniture.config.switches.notes = false;
    furniture.config.window_cap = Some(30_000);
    Desk::with(furniture)
}

impl Desk {
    /// A turn with a long result, so that there is something to summarize.
    async fn works(&mut self, tokens: u64) {
        self.answer(
            Kind::Conversation,
            calls(
                &[(
                    "Edit",
                    json!({"file_path": "/p", "old_string": "a", "new_string": "b"}),
                )],
                tokens,
            ),
        );
        self.session().say("Go on.").await.unwrap();
        let reply = self.session().turn().await.unwrap();
        let id = reply.tool_calls().next().unwrap().id.to_string();
        let result = ToolOutput::text(id, "fn part() -> u32 { 42 }\n".repeat(300));
        self.session().results(vec![result]).await.unwrap();
        self.answer(Kind::Conversation, says("Done.", tokens + 2_500));
        self.session().turn().await.unwrap();
    }

    fn ahead(&self) -> Vec<PreparationEvent> {
        let events = self.events().into_iter();
        let ahead = events.filter_map(|event| match event {
            Event::Ahead(ahead) => Some(ahead),
            _ => None,
        });
        ahead.collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x5_a_summary_is_written_while_turns_go_on_and_swapped_in_between_them() {
    let mut desk = ahead();
    let held = desk.hold(Kind::Summaries);
    let mut tokens = 3_000;
    while desk.ahead().is_empty() {
        desk.works(tokens).await;
        tokens += 3_000;
        assert!(tokens < 30_000, "nothing was prepared");
    }
    let turns = desk.asked(Kind::Conversation).len();
    tokio::select! {
        biased;
        () = desk.session.as_mut().unwrap().drive_background() => panic!("it is held"),
        () = desk.model.is_asked(Kind::Summaries, 1) => {}
    }
    desk.exchange("And what else?", tokens).await;
    assert_eq!(desk.asked(Kind::Conversation).len(), turns + 1);
    assert_eq!(desk.session().compactions(), 0, "turns go on meanwhile");

    let summary = "<summary>The parser is being written; the lexer is done.</summary>";
    desk.answer(Kind::Summaries, says(summary, tokens));
    let_go(&held, 1);
    desk.session().drive_background().await;
    assert_eq!(
        desk.ahead(),
        [PreparationEvent::Begun, PreparationEvent::Ready]
    );
    desk.exchange("Go on.", 26_000).await;
    desk.exchange("Finish it.", 5_000).await;
    assert_eq!(desk.session().compactions(), 1);
    assert_eq!(desk.asked(Kind::Summaries).len(), 1, "it was the one");
    let last = desk.asked(Kind::Conversation).pop().unwrap();
    assert!(last.contains("the lexer is done") && last.contains("And what else?"));
}

#[tokio::test]
async fn x5_a_summary_is_asked_for_though_nobody_drives_the_session() {
    let mut desk = ahead();
    let mut tokens = 3_000;
    while desk.ahead().is_empty() {
        desk.works(tokens).await;
        tokens += 3_000;
    }
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
    assert_eq!(desk.asked(Kind::Summaries).len(), 1);
}

#[tokio::test]
async fn x5_cancelling_a_turn_leaves_the_summary_that_is_prepared() {
    let mut desk = ahead();
    let held = desk.hold(Kind::Summaries);
    let mut tokens = 3_000;
    while desk.ahead().is_empty() {
        desk.works(tokens).await;
        tokens += 3_000;
    }
    desk.hold(Kind::Conversation);
    desk.session().say("And?").await.unwrap();
    let turns = desk.asked(Kind::Conversation).len();
    let cancel = desk.session().canceller();
    let (turn, ()) = tokio::join!(desk.session.as_mut().unwrap().turn(), async {
        desk.model.is_asked(Kind::Conversation, turns + 1).await;
        desk.model.is_asked(Kind::Summaries, 1).await;
        cancel.cancel();
    });
    assert!(turn.is_err());
    let summary = "<summary>The lexer is done.</summary>";
    desk.answer(Kind::Summaries, says(summary, tokens));
    let_go(&held, 1);
    desk.session().drive_background().await;
    assert_eq!(
        desk.ahead(),
        [PreparationEvent::Begun, PreparationEvent::Ready]
    );
}
