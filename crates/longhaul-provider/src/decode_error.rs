//! Why a response cannot be decoded, for both APIs.

use crate::error::{Error, ErrorClass, ErrorResponse};

/// Why a response could not be decoded to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The server reports, inside the response, that it failed.
    #[error("{}", .0.message)]
    Answer(Box<ErrorResponse>),
    /// The bytes are not what the API sends.
    #[error("{0}")]
    Malformed(String),
}

impl DecodeError {
    pub(crate) fn malformed(what: &str, bytes: &[u8]) -> Self {
        const SHOWN: usize = 120;
        let mut start: String = String::from_utf8_lossy(bytes).chars().take(SHOWN).collect();
        if start.len() < bytes.len() {
            start.push('…');
        }
        Self::Malformed(format!("{what}: {start}"))
    }
}

impl From<DecodeError> for Error {
    fn from(error: DecodeError) -> Self {
        match error {
            DecodeError::Answer(answer) => answer.into_error(),
            DecodeError::Malformed(message) => Error::new(ErrorClass::Malformed, message),
        }
    }
}
