//! The live view in memory, with everything that follows it entry by entry: the count, the results that may be cleared,
//! the facts. Nothing here walks the history again until a new view begins (T3).

use jiff::Timestamp;

use crate::facts::Facts;
use crate::hash::Set;
use crate::message::{Entry, EntryKind, Id, Subtype, View};
use crate::micro::{ClearableTools, ToolResults};
use crate::rounds::Piece;
use crate::tokens::{Estimate, Estimator, Ledger, Rough, Standing};
use crate::transcript::visible_attachment;

/// An entry and where its line begins in the transcript.
#[derive(Debug, Clone)]
pub struct Kept {
    /// The entry.
    pub entry: Entry,
    /// The offset; none if it is not on disk.
    pub offset: Option<u64>,
}

/// The conversation as the model sees it.
#[derive(Debug)]
pub struct Live {
    entries: Vec<Kept>,
    preserved: Set<Id>,
    clearable: ClearableTools,
    ledger: Ledger,
    results: ToolResults,
    facts: Facts,
    weight: Estimate,
    cleared: Vec<Id>,
    last_reply: Option<Timestamp>,
    newest: Option<String>,
}

impl Live {
    /// A view that begins: entries in the order in which the model sees them. `preserved` are those that a boundary
    /// kept: what they measured is stale.
    pub fn begin(
        entries: Vec<Kept>,
        preserved: Set<Id>,
        clearable: ClearableTools,
        facts: Facts,
    ) -> Self {
        let mut live = Self {
            entries: Vec::with_capacity(entries.len()),
            preserved,
            results: ToolResults::new(clearable.clone()),
            clearable,
            ledger: Ledger::new(),
            facts,
            weight: Estimate::ZERO,
            cleared: Vec::new(),
            last_reply: None,
            newest: None,
        };
        // The newest of the chain is the last in file order, which in a view with kept entries is not the last shown.
        let newest = entries
            .iter()
            .filter(|kept| kept.entry.facets().uuid.is_present())
            .max_by_key(|kept| kept.offset.unwrap_or(u64::MAX))
            .map(|kept| uuid_of(kept.entry.view()));
        for kept in entries {
            live.push(kept);
        }
        live.newest = newest.or(live.newest);
        live
    }

    /// Adds an entry at the end.
    pub fn push(&mut self, kept: Kept) {
        let entry = kept.entry.view();
        let standing = match entry.uuid().is_some_and(|id| self.preserved.contains(&id)) {
            true => Standing::Preserved,
            false => Standing::Live,
        };
        self.ledger.entry(entry, standing, &Rough);
        self.results.push(entry, &Rough);
        self.facts.push(entry);
        if is_sent(entry) {
            self.weight += weight(entry);
        }
        let facets = entry.facets;
        if facets.kind == EntryKind::System && facets.subtype == Subtype::MicrocompactBoundary {
            let ids = entry.object(facets.metadata).strings("compactedToolIds");
            self.cleared
                .extend(ids.unwrap_or_default().iter().map(|id| Id::of(id)));
        }
        if facets.is_reply() && standing == Standing::Live {
            self.last_reply = entry.timestamp().or(self.last_reply);
        }
        if facets.uuid.is_present() {
            self.newest = Some(uuid_of(entry));
        }
        self.entries.push(kept);
    }

    /// The entries in view order.
    pub fn entries(&self) -> &[Kept] {
        &self.entries
    }

    /// The entries as views.
    pub fn views(&self) -> impl Iterator<Item = View<'_>> + Clone {
        self.entries.iter().map(|kept| kept.entry.view())
    }

    /// What decides where the view may be cut.
    pub fn pieces(&self) -> Vec<Piece> {
        self.views().map(Piece::of_view).collect()
    }

    /// The estimates of the entries, in order.
    pub fn weights(&self) -> Vec<Estimate> {
        let seen = |entry: View<'_>| match is_sent(entry) {
            true => weight(entry),
            false => Estimate::ZERO,
        };
        self.views().map(seen).collect()
    }

    /// The count.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Results that may be cleared.
    pub fn results(&self) -> &ToolResults {
        &self.results
    }

    /// What must not be lost.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The estimate of all that the model sees; what was cleared since is not taken off.
    pub fn weight(&self) -> Estimate {
        self.weight
    }

    /// Results that were cleared in this view.
    pub fn cleared(&self) -> &[Id] {
        &self.cleared
    }

    /// When the last reply came.
    pub fn last_reply(&self) -> Option<Timestamp> {
        self.last_reply
    }

    /// The uuid of the newest entry: the parent of the next.
    pub fn newest(&self) -> Option<&str> {
        self.newest.as_deref()
    }

    /// The tools whose results may be cleared.
    pub fn clearable(&self) -> &ClearableTools {
        &self.clearable
    }
}

fn uuid_of(entry: View<'_>) -> String {
    entry.text(entry.facets.uuid).into_owned()
}

/// Whether the model sees an entry.
fn is_sent(entry: View<'_>) -> bool {
    match entry.facets.kind {
        EntryKind::User => true,
        EntryKind::Assistant => entry.facets.is_reply(),
        EntryKind::Attachment => visible_attachment(entry),
        _ => false,
    }
}

/// The estimate of an entry.
pub(super) fn weight(entry: View<'_>) -> Estimate {
    let blocks = &entry.facets.blocks;
    let own = blocks.iter().enumerate().filter(|(_, block)| !block.inner);
    let content: Estimate = own
        .map(|(index, block)| Rough.block(block, &blocks[index + 1..]))
        .sum();
    content + Rough.attachment(entry.facets.attachment_units)
}
