//! Resolves a file's conversation.

use super::live_view::ViewFinder;
use super::segment::{NOW, ParentLinks};
use super::{BoundaryNote, LiveView, TranscriptProblem, TranscriptTable, orphans};
use crate::hash::Set;
use crate::message::{Id, Sent, Subtype};
use crate::tokens::{EntryStanding, Estimate, LedgerEntry, LedgerMeasurement, TokenLedger};

/// The conversation that a table's rows form.
#[derive(Debug)]
pub struct ResolvedConversation {
    main: Vec<bool>,
    links: ParentLinks,
    view: LiveView,
}

impl ResolvedConversation {
    /// Resolves a table. Problems are added to `problems`, unordered.
    pub fn resolve(table: &TranscriptTable, problems: &mut Vec<TranscriptProblem>) -> Self {
        let main = main_rows(table);
        let links = ParentLinks::resolve(table, &main, problems);
        orphans::find(table, &main, &links, problems);
        let mut conversation = Self {
            main,
            links,
            view: LiveView::default(),
        };
        conversation.view = conversation.views(table, NOW).newest();
        conversation
    }

    /// The entries that the model still sees.
    pub fn view(&self) -> &LiveView {
        &self.view
    }

    /// Whether a row belongs to the main conversation, rather than to a sub-agent's, and is not a repeated line.
    pub fn is_main(&self, row: u32) -> bool {
        self.main[row as usize] && !self.links.chain().is_left_out(row)
    }

    /// Whether a row belongs to a sub-agent's conversation beside the main one.
    pub fn is_sidechain(&self, row: u32) -> bool {
        !self.main[row as usize] && !self.links.chain().is_left_out(row)
    }

    /// The row before this one in the parent chain.
    pub fn parent(&self, row: u32) -> Option<u32> {
        self.links.chain().parent(row)
    }

    /// The row before this one, also across a boundary: the boundary records the entry that preceded it.
    pub fn before(&self, table: &TranscriptTable, row: u32) -> Option<u32> {
        let chain = self.links.chain();
        let logical = || chain.find(table.boundary(row)?.logical_parent?);
        chain.parent(row).or_else(logical)
    }

    /// Returns the view that a boundary replaced: what the model saw just before it.
    pub fn view_before(&self, table: &TranscriptTable, boundary: &BoundaryNote) -> LiveView {
        let views = self.views(table, boundary.row);
        let before = views.newest_before(boundary.row);
        let logical = boundary
            .logical_parent
            .and_then(|uuid| self.links.chain().find(uuid))
            .filter(|at| *at < boundary.row);
        logical.or(before).map_or_else(LiveView::default, |leaf| {
            views.ending_in(leaf, boundary.row)
        })
    }

    /// Returns the entry up to which reasoning is not sent again (N2), from the newest boundary or undo of the live
    /// view that names one.
    pub fn thinking_stripped_through(&self, table: &TranscriptTable) -> Option<Id> {
        let notes = table.boundaries().iter().rev();
        let in_view = |note: &&BoundaryNote| self.view.rows.contains(&note.row);
        notes
            .filter(in_view)
            .find_map(|note| note.thinking_stripped_through)
    }

    /// Returns the rows at which the responses of the main conversation begin, in file order. The lines of one response
    /// count once; a line without a message id is a response of its own.
    pub fn responses(&self, table: &TranscriptTable) -> Vec<u32> {
        let mut seen: Set<Id> = Set::default();
        let rows = (0..).zip(table.rows());
        rows.filter(|(at, row)| row.is_reply() && self.is_main(*at))
            .filter(|(_, row)| row.message.is_none_or(|message| seen.insert(message)))
            .map(|(at, _)| at)
            .collect()
    }

    /// Returns what the model saw when it gave the response that begins at this row.
    pub fn view_answered_by(&self, table: &TranscriptTable, response: u32) -> LiveView {
        let views = self.views(table, response);
        let parent = self.links.chain().parent(response);
        let parent = parent.filter(|at| *at < response && self.main[*at as usize]);
        let leaf = parent.or_else(|| views.newest_before(response));
        leaf.map_or_else(LiveView::default, |leaf| views.ending_in(leaf, response))
    }

    /// Returns the rows that a boundary preserved: those it names, and the other lines of the same responses.
    pub(crate) fn preserved_by(
        &self,
        table: &TranscriptTable,
        boundary: &BoundaryNote,
    ) -> Vec<u32> {
        let mut segments = self.links.segments().iter();
        let Some(segment) = segments.find(|segment| segment.boundary == boundary.row) else {
            return Vec::new();
        };
        let views = self.views(table, boundary.row + 1);
        let view = views.ending_in(segment.anchor, boundary.row);
        view.rows
            .iter()
            .copied()
            .filter(|row| view.is_preserved(*row))
            .collect()
    }

