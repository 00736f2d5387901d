//! Decides when two parts of requests are the same although their bytes differ (N7).
//!
//! White space, string escapes and `cache_control` do not count. Neither do the order of keys in objects that the API
//! itself defines, a field that is null or holds its default, or whether text is a string or one text block. What the
//! model sees exactly as it was sent counts literally: inside `tool_use.input` and a tool's `input_schema` the order of
//! keys is kept. The bytes that are sent never come from this form.

use super::fields::{JsonFields, items};
use super::speaker::MessageSpeaker;
use crate::json::{JsonFault, text};
use crate::xxh3::Xxh3_128;

/// How deep the API's own objects are normalized; anything deeper counts as it was sent.
const DEEPEST: usize = 16;
/// Fields whose value is the client's own, not the API's.
const AS_SENT: [&[u8]; 2] = [b"input", b"input_schema"];
/// Fields that are not part of the content, whatever they hold.
const LEFT_OUT: [&[u8]; 2] = [b"cache_control", b"defer_loading"];
/// Fields that mean nothing if they hold this value.
const DEFAULTS: [(&[u8], &[u8]); 3] = [
    (b"is_error", b"false"),
    (b"strict", b"false"),
    (b"caller", br#"{"type":"direct"}"#),
];

/// The kind of an object: some defaults depend on it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CanonicalObjectKind {
    Block,
    Tool,
    Part,
}

/// The hash function for the canonical form. The core's own hashes tell parts apart; a host whose decisions depend on
/// them may use a keyed hash, so that nobody can construct two parts with the same hash.
pub trait CanonicalHasher {
    /// Adds more bytes.
    fn update(&mut self, bytes: &[u8]);
    /// The hash of all bytes.
    fn finish(self) -> u128;
}

impl CanonicalHasher for Xxh3_128 {
    fn update(&mut self, bytes: &[u8]) {
        Self::update(self, bytes);
    }

    fn finish(self) -> u128 {
        self.digest()
    }
}

/// The canonical hash of a content block, from a message or from `system`. The bytes are validated JSON; a plain string
/// counts as a text block.
pub fn block(raw: &[u8]) -> u128 {
    block_with(Xxh3_128::new, raw)
}

/// Like [`block`], with another hash function.
pub fn block_with<D: CanonicalHasher>(begin: impl Fn() -> D, raw: &[u8]) -> u128 {
    let mut hash = begin();
    match raw.first() {
        Some(b'"') => text_block(&mut hash, raw),
        _ => value(&mut hash, raw, CanonicalObjectKind::Block, 0),
    }
    hash.finish()
}

/// The canonical hash of a tool definition. Whether the tool is deferred does not count.
pub fn tool(raw: &[u8]) -> u128 {
    let mut hash = Xxh3_128::new();
    value(&mut hash, raw, CanonicalObjectKind::Tool, 0);
    hash.digest()
}

/// The canonical hash of any other value that the API defines, such as a setting.
pub fn setting(raw: &[u8]) -> u128 {
    setting_with(Xxh3_128::new, raw)
}

/// Like [`setting`], with another hash function.
pub fn setting_with<D: CanonicalHasher>(begin: impl Fn() -> D, raw: &[u8]) -> u128 {
    let mut hash = begin();
    value(&mut hash, raw, CanonicalObjectKind::Part, 0);
    hash.finish()
}

/// One message in canonical form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CanonicalMessage {
    /// The speaker of the message.
    pub speaker: MessageSpeaker,
    /// The hash of role and content.
    pub hash: u128,
}

/// Reads one message of a request.
///
/// # Errors
/// Fails if the message is not JSON; the fault says where.
pub fn message(raw: &[u8]) -> Result<CanonicalMessage, JsonFault> {
    message_with(Xxh3_128::new, raw)
}

/// Like [`message`], with another hash function.
///
/// # Errors
/// Fails if the message is not JSON; the fault says where.
pub fn message_with<D: CanonicalHasher>(
    begin: impl Fn() -> D,
    raw: &[u8],
) -> Result<CanonicalMessage, JsonFault> {
    let fields = JsonFields::of(raw)?;
    let speaker = MessageSpeaker::of(fields.string("role").as_deref().unwrap_or_default());
    let mut hash = begin();
    hash.update(speaker.name().as_bytes());
    match fields.get("content") {
        Some(list @ [b'[', ..]) => {
            for item in items(list)? {
                hash.update(&block_with(&begin, item).to_le_bytes());
            }
        }
        Some(plain) => hash.update(&block_with(&begin, plain).to_le_bytes()),
        None => {}
    }
    Ok(CanonicalMessage {
        speaker,
        hash: hash.finish(),
    })
}

