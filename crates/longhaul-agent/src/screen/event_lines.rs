//! Events as lines that stay: prompts, calls, compactions, how work ended. The screen and line mode share them.

use std::time::Duration;

use longhaul_core::engine::{CompactFailure, CompactionSuccess, Event, Summarizer};
use longhaul_core::micro::MicroClearingReason;
use ratatui::style::Style;
use ratatui::text::Span;

use super::diff_lines;
use super::figures::{dollars, elapsed, grouped};
use super::flow::WrappedLine;
use super::host::CallOutcome;
use super::style::{BAD, BOLD, CHOSEN, DIM, GOOD, WARNING, dim, styled};
use super::text::{clean, clean_line, count};
use crate::event::{EXIT_PLAN_MODE, PromptOutcome};
use crate::tool::ToolCallOutput;

/// The number of lines and of characters of a prompt that are shown when it is sent.
const PROMPT_LINES: usize = 12;
const PROMPT_LENGTH: usize = 2_000;
/// The number of lines of a longer one.
const FOLDED_LINES: usize = 3;
/// The number of lines of a diff that are shown with its call.
const DIFF_LINES: usize = 12;
/// The number of lines of a command's output that are shown with its call, and of one that failed.
const OUTPUT_LINES: usize = 3;
const ERROR_LINES: usize = 6;

/// The user's prompt.
pub(crate) fn prompt(text: &str) -> Vec<WrappedLine> {
    let text = clean(text);
    let lines = text.lines().enumerate().map(|(at, line)| {
        let mark = if at == 0 { "> " } else { "  " };
        WrappedLine::styled(line, BOLD).indented(dim(mark))
    });
    std::iter::once(WrappedLine::blank()).chain(lines).collect()
}

/// A prompt that was sent: the beginning of a long one.
pub(crate) fn sent_prompt(text: &str) -> Vec<WrappedLine> {
    let lines = text.lines().count();
    let is_long = lines > PROMPT_LINES || text.chars().count() > PROMPT_LENGTH;
    if !is_long {
        return prompt(text);
    }
    let kept: Vec<&str> = text.lines().take(FOLDED_LINES).collect();
    let mut kept = kept.join("\n");
    let mut hidden = count(lines - lines.min(FOLDED_LINES), "line");
    if let Some((end, _)) = kept.char_indices().nth(PROMPT_LENGTH) {
        kept.truncate(end);
        kept.push('…');
    }
    if lines <= FOLDED_LINES {
        let left = text.chars().count() - PROMPT_LENGTH;
        hidden = format!("{} characters", grouped(left as u64));
    }
    let mut shown = prompt(&kept);
    shown.push(WrappedLine::dim(format!("  +{hidden} (ctrl-o shows all)")));
    shown
}

/// The words of a guide, set apart from everything else.
pub(crate) fn guide(text: &str) -> Vec<WrappedLine> {
    let lines = text.lines().map(|line| {
        let line = clean(line).trim_end().to_owned();
        WrappedLine::styled(line, CHOSEN).indented(styled("│ ", CHOSEN))
    });
    std::iter::once(WrappedLine::blank()).chain(lines).collect()
}

/// A call and its result.
pub(crate) fn call(name: &str, line: &str, output: &ToolCallOutput) -> Vec<WrappedLine> {
    let mut head = call_line(name, line, output.is_error);
    let short = clean_line(&output.line);
    if !short.is_empty() {
        let style = if output.is_error { BAD } else { DIM };
        head.line.spans.push(styled(format!(" · {short}"), style));
    }
    let mut lines = vec![head];
    lines.extend(more(name, output));
    lines
}

/// A call as a transcript tells it.
pub(crate) fn recorded_call(name: &str, line: &str, outcome: &CallOutcome) -> WrappedLine {
    let (mut head, short, style) = match outcome {
        CallOutcome::Done(short) => (marked_call("✓ ", GOOD, name, line), short.as_str(), DIM),
        CallOutcome::Failed(why) => (marked_call("✗ ", BAD, name, line), why.as_str(), BAD),
        CallOutcome::None => (marked_call("■ ", WARNING, name, line), "no result", WARNING),
    };
    if !short.is_empty() {
        let short = clean_line(short);
        head.line.spans.push(styled(format!(" · {short}"), style));
    }
    head
}

