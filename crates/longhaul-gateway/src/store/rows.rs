//! Reads records from the rows of either database. Each database has its own queries; each function here lists the
//! columns that it expects, in order.
//!
//! A number that is out of range and a hash that is too short read as zero: no history has that hash, and compacted
//! prefixes are sealed as well.

use bytes::Bytes;
use jiff::civil::Date;
use jiff::{SignedDuration, Span, Timestamp};
use longhaul_core::message::Usage;
use longhaul_core::money::Usd;

use super::columns::Columns;
use super::{
    CallEnding, CallOrigin, CallRecord, CallSpan, CompactedPrefix, CompactedPrefixKind, LatencyRow,
    NotesRecord, PrefixListing, PrefixProvenance, PrefixReport, RecallRecord, Sealed, SessionRow,
    SpendRow,
};
use crate::branch::{BranchId, GatewaySessionId, HistoryChain, RestoredBranch, Seal, Tenant};
use crate::calling_agent::{AgentRunId, CallingAgent};

/// The use of a record is written again only after this long: purges are not more exact than that.
const USED_EVERY: SignedDuration = SignedDuration::from_hours(1);

/// The most rows that a query may return.
pub(super) fn limit(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}

/// A count as the databases store it.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A cost as the databases store it.
pub(super) fn pico(cost: Option<Usd>) -> Option<i64> {
    cost.map(|cost| i64::try_from(cost.pico()).unwrap_or(i64::MAX))
}

fn id<R: Columns>(row: &R, at: usize) -> Result<u64, R::Error> {
    Ok(row.integer(at)?.map_or(0, i64::cast_unsigned))
}

fn number<R: Columns, T: TryFrom<i64> + Default>(row: &R, at: usize) -> Result<T, R::Error> {
    let number = row.integer(at)?;
    let number = number.and_then(|number| T::try_from(number).ok());
    Ok(number.unwrap_or_default())
}

/// A number that may be NULL.
fn optional_number<R: Columns>(row: &R, at: usize) -> Result<Option<u64>, R::Error> {
    let number = row.integer(at)?;
    Ok(number.and_then(|number| u64::try_from(number).ok()))
}

pub(super) fn time<R: Columns>(row: &R, at: usize) -> Result<Option<Timestamp>, R::Error> {
    let millis = row.integer(at)?;
    Ok(millis.and_then(|millis| Timestamp::from_millisecond(millis).ok()))
}

fn cost<R: Columns>(row: &R, at: usize) -> Result<Option<Usd>, R::Error> {
    let pico = row.integer(at)?;
    Ok(pico.map(|pico| Usd::from_pico(i128::from(pico))))
}

/// A sum of costs, in dollars.
fn dollars<R: Columns>(row: &R, at: usize) -> Result<f64, R::Error> {
    Ok(row.float(at)?.unwrap_or_default() / 1e12)
}

fn text<R: Columns>(row: &R, at: usize) -> Result<String, R::Error> {
    Ok(row.text(at)?.unwrap_or_default())
}

fn bytes<R: Columns>(row: &R, at: usize) -> Result<Bytes, R::Error> {
    Ok(row.bytes(at)?.unwrap_or_default().into())
}

fn hash_if_any<R: Columns>(row: &R, at: usize) -> Result<Option<u128>, R::Error> {
    let bytes = row.bytes(at)?;
    Ok(bytes
        .and_then(|bytes| bytes.try_into().ok())
        .map(u128::from_le_bytes))
}

fn hash<R: Columns>(row: &R, at: usize) -> Result<u128, R::Error> {
    Ok(hash_if_any(row, at)?.unwrap_or_default())
}

fn seal<R: Columns>(row: &R, at: usize) -> Result<Option<Seal>, R::Error> {
    Ok(row.bytes(at)?.as_deref().and_then(Seal::stored))
}

/// The tip of a branch: hash, messages, answered, from this column on.
pub(super) fn chain<R: Columns>(row: &R, at: usize) -> Result<HistoryChain, R::Error> {
    Ok(HistoryChain {
        hash: hash(row, at)?,
        messages: number(row, at + 1)?,
        answered: row.flag(at + 2)?,
    })
}

/// A branch: id, session, from this column on.
pub(super) fn line<R: Columns>(
    row: &R,
    at: usize,
) -> Result<(BranchId, GatewaySessionId), R::Error> {
    Ok((BranchId(id(row, at)?), GatewaySessionId(id(row, at + 1)?)))
}

/// A branch to recognize again: tenant, id, session, chain, messages, answered, seen.
pub(super) fn restored<R: Columns>(row: &R) -> Result<RestoredBranch, R::Error> {
    let (line, session) = line(row, 1)?;
    Ok(RestoredBranch {
        tenant: Tenant(id(row, 0)?),
        line,
        session,
        chain: chain(row, 3)?,
        last_used: time(row, 6)?,
    })
}

