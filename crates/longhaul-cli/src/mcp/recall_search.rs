//! Searches the archives of sessions for one call of `recall`, and describes what was found.

use std::ops::ControlFlow;

use longhaul_store::archive::{
    Archive, ArchiveError, ArchiveRecord, PathMatch, SearchHit, SearchScope, TextPage, WordMatch,
    archive_path,
};

use super::foreign::{NOTICE, one_line, quote};
use super::mcp_tool_error::McpToolError;
use super::session_scope::{FoundSession, SessionScope};
use crate::reading::refuse_no_transcript;
use crate::text::count;

/// The maximum length of a text in one answer, in characters: a few thousand tokens.
const PAGE: u64 = 16_000;

/// A call that can be answered.
pub(super) struct SearchRequest {
    pub(super) target: SearchTarget,
    /// The most matches in the answer.
    pub(super) limit: usize,
    /// Where a text that is wanted whole begins, in characters.
    pub(super) offset: u64,
}

/// What a call asks for.
pub(super) enum SearchTarget {
    Words(String),
    Path(String),
    Id(String),
}

/// A match, how well it fits (smaller is better), and its place among the matches of its session.
struct SessionMatch<'a> {
    session: &'a FoundSession,
    hit: SearchHit,
    fit: u8,
    rank: usize,
}

/// What was searched and what was found.
#[derive(Default)]
pub(super) struct RecallSearch<'a> {
    matches: Vec<SessionMatch<'a>>,
    /// The whole text that was asked for by its id.
    pub(super) whole: Option<String>,
    pub(super) searched: usize,
    /// Sessions that there was no time for.
    pub(super) left_out: usize,
    pub(super) unreadable: Vec<String>,
    has_more: bool,
}

impl<'a> RecallSearch<'a> {
    /// Searches one session, after indexing what is new in it for as long as `go_on` allows.
    pub(super) fn look_into(
        &mut self,
        session: &'a FoundSession,
        scope: &SessionScope,
        request: &SearchRequest,
        go_on: impl Fn() -> ControlFlow<()> + Copy,
    ) -> Result<(), McpToolError> {
        let transcript = &session.overview.path;
        refuse_no_transcript(transcript)
            .map_err(|error| McpToolError::unreadable(session.id(), &error))?;
        let failed = |reason| McpToolError::Index {
            session: session.id().to_owned(),
            reason,
        };
        let archive = Archive::open(&archive_path(&scope.home, transcript)).map_err(failed)?;
        let archive = up_to_date(archive, session, go_on).map_err(failed)?;
        self.query(&archive, session, request).map_err(failed)
    }

    fn query(
        &mut self,
        archive: &Archive,
        session: &'a FoundSession,
        request: &SearchRequest,
    ) -> Result<(), ArchiveError> {
        let limit = request.limit;
        let (fit, hits) = match &request.target {
            SearchTarget::Id(id) => {
                let records = archive.by_id(id)?;
                if !records.is_empty() {
                    self.whole = Some(whole(archive, session, id, &records, request.offset)?);
                }
                return Ok(());
            }
            SearchTarget::Words(words) => {
                let found = archive.search(words, SearchScope::Everything, limit)?;
                self.has_more |= found.more;
                let fit = match found.matched {
                    WordMatch::AllWords => 0,
                    WordMatch::SomeWords => SOME_WORDS,
                };
                (fit, found.hits)
            }
            SearchTarget::Path(path) => {
                let Some((fit, records)) = archive.by_path(path)? else {
                    return Ok(());
                };
                self.has_more |= records.len() > limit;
                let fit = match fit {
                    PathMatch::SameName => SAME_NAME,
                    other => other as u8,
                };
                let records = records.into_iter().take(limit);
                let hits: Result<_, _> = records.map(|record| archive.hit(record)).collect();
                (fit, hits?)
            }
        };
        let matches = hits.into_iter().enumerate();
        self.matches.extend(matches.map(|(rank, hit)| SessionMatch {
            session,
            hit,
            fit,
            rank,
        }));
        Ok(())
    }

