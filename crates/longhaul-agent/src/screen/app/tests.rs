//! The live region drawn at several sizes, with no terminal.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyModifiers};
use longhaul::Boxed;
use longhaul_core::engine::Event as Engine;
use longhaul_core::message::Usage;
use longhaul_core::money::Usd;
use longhaul_core::window::WindowLevel;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use tokio::sync::oneshot;

use super::*;
use crate::event::{ApprovalAnswer, ApprovalRequest, TodoStatus};
use crate::screen::live::region;
use crate::screen::{Charset, DisplayMode, DisplaySettings};
use crate::tool::{ToolAccess, ToolCallOutput};

mod daily;
mod questions;
mod shown;

/// A host that never answers.
#[derive(Default)]
struct Silent {
    cancelled: Arc<AtomicBool>,
}

impl ScreenHost for Silent {
    fn ask(&self, _: HostRequest) {}

    fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
    }

    fn set_mode(&self, _: ApprovalMode) {}

    fn finish(&self) -> Boxed<'_, ()> {
        Box::pin(async {})
    }
}

fn app() -> App {
    let display = DisplaySettings {
        manner: DisplayMode::Full,
        color: ColorSupport::Off,
        charset: Charset::Utf8,
    };
    let options = ScreenOptions {
        display,
        ..ScreenOptions::from_env("/project".into(), |_| None)
    };
    App::new(Box::new(Silent::default()), &options).0
}

fn press(app: &mut App, keys: &str) {
    for c in keys.chars() {
        let code = if c == '\n' {
            KeyCode::Enter
        } else {
            KeyCode::Char(c)
        };
        app.on_input(Event::Key(code.into()));
    }
}

/// What a terminal of this size would show of the region.
fn shown(app: &mut App, width: u16, height: u16) -> String {
    app.width = usize::from(width);
    let begun = app.compacting.map(|compacting| compacting.since);
    let begun = begun.or(app.work.map(|work| work.since));
    let now = begun.unwrap_or_else(Instant::now) + Duration::from_secs(31);
    for call in &mut app.running {
        call.since = now;
    }
    let live = region(app, usize::from(width), usize::from(height), now);
    let rows = live.rows.len() as u16;
    assert!(rows < height.max(2), "{rows} rows in {height}");
    if let Some((row, column)) = live.cursor {
        assert!(
            row < live.rows.len() && column < usize::from(width),
            "the cursor is in the region"
        );
    }
    let mut terminal = Terminal::new(TestBackend::new(width, rows.max(1))).unwrap();
    terminal
        .draw(|frame| {
            let area = frame.area();
            for (at, line) in live.rows.iter().enumerate() {
                // The prompt sign is never cut here; drawing cuts it.
                assert!(line.width() <= usize::from(width.max(4)), "{line}");
                frame.buffer_mut().set_line(0, at as u16, line, area.width);
            }
        })
        .unwrap();
    let buffer = terminal.backend().to_string();
    let rows = buffer.lines().map(|row| row.trim_matches('"').trim_end());
    rows.collect::<Vec<_>>().join("\n")
}

fn glance(level: WindowLevel) -> AgentEvent {
    AgentEvent::Glance(AgentStatus {
        effort: crate::EffortSetting::Model,
        model: "claude-sonnet-4-6".to_owned(),
        backend: crate::offline::ModelBackend::Provider,
        used: 97_000,
        limit: 167_000,
        prefix: 0,
        percent_left: 42,
        level,
        cost: Some(Usd::from_pico(1_230_000_000_000)),
        usage: Usage::default(),
        cache_hit_rate: Some(0.914),
        mode: ApprovalMode::AcceptEdits,
    })
}

fn start(id: &str, name: &str, line: &str) -> AgentEvent {
    AgentEvent::ToolStarted {
        id: id.to_owned(),
        name: name.to_owned(),
        line: line.to_owned(),
        input: serde_json::Value::Null,
    }
}

/// An app in the middle of everything.
fn busy() -> App {
    let mut app = app();
    app.on_event(glance(WindowLevel::Ok));
    press(&mut app, "fix the parser\n");
    app.on_event(AgentEvent::Text(
        "Let me see: 漢字 is wide, cafe\u{301} is not.".to_owned(),
    ));
    app.on_event(AgentEvent::Todos(vec![
        TodoItem {
            content: "Read the parser".to_owned(),
            status: TodoStatus::Completed,
            active_form: String::new(),
        },
        TodoItem {
            content: "Fix the parser".to_owned(),
            status: TodoStatus::InProgress,
            active_form: "Fixing the parser".to_owned(),
        },
        TodoItem {
            content: "Run the tests".to_owned(),
            status: TodoStatus::Pending,
            active_form: String::new(),
        },
    ]));
    app.on_event(start("1", "Bash", "cargo test --workspace"));
    app.on_event(AgentEvent::ToolProgress {
        id: "1".to_owned(),
        text: "   Compiling parser\nrunning 14 tests\n".to_owned(),
    });
    app.on_event(AgentEvent::Text(
        "While that runs, a *tail* of the next reply".to_owned(),
    ));
    press(&mut app, "and then the docs\nhalf a pro");
    app
}