/// A key and its organization.
pub(super) fn tenants<R: Columns>(row: &R) -> Result<(Tenant, Tenant), R::Error> {
    Ok((Tenant(id(row, 0)?), Tenant(id(row, 1)?)))
}

/// A session with its totals: session, tenant, lines, messages, last seen, model, calls, failed, input, cache read,
/// cache written, output, cost, findings, first seen, saved, compactions, cost of these, client, title, own calls, own cost,
/// simulated, unpriced.
pub(super) fn session<R: Columns>(row: &R) -> Result<SessionRow, R::Error> {
    Ok(SessionRow {
        session: GatewaySessionId(id(row, 0)?).to_string(),
        tenant: Tenant(id(row, 1)?).to_string(),
        lines: number(row, 2)?,
        messages: number(row, 3)?,
        last_seen: time(row, 4)?,
        model: text(row, 5)?,
        calls: number(row, 6)?,
        failed: number(row, 7)?,
        input_tokens: number(row, 8)?,
        cache_read_tokens: number(row, 9)?,
        cache_write_tokens: number(row, 10)?,
        output_tokens: number(row, 11)?,
        cost_usd: dollars(row, 12)?,
        findings: number(row, 13)?,
        first_seen: time(row, 14)?,
        saved_tokens: number(row, 15)?,
        compactions: number(row, 16)?,
        summaries_cost_usd: dollars(row, 17)?,
        client: row.text(18)?,
        title: row.text(19)?,
        own_calls: number(row, 20)?,
        own_cost_usd: dollars(row, 21)?,
        simulated: row.flag(22)?,
        unpriced: number(row, 23)?,
    })
}

/// A call: line, at, model, messages, status, ended, millis, input, cache read, written for five minutes, for an hour,
/// output, cost, finding, saved, rewritten, partial, caller, run, began, error, breakpoints, key, own,
/// simulated.
pub(super) fn call<R: Columns>(row: &R) -> Result<(BranchId, CallRecord), R::Error> {
    let usage = Usage {
        input: number(row, 7)?,
        cache_read: number(row, 8)?,
        cache_write_5m: number(row, 9)?,
        cache_write_1h: number(row, 10)?,
        output: number(row, 11)?,
        ..Usage::default()
    };
    let record = CallRecord {
        at: time(row, 1)?.unwrap_or_default(),
        model: text(row, 2)?,
        messages: number(row, 3)?,
        status: number(row, 4)?,
        ended: CallEnding::of(&text(row, 5)?),
        millis: number(row, 6)?,
        usage: row.integer(7)?.map(|_| usage),
        cost: cost(row, 12)?,
        finding: row.text(13)?,
        saved: number(row, 14)?,
        rewritten: row.flag(15)?,
        partial: row.flag(16)?,
        caller: CallingAgent {
            agent: row.text(17)?,
            run: row.integer(18)?.map(|run| AgentRunId(run.cast_unsigned())),
        },
        began: row.integer(19)?.and_then(|began| u64::try_from(began).ok()),
        error: row.text(20)?,
        breakpoints: row.integer(21)?.map(|sent| sent != 0),
        origin: CallOrigin {
            key: row.integer(22)?.map(|key| Tenant(key.cast_unsigned())),
            own: row.flag(23)?,
            simulated: row.flag(24)?,
        },
    };
    Ok((BranchId(id(row, 0)?), record))
}

/// Totals: day (a number of days since 1970), session, model, agent, calls, failed, unpriced, input, cache read, cache
/// written, output, cost, saved, compactions, cost of these, unmeasured, tenant, key, simulated, own calls, own cost.
pub(super) fn spend<R: Columns>(row: &R) -> Result<SpendRow, R::Error> {
    let days = number::<_, i32>(row, 0)?;
    let day =
        Date::constant(1970, 1, 1).checked_add(Span::new().try_days(days).unwrap_or_default());
    Ok(SpendRow {
        day: day.unwrap_or_default(),
        session: row
            .integer(1)?
            .map(|session| GatewaySessionId(session.cast_unsigned())),
        tenant: row
            .integer(16)?
            .map(|tenant| Tenant(tenant.cast_unsigned())),
        model: text(row, 2)?,
        agent: row.text(3)?,
        calls: number(row, 4)?,
        failed: number(row, 5)?,
        unpriced: number(row, 6)?,
        unmeasured: number(row, 15)?,
        input: number(row, 7)?,
        cache_read: number(row, 8)?,
        cache_write: number(row, 9)?,
        output: number(row, 10)?,
        cost_usd: dollars(row, 11)?,
        saved_tokens: number(row, 12)?,
        compactions: number(row, 13)?,
        compactions_cost_usd: dollars(row, 14)?,
        key: row.integer(17)?.map(|key| Tenant(key.cast_unsigned())),
        simulated: row.flag(18)?,
        own_calls: number(row, 19)?,
        own_cost_usd: dollars(row, 20)?,
    })
}

