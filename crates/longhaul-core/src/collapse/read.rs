//! Reads folds from the model's reply, or the reason why it holds none.

use crate::quoting::without_claims;
use crate::summary::{
    SummaryFailure, SummaryReplyText, SummaryStop, collapsed, says_something, without_summary,
};

/// The folds that were requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestedFolds {
    /// The number of spans.
    pub spans: usize,
    /// Whether earlier folds were to be condensed.
    pub earlier: super::EarlierFolds,
}

/// The folds of a reply: none is blank, none is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoldReply {
    /// The text that replaces all earlier folds, if one was requested.
    pub condensed: Option<String>,
    /// A text for each span, in order.
    pub spans: Vec<String>,
}

/// Reads a reply. A reply with anything missing is a failure: what a fold does not say is lost to the conversation. If
/// two folds have the same number, the first one counts; folds that were not requested are ignored.
///
/// # Errors
/// Fails if the reply holds no folds, lacks one that was requested, calls a tool, was declined or was cut off. The
/// spans are then left as they are, or folded without a model.
pub fn read(
    reply: SummaryReplyText<'_>,
    wanted: RequestedFolds,
) -> Result<FoldReply, SummaryFailure> {
    reply.is_text()?;
    let found = ParsedFold::all(reply.text);
    let closed = |found: &&ParsedFold<'_>| found.end == FoldTagEnd::Closed;
    if matches!(reply.stop, SummaryStop::CutOff | SummaryStop::WindowFull)
        && !found.last().is_some_and(|last| closed(&last))
    {
        let sections = found.iter().filter(closed).count();
        return Err(SummaryFailure::Truncated { sections });
    }
    if found.is_empty() {
        return Err(without_summary(reply.text));
    }
    let fold = |number: usize| {
        let fold = found.iter().find(|fold| fold.number == number);
        let body = fold.ok_or(SummaryFailure::MissingFold { number })?.body;
        let text = collapsed(&without_claims(body));
        if says_something(&text) {
            Ok(text)
        } else {
            Err(SummaryFailure::Empty)
        }
    };
    Ok(FoldReply {
        condensed: match wanted.earlier {
            super::EarlierFolds::Condense => Some(fold(0)?),
            super::EarlierFolds::Stay => None,
        },
        spans: (1..=wanted.spans).map(fold).collect::<Result<_, _>>()?,
    })
}

/// Whether a fold's closing tag is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FoldTagEnd {
    Closed,
    Open,
}

/// A fold of a reply.
#[derive(Debug)]
struct ParsedFold<'a> {
    number: usize,
    body: &'a str,
    end: FoldTagEnd,
}

impl<'a> ParsedFold<'a> {
    /// Finds all folds, in their order of appearance. A fold extends to its last closing tag before the next fold, so
    /// that a fold may mention the tag; without a closing tag, it extends to the next fold.
    fn all(text: &'a str) -> Vec<Self> {
        let opens: Vec<FoldOpeningTag> = openings(text);
        let ends = opens.iter().skip(1).map(|next| next.from);
        let ends = ends.chain([text.len()]);
        opens
            .iter()
            .zip(ends)
            .map(|(open, end)| {
                let inside = &text[open.to..end];
                let (body, end) = match closing(inside) {
                    Some(at) => (&inside[..at], FoldTagEnd::Closed),
                    None => (inside, FoldTagEnd::Open),
                };
                Self {
                    number: open.number,
                    body,
                    end,
                }
            })
            .collect()
    }
}

/// An opening tag: where it begins and where it ends.
struct FoldOpeningTag {
    number: usize,
    from: usize,
    to: usize,
}

/// The opening tags that begin a line, or that follow another tag; a tag inside a sentence is only a mention.
fn openings(text: &str) -> Vec<FoldOpeningTag> {
    let mut found = Vec::new();
    for from in memchr::memchr_iter(b'<', text.as_bytes()) {
        let before = text[..from].trim_end_matches([' ', '\t']);
        let begins = before.is_empty() || before.ends_with(['\n', '>']);
        let opening = begins.then(|| opening(&text[from + 1..])).flatten();
        found.extend(opening.map(|(number, length)| FoldOpeningTag {
            number,
            from,
            to: from + 1 + length,
        }));
    }
    found
}

/// The number of an opening tag, and the length of the tag after its bracket.
fn opening(inside: &str) -> Option<(usize, usize)> {
    let rest = named(inside.trim_start())?;
    let rest = rest.strip_prefix(char::is_whitespace)?.trim_start();
    let rest = rest.strip_prefix(['n', 'N'])?.trim_start();
    let rest = rest.strip_prefix('=')?.trim_start();
    let rest = rest.trim_start_matches(['"', '\'']);
    let digits = rest.find(|c: char| !c.is_ascii_digit())?;
    let number = rest[..digits].parse().ok()?;
    let rest = rest[digits..].trim_start_matches(['"', '\'']).trim_start();
    let rest = rest.strip_prefix('>')?;
    Some((number, inside.len() - rest.len()))
}

/// Where the last closing tag begins.
fn closing(text: &str) -> Option<usize> {
    memchr::memrchr_iter(b'<', text.as_bytes()).find(|at| {
        let inside = text[at + 1..].trim_start().strip_prefix('/');
        let rest = inside.and_then(|inside| named(inside.trim_start()));
        rest.is_some_and(|rest| rest.trim_start().starts_with('>'))
    })
}

/// The text after the tag's name, in any case.
fn named(inside: &str) -> Option<&str> {
    let name = inside.get(..4)?;
    name.eq_ignore_ascii_case("fold").then(|| &inside[4..])
}
