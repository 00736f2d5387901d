//! What stays on the screen of a reply, of calls, of a plan and of a wait.

use super::*;

fn finished(app: &mut App) -> Vec<String> {
    let lines = app.finished.take();
    lines.iter().map(WrappedLine::text).collect()
}

#[test]
fn q2_a_notice_waits_for_the_end_of_the_block() {
    let mut app = app();
    app.on_event(AgentEvent::Text("First.\n\nA sentence that is ".to_owned()));
    app.on_event(AgentEvent::Notice("a server is slow".to_owned()));
    app.on_event(AgentEvent::Text("not torn.\n\nLast".to_owned()));
    app.on_event(AgentEvent::Replied(serde_json::Value::Null));
    app.on_event(AgentEvent::Notice("it answers again".to_owned()));
    assert_eq!(
        finished(&mut app),
        [
            "",
            "● First.",
            "",
            "  A sentence that is not torn.",
            "· a server is slow",
            "",
            "  Last",
            "· it answers again"
        ]
    );
}

#[test]
fn q2_calls_of_one_line_stand_together() {
    let mut app = app();
    let call = |app: &mut App, id: &str, name: &str, output: ToolCallOutput| {
        app.on_event(AgentEvent::ToolStarted {
            id: id.to_owned(),
            name: name.to_owned(),
            line: id.to_owned(),
            input: serde_json::Value::Null,
        });
        app.on_event(AgentEvent::ToolEnded {
            id: id.to_owned(),
            output,
        });
    };
    for id in ["a.rs", "b.rs"] {
        call(&mut app, id, "Read", ToolCallOutput::text("", "1 line"));
    }
    let written = "one\ntwo\nthree\nfour\nfive\nsix";
    let output = ToolCallOutput::text("for the model", "done").with_detail(written);
    call(&mut app, "make", "Bash", output);
    let refused = ToolCallOutput::error("Do not try it again. Wait.").with_line("refused");
    call(&mut app, "rm x", "Bash", refused);
    assert_eq!(
        finished(&mut app),
        [
            "",
            "✓ Read a.rs · 1 line",
            "✓ Read b.rs · 1 line",
            "",
            "✓ Bash make · done",
            "    one",
            "    two",
            "    three",
            "    +3 lines (ctrl-o shows all)",
            "",
            "✗ Bash rm x · refused",
        ]
    );
}

#[tokio::test]
async fn q2_a_plan_is_shown_as_it_is_meant_and_can_be_planned_further() {
    let mut app = app();
    let (answer, mut answered) = oneshot::channel();
    app.on_event(AgentEvent::Asks(ApprovalRequest {
        id: "1".to_owned(),
        name: crate::event::EXIT_PLAN_MODE.to_owned(),
        line: "The plan".to_owned(),
        access: ToolAccess::Other,
        detail: "# The plan\n\n- first\n- **then**".to_owned(),
        reason: String::new(),
        asker: None,
        rule: None,
        answer,
    }));
    let shown = super::shown(&mut app, 60, 24);
    assert!(shown.contains("• first"), "{shown}");
    assert!(shown.contains("• then"), "{shown}");
    assert!(shown.contains("2. keep planning"), "{shown}");
    assert!(!shown.contains("ExitPlanMode"), "{shown}");
    app.asking.rested();
    press(&mut app, "2");
    assert_eq!(answered.try_recv(), Ok(ApprovalAnswer::KeepPlanning));
    let left = finished(&mut app);
    assert_eq!(left[1], "● Plan, not agreed to yet");
    assert!(left.iter().any(|line| line.contains("• then")), "{left:?}");
}

#[test]
fn q2_a_wait_is_counted_down_in_place_of_the_work() {
    use longhaul_provider::ErrorClass;
    let mut app = app();
    let now = Instant::now();
    app.work = Some(ActiveWork {
        since: now,
        cancelled: false,
    });
    let class = ErrorClass::Overloaded { after: None };
    let wait = RetryWait::new(class, Duration::from_secs(40), 4);
    app.on_event(AgentEvent::Retrying(wait));
    let shown = super::shown(&mut app, 60, 24);
    assert!(shown.contains("overloaded, again in "), "{shown}");
    assert!(shown.contains(" s, try 4 · esc to stop"), "{shown}");
    app.on_event(AgentEvent::Text("Here.".to_owned()));
    let shown = super::shown(&mut app, 60, 24);
    assert!(!shown.contains("try 4"), "{shown}");
    app.on_event(AgentEvent::Replied(serde_json::Value::Null));
    assert!(app.retry.is_none());
    assert!(
        finished(&mut app)
            .last()
            .is_some_and(|last| last.starts_with("· overloaded: answered at try 4"))
    );
}