/// The rolling hash over a conversation: two are equal exactly if the same speakers say the same things in the same
/// order.
///
/// Messages of role `system` are left out: clients insert and remove them between requests of one conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct ConversationHash(u128);

impl ConversationHash {
    /// The hash with one more message.
    pub fn then(self, message: CanonicalMessage) -> Self {
        if message.speaker == MessageSpeaker::System {
            return self;
        }
        let mut hash = Xxh3_128::new();
        hash.update(&self.0.to_le_bytes());
        hash.update(&message.hash.to_le_bytes());
        Self(hash.digest())
    }

    /// The hash so far.
    pub fn value(self) -> u128 {
        self.0
    }
}

/// The rolling hash after each message of a request's `messages`: the last is that of the whole conversation, and an
/// earlier one shows where it continues a known conversation.
///
/// # Errors
/// Fails if `messages` is not a JSON array; the fault says where.
pub fn conversation(messages: &[u8]) -> Result<Vec<ConversationHash>, JsonFault> {
    let mut rolling = ConversationHash::default();
    let each = items(messages)?.into_iter().map(|raw| {
        rolling = rolling.then(message(raw)?);
        Ok(rolling)
    });
    each.collect()
}

fn value(hash: &mut impl CanonicalHasher, raw: &[u8], owner: CanonicalObjectKind, depth: usize) {
    match raw.first() {
        Some(b'{') if depth < DEEPEST => match JsonFields::of(raw) {
            Ok(fields) => object(hash, fields, owner, depth),
            Err(_) => as_sent(hash, raw),
        },
        Some(b'[') if depth < DEEPEST => match items(raw) {
            Ok(items) => {
                hash.update(b"[");
                for item in items {
                    value(hash, item, CanonicalObjectKind::Part, depth + 1);
                }
                hash.update(b"]");
            }
            Err(_) => as_sent(hash, raw),
        },
        _ => as_sent(hash, raw),
    }
}

fn object(
    hash: &mut impl CanonicalHasher,
    mut fields: JsonFields<'_>,
    owner: CanonicalObjectKind,
    depth: usize,
) {
    fields.0.sort_by(|(a, _), (b, _)| a.cmp(b));
    hash.update(b"{");
    for (name, raw) in &fields.0 {
        if says_nothing(name, raw, owner) {
            continue;
        }
        string(hash, name);
        match raw.first() {
            _ if AS_SENT.contains(&&**name) => as_sent(hash, raw),
            Some(b'"') if owner == CanonicalObjectKind::Block && **name == *b"content" => {
                hash.update(b"[");
                text_block(hash, raw);
                hash.update(b"]");
            }
            _ => value(hash, raw, CanonicalObjectKind::Part, depth + 1),
        }
    }
    hash.update(b"}");
}

fn text_block(hash: &mut impl CanonicalHasher, raw: &[u8]) {
    hash.update(b"{");
    string(hash, b"text");
    as_sent(hash, raw);
    string(hash, b"type");
    string(hash, b"text");
    hash.update(b"}");
}

fn says_nothing(name: &[u8], raw: &[u8], owner: CanonicalObjectKind) -> bool {
    let bare = || -> Vec<u8> {
        let bytes = raw.iter().copied();
        bytes.filter(|byte| !byte.is_ascii_whitespace()).collect()
    };
    raw == b"null"
        || LEFT_OUT.contains(&name)
        || (owner == CanonicalObjectKind::Tool && name == b"type" && raw == br#""custom""#)
        || DEFAULTS
            .iter()
            .any(|(field, default)| *field == name && bare() == *default)
}

fn string(hash: &mut impl CanonicalHasher, decoded: &[u8]) {
    hash.update(b"\"");
    hash.update(&(decoded.len() as u64).to_le_bytes());
    hash.update(decoded);
}

/// Hashes a value literally, except for white space and escapes.
fn as_sent(hash: &mut impl CanonicalHasher, raw: &[u8]) {
    let mut at = 0;
    while let Some(byte) = raw.get(at) {
        match byte {
            b'"' => {
                let end = end_of_string(raw, at);
                let quoted = raw.get(at..end).unwrap_or_default();
                match text(quoted) {
                    Some(decoded) => string(hash, decoded.as_bytes()),
                    None => string(hash, quoted),
                }
                at = end;
            }
            b' ' | b'\t' | b'\n' | b'\r' => at += 1,
            other => {
                hash.update(&[*other]);
                at += 1;
            }
        }
    }
}

/// The position after the closing quote of the string that opens at `open`.
pub(super) fn end_of_string(bytes: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while let Some(found) = bytes
        .get(at..)
        .and_then(|rest| memchr::memchr2(b'"', b'\\', rest))
    {
        match bytes.get(at + found) {
            Some(b'"') => return at + found + 1,
            _ => at += found + 2,
        }
    }
    bytes.len()
}