/// Calls that took about as long: model, class, milliseconds, calls.
pub(super) fn latency<R: Columns>(row: &R) -> Result<LatencyRow, R::Error> {
    Ok(LatencyRow {
        model: text(row, 0)?,
        span: match row.integer(1)? {
            Some(0) => CallSpan::Beginning,
            _ => CallSpan::Whole,
        },
        millis: number(row, 2)?,
        calls: number(row, 3)?,
    })
}

/// How a prefix was made: session, line, at, kind, before, after, millis, waited, cost, report.
pub(super) fn made<R: Columns>(row: &R) -> Result<PrefixProvenance, R::Error> {
    Ok(PrefixProvenance {
        session: GatewaySessionId(id(row, 0)?),
        line: BranchId(id(row, 1)?),
        at: time(row, 2)?.unwrap_or_default(),
        kind: CompactedPrefixKind::of(&text(row, 3)?).unwrap_or(CompactedPrefixKind::Extracted),
        before: number(row, 4)?,
        after: number(row, 5)?,
        millis: number(row, 6)?,
        waited: optional_number(row, 7)?,
        cost: cost(row, 8)?,
        report: PrefixReport::read(&text(row, 9)?),
    })
}

/// A compacted prefix, and what is needed to record its use.
pub(super) struct FoundRewrite {
    pub(super) rewrite: Sealed<CompactedPrefix>,
    /// Its number in the database.
    pub(super) number: i64,
    used: i64,
}

impl FoundRewrite {
    /// Whether its use must be recorded.
    pub(super) fn is_stale(&self, now: Timestamp) -> bool {
        self.used < (now - USED_EVERY).as_millisecond()
    }
}

/// A compacted prefix: the columns of [`made`], then at, messages, used, root, summary, settled, cleared, lines, text,
/// number, seal, derived. The caller knows the tenant.
pub(super) fn rewrite<R: Columns>(row: &R, tenant: Tenant) -> Result<FoundRewrite, R::Error> {
    let stored = CompactedPrefix {
        tenant,
        at: hash(row, 10)?,
        messages: number(row, 11)?,
        text: bytes(row, 18)?,
        root: hash_if_any(row, 13)?,
        summary: number(row, 14)?,
        lines: bytes(row, 17)?,
        cleared: serde_json::from_str(&text(row, 16)?).unwrap_or_default(),
        settled: row.flag(15)?,
        derived: row
            .text(21)?
            .map(|derived| serde_json::from_str(&derived).unwrap_or_default()),
        made: made(row)?,
    };
    Ok(FoundRewrite {
        rewrite: Sealed {
            stored,
            seal: seal(row, 20)?,
        },
        number: number(row, 19)?,
        used: number(row, 12)?,
    })
}

/// A compacted prefix in a list: tenant, at, messages.
pub(super) fn listed<R: Columns>(row: &R) -> Result<PrefixListing, R::Error> {
    Ok((Tenant(id(row, 0)?), hash(row, 1)?, number(row, 2)?))
}

/// Notes: at, messages, tokens, text, session, line, made, cost, seal.
pub(super) fn notes<R: Columns>(row: &R, tenant: Tenant) -> Result<Sealed<NotesRecord>, R::Error> {
    let stored = NotesRecord {
        tenant,
        at: hash(row, 0)?,
        messages: number(row, 1)?,
        tokens: number(row, 2)?,
        text: text(row, 3)?,
        session: GatewaySessionId(id(row, 4)?),
        line: BranchId(id(row, 5)?),
        made: time(row, 6)?.unwrap_or_default(),
        cost: cost(row, 7)?,
    };
    Ok(Sealed {
        stored,
        seal: seal(row, 8)?,
    })
}

/// A record of recall: at, variant, text, made, seal. The caller knows the tenant.
pub(super) fn recall<R: Columns>(
    row: &R,
    tenant: Tenant,
) -> Result<Sealed<RecallRecord>, R::Error> {
    let stored = RecallRecord {
        tenant,
        at: hash(row, 0)?,
        variant: id(row, 1)?,
        text: bytes(row, 2)?,
        made: time(row, 3)?.unwrap_or_default(),
    };
    Ok(Sealed {
        stored,
        seal: seal(row, 4)?,
    })
}

/// Whether the last use, in this column, must be recorded again.
pub(super) fn is_stale<R: Columns>(row: &R, at: usize, now: Timestamp) -> Result<bool, R::Error> {
    let used = row.integer(at)?.unwrap_or_default();
    Ok(used < (now - USED_EVERY).as_millisecond())
}
