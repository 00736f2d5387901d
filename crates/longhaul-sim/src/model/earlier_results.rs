//! Results that hosts send in a smaller form: a pointer to an identical result, or what changed since a file was read
//! before. A model reads through them to the earlier result. If that is no longer in view, the model knows only that
//! there was one: it must not take the note for the result.
//!
//! The forms are those of `longhaul_core::reduce`; a test holds this module against them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::request::ApiBlock;

/// How each form begins, up to the id of the earlier call.
const SAME: &str = "[This result is the same, character for character, as that of the call ";
const CHANGED: &str = "[This file was read before, by the call ";
/// What follows the id of the earlier call in notes of earlier versions.
const ABOVE: &str = " further up";
/// How hosts begin the note in place of a result that they cleared.
const CLEARED: [&str; 2] = [
    "[This result was cleared",
    "[Old tool result content cleared",
];
/// The longest chain of results that refer to each other.
const DEEPEST: u8 = 16;

/// What a result says.
#[derive(Debug, Clone)]
pub(super) enum ReadResult {
    /// What was sent.
    AsSent,
    /// The text of the result that was sent in a smaller form.
    Restored(Arc<str>),
    /// The result that the note refers to, or that it stands for, is no longer in view.
    OutOfView,
}

/// Reads a result; `results` are all results in view, by the id of their call.
pub(super) fn read(block: &ApiBlock, results: &BTreeMap<&str, &ApiBlock>) -> ReadResult {
    restored(block, results, 0)
}

fn restored(block: &ApiBlock, results: &BTreeMap<&str, &ApiBlock>, depth: u8) -> ReadResult {
    let text = block.result_text();
    if CLEARED.iter().any(|note| text.starts_with(note)) && text.lines().count() == 1 {
        return ReadResult::OutOfView;
    }
    let Some((form, base)) = [SAME, CHANGED]
        .into_iter()
        .find_map(|form| Some((form, earlier_call(text.strip_prefix(form)?)?)))
    else {
        return ReadResult::AsSent;
    };
    let Some(base) = results.get(base).filter(|_| depth < DEEPEST) else {
        return ReadResult::OutOfView;
    };
    let before = match restored(base, results, depth + 1) {
        ReadResult::AsSent => Arc::from(base.result_text()),
        ReadResult::Restored(text) => text,
        ReadResult::OutOfView => return ReadResult::OutOfView,
    };
    match form {
        SAME => ReadResult::Restored(before),
        _ => ReadResult::Restored(changed(&before, &text).into()),
    }
}

/// The call that a note refers to, given everything after the form's beginning. `None` if it names none: a file about
/// such notes is no note.
fn earlier_call(rest: &str) -> Option<&str> {
    let is_in_id = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    let end = rest.find(|letter| !is_in_id(letter))?;
    let (id, after) = rest.split_at(end);
    let after = after.strip_prefix(ABOVE).unwrap_or(after);
    (!id.is_empty() && after.starts_with([',', '.'])).then_some(id)
}

/// A text made of an earlier one and of what changed since.
fn changed(before: &str, note: &str) -> String {
    let old = Before::read(before);
    let mut lines: Vec<String> = Vec::new();
    for line in note.split('\n').skip(1) {
        if let Some(new) = line.strip_prefix('+') {
            lines.push(new.to_owned());
        } else if let Some((now, there)) = line.strip_prefix("= ").and_then(spans) {
            lines.extend(old.lines(there).zip(now..).map(|(line, number)| {
                if old.numbered {
                    format!("{number:>6}\t{line}")
                } else {
                    line.to_owned()
                }
            }));
        }
    }
    lines.join("\n")
}

/// The number of the first line of `41-100` or `42-101 (41-100)` now, and the numbers of all of them before.
fn spans(text: &str) -> Option<(usize, (usize, usize))> {
    let span = |text: &str| {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        Some((first.parse::<usize>().ok()?, last.parse::<usize>().ok()?))
    };
    let (now, there) = match text.split_once(" (") {
        Some((now, there)) => (now, there.strip_suffix(')')?),
        None => (text, text),
    };
    Some((span(now)?.0, span(there)?))
}

/// The lines of an earlier result by their numbers: those that it shows, or their positions.
struct Before<'t> {
    numbered: bool,
    lines: BTreeMap<usize, &'t str>,
}

impl<'t> Before<'t> {
    fn read(text: &'t str) -> Self {
        let numbered: BTreeMap<usize, &str> = text.split('\n').filter_map(numbered).collect();
        match numbered.is_empty() {
            false => Self {
                numbered: true,
                lines: numbered,
            },
            true => Self {
                numbered: false,
                lines: (1..).zip(text.split('\n')).collect(),
            },
        }
    }

