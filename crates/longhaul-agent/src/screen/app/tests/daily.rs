//! What daily users stumbled over: hooks that hang, long pastes, narrow terminals, resumed sessions.

use super::*;
use crate::event::{PromptOutcome, RunningHook};
use crate::screen::host::{
    CallOutcome, ItemStanding, SessionItem, ShellResult, TranscriptItem, TranscriptKind,
};

fn finished(app: &mut App) -> Vec<String> {
    let lines = app.finished.take();
    lines.iter().map(WrappedLine::text).collect()
}

fn hook(event: &'static str, call: Option<&str>) -> RunningHook {
    RunningHook {
        number: 1,
        event,
        call: call.map(str::to_owned),
        commands: vec!["sleep 300".to_owned()],
    }
}

#[test]
fn k1_a_hook_that_runs_is_shown_and_skipped() {
    let mut app = app();
    let cancelled = Arc::new(AtomicBool::new(false));
    app.host = Box::new(Silent {
        cancelled: Arc::clone(&cancelled),
    });
    app.on_event(AgentEvent::HookRuns(hook("SessionStart", None)));
    let screen = shown(&mut app, 70, 10);
    assert!(
        screen.contains("SessionStart hook (sleep 300) runs, ") && screen.contains("esc skips it"),
        "{screen}"
    );
    app.on_input(Event::Key(KeyCode::Esc.into()));
    assert!(cancelled.load(Ordering::SeqCst));
    app.on_event(AgentEvent::HookEnded(1));
    assert!(!shown(&mut app, 70, 10).contains("hook"));
}

#[test]
fn k1_a_call_whose_hook_runs_is_not_shown_as_running() {
    let mut app = app();
    app.on_event(start("1", "Bash", "touch zz"));
    app.on_event(AgentEvent::HookRuns(hook("PreToolUse", Some("1"))));
    let screen = shown(&mut app, 70, 10);
    let call = screen.lines().find(|line| line.contains("touch zz"));
    assert!(call.unwrap().ends_with("Bash touch zz"), "{screen}");
    assert!(
        screen.contains("PreToolUse hook (sleep 300) runs, "),
        "{screen}"
    );
    app.on_event(AgentEvent::HookEnded(1));
    let screen = shown(&mut app, 70, 10);
    assert!(screen.contains("Bash touch zz 0 s"), "{screen}");
}

#[tokio::test]
async fn k1_the_first_prompt_of_a_hook_gives_way_to_the_users() {
    let mut app = app();
    app.on_event(AgentEvent::InitialPrompt("look around".to_owned()));
    assert_eq!(finished(&mut app), ["", "> look around"]);
    app.first_prompt = FirstPrompt::Users;
    app.on_event(AgentEvent::InitialPrompt("look around".to_owned()));
    assert_eq!(finished(&mut app), [""; 0]);
}

#[tokio::test]
async fn q2_a_sent_paste_is_folded() {
    let mut app = app();
    let paste: Vec<String> = (1..=60).map(|line| format!("line {line}")).collect();
    app.submit(paste.join("\n"));
    assert_eq!(
        finished(&mut app),
        [
            "",
            "> line 1",
            "  line 2",
            "  line 3",
            "  +57 lines (ctrl-o shows all)"
        ]
    );
    app.work = None;
    app.submit("x".repeat(100_000));
    let lines = finished(&mut app);
    assert!(lines.iter().all(|line| line.len() < 3_000));
    assert_eq!(
        lines.last().unwrap(),
        "  +98,000 characters (ctrl-o shows all)"
    );
    app.work = None;
    app.submit("one\ntwo\nthree\nfour".to_owned());
    assert_eq!(finished(&mut app).len(), 5, "what was typed stays");
}

#[test]
fn q2_an_unfinished_reply_is_said_to_be_lost() {
    let mut app = app();
    app.on_event(AgentEvent::Text("A long".to_owned()));
    app.on_event(AgentEvent::Ended(PromptOutcome::Cancelled));
    let told = finished(&mut app);
    assert_eq!(
        told.last().unwrap(),
        "■ stopped; the unfinished reply is not kept"
    );
    app.on_event(AgentEvent::Text("All of it.".to_owned()));
    app.on_event(AgentEvent::Replied(serde_json::Value::Null));
    app.on_event(AgentEvent::Ended(PromptOutcome::Cancelled));
    let told = finished(&mut app);
    assert_eq!(
        told.last().unwrap(),
        "■ stopped; what was done so far stays"
    );
}

