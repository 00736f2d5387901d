//! What was spent and left out, added up by the database. The rules are those of the SQLite store.

use sqlx::PgConnection;

use super::super::rows;
use super::super::{SpendQuery, SpendRow};

const CALLS: &str = "
    SELECT c.at / 86400000 AS day, l.session AS session, c.model AS model, c.caller AS caller,
           count(*) AS calls,
           count(*) FILTER (WHERE c.status >= 400 OR c.ended = 'upstream_failed') AS failed,
           count(*) FILTER (WHERE c.input IS NOT NULL AND c.cost_pico IS NULL) AS unpriced,
           sum(c.input)::BIGINT AS input, sum(c.cache_read)::BIGINT AS cache_read,
           sum(c.cache_write_5m + c.cache_write_1h)::BIGINT AS cache_write,
           sum(c.output)::BIGINT AS output, sum(c.cost_pico)::FLOAT8 AS cost,
           sum(c.saved)::BIGINT AS saved, 0::BIGINT AS compactions, 0::FLOAT8 AS compactions_cost,
           count(*) FILTER (WHERE c.input IS NULL AND c.status < 400 AND c.ended <> 'upstream_failed')
               AS unmeasured
    FROM longhaul.call c LEFT JOIN longhaul.line l ON l.id = c.line
    WHERE c.at >= $1 AND ($2::BIGINT IS NULL OR c.run = $2)
    GROUP BY 1, 2, 3, 4";

pub(super) async fn rows(
    connection: &mut PgConnection,
    query: SpendQuery,
) -> sqlx::Result<Vec<SpendRow>> {
    let made = compactions("made", "at", "count(*) FILTER (WHERE o.kind <> 'settled')");
    let notes = compactions("notes", "made", "0::BIGINT");
    let statement = format!("{CALLS} UNION ALL {made} UNION ALL {notes}");
    let asked = sqlx::query(&statement)
        .bind(query.since_millis())
        .bind(query.run_number());
    let found = asked.fetch_all(connection).await?;
    found.iter().map(rows::spend).collect()
}

/// The costs in one table, with the column of the time and the expression that counts.
fn compactions(table: &str, at: &str, count: &str) -> String {
    format!(
        "SELECT o.day, o.session, o.model, o.caller, 0::BIGINT, 0::BIGINT, 0::BIGINT, 0::BIGINT,
                0::BIGINT, 0::BIGINT, 0::BIGINT, 0::FLOAT8, 0::BIGINT, {count},
                sum(o.cost_pico)::FLOAT8, 0::BIGINT
         FROM (
             SELECT m.*, greatest(m.{at}, $1) / 86400000 AS day, l.model AS model,
                    (SELECT c.caller FROM longhaul.call c WHERE c.line = m.line
                     ORDER BY c.at DESC LIMIT 1) AS caller
             FROM longhaul.{table} m LEFT JOIN longhaul.line l ON l.id = m.line
             WHERE CASE WHEN $2::BIGINT IS NULL
                 THEN m.{at} >= $1 OR m.session IN (
                     SELECT l.session FROM longhaul.call c JOIN longhaul.line l ON l.id = c.line
                     WHERE c.at >= $1 AND c.saved > 0)
                 ELSE m.{at} >= $1 AND m.line IN (
                     SELECT c.line FROM longhaul.call c WHERE c.run = $2)
                 END
         ) o
         GROUP BY 1, 2, 3, 4"
    )
}
