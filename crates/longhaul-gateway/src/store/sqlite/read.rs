//! The queries that read the usage log.

use rusqlite::{Connection, OptionalExtension};

use super::super::counted_compaction::counted_compaction;
use super::super::rows::{self, limit};
use super::super::{CallRecord, SessionRow, StartupState};
use crate::branch::{BranchId, GatewaySessionId};

pub(super) fn known(connection: &Connection, most: usize) -> rusqlite::Result<StartupState> {
    let mut statement = connection.prepare_cached(
        "SELECT tenant, id, session, chain, messages, answered, seen FROM line WHERE keyed ORDER BY seen DESC LIMIT ?",
    )?;
    let rows = statement.query_map([limit(most)], |row| rows::restored(row))?;
    let mut lines = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    lines.reverse();
    let mut statement = connection.prepare_cached("SELECT of_key, tenant FROM tenant")?;
    let rows = statement.query_map([], |row| rows::tenants(row))?;
    Ok(StartupState {
        lines,
        tenants: rows.collect::<rusqlite::Result<_>>()?,
    })
}

/// The sessions whose ids, branches and newest times `newest` finds, with their totals.
macro_rules! sessions {
    ($newest:literal) => {
        concat!(
            "WITH newest AS (
             SELECT session, max(seen) AS seen, count(*) AS lines, max(messages) AS messages,
                    max(tenant) AS tenant
             FROM line ",
            $newest,
            ")
         SELECT n.session, n.tenant, n.lines, n.messages, n.seen,
                (SELECT model FROM line WHERE session = n.session AND agent = 0 ORDER BY seen DESC LIMIT 1),
                count(c.id) - coalesce(sum(c.own), 0), sum(NOT c.own AND (c.status >= 400 OR c.ended = 'upstream_failed')), sum(c.input),
                sum(c.cache_read), sum(c.cache_write_5m + c.cache_write_1h), sum(c.output),
                total(c.cost_pico), count(c.finding), min(c.at), sum(c.saved),
                (SELECT count(*) FROM made m WHERE m.session = n.session AND ",
            counted_compaction!("m", ""),
            "),
                (SELECT total(cost_pico) FROM made WHERE session = n.session)
                    + (SELECT total(cost_pico) FROM notes WHERE session = n.session),
                (SELECT c.caller FROM line l JOIN call c ON c.line = l.id
                 WHERE l.session = n.session AND c.caller IS NOT NULL ORDER BY c.at DESC LIMIT 1),
                (SELECT title FROM line WHERE session = n.session AND agent = 0 AND title IS NOT NULL
                 ORDER BY messages DESC LIMIT 1),
                sum(c.own), total(CASE WHEN c.own THEN c.cost_pico END), coalesce(max(c.simulated), 0),
                sum(c.input IS NOT NULL AND c.cost_pico IS NULL)
         FROM newest n JOIN line l ON l.session = n.session LEFT JOIN call c ON c.line = l.id
         GROUP BY n.session ORDER BY n.seen DESC"
        )
    };
}

pub(super) fn sessions(connection: &Connection, most: usize) -> rusqlite::Result<Vec<SessionRow>> {
    let newest = sessions!("GROUP BY session ORDER BY seen DESC LIMIT ?");
    let mut statement = connection.prepare_cached(newest)?;
    let rows = statement.query_map([limit(most)], |row| rows::session(row))?;
    rows.collect()
}

pub(super) fn session(
    connection: &Connection,
    session: GatewaySessionId,
) -> rusqlite::Result<Option<SessionRow>> {
    let one = sessions!("WHERE session = ? GROUP BY session");
    let mut statement = connection.prepare_cached(one)?;
    let row = statement.query_row([session.0.cast_signed()], |row| rows::session(row));
    row.optional()
}

pub(super) fn calls(
    connection: &Connection,
    session: GatewaySessionId,
    most: usize,
) -> rusqlite::Result<Vec<(BranchId, CallRecord)>> {
    let mut statement = connection.prepare_cached(
        "SELECT l.id, c.at, c.model, c.messages, c.status, c.ended, c.millis, c.input, c.cache_read,
                c.cache_write_5m, c.cache_write_1h, c.output, c.cost_pico, c.finding, c.saved, c.rewritten,
                c.partial, c.caller, c.run, c.began, c.error, c.breakpoints, c.of_key, c.own, c.simulated
         FROM line l JOIN call c ON c.line = l.id WHERE l.session = ? AND NOT c.own
         ORDER BY c.at DESC, c.id DESC LIMIT ?",
    )?;
    let asked = (session.0.cast_signed(), limit(most));
    let rows = statement.query_map(asked, |row| rows::call(row))?;
    let mut calls = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    calls.reverse();
    Ok(calls)
}

pub(super) fn unplaced(connection: &Connection, most: usize) -> rusqlite::Result<Vec<CallRecord>> {
    let mut statement = connection.prepare_cached(
        "SELECT NULL, c.at, c.model, c.messages, c.status, c.ended, c.millis, c.input, c.cache_read,
                c.cache_write_5m, c.cache_write_1h, c.output, c.cost_pico, c.finding, c.saved, c.rewritten,
                c.partial, c.caller, c.run, c.began, c.error, c.breakpoints, c.of_key, c.own, c.simulated
         FROM call c WHERE c.line IS NULL ORDER BY c.at DESC, c.id DESC LIMIT ?",
    )?;
    let rows = statement.query_map([limit(most)], |row| rows::call(row))?;
    let calls = rows.map(|row| row.map(|(_, call)| call));
    let mut calls = calls.collect::<rusqlite::Result<Vec<_>>>()?;
    calls.reverse();
    Ok(calls)
}
