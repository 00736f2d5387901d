//! A validating, measuring JSON reader over bytes that stay unchanged.
//!
//! This is not a document model: nothing is decoded or copied. A caller walks a value with [`JsonCursor`] and notes
//! where the parts it wants lie, and every byte is looked at once. This way a transcript line is read several times
//! faster than by building a tree, and can be sent again byte for byte.

mod bounded;
mod cursor;
mod decode;
mod literal;
mod object;
mod string;

pub(crate) use bounded::{decode_head, decode_tail};
pub use cursor::{JsonCursor, JsonKind};
pub use decode::decode;
pub use literal::{content, enclose, quote, text, text_of};
pub(crate) use object::place;
pub use object::{ObjectReader, items};
pub use string::StringLiteral;

/// Where and why bytes are not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonFault {
    /// The byte position in the input.
    pub at: usize,
    /// The problem at that place.
    pub kind: JsonFaultKind,
}

impl JsonFault {
    pub(crate) const fn new(at: usize, kind: JsonFaultKind) -> Self {
        Self { at, kind }
    }
}

/// The ways in which bytes can fail to be JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonFaultKind {
    /// The bytes ended inside a value.
    UnexpectedEnd,
    /// A byte that is not allowed at its position.
    UnexpectedByte,
    /// A raw control character inside a string.
    ControlCharacter,
    /// A backslash that does not begin a valid escape.
    BadEscape,
    /// A number that breaks JSON's grammar.
    BadNumber,
    /// The value is well-formed, but something other than white space follows it.
    TrailingBytes,
}

impl std::fmt::Display for JsonFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = match self.kind {
            JsonFaultKind::UnexpectedEnd => "the text ends inside a value",
            JsonFaultKind::UnexpectedByte => "unexpected character",
            JsonFaultKind::ControlCharacter => "raw control character in a string",
            JsonFaultKind::BadEscape => "invalid escape in a string",
            JsonFaultKind::BadNumber => "invalid number",
            JsonFaultKind::TrailingBytes => "something follows the object",
        };
        write!(f, "{what} at byte {}", self.at + 1)
    }
}
