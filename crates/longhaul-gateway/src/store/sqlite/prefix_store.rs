//! Compacted prefixes: stored durably, found by hash.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::super::rows::{self, FoundRewrite, limit, pico, signed};
use super::super::{CompactedPrefix, PrefixListing, PrefixMakingId, PrefixProvenance, Sealed};
use super::connection::durably;
use crate::branch::{GatewaySessionId, Tenant};

/// The columns on how a prefix was made, in the order in which they are read.
macro_rules! made {
    () => {
        "m.session, m.line, m.at, m.kind, m.before, m.after, m.millis, m.waited, m.cost_pico, m.report"
    };
}

pub(super) fn put(
    connection: &mut Connection,
    rewrite: &Sealed<CompactedPrefix>,
) -> rusqlite::Result<()> {
    durably(connection, |connection| {
        put_in_transaction(connection, rewrite)
    })
}

fn put_in_transaction(
    connection: &mut Connection,
    sealed: &Sealed<CompactedPrefix>,
) -> rusqlite::Result<()> {
    let rewrite = &sealed.stored;
    let transaction = connection.transaction()?;
    let made = &rewrite.made;
    // The same prefix may be stored twice, if it is not known whether the first attempt succeeded.
    let number: i64 = transaction
        .prepare_cached(
            "INSERT INTO made (session, line, at, kind, before, after, millis, waited, cost_pico, report)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
             ON CONFLICT (line, at, kind) DO UPDATE SET session = excluded.session,
                 before = excluded.before, after = excluded.after, millis = excluded.millis,
                 waited = excluded.waited, cost_pico = excluded.cost_pico, report = excluded.report
             RETURNING id",
        )?
        .query_row(
            params![
                made.session.0.cast_signed(),
                made.line.0.cast_signed(),
                made.at.as_millisecond(),
                made.kind.name(),
                signed(made.before),
                signed(made.after),
                signed(made.millis),
                made.waited.map(signed),
                pico(made.cost),
                made.report.to_json().to_string(),
            ],
            |row| row.get(0),
        )?;
    transaction
        .prepare_cached(
            "INSERT OR REPLACE INTO rewrite
                 (tenant, at, messages, made, used, root, summary, settled, cleared, lines, text, seal,
                  derived)
             VALUES (coalesce((SELECT tenant FROM tenant WHERE of_key = ?1), ?1),
                 ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        )?
        .execute(params![
            rewrite.tenant.0.cast_signed(),
            rewrite.at.to_le_bytes(),
            rewrite.messages,
            number,
            Timestamp::now().as_millisecond(),
            rewrite.root.map(u128::to_le_bytes),
            signed(rewrite.summary as u64),
            rewrite.settled,
            serde_json::Value::from(rewrite.cleared.clone()).to_string(),
            &rewrite.lines[..],
            &rewrite.text[..],
            sealed.seal.map(|seal| seal.0),
            rewrite.derived_column(),
        ])?;
    transaction.commit()
}

/// The organization of a key, if it is known; otherwise the tenant itself.
pub(super) fn known(connection: &Connection, tenant: Tenant) -> rusqlite::Result<i64> {
    let asked = tenant.0.cast_signed();
    let known: Option<i64> = connection
        .prepare_cached("SELECT tenant FROM tenant WHERE of_key = ?")?
        .query_row([asked], |row| row.get(0))
        .optional()?;
    Ok(known.unwrap_or(asked))
}

pub(super) fn find(
    connection: &Connection,
    tenant: Tenant,
    at: &[u128],
    least: u32,
) -> rusqlite::Result<Option<FoundRewrite>> {
    let asked = known(connection, tenant)?;
    let mut statement = connection
        .prepare_cached("SELECT id, messages FROM rewrite WHERE tenant = ? AND at = ?")?;
    let mut best: Option<(i64, u32)> = None;
    for hash in at {
        let row = statement
            .query_row((asked, hash.to_le_bytes()), |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        best = [best, row]
            .into_iter()
            .flatten()
            .max_by_key(|(_, messages)| *messages);
    }
    let Some((number, _)) = best.filter(|(_, messages)| *messages > least) else {
        return Ok(None);
    };
    let mut statement = connection.prepare_cached(concat!(
        "SELECT ",
        made!(),
        ", r.at, r.messages, r.used, r.root, r.summary, r.settled, r.cleared, r.lines, r.text, r.id, r.seal,
         r.derived
         FROM rewrite r JOIN made m ON m.id = r.made WHERE r.id = ?"
    ))?;
    statement
        .query_row([number], |row| rows::rewrite(row, tenant))
        .optional()
}

pub(super) fn made_as(
    connection: &Connection,
    made: PrefixMakingId,
) -> rusqlite::Result<Option<Sealed<CompactedPrefix>>> {
    let mut statement = connection.prepare_cached(concat!(
        "SELECT ",
        made!(),
        ", r.at, r.messages, r.used, r.root, r.summary, r.settled, r.cleared, r.lines, r.text, r.id, r.seal,
         r.derived, r.tenant
         FROM made m JOIN rewrite r ON r.made = m.id
         WHERE m.line = ? AND m.at = ? AND m.kind = ? AND m.session = ? LIMIT 1"
    ))?;
    let asked = (
        made.line.0.cast_signed(),
        made.millis,
        made.kind.name(),
        made.session.0.cast_signed(),
    );
    let found = statement.query_row(asked, |row| {
        let tenant: i64 = row.get(22)?;
        rows::rewrite(row, Tenant(tenant.cast_unsigned()))
    });
    Ok(found.optional()?.map(|found| found.rewrite))
}

pub(super) fn discard(connection: &Connection, tenant: Tenant, at: u128) -> rusqlite::Result<()> {
    let asked = known(connection, tenant)?;
    connection
        .prepare_cached("DELETE FROM rewrite WHERE tenant = ? AND at = ?")?
        .execute((asked, at.to_le_bytes()))?;
    Ok(())
}

pub(super) fn used(connection: &Connection, number: i64) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE rewrite SET used = ? WHERE id = ?")?
        .execute((Timestamp::now().as_millisecond(), number))?;
    Ok(())
}

pub(super) fn index(connection: &Connection) -> rusqlite::Result<Vec<PrefixListing>> {
    let mut statement = connection.prepare_cached("SELECT tenant, at, messages FROM rewrite")?;
    let rows = statement.query_map([], |row| rows::listed(row))?;
    rows.collect()
}

pub(super) fn made_in(
    connection: &Connection,
    session: GatewaySessionId,
    most: usize,
) -> rusqlite::Result<Vec<PrefixProvenance>> {
    let mut statement = connection.prepare_cached(concat!(
        "SELECT ",
        made!(),
        " FROM made m WHERE m.session = ? ORDER BY m.at DESC, m.id DESC LIMIT ?"
    ))?;
    let rows = statement.query_map((session.0.cast_signed(), limit(most)), |row| {
        rows::made(row)
    })?;
    let mut all = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    all.reverse();
    Ok(all)
}
