//! A preview of a summary before it replaces anything (Y6): read it, edit it, keep more, approve it, or cancel.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use longhaul_core::engine::PreviewedSummary;
use longhaul_core::report::ViewTokens;
use ratatui::text::{Line, Span};

use super::editor::Editor;
use super::event_lines::summarizer;
use super::figures::{dollars, grouped};
use super::flow::WrappedLine;
use super::host::{CompactionRequest, CompactionStep};
use super::markdown;
use super::pager::{PagerAction, PagerStart, TextPager};
use super::style::{BOLD, dim, styled};
use super::text::{clean, count, keep_start};

/// The width that tables of a summary are laid out for; the page wraps what is wider than the terminal.
const WIDTH: usize = 78;

/// What is known of the window before the compaction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PreviewedWindow {
    /// The tokens in use; none before there was a request.
    pub(crate) used: u64,
    /// The tokens of what every request begins with.
    pub(crate) prefix: u64,
}

/// A summary that waits for approval.
#[derive(Debug)]
pub(crate) struct SummaryPreview {
    ask: CompactionRequest,
    preview: Box<PreviewedSummary>,
    /// The sizes of whole requests, before and after.
    sizes: ViewTokens,
    /// The summary as it would be applied.
    summary: String,
    reader: TextPager,
    state: PreviewState,
}

#[derive(Debug)]
enum PreviewState {
    Reading,
    /// The user types how many messages to keep.
    Keeping(String),
    /// The summary is being edited.
    Editing(Editor),
}

/// The effect of a key.
#[derive(Debug)]
pub(crate) enum PreviewAction {
    /// The preview stays open.
    Open,
    /// Complete the compaction, or make another preview.
    Ask(CompactionRequest),
    /// Leave everything as it is.
    Cancelled,
    /// The summary is to be edited.
    Edit(String),
}

/// The keys while reading.
const KEYS: &str = "enter approve · e edit · k keep the last messages · esc cancel";

impl SummaryPreview {
    /// A preview of a summary, with the request that produced it.
    pub(crate) fn new(
        ask: CompactionRequest,
        preview: Box<PreviewedSummary>,
        window: &PreviewedWindow,
    ) -> Self {
        let sizes = ViewTokens {
            // As in the line that tells of the compaction: measured where something was.
            before: match window.used {
                0 => preview.before + window.prefix,
                used => used,
            },
            after: preview.window,
        };
        let summary = preview.summary.clone();
        let mut previewing = Self {
            ask,
            preview,
            sizes,
            summary,
            reader: TextPager::default(),
            state: PreviewState::Reading,
        };
        previewing.reader = TextPager::new(previewing.title(), previewing.lines(), PagerStart::Top);
        previewing
    }

    fn title(&self) -> String {
        let preview = &self.preview;
        let mut title = format!(
            "Compaction, nothing changed yet: {} → {} tokens ({})",
            grouped(self.sizes.before),
            grouped(self.sizes.after),
            summarizer(preview.by)
        );
        if let Some(cost) = preview.cost {
            title.push_str(&format!(", {}", dollars(cost)));
        }
        if self.is_edited() {
            title.push_str(", edited");
        }
        title
    }

    fn is_edited(&self) -> bool {
        self.summary != self.preview.summary
    }

    fn lines(&self) -> Vec<WrappedLine> {
        let mut lines = vec![WrappedLine::blank()];
        lines.extend(markdown::render(&self.summary, WIDTH));
        lines.push(WrappedLine::blank());
        lines.push(WrappedLine::styled(
            "What would be dropped, kept and put back",
            BOLD,
        ));
        let report = clean(&self.preview.report.tell_preview_of(self.sizes));
        lines.extend(
            report
                .lines()
                .map(|line| WrappedLine::new(vec![Span::raw(line.to_owned())], 15)),
        );
        if let Some(keep) = self.ask.keep {
            lines.push(WrappedLine::dim(match keep {
                1 => "The last message stays as it is.".to_owned(),
                _ => format!("The last {} stay as they are.", count(keep, "message")),
            }));
        }
        lines
    }

    /// Takes the edited summary.
    pub(crate) fn edited(&mut self, summary: String) {
        self.summary = summary;
        self.reader.replace(self.title(), self.lines());
        self.state = PreviewState::Reading;
    }

