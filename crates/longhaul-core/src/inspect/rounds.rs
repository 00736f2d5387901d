//! Responses and the bill: usage counted once per response, however many lines it spans (ruling 1).

use super::report::{BilledResponse, Sidechains, TurnReport, UsageReport};
use crate::hash::{Map, Set};
use crate::message::{Id, Usage};
use crate::models::{ModelTable, ResolvedModel};
use crate::money::Usd;
use crate::tokens::{Estimate, LedgerMeasurement};
use crate::transcript::{ResolvedConversation, TranscriptRow, TranscriptTable};

/// One response of a model.
pub(super) struct Round<'a> {
    /// The response's first row, and the position of that row in the table.
    pub(super) row: &'a TranscriptRow,
    pub(super) at: u32,
    pub(super) sidechain: bool,
    /// The usage of the line with the highest bill: earlier lines carry partial counts.
    pub(super) usage: Option<&'a Usage>,
    /// The largest context that any of the response's lines measured.
    context: u64,
    /// The estimate of the response's visible text.
    text: Estimate,
}

impl Round<'_> {
    /// Whether the recorded output is clearly incomplete (ruling 21).
    fn is_partial(&self) -> bool {
        let usage = self.usage.filter(|usage| usage.total() > 0);
        usage.is_some_and(|usage| LedgerMeasurement::of(usage).is_partial(self.text))
    }
}

/// The bill of a file.
#[derive(Debug, Default)]
pub(super) struct FileBill {
    pub(super) turns: Vec<TurnReport>,
    pub(super) usage: Usage,
    pub(super) cost: Usd,
    pub(super) sidechains: Sidechains,
    /// Models without a price, which the cost does not include.
    pub(super) unpriced: Vec<String>,
    /// Responses of the main conversation that are billed for only a part of their output.
    pub(super) partial_outputs: u64,
    pub(super) responses: Vec<BilledResponse>,
}

impl FileBill {
    pub(super) fn of(
        table: &TranscriptTable,
        conversation: &ResolvedConversation,
        rounds: &[Round<'_>],
        models: &ModelTable,
    ) -> Self {
        let mut bill = Self::default();
        let mut known: Map<u32, ResolvedModel> = Map::default();
        let mut sidechain_usage = Usage::default();
        let mut sidechain_cost = Usd::default();
        for round in rounds {
            let model = round.row.model;
            let spec = model.map(|name| {
                let resolved = known
                    .entry(name)
                    .or_insert_with(|| models.resolve(table.text(name)));
                &resolved.spec
            });
            let mut billed = Usage::default();
            if let Some(usage) = round.usage {
                billed.add_billed(usage);
            }
            let cost = match (round.usage, spec) {
                (Some(usage), Some(spec)) => spec.cost_of_reply(usage),
                _ => None,
            };
            if let (None, Some(name)) = (cost, model)
                && billed.total() > 0
                && !bill
                    .unpriced
                    .iter()
                    .any(|unpriced| unpriced == table.text(name))
            {
                bill.unpriced.push(table.text(name).to_owned());
            }
            bill.responses.push(BilledResponse {
                message: round.row.message,
                cost_usd: cost.unwrap_or_default().to_f64(),
                is_partial: round.is_partial(),
            });
            if round.sidechain {
                bill.sidechains.rounds += 1;
                bill.sidechains.partial_outputs += u64::from(round.is_partial());
                sidechain_usage.add(&billed);
                sidechain_cost += cost.unwrap_or_default();
                continue;
            }
            bill.usage.add(&billed);
            bill.partial_outputs += u64::from(round.is_partial());
            bill.cost += cost.unwrap_or_default();
            bill.turns.push(TurnReport {
                line: round.row.line,
                timestamp: round.row.timestamp,
                model: model.map(|name| table.text(name).to_owned()),
                context_tokens: round.context,
                usage: UsageReport::from(&billed),
                output_is_partial: round.is_partial(),
                cache_hit_rate: billed.cache_hit_rate(),
                cost_usd: cost.map(Usd::to_f64),
            });
        }
        bill.sidechains.entries = (0..table.rows().len() as u32)
            .filter(|at| conversation.is_sidechain(*at))
            .count() as u64;
        bill.sidechains.usage = UsageReport::from(&sidechain_usage);
        bill.sidechains.cache_hit_rate = sidechain_usage.cache_hit_rate();
        bill.sidechains.cost_usd = sidechain_cost.to_f64();
        bill
    }
}

/// The responses of a file, in the order of their first lines. Copies that an undo wrote are none: nobody answered again.
pub(super) fn rounds<'a>(
    table: &'a TranscriptTable,
    conversation: &'a ResolvedConversation,
    copies: &Set<u32>,
) -> Vec<Round<'a>> {
    let mut rounds: Vec<Round<'a>> = Vec::new();
    let mut index: Map<(bool, Id), usize> = Map::default();
    for (at, row) in (0..).zip(table.rows()) {
        let sidechain = conversation.is_sidechain(at);
        let is_in_file = sidechain || conversation.is_main(at);
        if !row.is_reply() || !is_in_file || copies.contains(&at) {
            continue;
        }
        // A line without a message id is a response of its own.
        let next = rounds.len();
        let round = row.message.map_or(next, |message| {
            *index.entry((sidechain, message)).or_insert(next)
        });
        if round == next {
            rounds.push(Round {
                row,
                at,
                sidechain,
                usage: None,
                context: 0,
                text: Estimate::ZERO,
            });
        }
        let round = &mut rounds[round];
        round.text += table.output_weight(row);
        if let Some(usage) = table.usage(row) {
            let billed = |usage: &Usage| usage.billed().map(Usage::total).sum::<u64>();
            round.context = round.context.max(usage.context());
            if round
                .usage
                .is_none_or(|largest| billed(usage) > billed(largest))
            {
                round.usage = Some(usage);
            }
        }
    }
    rounds
}