    fn lines(&self, (first, last): (usize, usize)) -> impl Iterator<Item = &'t str> {
        let is_there = |line: &(&usize, &&'t str)| (first..=last).contains(line.0);
        let found = self.lines.iter().filter(is_there);
        found.map(|(_, line)| *line).collect::<Vec<_>>().into_iter()
    }
}

/// A line with its number in front, as `cat -n` and similar tools write it.
pub(super) fn numbered(line: &str) -> Option<(usize, &str)> {
    let trimmed = line.trim_start_matches(' ');
    let digits = trimmed.len()
        - trimmed
            .trim_start_matches(|letter: char| letter.is_ascii_digit())
            .len();
    let number = trimmed[..digits].parse().ok()?;
    let rest = &trimmed[digits..];
    let text = rest.strip_prefix('→').or_else(|| rest.strip_prefix('\t'))?;
    Some((number, text))
}

#[cfg(test)]
mod tests {
    use longhaul_core::config::ResultReduction;
    use longhaul_core::reduce::{ReductionCandidate, ResultText, reduce};
    use serde_json::{Value, json};

    use super::*;

    fn block(text: &str) -> ApiBlock {
        let value = json!({ "type": "tool_result", "content": text });
        let Value::Object(fields) = value else {
            unreachable!("it is an object")
        };
        ApiBlock {
            kind: "tool_result".to_owned(),
            raw: "".into(),
            fields,
            marker: None,
        }
    }

    /// How the second of two results is sent, and what is read of it.
    fn sent_and_read(before: &str, now: &str) -> (String, ReadResult) {
        let base = ResultText {
            call: "toolu_1",
            text: before,
        };
        let candidate = ReductionCandidate {
            result: ResultText {
                call: "toolu_2",
                text: now,
            },
            same: (before == now).then_some("toolu_1"),
            earlier: &[base],
        };
        let sent = reduce(&candidate, ResultReduction::Exact).unwrap().text;
        let first = block(before);
        let results = BTreeMap::from([("toolu_1", &first)]);
        let read = read(&block(&sent), &results);
        (sent, read)
    }

    fn shown(lines: impl Iterator<Item = String>) -> String {
        let lines = lines
            .enumerate()
            .map(|(at, line)| format!("{:>6}\t{line}", at + 1));
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn v8_the_forms_that_the_engine_sends_are_read_back() {
        let line = |at: usize| format!("let value_{at} = compute({at}, \"some words\");");
        let before = shown((1..=60).map(line));
        let inserted = (1..=61).map(|at| match at {
            ..=20 => line(at),
            21 => "// One line more.".to_owned(),
            _ => line(at - 1),
        });
        for now in [
            before.clone(),
            shown(inserted),
            shown((1..=60).map(|at| line(if at == 9 { 900 } else { at }))),
        ] {
            let (sent, read) = sent_and_read(&before, &now);
            assert!(sent.len() < now.len() / 2, "{sent}");
            let ReadResult::Restored(text) = read else {
                panic!("{sent}: {read:?}");
            };
            assert_eq!(&*text, now);
        }
        let plain = "src/a.rs:4:    let gross = 1;\n".repeat(20);
        let (_, read) = sent_and_read(&plain, &plain);
        assert!(matches!(read, ReadResult::Restored(text) if *text == *plain));
    }

    #[test]
    fn v8_a_pointer_to_nothing_is_told_from_a_result() {
        let pointer = block(&format!("{SAME}toolu_9, and is not repeated.]"));
        let read_alone = |block: &ApiBlock| read(block, &BTreeMap::new());
        assert!(matches!(read_alone(&pointer), ReadResult::OutOfView));
        let earlier = block(&format!("{SAME}toolu_9{ABOVE}, and is not repeated.]"));
        assert!(matches!(read_alone(&earlier), ReadResult::OutOfView));
        let cleared = block("[This result was cleared to save room. Run the tool again.]");
        assert!(matches!(read_alone(&cleared), ReadResult::OutOfView));
        // One that refers to itself has no end.
        let itself = BTreeMap::from([("toolu_9", &pointer)]);
        assert!(matches!(read(&pointer, &itself), ReadResult::OutOfView));
        let about = block(&format!("{SAME}{{base}}, and is not repeated.]"));
        assert!(matches!(read_alone(&about), ReadResult::AsSent));
    }
}
