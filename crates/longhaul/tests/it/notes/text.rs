//! Notes from answers in text, where the parent has no tool that edits files.

use longhaul_core::notes::DEFAULT_TEMPLATE;
use serde_json::json;

use super::desk::{Desk, Furniture, Kind, WORKLOG, calls, let_go, says, tool};

fn without_edit_tool() -> Desk {
    Desk::with(Furniture {
        // Not the fields of our own tool.
        tools: vec![
            tool("Edit", &["path", "patch"]),
            tool("Read", &["file_path"]),
        ],
        ..Furniture::default()
    })
}

const ANSWER: &str =
    "Here:\n<notes>\n# Current state\nThe lexer.\n\n# No such section\nLost.\n</notes>";

#[tokio::test]
async fn s3_without_an_edit_tool_sections_are_answered_in_text() {
    let mut desk = without_edit_tool();
    desk.answer(Kind::Notes, says(ANSWER, 12_100));
    let taken = desk.noted().await;
    assert_eq!((taken.changed, taken.refused, taken.requests), (1, 1, 1));
    assert_eq!(taken.failed, None);
    assert!(desk.notes().contains("\nThe lexer.\n"));
    assert!(desk.progress().is_some());
    assert!(desk.asked(Kind::Notes)[0].contains("Answer in text only"));
}

#[tokio::test]
async fn s3_an_answer_without_notes_or_cut_off_changes_nothing() {
    for answer in ["Nothing.", "<notes>\n# Current state\nThe lex"] {
        let mut desk = without_edit_tool();
        desk.answer(Kind::Notes, says(answer, 12_100));
        let taken = desk.noted().await;
        assert!(taken.failed.is_some(), "{answer}");
        assert_eq!(desk.notes(), DEFAULT_TEMPLATE);
        assert_eq!(desk.progress(), None);
    }
}

#[tokio::test]
async fn s3_calls_where_text_is_wanted_are_refused_and_said_so() {
    let mut desk = without_edit_tool();
    let call = ("Read", json!({"file_path": desk.path()}));
    desk.answer(Kind::Notes, calls(&[call], 12_100));
    desk.answer(Kind::Notes, says(ANSWER, 12_200));
    let taken = desk.noted().await;
    assert_eq!((taken.changed, taken.refused, taken.requests), (1, 2, 2));
    let again = desk.asked(Kind::Notes).pop().unwrap();
    assert!(again.contains("no tool is open to you"));
}

#[tokio::test]
async fn s3_a_section_that_a_person_changed_meanwhile_is_not_written_over() {
    for (below, joined) in [(WORKLOG, true), ("# Current state\n", false)] {
        let mut desk = without_edit_tool();
        let held = desk.hold(Kind::Notes);
        desk.exchange("Build a parser.", 12_000).await;
        desk.is_asked(Kind::Notes).await;
        let by_hand = if joined {
            desk.notes().replace(below, &format!("{below}\nBy hand."))
        } else {
            desk.notes()
                .replace("comes next_\n", "comes next_\nBy hand.\n")
        };
        desk.write(desk.files.notes(), &by_hand);
        desk.answer(Kind::Notes, says(ANSWER, 12_100));
        let_go(&held, 1);
        desk.session().drive_background().await;
        assert_eq!(desk.taken()[0].failed.is_none(), joined);
        assert!(desk.notes().contains("By hand."));
        assert_eq!(desk.notes().contains("The lexer."), joined);
    }
}
