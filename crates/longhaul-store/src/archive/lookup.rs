//! Finding items again: by id, by file path, by words.

use rusqlite::{OptionalExtension, Params};

use super::query::ArchiveQuery;
use super::record::{ArchiveRecord, file_name, folded};
use super::snippet::Snippet;
use super::{Archive, ArchiveError};

/// Which items are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchScope {
    /// All.
    Everything,
    /// Those that the model no longer sees.
    OutOfView,
}

/// How well the hits fit the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordMatch {
    /// Each hit has all words.
    AllWords,
    /// Nothing has all of them: the hits have some.
    SomeWords,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchResults {
    /// The best first.
    pub hits: Vec<SearchHit>,
    /// How well they fit.
    pub matched: WordMatch,
    /// Whether there are more than were asked for.
    pub more: bool,
}

/// One found item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchHit {
    /// What it is and where it came from.
    pub record: ArchiveRecord,
    /// The part of it that answers.
    pub snippet: Snippet,
}

/// How well a path fits. Exact case wins over any case within each step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathMatch {
    /// It is the path.
    Exact,
    /// It is the path, in other case or with other slashes.
    ExactInOtherCase,
    /// The path ends in it.
    Suffix,
    /// The path ends in it, in other case or with other slashes.
    SuffixInOtherCase,
    /// Only the name of the file is the same.
    SameName,
}

impl Archive {
    /// A call and its result by the id of the call, or all parts of an entry by its uuid; oldest first.
    pub fn by_id(&self, id: &str) -> Result<Vec<ArchiveRecord>, ArchiveError> {
        self.records(
            "WHERE tool_use_id = ?1 OR uuid = ?1 ORDER BY at, item.id",
            [id],
        )
    }

    /// A call and its result by the id of the call.
    pub fn by_tool_use_id(&self, id: &str) -> Result<Vec<ArchiveRecord>, ArchiveError> {
        self.records("WHERE tool_use_id = ?1 ORDER BY at, item.id", [id])
    }

    /// What was done with a file, newest first. Of the ways in which a path can fit, the best that occurs.
    pub fn by_path(
        &self,
        path: &str,
    ) -> Result<Option<(PathMatch, Vec<ArchiveRecord>)>, ArchiveError> {
        let same_name = self.records(
            "WHERE name = ?1 ORDER BY at DESC, item.id DESC",
            [file_name(path)],
        )?;
        let fits =
            |record: &ArchiveRecord| record.path.as_deref().map(|held| path_match(path, held));
        let best = same_name.iter().filter_map(fits).min();
        Ok(best.map(|best| {
            let mut records = same_name;
            records.retain(|record| fits(record) == Some(best));
            (best, records)
        }))
    }

    /// The newest items, newest first.
    pub fn newest(
        &self,
        scope: SearchScope,
        limit: usize,
    ) -> Result<Vec<ArchiveRecord>, ArchiveError> {
        let condition = scope.condition();
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.records(
            &format!("WHERE {condition} ORDER BY at DESC, item.id DESC LIMIT ?1"),
            [limit],
        )
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> Result<bool, ArchiveError> {
        let any = self
            .connection
            .query_row("SELECT 1 FROM item LIMIT 1", [], |_| Ok(()))
            .optional();
        Ok(any.map_err(|error| self.failed(error))?.is_none())
    }

    /// Items that hold these words, the best first. Text in double quotes is a phrase; the last word may be only
    /// begun. No text is an error: one without words finds nothing.
    #[tracing::instrument(level = "debug", skip(self, words))]
    pub fn search(
        &self,
        words: &str,
        scope: SearchScope,
        limit: usize,
    ) -> Result<SearchResults, ArchiveError> {
        let query = ArchiveQuery::parse(words);
        let limit = limit.max(1);
        let mut matched = WordMatch::AllWords;
        let mut records = match query.all() {
            Some(all) => self.matching(&all, scope, limit + 1)?,
            None => Vec::new(),
        };
        if let (true, Some(any)) = (records.is_empty(), query.any()) {
            records = self.matching(&any, scope, limit + 1)?;
            matched = WordMatch::SomeWords;
        }
        let more = records.len() > limit;
        records.truncate(limit);
        let mut hits = Vec::with_capacity(records.len());
        for record in records {
            let snippet = Snippet::of(&self.text(&record)?, &query.terms);
            hits.push(SearchHit { record, snippet });
        }
        Ok(SearchResults {
            hits,
            matched,
            more,
        })
    }

    /// A record with the beginning of its text.
    pub fn hit(&self, record: ArchiveRecord) -> Result<SearchHit, ArchiveError> {
        let snippet = Snippet::beginning(&self.text(&record)?);
        Ok(SearchHit { record, snippet })
    }

    fn matching(
        &self,
        expression: &str,
        scope: SearchScope,
        limit: usize,
    ) -> Result<Vec<ArchiveRecord>, ArchiveError> {
        let condition = scope.condition();
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        // The join is pinned: the index hands rows out by rank, and no more than are wanted are looked up.
        self.rows(
            &format!(
                "SELECT {} FROM words CROSS JOIN item ON item.id = words.rowid
                 WHERE words MATCH ?1 AND {condition} ORDER BY words.rank LIMIT ?2",
                ArchiveRecord::COLUMNS
            ),
            rusqlite::params![expression, limit],
        )
    }

    fn records(&self, rest: &str, params: impl Params) -> Result<Vec<ArchiveRecord>, ArchiveError> {
        self.rows(
            &format!("SELECT {} FROM item {rest}", ArchiveRecord::COLUMNS),
            params,
        )
    }

    fn rows(&self, sql: &str, params: impl Params) -> Result<Vec<ArchiveRecord>, ArchiveError> {
        let read = || -> rusqlite::Result<Vec<ArchiveRecord>> {
            let mut statement = self.connection.prepare_cached(sql)?;
            statement.query_map(params, ArchiveRecord::read)?.collect()
        };
        read().map_err(|error| self.failed(error))
    }
}

impl SearchScope {
    fn condition(self) -> &'static str {
        match self {
            Self::Everything => "true",
            Self::OutOfView => "presence <> 'live'",
        }
    }
}

fn path_match(wanted: &str, held: &str) -> PathMatch {
    let wanted = wanted.trim_start_matches("./");
    let ends_in = |held: &str, wanted: &str| {
        held.strip_suffix(wanted)
            .is_some_and(|before| before.ends_with(['/', '\\']) || wanted.starts_with('/'))
    };
    let (wanted_folded, held_folded) = (folded(wanted), folded(held));
    if held == wanted {
        PathMatch::Exact
    } else if held_folded == wanted_folded {
        PathMatch::ExactInOtherCase
    } else if ends_in(held, wanted) {
        PathMatch::Suffix
    } else if ends_in(&held_folded, &wanted_folded) {
        PathMatch::SuffixInOtherCase
    } else {
        PathMatch::SameName
    }
}
