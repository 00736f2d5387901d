//! The queries that read the usage log.

use sqlx::PgConnection;

use super::super::counted_compaction::counted_compaction;
use super::super::rows::{self, limit};
use super::super::{CallRecord, SessionRow, StartupState};
use crate::branch::{BranchId, GatewaySessionId};

pub(super) async fn known(
    connection: &mut PgConnection,
    most: usize,
) -> sqlx::Result<StartupState> {
    let query = sqlx::query(
        "SELECT tenant, id, session, chain, messages, answered, seen
         FROM longhaul.line WHERE keyed ORDER BY seen DESC LIMIT $1",
    );
    let found = query.bind(limit(most)).fetch_all(&mut *connection).await?;
    let lines = found.iter().rev().map(rows::restored);
    let query = sqlx::query("SELECT of_key, tenant FROM longhaul.tenant");
    let found = query.fetch_all(connection).await?;
    Ok(StartupState {
        lines: lines.collect::<sqlx::Result<_>>()?,
        tenants: found
            .iter()
            .map(rows::tenants)
            .collect::<sqlx::Result<_>>()?,
    })
}

/// The sessions whose ids, branches and newest times `newest` finds, with their totals.
macro_rules! sessions {
    ($newest:literal) => {
        concat!(
            "WITH newest AS (
             SELECT session, max(seen) AS seen, count(*) AS lines, max(messages) AS messages,
                    max(tenant) AS tenant
             FROM longhaul.line ",
            $newest,
            ")
         SELECT n.session, n.tenant, n.lines, n.messages, n.seen,
                (SELECT model FROM longhaul.line WHERE session = n.session AND NOT agent
                 ORDER BY seen DESC LIMIT 1),
                c.calls, c.failed, c.input, c.cache_read, c.cache_write, c.output, c.cost,
                c.findings, c.first, c.saved, m.compactions, m.cost,
                (SELECT c.caller FROM longhaul.line l JOIN longhaul.call c ON c.line = l.id
                 WHERE l.session = n.session AND c.caller IS NOT NULL ORDER BY c.at DESC LIMIT 1),
                (SELECT title FROM longhaul.line
                 WHERE session = n.session AND NOT agent AND title IS NOT NULL
                 ORDER BY messages DESC LIMIT 1),
                c.own, c.own_cost, c.simulated, c.unpriced
         FROM newest n
         CROSS JOIN LATERAL (
             SELECT count(*) FILTER (WHERE NOT c.own) AS calls,
                    count(*) FILTER (WHERE c.own) AS own,
                    (sum(c.cost_pico) FILTER (WHERE c.own))::FLOAT8 AS own_cost,
                    coalesce(bool_or(c.simulated), FALSE) AS simulated,
                    count(*) FILTER (WHERE c.input IS NOT NULL AND c.cost_pico IS NULL) AS unpriced,
                    count(*) FILTER (WHERE NOT c.own AND (c.status >= 400 OR c.ended = 'upstream_failed')) AS failed,
                    sum(c.input)::BIGINT AS input, sum(c.cache_read)::BIGINT AS cache_read,
                    sum(c.cache_write_5m + c.cache_write_1h)::BIGINT AS cache_write,
                    sum(c.output)::BIGINT AS output, sum(c.cost_pico)::FLOAT8 AS cost,
                    count(c.finding) AS findings, min(c.at) AS first, sum(c.saved)::BIGINT AS saved
             FROM longhaul.line l JOIN longhaul.call c ON c.line = l.id WHERE l.session = n.session
         ) c
         CROSS JOIN LATERAL (
             SELECT count(*) FILTER (WHERE ",
            counted_compaction!("o", "longhaul."),
            ") AS compactions,
                    coalesce(sum(cost_pico)::FLOAT8, 0) + coalesce((SELECT sum(cost_pico)::FLOAT8
                        FROM longhaul.notes WHERE session = n.session), 0) AS cost
             FROM longhaul.made o WHERE o.session = n.session
         ) m
         ORDER BY n.seen DESC"
        )
    };
}

pub(super) async fn sessions(
    connection: &mut PgConnection,
    most: usize,
) -> sqlx::Result<Vec<SessionRow>> {
    let query = sqlx::query(sessions!(
        "GROUP BY session ORDER BY max(seen) DESC LIMIT $1"
    ));
    let found = query.bind(limit(most)).fetch_all(connection).await?;
    found.iter().map(rows::session).collect()
}

pub(super) async fn session(
    connection: &mut PgConnection,
    session: GatewaySessionId,
) -> sqlx::Result<Option<SessionRow>> {
    let query = sqlx::query(sessions!("WHERE session = $1 GROUP BY session"));
    let query = query.bind(session.0.cast_signed());
    let found = query.fetch_optional(connection).await?;
    found.as_ref().map(rows::session).transpose()
}

pub(super) async fn calls(
    connection: &mut PgConnection,
    session: GatewaySessionId,
    most: usize,
) -> sqlx::Result<Vec<(BranchId, CallRecord)>> {
    let query = sqlx::query(
        "SELECT l.id, c.at, c.model, c.messages, c.status, c.ended, c.millis, c.input, c.cache_read,
                c.cache_write_5m, c.cache_write_1h, c.output, c.cost_pico, c.finding, c.saved, c.rewritten,
                c.partial, c.caller, c.run, c.began, c.error, c.breakpoints, c.of_key, c.own, c.simulated
         FROM longhaul.line l JOIN longhaul.call c ON c.line = l.id WHERE l.session = $1 AND NOT c.own
         ORDER BY c.at DESC, c.id DESC LIMIT $2",
    );
    let query = query.bind(session.0.cast_signed()).bind(limit(most));
    let found = query.fetch_all(connection).await?;
    found.iter().rev().map(rows::call).collect()
}

pub(super) async fn unplaced(
    connection: &mut PgConnection,
    most: usize,
) -> sqlx::Result<Vec<CallRecord>> {
    let query = sqlx::query(
        "SELECT NULL::BIGINT, c.at, c.model, c.messages, c.status, c.ended, c.millis, c.input, c.cache_read,
                c.cache_write_5m, c.cache_write_1h, c.output, c.cost_pico, c.finding, c.saved, c.rewritten,
                c.partial, c.caller, c.run, c.began, c.error, c.breakpoints, c.of_key, c.own, c.simulated
         FROM longhaul.call c WHERE c.line IS NULL ORDER BY c.at DESC, c.id DESC LIMIT $1",
    );
    let found = query.bind(limit(most)).fetch_all(connection).await?;
    let calls = found.iter().rev().map(rows::call);
    calls.map(|call| call.map(|(_, call)| call)).collect()
}
