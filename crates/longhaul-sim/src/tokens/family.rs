//! The tokenizer families, and their token counts of a text.

use longhaul_core::models::Tokenizer;

use super::vocabulary;

/// A family of tokenizers, which determines how the counts of the reference vocabulary are scaled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenizerFamily {
    /// The tokenizer of Claude up to 4.6.
    Old,
    /// The tokenizer of Claude from 4.7 on: three tenths more tokens for the same text.
    New,
}

impl From<Tokenizer> for TokenizerFamily {
    fn from(tokenizer: Tokenizer) -> Self {
        match tokenizer {
            Tokenizer::New => Self::New,
            Tokenizer::Old | Tokenizer::Unknown => Self::Old,
        }
    }
}

impl TokenizerFamily {
    /// The thousandths of a reference token.
    fn permille(self) -> u64 {
        match self {
            Self::Old => 1_130,
            Self::New => 1_469,
        }
    }

    /// The tokens of a text; at least one for any non-empty text.
    pub(crate) fn count(self, text: &str) -> u64 {
        let reference = vocabulary::count(text);
        (reference * self.permille() + 500) / 1_000
    }

    /// The maximum number of tokens of an image.
    pub(super) fn image_cap(self) -> u64 {
        match self {
            Self::Old => 1_568,
            Self::New => 4_784,
        }
    }

    /// The longest edge that an image keeps; larger images are scaled down.
    pub(super) fn image_edge(self) -> u64 {
        match self {
            Self::Old => 1_568,
            Self::New => 2_576,
        }
    }
}
