//! Writes the usage log: a batch is one transaction, with one statement for all branches and one for all calls.

use std::collections::BTreeMap;
use std::ops::DerefMut;

use jiff::Timestamp;
use longhaul_core::message::Usage;
use ring::rand::{SecureRandom, SystemRandom};
use sqlx::{Connection, PgConnection};

use super::super::rows::{pico, signed};
use super::super::{BranchRecord, CallRecord, PurgeCounts, StoreError, UsageLogRecord};
use crate::branch::{BranchId, Tenant};

/// One batch in this many deletes the numbers of batches that are no longer retried.
const TIDY_EVERY: i64 = 64;

/// A batch's own number: a batch that may have been written is not written again.
#[derive(Debug, Clone, Copy)]
pub(super) struct BatchNumber(i64);

impl BatchNumber {
    pub(super) fn draw() -> Result<Self, StoreError> {
        let mut bytes = [0; 8];
        let drawn = SystemRandom::new().fill(&mut bytes);
        drawn.map_err(|_| StoreError::Failed("the system gives no random bytes".to_owned()))?;
        Ok(Self(i64::from_le_bytes(bytes)))
    }
}

pub(super) async fn append(
    connection: &mut PgConnection,
    batch: &[UsageLogRecord],
    number: BatchNumber,
) -> sqlx::Result<()> {
    let mut transaction = connection.begin().await?;
    let adds = |record: &UsageLogRecord| matches!(record, UsageLogRecord::Call(..));
    if batch.iter().any(adds) && !is_first(&mut transaction, number).await? {
        return transaction.rollback().await;
    }
    // Branches and calls of a batch may be written in any order, but records from before a key's organization is known
    // must exist before they move over.
    for part in batch.split_inclusive(|record| matches!(record, UsageLogRecord::Tenant(..))) {
        let connection = transaction.deref_mut();
        lines(connection, part).await?;
        calls(connection, part).await?;
        if let Some(UsageLogRecord::Tenant(of_key, tenant)) = part.last() {
            belongs(connection, *of_key, *tenant).await?;
        }
    }
    transaction.commit().await
}

async fn is_first(connection: &mut PgConnection, number: BatchNumber) -> sqlx::Result<bool> {
    if number.0 % TIDY_EVERY == 0 {
        let old = "DELETE FROM longhaul.batch WHERE at < now() - INTERVAL '10 minutes'";
        sqlx::query(old).execute(&mut *connection).await?;
    }
    let new = "INSERT INTO longhaul.batch (number) VALUES ($1) ON CONFLICT DO NOTHING";
    let new = sqlx::query(new).bind(number.0).execute(connection).await?;
    Ok(new.rows_affected() == 1)
}

