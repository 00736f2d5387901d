//! Notes: stored durably, found by hash.

use rusqlite::{Connection, OptionalExtension, params};

use super::super::rows::{self, pico, signed};
use super::super::{NotesRecord, Sealed};
use super::connection::durably;
use super::prefix_store::known;
use crate::branch::Tenant;

pub(super) fn put(
    connection: &mut Connection,
    sealed: &Sealed<NotesRecord>,
) -> rusqlite::Result<()> {
    let notes = &sealed.stored;
    durably(connection, |connection| {
        connection
            .prepare_cached(
                "INSERT OR REPLACE INTO notes
                     (tenant, at, messages, tokens, text, session, line, made, cost_pico, seal)
                 VALUES (coalesce((SELECT tenant FROM tenant WHERE of_key = ?1), ?1),
                     ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?
            .execute(params![
                notes.tenant.0.cast_signed(),
                notes.at.to_le_bytes(),
                notes.messages,
                signed(notes.tokens),
                notes.text,
                notes.session.0.cast_signed(),
                notes.line.0.cast_signed(),
                notes.made.as_millisecond(),
                pico(notes.cost),
                sealed.seal.map(|seal| seal.0),
            ])?;
        Ok(())
    })
}

pub(super) fn find(
    connection: &Connection,
    tenant: Tenant,
    at: &[u128],
) -> rusqlite::Result<Option<Sealed<NotesRecord>>> {
    let asked = known(connection, tenant)?;
    let mut statement =
        connection.prepare_cached("SELECT messages FROM notes WHERE tenant = ? AND at = ?")?;
    let mut best: Option<(u32, u128)> = None;
    for hash in at {
        let messages: Option<u32> = statement
            .query_row((asked, hash.to_le_bytes()), |row| row.get(0))
            .optional()?;
        best = best.max(messages.map(|messages| (messages, *hash)));
    }
    let Some((_, hash)) = best else {
        return Ok(None);
    };
    let mut statement = connection.prepare_cached(
        "SELECT at, messages, tokens, text, session, line, made, cost_pico, seal
         FROM notes WHERE tenant = ? AND at = ?",
    )?;
    statement
        .query_row((asked, hash.to_le_bytes()), |row| rows::notes(row, tenant))
        .optional()
}

pub(super) fn discard(connection: &Connection, tenant: Tenant, at: u128) -> rusqlite::Result<()> {
    let asked = known(connection, tenant)?;
    connection
        .prepare_cached("DELETE FROM notes WHERE tenant = ? AND at = ?")?
        .execute((asked, at.to_le_bytes()))?;
    Ok(())
}
