//! The parts of an oversized result that are sent: its beginning, its end, and lines between them that speak of errors.
//! What is oversized is fixed where the user wants such results smaller, and depends on the room where a window has none.

use super::ResultText;
use crate::normalize::fragment::fill;
use crate::quoting::inline;

const EXCERPT: &str = include_str!("fragments/excerpt.txt");
const EXCERPT_ERRORS: &str = include_str!("fragments/excerpt_errors.txt");
const SHORTENED: &str = include_str!("fragments/shortened.txt");
const SHORTENED_ERRORS: &str = include_str!("fragments/shortened_errors.txt");

/// A result with more characters is oversized.
const MOST: usize = 12_000;
/// The characters of the beginning and of the end.
const END: usize = 4_000;
/// The characters of the error lines in all, and of one of them.
const ERRORS: usize = 2_000;
/// A result is not shortened to fewer characters than this.
const LEAST: usize = 600;
const ERROR_LINE: usize = 300;
/// Words that error lines contain, in any case.
const ERROR_WORDS: [&[u8]; 7] = [
    b"error",
    b"fail",
    b"panic",
    b"exception",
    b"fatal",
    b"traceback",
    b"denied",
];

/// How much is sent of a result, in characters.
#[derive(Clone, Copy)]
struct ExcerptSize {
    /// The beginning, and the end.
    end: usize,
    /// The error lines between them.
    errors: usize,
}

/// Returns the parts of a result that are sent, or `None` if it is not oversized.
pub(super) fn excerpt(result: ResultText<'_>) -> Option<String> {
    let total = result.text.chars().count();
    let size = ExcerptSize {
        end: END,
        errors: ERRORS,
    };
    (total > MOST).then(|| parts(result, total, size, [EXCERPT, EXCERPT_ERRORS]))
}

/// Shortens a result that the window has no room for to about `most` characters: its beginning, its end, and lines
/// between them that speak of errors. `None` if it is no longer than that.
pub fn shorten(result: ResultText<'_>, most: usize) -> Option<String> {
    let total = result.text.chars().count();
    let most = most.max(LEAST);
    let errors = (most / 5).min(ERRORS);
    let size = ExcerptSize {
        end: (most - errors) / 2,
        errors,
    };
    let text = (total > most).then(|| parts(result, total, size, [SHORTENED, SHORTENED_ERRORS]))?;
    // The note takes some room, too.
    (text.len() < result.text.len()).then_some(text)
}

fn parts(
    result: ResultText<'_>,
    total: usize,
    size: ExcerptSize,
    [plain, with_errors]: [&str; 2],
) -> String {
    let text = result.text;
    let head = head_of(text, size.end);
    let tail = tail_of(&text[head.len()..], size.end);
    let middle = &text[head.len()..text.len() - tail.len()];
    let left = total - head.chars().count() - tail.chars().count();
    let first = count_lines(head) + 1;
    let errors = error_lines(middle, first, size.errors);
    let fragment = if errors.is_empty() {
        plain
    } else {
        with_errors
    };
    let note = fill(
        fragment,
        &[
            ("left", &left.to_string()),
            ("total", &total.to_string()),
            ("from", &first.to_string()),
            (
                "to",
                &(first + count_lines(middle.trim_end_matches('\n'))).to_string(),
            ),
            ("call", &inline(result.call)),
        ],
    );
    let gap = if head.ends_with('\n') { "" } else { "\n" };
    [head, gap, &note, "\n", &errors, tail].concat()
}

fn count_lines(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count()
}

/// The beginning, up to the end of a line if there is one in its second half.
fn head_of(text: &str, most: usize) -> &str {
    let end = text
        .char_indices()
        .nth(most)
        .map_or(text.len(), |(at, _)| at);
    let head = &text[..end];
    match memchr::memrchr(b'\n', head.as_bytes()) {
        Some(at) if at >= end / 2 => &head[..=at],
        _ => head,
    }
}

/// The end, from the beginning of a line if there is one in its first half.
fn tail_of(text: &str, most: usize) -> &str {
    let start = text
        .char_indices()
        .rev()
        .nth(most.saturating_sub(1))
        .map_or(0, |(at, _)| at);
    let tail = &text[start..];
    match memchr::memchr(b'\n', tail.as_bytes()) {
        Some(at) if at < tail.len() / 2 => &tail[at + 1..],
        _ => tail,
    }
}

/// Lines that speak of errors, each with its number, as far as there is room.
fn error_lines(text: &str, first: usize, mut room: usize) -> String {
    let mut found = String::new();
    for (number, line) in (first..).zip(text.split('\n')) {
        if !speaks_of_errors(line) {
            continue;
        }
        let end = line
            .char_indices()
            .nth(ERROR_LINE)
            .map_or(line.len(), |(at, _)| at);
        let shown = line[..end].trim_end();
        let entry = format!("{number}| {shown}\n");
        let size = entry.chars().count();
        if size > room {
            break;
        }
        room -= size;
        found.push_str(&entry);
    }
    found
}

fn speaks_of_errors(line: &str) -> bool {
    // What a line is about is said at its beginning.
    let line = &line.as_bytes()[..line.len().min(4 * ERROR_LINE)];
    ERROR_WORDS.iter().any(|word| {
        line.windows(word.len())
            .any(|part| part.eq_ignore_ascii_case(word))
    })
}
