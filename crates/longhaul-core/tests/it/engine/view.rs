//! Tests the view that a compaction leaves: what counts as the user's words, what is said of work that was called off,
//! and where lines begin.

use bytes::Bytes;
use longhaul_core::engine::{
    CompactFailure, CompactRequest, Effect, EffectOutcome, EngineInput, EngineResume,
    EntryAudience, Event, GatheredContext, LiveEntry, NewEntry, NotesConfig, Pivot, Summarizer,
};
use longhaul_core::message::Entry;
use longhaul_core::rehydrate::{RestoreInput, RestoreSourceResult, TodoListItem};
use longhaul_core::summary::PivotDirection;
use longhaul_core::window::Switches;
use serde_json::{Value, json};

use super::desk::{Answer, Desk, GOOD, Setting, Sum, head, long};

fn pivot(uuid: String, direction: PivotDirection) -> CompactRequest {
    CompactRequest {
        pivot: Some(Pivot { uuid, direction }),
        ..CompactRequest::default()
    }
}

fn newest(desk: &Desk) -> String {
    desk.engine.live().newest().unwrap().to_owned()
}

/// Returns the text of the newest summary message.
fn summary(desk: &Desk) -> String {
    let lines = desk.transcript.iter().rev();
    let line = lines
        .map(|line| serde_json::from_slice::<Value>(line).unwrap())
        .find(|line| line["isCompactSummary"] == true)
        .unwrap();
    line["message"]["content"].as_str().unwrap().to_owned()
}

fn told(desk: &Desk) -> String {
    let told = desk.events.iter().rev().find_map(|event| match event {
        Event::CompactFailed { message, .. } => Some(message.clone()),
        _ => None,
    });
    told.unwrap()
}

#[test]
fn x1_a_result_that_repeats_the_users_words_does_not_stand_for_them() {
    let rule = "Never rename the lexer.";
    for content in [json!(rule), json!([{"type": "text", "text": rule}])] {
        let mut desk = Desk::new();
        desk.exchange(rule, Answer::Says(long(), 5_000));
        desk.say("Look at it.");
        let uuid = newest(&desk);
        desk.answers.push_back(Answer::Calls("Read", "t1", 5_200));
        desk.turn();
        desk.input(EngineInput::Add(vec![NewEntry::ToolResults(vec![
            longhaul_core::engine::ToolOutput {
                tool_use_id: "t1".into(),
                content,
                is_error: false,
            },
        ])]));
        desk.input(EngineInput::Compact(pivot(uuid, PivotDirection::UpTo)));
        assert_eq!(desk.compactions(), 1, "{:?}", desk.failures());
        assert!(summary(&desk).contains(rule), "{}", summary(&desk));
    }
}

#[test]
fn p1_nothing_is_asked_where_nothing_lies_on_that_side_of_the_pivot() {
    let mut desk = Desk::new();
    desk.say("Build a parser.");
    let uuid = newest(&desk);
    desk.answers.push_back(Answer::Says(long(), 5_000));
    desk.turn();
    desk.input(EngineInput::Compact(pivot(uuid, PivotDirection::UpTo)));
    assert_eq!(desk.failures(), [CompactFailure::NoPivot]);
    assert!(desk.summaries_sent.is_empty());
}

#[test]
fn p1_from_a_pivot_on_the_model_is_told_where_the_summary_begins() {
    let mut desk = Desk::new();
    desk.exchange("Build a parser.", Answer::Says("I will.", 1_000));
    desk.say("What do you know about it?");
    let uuid = newest(&desk);
    desk.answers.push_back(Answer::Says(long(), 6_000));
    desk.turn();
    desk.input(EngineInput::Compact(pivot(uuid, PivotDirection::From)));
    assert_eq!(desk.compactions(), 1, "{:?}", desk.failures());
    let asked = Desk::body(&desk.summaries_sent[0]);
    let asked = asked["messages"].as_array().unwrap().last().unwrap();
    let asked = asked["content"].to_string();
    let quoted = asked.split("<first-message>").nth(1).unwrap();
    assert!(quoted.contains("What do you know about it?"), "{asked}");
}

#[test]
fn f1_attachments_alone_are_not_called_a_conversation_that_was_just_compacted() {
    let mut desk = Desk::new();
    let file =
        json!({"type": "todo", "content": [{"content": "x".repeat(9_000), "status": "pending"}]});
    desk.input(EngineInput::Add(vec![NewEntry::Attachment(file)]));
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert!(
        !desk.failures().contains(&CompactFailure::NothingNew),
        "{:?}",
        desk.failures()
    );
}

