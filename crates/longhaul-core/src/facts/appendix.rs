//! Writes the parts of the text that an audit adds to a summary. The wording is in `fragments/`.

use super::cancelled::{CancelledAction, CancelledActionKind};
use super::failure::{ErrorSource, LastError};
use super::file::TouchedFile;
use super::message::UserMessage;
use super::page::BoundedText;
use super::rule::UserRule;
use super::rule_kind::RuleKind;
use super::shorten::{shorten, shorten_gapped};
use super::todo::TodoFact;
use crate::quoting::{QuoteFence, inline, is_break, quoted};
use crate::tokens::utf16_len;

pub(super) const OPENING: &str = include_str!("fragments/opening.md");
pub(super) const RULES: &str = include_str!("fragments/rules.md");
pub(super) const MESSAGES: &str = include_str!("fragments/messages.md");
const CANCELLED: &str = include_str!("fragments/cancelled.md");
const CALLED_OFF: &str = include_str!("fragments/called_off.md");
const TODOS: &str = include_str!("fragments/todos.md");
const FILES: &str = include_str!("fragments/files.md");
const ERROR: &str = include_str!("fragments/error.md");
const OMITTED: &str = include_str!("fragments/omitted.txt");
const FILES_OMITTED: &str = include_str!("fragments/files_omitted.txt");

/// The most ranges of left-out messages that are named.
const MOST_RANGES: usize = 8;
/// The most UTF-16 units of the line about left-out messages.
pub(super) const OMITTED_UNITS: usize = 320;

/// The title of the facts after a summary.
pub(crate) fn kept_title() -> &'static str {
    OPENING.lines().next().unwrap_or_default()
}

/// A part of the appendix, and the number of items it holds.
#[derive(Debug, Default)]
pub(super) struct AppendixPart {
    pub(super) text: String,
    pub(super) items: usize,
}

/// A titled list with as many items, in order, as fit.
fn list(title: &str, limit: usize, lines: impl Iterator<Item = String>) -> (BoundedText, usize) {
    let mut page = BoundedText::new(limit);
    page.line("");
    if !page.line(title.trim_end()) {
        return (BoundedText::default(), 0);
    }
    let empty = page.units();
    let items = lines.take_while(|line| page.line(line)).count();
    if page.units() > empty {
        (page, items)
    } else {
        (BoundedText::default(), 0)
    }
}

fn part((page, items): (BoundedText, usize)) -> AppendixPart {
    AppendixPart {
        text: page.into_text(),
        items,
    }
}

pub(super) fn cancelled(all: &[&CancelledAction], limit: usize) -> AppendixPart {
    let lines = all
        .iter()
        .rev()
        .map(|one| format!("- {}", turned_down(one)));
    part(list(CANCELLED, limit, lines))
}

/// A plan or call that the user turned down, and the user's comment.
pub(super) fn turned_down(one: &CancelledAction) -> String {
    let what = match one.kind {
        CancelledActionKind::Plan => "Plan",
        CancelledActionKind::Call => "Call",
    };
    match &one.said {
        Some(said) => format!(
            "{what} “{}”; the user said: “{}”",
            inline(&one.title),
            inline(said)
        ),
        None => format!("{what} “{}”", inline(&one.title)),
    }
}

pub(super) fn todos(open: &[&TodoFact], limit: usize) -> AppendixPart {
    part(list(TODOS, limit, open.iter().map(|todo| item(todo))))
}

/// An item of a list of work, as a line.
pub(crate) fn item(todo: &TodoFact) -> String {
    format!("- ({}) {}", inline(&todo.status), inline(&todo.content))
}

/// Open work with the words with which the user called it off.
pub(super) fn called_off(open: &[&TodoFact], said: &str, limit: usize) -> AppendixPart {
    let said = format!("The user said: {said}");
    let lines = std::iter::once(said).chain(open.iter().map(|todo| item(todo)));
    let (page, items) = list(CALLED_OFF, limit, lines);
    part((page, items.saturating_sub(1)))
}

pub(super) fn files(files: &[&TouchedFile], limit: usize) -> AppendixPart {
    let note = |left: usize| {
        FILES_OMITTED
            .trim_end()
            .replace("{count}", &left.to_string())
    };
    let reserve = utf16_len(&note(files.len())) + 1;
    let lines = || {
        files
            .iter()
            .map(|file| format!("- {} ({})", inline(&file.path), file.state()))
    };
    let (page, items) = list(FILES, limit, lines());
    if items == files.len() {
        return part((page, items));
    }
    let (page, items) = list(FILES, limit.saturating_sub(reserve), lines());
    let mut text = page.into_text();
    if items > 0 {
        text.push_str(&note(files.len() - items));
        text.push('\n');
    }
    AppendixPart { text, items }
}

