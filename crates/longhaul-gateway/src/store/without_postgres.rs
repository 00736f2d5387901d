//! What a build without the feature `postgres` does with the URL of a server: it says that it cannot use one.

use super::{SharedStore, StoreError};

pub(super) async fn open_shared(_url: &str) -> Result<SharedStore, StoreError> {
    Err(StoreError::NoPostgres)
}
