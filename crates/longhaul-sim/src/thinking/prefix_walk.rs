//! Follows the prefix of thinking through the messages of a request, block by block.

use std::collections::BTreeMap;

use longhaul_core::xxh3::xxh3_128;
use serde_json::Value;

use super::prefix::{ThinkingPrefix, mix};
use super::signature::{SignedKind, SigningSecret};
use crate::request::{ApiBlock, ApiRole, MessagesRequest, identity};

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