#[tokio::test]
async fn q2_all_lines_of_a_command_are_counted_and_its_end_is_said_once() {
    let mut app = app();
    let output: String = (1..=50).map(|line| format!("{line}\n")).collect();
    app.on_shell(&ShellResult {
        output,
        lines: 100_000,
        is_error: true,
        line: "exit code 3".to_owned(),
    });
    let told = finished(&mut app);
    assert_eq!(told[0], "    … 99,960 lines before these");
    assert_eq!(told[41], "  ✗ exit code 3");
    app.submit("!".to_owned());
    assert!(app.work.is_none());
    assert!(
        finished(&mut app)
            .last()
            .unwrap()
            .contains("none follows it")
    );
}

#[test]
fn q2_a_narrow_status_keeps_the_mode_and_that_nobody_answers() {
    use crate::screen::status::line;
    let AgentEvent::Glance(mut status) = glance(WindowLevel::Ok) else {
        panic!("a status");
    };
    status.backend = crate::offline::ModelBackend::Simulator;
    let at = |width| {
        line(Some(&status), ApprovalMode::AcceptEdits, width)
            .to_string()
            .trim_end()
            .to_owned()
    };
    assert_eq!(at(24), "  42% · sim · edits");
    status.backend = crate::offline::ModelBackend::Provider;
    let line = line(Some(&status), ApprovalMode::BypassPermissions, 20);
    assert_eq!(line.to_string().trim_end(), "  42% · no asking");
}

#[tokio::test]
async fn q3_a_long_title_is_cut_and_its_mark_is_not() {
    let mut app = app();
    let session = SessionItem {
        id: "1".to_owned(),
        title: "a very long title ".repeat(20),
        mark: "(Claude Code's; it is copied)".to_owned(),
        modified: None,
        messages: 7,
        branch: None,
    };
    app.on_answer(HostAnswer::Sessions(Ok(vec![session]), String::new()));
    let screen = shown(&mut app, 80, 12);
    assert!(
        screen.contains("… (Claude Code's; it is copied)") && screen.contains("7 replies"),
        "{screen}"
    );
}

#[test]
fn q3_a_resumed_session_shows_what_became_of_its_calls() {
    use crate::screen::transcript::{LastExchange, last_exchange, recent};
    let item = |kind, text: &str| TranscriptItem {
        kind,
        text: text.to_owned(),
        at: None,
        standing: ItemStanding::Kept,
    };
    let call = |name: &str, line: &str, outcome| TranscriptKind::Call {
        name: name.to_owned(),
        line: line.to_owned(),
        outcome,
    };
    let items = [
        item(TranscriptKind::Shell, "seq 5"),
        item(TranscriptKind::Output, "Exit code 3\n1\n2"),
        item(TranscriptKind::User, "/tidy now"),
        item(TranscriptKind::Boundary, "the report"),
        item(
            call("Read", "CLAUDE.md", CallOutcome::Done("3 lines".to_owned())),
            "",
        ),
        item(call("Bash", "sleep 30", CallOutcome::None), ""),
        item(TranscriptKind::Result { is_error: false }, "1\n2\n3"),
    ];
    let lines = recent(&items, 4, 80);
    let lines: Vec<String> = lines.iter().map(WrappedLine::text).collect();
    assert_eq!(
        lines,
        [
            "",
            "> !seq 5",
            "    1",
            "    2",
            "  ✗ exit code 3",
            "",
            "> /tidy now",
            "",
            "● compacted here · /report shows the report",
            "",
            "✓ Read CLAUDE.md · 3 lines",
            "■ Bash sleep 30 · no result",
        ]
    );
    assert_eq!(last_exchange(&items), LastExchange::CutOff);
    assert_eq!(last_exchange(&items[..4]), LastExchange::Unanswered);
}

#[test]
fn y7_a_disk_that_is_full_is_told_once() {
    let mut app = app();
    let failed = || Engine::NotPersisted {
        message: "no space left".to_owned(),
    };
    app.on_event(AgentEvent::Engine(failed()));
    app.on_event(AgentEvent::Engine(failed()));
    let why = "cannot write: no space left".to_owned();
    app.on_event(AgentEvent::Ended(PromptOutcome::Failed(why)));
    let told = finished(&mut app);
    let said = told.iter().filter(|line| line.contains("no space left"));
    assert_eq!(said.count(), 1, "{told:?}");
}

#[tokio::test]
async fn q2_a_question_of_a_sub_agent_says_whose_it_is() {
    let mut app = app();
    let (mut asked, _said) = question();
    asked.asker = Some("Explore (find the thing)".to_owned());
    app.on_event(AgentEvent::Asks(asked));
    let screen = shown(&mut app, 80, 20);
    assert!(
        screen.contains("asked by the sub-agent Explore (find the thing)"),
        "{screen}"
    );
}
