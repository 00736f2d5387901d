//! Folds on request: short summaries of several parts of the conversation, each made from that part alone.
//!
//! A request is recognized by the tags it asks for, `<fold n="…">`, with a word that asks to fold or to summarize. It
//! quotes how each part begins, as it is or with a mark before each line; if a quote is not found, the part begins in
//! the middle between its neighbors.

use super::{room, without_quote_marks};
use crate::model::conversation::{clip, own_words};
use crate::model::digest::{ConversationDigest, LastMessageUse, SectionTopic};
use crate::request::{ApiBlock, ApiMessage, ApiRole};

/// A number of bytes that surely has room for a word.
const BYTES_A_WORD: usize = 5;
/// The number of words in a fold if the request sets no limit.
const WORDS: usize = 300;
/// The number of bytes of a quote that are compared.
const COMPARED: usize = 120;

const HEADINGS: &[(SectionTopic, &str)] = &[
    (SectionTopic::Messages, "Asked"),
    (SectionTopic::Completed, "Done"),
    (SectionTopic::Files, "Files"),
    (SectionTopic::Errors, "Errors"),
    (SectionTopic::Solving, "Said"),
    (SectionTopic::Pending, "Left open"),
];

/// Whether a user's words ask for folds.
pub(super) fn is_asked(words: &str) -> bool {
    const ASKING: &[&str] = &["to be folded", "write one fold", "summar"];
    let lower = words.to_lowercase();
    lower.contains("<fold n=") && ASKING.iter().any(|word| lower.contains(word))
}

/// The folds that these words ask for, of the messages before them, in at most `room` bytes.
pub(super) fn write(messages: &[ApiMessage], words: &str, room: usize) -> String {
    let quotes = quoted(words, "stretch");
    let blocks: Vec<(ApiRole, &ApiBlock)> = messages
        .iter()
        .flat_map(|message| message.content.iter().map(|block| (message.role, block)))
        .collect();
    // The request may share its message with results that belong to the conversation.
    let asks = |(_, block): &(ApiRole, &ApiBlock)| block.text("text").is_some_and(is_asked);
    let mut end = blocks.iter().rposition(asks).unwrap_or(blocks.len());
    if let Some(stays) = quoted(words, "stays").first() {
        end = find(&blocks[..end], 0, stays).unwrap_or(end);
    }
    let starts = starts(&blocks[..end], &quotes);
    let (fold_words, condensed_words) = limits(words);
    let share = room / (quotes.len() + 1).max(2);
    let mut folds = Vec::new();
    if words.contains("<fold n=\"0\">") {
        let earlier = stretch(&blocks[..starts.first().copied().unwrap_or(end)]);
        let text = condensed(&earlier, share.min(condensed_words * BYTES_A_WORD));
        folds.push(format!("<fold n=\"0\">\n{text}\n</fold>"));
    }
    for (index, start) in starts.iter().enumerate() {
        let until = starts.get(index + 1).copied().unwrap_or(end);
        let stretch = stretch(&blocks[*start..until]);
        let text = fold(&stretch, share.min(fold_words * BYTES_A_WORD));
        folds.push(format!("<fold n=\"{}\">\n{text}\n</fold>", index + 1));
    }
    folds.join("\n")
}

/// The texts between tags of this name.
fn quoted<'a>(words: &'a str, tag: &str) -> Vec<&'a str> {
    let (open, close) = (format!("<{tag}"), format!("</{tag}>"));
    let parts = words.split(open.as_str()).skip(1);
    parts
        .filter_map(|part| part.split_once('>'))
        .filter_map(|(_, rest)| rest.split_once(close.as_str()))
        .map(|(quote, _)| quote.trim())
        .collect()
}

/// The maximum number of words in a fold, and in the one for all earlier folds.
fn limits(words: &str) -> (usize, usize) {
    let tokens: Vec<&str> = words.split_whitespace().collect();
    let mut found = tokens.windows(2).filter_map(|pair| match pair[1] {
        "words" => pair[0].parse().ok(),
        _ => None,
    });
    let first = found.next().unwrap_or(WORDS);
    (first, found.next().unwrap_or(first * 4))
}

