//! What was spent and left out, and how long calls took, added up by the database. The rules are those of the SQLite
//! store.

use jiff::Timestamp;
use sqlx::PgConnection;

use super::super::counted_compaction::counted_compaction;
use super::super::{LatencyRow, SpendDetail, SpendQuery, SpendRow, latency, rows};

pub(super) async fn rows(
    connection: &mut PgConnection,
    query: SpendQuery,
) -> sqlx::Result<Vec<SpendRow>> {
    let detail = query.detail;
    let calls = calls(detail);
    let counted = concat!(
        "count(*) FILTER (WHERE ",
        counted_compaction!("o", "longhaul."),
        ")"
    );
    let made = compactions(detail, "made", "at", counted);
    let notes = compactions(detail, "notes", "made", "0::BIGINT");
    let all = format!("{calls} UNION ALL {made} UNION ALL {notes}");
    let statement = match query.most {
        None => all,
        Some(most) => format!("{all} ORDER BY day DESC LIMIT {most}"),
    };
    let asked = sqlx::query(&statement)
        .bind(query.since_millis())
        .bind(query.run_number())
        .bind(query.until_millis());
    let found = asked.fetch_all(connection).await?;
    found.iter().map(rows::spend).collect()
}

fn calls(detail: SpendDetail) -> String {
    let (day, session) = (detail.day("c.at / 86400000"), detail.session("l.session"));
    format!(
        "SELECT {day} AS day, {session} AS session, c.model AS model, c.caller AS caller,
                count(*) FILTER (WHERE NOT c.own) AS calls,
                count(*) FILTER (WHERE NOT c.own
                    AND (c.status >= 400 OR c.ended = 'upstream_failed')) AS failed,
                count(*) FILTER (WHERE c.input IS NOT NULL AND c.cost_pico IS NULL) AS unpriced,
                sum(c.input)::BIGINT AS input, sum(c.cache_read)::BIGINT AS cache_read,
                sum(c.cache_write_5m + c.cache_write_1h)::BIGINT AS cache_write,
                sum(c.output)::BIGINT AS output, sum(c.cost_pico)::FLOAT8 AS cost,
                sum(c.saved)::BIGINT AS saved, 0::BIGINT AS compactions,
                0::FLOAT8 AS compactions_cost,
                count(*) FILTER (WHERE NOT c.own AND c.input IS NULL AND c.status < 400
                    AND c.ended <> 'upstream_failed') AS unmeasured,
                l.tenant AS tenant, c.of_key AS of_key, c.simulated AS simulated,
                count(*) FILTER (WHERE c.own) AS own_calls,
                (sum(c.cost_pico) FILTER (WHERE c.own))::FLOAT8 AS own_cost
         FROM longhaul.call c LEFT JOIN longhaul.line l ON l.id = c.line
         WHERE c.at >= $1 AND c.at < $3 AND ($2::BIGINT IS NULL OR c.run = $2)
         GROUP BY 1, 2, 3, 4, 17, 18, 19"
    )
}

/// The costs in one table, with the column of the time and the expression that counts.
fn compactions(detail: SpendDetail, table: &str, at: &str, count: &str) -> String {
    let day = detail.day(&format!("greatest(m.{at}, $1) / 86400000"));
    let session = detail.session("o.session");
    format!(
        "SELECT o.day, {session}, o.model, o.caller, 0::BIGINT, 0::BIGINT, 0::BIGINT, 0::BIGINT,
                0::BIGINT, 0::BIGINT, 0::BIGINT, 0::FLOAT8, 0::BIGINT, {count},
                sum(o.cost_pico)::FLOAT8, 0::BIGINT, o.owner, o.of_key,
                coalesce(o.simulated, FALSE), 0::BIGINT, 0::FLOAT8
         FROM (
             SELECT m.*, {day} AS day, l.model AS model, l.tenant AS owner,
                    (SELECT c.caller FROM longhaul.call c WHERE c.line = m.line
                     ORDER BY c.at DESC LIMIT 1) AS caller,
                    (SELECT c.of_key FROM longhaul.call c WHERE c.line = m.line
                     ORDER BY c.at DESC LIMIT 1) AS of_key,
                    (SELECT c.simulated FROM longhaul.call c WHERE c.line = m.line
                     ORDER BY c.at DESC LIMIT 1) AS simulated
             FROM longhaul.{table} m LEFT JOIN longhaul.line l ON l.id = m.line
             WHERE m.{at} < $3 AND CASE WHEN $2::BIGINT IS NULL
                 THEN m.{at} >= $1 OR m.session IN (
                     SELECT l.session FROM longhaul.call c JOIN longhaul.line l ON l.id = c.line
                     WHERE c.at >= $1 AND c.at < $3 AND c.saved > 0)
                 ELSE m.{at} >= $1 AND m.line IN (
                     SELECT c.line FROM longhaul.call c WHERE c.run = $2)
                 END
         ) o
         GROUP BY 1, 2, 3, 4, 17, 18, 19"
    )
}

/// How long calls took.
pub(super) async fn latency(
    connection: &mut PgConnection,
    since: Timestamp,
    until: Timestamp,
) -> sqlx::Result<Vec<LatencyRow>> {
    let statement = latency::statement("longhaul.call", ("$1", "$2"));
    let asked = sqlx::query(&statement)
        .bind(since.as_millisecond())
        .bind(until.as_millisecond());
    let found = asked.fetch_all(connection).await?;
    found.iter().map(rows::latency).collect()
}
