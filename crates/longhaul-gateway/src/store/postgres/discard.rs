//! Deletes a damaged record of a history.

use sqlx::PgConnection;

use crate::branch::Tenant;

/// What is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DiscardTarget {
    /// The session's notes.
    Notes,
    /// The compacted prefix of a history.
    Rewrite,
}

/// Deletes the record for the history with this hash.
pub(super) async fn discard(
    connection: &mut PgConnection,
    what: DiscardTarget,
    tenant: Tenant,
    at: u128,
) -> sqlx::Result<()> {
    let discard = sqlx::query(match what {
        DiscardTarget::Notes => {
            "DELETE FROM longhaul.notes
             WHERE tenant = coalesce((SELECT tenant FROM longhaul.tenant WHERE of_key = $1), $1)
                 AND at = $2"
        }
        DiscardTarget::Rewrite => {
            "DELETE FROM longhaul.rewrite
             WHERE tenant = coalesce((SELECT tenant FROM longhaul.tenant WHERE of_key = $1), $1)
                 AND at = $2"
        }
    });
    let discard = discard
        .bind(tenant.0.cast_signed())
        .bind(at.to_le_bytes().to_vec());
    discard.execute(connection).await.map(drop)
}
