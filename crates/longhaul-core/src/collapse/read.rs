//! From the model's reply to folds, or to the reason why it holds none.

use crate::quoting::without_claims;
use crate::summary::{
    SummaryFailure, SummaryReplyText, SummaryStop, collapsed, says_something, without_summary,
};

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestedFolds {
    /// How many spans.
    pub spans: usize,
    /// Whether earlier folds were to be condensed.
    pub earlier: super::EarlierFolds,
}

/// The folds of a reply: none blank, none missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoldReply {
    /// What takes the place of all earlier folds, if that was asked for.
    pub condensed: Option<String>,
    /// A text for each span, in order.
    pub spans: Vec<String>,
}

/// Reads a reply. Anything less than all that was asked for is a failure: what a fold does not say is lost to the
/// conversation. Of two folds with one number the first counts; those that nobody asked for are passed over.
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
    /// All folds, in the order in which they stand. A fold reaches to its last closing tag before the next fold, so that
    /// one may mention the tag; without any, to the next fold.
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

/// The opening tags that begin a line, or follow another tag; one inside a sentence is merely mentioned.
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

/// The number of an opening tag, and its length behind the bracket.
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

/// What follows the tag's name, whatever its case.
fn named(inside: &str) -> Option<&str> {
    let name = inside.get(..4)?;
    name.eq_ignore_ascii_case("fold").then(|| &inside[4..])
}
