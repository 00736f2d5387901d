//! The tables, as migrations: each brings a file from one `user_version` to the next, none is ever changed.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// Ids and hashes are kept as the 64-bit integers they are, a chain as a blob, money in picodollars (a call of more
/// than nine million dollars is written as that).
const MIGRATIONS: [&str; 1] = ["
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
"];

/// The format written here.
pub(super) const VERSION: i64 = MIGRATIONS.len() as i64;

/// Brings the file to [`VERSION`]; gives the version that it has, which may be a later one.
pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<i64> {
    if version(connection)? >= VERSION {
        return version(connection);
    }
    // Another process may be doing the same: look again with the write lock held.
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let found = usize::try_from(version(&transaction)?).unwrap_or(0);
    for (migration, number) in MIGRATIONS.iter().zip(1..).skip(found) {
        transaction.execute_batch(migration)?;
        transaction.pragma_update(None, "user_version", number)?;
    }
    transaction.commit()?;
    version(connection)
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}