    /// The answer to the call.
    pub(super) fn describe(mut self, request: &SearchRequest) -> Result<String, McpToolError> {
        if let Some(whole) = self.whole {
            return Ok(whole);
        }
        let limit = request.limit;
        if let SearchTarget::Id(id) = &request.target {
            return Err(McpToolError::UnknownId { id: id.clone() });
        }
        let remarks = self.remarks();
        let searched = count(self.searched as u64, "session was", "sessions were");
        // Only the best fit that occurs; the sort is stable, so newer sessions stay first.
        let best = self.matches.iter().map(|one| one.fit).min();
        let Some(best) = best else {
            return Ok(format!(
                "Nothing fits; {searched} searched. Try fewer or other words, the beginning of a word, or a file's name alone.{remarks}"
            ));
        };
        self.matches.retain(|one| one.fit == best);
        self.matches.sort_by_key(|one| one.rank);
        let has_more = self.has_more || self.matches.len() > limit;
        self.matches.truncate(limit);
        let head = match best {
            SOME_WORDS => "Nothing holds all of the words; these hold some of them.",
            SAME_NAME => "Nothing is about that path; these are files of the same name.",
            _ => "Found, the best matches first.",
        };
        let mut lines = vec![
            format!("{head} {searched} searched. {}", NOTICE.trim_end()),
            String::new(),
        ];
        for one in &self.matches {
            lines.push(describe(one.session, &one.hit.record));
            lines.push(quote(&one.hit.snippet.with_marks("»", "«")));
        }
        lines.push(String::new());
        lines.push("{\"id\": …} reads one whole.".to_owned());
        if has_more {
            lines.push(
                "There are more matches: add words, name a session, or raise limit.".to_owned(),
            );
        }
        Ok(format!("{}{remarks}", lines.join("\n")))
    }

    /// What was not searched, and what to do about it.
    fn remarks(&self) -> String {
        let mut remarks = String::new();
        if self.left_out > 0 {
            let left_out = count(
                self.left_out as u64,
                "older session was",
                "older sessions were",
            );
            remarks.push_str(&format!(
                "\n{left_out} not searched, because their indexes are still being built: call again, or name one with session."
            ));
        }
        if !self.unreadable.is_empty() {
            let ids: Vec<&str> = self.unreadable.iter().take(5).map(|id| &**id).collect();
            let unread = count(self.unreadable.len() as u64, "session", "sessions");
            remarks.push_str(&format!(
                "\n{unread} could not be searched: {}. Name one with session to see why.",
                ids.join(", ")
            ));
        }
        remarks
    }
}

/// How well matches fit that hold only some of the words, or only share the file's name.
const SOME_WORDS: u8 = 100;
const SAME_NAME: u8 = 101;

/// Indexes what is new. A damaged archive is made again from the transcript.
fn up_to_date(
    mut archive: Archive,
    session: &FoundSession,
    go_on: impl Fn() -> ControlFlow<()> + Copy,
) -> Result<Archive, ArchiveError> {
    let transcript = &session.overview.path;
    match archive.index(transcript, |_| go_on()) {
        Err(ArchiveError::Damaged { .. }) => {
            archive = archive.mend()?;
            archive.index(transcript, |_| go_on())?;
        }
        indexed => drop(indexed?),
    }
    Ok(archive)
}

/// A page of everything under an id: a call with its result, or the parts of a message.
fn whole(
    archive: &Archive,
    session: &FoundSession,
    id: &str,
    records: &[ArchiveRecord],
    offset: u64,
) -> Result<String, ArchiveError> {
    let mut lines = Vec::new();
    let mut text = String::new();
    for record in records {
        lines.push(describe(session, record));
        text.push_str(&archive.text(record)?);
        text.push_str("\n\n");
    }
    let page = TextPage::of(text.trim_end(), offset, PAGE);
    lines.push(NOTICE.trim_end().to_owned());
    lines.push(String::new());
    let total = page.total;
    if page.text.is_empty() {
        lines.push(format!(
            "The text has {total} characters: there is nothing at offset {offset}."
        ));
    } else {
        lines.push(quote(&page.text));
    }
    if let Some(next) = page.next {
        let id = one_line(id);
        lines.push(String::new());
        lines.push(format!(
            "Characters {offset} to {next} of {total}. To read on: {{\"id\": \"{id}\", \"offset\": {next}}}"
        ));
    }
    Ok(lines.join("\n"))
}

/// Describes a match in one line.
fn describe(session: &FoundSession, record: &ArchiveRecord) -> String {
    let when = record
        .timestamp
        .map(|time| time.strftime("%Y-%m-%d %H:%M UTC").to_string());
    let facts = [
        Some(format!("id {}", one_line(record.id()))),
        Some(record.kind.name().to_owned()),
        record.tool.as_deref().map(one_line),
        record.path.as_deref().map(one_line),
        when,
        Some(format!("{} tokens", record.tokens.unpadded())),
        Some(record.presence.name().to_owned()),
        Some(format!("session {} of {}", session.id(), session.agent())),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    format!("[{}]", facts.join(" · "))
}
