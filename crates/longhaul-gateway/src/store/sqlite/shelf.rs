//! Rewrites: put durably, found by hash.

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};
use longhaul_core::money::Usd;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::super::{Kind, Listed, Made, Rewrite, Sealed};
use super::durably;
use super::read::{count, id, limit, time};
use crate::line::{LineId, Seal, SessionId, Tenant};

/// A use is written down again after so long: purges are not more exact than that.
const USED_EVERY: SignedDuration = SignedDuration::from_hours(1);

/// Reads how a rewrite came about from columns in this order.
macro_rules! made {
    () => {
        "m.session, m.line, m.at, m.kind, m.before, m.after, m.millis, m.waited, m.cost_pico, m.report"
    };
}

pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn put(connection: &mut Connection, rewrite: &Sealed<Rewrite>) -> rusqlite::Result<()> {
    durably(connection, |connection| {
        put_in_transaction(connection, rewrite)
    })
}

fn put_in_transaction(
    connection: &mut Connection,
    sealed: &Sealed<Rewrite>,
) -> rusqlite::Result<()> {
    let rewrite = &sealed.stored;
    let transaction = connection.transaction()?;
    let made = &rewrite.made;
    // The same may be put twice, when it is not known whether the first time was good.
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
                signed(made.waited_column()),
                made.cost.map(|cost| i64::try_from(cost.pico()).unwrap_or(i64::MAX)),
                made.report,
            ],
            |row| row.get(0),
        )?;
    transaction
        .prepare_cached(
            "INSERT OR REPLACE INTO rewrite
                 (tenant, at, messages, made, used, root, summary, settled, cleared, lines, text, seal)
             VALUES (coalesce((SELECT tenant FROM tenant WHERE of_key = ?1), ?1),
                 ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
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
        ])?;
    transaction.commit()
}

/// The organisation of a key, where it is known; else the tenant itself.
pub(super) fn known(connection: &Connection, tenant: Tenant) -> rusqlite::Result<i64> {
    let asked = tenant.0.cast_signed();
    let known: Option<i64> = connection
        .prepare_cached("SELECT tenant FROM tenant WHERE of_key = ?")?
        .query_row([asked], |row| row.get(0))
        .optional()?;
    Ok(known.unwrap_or(asked))
}

/// The rewrite, and whether its use is to be written down.
pub(super) struct Found {
    pub(super) rewrite: Sealed<Rewrite>,
    pub(super) number: i64,
    pub(super) stale: bool,
}

pub(super) fn find(
    connection: &Connection,
    tenant: Tenant,
    at: &[u128],
    least: u32,
) -> rusqlite::Result<Option<Found>> {
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
        ", r.at, r.messages, r.used, r.root, r.summary, r.settled, r.cleared, r.lines, r.text, r.seal
         FROM rewrite r JOIN made m ON m.id = r.made WHERE r.id = ?"
    ))?;
    let found = statement.query_row([number], |row| {
        let made = made(row)?;
        let used: i64 = row.get(12)?;
        let fresh = Timestamp::now() - USED_EVERY;
        let root: Option<[u8; 16]> = row.get(13)?;
        let cleared: String = row.get(16)?;
        let rewrite = Rewrite {
            tenant,
            at: u128::from_le_bytes(row.get(10)?),
            messages: row.get(11)?,
            text: Bytes::from(row.get::<_, Vec<u8>>(18)?),
            root: root.map(u128::from_le_bytes),
            summary: usize::try_from(row.get::<_, i64>(14)?).unwrap_or(0),
            lines: Bytes::from(row.get::<_, Vec<u8>>(17)?),
            cleared: serde_json::from_str(&cleared).unwrap_or_default(),
            settled: row.get(15)?,
            made,
        };
        let seal: Option<Vec<u8>> = row.get(19)?;
        Ok(Found {
            rewrite: Sealed {
                stored: rewrite,
                seal: seal.as_deref().and_then(Seal::stored),
            },
            number,
            stale: used < fresh.as_millisecond(),
        })
    });
    found.optional()
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

pub(super) fn index(connection: &Connection) -> rusqlite::Result<Vec<Listed>> {
    let mut statement = connection.prepare_cached("SELECT tenant, at, messages FROM rewrite")?;
    let rows = statement.query_map([], |row| {
        let hash = u128::from_le_bytes(row.get(1)?);
        Ok((Tenant(id(row, 0)?), hash, row.get(2)?))
    })?;
    rows.collect()
}

pub(super) fn made_in(
    connection: &Connection,
    session: SessionId,
    most: usize,
) -> rusqlite::Result<Vec<Made>> {
    let mut statement = connection.prepare_cached(concat!(
        "SELECT ",
        made!(),
        " FROM made m WHERE m.session = ? ORDER BY m.at DESC, m.id DESC LIMIT ?"
    ))?;
    let rows = statement.query_map((session.0.cast_signed(), limit(most)), made)?;
    let mut all = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    all.reverse();
    Ok(all)
}

fn made(row: &Row<'_>) -> rusqlite::Result<Made> {
    let kind: String = row.get(3)?;
    let cost: Option<i64> = row.get(8)?;
    Ok(Made {
        session: SessionId(id(row, 0)?),
        line: LineId(id(row, 1)?),
        at: time(row, 2)?.unwrap_or_default(),
        kind: Kind::of(&kind).unwrap_or(Kind::Extracted),
        before: count(row, 4)?,
        after: count(row, 5)?,
        millis: count(row, 6)?,
        waited: Made::waited_of(count(row, 7)?),
        cost: cost.map(|pico| Usd::from_pico(i128::from(pico))),
        report: row.get(9)?,
    })
}
