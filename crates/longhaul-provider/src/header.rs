//! Values of headers that hold a key.

use http::HeaderValue;

use crate::config::ClientConfigError;
use crate::key::Secret;

/// `Bearer …`, marked so that nothing that prints headers shows it.
pub(crate) fn bearer(token: &Secret) -> Result<HeaderValue, ClientConfigError> {
    sensitive(&format!("Bearer {}", token.expose()))
}

/// A header's value that nothing prints.
pub(crate) fn sensitive(text: &str) -> Result<HeaderValue, ClientConfigError> {
    let mut value = HeaderValue::from_str(text).map_err(|_| ClientConfigError::Key)?;
    value.set_sensitive(true);
    Ok(value)
}
