//! The change itself, on texts. The file's line ends are kept: text that the model writes with `\n` is searched for and
//! inserted with `\r\n` if the file uses that.

use std::borrow::Cow;

use thiserror::Error;

use super::nearest::nearest;

/// Which occurrences are replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplaceScope {
    /// The only occurrence.
    One,
    /// All occurrences.
    All,
}

/// A changed text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ChangedText {
    pub(super) text: String,
    pub(super) places: usize,
    /// The line of the first occurrence, counted from 1.
    pub(super) line: usize,
}

impl ChangedText {
    pub(super) fn new_file(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            places: 1,
            line: 1,
        }
    }
}

/// Why nothing was changed.
#[derive(Debug, Error, PartialEq, Eq)]
pub(super) enum ReplaceError {
    #[error("old_string is empty, but the file is not. Give the text to replace, or use Write.")]
    NothingNamed,
    #[error("old_string is not in it. {0}")]
    NotFound(String),
    #[error(
        "old_string is in it {places} times (lines {lines}). Give more of the text around the one you mean, or set replace_all."
    )]
    Ambiguous { places: usize, lines: String },
}

/// The maximum number of line numbers that are listed.
const NAMED: usize = 10;

/// Replaces a text by another.
pub(super) fn change(
    text: &str,
    old: &str,
    new: &str,
    places: ReplaceScope,
) -> Result<ChangedText, ReplaceError> {
    const BOM: char = '\u{FEFF}';
    let start = if text.starts_with(BOM) {
        BOM.len_utf8()
    } else {
        0
    };
    let (mark, body) = text.split_at(start);
    if old.is_empty() {
        return if body.is_empty() {
            Ok(ChangedText::new_file(&format!("{mark}{new}")))
        } else {
            Err(ReplaceError::NothingNamed)
        };
    }
    let old = if body.contains(old) {
        Cow::Borrowed(old)
    } else {
        with_crlf(old)
    };
    let new = if is_crlf(body) {
        with_crlf(new)
    } else {
        Cow::Borrowed(new)
    };
    let found: Vec<usize> = body.match_indices(&*old).map(|(at, _)| at).collect();
    let line_of = |at: usize| body[..at].matches('\n').count() + 1;
    let changed = match (found.as_slice(), places) {
        ([], _) => return Err(ReplaceError::NotFound(nearest(body, &old))),
        ([_], _) | (_, ReplaceScope::All) => body.replace(&*old, &new),
        (several, ReplaceScope::One) => {
            let mut lines: Vec<String> = (several.iter().take(NAMED))
                .map(|at| line_of(*at).to_string())
                .collect();
            if several.len() > NAMED {
                lines.push("…".to_owned());
            }
            return Err(ReplaceError::Ambiguous {
                places: several.len(),
                lines: lines.join(", "),
            });
        }
    };
    Ok(ChangedText {
        text: format!("{mark}{changed}"),
        places: found.len(),
        line: found.first().map_or(1, |at| line_of(*at)),
    })
}

/// Whether most lines end with `\r\n`.
fn is_crlf(text: &str) -> bool {
    let all = text.matches('\n').count();
    all > 0 && text.matches("\r\n").count() * 2 > all
}

fn with_crlf(text: &str) -> Cow<'_, str> {
    if text.contains('\n') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\n', "\r\n"))
    } else {
        Cow::Borrowed(text)
    }
}
