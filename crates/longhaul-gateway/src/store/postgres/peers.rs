//! The branch tips that any gateway wrote.

use sqlx::PgConnection;

use super::super::rows::{chain, line, time};
use crate::branch::{RestoredBranch, Tenant};

pub(super) async fn branch_tips_at(
    connection: &mut PgConnection,
    tenant: Tenant,
    at: &[u128],
) -> sqlx::Result<Vec<RestoredBranch>> {
    let query = sqlx::query(
        "WITH found AS (
             SELECT hash, line, messages, answered FROM longhaul.head
             WHERE tenant = coalesce((SELECT tenant FROM longhaul.tenant WHERE of_key = $1), $1)
                 AND hash = ANY ($2)
             ORDER BY messages DESC LIMIT 1
         )
         SELECT l.id, l.session, f.hash, f.messages, f.answered, l.chain, l.messages, l.answered,
             l.seen
         FROM found f JOIN longhaul.line l ON l.id = f.line",
    );
    let hashes: Vec<[u8; 16]> = at.iter().map(|hash| hash.to_le_bytes()).collect();
    let hashes: Vec<&[u8]> = hashes.iter().map(<[u8; 16]>::as_slice).collect();
    let row = query
        .bind(tenant.0.cast_signed())
        .bind(hashes)
        .fetch_optional(connection)
        .await?;
    let Some(row) = row else {
        return Ok(Vec::new());
    };
    let (line, session) = line(&row, 0)?;
    let last_used = time(&row, 8)?;
    let restored = |chain| RestoredBranch {
        tenant,
        line,
        session,
        chain,
        last_used,
    };
    let (matched, newest) = (chain(&row, 2)?, chain(&row, 5)?);
    let mut heads = vec![restored(matched)];
    if newest.hash != matched.hash {
        heads.push(restored(newest));
    }
    Ok(heads)
}