#[tokio::test]
async fn q2_the_region_shows_what_goes_on() {
    let mut app = busy();
    insta::assert_snapshot!(shown(&mut app, 80, 24));
    insta::assert_snapshot!(shown(&mut app, 40, 12));
    insta::assert_snapshot!(shown(&mut app, 20, 5));
}

#[tokio::test]
async fn q2_any_size_will_do() {
    let mut asking = busy();
    asking.on_event(AgentEvent::Asks(question().0));
    let mut completing = app();
    press(&mut completing, "/co");
    for mut app in [busy(), asking, completing, app()] {
        for width in [1, 2, 3, 7, 20, 33, 80, 300] {
            for height in [1, 2, 3, 5, 8, 24, 100] {
                shown(&mut app, width, height);
            }
        }
    }
}

#[tokio::test]
async fn q2_an_empty_screen_and_its_completions() {
    let mut app = app();
    insta::assert_snapshot!(shown(&mut app, 60, 10), @"

    > what should be done?
      ask before changes · /help
    ");
    press(&mut app, "/co");
    app.on_input(Event::Key(KeyCode::Down.into()));
    insta::assert_snapshot!(shown(&mut app, 60, 10), @"

    > /co
      /compact  [instructions] summarize the conversation, with…
    › /context  show what fills the window
      /cost     [economy off|clear|full] costs, what paid off,…
      ask before changes · /help
    ");
    press(&mut app, "\n");
    assert_eq!(app.finished.waiting().last().unwrap().text(), "> /context ");
}

#[tokio::test]
async fn q2_a_transcript_that_is_read_is_made_anew_by_a_boundary() {
    let (tell, mut asked) = unbounded_channel();
    struct Noting(UnboundedSender<&'static str>);
    impl ScreenHost for Noting {
        fn ask(&self, ask: HostRequest) {
            if matches!(ask, HostRequest::Transcript(_)) {
                self.0.send("transcript").unwrap();
            }
        }

        fn cancel(&self) {}

        fn set_mode(&self, _: ApprovalMode) {}

        fn finish(&self) -> Boxed<'_, ()> {
            Box::pin(async {})
        }
    }
    let mut app = app();
    app.host = Box::new(Noting(tell));
    app.on_answer(HostAnswer::Transcript(Ok(Vec::new())));
    assert!(asked.try_recv().is_err());
    let done = longhaul_core::engine::CompactionSuccess {
        trigger: longhaul_core::boundary::CompactionTrigger::Auto,
        by: longhaul_core::engine::Summarizer::Fork,
        pre_tokens: 167_204,
        before: 167_204,
        after: 12_480,
        window: 12_480,
        usage: None,
        cost: None,
        milliseconds: 1_000,
        waited: 1_000,
        recompaction: longhaul_core::plan::Recompaction {
            turn: String::new(),
            in_chain: false,
            turns_since: None,
            previous_turn: None,
            threshold: 167_000,
            source: String::new(),
        },
        report: Default::default(),
        boundary: "b".to_owned(),
        reset: Default::default(),
    };
    app.on_event(AgentEvent::Engine(Engine::Compacted(Box::new(done))));
    assert_eq!(asked.try_recv(), Ok("transcript"));
}

#[tokio::test]
async fn f8_a_compaction_shows_phase_size_and_time_and_is_always_cleared() {
    let mut app = app();
    press(&mut app, "/compact\n");
    app.on_event(AgentEvent::Engine(Engine::Phase(Some(
        CompactionPhase::PreCompactHooks,
    ))));
    insta::assert_snapshot!(shown(&mut app, 70, 10), @"

    ⠹ compacting 31 s · hooks · esc to cancel
    >
      ask before changes · /help
    ");
    app.on_event(AgentEvent::Engine(Engine::Phase(Some(
        CompactionPhase::Compacting,
    ))));
    app.on_event(AgentEvent::Summarizing(4_321));
    assert!(shown(&mut app, 70, 10).contains("4,321 characters of summary · esc to cancel"));
    app.on_event(AgentEvent::Engine(Engine::Phase(None)));
    assert!(!shown(&mut app, 70, 10).contains("compacting"));
}

#[tokio::test]
async fn q2_percent_left_is_green_then_yellow_then_red() {
    use crate::screen::status::level_style;
    use crate::screen::style::{BAD, GOOD, WARNING};
    assert_eq!(level_style(WindowLevel::Ok), GOOD);
    assert_eq!(level_style(WindowLevel::Warning), WARNING);
    assert_eq!(level_style(WindowLevel::AutoCompact), BAD);
    assert_eq!(level_style(WindowLevel::Blocking), BAD);
    let mut app = app();
    app.on_event(glance(WindowLevel::Warning));
    insta::assert_snapshot!(shown(&mut app, 30, 10), @"

    > what should be done?
      42% left · accept edits
    ");
}

#[tokio::test]
async fn o5_a_full_window_is_said_and_the_prompt_stays() {
    let mut app = app();
    press(&mut app, "more\n");
    press(&mut app, "typed meanwhile\n");
    app.on_event(AgentEvent::Ended(crate::event::PromptOutcome::Refused(
        "use /compact or /clear".to_owned(),
    )));
    let said = app.finished.waiting().last().unwrap().text();
    assert_eq!(said, "■ not sent: use /compact or /clear");
    assert_eq!(
        app.editor.whole(),
        "typed meanwhile",
        "nothing that was typed is lost"
    );
}

#[tokio::test]
async fn q2_escape_and_ctrl_c_stop_what_runs() {
    let mut app = app();
    let cancelled = Arc::new(AtomicBool::new(false));
    app.host = Box::new(Silent {
        cancelled: Arc::clone(&cancelled),
    });
    app.on_input(Event::Key(KeyCode::Esc.into()));
    assert!(!cancelled.load(Ordering::SeqCst), "nothing runs");
    press(&mut app, "go\n");
    app.on_input(Event::Key(KeyCode::Esc.into()));
    assert!(cancelled.swap(false, Ordering::SeqCst));
    app.work = None;
    let interrupt = || {
        Event::Key(crossterm::event::KeyEvent::new(
            KeyCode::Char('c'),
            KeyModifiers::CONTROL,
        ))
    };
    press(&mut app, "text");
    assert_eq!(app.on_input(interrupt()), AppAction::On);
    assert!(app.editor.is_empty());
    assert_eq!(app.on_input(interrupt()), AppAction::On);
    assert_eq!(app.on_input(interrupt()), AppAction::Leave);
}

#[tokio::test]
async fn q2_a_result_is_short_and_says_where_the_rest_is() {
    let mut app = app();
    app.on_event(start("1", "Bash", "cargo test"));
    app.on_event(AgentEvent::ToolEnded {
        id: "1".to_owned(),
        output: ToolCallOutput::error("Exit code 101\na\nb\nc\nd\ne\nf\ng\nh")
            .with_line("exit code 101")
            .with_detail("a\nb\nc\nd\ne\nf\ng\nh"),
    });
    let lines: Vec<String> = app
        .finished
        .waiting()
        .iter()
        .map(WrappedLine::text)
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @"

    ✗ Bash cargo test · exit code 101
        a
        b
        c
        d
        e
        f
        +2 lines (ctrl-o shows all)
    ");
}

#[test]
fn q3_the_picture_of_the_window_needs_no_color_and_little_room() {
    use crate::screen::context::picture;
    use crate::screen::flow::rows;
    use crate::screen::host::ContextView;
    use longhaul_core::inspect::Categories;
    use longhaul_core::tokens::calibrated::CalibratedEstimate;
    use longhaul_core::window::{WindowInput, WindowSettings, WindowStatus};
    let status = WindowStatus::new(&WindowInput {
        window: 200_000,
        max_output: 64_000,
        used: 97_000,
        settings: WindowSettings::default(),
    });
    let view = ContextView {
        model: "claude-sonnet-4-6".to_owned(),
        categories: Categories {
            human_messages: 9_000,
            summaries: 4_000,
            assistant_messages: 14_000,
            tool_requests: 6_000,
            tool_results: 52_000,
            tool_results_by_tool: [("Read".to_owned(), 40_000), ("Bash".to_owned(), 12_000)].into(),
            attachments: 3_000,
            system_prompt: 4_000,
            tools: 6_000,
            memory_files: 2_000,
            duplicate_reads: 5_000,
            unattributed: 1_000,
            cleared_results: 7,
        },
        measured: 95_000,
        cleared: 3_000,
        status: status.unwrap(),
        likely: CalibratedEstimate {
            tokens: 91_400,
            bound: 2_300,
        },
    };
    let at = |width| {
        let rows = rows(&picture(&view, width, ColorSupport::Off), width);
        assert!(rows.iter().all(|row| row.width() <= width));
        let rows: Vec<String> = rows
            .iter()
            .map(|row| row.to_string().trim_end().to_owned())
            .collect();
        rows.join("\n")
    };
    insta::assert_snapshot!(at(40));
    insta::assert_snapshot!(at(100));
    for width in 1..140 {
        at(width);
    }
}

fn question() -> (ApprovalRequest, oneshot::Receiver<ApprovalAnswer>) {
    let (answer, said) = oneshot::channel();
    let change: String = (1..=20).map(|n| format!("-old {n}\n+new {n}\n")).collect();
    let question = ApprovalRequest {
        id: "1".to_owned(),
        name: "Edit".to_owned(),
        line: "src/main.rs".to_owned(),
        access: ToolAccess::Other,
        detail: change,
        reason: "edits are asked for".to_owned(),
        asker: None,
        rule: Some("Edit(src/**)".to_owned()),
        answer,
    };
    (question, said)
}
