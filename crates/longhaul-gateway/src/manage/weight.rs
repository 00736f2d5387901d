//! How many tokens a request has: a count of its parts by the kinds of their characters, and the density that turns
//! such a count into the tokens of a provider.
//!
//! The count is the same for every provider ([`likely`]). The density is learned where a provider has counted a request
//! (its tokens per token of this count), and is a careful guess where it has not. A measurement is always of what was
//! *sent*, so the count is taken of that, too: of the compacted prefix, not of what it replaces.

use longhaul_core::facts::FactsBudget;
use longhaul_core::json::{self, ObjectReader, items};
use longhaul_core::models::Tokenizer;
use longhaul_core::tokens::likely;
use longhaul_core::window::WindowStatus;

use super::cleared_results::without_results;
use super::conversation::CompactableConversation;
use super::element::{ElementParts, texts};
use super::settings::CompactorSettings;
use crate::body::BodyRole;

/// The overhead of each message, and of each call and result.
const FRAME: u64 = 4;
const CALL: u64 = 12;
/// The most that an image counts.
const PICTURE: u64 = 3_300;
/// The least that a document counts, and the bytes of a compressed one for each token: its pages are shown as images,
/// too.
const DOCUMENT: u64 = 2_000;
const PACKED: usize = 20;
/// The shortest summary that a model writes, in tokens of a large window.
pub(super) const SHORT_SUMMARY: u64 = 1_000;
/// How deep nested blocks are read.
const DEEPEST: u8 = 4;

/// The count of one element of `messages`.
pub(super) fn element(text: &[u8]) -> u64 {
    let Some(read) = ElementParts::read(text) else {
        return likely(text);
    };
    let calls = ["tool_calls", "function_call"].into_iter();
    let calls: u64 = calls
        .filter_map(|name| read.field(name))
        .map(|calls| CALL + likely(calls))
        .sum();
    FRAME + content(read.content(), DEEPEST) + calls
}

/// The count of a tool result's content.
pub(super) fn result(raw: &[u8]) -> u64 {
    CALL + content(raw, DEEPEST)
}

/// The count of the parts outside the messages.
pub(super) fn beside(before: &[u8], behind: &[u8]) -> u64 {
    likely(before) + likely(behind)
}

fn content(raw: &[u8], deeper: u8) -> u64 {
    if let Some(text) = json::text(raw) {
        return likely(text.as_bytes());
    }
    match items(raw) {
        Some(blocks) if deeper > 0 => {
            let blocks = blocks.into_iter();
            blocks.map(|raw| block(raw, deeper - 1)).sum()
        }
        _ => likely(raw),
    }
}

fn block(raw: &[u8], deeper: u8) -> u64 {
    let object = ObjectReader::new(raw);
    let text = |name| {
        let text = object.string(name);
        text.map_or(0, |text| likely(text.as_bytes()))
    };
    let kind = object.string("type");
    match kind.as_deref() {
        Some("text") => text("text"),
        // The signature is not part of the prompt.
        Some("thinking") => FRAME + text("thinking"),
        Some("redacted_thinking") => object.get("data").unwrap_or_default().len() as u64 / 4,
        Some("tool_use" | "server_tool_use") => {
            CALL + text("name") + likely(object.get("input").unwrap_or_default())
        }
        Some("tool_result") => CALL + content(object.get("content").unwrap_or_default(), deeper),
        // An image has an upper limit, however many bytes it is encoded in.
        Some("image" | "image_url" | "input_image") => PICTURE.min(50 + raw.len() as u64 / 2),
        Some("document" | "file") => match object.object("source") {
            Some(source) if source.string("type").as_deref() == Some("text") => {
                let data = source.string("data");
                data.map_or(0, |data| likely(data.as_bytes()))
            }
            _ => DOCUMENT.max((raw.len() / PACKED) as u64),
        },
        _ => likely(raw),
    }
}

/// The token count of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct RequestTokenCount {
    /// The parts outside the messages, and leading system messages.
    pub(super) head: u64,
    /// The messages, as they are sent.
    pub(super) messages: u64,
}

