//! Signatures on compaction blocks: a summary made on demand records what it replaces, so that the turns kept after it
//! keep their thinking.

use longhaul_core::xxh3::xxh3_128;

use super::prefix_walk::PrefixWalk;
use super::signature::{SignaturePayload, SignedKind, SigningSecret, account};
use crate::call::ApiError;
use crate::request::{ApiBlock, MessagesRequest};

impl SigningSecret {
    /// Signs the summary of a whole request.
    pub fn sign_summary(
        &self,
        request: &MessagesRequest,
        model: &str,
        key: &str,
        text: &str,
    ) -> String {
        let mut walk = PrefixWalk::start(request, self);
        for message in &request.messages {
            for block in &message.content {
                if block.is_thinking() {
                    walk.prefix.think(super::prefix::signature(block))
                } else {
                    walk.push(message.role, block)
                }
            }
        }
        self.seal(&SignaturePayload {
            kind: SignedKind::Summary,
            model: model.to_owned(),
            account: account(key),
            text: xxh3_128(text.as_bytes()),
            prefix: walk.prefix,
        })
    }

    /// Checks a signed compaction block that came back. Blocks without a signature or without content pass.
    pub fn check_summary(&self, block: &ApiBlock, key: &str) -> Result<(), ApiError> {
        let (Some(signature), Some(text)) = (block.text("signature"), block.text("content")) else {
            return Ok(());
        };
        let seal = self
            .open(signature)
            .filter(|seal| seal.kind == SignedKind::Summary);
        let Some(seal) = seal.filter(|seal| seal.account == account(key)) else {
            let error = ApiError::invalid("Invalid `signature` in `compaction` block");
            return Err(error.with_code("compaction_signature_invalid"));
        };
        if seal.text == xxh3_128(text.as_bytes()) {
            Ok(())
        } else {
            Err(ApiError::invalid(
                "`compaction` block content does not match its `signature`; send the block back unchanged",
            )
            .with_code("compaction_content_mismatch"))
        }
    }
}
