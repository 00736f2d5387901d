//! What one message says, in the form in which two are compared (N7).
//!
//! For the Messages API that is the core's canonical form: `cache_control`, white space, escapes and string-or-list
//! do not count. Chat completions say more beside the content (calls of tools, which call is answered), and there it
//! counts too.

use std::collections::BTreeMap;

use longhaul_core::cache::canonical;
use longhaul_core::json::{Cursor, Fault};
use longhaul_provider::Dialect;
use xxhash_rust::xxh3::Xxh3;

use crate::body::Role;

/// A message in canonical form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spoken {
    /// Who speaks.
    pub role: Role,
    /// Hash of who speaks and of what is said.
    pub hash: u128,
}

/// Reads one message. `raw` is the element of `messages`, validated.
pub fn spoken(dialect: Dialect, role: Role, raw: &[u8]) -> Result<Spoken, Fault> {
    let hash = match dialect {
        Dialect::Anthropic => canonical::message(raw)?.hash,
        Dialect::OpenAi => completion_message(raw)?,
    };
    Ok(Spoken { role, hash })
}

/// The hash of a message of chat completions: every field but those that are null or empty lists, in any order.
fn completion_message(raw: &[u8]) -> Result<u128, Fault> {
    let mut fields: BTreeMap<Vec<u8>, u128> = BTreeMap::new();
    Cursor::new(raw).object(|cursor, key| {
        let value = cursor.raw()?;
        if value == b"null" || value == b"[]" {
            return Ok(());
        }
        let hash = match key {
            b"content" => content(value),
            _ => canonical::setting(value),
        };
        fields.insert(key.to_vec(), hash);
        Ok(())
    })?;
    let mut hash = Xxh3::new();
    for (name, value) in &fields {
        hash.update(&(name.len() as u64).to_le_bytes());
        hash.update(name);
        hash.update(&value.to_le_bytes());
    }
    Ok(hash.digest128())
}

/// Content as a list of blocks, whichever way it was sent.
fn content(value: &[u8]) -> u128 {
    let mut hash = Xxh3::new();
    match longhaul_core::json::items(value) {
        Some(items) => {
            for item in items {
                hash.update(&canonical::block(item).to_le_bytes());
            }
        }
        None => hash.update(&canonical::block(value).to_le_bytes()),
    }
    hash.digest128()
}