    fn views<'a>(&'a self, table: &'a TranscriptTable, time: u32) -> ViewFinder<'a> {
        ViewFinder {
            table,
            main: &self.main,
            links: &self.links,
            time,
        }
    }

    /// Returns how a row of the live view counts.
    pub fn standing(&self, row: u32) -> EntryStanding {
        if self.view.is_preserved(row) {
            EntryStanding::Preserved
        } else {
            EntryStanding::Live
        }
    }

    /// Counts the live view.
    pub fn ledger(&self, table: &TranscriptTable) -> TokenLedger {
        let mut ledger = TokenLedger::new();
        let mut results = Vec::new();
        for at in &self.view.rows {
            let row = &table.rows()[*at as usize];
            let standing = self.standing(*at);
            match row.sent() {
                Some(Sent::Reply) => {
                    let reply = LedgerEntry::Reply {
                        message: row.message,
                        measured: table.usage(row).map(LedgerMeasurement::of),
                        weight: table.weight(row),
                        text: table.output_weight(row),
                    };
                    ledger.push(reply, standing);
                }
                Some(Sent::Input | Sent::Attachment) => {
                    results.clear();
                    let mut weight = Estimate::ZERO;
                    match (row.uuid, row.attachment) {
                        // A result that can be named can be cleared (U6).
                        (Some(uuid), Some(own)) => results.push((uuid, own)),
                        (None, Some(own)) => weight += own,
                        (_, None) => {}
                    }
                    for block in table.blocks(row) {
                        match block.call {
                            Some(call) => results.push((call, block.weight)),
                            None => weight += block.weight,
                        }
                    }
                    let input = LedgerEntry::Input {
                        weight,
                        results: &results,
                    };
                    ledger.push(input, standing);
                    for (call, _) in &results {
                        if let Some((base, growth)) = table.reference(*call) {
                            ledger.refer(*call, base, growth);
                        }
                    }
                }
                // An entry that is not sent is not in the window, but it may say what left the window.
                None => {
                    if let Some(note) = table.boundary(*at) {
                        let counted = match &note.cache_edits {
                            Some(edits) => LedgerEntry::CacheEdits(edits),
                            None => LedgerEntry::Clearing(&note.cleared),
                        };
                        ledger.push(counted, standing);
                    }
                }
            }
        }
        ledger
    }
}

impl ResolvedConversation {
    /// Returns for each row the first entry of its conversation, across boundaries: an entry without a parent begins
    /// another conversation than the one before it (ruling 20). The root is `None` for rows that belong to no
    /// conversation.
    pub fn roots(&self, table: &TranscriptTable) -> Vec<Option<u32>> {
        let rows = table.rows();
        let mut roots: Vec<Option<u32>> = vec![None; rows.len()];
        let mut path: Vec<u32> = Vec::new();
        for start in (0..rows.len() as u32).filter(|at| self.is_main(*at)) {
            if rows[start as usize].uuid.is_none() {
                continue;
            }
            let mut at = start;
            let root = loop {
                if let Some(known) = roots[at as usize] {
                    break known;
                }
                path.push(at);
                // The root is recorded at once, so that a cycle in a damaged file ends.
                roots[at as usize] = Some(at);
                match self.predecessor(table, at) {
                    Some(before) => at = before,
                    None => break at,
                }
            };
            for at in path.drain(..) {
                roots[at as usize] = Some(root);
            }
        }
        roots
    }

    /// Returns the entry that the conversation came from. A boundary that does not record it replaced the entries
    /// before it.
    fn predecessor(&self, table: &TranscriptTable, at: u32) -> Option<u32> {
        let is_boundary = table.rows()[at as usize].subtype == Subtype::CompactBoundary;
        let newest = || self.views(table, at).newest_before(at);
        let before = self.before(table, at);
        before.or_else(|| is_boundary.then(newest).flatten())
    }
}

/// Returns which rows belong to the main conversation. If a file holds only a sub-agent's entries, it is that agent's
/// own file and is read as a main conversation (ruling 6).
fn main_rows(table: &TranscriptTable) -> Vec<bool> {
    let rows = table.rows();
    let only_sidechains = rows
        .iter()
        .filter(|row| row.uuid.is_some())
        .all(|row| row.flags.sidechain);
    rows.iter()
        .map(|row| only_sidechains || !row.flags.sidechain)
        .collect()
}
