//! Decisions by price, and what has become of each: that is computed when it is read, from the requests since (V6).

use serde::Serialize;

use crate::economy::{EconomyPolicy, EconomyRecord, RecordedEconomyAction};
use crate::figures::{counted, grouped};
use crate::message::Subtype;
use crate::transcript::{BoundaryNote, ResolvedConversation, TranscriptTable};

/// A decision by price, as recorded, and its outcome.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EconomyReport {
    /// The policy that decided.
    pub policy: EconomyPolicy,
    /// What was done.
    pub action: RecordedEconomyAction,
    /// What it cost; negative if it made the next request cheaper.
    pub price_usd: f64,
    /// What sending it again had cost before.
    pub rent_usd: f64,
    /// The part of the price that was waived, so that the rent had to reach only the rest; `None` if that was not recorded.
    pub waived_usd: Option<f64>,
    /// The tokens that left the view.
    pub tokens_freed: u64,
    /// After how many requests the price was expected to be earned; `None` if never.
    pub pay_back_requests: Option<u64>,
    /// The requests since, up to the next compaction: that would have removed it, too.
    pub requests_since: u64,
    /// Whether the price has been earned.
    pub paid_back: bool,
    /// What has been saved since, less the price.
    pub saved_usd: f64,
}

impl EconomyReport {
    pub(super) fn of(
        table: &TranscriptTable,
        conversation: &ResolvedConversation,
        note: &BoundaryNote,
    ) -> Option<Self> {
        let record = EconomyRecord::read(table.economy(note.row)?)?;
        let requests = requests_since(table, conversation, note.row);
        let outcome = record.after(requests);
        Some(Self {
            policy: record.policy,
            action: record.action,
            price_usd: record.price_usd,
            rent_usd: record.rent_usd,
            waived_usd: record.waived_usd,
            tokens_freed: record.tokens_freed,
            pay_back_requests: record.pay_back_requests,
            requests_since: requests,
            paid_back: outcome.has_paid_back,
            saved_usd: outcome.saved_usd,
        })
    }

    /// The amounts that justified the price.
    fn reason(&self) -> String {
        let rent = format!("rent {}", dollars(self.rent_usd));
        match self.waived_usd {
            Some(waived) if waived > 0.0 => format!("{rent}, waived {}", dollars(waived)),
            _ => rent,
        }
    }

    /// What the decision cost and what has become of it, in words.
    pub fn sentence(&self) -> String {
        let cost = if self.price_usd > 0.0 {
            format!("cost {} ({})", dollars(self.price_usd), self.reason())
        } else {
            "cost nothing".to_owned()
        };
        let requests = |count: u64| counted(count, "request");
        let back = match (self.paid_back, self.pay_back_requests) {
            (true, None | Some(0)) => String::new(),
            (true, Some(after)) => format!(", paid back after {}", requests(after)),
            (false, Some(after)) => format!(
                ", pays back after {}, {} so far",
                requests(after),
                grouped(self.requests_since)
            ),
            (false, None) => ", not to be paid back".to_owned(),
        };
        let saved = if self.paid_back && self.saved_usd > 0.0 {
            format!(", saved {} since", dollars(self.saved_usd))
        } else {
            String::new()
        };
        format!("{cost}{back}{saved}")
    }
}

/// The answered requests of the conversation after a boundary, up to the next compaction.
fn requests_since(
    table: &TranscriptTable,
    conversation: &ResolvedConversation,
    boundary: u32,
) -> u64 {
    let rows = (0..).zip(table.rows()).skip(boundary as usize + 1);
    let rows = rows.filter(|(at, _)| conversation.is_main(*at));
    let mut last = None;
    let mut requests = 0;
    for (_, row) in rows.take_while(|(_, row)| row.subtype != Subtype::CompactBoundary) {
        if row.is_reply() && (row.message.is_none() || row.message != last) {
            requests += 1;
            last = row.message;
        }
    }
    requests
}

fn dollars(amount: f64) -> String {
    if amount >= 0.01 {
        format!("${amount:.2}")
    } else {
        format!("${amount:.4}")
    }
}