/// A call without its result.
fn call_line(name: &str, line: &str, is_error: bool) -> WrappedLine {
    match is_error {
        true => marked_call("✗ ", BAD, name, line),
        false => marked_call("✓ ", GOOD, name, line),
    }
}

fn marked_call(mark: &'static str, mark_style: Style, name: &str, line: &str) -> WrappedLine {
    let line = clean_line(line);
    let name = match name {
        EXIT_PLAN_MODE => "Plan".to_owned(),
        name => clean_line(name),
    };
    let head = vec![
        styled(mark, mark_style),
        styled(name, BOLD),
        Span::raw(match line.is_empty() {
            true => String::new(),
            false => format!(" {line}"),
        }),
    ];
    WrappedLine::new(head, 2)
}

/// The part of a result that people want to see at once: a diff, or what a command wrote. The content itself is for the
/// model.
fn more(name: &str, output: &ToolCallOutput) -> Vec<WrappedLine> {
    let text = clean(&output.detail);
    let (mut lines, most) = match name {
        "Bash" if output.is_error => (diff_lines::plain(&text, |_| None), ERROR_LINES),
        "Bash" => (diff_lines::plain(&text, |_| None), OUTPUT_LINES),
        _ if diff_lines::is_diff(&text) => (diff_lines::numbered(&text), DIFF_LINES),
        _ => return Vec::new(),
    };
    // A single line more takes no more room than the line that says so.
    if lines.len() > most + 1 {
        let hidden = count(lines.len() - most, "line");
        lines.truncate(most);
        lines.push(WrappedLine::dim(format!(
            "    +{hidden} (ctrl-o shows all)"
        )));
    }
    lines
}

/// Whether a part of a reply can be read that is not in the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnfinishedReply {
    None,
    Dropped,
}

/// How work ended, if that needs to be said.
pub(crate) fn ended(ended: &PromptOutcome, reply: UnfinishedReply) -> Vec<WrappedLine> {
    let line = match ended {
        PromptOutcome::Done => return Vec::new(),
        PromptOutcome::Cancelled => WrappedLine::styled(
            match reply {
                UnfinishedReply::None => "■ stopped; what was done so far stays",
                UnfinishedReply::Dropped => "■ stopped; the unfinished reply is not kept",
            },
            WARNING,
        ),
        PromptOutcome::Refused(why) => {
            WrappedLine::styled(format!("■ not sent: {}", clean_line(why)), BAD)
        }
        PromptOutcome::Failed(why) => {
            WrappedLine::styled(format!("■ failed: {}", clean_line(why)), BAD)
        }
        PromptOutcome::TurnsUsedUp(turns) => WrappedLine::styled(
            format!(
                "■ stopped after {}; say \"go on\" to go on",
                count(*turns as usize, "turn")
            ),
            WARNING,
        ),
        PromptOutcome::BudgetUsedUp { cost, limit } => WrappedLine::styled(
            format!(
                "■ stopped: the session has cost {}; the limit is {}",
                dollars(*cost),
                dollars(*limit)
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
        } => WrappedLine::styled("■ compaction canceled; nothing changed", WARNING),
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
                MicroClearingReason::Cached => "too many results",
                MicroClearingReason::Price => "it pays",
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
        // Nothing was worth a note: nobody needs to know.
        Event::NotesTaken(notes)
            if notes.taken.failed.as_deref() == Some("the model noted nothing") =>
        {
            return Vec::new();
        }
        Event::NotesTaken(notes) => {
            let cost = notes.cost.map(|cost| format!(" ({})", dollars(cost)));
            match &notes.taken.failed {
                None => WrappedLine::dim(format!("· notes taken{}", cost.unwrap_or_default())),
                Some(why) => WrappedLine::dim(format!("· notes not taken: {}", clean_line(why))),
            }
        }
        Event::PricesUnknown { model } => WrappedLine::dim(format!(
            "· the prices of {} are not known, so nothing is decided by price",
            clean_line(model)
        )),
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

/// The one line after a compaction: from → to, by whom, what was kept, where to read more. The figures are those of the
/// whole request, as the status line and `/context` have them.
pub(crate) fn compacted(done: &CompactionSuccess) -> String {
    let mut by = vec![summarizer(done.by).to_owned()];
    // The time that an approval took is the user's own.
    if done.by != Summarizer::Approved {
        by.push(elapsed(Duration::from_millis(done.milliseconds)));
    }
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
        grouped(done.pre_tokens),
        grouped(done.window),
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
