//! The screen in a terminal that can move its cursor: takes keys, events, answers and signals, and draws.

use std::io;
use std::time::{Duration, Instant};

use tokio::time::{sleep, sleep_until};

use super::app::{App, AppAction, AppInputs, AppPage, next_typed};
use super::cells::TerminalCapabilities;
use super::display::DisplaySettings;
use super::flow::rows;
use super::input::{KeyReader, TerminalInput};
use super::live;
use super::paint::{OtherScreen, Painter};
use super::system::{ScreenSignal, Signals, editor_command, put_aside};
use super::terminal::{self, RawTerminal};

/// The minimum time between two drawings.
const FRAME: Duration = Duration::from_millis(16);
/// How often animations are drawn.
const TICK: Duration = Duration::from_millis(120);

/// A terminal, and what is on it.
struct Screen {
    painter: Painter<io::Stdout>,
    width: usize,
    height: usize,
    other: OtherScreen,
    /// Whether the width changed while the other screen was shown.
    stale: bool,
}

/// Shows the app until the user leaves or the terminal is gone.
pub(crate) async fn run(
    app: &mut App,
    sources: &mut AppInputs,
    display: DisplaySettings,
    editor: Option<&str>,
) -> io::Result<()> {
    let _taken = RawTerminal::enter()?;
    let mut signals = Signals::listen()?;
    let mut keys = KeyReader::start();
    let shows = TerminalCapabilities {
        color: display.color,
        charset: display.charset,
    };
    let mut screen = Screen {
        painter: Painter::new(io::stdout(), shows),
        width: 80,
        height: 24,
        other: OtherScreen::Off,
        stale: false,
    };
    screen.measure(app)?;
    let mut next_frame = Instant::now();
    let mut dirty = true;
    loop {
        if dirty && Instant::now() >= next_frame {
            // A terminal that can no longer be drawn on is gone.
            if screen.draw(app).is_err() {
                break;
            }
            dirty = false;
            next_frame = Instant::now() + FRAME;
        }
        let next = tokio::select! {
            got = keys.next() => match got {
                TerminalInput::Event(crossterm::event::Event::Resize(..)) => screen.measured(app),
                TerminalInput::Event(event) => app.on_input(event),
                TerminalInput::Closed => AppAction::Leave,
            },
            Some(event) = sources.events.recv() => {
                app.on_event(event);
                AppAction::On
            }
            Some(answer) = sources.answers.recv() => {
                // Events from before the answer are shown before it.
                while let Ok(event) = sources.events.try_recv() {
                    app.on_event(event);
                }
                app.on_answer(answer)
            }
            typed = next_typed(&mut sources.typed, &mut sources.guided), if sources.guided => {
                typed.map_or(AppAction::On, |typed| app.on_typed(typed))
            }
            told = signals.next() => match told {
                ScreenSignal::Resized => screen.measured(app),
                ScreenSignal::End => AppAction::Leave,
                ScreenSignal::Interrupt => app.on_interrupt(),
                ScreenSignal::Aside => AppAction::Aside,
            },
            () = sleep_until(next_frame.into()), if dirty => AppAction::On,
            () = sleep(TICK), if app.is_animated() && !dirty => AppAction::On,
        };
        dirty = true;
        app.drop_closed_questions();
        match next {
            AppAction::On => {}
            AppAction::Leave => break,
            AppAction::Redraw => screen.redraw()?,
            AppAction::Aside => {
                screen.give_back()?;
                put_aside().await?;
                screen.take(app)?;
            }
            AppAction::Edit(text) => {
                let edited = match editor {
                    None => None,
                    Some(editor) => {
                        let _held = keys.hold().await;
                        screen.give_back()?;
                        let edited = edit(editor, &text).await;
                        screen.take(app)?;
                        // Signals from the keyboard during the edit were meant for the editor.
                        signals = Signals::listen()?;
                        edited.ok()
                    }
                };
                app.on_edited(edited);
            }
        }
    }
    // The last lines are shown; then the terminal is restored, with the cursor below them.
    app.page = None;
    let _ = screen.draw(app);
    let _ = screen.painter.clear();
    Ok(())
}

