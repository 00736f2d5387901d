//! The prefix that a thinking block is bound to, built up block by block.

use std::collections::BTreeMap;

use longhaul_core::xxh3::xxh3_128;
use serde_json::Value;

use super::signature::{SignedKind, SigningSecret, name};
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
    fn restart(&mut self, summary: &ApiBlock) {
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

    fn say(&mut self, role: ApiRole, what: u128) {
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

/// Follows the prefix through the messages of a request.
pub(super) struct PrefixWalk<'a> {
    pub(super) prefix: ThinkingPrefix,
    secret: &'a SigningSecret,
    /// The deferred tools, which count once something refers to them.
    deferred: BTreeMap<&'a str, u128>,
    /// The role of the last speaker before a summary that was just passed.
    role_before_summary: Option<ApiRole>,
}

impl<'a> PrefixWalk<'a> {
    pub(super) fn start(request: &'a MessagesRequest, secret: &'a SigningSecret) -> PrefixWalk<'a> {
        let deferred = request.tools.iter().filter(|tool| tool.deferred);
        PrefixWalk {
            prefix: ThinkingPrefix::start(request),
            secret,
            deferred: deferred
                .map(|tool| (tool.name.as_str(), identity::of_tool(tool)))
                .collect(),
            role_before_summary: None,
        }
    }

    /// Adds a block that is not thinking.
    pub(super) fn push(&mut self, role: ApiRole, block: &ApiBlock) {
        if block.kind == "compaction" {
            return self.summary(block);
        }
        // A client must be able to leave out text that the API would refuse, so thinking is not bound to it.
        if block.is_blank_text() {
            return;
        }
        // A turn that continues a summarized one is not the same turn.
        if self
            .role_before_summary
            .take()
            .is_some_and(|last| last == role || role == ApiRole::System)
        {
            self.prefix.content = mix(self.prefix.content, b"joined", 0);
        }
        self.prefix.say(role, identity::of_block(block));
        for name in referred(block) {
            if let Some(tool) = self.deferred.get(name) {
                self.prefix.content = mix(self.prefix.content, b"loaded", *tool);
            }
        }
    }

    /// Handles a summary, which replaces the content before it. One that we signed contains the prefix that it
    /// replaced; after any other the prefix restarts.
    fn summary(&mut self, block: &ApiBlock) {
        let Some(text) = block.text("content") else {
            return;
        };
        let seal = block
            .text("signature")
            .and_then(|signature| self.secret.open(signature));
        let ours = seal.filter(|seal| {
            seal.kind == SignedKind::Summary
                && seal.text == xxh3_128(text.as_bytes())
                && seal.prefix.base == self.prefix.base
        });
        match ours {
            Some(seal) => {
                self.role_before_summary = seal.prefix.role;
                self.prefix.restart(block);
                self.prefix.content = seal.prefix.content;
                self.prefix.role = None;
            }
            None => self.prefix.restart(block),
        }
    }
}

/// The tools that a result refers to.
fn referred(block: &ApiBlock) -> Vec<&str> {
    fn collect<'a>(value: &'a Value, depth: usize, names: &mut Vec<&'a str>) {
        match value {
            Value::Array(items) if depth < 4 => items
                .iter()
                .for_each(|item| collect(item, depth + 1, names)),
            Value::Object(fields) if depth < 4 => {
                names.extend(fields.get("tool_name").and_then(Value::as_str));
                for inner in ["tool_references", "content"] {
                    fields
                        .get(inner)
                        .into_iter()
                        .for_each(|value| collect(value, depth + 1, names));
                }
            }
            _ => {}
        }
    }
    let mut names = Vec::new();
    if block.kind.ends_with("tool_result") {
        block
            .fields
            .get("content")
            .into_iter()
            .for_each(|value| collect(value, 0, &mut names));
    }
    names
}

fn label(role: ApiRole) -> &'static [u8] {
    match role {
        ApiRole::User => b"user",
        ApiRole::Assistant => b"assistant",
        ApiRole::System => b"operator",
    }
}

fn mix(before: u128, label: &[u8], next: u128) -> u128 {
    xxh3_128(
        &[
            before.to_le_bytes().as_slice(),
            label,
            next.to_le_bytes().as_slice(),
        ]
        .concat(),
    )
}
