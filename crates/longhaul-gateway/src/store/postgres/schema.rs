//! The tables, as migrations: each brings the database from one version to the next; none is ever changed.

use ring::rand::{SecureRandom, SystemRandom};
use sqlx::{Connection, Executor, PgConnection, Row};

use super::super::StoreError;
use super::connect::{PostgresAddress, error_text};

/// Each migration is a file. Ids and hashes are stored as in the SQLite store; everything is in a separate schema,
/// `longhaul`.
const MIGRATIONS: [&str; 9] = [
    include_str!("schema_1.sql"),
    include_str!("schema_2.sql"),
    include_str!("schema_3.sql"),
    include_str!("schema_4.sql"),
    include_str!("schema_5.sql"),
    include_str!("schema_6.sql"),
    include_str!("schema_7.sql"),
    include_str!("schema_8.sql"),
    include_str!("schema_9.sql"),
];

/// The format that this version writes.
const VERSION: i64 = MIGRATIONS.len() as i64;

/// A lock held during migration, so that gateways that start at the same time take turns.
const MIGRATING: i64 = 0x6c6f_6e67_6861_756c;

pub(super) const SECRET_BYTES: usize = 32;

/// The result of preparing the database.
pub(super) struct PreparedSchema {
    /// The secret that all gateways share.
    pub(super) secret: [u8; SECRET_BYTES],
    /// How many records of earlier versions were dropped.
    pub(super) dropped: u64,
}

/// Brings the database to [`VERSION`].
pub(super) async fn prepare(place: &PostgresAddress) -> Result<PreparedSchema, StoreError> {
    let mut connection = place.connect("longhaul").await?;
    let failed = |error: sqlx::Error| place.cannot(error_text(&error));
    let mut found = version(&mut connection).await.map_err(failed)?;
    if found < VERSION {
        found = migrate(&mut connection).await.map_err(failed)?;
    }
    if found > VERSION {
        return Err(StoreError::Newer {
            place: place.shown().to_owned(),
            found,
            known: VERSION,
        });
    }
    let secret = secret(&mut connection).await.map_err(failed)?;
    let dropped = drop_unsealed(&mut connection).await.map_err(failed)?;
    let closed = connection.close().await;
    closed.map_err(failed)?;
    let secret = secret
        .try_into()
        .map_err(|_| place.cannot("its secret is not 32 bytes long".to_owned()))?;
    Ok(PreparedSchema { secret, dropped })
}

/// Deletes what earlier versions stored of conversations: it has no seal, and no request finds it any more.
async fn drop_unsealed(connection: &mut PgConnection) -> sqlx::Result<u64> {
    let mut dropped = 0;
    for unsealed in [
        "DELETE FROM longhaul.rewrite WHERE seal IS NULL",
        "DELETE FROM longhaul.notes WHERE seal IS NULL",
    ] {
        let deleted = sqlx::query(unsealed).execute(&mut *connection).await?;
        dropped += deleted.rows_affected();
    }
    Ok(dropped)
}

async fn version(connection: &mut PgConnection) -> sqlx::Result<i64> {
    let there = "SELECT to_regclass('longhaul.version') IS NOT NULL";
    let there: bool = sqlx::query(there)
        .fetch_one(&mut *connection)
        .await?
        .try_get(0)?;
    if !there {
        return Ok(0);
    }
    let rows = sqlx::query("SELECT coalesce(max(version), 0) FROM longhaul.version");
    rows.fetch_one(connection).await?.try_get(0)
}

async fn migrate(connection: &mut PgConnection) -> sqlx::Result<i64> {
    // The lock is taken before the transaction: one that began while another gateway migrated would not see its
    // changes. It is released when the connection ends.
    let lock = sqlx::query("SELECT pg_advisory_lock($1)").bind(MIGRATING);
    lock.execute(&mut *connection).await?;
    let mut transaction = connection.begin().await?;
    let found = version(&mut transaction).await?;
    if found == 0 {
        // A user without the right to create a schema may have been given one.
        let there = sqlx::query("SELECT to_regnamespace('longhaul') IS NOT NULL");
        let there: bool = there.fetch_one(&mut *transaction).await?.try_get(0)?;
        if !there {
            transaction.execute("CREATE SCHEMA longhaul").await?;
        }
        let table = "CREATE TABLE longhaul.version (version BIGINT PRIMARY KEY)";
        transaction.execute(table).await?;
    }
    let done = usize::try_from(found).unwrap_or(0);
    for (migration, number) in MIGRATIONS.iter().zip(1_i64..).skip(done) {
        transaction.execute(sqlx::raw_sql(migration)).await?;
        let row = sqlx::query("INSERT INTO longhaul.version (version) VALUES ($1)");
        row.bind(number).execute(&mut *transaction).await?;
    }
    let now = version(&mut transaction).await?;
    transaction.commit().await?;
    Ok(now)
}

/// The first gateway creates the secret, and all use it.
async fn secret(connection: &mut PgConnection) -> sqlx::Result<Vec<u8>> {
    let mut drawn = [0; SECRET_BYTES];
    SystemRandom::new()
        .fill(&mut drawn)
        .map_err(|_| sqlx::Error::Io(std::io::Error::other("the system gives no random bytes")))?;
    sqlx::query("INSERT INTO longhaul.secret (secret) VALUES ($1) ON CONFLICT DO NOTHING")
        .bind(&drawn[..])
        .execute(&mut *connection)
        .await?;
    let kept = sqlx::query("SELECT secret FROM longhaul.secret");
    kept.fetch_one(connection).await?.try_get(0)
}