/// A database stores no NUL in a text.
pub(super) fn text(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

async fn lines(connection: &mut PgConnection, part: &[UsageLogRecord]) -> sqlx::Result<()> {
    let records = part.iter().filter_map(|record| match record {
        UsageLogRecord::Line(record) => Some(record),
        _ => None,
    });
    // In the order of their ids, so that two gateways do not wait for each other. The first record of a branch names
    // its tenant and parent, the last its tip.
    let mut lines: BTreeMap<BranchId, (&BranchRecord, &BranchRecord)> = BTreeMap::new();
    let mut heads = Vec::new();
    for record in records {
        heads.push(record);
        let line = lines.entry(record.line).or_insert((record, record));
        line.1 = record;
    }
    if heads.is_empty() {
        return Ok(());
    }
    let chain = |line: &BranchRecord| line.chain.hash.to_le_bytes().to_vec();
    let (first, last): (Vec<_>, Vec<_>) = lines.into_values().unzip();
    // A batch that comes late must not set back a branch that another gateway has continued.
    sqlx::query(
        "INSERT INTO longhaul.line
             (id, tenant, session, parent, chain, messages, answered, model, agent, seen, title, keyed)
         SELECT n.id, coalesce(k.tenant, n.tenant), n.session, n.parent, n.chain, n.messages,
                n.answered, n.model, n.agent, n.seen, n.title, TRUE
         FROM unnest($1::BIGINT[], $2::BIGINT[], $3::BIGINT[], $4::BIGINT[], $5::BYTEA[],
                     $6::BIGINT[], $7::BOOLEAN[], $8::TEXT[], $9::BOOLEAN[], $10::BIGINT[], $11::TEXT[])
             AS n(id, tenant, session, parent, chain, messages, answered, model, agent, seen, title)
         LEFT JOIN longhaul.tenant k ON k.of_key = n.tenant
         ORDER BY n.id
         ON CONFLICT (id) DO UPDATE SET chain = excluded.chain, messages = excluded.messages,
             answered = excluded.answered, model = excluded.model, keyed = TRUE,
             seen = greatest(line.seen, excluded.seen), title = coalesce(line.title, excluded.title)
         WHERE excluded.seen >= line.seen OR excluded.messages > line.messages",
    )
    .bind(ids(&first, |line| line.line.0))
    .bind(ids(&first, |line| line.tenant.0))
    .bind(ids(&first, |line| line.session.0))
    .bind(each(&first, |line| {
        line.parent.map(|parent| parent.0.cast_signed())
    }))
    .bind(each(&last, chain))
    .bind(each(&last, |line| i64::from(line.chain.messages)))
    .bind(each(&last, |line| line.chain.answered))
    .bind(each(&last, |line| text(&line.model)))
    .bind(each(&first, |line| line.agent))
    .bind(each(&last, |line| line.seen.as_millisecond()))
    .bind(each(&first, |line| line.title.as_deref().map(text)))
    .execute(&mut *connection)
    .await?;
    sqlx::query(
        "INSERT INTO longhaul.head (tenant, hash, line, messages, answered, at)
         SELECT DISTINCT ON (coalesce(k.tenant, n.tenant), n.hash)
                coalesce(k.tenant, n.tenant), n.hash, n.line, n.messages, n.answered, n.at
         FROM unnest($1::BIGINT[], $2::BYTEA[], $3::BIGINT[], $4::BIGINT[], $5::BOOLEAN[], $6::BIGINT[])
             AS n(tenant, hash, line, messages, answered, at)
         LEFT JOIN longhaul.tenant k ON k.of_key = n.tenant
         ORDER BY coalesce(k.tenant, n.tenant), n.hash, n.at DESC
         ON CONFLICT (tenant, hash) DO UPDATE SET line = excluded.line, at = excluded.at
         WHERE excluded.at >= head.at",
    )
    .bind(ids(&heads, |line| line.tenant.0))
    .bind(each(&heads, chain))
    .bind(ids(&heads, |line| line.line.0))
    .bind(each(&heads, |line| i64::from(line.chain.messages)))
    .bind(each(&heads, |line| line.chain.answered))
    .bind(each(&heads, |line| line.seen.as_millisecond()))
    .execute(connection)
    .await?;
    Ok(())
}

/// A column of an insert.
fn each<R, T>(records: &[&R], of: impl Fn(&R) -> T) -> Vec<T> {
    records.iter().map(|record| of(record)).collect()
}

fn ids<R>(records: &[&R], of: impl Fn(&R) -> u64) -> Vec<i64> {
    each(records, |record| of(record).cast_signed())
}

async fn calls(connection: &mut PgConnection, part: &[UsageLogRecord]) -> sqlx::Result<()> {
    let calls = part.iter().filter_map(|record| match record {
        UsageLogRecord::Call(line, record) => Some((*line, &**record)),
        _ => None,
    });
    let (lines, calls): (Vec<Option<BranchId>>, Vec<&CallRecord>) = calls.unzip();
    if calls.is_empty() {
        return Ok(());
    }
    let lines: Vec<Option<i64>> = lines
        .iter()
        .map(|line| line.map(|line| line.0.cast_signed()))
        .collect();
    let used = |of: fn(&Usage) -> u64| each(&calls, |call| call.usage.as_ref().map(of).map(signed));
    sqlx::query(
        "INSERT INTO longhaul.call (line, at, model, messages, status, ended, millis, input,
             cache_read, cache_write_5m, cache_write_1h, output, cost_pico, finding, saved, rewritten,
             partial, caller, run, began, error, breakpoints, of_key, own, simulated)
         SELECT * FROM unnest($1::BIGINT[], $2::BIGINT[], $3::TEXT[], $4::BIGINT[], $5::BIGINT[],
             $6::TEXT[], $7::BIGINT[], $8::BIGINT[], $9::BIGINT[], $10::BIGINT[], $11::BIGINT[],
             $12::BIGINT[], $13::BIGINT[], $14::TEXT[], $15::BIGINT[], $16::BOOLEAN[],
             $17::BOOLEAN[], $18::TEXT[], $19::BIGINT[], $20::BIGINT[], $21::TEXT[], $22::BIGINT[],
             $23::BIGINT[], $24::BOOLEAN[], $25::BOOLEAN[])",
    )
    .bind(lines)
    .bind(each(&calls, |call| call.at.as_millisecond()))
    .bind(each(&calls, |call| text(&call.model)))
    .bind(each(&calls, |call| i64::from(call.messages)))
    .bind(each(&calls, |call| i64::from(call.status)))
    .bind(each(&calls, |call| call.ended.name()))
    .bind(each(&calls, |call| signed(call.millis)))
    .bind(used(|usage| usage.input))
    .bind(used(|usage| usage.cache_read))
    .bind(used(|usage| usage.cache_write_5m))
    .bind(used(|usage| usage.cache_write_1h))
    .bind(used(|usage| usage.output))
    .bind(each(&calls, |call| pico(call.cost)))
    .bind(each(&calls, |call| call.finding.as_deref().map(text)))
    .bind(each(&calls, |call| signed(call.saved)))
    .bind(each(&calls, |call| call.rewritten))
    .bind(each(&calls, |call| call.partial))
    .bind(each(&calls, |call| call.caller.agent.as_deref().map(text)))
    .bind(each(&calls, |call| {
        call.caller.run.map(|run| run.0.cast_signed())
    }))
    .bind(each(&calls, |call| call.began.map(signed)))
    .bind(each(&calls, |call| call.error.as_deref().map(text)))
    .bind(each(&calls, |call| call.breakpoints.map(i64::from)))
    .bind(each(&calls, |call| {
        call.origin.key.map(|key| key.0.cast_signed())
    }))
    .bind(each(&calls, |call| call.origin.own))
    .bind(each(&calls, |call| call.origin.simulated))
    .execute(connection)
    .await?;
    Ok(())
}

