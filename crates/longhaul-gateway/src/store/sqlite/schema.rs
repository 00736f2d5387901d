//! The tables, as migrations: each brings a file from one `user_version` to the next; none is ever changed.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// Ids and hashes are stored as 64-bit integers, a chain as a blob, money in picodollars (a call of more than nine
/// million dollars is stored as that amount).
const MIGRATIONS: [&str; 10] = [
    TABLES, REWRITES, NOTES, SEALS, DERIVED, CALLERS, RECALL, SHOWN, WAITED, BILLED,
];

const TABLES: &str = "
    CREATE TABLE line (
        id INTEGER PRIMARY KEY,
        tenant INTEGER NOT NULL,
        session INTEGER NOT NULL,
        parent INTEGER,
        chain BLOB NOT NULL,
        messages INTEGER NOT NULL,
        answered INTEGER NOT NULL,
        model TEXT NOT NULL,
        agent INTEGER NOT NULL,
        seen INTEGER NOT NULL
    );
    CREATE INDEX line_session ON line (session);
    CREATE INDEX line_seen ON line (seen);
    CREATE TABLE call (
        id INTEGER PRIMARY KEY,
        line INTEGER,
        at INTEGER NOT NULL,
        model TEXT NOT NULL,
        messages INTEGER NOT NULL,
        status INTEGER NOT NULL,
        ended TEXT NOT NULL,
        millis INTEGER NOT NULL,
        input INTEGER,
        cache_read INTEGER,
        cache_write_5m INTEGER,
        cache_write_1h INTEGER,
        output INTEGER,
        cost_pico INTEGER,
        finding TEXT
    );
    CREATE INDEX call_line ON call (line, at);
    CREATE INDEX call_at ON call (at);
    CREATE TABLE tenant (
        of_key INTEGER PRIMARY KEY,
        tenant INTEGER NOT NULL
    );
";

/// Compacted prefixes, and how they were made: the former are replaced, the latter only grow old.
const REWRITES: &str = "
    ALTER TABLE call ADD COLUMN saved INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE call ADD COLUMN rewritten INTEGER NOT NULL DEFAULT 0;
    CREATE TABLE made (
        id INTEGER PRIMARY KEY,
        session INTEGER NOT NULL,
        line INTEGER NOT NULL,
        at INTEGER NOT NULL,
        kind TEXT NOT NULL,
        before INTEGER NOT NULL,
        after INTEGER NOT NULL,
        millis INTEGER NOT NULL,
        waited INTEGER NOT NULL,
        cost_pico INTEGER,
        report TEXT NOT NULL,
        UNIQUE (line, at, kind)
    );
    CREATE INDEX made_session ON made (session, at);
    CREATE INDEX made_at ON made (at);
    CREATE TABLE rewrite (
        id INTEGER PRIMARY KEY,
        tenant INTEGER NOT NULL,
        at BLOB NOT NULL,
        messages INTEGER NOT NULL,
        made INTEGER NOT NULL,
        used INTEGER NOT NULL,
        root BLOB,
        summary INTEGER NOT NULL,
        settled INTEGER NOT NULL,
        cleared TEXT NOT NULL,
        lines BLOB NOT NULL,
        text BLOB NOT NULL,
        UNIQUE (tenant, at)
    );
    CREATE INDEX rewrite_made ON rewrite (made);
    CREATE INDEX rewrite_used ON rewrite (used);
";

/// Session notes, by the history that they cover.
const NOTES: &str = "
    CREATE TABLE notes (
        tenant INTEGER NOT NULL,
        at BLOB NOT NULL,
        messages INTEGER NOT NULL,
        tokens INTEGER NOT NULL,
        text TEXT NOT NULL,
        session INTEGER NOT NULL,
        line INTEGER NOT NULL,
        made INTEGER NOT NULL,
        cost_pico INTEGER,
        UNIQUE (tenant, at)
    );
    CREATE INDEX notes_session ON notes (session);
    CREATE INDEX notes_made ON notes (made);
";

/// Everything stored of conversations has a seal; what has none was written by earlier versions and is dropped at
/// startup. Histories are identified by a keyed hash: branches of earlier versions stay for their figures, and no
/// request continues them.
const SEALS: &str = "
    ALTER TABLE rewrite ADD COLUMN seal BLOB;
    ALTER TABLE notes ADD COLUMN seal BLOB;
    ALTER TABLE call ADD COLUMN partial INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE line ADD COLUMN keyed INTEGER NOT NULL DEFAULT 0;
    CREATE TABLE probe (id INTEGER PRIMARY KEY, at INTEGER NOT NULL);
";

/// How the messages of a prefix are made from the client's, if they are not stored.
const DERIVED: &str = "
    ALTER TABLE rewrite ADD COLUMN derived TEXT;
";

