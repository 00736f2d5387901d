//! Opens the store on the server that a URL names, where this build can use one.

use super::{SharedStore, StoreError, postgres};

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