impl RequestTokenCount {
    /// The total count.
    pub(super) fn total(self) -> u64 {
        self.head + self.messages
    }
}

/// A provider's tokens per thousand tokens of the gateway's count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TokenDensity(u64);

impl TokenDensity {
    /// A careful guess: a sixth more than the tokenizer family makes of prose and code.
    pub(super) fn careful(tokenizer: Tokenizer) -> Self {
        match tokenizer {
            Tokenizer::New => Self(1_700),
            Tokenizer::Old | Tokenizer::Unknown => Self(1_300),
        }
    }

    /// A guess without the safety margin, where too high a value would do harm.
    pub(super) fn likely(tokenizer: Tokenizer) -> Self {
        match tokenizer {
            Tokenizer::New => Self(1_300),
            Tokenizer::Old | Tokenizer::Unknown => Self(1_000),
        }
    }

    /// The density measured for a request, within reason: a measurement of a different request must not turn a text
    /// into nothing, or into more tokens than it has characters.
    pub(super) fn measured(tokens: u64, counted: u64) -> Self {
        let thousandths = u128::from(tokens) * 1_000 / u128::from(counted.max(1));
        Self(
            u64::try_from(thousandths)
                .unwrap_or(u64::MAX)
                .clamp(500, 4_000),
        )
    }

    /// The provider's tokens for a count of the gateway.
    pub(super) fn tokens(self, counted: u64) -> u64 {
        let tokens = u128::from(counted) * u128::from(self.0) / 1_000;
        u64::try_from(tokens).unwrap_or(u64::MAX)
    }
}

/// The count of a conversation's messages as they are sent.
pub(super) fn of_conversation(conversation: &CompactableConversation) -> u64 {
    let cleared = conversation.cleared.iter().map(String::as_str).collect();
    let summary = conversation.summary.iter().map(|one| element(one));
    let rest = conversation.elements.iter();
    let rest = rest.map(|one| element(&without_results(conversation.dialect, one, &cleared)));
    summary.chain(rest).sum()
}

/// The token count of a conversation that is being compacted: its current size, and the size of any replacement.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConversationTokenCount {
    density: TokenDensity,
    before_messages: u64,
    /// Tokens in the window, the request prefix included.
    pub(super) before: u64,
}

impl ConversationTokenCount {
    pub(super) fn of(conversation: &CompactableConversation, settings: &CompactorSettings) -> Self {
        let counted = of_conversation(conversation);
        let tokenizer = settings.models.resolve(&conversation.model).spec.tokenizer;
        let before_messages = settings.before_messages;
        let measured = settings.of_messages(conversation.measured);
        let density = match measured {
            Some(measured) => TokenDensity::measured(measured, counted),
            None => TokenDensity::careful(tokenizer),
        };
        Self {
            density,
            before_messages,
            before: before_messages + measured.unwrap_or_else(|| density.tokens(counted)),
        }
    }

    /// Tokens in the window with these messages instead of the conversation's.
    pub(super) fn with<'e>(self, elements: impl Iterator<Item = &'e [u8]>) -> u64 {
        let counted = elements.map(element).sum();
        self.before_messages + self.density.tokens(counted)
    }

    /// The provider's tokens for a count.
    pub(super) fn tokens(self, counted: u64) -> u64 {
        self.density.tokens(counted)
    }
}

/// The fewest tokens that a summary of a conversation is likely to leave: the request prefix, the user's words as far
/// as there is room for them, and a short summary.
pub(super) fn least_after(
    conversation: &CompactableConversation,
    settings: &CompactorSettings,
    window: &WindowStatus,
) -> u64 {
    let scales = ConversationTokenCount::of(conversation, settings);
    let users = conversation.elements.iter().filter_map(|element| {
        let read = ElementParts::read(element)?;
        (read.role == BodyRole::User).then(|| likely(texts(read.content()).as_bytes()))
    });
    let before = conversation.summary.iter().map(|one| element(one));
    let kept = scales.tokens(users.chain(before).sum());
    let most = FactsBudget::of_window(window).tokens;
    settings.before_messages + kept.min(most) + window.scale().apply(SHORT_SUMMARY)
}
