//! How large a client's messages are, part by part, by calibrated counting (X4). A message is read once: its sizes are
//! remembered by the hash of its bytes.

use std::sync::{Arc, Mutex, PoisonError};

use longhaul_core::json::{self, ObjectReader, items};
use longhaul_core::message::Id;
use longhaul_core::tokens::calibrated::{CalibratedClass, UnscaledTokens, blocks};
use longhaul_provider::Dialect;

use super::element::ElementParts;
use super::settings::CompactorSettings;
use crate::body::BodyRole;
use crate::branch::GenerationalCache;
use crate::memory::{MemoryBudget, MemoryShare};

/// How many messages have their sizes remembered.
const MESSAGES: usize = 100_000;
/// Bytes of sizes that are held in memory, in each of two generations.
const BYTES: usize = 16 << 20;

/// A part of a message and its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SizedPart {
    /// Anything that only a summary removes.
    Text(UnscaledTokens),
    /// Something that the user wrote.
    Prompt(UnscaledTokens),
    /// Thinking of the model.
    Thinking(UnscaledTokens),
    /// The result of a call.
    Result { call: Id, tokens: UnscaledTokens },
}

impl SizedPart {
    fn tokens(self) -> UnscaledTokens {
        match self {
            Self::Text(tokens)
            | Self::Prompt(tokens)
            | Self::Thinking(tokens)
            | Self::Result { tokens, .. } => tokens,
        }
    }
}

/// The sizes of one message.
#[derive(Debug, PartialEq, Eq, Default)]
pub(super) struct MessageSizes {
    pub(super) parts: Box<[SizedPart]>,
    /// The calls in it whose results may be cleared.
    pub(super) clearable: Box<[Id]>,
    /// The calls in it that show files.
    pub(super) reads: Box<[Id]>,
}

impl MessageSizes {
    /// Reads one element of `messages`.
    pub(super) fn of(dialect: Dialect, element: &[u8], settings: &CompactorSettings) -> Self {
        let Some(read) = ElementParts::read(element) else {
            let tokens = blocks::literal(CalibratedClass::Text, element);
            return Self {
                parts: Box::new([SizedPart::Text(tokens)]),
                ..Self::default()
            };
        };
        let mut parts = match dialect {
            Dialect::OpenAi if read.role_name == "tool" => {
                let call = read.field("tool_call_id").and_then(json::text);
                let tokens = blocks::result(read.content());
                vec![match call {
                    Some(call) => SizedPart::Result {
                        call: Id::of(&call),
                        tokens,
                    },
                    None => SizedPart::Text(tokens),
                }]
            }
            _ => content(&read),
        };
        let (mut clearable, mut reads) = (Vec::new(), Vec::new());
        if read.role == BodyRole::Assistant {
            for call in read.calls() {
                if settings.clearable.contains(&call.name) {
                    clearable.push(Id::of(&call.id));
                }
                if settings.tools.shows_files(&call.name) {
                    reads.push(Id::of(&call.id));
                }
            }
            if let Some(calls) = read.field("tool_calls") {
                let calls = items(calls).unwrap_or_default().into_iter();
                let tokens = calls.map(|call| {
                    let function = ObjectReader::new(call).object("function");
                    function.map_or(UnscaledTokens::ZERO, |function| {
                        let input = function.string("arguments").unwrap_or_default();
                        blocks::call(
                            &function.string("name").unwrap_or_default(),
                            input.as_bytes(),
                        )
                    })
                });
                parts.push(SizedPart::Text(tokens.sum()));
            }
        }
        Self {
            parts: parts.into(),
            clearable: clearable.into(),
            reads: reads.into(),
        }
    }

    /// The whole message.
    pub(super) fn total(&self) -> UnscaledTokens {
        self.parts.iter().map(|part| part.tokens()).sum()
    }

    fn bytes(&self) -> usize {
        let ids = size_of_val(&*self.clearable) + size_of_val(&*self.reads);
        size_of::<Self>() + size_of_val(&*self.parts) + ids
    }
}

/// The parts of a message's content. What lies between results and thinking counts as one part.
fn content(read: &ElementParts<'_>) -> Vec<SizedPart> {
    let whole = |tokens| match read.role {
        BodyRole::User => SizedPart::Prompt(tokens),
        _ => SizedPart::Text(tokens),
    };
    let raw = read.content();
    let Some(list) = items(raw) else {
        return vec![whole(blocks::literal(CalibratedClass::Text, raw))];
    };
    let mut parts = Vec::new();
    let mut between = UnscaledTokens::ZERO;
    for raw in list {
        let object = ObjectReader::new(raw);
        let tokens = blocks::block(raw);
        let apart = match object.string("type").as_deref() {
            Some("tool_result") => object.string("tool_use_id").map(|id| SizedPart::Result {
                call: Id::of(&id),
                tokens,
            }),
            Some("thinking" | "redacted_thinking") => Some(SizedPart::Thinking(tokens)),
            _ => None,
        };
        match apart {
            None => between += tokens,
            Some(apart) => {
                if between != UnscaledTokens::ZERO {
                    parts.push(SizedPart::Text(std::mem::take(&mut between)));
                }
                parts.push(apart);
            }
        }
    }
    if between != UnscaledTokens::ZERO {
        // What accompanies results is an agent's reminder as a rule.
        let alone = parts.is_empty();
        parts.push(if alone {
            whole(between)
        } else {
            SizedPart::Text(between)
        });
    }
    parts
}

/// The sizes of messages that were read before.
pub(super) struct KnownSizes {
    known: Mutex<GenerationalCache<u128, Arc<MessageSizes>>>,
    held: MemoryShare,
}

impl KnownSizes {
    pub(super) fn new(budget: &MemoryBudget) -> Self {
        Self {
            known: Mutex::new(GenerationalCache::within(MESSAGES, BYTES)),
            held: budget.new_share(),
        }
    }

    /// The sizes of the message whose bytes have this hash; `read` reads it if it is not known.
    pub(super) fn of(&self, hash: u128, read: impl FnOnce() -> MessageSizes) -> Arc<MessageSizes> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // The lock is not held while a message is read.
        let found = known().get(&hash);
        found.unwrap_or_else(|| {
            let sizes = Arc::new(read());
            let mut known = known();
            known.put_weighing(hash, Arc::clone(&sizes), sizes.bytes());
            self.held.set(known.bytes());
            sizes
        })
    }
}
