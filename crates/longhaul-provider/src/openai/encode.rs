//! The headers of a request for a chat completion. Its body is built elsewhere and sent unchanged.

use http::{HeaderMap, header};

use crate::config::ClientConfigError;
use crate::header::bearer;
use crate::key::Auth;

/// The headers for credentials: this dialect sends any key as a bearer token.
///
/// # Errors
/// Fails if the key is not allowed in a header; the error does not show it.
pub fn headers(auth: &Auth) -> Result<HeaderMap, ClientConfigError> {
    let mut headers = HeaderMap::new();
    if let Some(key) = auth.secret() {
        headers.insert(header::AUTHORIZATION, bearer(key)?);
    }
    Ok(headers)
}
