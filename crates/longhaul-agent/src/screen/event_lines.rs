//! Events as lines that stay: prompts, calls, compactions, how work ended. The screen and line mode share them.

use std::time::Duration;

use longhaul_core::engine::{CompactFailure, CompactionSuccess, Event, Summarizer};
use longhaul_core::micro::MicroClearingReason;
use ratatui::text::Span;
use serde_json::Value;

use super::figures::{dollars, elapsed, grouped};
use super::flow::WrappedLine;
use super::style::{BAD, BOLD, DIM, GOOD, WARNING, dim, of_diff, styled};
use super::text::{clean, clean_line, count};
use crate::event::PromptOutcome;
use crate::tool::ToolCallOutput;

/// The number of lines of a diff that are shown with its call.
const DIFF_LINES: usize = 12;
/// The number of lines of an error that are shown with its call.
const ERROR_LINES: usize = 3;

/// The user's prompt.
pub(crate) fn prompt(text: &str) -> Vec<WrappedLine> {
    let text = clean(text);
    let lines = text.lines().enumerate().map(|(at, line)| {
        let mark = if at == 0 { "> " } else { "  " };
        WrappedLine::styled(line, BOLD).indented(dim(mark))
    });
    std::iter::once(WrappedLine::blank()).chain(lines).collect()
}

/// A call and its result.
pub(crate) fn call(name: &str, line: &str, output: &ToolCallOutput) -> Vec<WrappedLine> {
    let (mark, mark_style) = if output.is_error {
        ("✗ ", BAD)
    } else {
        ("✓ ", GOOD)
    };
    let mut head = vec![
        styled(mark, mark_style),
        styled(clean_line(name), BOLD),
        Span::raw(format!(" {}", clean_line(line))),
    ];
    let short = clean_line(&output.line);
    if !short.is_empty() {
        let style = if output.is_error { BAD } else { DIM };
        head.push(styled(format!(" · {short}"), style));
    }
    let mut lines = vec![WrappedLine::blank(), WrappedLine::new(head, 2)];
    lines.extend(more(output));
    lines
}

/// The part of a result that people want to see at once: a diff, or the error.
fn more(output: &ToolCallOutput) -> Vec<WrappedLine> {
    let content = |value: &Value| value.as_str().map(str::to_owned).unwrap_or_default();
    let (text, most) = match output.is_error {
        true => {
            let text = content(&output.content);
            let rest = text.split_once('\n').map_or("", |(_, rest)| rest);
            (rest.to_owned(), ERROR_LINES)
        }
        false if is_diff(&output.detail) => (output.detail.clone(), DIFF_LINES),
        false => return Vec::new(),
    };
    let text = clean(&text);
    let all: Vec<&str> = text.lines().collect();
    let mut lines: Vec<WrappedLine> = all.iter().take(most).map(|line| diff_line(line)).collect();
    if all.len() > most {
        let hidden = count(all.len() - most, "more line");
        lines.push(WrappedLine::dim(format!("  … {hidden} (ctrl-o shows all)")));
    }
    lines
}

/// A line of a diff or of any other text, indented.
pub(crate) fn diff_line(line: &str) -> WrappedLine {
    WrappedLine::styled(line.to_owned(), of_diff(line).unwrap_or(DIM)).indented(Span::raw("    "))
}

fn is_diff(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("@@"))
        || (!text.is_empty() && text.lines().any(|line| line.starts_with(['+', '-'])))
}

/// How work ended, if that needs to be said.
pub(crate) fn ended(ended: &PromptOutcome) -> Vec<WrappedLine> {
    let line = match ended {
        PromptOutcome::Done => return Vec::new(),
        PromptOutcome::Cancelled => {
            WrappedLine::styled("■ stopped; what was done so far stays", WARNING)
        }
        PromptOutcome::Refused(why) => {
            WrappedLine::styled(format!("■ the window is full: {}", clean_line(why)), BAD)
        }
        PromptOutcome::Failed(why) => {
            WrappedLine::styled(format!("■ failed: {}", clean_line(why)), BAD)
        }
        PromptOutcome::TurnsUsedUp(turns) => WrappedLine::styled(
            format!("■ stopped after {turns} turns; say \"go on\" to go on"),
            WARNING,
        ),
        PromptOutcome::BudgetUsedUp(most) => WrappedLine::styled(
            format!(
                "■ stopped: the session has cost {}, which is its limit",
                dollars(*most)
            ),
            WARNING,
        ),
    };
    vec![WrappedLine::blank(), line]
}

