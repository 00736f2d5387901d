//! Cache breaks of a recorded session, found by usage alone (D2, D4), because a transcript does not hold the requests.

use jiff::Timestamp;

use super::report::{CacheBreak, CacheBreakTotals};
use super::rounds::Round;
use crate::cache::{CacheMeasurement, DROP_TOKENS, cost_of_cache_miss, is_drop};
use crate::message::{EntryKind, Subtype, Usage};
use crate::models::ModelTable;
use crate::money::Usd;
use crate::prompt::Ttl;
use crate::transcript::{ResolvedConversation, TranscriptRow, TranscriptTable};

/// The response that the next is compared with.
struct PreviousResponse<'a> {
    row: &'a TranscriptRow,
    measure: CacheMeasurement,
    model: Option<&'a str>,
    started: Option<Timestamp>,
    /// The cache lifetime, judging by the writes so far.
    ttl: Ttl,
}

/// What happened to the conversation since the last response.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ChangeSince {
    Nothing,
    Cleared,
    Compacted,
}

/// The breaks of the main conversation, in order, and their totals.
pub(super) fn cache_breaks(
    table: &TranscriptTable,
    conversation: &ResolvedConversation,
    rounds: &[Round<'_>],
    models: &ModelTable,
) -> (Vec<CacheBreak>, CacheBreakTotals) {
    let mut breaks = Vec::new();
    let mut total = CacheBreakTotals::default();
    let mut sum = Usd::ZERO;
    let mut before: Option<PreviousResponse<'_>> = None;
    let mut passed = RowWalk::default();
    for round in rounds.iter().filter(|round| !round.sidechain) {
        let (since, asked) = passed.up_to(table, conversation, round.at);
        if since == ChangeSince::Compacted {
            before = None;
        }
        let Some((usage, measure)) = round
            .usage
            .and_then(|usage| Some((usage, CacheMeasurement::of(usage)?)))
        else {
            continue;
        };
        let now = PreviousResponse {
            row: round.row,
            measure,
            model: round.row.model.map(|name| table.text(name)),
            started: asked.or(round.row.timestamp),
            ttl: shortest_written_ttl(usage)
                .unwrap_or(before.as_ref().map_or(Ttl::default(), |before| before.ttl)),
        };
        if let Some(before) = before.as_ref().filter(|_| since == ChangeSince::Nothing)
            && is_drop(before.measure.read, measure.read)
        {
            let missed = before.measure.cached.saturating_sub(measure.read);
            let spec = now.model.map(|model| models.resolve(model).spec);
            let cost = spec.and_then(|spec| cost_of_cache_miss(&spec, usage, missed));
            let idle = before.started.zip(now.started);
            let idle = idle.map(|(from, to)| to.duration_since(from).as_secs());
            sum += cost.unwrap_or_default();
            total.breaks += 1;
            total.lost_tokens += before.measure.read - measure.read;
            breaks.push(CacheBreak {
                line: round.row.line,
                from: before.measure.read,
                to: measure.read,
                lost_tokens: before.measure.read - measure.read,
                cause: cause(before, &now, usage, idle, || {
                    is_rewound(table, conversation, before.row, round.at)
                }),
                idle_seconds: idle,
                cost_usd: cost.map(Usd::to_f64),
            });
        }
        before = Some(now);
    }
    total.cost_usd = sum.to_f64();
    (breaks, total)
}

fn cause(
    before: &PreviousResponse<'_>,
    now: &PreviousResponse<'_>,
    usage: &Usage,
    idle: Option<i64>,
    rewound: impl FnOnce() -> bool,
) -> &'static str {
    let over = idle.is_some_and(|idle| idle >= before.ttl.seconds());
    // The request was read to its end: the provider cleared something, or the host did so without a record.
    let shorter = usage.input + usage.cache_write() <= DROP_TOKENS;
    match before.ttl {
        _ if before.model != now.model => "model",
        _ if !over && rewound() => "rewind",
        _ if shorter => "shorter_prompt",
        Ttl::FiveMinutes if over => "expired_5m",
        Ttl::OneHour if over => "expired_1h",
        _ => "unknown",
    }
}

/// Whether a response continues an earlier entry instead of the response before it.
fn is_rewound(
    table: &TranscriptTable,
    conversation: &ResolvedConversation,
    before: &TranscriptRow,
    from: u32,
) -> bool {
    let parents = std::iter::successors(Some(from), |at| conversation.parent(*at));
    // A damaged chain may lead forward, so it is not followed forever.
    let mut rows = parents
        .take(table.rows().len())
        .map(|at| &table.rows()[at as usize]);
    let is_before = |row: &TranscriptRow| {
        row.line == before.line || (row.message.is_some() && row.message == before.message)
    };
    let reached = rows.find(|row| is_before(row) || row.line < before.line);
    reached.is_some_and(|row| !is_before(row))
}

/// The shortest lifetime among a response's cache writes.
fn shortest_written_ttl(usage: &Usage) -> Option<Ttl> {
    match (usage.cache_write_5m, usage.cache_write_1h) {
        (0, 0) => None,
        (0, _) => Some(Ttl::OneHour),
        _ => Some(Ttl::FiveMinutes),
    }
}

/// Walks the rows between responses.
#[derive(Default)]
struct RowWalk {
    next: usize,
}

impl RowWalk {
    /// What happened before a row, and when its request was made: at the newest entry of the user's side.
    fn up_to(
        &mut self,
        table: &TranscriptTable,
        conversation: &ResolvedConversation,
        at: u32,
    ) -> (ChangeSince, Option<Timestamp>) {
        let mut since = ChangeSince::Nothing;
        let mut asked = None;
        for (index, row) in (self.next as u32..).zip(&table.rows()[self.next..at as usize]) {
            if !conversation.is_main(index) {
                continue;
            }
            match (row.kind, row.subtype) {
                (EntryKind::System, Subtype::CompactBoundary) => since = ChangeSince::Compacted,
                (EntryKind::System, Subtype::MicrocompactBoundary)
                    if since == ChangeSince::Nothing =>
                {
                    since = ChangeSince::Cleared;
                }
                (EntryKind::User, _) => asked = row.timestamp.or(asked),
                _ => {}
            }
        }
        self.next = at as usize;
        (since, asked)
    }
}
