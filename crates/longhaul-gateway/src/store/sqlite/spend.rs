//! What was spent and left out, and how long calls took, added up by the database.

use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::super::counted_compaction::counted_compaction;
use super::super::{LatencyRow, SpendQuery, SpendRow, latency, rows};

/// The first format that has compactions and what they saved.
pub(super) const WITH_COMPACTIONS: i64 = 2;
/// The first format that has notes.
const WITH_NOTES: i64 = 3;
/// The first format that says which agent made a call.
const WITH_CALLERS: i64 = 6;
/// The first format that has the gateway's own requests among the calls.
const WITH_OWN: i64 = 10;

/// The totals from a file of the newest format.
pub(super) fn rows(connection: &Connection, query: SpendQuery) -> rusqlite::Result<Vec<SpendRow>> {
    rows_of_format(connection, query, super::schema::VERSION)
}

/// The totals from a file of this format, which may be an older one.
pub(super) fn rows_of_format(
    connection: &Connection,
    query: SpendQuery,
    format: i64,
) -> rusqlite::Result<Vec<SpendRow>> {
    let mut statement = connection.prepare(&statement(query, format))?;
    let asked = params![
        query.since_millis(),
        query.run_number(),
        query.until_millis()
    ];
    let found = statement.query_map(asked, |row| rows::spend(row))?;
    found.collect()
}

/// `?1` is the beginning, `?2` the run or NULL, `?3` the end. A compaction from before the beginning is charged to the
/// first day if its session saved something since: what was saved then would otherwise seem to have cost nothing.
fn statement(query: SpendQuery, format: i64) -> String {
    let has_callers = format >= WITH_CALLERS;
    let caller = if has_callers { "c.caller" } else { "NULL" };
    let of_run = if has_callers {
        "?2 IS NULL OR c.run = ?2"
    } else {
        "?2 IS NULL"
    };
    // Before, what these cost was kept with what they made.
    let has_own = format >= WITH_OWN;
    let (key, simulated, own) = match has_own {
        true => ("c.of_key", "c.simulated", "c.own"),
        false => ("NULL", "0", "0"),
    };
    let detail = query.detail;
    let (day, session) = (detail.day("c.at / 86400000"), detail.session("l.session"));
    let mut parts = vec![format!(
        "SELECT {day} AS day, {session}, c.model, {caller}, sum(NOT {own}),
                sum(NOT {own} AND (c.status >= 400 OR c.ended = 'upstream_failed')),
                sum(c.input IS NOT NULL AND c.cost_pico IS NULL), sum(c.input), sum(c.cache_read),
                sum(c.cache_write_5m + c.cache_write_1h), sum(c.output), total(c.cost_pico),
                sum(c.saved), 0, 0.0, sum(NOT {own} AND c.input IS NULL AND c.status < 400 AND c.ended <> 'upstream_failed'),
                l.tenant, {key}, {simulated}, sum({own}), total(CASE WHEN {own} THEN c.cost_pico END)
         FROM call c LEFT JOIN line l ON l.id = c.line
         WHERE c.at >= ?1 AND c.at < ?3 AND ({of_run}) GROUP BY 1, 2, 3, 4, 17, 18, 19"
    )];
    // Only with the gateway's own requests told apart is it known what was sent between two compactions.
    let counted = match has_own {
        true => concat!("sum(", counted_compaction!("m", ""), ")"),
        false => "sum(m.kind <> 'settled')",
    };
    let compactions = [
        (
            "made",
            "at",
            counted,
            "m.kind = 'summarised'",
            WITH_COMPACTIONS,
        ),
        ("notes", "made", "0", "1", WITH_NOTES),
    ];
    let session = detail.session("m.session");
    for (table, at, count, asked, since) in compactions {
        if format < since {
            continue;
        }
        let billed = match has_own {
            true => "0.0".to_owned(),
            false => format!("total(CASE WHEN {asked} THEN m.cost_pico END)"),
        };
        let newest = |column: &str| {
            format!(
                "(SELECT {column} FROM call c WHERE c.line = m.line ORDER BY c.at DESC LIMIT 1)"
            )
        };
        let (caller, key, simulated) = (newest(caller), newest(key), newest(simulated));
        let day = detail.day(&format!("max(m.{at}, ?1) / 86400000"));
        parts.push(format!(
            "SELECT {day}, {session}, l.model,
                    {caller},
                    0, 0, 0, 0, 0, 0, 0, {billed}, 0, {count}, total(m.cost_pico), 0, l.tenant,
                    {key}, coalesce({simulated}, 0), 0, {billed}
             FROM {table} m LEFT JOIN line l ON l.id = m.line
             WHERE m.{at} < ?3 AND CASE WHEN ?2 IS NULL
                 THEN m.{at} >= ?1 OR m.session IN (
                     SELECT l.session FROM call c JOIN line l ON l.id = c.line
                     WHERE c.at >= ?1 AND c.at < ?3 AND c.saved > 0)
                 ELSE m.{at} >= ?1 AND m.line IN (
                     SELECT c.line FROM call c WHERE {of_run})
                 END
             GROUP BY 1, 2, 3, 4, 17, 18, 19"
        ));
    }
    let all = parts.join(" UNION ALL ");
    match query.most {
        None => all,
        Some(most) => format!("{all} ORDER BY 1 DESC LIMIT {most}"),
    }
}

/// How long calls took.
pub(super) fn latency(
    connection: &Connection,
    since: Timestamp,
    until: Timestamp,
) -> rusqlite::Result<Vec<LatencyRow>> {
    let mut statement = connection.prepare_cached(&latency::statement("call", ("?1", "?2")))?;
    let asked = (since.as_millisecond(), until.as_millisecond());
    let found = statement.query_map(asked, |row| rows::latency(row))?;
    found.collect()
}
