//! Keys, and keeping them out of all output.

use std::fmt;

/// A key or token. Printing it never shows it; [`Secret::expose`] is for the header only.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

pub(crate) const HIDDEN: &str = "[redacted]";

impl Secret {
    /// Wraps a key; surrounding white space, which a shell or a file may add, is dropped.
    pub fn new(text: impl AsRef<str>) -> Self {
        Self(text.as_ref().trim().to_owned())
    }

    /// The key itself.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

/// How a request identifies its sender.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Auth {
    /// No credentials, which local servers allow.
    #[default]
    None,
    /// The header `x-api-key`.
    ApiKey(Secret),
    /// The header `authorization: Bearer`.
    Bearer(Secret),
}

impl Auth {
    pub(crate) fn secret(&self) -> Option<&Secret> {
        match self {
            Self::None => None,
            Self::ApiKey(secret) | Self::Bearer(secret) => Some(secret),
        }
    }
}
