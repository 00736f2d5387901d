//! The prefix that a thinking block is bound to. `prefix_walk.rs` builds it up from a request.

use longhaul_core::xxh3::{xxh3_64, xxh3_128};

use crate::request::{ApiBlock, ApiRole, MessagesRequest, identity};

/// The content before a position in a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThinkingPrefix {
    /// The hash of `system` and of the tools that are not deferred.
    pub(super) base: u128,
    /// The hash of the messages without their thinking.
    pub(super) content: u128,
    /// The name of the previous thinking block, and the number of thinking blocks before; both are 0 if there is none.
    pub(super) before: u64,
    pub(super) depth: u32,
    /// The number of thinking blocks before in the same reply.
    pub(super) in_reply: u32,
    /// The role of the previous block.
    pub(super) role: Option<ApiRole>,
}

impl ThinkingPrefix {
    /// The length of a prefix in a signature.
    pub(super) const BYTES: usize = 16 + 16 + 8 + 4 + 4 + 1;

    /// The prefix before the first message of a request.
    pub fn start(request: &MessagesRequest) -> ThinkingPrefix {
        let system = request.system.iter().map(identity::of_block);
        let mut base = 0;
        for block in system {
            base = mix(base, b"system", block);
        }
        for tool in request.tools.iter().filter(|tool| !tool.deferred) {
            base = mix(base, b"tool", identity::of_tool(tool));
        }
        ThinkingPrefix {
            base,
            content: 0,
            before: 0,
            depth: 0,
            in_reply: 0,
            role: None,
        }
    }

    /// Starts a new reply.
    pub(super) fn reply(mut self) -> ThinkingPrefix {
        self.in_reply = 0;
        self
    }

    /// Adds a block of a reply that is being made. Thinking must be signed already.
    pub fn push(&mut self, block: &ApiBlock) {
        match block.kind.as_str() {
            "thinking" | "redacted_thinking" => self.think(signature(block)),
            "compaction" if block.text("content").is_some() => self.restart(block),
            "compaction" => {}
            _ if block.is_blank_text() => {}
            _ => self.say(ApiRole::Assistant, identity::of_block(block)),
        }
    }

    /// Restarts the prefix with a summary.
    pub(super) fn restart(&mut self, summary: &ApiBlock) {
        self.content = mix(0, b"compaction", identity::of_block(summary));
        self.role = Some(ApiRole::Assistant);
        (self.before, self.depth) = (0, 0);
    }

    /// Adds a thinking block.
    pub(super) fn think(&mut self, signature: &str) {
        self.before = name(signature);
        self.depth += 1;
        self.in_reply += 1;
    }

    pub(super) fn say(&mut self, role: ApiRole, what: u128) {
        if self.role != Some(role) {
            self.in_reply = 0;
        }
        self.role = Some(role);
        self.content = mix(self.content, label(role), what);
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(ThinkingPrefix::BYTES);
        bytes.extend(self.base.to_le_bytes());
        bytes.extend(self.content.to_le_bytes());
        bytes.extend(self.before.to_le_bytes());
        bytes.extend(self.depth.to_le_bytes());
        bytes.extend(self.in_reply.to_le_bytes());
        bytes.push(match self.role {
            None => 0,
            Some(ApiRole::User) => 1,
            Some(ApiRole::Assistant) => 2,
            Some(ApiRole::System) => 3,
        });
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8; ThinkingPrefix::BYTES]) -> ThinkingPrefix {
        let number = |from: usize, to: usize| {
            let bytes = bytes.get(from..to).unwrap_or_default();
            bytes
                .iter()
                .rev()
                .fold(0_u128, |sum, byte| (sum << 8) | u128::from(*byte))
        };
        ThinkingPrefix {
            base: number(0, 16),
            content: number(16, 32),
            before: number(32, 40) as u64,
            depth: number(40, 44) as u32,
            in_reply: number(44, 48) as u32,
            role: match number(48, 49) {
                1 => Some(ApiRole::User),
                2 => Some(ApiRole::Assistant),
                3 => Some(ApiRole::System),
                _ => None,
            },
        }
    }
}

/// The signature of a thinking block, or the data of a redacted one.
pub(super) fn signature(block: &ApiBlock) -> &str {
    block
        .text("signature")
        .or_else(|| block.text("data"))
        .unwrap_or_default()
}

/// The name of a thinking block in the chain: its signature, hashed.
pub(super) fn name(signature: &str) -> u64 {
    xxh3_64(signature.as_bytes())
}

fn label(role: ApiRole) -> &'static [u8] {
    match role {
        ApiRole::User => b"user",
        ApiRole::Assistant => b"assistant",
        ApiRole::System => b"operator",
    }
}

pub(super) fn mix(before: u128, label: &[u8], next: u128) -> u128 {
    xxh3_128(
        &[
            before.to_le_bytes().as_slice(),
            label,
            next.to_le_bytes().as_slice(),
        ]
        .concat(),
    )
}
