//! The likely size of the live view (X4). The scale and the size of the request prefix are learned from all of the main
//! conversation, from before the newest compaction, too.

use super::report::CalibratedReport;
use crate::hash::Map;
use crate::message::{EntryKind, Sent, Subtype};
use crate::models::{ModelTable, Tokenizer};
use crate::tokens::calibrated::{CalibratedLedger, CountedReply, EntryTokens};
use crate::tokens::{EntryStanding, LedgerEntry, LedgerMeasurement};
use crate::transcript::{ResolvedConversation, TranscriptTable};

/// Counts the live view; `None` if nothing in the conversation was ever measured. `tokens` are those of the table's rows,
/// and `tokenizer` is that of the next turn's model.
pub(super) fn size(
    table: &TranscriptTable,
    conversation: &ResolvedConversation,
    tokens: &[EntryTokens],
    models: &ModelTable,
    tokenizer: Tokenizer,
) -> Option<CalibratedReport> {
    let mut rows = RowCount {
        table,
        tokens,
        models,
        known: Map::default(),
        ledger: CalibratedLedger::new(tokenizer),
    };
    let view = &conversation.view().rows;
    let is_boundary = |at: &u32| table.rows()[*at as usize].subtype == Subtype::CompactBoundary;
    let boundary = view.iter().copied().find(is_boundary).unwrap_or(0);
    for at in (0..boundary).filter(|at| conversation.is_main(*at)) {
        if is_boundary(&at) {
            rows.ledger.begin_view();
        }
        rows.push(at, EntryStanding::Live);
    }
    rows.ledger.begin_view();
    for at in view {
        rows.push(*at, conversation.standing(*at));
    }
    let mut ledger = rows.ledger;
    ledger.use_tokenizer(tokenizer);
    let size = ledger.size();
    if size.measured.tokens() + size.prefix.tokens == 0 {
        return None;
    }
    let likely = size.estimate();
    let scale = ledger.counter().scale();
    Some(CalibratedReport {
        tokens: likely.tokens,
        bound: likely.bound,
        scale: scale.thousandths() as f64 / 1_000.0,
        observations: scale.observations() as u64,
    })
}

struct RowCount<'a> {
    table: &'a TranscriptTable,
    tokens: &'a [EntryTokens],
    models: &'a ModelTable,
    /// The tokenizers of the models that replies name.
    known: Map<u32, Tokenizer>,
    ledger: CalibratedLedger,
}

impl RowCount<'_> {
    fn push(&mut self, at: u32, standing: EntryStanding) {
        let row = &self.table.rows()[at as usize];
        let Some(tokens) = self.tokens.get(at as usize) else {
            return;
        };
        match row.sent() {
            Some(Sent::Reply) => {
                if let Some(name) = row.model {
                    let (models, table) = (self.models, self.table);
                    let resolve = || models.resolve(table.text(name)).spec.tokenizer;
                    let tokenizer = *self.known.entry(name).or_insert_with(resolve);
                    self.ledger.use_tokenizer(tokenizer);
                }
                let reply = CountedReply {
                    message: row.message,
                    measured: self.table.usage(row).map(LedgerMeasurement::of),
                };
                self.ledger.reply(reply, tokens, standing);
            }
            Some(Sent::Input | Sent::Attachment) => self.ledger.input(tokens, standing),
            None if row.kind == EntryKind::Head => self.ledger.note_prefix_entry(),
            None => {
                if let Some(note) = self.table.boundary(at) {
                    let clearing = match &note.cache_edits {
                        Some(edits) => LedgerEntry::CacheEdits(edits),
                        None => LedgerEntry::Clearing(&note.cleared),
                    };
                    self.ledger.clearing(clearing, standing);
                }
            }
        }
    }
}
