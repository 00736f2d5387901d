//! The fixed part of the calibrated count: how many tokens a block of a class takes, by its shape.
//!
//! The coefficients were fitted to recorded sessions of Claude models with the tokenizer of the 4.5 and 4.6 models.
//! Other tokenizers cut texts at the same places into more or fewer pieces, which the scale learns. docs/counting.md
//! describes the fit.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use super::TextShape;
use super::shape::COUNTS;

/// Kinds of content for which the model has coefficients of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CalibratedClass {
    /// The result of a tool.
    ToolResult,
    /// What a user or a model writes.
    Text,
    /// A call: the tool's name and its input, with its escapes decoded.
    ToolCall,
    /// The signature of thinking. It stands for the thinking, whose own text is not part of the prompt.
    Signature,
}

/// Tokens as the fixed model counts them, before the scale of a session; in thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct UnscaledTokens(u64);

impl UnscaledTokens {
    /// Zero tokens.
    pub const ZERO: Self = Self(0);
    /// A picture whose size is not known.
    pub(super) const IMAGE: Self = Self::whole(1_500);
    /// A document whose pages are not known.
    pub(super) const DOCUMENT: Self = Self::whole(2_000);

    /// Whole tokens.
    pub const fn whole(tokens: u64) -> Self {
        Self(tokens.saturating_mul(1_000))
    }

    /// The tokens, rounded.
    pub const fn rounded(self) -> u64 {
        self.0.saturating_add(500) / 1_000
    }
}

impl Add for UnscaledTokens {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for UnscaledTokens {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for UnscaledTokens {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::ZERO, Add::add)
    }
}

/// The coefficients of a class: thousandths of a token for each count of a shape, in the order of
/// [`ShapeCount`](super::ShapeCount), and for the frame around a block.
struct ClassCoefficients {
    counts: [i64; COUNTS],
    frame: i64,
}

const TOOL_RESULT: ClassCoefficients = ClassCoefficients {
    counts: [
        492, 685, 133, 200, 433, 390, 190, 440, 583, -302, 638, 15, 588, 796, 1_198, 2_498,
    ],
    frame: 39_251,
};

const TEXT: ClassCoefficients = ClassCoefficients {
    counts: [
        591, 507, 109, 93, 440, 324, 213, 417, 393, -298, 595, 128, 502, 800, 1_200, 2_500,
    ],
    frame: 4_869,
};

const TOOL_CALL: ClassCoefficients = ClassCoefficients {
    counts: [
        521, 571, 163, 0, 446, 314, 222, 479, 468, -322, 637, 69, 519, 800, 1_201, 2_500,
    ],
    frame: 42_719,
};

/// For each byte of a signature, less a header that every signature has.
const SIGNATURE: i64 = 182;
const SIGNATURE_HEADER: i64 = 27_617;

/// The tokens of one block, with its frame.
pub fn unscaled(class: CalibratedClass, shape: &TextShape) -> UnscaledTokens {
    let frame = match class {
        CalibratedClass::ToolResult => TOOL_RESULT.frame,
        CalibratedClass::Text => TEXT.frame,
        CalibratedClass::ToolCall => TOOL_CALL.frame,
        CalibratedClass::Signature => -SIGNATURE_HEADER,
    };
    thousandths(inside(class, shape) + i128::from(frame))
}

/// The tokens of a text inside a block whose frame is counted apart.
pub(super) fn unframed(class: CalibratedClass, shape: &TextShape) -> UnscaledTokens {
    thousandths(inside(class, shape))
}

fn inside(class: CalibratedClass, shape: &TextShape) -> i128 {
    let coefficients = match class {
        CalibratedClass::ToolResult => TOOL_RESULT.counts,
        CalibratedClass::Text => TEXT.counts,
        CalibratedClass::ToolCall => TOOL_CALL.counts,
        CalibratedClass::Signature => {
            return i128::from(shape.bytes()) * i128::from(SIGNATURE);
        }
    };
    let terms = coefficients.iter().zip(shape.counts());
    terms
        .map(|(each, count)| i128::from(*each) * i128::from(*count))
        .sum()
}

fn thousandths(sum: i128) -> UnscaledTokens {
    // A sum below zero is possible for a short signature only.
    UnscaledTokens(u64::try_from(sum.max(0)).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::calibrated::ShapeCount;

    #[test]
    fn x4_a_further_character_never_makes_a_text_cheaper() {
        for class in [TOOL_RESULT, TEXT, TOOL_CALL] {
            for (at, each) in class.counts.iter().enumerate() {
                let repeats = at == ShapeCount::Repeats as usize;
                assert!(repeats || *each >= 0, "{at}: {each}");
            }
            // A mark that repeats the one before is a mark, too.
            let mark = class.counts[ShapeCount::Marks as usize];
            assert!(mark + class.counts[ShapeCount::Repeats as usize] >= 0);
        }
    }
}
