//! Recall as a tool that can be offered to a model: its definition, and the answers to its calls.
//!
//! An answer is always a text. If a call cannot be answered, the text says why and what to do instead; nothing here
//! fails. All wording is in `fragments/`; `input.rs` reads the model's input, `fragment.rs` fills the gaps.

mod fragment;
mod input;

use serde_json::{Value, json};

use super::lookup::{PathMatch, SearchHit, SearchScope, WordMatch};
use super::record::{ArchiveRecord, TextPage};
use super::{Archive, ArchiveError};
use input::{RecallTarget, RecallToolInput};

/// The name of the tool.
pub const NAME: &str = "recall";

/// The maximum length of a text in one answer, in characters: a few thousand tokens.
const PAGE: u64 = 16_000;
/// The maximum number of matches in one answer.
const HITS: usize = 8;
/// Ids and paths that are repeated to the model are truncated to this many characters.
const ECHO: usize = 200;

/// The definition of the tool, as it appears in a request's `tools`.
pub fn recall_tool() -> Value {
    json!({
        "name": NAME,
        "description": fragment::DESCRIPTION.text(),
        // The schema is our own fragment; a test checks that it parses.
        "input_schema": serde_json::from_str::<Value>(fragment::SCHEMA.text()).unwrap_or_default(),
    })
}

/// Answers a call, given its `input` as JSON.
pub fn answer(archive: &Archive, input: &str) -> String {
    let _span = tracing::debug_span!("answer").entered();
    let answered = match RecallToolInput::read(input) {
        Err(problem) => return fragment::USAGE.with(&[("problem", &problem)]),
        Ok(input) => match &input.wanted {
            RecallTarget::Id(id) => by_id(archive, id, input.offset),
            RecallTarget::Path(path) => by_path(archive, path, input.offset),
            RecallTarget::Words(words) => by_words(archive, words),
        },
    };
    answered.unwrap_or_else(|error| {
        tracing::warn!(%error, "recall");
        fragment::UNAVAILABLE.text().to_owned()
    })
}

fn by_id(archive: &Archive, id: &str, offset: u64) -> Result<String, ArchiveError> {
    if archive.by_id(id)?.is_empty() {
        let unknown = fragment::UNKNOWN_ID.with(&[("id", &echo(id))]);
        return instead(archive, unknown);
    }
    page(archive, id, offset)
}

fn by_path(archive: &Archive, path: &str, offset: u64) -> Result<String, ArchiveError> {
    let Some((fit, records)) = archive.by_path(path)? else {
        let unknown = fragment::UNKNOWN_PATH.with(&[("path", &echo(path))]);
        return instead(archive, unknown);
    };
    let head = match fit {
        PathMatch::SameName => fragment::OTHER_PATH,
        _ => fragment::PATH,
    };
    let mut lines = vec![head.with(&[("path", &echo(path))])];
    lines.extend(listed(&records));
    // A name that matches by chance is not answered with its text.
    match records.first() {
        Some(newest) if fit != PathMatch::SameName => {
            lines.push(String::new());
            lines.push(page(archive, newest.id(), offset)?);
        }
        _ => lines.push(fragment::WHOLE.text().to_owned()),
    }
    Ok(lines.join("\n"))
}

fn by_words(archive: &Archive, words: &str) -> Result<String, ArchiveError> {
    let mut found = archive.search(words, SearchScope::OutOfView, HITS)?;
    if found.hits.is_empty() {
        found = archive.search(words, SearchScope::Everything, HITS)?;
    }
    if found.hits.is_empty() {
        return instead(archive, fragment::NOTHING.text().to_owned());
    }
    let head = match found.matched {
        WordMatch::AllWords => fragment::HITS,
        WordMatch::SomeWords => fragment::SOME_WORDS,
    };
    let mut lines = vec![head.text().to_owned()];
    for SearchHit { record, snippet } in &found.hits {
        lines.push(line(record));
        lines.push(format!("  {}", snippet.with_marks("»", "«").trim()));
    }
    if found.more {
        lines.push(fragment::MORE.text().to_owned());
    }
    lines.push(fragment::WHOLE.text().to_owned());
    Ok(lines.join("\n"))
}

/// A text that says what is missing and what is available instead.
fn instead(archive: &Archive, missing: String) -> Result<String, ArchiveError> {
    // Some of the records are calls, which are not listed next to their results.
    let newest = archive.newest(SearchScope::OutOfView, 2 * HITS)?;
    if newest.is_empty() {
        return Ok(format!("{missing}\n{}", fragment::EMPTY.text()));
    }
    let mut lines = vec![missing, fragment::NEWEST.text().to_owned()];
    lines.extend(listed(&newest));
    Ok(lines.join("\n"))
}

/// One line for each of the first ids; a call and its result share one.
fn listed(records: &[ArchiveRecord]) -> Vec<String> {
    let mut ids: Vec<&str> = Vec::new();
    let mut lines = Vec::new();
    for record in records {
        if lines.len() < HITS && !ids.contains(&record.id()) {
            ids.push(record.id());
            lines.push(line(record));
        }
    }
    lines
}

/// A page of everything that is kept under an id: a call with its result, or the parts of a message.
fn page(archive: &Archive, id: &str, offset: u64) -> Result<String, ArchiveError> {
    let mut whole = String::new();
    for record in archive.by_id(id)? {
        whole.push_str(&format!(
            "{}\n{}\n\n",
            line(&record),
            archive.text(&record)?
        ));
    }
    let page = TextPage::of(whole.trim_end(), offset, PAGE);
    let numbers = [page.offset, page.next.unwrap_or(page.total), page.total].map(|n| n.to_string());
    let [from, to, total] = &numbers;
    let gaps = [("from", &**from), ("to", to), ("total", total), ("id", id)];
    if page.text.is_empty() {
        return Ok(fragment::END.with(&gaps));
    }
    Ok(match page.next {
        Some(_) => format!("{}\n{}", page.text, fragment::PART.with(&gaps)),
        None => page.text,
    })
}

/// Describes a record in one line.
fn line(record: &ArchiveRecord) -> String {
    let when = record
        .timestamp
        .map(|time| time.strftime("%Y-%m-%d %H:%M UTC").to_string());
    let facts = [
        Some(record.id().to_owned()),
        Some(record.kind.name().to_owned()),
        record.tool.clone(),
        record.path.clone(),
        when,
        Some(format!("{} tokens", record.tokens.unpadded())),
        Some(record.presence.name().to_owned()),
    ];
    let facts: Vec<String> = facts
        .into_iter()
        .flatten()
        .map(|fact| echo(&fact))
        .collect();
    format!("[{}]", facts.join(" · "))
}

/// Quotes a foreign text within one of our lines: on a single line and of limited length.
fn echo(text: &str) -> String {
    let short: String = text.chars().take(ECHO).collect();
    let short = short.replace(char::is_control, " ");
    if short.len() < text.len() {
        format!("{short}…")
    } else {
        short
    }
}
