//! Signed compaction blocks: made by the server, returned byte for byte.
//!
//! A signature holds the hashes of what it vouches for and a seal over them, so that a forged one is told from a
//! changed block. It is keyed with the world's secret and the caller's key; it keeps no secret from anyone who reads
//! this file.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde_json::{Value, json};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::call::ApiError;
use crate::request::Block;

/// Who signs.
#[derive(Debug, Clone, Copy)]
pub struct Signer<'a> {
    /// The world's secret.
    pub secret: &'a str,
    /// The caller's key.
    pub key: &'a str,
}

impl Signer<'_> {
    /// A signed block with this summary.
    pub fn block(&self, content: &str) -> Value {
        json!({
            "type": "compaction",
            "content": content,
            "encrypted_content": null,
            "signature": self.signature(xxh3_64(content.as_bytes()), changes(None)),
        })
    }

    /// Checks a block that came back; `place` is where it stands.
    pub fn check(&self, block: &Block, place: &str) -> Result<(), ApiError> {
        let refused = |message: &str, code| {
            Err(ApiError::invalid(format!("{place}: {message}")).with_code(code))
        };
        let given = block.text("signature").unwrap_or_default();
        let sealed = STANDARD_NO_PAD.decode(given).unwrap_or_default();
        let hash = |at: usize| {
            let bytes = sealed.get(at..at + 8)?.try_into().ok()?;
            Some(u64::from_le_bytes(bytes))
        };
        let (Some(content), Some(tools)) = (hash(0), hash(8)) else {
            return refused(
                "Invalid `signature` in `compaction` block.",
                "compaction_signature_invalid",
            );
        };
        if self.signature(content, tools) != given {
            return refused(
                "Invalid `signature` in `compaction` block.",
                "compaction_signature_invalid",
            );
        }
        if xxh3_64(block.text("content").unwrap_or_default().as_bytes()) != content {
            return refused(
                "`content` of the `compaction` block was changed. Return the block as it was received.",
                "compaction_content_mismatch",
            );
        }
        if changes(block.fields.get("tool_changes")) != tools {
            return refused(
                "`tool_changes` of the `compaction` block were changed. Return the block as it was received.",
                "compaction_tool_changes_mismatch",
            );
        }
        Ok(())
    }

    fn signature(&self, content: u64, tools: u64) -> String {
        let mut bytes = [content.to_le_bytes(), tools.to_le_bytes()].concat();
        let mut seal = Xxh3::new();
        for part in [self.secret, self.key, "compaction"] {
            seal.update(&(part.len() as u64).to_le_bytes());
            seal.update(part.as_bytes());
        }
        seal.update(&bytes);
        bytes.extend_from_slice(&seal.digest128().to_le_bytes());
        STANDARD_NO_PAD.encode(bytes)
    }
}

fn changes(value: Option<&Value>) -> u64 {
    match value {
        None | Some(Value::Null) => 0,
        Some(changes) => xxh3_64(changes.to_string().as_bytes()),
    }
}
