//! What the agent knows of a file: its newest reading without line numbers, updated by its own edits since. A failed
//! edit means that the file is not as the agent thought; then the agent knows nothing of it until it reads the file
//! again.

use serde_json::Value;

use crate::model::conversation::ToolExchange;
use crate::model::earlier_results::numbered;
use crate::model::toolbox::{PATH_FIELDS, ToolPurpose, kind_of_name};

/// A file as the agent believes it to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RememberedFile {
    /// The path of the file.
    pub(super) path: String,
    /// The text of the file, or of the part that was read.
    pub(super) text: String,
    /// The number of the first known line.
    pub(super) first: usize,
}

impl RememberedFile {
    /// The number of lines that the agent knows.
    pub(super) fn lines(&self) -> usize {
        self.text.lines().count()
    }
}

/// The files whose content the agent knows, newest first, at most `most` of them.
pub(super) fn held(exchanges: &[ToolExchange<'_>], most: usize) -> Vec<RememberedFile> {
    let mut paths: Vec<&str> = Vec::new();
    for exchange in exchanges.iter().rev() {
        let reads = matches!(
            kind_of_name(exchange.name),
            ToolPurpose::Read | ToolPurpose::Write | ToolPurpose::Editor
        );
        if reads
            && exchange.succeeded()
            && let Some(path) = exchange.input_any(PATH_FIELDS)
            && !paths.contains(&path)
        {
            paths.push(path);
            if paths.len() == most {
                break;
            }
        }
    }
    paths
        .into_iter()
        .filter_map(|path| one(exchanges, path))
        .collect()
}

/// What the agent knows of one file.
pub(super) fn one(exchanges: &[ToolExchange<'_>], path: &str) -> Option<RememberedFile> {
    let mut held: Option<RememberedFile> = None;
    let with = |text: String, first: usize| {
        Some(RememberedFile {
            path: path.to_owned(),
            text,
            first,
        })
    };
    // Only the newest reading matters; edits before it need not be applied.
    let about = |exchange: &&ToolExchange<'_>| exchange.input_any(PATH_FIELDS) == Some(path);
    let begin = exchanges.iter().rposition(|exchange| {
        about(&exchange)
            && exchange.succeeded()
            && kind_of_name(exchange.name) == ToolPurpose::Read
            && !exchange.is_out_of_view()
            && !is_as_before(&exchange.text())
    });
    for exchange in exchanges.iter().skip(begin.unwrap_or(0)).filter(about) {
        let kind = match (kind_of_name(exchange.name), exchange.input_text("command")) {
            (ToolPurpose::Editor, Some("view")) => ToolPurpose::Read,
            (ToolPurpose::Editor, Some("str_replace")) => ToolPurpose::Edit,
            (ToolPurpose::Editor, Some("create")) => ToolPurpose::Write,
            (ToolPurpose::Editor, _) => ToolPurpose::Delicate,
            (kind, _) => kind,
        };
        match kind {
            ToolPurpose::Read if exchange.is_out_of_view() => held = None,
            ToolPurpose::Read if exchange.succeeded() && is_as_before(&exchange.text()) => {}
            ToolPurpose::Read if exchange.succeeded() => {
                held = content(&exchange.text()).and_then(|(first, text)| with(text, first));
            }
            ToolPurpose::Write if exchange.succeeded() => {
                let text = exchange.input_any(&["content", "file_text"]);
                held = text.and_then(|text| with(text.to_owned(), 1));
            }
            ToolPurpose::Edit | ToolPurpose::MultiEdit => {
                let kept = exchange.succeeded() && carry(&mut held, exchange);
                held = held.filter(|_| kept);
            }
            ToolPurpose::Delicate => held = None,
            _ => {}
        }
    }
    held
}

/// Whether a host says in place of a file that it is still as it was shown before.
fn is_as_before(shown: &str) -> bool {
    shown.len() < 400
        && shown.contains("unchanged")
        && shown.lines().all(|line| numbered(line).is_none())
}

/// Applies an edit to the known text; returns false where it does not fit.
fn carry(held: &mut Option<RememberedFile>, exchange: &ToolExchange<'_>) -> bool {
    let Some(held) = held else {
        return true;
    };
    let mut apply = |old: Option<&str>, new: Option<&str>| match (old, new) {
        (Some(old), Some(new)) if held.text.contains(old) => {
            held.text = held.text.replacen(old, new, 1);
            true
        }
        _ => false,
    };
    match exchange.input.get("edits").and_then(Value::as_array) {
        Some(edits) => edits.iter().all(|edit| {
            apply(
                edit.get("old_string").and_then(Value::as_str),
                edit.get("new_string").and_then(Value::as_str),
            )
        }),
        None => apply(
            exchange.input_any(&["old_string", "old_str"]),
            exchange.input_any(&["new_string", "new_str"]),
        ),
    }
}

/// The text of a file as a reading tool showed it, and the number of its first line.
fn content(shown: &str) -> Option<(usize, String)> {
    let mut first = None;
    let mut text = String::new();
    for line in shown.lines().skip_while(|line| numbered(line).is_none()) {
        match numbered(line) {
            Some((number, line)) => {
                first.get_or_insert(number);
                text.push_str(line);
                // Every line ends, so that an empty last one counts, too.
                text.push('\n');
            }
            // The host's own text follows the numbered lines.
            _ => break,
        }
    }
    if let Some(first) = first {
        return Some((first, text));
    }
    let stub =
        shown.len() < 400 && (shown.starts_with(['<', '[', '(']) || shown.contains("unchanged"));
    (!stub && !shown.trim().is_empty()).then(|| (1, shown.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_numbers_and_what_the_host_adds_are_taken_off() {
        let shown = "     7→fn a() {\n     8→}\n\n<system-reminder>be kind</system-reminder>";
        assert_eq!(content(shown), Some((7, "fn a() {\n}\n".to_owned())));
        assert_eq!(
            content("1\tone\n2\ttwo"),
            Some((1, "one\ntwo\n".to_owned()))
        );
        assert_eq!(
            content("plain\ntext\n"),
            Some((1, "plain\ntext\n".to_owned()))
        );
        assert_eq!(content("File unchanged since it was last read."), None);
    }
}
