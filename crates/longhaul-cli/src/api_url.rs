//! The address of an API as a user gives it: which one can be used, and why another cannot.
//!
//! An address that is refused is never repeated, not even in part: it may hold a key, and a typing error may put a password
//! anywhere in it. Its place is named instead.

use url::Url;

/// The variable that holds the address of Anthropic's API.
const ANTHROPIC: &str = "ANTHROPIC_BASE_URL";

/// An address that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place} {reason}")]
pub(crate) struct RefusedUrl {
    /// Where the address is from.
    place: String,
    reason: UnusableUrl,
}

/// Why an address cannot be used; follows the name of its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum UnusableUrl {
    #[error("is not a URL such as https://api.anthropic.com")]
    NotAUrl,
    #[error("is a URL that is neither http nor https")]
    OtherScheme,
    #[error("holds a user or a password")]
    Credentials,
    #[error("holds a query (`?` and what follows)")]
    Query,
    #[error("holds a fragment (`#` and what follows)")]
    Fragment,
}

/// Reads an address. `place` says where it is from, as in `--upstream`.
pub(crate) fn read(place: &str, text: &str) -> Result<Url, RefusedUrl> {
    parsed(text).map_err(|reason| RefusedUrl {
        place: place.to_owned(),
        reason,
    })
}

fn parsed(text: &str) -> Result<Url, UnusableUrl> {
    let url = Url::parse(text).map_err(|_| UnusableUrl::NotAUrl)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(UnusableUrl::OtherScheme);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(UnusableUrl::Credentials);
    }
    if url.query().is_some() {
        return Err(UnusableUrl::Query);
    }
    if url.fragment().is_some() {
        return Err(UnusableUrl::Fragment);
    }
    Ok(url)
}

/// Why the address that a client is configured with by the environment cannot be used.
pub(crate) fn refused_in_environment() -> Option<RefusedUrl> {
    let address = std::env::var(ANTHROPIC).ok()?;
    read(ANTHROPIC, address.trim()).err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_refused_for_its_own_reason() {
        for (text, reason) in [
            ("", UnusableUrl::NotAUrl),
            ("api.openai.com", UnusableUrl::NotAUrl),
            ("http://", UnusableUrl::NotAUrl),
            ("ftp://x", UnusableUrl::OtherScheme),
            ("localhost:8080", UnusableUrl::OtherScheme),
            ("https://me:pass@x/v1", UnusableUrl::Credentials),
            ("https://me@x/v1", UnusableUrl::Credentials),
            ("https://x/?a=1", UnusableUrl::Query),
            ("https://x/#a", UnusableUrl::Fragment),
        ] {
            assert_eq!(parsed(text), Err(reason), "{text}");
        }
        assert!(parsed("https://x/v1").is_ok());
    }
}
