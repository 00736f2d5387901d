//! What the agent may change, and what it is told when it may not.

use longhaul_core::notes::DEFAULT_TEMPLATE;
use serde_json::json;

use super::desk::{Desk, Kind, STATE, WORKLOG, calls, let_go, message, says};

#[tokio::test]
async fn s3_a_reply_whose_edits_were_all_made_ends_the_run() {
    let mut desk = Desk::new();
    let edits = [
        desk.notes_edit(STATE, "The lexer."),
        desk.notes_edit(WORKLOG, "- Began."),
    ];
    desk.answer(Kind::Notes, calls(&edits, 12_100));
    let taken = desk.noted().await;
    assert_eq!((taken.changed, taken.refused, taken.requests), (2, 0, 1));
    assert_eq!(taken.failed, None);
    assert_eq!(taken.usage.input, 12_100);
    let notes = desk.notes();
    let noted = DEFAULT_TEMPLATE.replace(STATE, &format!("{STATE}\nThe lexer."));
    let noted = noted.replace(WORKLOG, &format!("{WORKLOG}\n- Began."));
    assert_eq!(notes, noted);
    let asked = &desk.asked(Kind::Notes)[0];
    assert!(
        asked.contains("Never use regexes"),
        "behind the conversation"
    );
    assert!(asked.contains(&desk.path()));
    assert_eq!(desk.asked(Kind::Conversation).len(), 1);
}

#[tokio::test]
async fn s3_other_tools_and_other_files_are_refused_and_counted() {
    let mut desk = Desk::new();
    let other = desk.folder.path().join("other.md");
    desk.write(other.clone(), "a");
    let edit = |path: String| json!({"file_path": path, "old_string": "a", "new_string": "b"});
    let replies = [
        ("Bash", json!({"command": "rm -rf /"})),
        ("Edit", edit(other.display().to_string())),
        ("Edit", json!({"old_string": "a", "new_string": "b"})),
        desk.notes_edit(STATE, "The lexer."),
    ];
    desk.answer(Kind::Notes, calls(&replies, 12_100));
    let taken = desk.noted().await;
    assert_eq!((taken.changed, taken.refused, taken.requests), (1, 3, 1));
    assert_eq!(taken.failed, None);
    assert_eq!(std::fs::read_to_string(other).unwrap(), "a");
    assert!(desk.notes().contains("The lexer."));
}

#[tokio::test]
async fn s3_who_only_does_what_is_refused_is_told_once_more() {
    let mut desk = Desk::new();
    let read = ("Read", json!({"file_path": desk.path()}));
    desk.answer(Kind::Notes, calls(&[read], 12_100));
    desk.answer(
        Kind::Notes,
        calls(&[desk.notes_edit(STATE, "The lexer.")], 12_200),
    );
    let taken = desk.noted().await;
    assert_eq!((taken.changed, taken.refused, taken.requests), (1, 1, 2));
    assert_eq!(taken.failed, None);
    assert_eq!(taken.usage.input, 24_300, "of both requests");
    let again = desk.asked(Kind::Notes).pop().unwrap();
    assert!(again.contains("This call was not run."), "{again}");
}

#[tokio::test]
async fn s3_an_edit_that_could_not_be_made_can_be_repaired() {
    let mut desk = Desk::new();
    let edits = [
        desk.notes_edit("_No such line_", "lost"),
        desk.notes_edit("_", "ambiguous"),
        desk.notes_edit(STATE, "The lexer."),
    ];
    desk.answer(Kind::Notes, calls(&edits, 12_100));
    desk.answer(
        Kind::Notes,
        calls(&[desk.notes_edit(WORKLOG, "- Began.")], 12_200),
    );
    let taken = desk.noted().await;
    assert_eq!((taken.changed, taken.refused, taken.requests), (2, 0, 2));
    assert_eq!(taken.failed, None);
    let again = desk.asked(Kind::Notes).pop().unwrap();
    assert!(again.contains("does not stand in the notes") && again.contains("more than once"));
    let notes = desk.notes();
    assert!(notes.contains("The lexer.") && notes.contains("- Began."));
    assert!(desk.progress().is_some());
}

