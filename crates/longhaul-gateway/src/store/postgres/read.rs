//! Reading the books.

use jiff::Timestamp;
use longhaul_core::message::Usage;
use longhaul_core::money::Usd;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

use super::super::{CallRecord, Ended, Known, SessionRow};
use crate::line::{Chain, LineId, Restored, SessionId, Tenant};

pub(super) fn limit(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}

pub(super) fn id(row: &PgRow, at: usize) -> sqlx::Result<u64> {
    row.try_get::<i64, _>(at).map(i64::cast_unsigned)
}

pub(super) fn count(row: &PgRow, at: usize) -> sqlx::Result<u64> {
    let number: Option<i64> = row.try_get(at)?;
    Ok(number
        .and_then(|number| u64::try_from(number).ok())
        .unwrap_or(0))
}

pub(super) fn small<T: TryFrom<u64> + Default>(row: &PgRow, at: usize) -> sqlx::Result<T> {
    Ok(T::try_from(count(row, at)?).unwrap_or_default())
}

pub(super) fn hash(row: &PgRow, at: usize) -> sqlx::Result<u128> {
    let bytes: &[u8] = row.try_get(at)?;
    Ok(u128::from_le_bytes(bytes.try_into().unwrap_or_default()))
}

pub(super) fn time(row: &PgRow, at: usize) -> sqlx::Result<Option<Timestamp>> {
    let millis: Option<i64> = row.try_get(at)?;
    Ok(millis.and_then(|millis| Timestamp::from_millisecond(millis).ok()))
}

pub(super) fn dollars(row: &PgRow, at: usize) -> sqlx::Result<Option<Usd>> {
    let pico: Option<i64> = row.try_get(at)?;
    Ok(pico.map(|pico| Usd::from_pico(i128::from(pico))))
}

pub(super) async fn known(connection: &mut PgConnection, most: usize) -> sqlx::Result<Known> {
    let rows = sqlx::query(
        "SELECT tenant, id, session, chain, messages, answered
         FROM longhaul.line WHERE keyed ORDER BY seen DESC LIMIT $1",
    );
    let rows = rows.bind(limit(most)).fetch_all(&mut *connection).await?;
    let line = |row: &PgRow| -> sqlx::Result<Restored> {
        Ok(Restored {
            tenant: Tenant(id(row, 0)?),
            line: LineId(id(row, 1)?),
            session: SessionId(id(row, 2)?),
            chain: Chain {
                hash: hash(row, 3)?,
                messages: small(row, 4)?,
                answered: row.try_get(5)?,
            },
        })
    };
    let lines = rows.iter().rev().map(line).collect::<sqlx::Result<_>>()?;
    let rows = sqlx::query("SELECT of_key, tenant FROM longhaul.tenant");
    let rows = rows.fetch_all(connection).await?;
    let tenants = rows
        .iter()
        .map(|row| Ok((Tenant(id(row, 0)?), Tenant(id(row, 1)?))));
    Ok(Known {
        lines,
        tenants: tenants.collect::<sqlx::Result<_>>()?,
    })
}

