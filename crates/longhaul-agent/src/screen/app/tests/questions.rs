//! Questions about calls: what is shown of them, and which keys answer them.

use super::*;

#[tokio::test]
async fn q2_a_question_shows_what_fits_and_always_its_choices() {
    let mut app = app();
    let (question, mut said) = question();
    app.on_event(AgentEvent::Asks(question));
    insta::assert_snapshot!(shown(&mut app, 60, 14), @"
    ? Edit src/main.rs
      edits are asked for
        -old 1
        +new 1
        -old 2
        +new 2
        -old 3
        … 35 more lines (ctrl-o shows all)
    › 1. yes
      2. yes, and for this session: Edit(src/**)
      3. yes, and for this project: Edit(src/**)
      4. no, and tell the model what to do instead
      ask before changes · /help
    ");
    insta::assert_snapshot!(shown(&mut app, 20, 5), @"
    › 1. yes
      2. yes, and for t…
      3. yes, and for t…
      4. no, and tell t…
    ");
    app.asking.rested();
    press(&mut app, "4rather not\n");
    assert_eq!(
        said.try_recv(),
        Ok(ApprovalAnswer::No(Some("rather not".to_owned())))
    );
    assert!(app.questions.is_empty());
}

#[tokio::test]
async fn q2_what_was_sent_before_a_question_is_answered_is_shown_as_waiting() {
    let mut app = app();
    press(&mut app, "go\n");
    app.on_event(AgentEvent::Asks(question().0));
    press(&mut app, "and then the docs\n");
    let all = shown(&mut app, 60, 24);
    let waits = all.find("  next: and then the docs");
    assert!(
        waits.is_some() && waits < all.find("? Edit src/main.rs"),
        "{all}"
    );
    // Where there is little room, the question has it.
    let few = shown(&mut app, 60, 5);
    assert!(few.contains("1. yes") && !few.contains("next:"), "{few}");
}

#[tokio::test]
async fn q2_a_question_that_comes_up_while_somebody_types_is_not_answered_by_it() {
    for before in ["", "in the middle of a wo"] {
        let mut app = app();
        press(&mut app, "go\n");
        press(&mut app, before);
        let (question, mut said) = question();
        app.on_event(AgentEvent::Asks(question));
        // Each key makes it wait anew, and none is lost.
        app.asking.rested();
        press(&mut app, "rd and 3 more\n");
        assert!(said.try_recv().is_err() && app.questions.len() == 1);
        assert_eq!(app.queue, [format!("{before}rd and 3 more")]);
        // An Enter alone does nothing either, as long as the keyboard has not rested.
        press(&mut app, "\n");
        assert!(said.try_recv().is_err() && app.questions.len() == 1);
        app.asking.rested();
        press(&mut app, "1");
        assert_eq!(said.try_recv(), Ok(ApprovalAnswer::Once));
    }
}

#[tokio::test]
async fn q2_enter_after_a_pause_belongs_to_the_sentence_and_escape_always_works() {
    let mut app = app();
    press(&mut app, "go\n");
    let (asked, mut said) = question();
    app.on_event(AgentEvent::Asks(asked));
    press(&mut app, "and then");
    app.asking.rested();
    let screen = shown(&mut app, 70, 20);
    assert!(
        screen.contains("> and then  (enter sends this; a number answers)"),
        "{screen}"
    );
    press(&mut app, "\n");
    assert!(said.try_recv().is_err(), "the sentence was meant");
    assert_eq!(app.queue, ["and then"]);
    // Somebody who has turned to the answers means them.
    press(&mut app, "more");
    app.asking.rested();
    app.on_input(Event::Key(KeyCode::Down.into()));
    press(&mut app, "\n");
    assert_eq!(said.try_recv(), Ok(ApprovalAnswer::Session));
    assert_eq!(app.editor.whole(), "more");
    let (asked, mut said) = question();
    app.on_event(AgentEvent::Asks(asked));
    app.on_input(Event::Key(KeyCode::Esc.into()));
    assert_eq!(said.try_recv(), Ok(ApprovalAnswer::No(None)));
}

#[tokio::test]
async fn q2_a_question_that_nobody_waits_for_goes_away() {
    let mut app = app();
    let (question, said) = question();
    app.on_event(AgentEvent::Asks(question));
    drop(said);
    app.drop_closed_questions();
    assert!(app.questions.is_empty());
}