#[test]
fn q2_retries_are_closed_by_one_line_when_the_reply_is_whole() {
    use longhaul_provider::ErrorClass;
    use longhaul_provider::error::AwaitedStep;
    let mut app = app();
    let server = ErrorClass::Server { after: None };
    app.on_event(AgentEvent::Retrying(RetryWait::new(
        server,
        Duration::from_secs(1),
        2,
    )));
    app.on_event(AgentEvent::Text("The first half.\n\nAnd".to_owned()));
    app.on_event(AgentEvent::Restarted);
    let wait = RetryWait::new(ErrorClass::Cut, Duration::from_secs(2), 3);
    app.on_event(AgentEvent::Retrying(wait));
    app.on_event(AgentEvent::Text("Here.".to_owned()));
    app.on_event(AgentEvent::Replied(serde_json::Value::Null));
    let told = finished(&mut app).join("\n");
    assert_eq!(told.matches("answered at try").count(), 1, "{told}");
    assert!(
        told.contains("· server error, the reply broke off: answered at try 3"),
        "{told}"
    );
    let stalled = ErrorClass::Timeout(AwaitedStep::NextByte);
    app.on_event(AgentEvent::Retrying(RetryWait::new(
        stalled,
        Duration::from_secs(1),
        2,
    )));
    app.on_event(AgentEvent::Replied(serde_json::Value::Null));
    let told = finished(&mut app).join("\n");
    assert!(
        told.contains("· the reply stalled: answered at try 2"),
        "{told}"
    );
}

#[test]
fn q2_a_reply_of_which_nothing_comes_is_told_about() {
    let mut app = app();
    let long_ago = Instant::now() - Duration::from_secs(45);
    app.work = Some(ActiveWork {
        since: long_ago,
        cancelled: false,
    });
    app.on_event(AgentEvent::Arriving);
    let shown = super::shown(&mut app, 80, 24);
    assert!(!shown.contains("nothing has come"), "{shown}");
    app.heard = long_ago;
    let shown = super::shown(&mut app, 80, 24);
    assert!(shown.contains("nothing has come for 31 s"), "{shown}");
}

#[test]
fn q2_a_reply_that_broke_off_once_is_told_in_one_sentence() {
    use longhaul_provider::ErrorClass;
    let mut app = app();
    app.on_event(AgentEvent::Text("The first half.\n\nAnd".to_owned()));
    app.on_event(AgentEvent::Restarted);
    let wait = RetryWait::new(ErrorClass::Cut, Duration::from_millis(700), 2);
    app.on_event(AgentEvent::Retrying(wait));
    app.on_event(AgentEvent::Text("Here.".to_owned()));
    let told = finished(&mut app).join("\n");
    assert!(
        told.contains("the reply broke off: what came of it does not count"),
        "{told}"
    );
    assert!(!told.contains("answered at try"), "{told}");
}

#[test]
fn q2_a_call_that_waits_for_the_user_is_not_shown_as_running() {
    let mut app = app();
    for id in ["1", "2"] {
        app.on_event(AgentEvent::ToolStarted {
            id: id.to_owned(),
            name: "Edit".to_owned(),
            line: format!("{id}.rs"),
            input: serde_json::Value::Null,
        });
    }
    let (mut question, _said) = super::question();
    question.detail = String::new();
    app.on_event(AgentEvent::Asks(question));
    let shown = super::shown(&mut app, 60, 40);
    assert!(
        shown.contains("Edit 2.rs") && !shown.contains("Edit 1.rs"),
        "{shown}"
    );
    app.asking.rested();
    press(&mut app, "1");
    let shown = super::shown(&mut app, 60, 40);
    assert!(shown.contains("Edit 1.rs"), "{shown}");
}

#[tokio::test]
async fn q2_what_a_guide_types_is_shown_where_the_terminal_shows_what_the_user_types() {
    let mut app = app();
    app.echo = Echo::Off;
    app.on_line("typed by the user");
    assert!(!finished(&mut app).join("\n").contains("typed by"));
    app.on_answer(HostAnswer::Worked(Ok(())));
    app.on_typed(GuideInput::Sent("typed by the guide".to_owned()));
    let all = finished(&mut app).join("\n");
    assert!(all.contains("> typed by the guide"), "{all}");
}
