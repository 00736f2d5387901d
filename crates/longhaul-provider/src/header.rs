//! Header values that contain a key.

use http::HeaderValue;

use crate::config::ClientConfigError;
use crate::key::Secret;

/// `Bearer …`, marked as sensitive so that code that prints headers does not show it.
pub(crate) fn bearer(token: &Secret) -> Result<HeaderValue, ClientConfigError> {
    sensitive(&format!("Bearer {}", token.expose()))
}

/// A header value marked as sensitive, so that it is never printed.
pub(crate) fn sensitive(text: &str) -> Result<HeaderValue, ClientConfigError> {
    let mut value = HeaderValue::from_str(text).map_err(|_| ClientConfigError::Key)?;
    value.set_sensitive(true);
    Ok(value)
}
