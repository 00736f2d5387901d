//! Looks items up by id, by file path, or by words.

use rusqlite::{OptionalExtension, Params};

use super::query::ArchiveQuery;
use super::record::{ArchiveRecord, file_name, folded};
use super::snippet::Snippet;
use super::{Archive, ArchiveError};

/// Which items a search covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchScope {
    /// All items.
    Everything,
    /// The items that the model no longer sees.
    OutOfView,
}

/// How well the hits match the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordMatch {
    /// Each hit has all words.
    AllWords,
    /// No item has all words; the hits have some of them.
    SomeWords,
}

/// The results of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchResults {
    /// The hits, the best first.
    pub hits: Vec<SearchHit>,
    /// How well the hits match.
    pub matched: WordMatch,
    /// Whether there are more hits than requested.
    pub more: bool,
}

/// An item that a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchHit {
    /// The item and its origin.
    pub record: ArchiveRecord,
    /// The part of the text that matches.
    pub snippet: Snippet,
}

/// How well a path matches. Within each level an exact match of case wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathMatch {
    /// The paths are equal.
    Exact,
    /// The paths are equal except for case or the kind of slash.
    ExactInOtherCase,
    /// The item's path ends in the given one.
    Suffix,
    /// The item's path ends in the given one, except for case or the kind of slash.
    SuffixInOtherCase,
    /// Only the file name is the same.
    SameName,
}

impl Archive {
    /// Finds a call and its result by the id of the call, or all parts of an entry by its uuid; the oldest come first.
    ///
    /// # Errors
    /// Fails if the database cannot be read: it is damaged ([`Archive::mend`] begins a new one) or in use for too long.
    pub fn by_id(&self, id: &str) -> Result<Vec<ArchiveRecord>, ArchiveError> {
        self.records(
            "WHERE tool_use_id = ?1 OR uuid = ?1 ORDER BY at, item.id",
            [id],
        )
    }

    /// Finds a call and its result by the id of the call.
    ///
    /// # Errors
    /// Fails if the database cannot be read: it is damaged ([`Archive::mend`] begins a new one) or in use for too long.
    pub fn by_tool_use_id(&self, id: &str) -> Result<Vec<ArchiveRecord>, ArchiveError> {
        self.records("WHERE tool_use_id = ?1 ORDER BY at, item.id", [id])
    }

    /// Finds what was done with a file, newest first. Only items of the best [`PathMatch`] that occurs are returned.
    ///
    /// # Errors
    /// Fails if the database cannot be read: it is damaged ([`Archive::mend`] begins a new one) or in use for too long.
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
    ///
    /// # Errors
    /// Fails if the database cannot be read: it is damaged ([`Archive::mend`] begins a new one) or in use for too long.
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

    /// Whether the archive holds no items.
    ///
    /// # Errors
    /// Fails if the database cannot be read: it is damaged ([`Archive::mend`] begins a new one) or in use for too long.
    pub fn is_empty(&self) -> Result<bool, ArchiveError> {
        let any = self
            .connection
            .query_row("SELECT 1 FROM item LIMIT 1", [], |_| Ok(()))
            .optional();
        Ok(any.map_err(|error| self.failed(error))?.is_none())
    }

    /// Finds items that hold these words, the best first. Text in double quotes is a phrase; the last word may be
    /// incomplete. No text is an error: one without words finds nothing.
    ///
    /// # Errors
    /// Fails if the database cannot be read: it is damaged ([`Archive::mend`] begins a new one) or in use for too long.
    pub fn search(
        &self,
        words: &str,
        scope: SearchScope,
        limit: usize,
    ) -> Result<SearchResults, ArchiveError> {
        let _span = tracing::debug_span!("search", ?scope, limit).entered();
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

    /// A hit for a record, with the beginning of its text as the snippet.
    ///
    /// # Errors
    /// Fails if the database cannot be read: it is damaged ([`Archive::mend`] begins a new one) or in use for too long.
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
        // The join order is fixed: the index returns rows by rank, and no more rows are looked up than are wanted.
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