/// An action of the engine, if people should know about it.
pub(crate) fn engine(event: &Event) -> Vec<WrappedLine> {
    let line = match event {
        Event::Compacted(done) => {
            return vec![
                WrappedLine::blank(),
                WrappedLine::styled(compacted(done), GOOD),
                WrappedLine::blank(),
            ];
        }
        Event::CompactFailed {
            kind: CompactFailure::Cancelled,
            ..
        } => WrappedLine::styled("■ compaction stopped; nothing was changed", WARNING),
        Event::CompactFailed { message, .. } => {
            WrappedLine::styled(format!("■ not compacted: {}", clean_line(message)), WARNING)
        }
        Event::MicroCompacted {
            reason,
            results,
            saved,
            ..
        } => {
            let why = match reason {
                MicroClearingReason::Idle => "the cache had gone cold",
                MicroClearingReason::Pressure => "the window fills up",
                MicroClearingReason::Cached => "there were many",
                _ => "to make room",
            };
            let results = count(*results, "old result");
            WrappedLine::dim(format!(
                "· {results} cleared ({why}): {} tokens freed",
                grouped(*saved)
            ))
        }
        Event::NativeCleared {
            tool_uses, tokens, ..
        } => {
            let results = count(*tool_uses as usize, "old result");
            WrappedLine::dim(format!(
                "· the provider cleared {results}: {} tokens freed",
                grouped(*tokens)
            ))
        }
        // The report says how many did not fit.
        Event::Withheld { .. } => WrappedLine::dim(
            "· the reply ran out of room; it is tried again in a smaller window".to_owned(),
        ),
        Event::FileRestore {
            failed: Some(why), ..
        } if why.contains("no room") => return Vec::new(),
        Event::FileRestore {
            path,
            failed: Some(why),
        } => WrappedLine::dim(format!(
            "· {} was not put back: {}",
            clean_line(path),
            clean_line(why)
        )),
        Event::TooLongRetry { attempt, rounds } => {
            let rounds = count(*rounds, "round");
            WrappedLine::dim(format!(
                "· too long to summarize at once: try {attempt}, without the oldest {rounds}"
            ))
        }
        Event::SummaryCutOff => WrappedLine::dim(
            "· the model's summary was cut off; extracts of the conversation replace its missing sections",
        ),
        Event::NotesTaken(notes) => {
            let cost = notes.cost.map(|cost| format!(" ({})", dollars(cost)));
            match &notes.taken.failed {
                None => WrappedLine::dim(format!("· notes taken{}", cost.unwrap_or_default())),
                Some(why) => WrappedLine::dim(format!("· notes not taken: {}", clean_line(why))),
            }
        }
        Event::ThresholdExceededAfter { tokens, threshold } => WrappedLine::styled(
            format!(
                "■ still {} tokens after compaction, over the limit of {}: /rewind or /clear makes room",
                grouped(*tokens),
                grouped(*threshold)
            ),
            WARNING,
        ),
        Event::CacheBreak(finding) => {
            WrappedLine::dim(format!("· {}", clean_line(&finding.to_string())))
        }
        Event::BreakerTripped => WrappedLine::styled(
            "■ automatic compaction failed too often and no longer uses a model in this session; /compact tries again",
            WARNING,
        ),
        Event::HookMessage { event, text } => {
            WrappedLine::dim(format!("· {event} hook: {}", clean_line(text)))
        }
        Event::NotPersisted { message } => WrappedLine::styled(
            format!(
                "■ the transcript cannot be written: {}",
                clean_line(message)
            ),
            BAD,
        ),
        // The rest is shown elsewhere or is only for the log: phases, replies, failed turns, previews.
        _ => return Vec::new(),
    };
    vec![line]
}

/// The one line after a compaction: from → to, by whom, what was kept, where to read more.
pub(crate) fn compacted(done: &CompactionSuccess) -> String {
    let mut by = vec![summarizer(done.by).to_owned()];
    by.push(elapsed(Duration::from_millis(done.milliseconds)));
    by.extend(done.cost.map(dollars));
    let messages = &done.report.user_messages;
    let mut kept = format!(
        "{} of {} of yours kept word for word",
        messages.verbatim,
        count(messages.total as usize, "message")
    );
    if done.report.files.restored > 0 {
        kept.push_str(&format!(
            ", {} back",
            count(done.report.files.restored as usize, "file")
        ));
    }
    format!(
        "● compacted {} → {} tokens ({}) · {kept} · ctrl-o shows the report",
        grouped(done.before),
        grouped(done.after),
        by.join(", ")
    )
}

/// What made the summary, in a word.
pub(crate) fn summarizer(by: Summarizer) -> &'static str {
    match by {
        Summarizer::Fork | Summarizer::Plain => "model",
        Summarizer::Local => "without a model",
        Summarizer::Approved => "approved",
        Summarizer::Provider => "provider",
        Summarizer::Notes => "notes",
        Summarizer::Fold => "folded",
        _ => "in another way",
    }
}
