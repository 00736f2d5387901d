//! Line mode, for dumb terminals and pipes: every line is written once, questions and lists are answered by number.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::app::{App, AppAction, AppInputs, Echo, next_typed};
use super::cells::{self, TerminalCapabilities};
use super::display::DisplaySettings;
use super::flow::WrappedLine;
use super::system::{ScreenSignal, Signals};
use crate::retry_words;

/// Shows the app until its input ends or the user leaves.
pub(crate) async fn run(
    app: &mut App,
    sources: &mut AppInputs,
    display: DisplaySettings,
) -> io::Result<()> {
    let shows = TerminalCapabilities {
        color: display.color,
        charset: display.charset,
    };
    let mut signals = Signals::listen()?;
    let mut typed = lines();
    let mut page = PlainWriter {
        shows,
        is_asked: io::stdin().is_terminal(),
        prompted: false,
        waiting: None,
        at_blank: true,
        attempt: None,
        hook: None,
    };
    if page.is_asked {
        app.echo = Echo::Off;
    }
    let mut ended = false;
    loop {
        page.show(app)?;
        if ended && app.is_idle() && !sources.guided {
            // Events from before the guide left are still shown.
            while let Ok(event) = sources.events.try_recv() {
                app.on_event(event);
            }
            return page.show(app);
        }
        let next = tokio::select! {
            line = typed.recv(), if !ended && page.takes_lines(app) => match line {
                Some(line) => {
                    page.prompted = false;
                    page.waiting = None;
                    app.on_line(&line)
                }
                None => {
                    ended = true;
                    // Nobody is there to answer any more.
                    app.questions.clear();
                    app.dialog = None;
                    app.page = None;
                    if page.is_asked { AppAction::Leave } else { AppAction::On }
                }
            },
            Some(event) = sources.events.recv() => {
                app.on_event(event);
                if ended {
                    app.questions.clear();
                }
                AppAction::On
            }
            Some(answer) = sources.answers.recv() => {
                while let Ok(event) = sources.events.try_recv() {
                    app.on_event(event);
                }
                app.on_answer(answer)
            }
            typed = next_typed(&mut sources.typed, &mut sources.guided), if sources.guided => {
                typed.map_or(AppAction::On, |typed| app.on_typed(typed))
            }
            told = signals.next() => match told {
                ScreenSignal::End => AppAction::Leave,
                ScreenSignal::Interrupt if app.work.is_none() && app.hooks.is_empty() => AppAction::Leave,
                ScreenSignal::Interrupt => app.on_interrupt(),
                ScreenSignal::Resized | ScreenSignal::Aside => AppAction::On,
            },
        };
        app.drop_closed_questions();
        if next == AppAction::Leave {
            page.show(app)?;
            return page.end();
        }
    }
}

/// Writes the lines.
struct PlainWriter {
    shows: TerminalCapabilities,
    /// Whether a person sees the prompt.
    is_asked: bool,
    prompted: bool,
    /// The question that was written last.
    waiting: Option<Vec<String>>,
    at_blank: bool,
    /// The attempt at a request whose wait was written last.
    attempt: Option<u32>,
    /// The hooks that were written last.
    hook: Option<u64>,
}

impl PlainWriter {
    /// Whether a line is read now: a person may type at any time; in a pipe, each line waits for the answer to the one
    /// before.
    fn takes_lines(&self, app: &App) -> bool {
        self.is_asked || app.is_idle() || self.waiting.is_some()
    }

    fn show(&mut self, app: &mut App) -> io::Result<()> {
        let mut out = io::stdout().lock();
        let mut flows = app.finished.take();
        flows.extend(app.take_reading());
        if !flows.is_empty() && self.prompted {
            writeln!(out)?;
            self.prompted = false;
        }
        for flow in &flows {
            self.line(&mut out, flow)?;
        }
        let attempt = app.retry.as_ref().map(|retry| retry.wait.attempt);
        if let Some(retry) = &app.retry
            && attempt != self.attempt
        {
            let line = retry_words::line(&retry.wait, retry.wait.wait);
            self.line(&mut out, &WrappedLine::dim(format!("· {line}")))?;
        }
        self.attempt = attempt;
        let hook = app.hooks.last().map(|(hook, _)| hook);
        if let Some(hook) = hook.filter(|hook| self.hook < Some(hook.number)) {
            self.line(
                &mut out,
                &WrappedLine::dim(format!("· {} runs", hook.words())),
            )?;
            self.hook = Some(hook.number);
        }
        let waiting = app.waiting();
        if waiting != self.waiting {
            for line in waiting.iter().flatten() {
                self.line(&mut out, &WrappedLine::plain(line.clone()))?;
            }
            self.prompted = false;
            self.waiting = waiting;
        }
        let is_wanted = app.work.is_none() || self.waiting.is_some();
        if self.is_asked && is_wanted && !self.prompted {
            write!(out, "> ")?;
            self.prompted = true;
        }
        out.flush()
    }

    fn line(&mut self, out: &mut impl io::Write, flow: &WrappedLine) -> io::Result<()> {
        let text = cells::plain(&flow.line, self.shows);
        // There are never two empty lines in a row.
        if text.is_empty() && self.at_blank {
            return Ok(());
        }
        self.at_blank = text.is_empty();
        writeln!(out, "{text}")
    }

    fn end(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.prompted) {
            writeln!(io::stdout())?;
        }
        Ok(())
    }
}

/// The lines of stdin, read by a separate thread: a blocked read must not keep the program from ending.
fn lines() -> UnboundedReceiver<String> {
    let (send, lines) = unbounded_channel();
    std::thread::spawn(move || {
        let mut stdin = io::stdin().lock();
        let mut line = Vec::new();
        loop {
            line.clear();
            match stdin.read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            let text = String::from_utf8_lossy(&line);
            let text = text.trim_end_matches(['\n', '\r']).to_owned();
            if send.send(text).is_err() {
                return;
            }
        }
    });
    lines
}