/// Moves everything of a key to its organization; where both have the same, one is enough.
async fn belongs(
    connection: &mut PgConnection,
    of_key: Tenant,
    tenant: Tenant,
) -> sqlx::Result<()> {
    let statements = [
        "INSERT INTO longhaul.tenant (of_key, tenant) VALUES ($1, $2)
         ON CONFLICT (of_key) DO UPDATE SET tenant = excluded.tenant",
        "UPDATE longhaul.line SET tenant = $2 WHERE tenant = $1",
        "DELETE FROM longhaul.head h WHERE tenant = $1 AND EXISTS (
             SELECT 1 FROM longhaul.head o WHERE o.tenant = $2 AND o.hash = h.hash)",
        "UPDATE longhaul.head SET tenant = $2 WHERE tenant = $1",
        "DELETE FROM longhaul.rewrite r WHERE tenant = $1 AND EXISTS (
             SELECT 1 FROM longhaul.rewrite o WHERE o.tenant = $2 AND o.at = r.at)",
        "UPDATE longhaul.rewrite SET tenant = $2 WHERE tenant = $1",
        "DELETE FROM longhaul.notes r WHERE tenant = $1 AND EXISTS (
             SELECT 1 FROM longhaul.notes o WHERE o.tenant = $2 AND o.at = r.at)",
        "UPDATE longhaul.notes SET tenant = $2 WHERE tenant = $1",
        "DELETE FROM longhaul.recall r WHERE tenant = $1 AND EXISTS (
             SELECT 1 FROM longhaul.recall o
             WHERE o.tenant = $2 AND o.at = r.at AND o.variant = r.variant)",
        "UPDATE longhaul.recall SET tenant = $2 WHERE tenant = $1",
    ];
    for statement in statements {
        sqlx::query(statement)
            .bind(of_key.0.cast_signed())
            .bind(tenant.0.cast_signed())
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

pub(super) async fn purge(
    connection: &mut PgConnection,
    before: Timestamp,
) -> sqlx::Result<PurgeCounts> {
    let mut transaction = connection.begin().await?;
    let mut deleted = [0; 7];
    let statements = [
        "DELETE FROM longhaul.call WHERE at < $1",
        "DELETE FROM longhaul.line WHERE seen < $1",
        // The prefix that the newest request of a kept branch needs stays, however seldom it was used.
        "DELETE FROM longhaul.rewrite WHERE used < $1 AND id NOT IN (
             SELECT DISTINCT ON (m.line) r.id
             FROM longhaul.rewrite r JOIN longhaul.made m ON m.id = r.made
                 JOIN longhaul.line l ON l.id = m.line
             ORDER BY m.line, r.messages DESC
         )",
        "DELETE FROM longhaul.made m WHERE at < $1
             AND NOT EXISTS (SELECT 1 FROM longhaul.rewrite r WHERE r.made = m.id)",
        "DELETE FROM longhaul.head h WHERE at < $1
             AND NOT EXISTS (SELECT 1 FROM longhaul.line l WHERE l.id = h.line AND l.chain = h.hash)",
        "DELETE FROM longhaul.notes WHERE made < $1",
        "DELETE FROM longhaul.recall WHERE used < $1",
    ];
    for (statement, deleted) in statements.into_iter().zip(&mut deleted) {
        let statement = sqlx::query(statement).bind(before.as_millisecond());
        *deleted = statement.execute(&mut *transaction).await?.rows_affected();
    }
    transaction.commit().await?;
    let [calls, lines, rewrites, ..] = deleted;
    Ok(PurgeCounts {
        lines,
        calls,
        rewrites,
    })
}