impl Screen {
    fn measure(&mut self, app: &mut App) -> io::Result<()> {
        let (width, height) = crossterm::terminal::size()?;
        // Some terminals do not know their size and report zero.
        self.width = if width == 0 { 80 } else { usize::from(width) };
        self.height = if height == 0 { 24 } else { usize::from(height) };
        app.width = self.width;
        Ok(())
    }

    /// Checks whether the terminal has a new size.
    fn measured(&mut self, app: &mut App) -> AppAction {
        let before = (self.width, self.height);
        if self.measure(app).is_err() {
            return AppAction::Leave;
        }
        if before != (self.width, self.height) {
            match self.other {
                OtherScreen::On => self.stale = true,
                OtherScreen::Off => {
                    if self.painter.resized(self.width, self.height).is_err() {
                        return AppAction::Leave;
                    }
                }
            }
        }
        AppAction::On
    }

    fn show(&mut self, other: OtherScreen) -> io::Result<()> {
        if self.other != other {
            self.other = other;
            terminal::shows(other);
            self.painter.other_screen(other)?;
            if other == OtherScreen::Off && std::mem::take(&mut self.stale) {
                self.painter.resized(self.width, self.height)?;
            }
        }
        Ok(())
    }

    fn draw(&mut self, app: &mut App) -> io::Result<()> {
        if !terminal::is_taken() {
            self.other = OtherScreen::Off;
            self.take(app)?;
        }
        // The size may have changed since the last signal, and rows of another width would leave copies of themselves.
        if self.measured(app) == AppAction::Leave {
            return Err(io::ErrorKind::NotConnected.into());
        }
        let (width, height) = (self.width, self.height);
        let (page, cursor) = match app.page.as_mut() {
            Some(AppPage::Reader(reader) | AppPage::Transcript(reader)) => {
                let waits = if app.questions.is_empty() {
                    ""
                } else {
                    "a question waits · "
                };
                let keys = format!("{waits}q closes · ↑↓ space b g G · / searches, n next");
                (reader.rows(width, height, &keys), None)
            }
            Some(AppPage::Preview(preview)) => preview.rows(width, height),
            None => {
                self.show(OtherScreen::Off)?;
                let finished = rows(&app.finished.take(), width);
                let live = live::region(app, width, height, Instant::now());
                return self.painter.draw(&finished, &live.rows, live.cursor, width);
            }
        };
        self.show(OtherScreen::On)?;
        self.painter.draw_full(&page, cursor, width)
    }

    /// Makes the next drawing draw the whole region again.
    fn redraw(&mut self) -> io::Result<()> {
        match self.other {
            OtherScreen::On => Ok(()),
            OtherScreen::Off => self.painter.clear(),
        }
    }

    /// Gives the terminal back for a while.
    fn give_back(&mut self) -> io::Result<()> {
        self.show(OtherScreen::Off)?;
        self.painter.clear()?;
        terminal::give_back();
        Ok(())
    }

    /// Takes the terminal again; its size may have changed.
    fn take(&mut self, app: &mut App) -> io::Result<()> {
        terminal::take()?;
        self.measure(app)?;
        self.painter.forget();
        Ok(())
    }
}

/// Edits a text with a command. An editor that fails leaves the text unchanged.
async fn edit(editor: &str, text: &str) -> io::Result<String> {
    let file = tempfile::Builder::new()
        .prefix("summary-")
        .suffix(".md")
        .tempfile()?;
    tokio::fs::write(file.path(), text).await?;
    let status = editor_command(editor, file.path()).status().await?;
    if status.success() {
        tokio::fs::read_to_string(file.path()).await
    } else {
        Ok(text.to_owned())
    }
}
