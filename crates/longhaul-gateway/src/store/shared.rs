//! A store on a server that several gateways share.

use std::sync::Arc;

use super::{GatewayStorage, PeerStore, StoreError, postgres};
use crate::branch::Tenants;

/// A store on a server that several gateways share, and what comes with it.
pub struct SharedStore {
    /// The store itself.
    pub store: Arc<dyn GatewayStorage>,
    /// The same store, as the place where gateways find each other's branches.
    pub peers: Arc<dyn PeerStore>,
    /// The tenants, the same for every gateway that uses the store.
    pub tenants: Tenants,
}

/// Whether this text is the URL of a server, rather than a file.
#[must_use]
pub fn is_server_url(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

/// Opens the store on the PostgreSQL server with this URL. Must be called on a tokio runtime.
///
/// # Errors
/// Returns a [`StoreError`]; none of them contains the password. Without the feature `postgres` it is always
/// [`StoreError::NoPostgres`].
pub async fn open_shared_store(url: &str) -> Result<SharedStore, StoreError> {
    postgres::open_shared(url).await
}