#[tokio::test]
async fn s1_headings_and_descriptions_stay_whatever_the_model_does() {
    let mut desk = Desk::new();
    let edit = |old: &str, new: &str| {
        (
            "Edit",
            json!({"file_path": desk.path(), "old_string": old, "new_string": new}),
        )
    };
    let breaking = [
        edit("# Worklog\n", "# Log\n"),
        edit(STATE, "The lexer."),
        edit(WORKLOG, &format!("{WORKLOG}\n# Another\n")),
    ];
    for reply in 1..=3 {
        desk.answer(Kind::Notes, calls(&breaking, 12_100 + reply));
    }
    let taken = desk.noted().await;
    assert_eq!((taken.changed, taken.refused, taken.requests), (0, 9, 3));
    assert!(taken.failed.is_some());
    assert_eq!(desk.notes(), DEFAULT_TEMPLATE);
    assert_eq!(desk.progress(), None);
}

#[tokio::test]
async fn s3_a_reply_that_was_cut_off_is_asked_to_go_on() {
    let mut desk = Desk::new();
    let (name, input) = desk.notes_edit(STATE, "The lexer.");
    let cut = json!([
        {"type": "tool_use", "id": "toolu_1", "name": name, "input": input},
        {"type": "tool_use", "id": "toolu_2", "name": name, "input": {"INVALID_JSON": "{\"file_"}},
    ]);
    desk.answer(Kind::Notes, message(cut, "max_tokens", 12_100));
    desk.answer(Kind::Notes, says("The notes are up to date.", 12_200));
    let taken = desk.noted().await;
    assert_eq!((taken.changed, taken.requests), (1, 2));
    assert_eq!(taken.failed, None);

    let mut desk = Desk::new();
    let text = json!([{"type": "text", "text": "I will now"}]);
    desk.answer(Kind::Notes, message(text, "max_tokens", 12_100));
    let taken = desk.noted().await;
    assert!(taken.failed.unwrap().contains("cut off"));
    assert_eq!(desk.progress(), None);
}

#[tokio::test]
async fn s3_a_model_that_notes_nothing_or_refuses_has_not_brought_them_up_to_date() {
    let mut desk = Desk::new();
    desk.answer(Kind::Notes, says("All is well.", 12_100));
    assert!(desk.noted().await.failed.is_some());
    assert_eq!(desk.progress(), None);

    let mut desk = Desk::new();
    desk.answer(Kind::Notes, message(json!([]), "refusal", 12_100));
    assert!(desk.noted().await.failed.unwrap().contains("refused"));
}

#[tokio::test]
async fn s3_what_a_person_writes_meanwhile_stays() {
    let mut desk = Desk::new();
    let held = desk.hold(Kind::Notes);
    desk.exchange("Build a parser.", 12_000).await;
    desk.is_asked(Kind::Notes).await;
    let theirs = desk
        .notes()
        .replace(WORKLOG, &format!("{WORKLOG}\n- By hand."));
    desk.write(desk.files.notes(), &theirs);
    desk.answer(
        Kind::Notes,
        calls(&[desk.notes_edit(STATE, "The lexer.")], 12_100),
    );
    let_go(&held, 1);
    desk.session().drive_background().await;
    assert_eq!(desk.taken()[0].failed, None);
    let notes = desk.notes();
    assert!(
        notes.contains("- By hand.") && notes.contains("The lexer."),
        "{notes}"
    );
}

#[tokio::test]
async fn s3_what_cannot_be_joined_with_a_persons_changes_is_given_up() {
    let mut desk = Desk::new();
    let held = desk.hold(Kind::Notes);
    desk.exchange("Build a parser.", 12_000).await;
    desk.is_asked(Kind::Notes).await;
    let theirs = "# My own notes\nNothing to see here.\n";
    desk.write(desk.files.notes(), theirs);
    desk.answer(
        Kind::Notes,
        calls(&[desk.notes_edit(STATE, "The lexer.")], 12_100),
    );
    let_go(&held, 1);
    desk.session().drive_background().await;
    assert!(
        desk.taken()[0]
            .failed
            .as_ref()
            .unwrap()
            .contains("somebody else")
    );
    assert_eq!(desk.notes(), theirs);
    assert_eq!(desk.progress(), None);
}
