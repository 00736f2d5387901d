//! The connections of a genai client.

use longhaul_provider::{Certificates, ClientConfigError, ClientTimeouts, http_client};

/// A builder for a genai client whose connections are made as those of the library's own client: TLS by rustls with the
/// certificates that the operating system trusts, no redirects, and no proxy. With `with_reqwest` it takes another HTTP
/// client.
///
/// # Errors
/// Fails if the certificates cannot be loaded.
pub fn client_builder() -> Result<genai::ClientBuilder, ClientConfigError> {
    let http = http_client(Certificates::OfTheSystem, None)?
        .connect_timeout(ClientTimeouts::default().connect)
        .build()
        .map_err(|error| ClientConfigError::Tls(error.without_url().to_string()))?;
    Ok(genai::Client::builder().with_reqwest(http))
}
