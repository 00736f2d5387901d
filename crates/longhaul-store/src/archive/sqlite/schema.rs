//! The tables, as migrations: each brings a database from one `user_version` to the next, and none is ever changed.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// "LHAR": distinguishes our databases from others.
pub(super) const APPLICATION_ID: i32 = 0x4c48_4152;

/// `text` is the last column, so that reading the others does not read it. `words` is an index without content of its
/// own: it is built from the text as split by the `words` module, not from the text itself.
const MIGRATIONS: [&str; 1] = ["
    CREATE TABLE item (
        id INTEGER PRIMARY KEY,
        uuid TEXT NOT NULL,
        part INTEGER NOT NULL,
        kind TEXT NOT NULL,
        tool_use_id TEXT,
        tool TEXT,
        path TEXT,
        name TEXT,
        session TEXT,
        at INTEGER,
        tokens INTEGER NOT NULL,
        presence TEXT NOT NULL,
        archived INTEGER NOT NULL,
        text TEXT NOT NULL,
        UNIQUE (uuid, part)
    );
    CREATE INDEX item_call ON item (tool_use_id) WHERE tool_use_id IS NOT NULL;
    CREATE INDEX item_name ON item (name) WHERE name IS NOT NULL;
    CREATE VIRTUAL TABLE words USING fts5 (
        about, body,
        content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2'
    );
    INSERT INTO words (words, rank) VALUES ('rank', 'bm25(2.0, 1.0)');
    INSERT INTO words (words, rank) VALUES ('hashsize', 16777216);
    CREATE TABLE source (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        path TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        modified INTEGER NOT NULL,
        indexed INTEGER NOT NULL,
        hash BLOB NOT NULL
    );
"];

/// The format version that this code writes.
pub(super) const VERSION: i64 = MIGRATIONS.len() as i64;

/// Migrates the database to [`VERSION`] and returns the version that it has, which may be a later one.
pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<i64> {
    let found = version(connection)?;
    if found >= VERSION {
        return Ok(found);
    }
    // Another process may be doing the same, so check again with the write lock held.
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let found = version(&transaction)?;
    for (migration, number) in MIGRATIONS
        .iter()
        .zip(1..)
        .skip(usize::try_from(found).unwrap_or(0))
    {
        transaction.execute_batch(migration)?;
        transaction.pragma_update(None, "user_version", number)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.commit()?;
    version(connection)
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}
