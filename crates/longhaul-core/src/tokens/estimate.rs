//! Estimates tokens from sizes (T2). It is cheap and always gives the same answer, because counts are kept per entry.

use super::Estimate;
use crate::message::{BlockKind, EntryBlock, EntryView};

/// Kinds of content that a tokenizer treats differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ContentClass {
    /// Text as people and tools write it.
    Text,
    /// A call: the tool's name and its input as JSON.
    ToolRequest,
    /// A picture or document, whatever its size.
    Media,
    /// Anything else, in its serialized form.
    Serialized,
}

/// Turns sizes into tokens: a quarter of the UTF-16 length, 2,000 for a picture or document (T2).
///
/// ```
/// use longhaul_core::tokens::RoughEstimator;
///
/// let estimate = RoughEstimator::text("a text of twenty-nine letters");
/// assert_eq!(estimate.unpadded(), 7);
/// assert!(estimate.padded() > 7, "limits are compared with the padded estimate");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RoughEstimator;

impl RoughEstimator {
    const MEDIA: Estimate = Estimate::new(2_000);

    /// Returns the estimate for a text.
    pub fn text(text: &str) -> Estimate {
        Self.tokens(ContentClass::Text, utf16_len(text) as u64)
    }

    /// The estimate for content of a class that is `units` UTF-16 units long.
    pub fn tokens(self, class: ContentClass, units: u64) -> Estimate {
        match class {
            ContentClass::Media => Self::MEDIA,
            // This is a quarter, rounded half up.
            _ => Estimate::new((units + 2) / 4),
        }
    }

    /// The estimate for a block and, for a tool result, the blocks inside it, which follow it in `rest`.
    pub fn block(self, block: &EntryBlock, rest: &[EntryBlock]) -> Estimate {
        let class = match block.kind {
            BlockKind::ToolResult if block.has_inner => return self.inner(rest),
            BlockKind::Text | BlockKind::ToolResult => ContentClass::Text,
            BlockKind::ToolUse => ContentClass::ToolRequest,
            BlockKind::Image | BlockKind::Document => ContentClass::Media,
            BlockKind::Thinking | BlockKind::RedactedThinking | BlockKind::Other => {
                ContentClass::Serialized
            }
        };
        self.tokens(class, u64::from(block.units))
    }

    /// The estimate for the blocks inside a tool result: those at the front of `rest` that are flagged as inner. A
    /// result inside a result counts through the blocks after it, which are in the same run.
    fn inner(self, rest: &[EntryBlock]) -> Estimate {
        rest.iter()
            .take_while(|block| block.inner)
            .filter(|block| !block.has_inner)
            .map(|block| self.block(block, &[]))
            .sum()
    }

    /// The estimate for the result at this index of an entry as it came, even if it is sent in a smaller form (V8).
    pub(crate) fn original_result(self, entry: EntryView<'_>, index: usize) -> Estimate {
        let blocks = &entry.facets.blocks;
        let body = blocks.get(index).map(|block| block.body.of(entry.line));
        match body.and_then(crate::json::text) {
            Some(text) => self.tokens(ContentClass::Text, utf16_len(&text) as u64),
            None => self.inner(blocks.get(index + 1..).unwrap_or_default()),
        }
    }

    /// The estimate for an attachment by the size of its serialized value.
    pub fn attachment(self, units: u32) -> Estimate {
        self.tokens(ContentClass::Serialized, u64::from(units))
    }
}

/// The UTF-16 length of a text: one unit for each character, two for those beyond the basic plane.
///
/// It counts in lanes of bytes that cannot overflow within a chunk, which compilers turn into vector code; a plain sum
/// of flags is several times slower.
pub(crate) fn utf16_len(text: &str) -> usize {
    const CHUNK: usize = 192;
    let bytes = text.as_bytes();
    let mut chunks = bytes.chunks_exact(CHUNK);
    let count = |bytes: &[u8]| {
        let (mut leading, mut four_byte) = (0u8, 0u8);
        for byte in bytes {
            // As signed numbers, continuation bytes are the smallest.
            leading += u8::from((*byte as i8) >= -0x40);
            four_byte += u8::from(*byte >= 0xF0);
        }
        usize::from(leading) + usize::from(four_byte)
    };
    let whole: usize = chunks.by_ref().map(count).sum();
    whole + count(chunks.remainder())
}
