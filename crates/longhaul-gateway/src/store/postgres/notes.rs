//! Notes: stored durably, found by hash.

use sqlx::{Connection, PgConnection};

use super::super::rows::{self, pico, signed};
use super::super::{NotesRecord, Sealed};
use super::prefix_store::{durably, hashes};
use super::write::text;
use crate::branch::Tenant;

pub(super) async fn put(
    connection: &mut PgConnection,
    sealed: &Sealed<NotesRecord>,
) -> sqlx::Result<()> {
    let notes = &sealed.stored;
    let mut transaction = connection.begin().await?;
    durably(&mut transaction).await?;
    sqlx::query(
        "INSERT INTO longhaul.notes
             (tenant, at, messages, tokens, text, session, line, made, cost_pico, seal)
         VALUES (coalesce((SELECT tenant FROM longhaul.tenant WHERE of_key = $1), $1),
             $2, $3, $4, $5, $6, $7, $8, $9, $10)
         ON CONFLICT (tenant, at) DO UPDATE SET messages = excluded.messages,
             tokens = excluded.tokens, text = excluded.text, session = excluded.session,
             line = excluded.line, made = excluded.made, cost_pico = excluded.cost_pico,
             seal = excluded.seal",
    )
    .bind(notes.tenant.0.cast_signed())
    .bind(notes.at.to_le_bytes())
    .bind(i64::from(notes.messages))
    .bind(signed(notes.tokens))
    .bind(text(&notes.text))
    .bind(notes.session.0.cast_signed())
    .bind(notes.line.0.cast_signed())
    .bind(notes.made.as_millisecond())
    .bind(pico(notes.cost))
    .bind(sealed.seal.map(|seal| seal.0.to_vec()))
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await
}

pub(super) async fn find(
    connection: &mut PgConnection,
    tenant: Tenant,
    at: &[u128],
) -> sqlx::Result<Option<Sealed<NotesRecord>>> {
    let row = sqlx::query(
        "SELECT at, messages, tokens, text, session, line, made, cost_pico, seal
         FROM longhaul.notes
         WHERE tenant = coalesce((SELECT tenant FROM longhaul.tenant WHERE of_key = $1), $1)
             AND at = ANY ($2) AND seal IS NOT NULL
         ORDER BY messages DESC LIMIT 1",
    )
    .bind(tenant.0.cast_signed())
    .bind(hashes(at))
    .fetch_optional(connection)
    .await?;
    row.map(|row| rows::notes(&row, tenant)).transpose()
}
