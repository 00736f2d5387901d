//! The canonical form of one message, in which two messages are compared (N7).
//!
//! For the Messages API that is the core's canonical form: `cache_control`, white space, escapes and string-or-list do
//! not count. Messages of chat completions carry more than their content (tool calls, the id of the answered call), and
//! that counts too.

use std::collections::BTreeMap;

use longhaul_core::cache::canonical::{self, CanonicalHasher as _};
use longhaul_core::json::{JsonCursor, JsonFault};
use longhaul_provider::Dialect;

use super::key::HistoryKey;
use crate::body::BodyRole;

/// A message in canonical form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HashedMessage {
    /// The role of the message.
    pub role: BodyRole,
    /// Keyed hash of the role and the content.
    pub hash: u128,
}

/// Hashes one message. `raw` is the element of `messages`, already validated.
pub fn hash_message(
    key: &HistoryKey,
    dialect: Dialect,
    role: BodyRole,
    raw: &[u8],
) -> Result<HashedMessage, JsonFault> {
    let hash = match dialect {
        Dialect::Anthropic => canonical::message_with(|| key.digest(), raw)?.hash,
        Dialect::OpenAi => completion_message(key, raw)?,
    };
    Ok(HashedMessage { role, hash })
}

/// The hash of a chat completions message: every field except those that are null or empty lists, in any order.
fn completion_message(key: &HistoryKey, raw: &[u8]) -> Result<u128, JsonFault> {
    let mut fields: BTreeMap<Vec<u8>, u128> = BTreeMap::new();
    JsonCursor::new(raw).object(|cursor, name| {
        let value = cursor.raw()?;
        if value == b"null" || value == b"[]" {
            return Ok(());
        }
        let hash = match name {
            b"content" => content(key, value),
            _ => canonical::setting_with(|| key.digest(), value),
        };
        fields.insert(name.to_vec(), hash);
        Ok(())
    })?;
    let mut hash = key.digest();
    for (name, value) in &fields {
        hash.update(&(name.len() as u64).to_le_bytes());
        hash.update(name);
        hash.update(&value.to_le_bytes());
    }
    Ok(hash.finish())
}

/// Content as a list of blocks, in whichever form it was sent.
fn content(key: &HistoryKey, value: &[u8]) -> u128 {
    let block = |item| canonical::block_with(|| key.digest(), item).to_le_bytes();
    let mut hash = key.digest();
    match longhaul_core::json::items(value) {
        Some(items) => {
            for item in items {
                hash.update(&block(item));
            }
        }
        None => hash.update(&block(value)),
    }
    hash.finish()
}