/// Which agent made a call, and in which run of it.
const CALLERS: &str = "
    ALTER TABLE call ADD COLUMN caller TEXT;
    ALTER TABLE call ADD COLUMN run INTEGER;
";

/// What recall behind the gateway needs: the tool that a conversation is offered, and the rounds its client never saw.
const RECALL: &str = "
    CREATE TABLE recall (
        tenant INTEGER NOT NULL,
        at BLOB NOT NULL,
        variant INTEGER NOT NULL,
        text BLOB NOT NULL,
        made INTEGER NOT NULL,
        used INTEGER NOT NULL,
        seal BLOB,
        UNIQUE (tenant, at, variant)
    );
    CREATE INDEX recall_used ON recall (used);
";

/// What the page shows of sessions and calls: the first words of the user, when an answer began, why a call failed, and
/// whether there were cache breakpoints.
const SHOWN: &str = "
    ALTER TABLE line ADD COLUMN title TEXT;
    ALTER TABLE call ADD COLUMN began INTEGER;
    ALTER TABLE call ADD COLUMN error TEXT;
    ALTER TABLE call ADD COLUMN breakpoints INTEGER;
";

/// How long a request waited for a compaction is NULL where none did. Before, that was zero, and a request that did not wait
/// long had one millisecond.
const WAITED: &str = "
    ALTER TABLE made ADD COLUMN awaited INTEGER;
    UPDATE made SET awaited = waited WHERE waited > 0;
    ALTER TABLE made DROP COLUMN waited;
    ALTER TABLE made RENAME COLUMN awaited TO waited;
";

/// Whose call it was, and the gateway's own requests among the calls. Earlier versions kept of these what they cost, with
/// what was written to the cache again.
const BILLED: &str = "
    ALTER TABLE call ADD COLUMN of_key INTEGER;
    ALTER TABLE call ADD COLUMN own INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE call ADD COLUMN simulated INTEGER NOT NULL DEFAULT 0;
    INSERT INTO call (line, at, model, messages, status, ended, millis, cost_pico, caller, own)
        SELECT m.line, m.at, l.model, 0, 200, 'whole', m.millis, m.cost_pico,
               (SELECT caller FROM call c WHERE c.line = m.line ORDER BY c.at DESC LIMIT 1), 1
        FROM made m JOIN line l ON l.id = m.line
        WHERE m.kind = 'summarised' AND m.cost_pico IS NOT NULL;
    INSERT INTO call (line, at, model, messages, status, ended, millis, cost_pico, caller, own)
        SELECT n.line, n.made, l.model, 0, 200, 'whole', 0, n.cost_pico,
               (SELECT caller FROM call c WHERE c.line = n.line ORDER BY c.at DESC LIMIT 1), 1
        FROM notes n JOIN line l ON l.id = n.line
        WHERE n.cost_pico IS NOT NULL;
";

/// Deletes what has no seal; returns how many records that were.
pub(super) fn drop_unsealed(connection: &Connection) -> rusqlite::Result<u64> {
    let rewrites = connection.execute("DELETE FROM rewrite WHERE seal IS NULL", [])?;
    let notes = connection.execute("DELETE FROM notes WHERE seal IS NULL", [])?;
    Ok((rewrites + notes) as u64)
}

/// The format that this version writes.
pub(super) const VERSION: i64 = MIGRATIONS.len() as i64;

/// Brings the file to [`VERSION`]; returns the version that it has, which may be a later one.
pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<i64> {
    if version(connection)? >= VERSION {
        return version(connection);
    }
    // Another process may be migrating too: check again with the write lock held.
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let found = usize::try_from(version(&transaction)?).unwrap_or(0);
    for (migration, number) in MIGRATIONS.iter().zip(1..).skip(found) {
        transaction.execute_batch(migration)?;
        transaction.pragma_update(None, "user_version", number)?;
    }
    transaction.commit()?;
    version(connection)
}

pub(super) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x8_a_compaction_that_no_request_waited_for_has_no_time_of_waiting_after_the_migration() {
        let mut connection = Connection::open_in_memory().unwrap();
        for migration in &MIGRATIONS[..8] {
            connection.execute_batch(migration).unwrap();
        }
        connection.pragma_update(None, "user_version", 8).unwrap();
        for (at, waited) in [(1, 0), (2, 1), (3, 700)] {
            let row =
                "INSERT INTO made (session, line, at, kind, before, after, millis, waited, report)
                       VALUES (1, 1, ?, 'cleared', 9, 5, 0, ?, '{}')";
            connection.execute(row, (at, waited)).unwrap();
        }
        assert_eq!(migrate(&mut connection).unwrap(), VERSION);
        let mut rows = connection
            .prepare("SELECT waited FROM made ORDER BY at")
            .unwrap();
        let waited: Vec<Option<i64>> = rows
            .query_map([], |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(waited, [None, Some(1), Some(700)]);
    }
}
