//! Records of recall: stored durably, found by hash.

use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::super::rows;
use super::super::{RecallRecord, Sealed};
use super::connection::durably;
use super::prefix_store::known;
use crate::branch::Tenant;

pub(super) fn put(
    connection: &mut Connection,
    sealed: &Sealed<RecallRecord>,
) -> rusqlite::Result<()> {
    let record = &sealed.stored;
    durably(connection, |connection| {
        connection
            .prepare_cached(
                "INSERT OR REPLACE INTO recall (tenant, at, variant, text, made, used, seal)
                 VALUES (coalesce((SELECT tenant FROM tenant WHERE of_key = ?1), ?1),
                     ?2, ?3, ?4, ?5, ?5, ?6)",
            )?
            .execute(params![
                record.tenant.0.cast_signed(),
                record.at.to_le_bytes(),
                record.variant.cast_signed(),
                &record.text[..],
                record.made.as_millisecond(),
                sealed.seal.map(|seal| seal.0),
            ])?;
        Ok(())
    })
}

/// The records, and whether the use of any of them should be noted again.
pub(super) fn find(
    connection: &Connection,
    tenant: Tenant,
    at: &[u128],
    now: Timestamp,
) -> rusqlite::Result<(Vec<Sealed<RecallRecord>>, bool)> {
    let asked = known(connection, tenant)?;
    let mut statement = connection.prepare_cached(
        "SELECT at, variant, text, made, seal, used FROM recall
         WHERE tenant = ? AND at = ? ORDER BY made DESC",
    )?;
    let (mut found, mut is_stale) = (Vec::new(), false);
    for hash in at {
        let mut rows = statement.query((asked, hash.to_le_bytes()))?;
        while let Some(row) = rows.next()? {
            found.push(rows::recall(row, tenant)?);
            is_stale |= rows::is_stale(row, 5, now)?;
        }
    }
    Ok((found, is_stale))
}

pub(super) fn used(
    connection: &Connection,
    tenant: Tenant,
    at: &[u128],
    now: Timestamp,
) -> rusqlite::Result<()> {
    let asked = known(connection, tenant)?;
    let mut statement =
        connection.prepare_cached("UPDATE recall SET used = ? WHERE tenant = ? AND at = ?")?;
    for hash in at {
        statement.execute((now.as_millisecond(), asked, hash.to_le_bytes()))?;
    }
    Ok(())
}
