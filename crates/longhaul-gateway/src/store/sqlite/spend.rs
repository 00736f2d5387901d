//! What was spent and left out, added up by the database.

use rusqlite::{Connection, params};

use super::super::rows;
use super::super::{SpendQuery, SpendRow};

/// The first format that has compactions and what they saved.
pub(super) const WITH_COMPACTIONS: i64 = 2;
/// The first format that has notes.
const WITH_NOTES: i64 = 3;
/// The first format that says which agent made a call.
const WITH_CALLERS: i64 = 6;

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
    let mut statement = connection.prepare(&statement(format))?;
    let asked = params![query.since_millis(), query.run_number()];
    let found = statement.query_map(asked, |row| rows::spend(row))?;
    found.collect()
}

/// `?1` is the beginning, `?2` the run or NULL. A compaction from before the beginning is charged to the first day if its
/// session saved something since: what was saved then would otherwise seem to have cost nothing.
fn statement(format: i64) -> String {
    let has_callers = format >= WITH_CALLERS;
    let caller = if has_callers { "c.caller" } else { "NULL" };
    let of_run = if has_callers {
        "?2 IS NULL OR c.run = ?2"
    } else {
        "?2 IS NULL"
    };
    let mut parts = vec![format!(
        "SELECT c.at / 86400000, l.session, c.model, {caller}, count(*),
                sum(c.status >= 400 OR c.ended = 'upstream_failed'),
                sum(c.input IS NOT NULL AND c.cost_pico IS NULL), sum(c.input), sum(c.cache_read),
                sum(c.cache_write_5m + c.cache_write_1h), sum(c.output), total(c.cost_pico),
                sum(c.saved), 0, 0.0, sum(c.input IS NULL AND c.status < 400 AND c.ended <> 'upstream_failed')
         FROM call c LEFT JOIN line l ON l.id = c.line
         WHERE c.at >= ?1 AND ({of_run}) GROUP BY 1, 2, 3, 4"
    )];
    let compactions = [
        ("made", "at", "sum(m.kind <> 'settled')", WITH_COMPACTIONS),
        ("notes", "made", "0", WITH_NOTES),
    ];
    for (table, at, count, since) in compactions {
        if format < since {
            continue;
        }
        parts.push(format!(
            "SELECT max(m.{at}, ?1) / 86400000, m.session, l.model,
                    (SELECT {caller} FROM call c WHERE c.line = m.line ORDER BY c.at DESC LIMIT 1),
                    0, 0, 0, 0, 0, 0, 0, 0.0, 0, {count}, total(m.cost_pico), 0
             FROM {table} m LEFT JOIN line l ON l.id = m.line
             WHERE CASE WHEN ?2 IS NULL
                 THEN m.{at} >= ?1 OR m.session IN (
                     SELECT l.session FROM call c JOIN line l ON l.id = c.line
                     WHERE c.at >= ?1 AND c.saved > 0)
                 ELSE m.{at} >= ?1 AND m.line IN (
                     SELECT c.line FROM call c WHERE {of_run})
                 END
             GROUP BY 1, 2, 3, 4"
        ));
    }
    parts.join(" UNION ALL ")
}