/// The index of the block where each part begins.
fn starts(blocks: &[(ApiRole, &ApiBlock)], quotes: &[&str]) -> Vec<usize> {
    let mut starts = Vec::with_capacity(quotes.len());
    let mut from = 0;
    for (index, quote) in quotes.iter().enumerate() {
        let left = quotes.len() - index;
        let guess = from + (blocks.len() - from) / (left + 1);
        let start = find(blocks, from, quote).unwrap_or(guess);
        starts.push(start);
        from = (start + 1).min(blocks.len());
    }
    starts
}

/// The first block from an index on that begins like a quote, with the marks of its lines removed or else as it is.
fn find(blocks: &[(ApiRole, &ApiBlock)], from: usize, quote: &str) -> Option<usize> {
    find_bare(blocks, from, &without_quote_marks(quote)).or_else(|| find_bare(blocks, from, quote))
}

fn find_bare(blocks: &[(ApiRole, &ApiBlock)], from: usize, quote: &str) -> Option<usize> {
    let head = clip(quote.trim_end_matches('…').trim(), COMPARED);
    let begins = |(_, block): &(ApiRole, &ApiBlock)| {
        let text = match block.kind.as_str() {
            "text" => block.text("text").unwrap_or("").to_owned(),
            "tool_result" => block.result_text().into_owned(),
            "tool_use" => {
                // The input as it was written: the order of its fields is part of the quote.
                let input = block
                    .raw
                    .split_once("\"input\":")
                    .map_or("", |(_, input)| input);
                format!(
                    "{} {}",
                    block.text("name").unwrap_or(""),
                    input.trim_start()
                )
            }
            _ => String::new(),
        };
        text.trim_start().starts_with(head)
    };
    let found = blocks[from..].iter().position(begins);
    found.filter(|_| !head.is_empty()).map(|at| from + at)
}

/// Turns blocks into messages again.
fn stretch(blocks: &[(ApiRole, &ApiBlock)]) -> Vec<ApiMessage> {
    let mut messages: Vec<ApiMessage> = Vec::new();
    for (role, block) in blocks {
        match messages.last_mut().filter(|last| last.role == *role) {
            Some(last) => last.content.push((*block).clone()),
            None => messages.push(ApiMessage {
                role: *role,
                content: vec![(*block).clone()],
            }),
        }
    }
    messages
}

fn fold(stretch: &[ApiMessage], room: usize) -> String {
    let digest = ConversationDigest::of(stretch, LastMessageUse::Counts);
    let headings: Vec<(SectionTopic, String)> = HEADINGS
        .iter()
        .map(|(topic, title)| (*topic, (*title).to_owned()))
        .collect();
    let titles: usize = headings.iter().map(|(_, title)| title.len() + 3).sum();
    let bodies = room::share(&digest, &headings, None, room.saturating_sub(titles));
    let mut text = String::new();
    for ((_, title), body) in headings.iter().zip(&bodies) {
        if body != room::NOTHING {
            text.push_str(&format!("{title}:\n{body}\n"));
        }
    }
    if text.is_empty() {
        "Nothing that matters later was said or done here.".to_owned()
    } else {
        clip(text.trim_end(), room.max(40)).to_owned()
    }
}

/// The earlier folds, each truncated to its share.
fn condensed(earlier: &[ApiMessage], room: usize) -> String {
    let words: Vec<String> = earlier.iter().map(own_words).collect();
    let all = words.join("\n");
    let mut parts: Vec<&str> = all.split("\n### ").skip(1).collect();
    if parts.is_empty() {
        parts.push(&all);
    }
    let share = (room / parts.len()).saturating_sub(3).max(20);
    let cut: Vec<&str> = parts.iter().map(|part| clip(part, share)).collect();
    cut.join("\n- ").trim().to_owned()
}