pub(super) async fn sessions(
    connection: &mut PgConnection,
    most: usize,
) -> sqlx::Result<Vec<SessionRow>> {
    let rows = sqlx::query(
        "WITH newest AS (
             SELECT session, max(seen) AS seen, count(*) AS lines, max(messages) AS messages,
                    max(tenant) AS tenant
             FROM longhaul.line GROUP BY session ORDER BY max(seen) DESC LIMIT $1
         )
         SELECT n.session, n.tenant, n.lines, n.messages, n.seen,
                (SELECT model FROM longhaul.line WHERE session = n.session AND NOT agent
                 ORDER BY seen DESC LIMIT 1),
                c.calls, c.failed, c.input, c.cache_read, c.cache_write, c.output, c.cost,
                c.findings, c.first, c.saved, m.compactions, m.cost
         FROM newest n
         CROSS JOIN LATERAL (
             SELECT count(*) AS calls,
                    count(*) FILTER (WHERE c.status >= 400 OR c.ended = 'upstream_failed') AS failed,
                    sum(c.input)::BIGINT AS input, sum(c.cache_read)::BIGINT AS cache_read,
                    sum(c.cache_write_5m + c.cache_write_1h)::BIGINT AS cache_write,
                    sum(c.output)::BIGINT AS output, sum(c.cost_pico)::FLOAT8 AS cost,
                    count(c.finding) AS findings, min(c.at) AS first, sum(c.saved)::BIGINT AS saved
             FROM longhaul.line l JOIN longhaul.call c ON c.line = l.id WHERE l.session = n.session
         ) c
         CROSS JOIN LATERAL (
             SELECT count(*) FILTER (WHERE kind <> 'settled') AS compactions,
                    coalesce(sum(cost_pico)::FLOAT8, 0) + coalesce((SELECT sum(cost_pico)::FLOAT8
                        FROM longhaul.notes WHERE session = n.session), 0) AS cost
             FROM longhaul.made WHERE session = n.session
         ) m
         ORDER BY n.seen DESC",
    );
    let rows = rows.bind(limit(most)).fetch_all(connection).await?;
    let cost = |row: &PgRow, at| -> sqlx::Result<f64> {
        Ok(row.try_get::<Option<f64>, _>(at)?.unwrap_or_default() / 1e12)
    };
    let session = |row: &PgRow| -> sqlx::Result<SessionRow> {
        Ok(SessionRow {
            session: SessionId(id(row, 0)?).to_string(),
            tenant: Tenant(id(row, 1)?).to_string(),
            lines: count(row, 2)?,
            messages: count(row, 3)?,
            last_seen: time(row, 4)?,
            model: row.try_get::<Option<String>, _>(5)?.unwrap_or_default(),
            calls: count(row, 6)?,
            failed: count(row, 7)?,
            input_tokens: count(row, 8)?,
            cache_read_tokens: count(row, 9)?,
            cache_write_tokens: count(row, 10)?,
            output_tokens: count(row, 11)?,
            cost_usd: cost(row, 12)?,
            findings: count(row, 13)?,
            first_seen: time(row, 14)?,
            saved_tokens: count(row, 15)?,
            compactions: count(row, 16)?,
            summaries_cost_usd: cost(row, 17)?,
        })
    };
    rows.iter().map(session).collect()
}

pub(super) async fn calls(
    connection: &mut PgConnection,
    session: SessionId,
    most: usize,
) -> sqlx::Result<Vec<(LineId, CallRecord)>> {
    let rows = sqlx::query(
        "SELECT l.id, c.at, c.model, c.messages, c.status, c.ended, c.millis, c.input, c.cache_read,
                c.cache_write_5m, c.cache_write_1h, c.output, c.cost_pico, c.finding, c.saved, c.rewritten,
                c.partial
         FROM longhaul.line l JOIN longhaul.call c ON c.line = l.id WHERE l.session = $1
         ORDER BY c.at DESC, c.id DESC LIMIT $2",
    );
    let rows = rows.bind(session.0.cast_signed()).bind(limit(most));
    let rows = rows.fetch_all(connection).await?;
    let call = |row: &PgRow| -> sqlx::Result<(LineId, CallRecord)> {
        let measured: Option<i64> = row.try_get(7)?;
        let usage = Usage {
            input: count(row, 7)?,
            cache_read: count(row, 8)?,
            cache_write_5m: count(row, 9)?,
            cache_write_1h: count(row, 10)?,
            output: count(row, 11)?,
            ..Usage::default()
        };
        let record = CallRecord {
            at: time(row, 1)?.unwrap_or_default(),
            model: row.try_get(2)?,
            messages: small(row, 3)?,
            status: small(row, 4)?,
            ended: Ended::of(row.try_get(5)?),
            millis: count(row, 6)?,
            usage: measured.map(|_| usage),
            cost: dollars(row, 12)?,
            finding: row.try_get(13)?,
            saved: count(row, 14)?,
            rewritten: row.try_get(15)?,
            partial: row.try_get(16)?,
        };
        Ok((LineId(id(row, 0)?), record))
    };
    rows.iter().rev().map(call).collect()
}
