//! Compacted prefixes: stored durably, found by hash.

use jiff::Timestamp;
use sqlx::{Connection, PgConnection, Row};

use super::super::rows::{self, limit, pico, signed};
use super::super::{CompactedPrefix, PrefixMakingId, PrefixProvenance, Sealed};
use super::write::text;
use crate::branch::{GatewaySessionId, Tenant};

/// Makes a transaction's commit durable, even if the server is configured to be fast rather than safe.
pub(super) async fn durably(transaction: &mut PgConnection) -> sqlx::Result<()> {
    let durable = "SELECT set_config('synchronous_commit', 'on', TRUE)
                   WHERE current_setting('synchronous_commit') = 'off'";
    sqlx::query(durable).execute(transaction).await?;
    Ok(())
}

/// Hashes of histories as the values of a column.
pub(super) fn hashes(at: &[u128]) -> Vec<Vec<u8>> {
    at.iter().map(|hash| hash.to_le_bytes().to_vec()).collect()
}

pub(super) async fn probe(connection: &mut PgConnection) -> sqlx::Result<()> {
    let mut transaction = connection.begin().await?;
    durably(&mut transaction).await?;
    let probe = "INSERT INTO longhaul.probe (id, at) VALUES (1, now())
                 ON CONFLICT (id) DO UPDATE SET at = excluded.at";
    sqlx::query(probe).execute(&mut *transaction).await?;
    transaction.commit().await
}

pub(super) async fn put(
    connection: &mut PgConnection,
    sealed: &Sealed<CompactedPrefix>,
) -> sqlx::Result<()> {
    let rewrite = &sealed.stored;
    let mut transaction = connection.begin().await?;
    durably(&mut transaction).await?;
    let made = &rewrite.made;
    // The same prefix may be stored twice, if it is not known whether the first attempt succeeded.
    let number: i64 = sqlx::query(
        "INSERT INTO longhaul.made
             (session, line, at, kind, before, after, millis, waited, cost_pico, report)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
         ON CONFLICT (line, at, kind) DO UPDATE SET session = excluded.session,
             before = excluded.before, after = excluded.after, millis = excluded.millis,
             waited = excluded.waited, cost_pico = excluded.cost_pico, report = excluded.report
         RETURNING id",
    )
    .bind(made.session.0.cast_signed())
    .bind(made.line.0.cast_signed())
    .bind(made.at.as_millisecond())
    .bind(made.kind.name())
    .bind(signed(made.before))
    .bind(signed(made.after))
    .bind(signed(made.millis))
    .bind(made.waited.map(signed))
    .bind(pico(made.cost))
    .bind(text(&made.report.to_json().to_string()))
    .fetch_one(&mut *transaction)
    .await?
    .try_get(0)?;
    sqlx::query(
        "INSERT INTO longhaul.rewrite
             (tenant, at, messages, made, used, root, summary, settled, cleared, lines, text, seal,
              derived)
         VALUES (coalesce((SELECT tenant FROM longhaul.tenant WHERE of_key = $1), $1),
             $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
         ON CONFLICT (tenant, at) DO UPDATE SET messages = excluded.messages, made = excluded.made,
             used = excluded.used, root = excluded.root, summary = excluded.summary,
             settled = excluded.settled, cleared = excluded.cleared, lines = excluded.lines,
             text = excluded.text, seal = excluded.seal, derived = excluded.derived",
    )
    .bind(rewrite.tenant.0.cast_signed())
    .bind(rewrite.at.to_le_bytes())
    .bind(i64::from(rewrite.messages))
    .bind(number)
    .bind(Timestamp::now().as_millisecond())
    .bind(rewrite.root.map(u128::to_le_bytes))
    .bind(signed(rewrite.summary as u64))
    .bind(rewrite.settled)
    .bind(serde_json::Value::from(rewrite.cleared.clone()).to_string())
    .bind(&rewrite.lines[..])
    .bind(&rewrite.text[..])
    .bind(sealed.seal.map(|seal| seal.0.to_vec()))
    .bind(rewrite.derived_column())
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await
}

pub(super) async fn find(
    connection: &mut PgConnection,
    tenant: Tenant,
    at: &[u128],
    least: u32,
) -> sqlx::Result<Option<Sealed<CompactedPrefix>>> {
    let row = sqlx::query(
        "SELECT m.session, m.line, m.at, m.kind, m.before, m.after, m.millis, m.waited, m.cost_pico,
                m.report, r.at, r.messages, r.used, r.root, r.summary, r.settled, r.cleared, r.lines,
                r.text, r.id, r.seal, r.derived
         FROM longhaul.rewrite r JOIN longhaul.made m ON m.id = r.made
         WHERE r.tenant = coalesce((SELECT tenant FROM longhaul.tenant WHERE of_key = $1), $1)
             AND r.at = ANY ($2) AND r.messages > $3 AND r.seal IS NOT NULL
         ORDER BY r.messages DESC LIMIT 1",
    )
    .bind(tenant.0.cast_signed())
    .bind(hashes(at))
    .bind(i64::from(least))
    .fetch_optional(&mut *connection)
    .await?;
    let Some(row) = row else {
        return Ok(None);
    };
    let found = rows::rewrite(&row, tenant)?;
    let now = Timestamp::now();
    if found.is_stale(now) {
        let used = sqlx::query("UPDATE longhaul.rewrite SET used = $1 WHERE id = $2");
        let used = used.bind(now.as_millisecond()).bind(found.number);
        used.execute(connection).await?;
    }
    Ok(Some(found.rewrite))
}

pub(super) async fn made_as(
    connection: &mut PgConnection,
    made: PrefixMakingId,
) -> sqlx::Result<Option<Sealed<CompactedPrefix>>> {
    let query = sqlx::query(
        "SELECT m.session, m.line, m.at, m.kind, m.before, m.after, m.millis, m.waited, m.cost_pico,
                m.report, r.at, r.messages, r.used, r.root, r.summary, r.settled, r.cleared, r.lines,
                r.text, r.id, r.seal, r.derived, r.tenant
         FROM longhaul.made m JOIN longhaul.rewrite r ON r.made = m.id
         WHERE m.line = $1 AND m.at = $2 AND m.kind = $3 AND m.session = $4 LIMIT 1",
    );
    let found = query
        .bind(made.line.0.cast_signed())
        .bind(made.millis)
        .bind(made.kind.name())
        .bind(made.session.0.cast_signed())
        .fetch_optional(connection)
        .await?;
    let Some(row) = found else {
        return Ok(None);
    };
    let tenant: i64 = row.try_get(22)?;
    let found = rows::rewrite(&row, Tenant(tenant.cast_unsigned()))?;
    Ok(Some(found.rewrite))
}

pub(super) async fn made_in(
    connection: &mut PgConnection,
    session: GatewaySessionId,
    most: usize,
) -> sqlx::Result<Vec<PrefixProvenance>> {
    let query = sqlx::query(
        "SELECT session, line, at, kind, before, after, millis, waited, cost_pico, report
         FROM longhaul.made WHERE session = $1 ORDER BY at DESC, id DESC LIMIT $2",
    );
    let query = query.bind(session.0.cast_signed()).bind(limit(most));
    let found = query.fetch_all(connection).await?;
    found.iter().rev().map(rows::made).collect()
}
