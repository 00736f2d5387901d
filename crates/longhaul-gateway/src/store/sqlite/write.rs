//! Writes the usage log: a batch is one transaction.

use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::super::rows::{pico, signed};
use super::super::{BranchRecord, CallRecord, PurgeCounts, UsageLogRecord};
use crate::branch::BranchId;

pub(super) fn append(
    connection: &mut Connection,
    batch: &[UsageLogRecord],
) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    for record in batch {
        match record {
            UsageLogRecord::Line(record) => line(&transaction, record)?,
            UsageLogRecord::Call(of, record) => call(&transaction, *of, record)?,
            UsageLogRecord::Tenant(of_key, tenant) => {
                let (of_key, tenant) = (of_key.0.cast_signed(), tenant.0.cast_signed());
                transaction
                    .prepare_cached("INSERT OR REPLACE INTO tenant (of_key, tenant) VALUES (?, ?)")?
                    .execute([of_key, tenant])?;
                transaction
                    .prepare_cached("UPDATE line SET tenant = ?2 WHERE tenant = ?1")?
                    .execute([of_key, tenant])?;
                // Where both have a record for the same history, one is enough.
                for over in [
                    "UPDATE OR IGNORE rewrite SET tenant = ?2 WHERE tenant = ?1",
                    "UPDATE OR IGNORE notes SET tenant = ?2 WHERE tenant = ?1",
                    "UPDATE OR IGNORE recall SET tenant = ?2 WHERE tenant = ?1",
                ] {
                    transaction
                        .prepare_cached(over)?
                        .execute([of_key, tenant])?;
                }
                for left in [
                    "DELETE FROM rewrite WHERE tenant = ?",
                    "DELETE FROM notes WHERE tenant = ?",
                    "DELETE FROM recall WHERE tenant = ?",
                ] {
                    transaction.prepare_cached(left)?.execute([of_key])?;
                }
            }
        }
    }
    transaction.commit()
}

fn line(connection: &Connection, record: &BranchRecord) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO line (id, tenant, session, parent, chain, messages, answered, model, agent, seen, title, keyed)
         VALUES (?1, coalesce((SELECT tenant FROM tenant WHERE of_key = ?2), ?2), ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 1)
         ON CONFLICT (id) DO UPDATE SET chain = excluded.chain, keyed = 1, messages = excluded.messages,
             answered = excluded.answered, model = excluded.model, seen = excluded.seen,
             title = coalesce(title, excluded.title)",
    )?;
    statement.execute(params![
        record.line.0.cast_signed(),
        record.tenant.0.cast_signed(),
        record.session.0.cast_signed(),
        record.parent.map(|parent| parent.0.cast_signed()),
        record.chain.hash.to_le_bytes(),
        record.chain.messages,
        record.chain.answered,
        record.model,
        record.agent,
        record.seen.as_millisecond(),
        record.title,
    ])?;
    Ok(())
}

fn call(
    connection: &Connection,
    of: Option<BranchId>,
    record: &CallRecord,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO call (line, at, model, messages, status, ended, millis, input, cache_read,
             cache_write_5m, cache_write_1h, output, cost_pico, finding, saved, rewritten, partial, caller, run,
             began, error, breakpoints, of_key, own, simulated)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?;
    let usage = record.usage.as_ref();
    let count =
        |of: fn(&longhaul_core::message::Usage) -> u64| usage.map(|usage| signed(of(usage)));
    statement.execute(params![
        of.map(|line| line.0.cast_signed()),
        record.at.as_millisecond(),
        record.model,
        record.messages,
        record.status,
        record.ended.name(),
        signed(record.millis),
        count(|usage| usage.input),
        count(|usage| usage.cache_read),
        count(|usage| usage.cache_write_5m),
        count(|usage| usage.cache_write_1h),
        count(|usage| usage.output),
        pico(record.cost),
        record.finding,
        signed(record.saved),
        record.rewritten,
        record.partial,
        record.caller.agent,
        record.caller.run.map(|run| run.0.cast_signed()),
        record.began.map(signed),
        record.error,
        record.breakpoints,
        record.origin.key.map(|key| key.0.cast_signed()),
        record.origin.own,
        record.origin.simulated,
    ])?;
    Ok(())
}

pub(super) fn purge(
    connection: &mut Connection,
    before: Timestamp,
) -> rusqlite::Result<PurgeCounts> {
    let before = before.as_millisecond();
    let transaction = connection.transaction()?;
    let calls = transaction.execute("DELETE FROM call WHERE at < ?", [before])?;
    let lines = transaction.execute("DELETE FROM line WHERE seen < ?", [before])?;
    // The prefix that the newest request of a kept branch needs stays, however seldom it was used.
    let rewrites = transaction.execute(
        "DELETE FROM rewrite WHERE used < ? AND id NOT IN (
             SELECT newest FROM (
                 SELECT r.id AS newest, max(r.messages)
                 FROM rewrite r JOIN made m ON m.id = r.made JOIN line l ON l.id = m.line
                 GROUP BY m.line
             )
         )",
        [before],
    )?;
    transaction.execute(
        "DELETE FROM made WHERE at < ? AND id NOT IN (SELECT made FROM rewrite)",
        [before],
    )?;
    transaction.execute("DELETE FROM notes WHERE made < ?", [before])?;
    transaction.execute("DELETE FROM recall WHERE used < ?", [before])?;
    transaction.commit()?;
    Ok(PurgeCounts {
        lines: lines as u64,
        calls: calls as u64,
        rewrites: rewrites as u64,
    })
}