/// Returns a conversation whose only todo the user called off.
fn called_off() -> Desk {
    let todo = json!({"content": "Migrate the tables to Postgres", "status": "pending",
        "activeForm": "Migrating"});
    let lines = [
        json!({"type": "user", "uuid": "u1", "timestamp": "2026-11-16T10:00:00.000Z",
            "message": {"role": "user", "content": "Plan the migration."}}),
        json!({"type": "assistant", "uuid": "a1", "parentUuid": "u1",
            "timestamp": "2026-11-16T10:00:01.000Z",
            "message": {"role": "assistant", "model": "m", "id": "m1", "content": [
                {"type": "tool_use", "id": "t1", "name": "TodoWrite", "input": {"todos": [todo]}}]}}),
        json!({"type": "user", "uuid": "r1", "parentUuid": "a1",
            "timestamp": "2026-11-16T10:00:02.000Z", "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "Todos have been modified"}]}}),
    ];
    let lines = lines.map(|line| Bytes::from(line.to_string()));
    let entries = lines.into_iter().map(|line| LiveEntry {
        entry: Entry::read(line).unwrap(),
        offset: None,
    });
    let resume = EngineResume {
        entries: entries.collect(),
        ..EngineResume::default()
    };
    let mut desk = Desk::resumed(Setting::default(), resume);
    desk.exchange(
        "Cancel that, scrap the whole Postgres migration.",
        Answer::Says(long(), 6_000),
    );
    desk
}

const AGAINST: &str = "(called off; the user has said since:";

#[test]
fn y4_a_models_summary_that_names_called_off_work_gets_the_users_words_against_it() {
    let mut desk = called_off();
    let named = GOOD.replace(
        "7. Pending: none.",
        "7. Pending: Migrate the tables to Postgres",
    );
    desk.sums
        .push_back(Sum::Writes(Box::leak(named.into_boxed_str())));
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert_eq!(desk.last_compaction().by, Summarizer::Fork);
    assert!(summary(&desk).contains(AGAINST), "{}", summary(&desk));
}

#[test]
fn y4_a_todo_that_was_called_off_is_restored_with_the_users_words_against_it() {
    let mut desk = called_off();
    desk.hold = Some("gather");
    desk.input(EngineInput::Compact(CompactRequest::default()));
    let Some(Effect::Gather { id, .. }) = desk.held.take() else {
        panic!("nothing was gathered: {:?}", desk.asked);
    };
    let todo = TodoListItem {
        content: "Migrate the tables to Postgres".into(),
        status: "pending".into(),
        active_form: None,
    };
    let outcome = EffectOutcome::Gathered(Box::new(GatheredContext {
        gathered: RestoreInput {
            todos: Some(RestoreSourceResult::Found(vec![todo])),
            ..RestoreInput::default()
        },
        prefix: None,
    }));
    desk.input(EngineInput::Done { id, outcome });
    assert_eq!(desk.compactions(), 1, "{:?}", desk.failures());
    desk.exchange("Go on.", Answer::Says("Yes.", 2_000));
    let sent = Desk::body(desk.sent.last().unwrap()).to_string();
    let reminder = "Do not take these up unless the user asks for them again:";
    assert!(sent.contains(reminder), "{sent}");
}

#[test]
fn h5_with_clearing_switched_off_old_results_stay() {
    for (micro, cleared) in [(true, 1), (false, 0)] {
        let mut desk = Desk::with(Setting {
            switches: Switches {
                micro,
                ..Switches::default()
            },
            ..Setting::default()
        });
        desk.exchange("Look around.", Answer::Says("Yes.", 100));
        desk.say("Read them.");
        for id in ["t0", "t1", "t2", "t3", "t4", "t5", "t6"] {
            desk.works(id, 200, 1_000);
        }
        desk.exchange("Is it done?", Answer::Says("Done.", 2_000));
        desk.later(3_700);
        desk.exchange("Back again.", Answer::Says("Welcome.", 1_500));
        assert_eq!(desk.subtypes("microcompact_boundary").len(), cleared);
    }
}

#[test]
fn y1_only_a_person_who_has_room_is_told_that_words_would_be_cut() {
    // Over the threshold, what hooks say leaves nothing to gain.
    let mut desk = Desk::new();
    desk.exchange("Build a parser.", Answer::Says("I will.", 13_600));
    desk.session_start = longhaul_core::engine::HookOutcome {
        context: vec!["word ".repeat(3_000)],
        ..Default::default()
    };
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert_eq!(desk.failures(), [CompactFailure::WouldNotShrink]);
    assert!(!told(&desk).contains("your own words"), "{}", told(&desk));
    // Below it, the user has said nothing.
    let mut desk = Desk::new();
    let file =
        json!({"type": "todo", "content": [{"content": "Look at it.", "status": "pending"}]});
    desk.input(EngineInput::Add(vec![NewEntry::Attachment(file)]));
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert_eq!(desk.failures(), [CompactFailure::WouldNotShrink]);
    assert!(!told(&desk).contains("your own words"), "{}", told(&desk));
}

#[test]
fn m7_lines_that_answer_open_calls_after_a_compaction_know_where_they_begin() {
    let mut desk = Desk::new();
    desk.exchange("Build a parser.", Answer::Says(long(), 5_000));
    desk.say("Look at both.");
    let uuid = newest(&desk);
    for id in ["t1", "t2"] {
        desk.answers.push_back(Answer::Calls("Read", id, 5_200));
        desk.turn();
    }
    let request = CompactRequest {
        local: true,
        ..pivot(uuid, PivotDirection::UpTo)
    };
    desk.input(EngineInput::Compact(request));
    assert_eq!(desk.compactions(), 1, "{:?}", desk.failures());
    let file = desk.transcript.join(&b'\n');
    let mut answered = 0;
    for kept in desk.engine.live().entries() {
        let line = kept.entry.view().line;
        assert!(kept.entry.facets().uuid.is_present());
        let from = kept.offset.unwrap() as usize;
        assert!(file[from..].starts_with(line), "{from}");
        let after = from as u64 >= file.len() as u64 / 2;
        let text = String::from_utf8_lossy(line);
        answered += usize::from(after && text.contains("\"tool_result\""));
    }
    assert!(answered > 0);
}

#[test]
fn m7_lines_before_a_request_know_where_they_begin_and_only_entries_join_the_view() {
    let mut desk = Desk::new();
    desk.exchange("Look at it.", Answer::Calls("Read", "t1", 1_000));
    let mut other = head("claude-opus-4-6");
    other.user_context = Some("New.".into());
    desk.input(EngineInput::Head(Box::new(other)));
    // The new prefix and a result for the open call are written together.
    desk.exchange("Never mind.", Answer::Says("All right.", 1_100));
    let file = desk.transcript.join(&b'\n');
    for kept in desk.engine.live().entries() {
        assert!(kept.entry.facets().uuid.is_present());
        let from = kept.offset.unwrap() as usize;
        assert!(file[from..].starts_with(kept.entry.view().line), "{from}");
    }
}

#[test]
fn y8_an_entry_hangs_on_the_one_before_it_though_a_line_without_a_uuid_came_between() {
    let mut desk = Desk::with(Setting {
        notes: Some(NotesConfig {
            settings: Default::default(),
            path: "/s/session-memory/summary.md".into(),
            edit_tool: None,
            reach: None,
        }),
        ..Setting::default()
    });
    desk.notes_taken.requests = 1;
    desk.exchange("Build a parser.", Answer::Says("I will.", 2_100));
    let reply = newest(&desk);
    // This turn asks nothing, but it writes down what the notes cost.
    desk.turn();
    desk.say("And?");
    let lines: Vec<Value> = desk
        .transcript
        .iter()
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    assert!(lines.iter().any(|line| line["type"] == "notes-taken"));
    assert_eq!(lines.last().unwrap()["parentUuid"], reply.as_str());
}

#[test]
fn z3_more_pictures_than_a_request_may_have_are_left_out_of_the_next_one() {
    let mut desk = Desk::with(Setting {
        model: "claude-sonnet-4-5",
        window: 1_000_000,
        ..Setting::default()
    });
    let pictures = |count: usize| {
        let picture = json!({"type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}});
        NewEntry::User {
            content: Value::Array(vec![picture; count]),
            shown: EntryAudience::ToUser,
        }
    };
    let sent = |desk: &Desk| {
        let body = Desk::body(desk.sent.last().unwrap()).to_string();
        body.matches(r#""type":"image""#).count()
    };
    desk.input(EngineInput::Add(vec![pictures(70)]));
    desk.turn();
    assert_eq!(sent(&desk), 70);
    desk.input(EngineInput::Add(vec![pictures(70)]));
    desk.turn();
    assert_eq!(sent(&desk), 90, "the oldest fifty are left out");
}
