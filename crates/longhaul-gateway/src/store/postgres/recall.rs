//! Records of recall: stored durably, found by hash.

use jiff::Timestamp;
use sqlx::{Connection, PgConnection};

use super::super::rows;
use super::super::{RecallRecord, Sealed};
use super::prefix_store::{durably, hashes};
use crate::branch::Tenant;

pub(super) async fn put(
    connection: &mut PgConnection,
    sealed: &Sealed<RecallRecord>,
) -> sqlx::Result<()> {
    let record = &sealed.stored;
    let mut transaction = connection.begin().await?;
    durably(&mut transaction).await?;
    sqlx::query(
        "INSERT INTO longhaul.recall (tenant, at, variant, text, made, used, seal)
         VALUES (coalesce((SELECT tenant FROM longhaul.tenant WHERE of_key = $1), $1),
             $2, $3, $4, $5, $5, $6)
         ON CONFLICT (tenant, at, variant) DO UPDATE SET text = excluded.text,
             made = excluded.made, used = excluded.used, seal = excluded.seal",
    )
    .bind(record.tenant.0.cast_signed())
    .bind(record.at.to_le_bytes().to_vec())
    .bind(record.variant.cast_signed())
    .bind(record.text.to_vec())
    .bind(record.made.as_millisecond())
    .bind(sealed.seal.map(|seal| seal.0.to_vec()))
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await
}

pub(super) async fn find(
    connection: &mut PgConnection,
    tenant: Tenant,
    at: &[u128],
    now: Timestamp,
) -> sqlx::Result<Vec<Sealed<RecallRecord>>> {
    let hashes = hashes(at);
    let found = sqlx::query(
        "SELECT at, variant, text, made, seal, used FROM longhaul.recall
         WHERE tenant = coalesce((SELECT tenant FROM longhaul.tenant WHERE of_key = $1), $1)
             AND at = ANY ($2)
         ORDER BY made DESC",
    )
    .bind(tenant.0.cast_signed())
    .bind(&hashes)
    .fetch_all(&mut *connection)
    .await?;
    let (mut records, mut is_stale) = (Vec::new(), false);
    for row in &found {
        records.push(rows::recall(row, tenant)?);
        is_stale |= rows::is_stale(row, 5, now)?;
    }
    if is_stale {
        sqlx::query(
            "UPDATE longhaul.recall SET used = $3
             WHERE tenant = coalesce((SELECT tenant FROM longhaul.tenant WHERE of_key = $1), $1)
                 AND at = ANY ($2)",
        )
        .bind(tenant.0.cast_signed())
        .bind(hashes)
        .bind(now.as_millisecond())
        .execute(connection)
        .await?;
    }
    Ok(records)
}