pub(super) fn error(error: &LastError, limit: usize) -> AppendixPart {
    let who = match (error.source, &error.tool, &error.about) {
        (ErrorSource::Api, _, _) => "The API".to_owned(),
        (ErrorSource::Tool, Some(tool), Some(about)) => {
            format!("{} ({})", inline(tool), inline(about))
        }
        (ErrorSource::Tool, Some(tool), None) => inline(tool).into_owned(),
        (ErrorSource::Tool, None, _) => "A tool".to_owned(),
    };
    let since = if error.succeeded_since {
        " (it has succeeded since)"
    } else {
        ""
    };
    let mut page = BoundedText::new(limit);
    page.line("");
    let about = page.line(ERROR.trim_end()) && page.line(&format!("{who} failed{since}:"));
    let room = page.room().saturating_sub(1);
    if !about || room < 40 {
        return AppendixPart::default();
    }
    page.line(&quoted_within(error.text.trim(), room));
    part((page, 1))
}

/// Quotes a foreign text in at most this many UTF-16 units, including its quotation marks.
pub(crate) fn quoted_within(text: &str, most: usize) -> String {
    let whole = quoted(text);
    if utf16_len(&whole) <= most {
        return whole;
    }
    // The marks take up as much as they do in the whole text, or less.
    let marks = utf16_len(&whole).saturating_sub(utf16_len(text));
    let mut room = most.saturating_sub(marks);
    if room < most / 2 {
        room = most / 2;
    }
    loop {
        let short = quoted(&shorten(text, room));
        if utf16_len(&short) <= most || room == 0 {
            return short;
        }
        room -= room.div_ceil(4);
    }
}

/// A rule, with the message it comes from.
pub(super) fn rule(rule: &UserRule, most: usize) -> String {
    let kind = match rule.kind {
        RuleKind::Rule => "",
        RuleKind::Cancellation => "(called off) ",
        RuleKind::Revocation => "(takes back) ",
    };
    let lead = format!("- [{}] {kind}", rule.ordinal);
    let room = most.saturating_sub(utf16_len(&lead) + 1);
    format!("{lead}{}\n", shorten(&rule.text, room))
}

/// A message in at most this many UTF-16 units. A message of several lines is placed between marks that do not occur in
/// it.
pub(crate) fn message(message: &UserMessage, most: usize) -> String {
    let (number, media) = (message.ordinal, message.media());
    let lines = message.text.trim().contains(is_break);
    let (lead, mut close) = if lines {
        let fence = QuoteFence::around(&number.to_string(), &message.text);
        (format!("{}\n", fence.open), format!("\n{}\n", fence.close))
    } else {
        (format!("[{number}] "), "\n".to_owned())
    };
    if !media.is_empty() {
        close.insert_str(0, &format!(" {media}"));
    }
    let room = most.saturating_sub(utf16_len(&lead) + utf16_len(&close));
    let (head, tail) = message.parts();
    let missing = message.cut.as_ref().map_or(0, |cut| cut.bytes);
    let text = match missing {
        0 => shorten(message.text.trim(), room),
        _ => shorten_gapped((head.trim_start(), tail.trim_end()), missing, room),
    };
    [lead, text, close].concat()
}

/// Lists the messages that were left out.
pub(super) fn omitted(ordinals: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for ordinal in ordinals {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *ordinal => *last = *ordinal,
            _ => ranges.push((*ordinal, *ordinal)),
        }
    }
    let mut named: Vec<String> = ranges
        .iter()
        .take(MOST_RANGES)
        .map(|(first, last)| {
            if first == last {
                format!("[{first}]")
            } else {
                format!("[{first}] to [{last}]")
            }
        })
        .collect();
    if ranges.len() > MOST_RANGES {
        named.push("…".to_owned());
    }
    let count = ordinals.len().to_string();
    let line = OMITTED.trim_end().replace("{count}", &count);
    line.replace("{ranges}", &named.join(", ")) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x1_what_frames_the_facts_is_short() {
        let fragments = [
            OPENING,
            RULES,
            MESSAGES,
            CANCELLED,
            CALLED_OFF,
            TODOS,
            FILES,
            ERROR,
            OMITTED,
            FILES_OMITTED,
        ];
        for fragment in fragments {
            assert!(fragment.len() <= 340, "{fragment}");
            assert!(fragment.ends_with('\n'), "{fragment}");
        }
    }

    #[test]
    fn x1_the_line_about_left_out_messages_is_bounded() {
        let every_other: Vec<u32> = (0..4_000).map(|at| 1_000_000 + at * 2).collect();
        assert!(utf16_len(&omitted(&every_other)) <= OMITTED_UNITS);
        assert_eq!(
            omitted(&[2, 3, 4, 9]),
            "(Left out for lack of room: 4 of the user's messages, [2] to [4], [9]. They are in the transcript.)\n"
        );
    }
}
