//! Search results for a person: numbered, with time and kind, and with the searched words highlighted.

use std::fmt::{self, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};
use longhaul_store::archive::{
    ArchiveItemKind, ArchiveRecord, PathMatch, SearchHit, Snippet, SnippetPiece, ViewPresence,
    WordMatch,
};

use super::{MatchFit, RecallAnswer};
use crate::terminal::{minute, short, width};
use crate::text::{clean, columns, keep_start, wrap_items};

const HEADING: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const MARK: Style = Style::new()
    .bold()
    .fg_color(Some(anstyle::Color::Ansi(AnsiColor::Yellow)));

pub(super) fn render(session: &Path, answer: &RecallAnswer) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = match answer {
        RecallAnswer::Matches { hits, fit, more } => matches(&mut text, session, hits, *fit, *more),
        RecallAnswer::Whole(parts) => whole(&mut text, parts),
    };
    text
}

fn matches(
    out: &mut String,
    session: &Path,
    hits: &[SearchHit],
    fit: MatchFit,
    more: bool,
) -> fmt::Result {
    let remark = match fit {
        MatchFit::Words(WordMatch::SomeWords) => "Nothing holds all of the words; these hold some:",
        MatchFit::Path(PathMatch::SameName) => {
            "Nothing is about that path; these are files of the same name:"
        }
        _ => "",
    };
    if !remark.is_empty() {
        writeln!(out, "{remark}\n")?;
    }
    let digits = hits.len().to_string().len();
    let indent = digits + 2;
    let room = width().saturating_sub(indent);
    for (number, hit) in (1..).zip(hits) {
        for (at, line) in facts(&hit.record, room).into_iter().enumerate() {
            match at {
                0 => writeln!(out, "{HEADING}{number:>digits$}{HEADING:#}  {line}")?,
                _ => writeln!(out, "{:indent$}{line}", "")?,
            }
        }
        for line in lines(&hit.snippet, room) {
            writeln!(out, "{:indent$}{line}", "")?;
        }
        writeln!(
            out,
            "{:indent$}{DIM}--id {}{DIM:#}\n",
            "",
            clean(hit.record.id())
        )?;
    }
    if more {
        writeln!(
            out,
            "{DIM}There is more: --limit {} shows it.{DIM:#}",
            hits.len() * 5
        )?;
    }
    let session = clean(&session.display().to_string());
    writeln!(
        out,
        "{DIM}longhaul recall {session} --id ID shows one whole.{DIM:#}"
    )
}

/// The texts themselves, each below a line that describes it.
fn whole(out: &mut String, parts: &[(SearchHit, String)]) -> fmt::Result {
    for (at, (hit, text)) in parts.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        for line in facts(&hit.record, width()) {
            writeln!(out, "{HEADING}{line}{HEADING:#}")?;
        }
        for line in text.lines() {
            // Tabs stay: this may be code that somebody wants to copy.
            let cells: Vec<String> = line.split('\t').map(clean).collect();
            writeln!(out, "{}", cells.join("\t"))?;
        }
    }
    Ok(())
}

/// Time, kind, subject, size, and whether the model still sees it.
fn facts(record: &ArchiveRecord, room: usize) -> Vec<String> {
    let what = match record.kind {
        ArchiveItemKind::ToolResult => "result of",
        ArchiveItemKind::ToolCall => "call of",
        ArchiveItemKind::UserMessage => "user",
        ArchiveItemKind::AssistantMessage => "assistant",
        ArchiveItemKind::Thinking => "thinking",
        ArchiveItemKind::Summary => "summary",
        ArchiveItemKind::Attachment => "attachment",
        other => other.name(),
    };
    let tool = match record.kind {
        ArchiveItemKind::ToolResult | ArchiveItemKind::ToolCall => {
            record.tool.as_deref().or(Some("an unknown tool"))
        }
        _ => None,
    };
    let presence = match record.presence {
        ViewPresence::Live => "in view",
        ViewPresence::Cleared => "cleared",
        ViewPresence::Summarized => "summarized",
        ViewPresence::Abandoned => "taken back",
        ViewPresence::Sidechain => "sub-agent's",
        other => other.name(),
    };
    let facts = [
        record.timestamp.map(minute),
        Some(
            [Some(what), tool]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(" "),
        ),
        record.path.clone(),
        Some(format!("{} tokens", short(record.tokens.unpadded()))),
        Some(presence.to_owned()),
    ];
    let facts: Vec<String> = facts
        .into_iter()
        .flatten()
        .map(|fact| clean(&fact))
        .collect();
    wrap_items(facts.iter().map(String::as_str), " ·", room)
}

/// A snippet in lines of this many columns, with its words highlighted.
fn lines(snippet: &Snippet, room: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for piece in &snippet.pieces {
        let (text, style) = match piece {
            SnippetPiece::Plain(text) => (text, Style::new()),
            SnippetPiece::Marked(text) => (text, MARK),
        };
        for word in clean(text).split_inclusive(' ') {
            let word = keep_start(word, room);
            let size = columns(word.trim_end());
            if used > 0 && used + size > room {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            let word = if used == 0 { word.trim_start() } else { &word };
            used += columns(word);
            line.push_str(&format!("{style}{word}{style:#}"));
        }
    }
    lines.push(line);
    for line in &mut lines {
        line.truncate(line.trim_end().len());
    }
    lines.retain(|line| !line.is_empty());
    lines
}
