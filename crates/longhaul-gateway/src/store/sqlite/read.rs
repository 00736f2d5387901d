//! Reading the books.

use jiff::Timestamp;
use longhaul_core::message::Usage;
use longhaul_core::money::Usd;
use rusqlite::{Connection, Row};

use super::super::{CallRecord, Ended, Known, SessionRow};
use crate::line::{Chain, LineId, Restored, SessionId, Tenant};

pub(super) fn limit(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}

pub(super) fn id(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(at).map(i64::cast_unsigned)
}

pub(super) fn count(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    let number: Option<i64> = row.get(at)?;
    Ok(number
        .and_then(|number| u64::try_from(number).ok())
        .unwrap_or(0))
}

pub(super) fn time(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<Timestamp>> {
    let millis: Option<i64> = row.get(at)?;
    Ok(millis.and_then(|millis| Timestamp::from_millisecond(millis).ok()))
}

pub(super) fn known(connection: &Connection, most: usize) -> rusqlite::Result<Known> {
    let mut statement = connection.prepare_cached(
        "SELECT tenant, id, session, chain, messages, answered FROM line WHERE keyed ORDER BY seen DESC LIMIT ?",
    )?;
    let rows = statement.query_map([limit(most)], |row| {
        Ok(Restored {
            tenant: Tenant(id(row, 0)?),
            line: LineId(id(row, 1)?),
            session: SessionId(id(row, 2)?),
            chain: Chain {
                hash: u128::from_le_bytes(row.get(3)?),
                messages: row.get(4)?,
                answered: row.get(5)?,
            },
        })
    })?;
    let mut lines = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    lines.reverse();
    let mut statement = connection.prepare_cached("SELECT of_key, tenant FROM tenant")?;
    let rows = statement.query_map([], |row| Ok((Tenant(id(row, 0)?), Tenant(id(row, 1)?))))?;
    Ok(Known {
        lines,
        tenants: rows.collect::<rusqlite::Result<_>>()?,
    })
}

pub(super) fn sessions(connection: &Connection, most: usize) -> rusqlite::Result<Vec<SessionRow>> {
    let mut statement = connection.prepare_cached(
        "WITH newest AS (
             SELECT session, max(seen) AS seen, count(*) AS lines, max(messages) AS messages,
                    max(tenant) AS tenant
             FROM line GROUP BY session ORDER BY seen DESC LIMIT ?
         )
         SELECT n.session, n.tenant, n.lines, n.messages, n.seen,
                (SELECT model FROM line WHERE session = n.session AND agent = 0 ORDER BY seen DESC LIMIT 1),
                count(c.id), sum(c.status >= 400 OR c.ended = 'upstream_failed'), sum(c.input),
                sum(c.cache_read), sum(c.cache_write_5m + c.cache_write_1h), sum(c.output),
                total(c.cost_pico), count(c.finding), min(c.at), sum(c.saved),
                (SELECT count(*) FROM made WHERE session = n.session AND kind <> 'settled'),
                (SELECT total(cost_pico) FROM made WHERE session = n.session)
                    + (SELECT total(cost_pico) FROM notes WHERE session = n.session)
         FROM newest n JOIN line l ON l.session = n.session LEFT JOIN call c ON c.line = l.id
         GROUP BY n.session ORDER BY n.seen DESC",
    )?;
    let rows = statement.query_map([limit(most)], |row| {
        Ok(SessionRow {
            session: SessionId(id(row, 0)?).to_string(),
            tenant: Tenant(id(row, 1)?).to_string(),
            lines: count(row, 2)?,
            messages: count(row, 3)?,
            last_seen: time(row, 4)?,
            model: row.get::<_, Option<String>>(5)?.unwrap_or_default(),
            calls: count(row, 6)?,
            failed: count(row, 7)?,
            input_tokens: count(row, 8)?,
            cache_read_tokens: count(row, 9)?,
            cache_write_tokens: count(row, 10)?,
            output_tokens: count(row, 11)?,
            cost_usd: row.get::<_, f64>(12)? / 1e12,
            findings: count(row, 13)?,
            first_seen: time(row, 14)?,
            saved_tokens: count(row, 15)?,
            compactions: count(row, 16)?,
            summaries_cost_usd: row.get::<_, f64>(17)? / 1e12,
        })
    })?;
    rows.collect()
}

pub(super) fn calls(
    connection: &Connection,
    session: SessionId,
    most: usize,
) -> rusqlite::Result<Vec<(LineId, CallRecord)>> {
    let mut statement = connection.prepare_cached(
        "SELECT l.id, c.at, c.model, c.messages, c.status, c.ended, c.millis, c.input, c.cache_read,
                c.cache_write_5m, c.cache_write_1h, c.output, c.cost_pico, c.finding, c.saved, c.rewritten,
                c.partial
         FROM line l JOIN call c ON c.line = l.id WHERE l.session = ?
         ORDER BY c.at DESC, c.id DESC LIMIT ?",
    )?;
    let rows = statement.query_map((session.0.cast_signed(), limit(most)), |row| {
        let measured: Option<i64> = row.get(7)?;
        let usage = Usage {
            input: count(row, 7)?,
            cache_read: count(row, 8)?,
            cache_write_5m: count(row, 9)?,
            cache_write_1h: count(row, 10)?,
            output: count(row, 11)?,
            ..Usage::default()
        };
        let cost: Option<i64> = row.get(12)?;
        let record = CallRecord {
            at: time(row, 1)?.unwrap_or_default(),
            model: row.get(2)?,
            messages: row.get(3)?,
            status: row.get(4)?,
            ended: Ended::of(&row.get::<_, String>(5)?),
            millis: count(row, 6)?,
            usage: measured.map(|_| usage),
            cost: cost.map(|pico| Usd::from_pico(i128::from(pico))),
            finding: row.get(13)?,
            saved: count(row, 14)?,
            rewritten: row.get(15)?,
            partial: row.get(16)?,
        };
        Ok((LineId(id(row, 0)?), record))
    })?;
    let mut calls = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    calls.reverse();
    Ok(calls)
}