    /// Edits on this screen, because there is no editor to start.
    pub(crate) fn edit_here(&mut self) {
        self.state = PreviewState::Editing(Editor::with(&self.summary));
    }

    fn approved(&self) -> PreviewAction {
        PreviewAction::Ask(CompactionRequest {
            step: CompactionStep::Approved(self.summary.clone()),
            ..self.ask.clone()
        })
    }

    /// Asks for another preview that keeps this many messages.
    fn keeping(&self, keep: usize) -> PreviewAction {
        PreviewAction::Ask(CompactionRequest {
            keep: Some(keep),
            ..self.ask.clone()
        })
    }

    /// Takes a paste, if there is an input field.
    pub(crate) fn paste(&mut self, text: &str) {
        if let PreviewState::Editing(editor) = &mut self.state {
            editor.insert(text);
        }
    }

    /// Handles a key; `width` is that of the terminal.
    pub(crate) fn key(&mut self, key: KeyEvent, width: usize) -> PreviewAction {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match &mut self.state {
            PreviewState::Keeping(number) => match key.code {
                KeyCode::Char(c) if c.is_ascii_digit() && number.len() < 6 => number.push(c),
                KeyCode::Backspace => {
                    number.pop();
                }
                KeyCode::Enter => match number.parse() {
                    Ok(keep) if keep > 0 => return self.keeping(keep),
                    _ => self.state = PreviewState::Reading,
                },
                KeyCode::Esc => self.state = PreviewState::Reading,
                _ => {}
            },
            PreviewState::Editing(editor) => match key.code {
                KeyCode::Char('s') if control => {
                    let summary = editor.whole();
                    self.edited(summary);
                }
                KeyCode::Esc => self.state = PreviewState::Reading,
                KeyCode::Enter => editor.insert("\n"),
                _ => {
                    editor.key(key, width);
                }
            },
            PreviewState::Reading if self.reader.is_searching() => {
                self.reader.key(key);
            }
            PreviewState::Reading => match key.code {
                KeyCode::Enter | KeyCode::Char('a' | 'y') => return self.approved(),
                KeyCode::Char('e') => return PreviewAction::Edit(self.summary.clone()),
                KeyCode::Char('k') => self.state = PreviewState::Keeping(String::new()),
                _ => {
                    if self.reader.key(key) == PagerAction::Closed {
                        return PreviewAction::Cancelled;
                    }
                }
            },
        }
        PreviewAction::Open
    }

    /// Takes an answer in line mode.
    pub(crate) fn answer(&mut self, line: &str) -> PreviewAction {
        let (word, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        match (word, rest.trim().parse()) {
            ("a" | "approve" | "y" | "yes", _) => self.approved(),
            ("k" | "keep", Ok(keep)) if keep > 0 => self.keeping(keep),
            _ => PreviewAction::Cancelled,
        }
    }

    /// The whole preview as plain lines, for line mode.
    pub(crate) fn plain(&self) -> Vec<String> {
        let mut lines = vec![self.title()];
        lines.extend(self.lines().iter().map(WrappedLine::text));
        lines.push("a: approve, k 4: keep the last 4 messages, anything else: cancel:".to_owned());
        lines
    }

    /// The rows of the screen, and where the cursor is.
    pub(crate) fn rows(
        &mut self,
        width: usize,
        height: usize,
    ) -> (Vec<Line<'static>>, Option<(usize, usize)>) {
        match &self.state {
            PreviewState::Reading => (self.reader.rows(width, height, KEYS), None),
            PreviewState::Keeping(number) => {
                let mut rows = self.reader.rows(width, height, KEYS);
                let ask = format!("how many of the last messages to keep? {number}▏ (enter, esc)");
                if let Some(last) = rows.last_mut() {
                    *last = Line::from(styled(keep_start(&ask, width), BOLD));
                }
                (rows, None)
            }
            PreviewState::Editing(editor) => {
                let layout = editor.layout(width);
                let room = height.saturating_sub(2).max(1);
                let from = (layout.row + 1).saturating_sub(room);
                let head = keep_start(
                    "The summary: ctrl-s takes it, esc leaves it as it was",
                    width,
                );
                let mut rows = vec![Line::from(dim(head))];
                let shown = layout.rows.iter().skip(from).take(room);
                rows.extend(shown.map(|row| Line::from(row.clone())));
                rows.resize(height.max(1), Line::default());
                (rows, Some((layout.row - from + 1, layout.column)))
            }
        }
    }
}
