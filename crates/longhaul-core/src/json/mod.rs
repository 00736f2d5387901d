//! A validating, measuring JSON reader over bytes that are kept as they are.
//!
//! Not a document model: nothing is decoded or copied. A caller walks a value with [`Cursor`], notes where the
//! parts it wants lie, and every byte is looked at once. This is what lets a line of a transcript be read several
//! times faster than by building a tree, and be sent again byte for byte.

mod bounded;
mod cursor;
mod decode;
mod literal;
mod object;
mod string;

pub(crate) use bounded::{decode_head, decode_tail};
pub use cursor::{JsonCursor, JsonKind};
pub use decode::decode;
pub use literal::{content, enclose, quote, text};
pub(crate) use object::place;
pub use object::{ObjectReader, items};
pub use string::StringLiteral;

/// Where and why bytes are not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonFault {
    /// Byte position in what was read.
    pub at: usize,
    /// What was wrong there.
    pub kind: JsonFaultKind,
}

impl JsonFault {
    pub(crate) const fn new(at: usize, kind: JsonFaultKind) -> Self {
        Self { at, kind }
    }
}

/// The ways in which bytes can fail to be JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonFaultKind {
    /// The bytes ended inside a value.
    UnexpectedEnd,
    /// A byte that cannot stand where it stands.
    UnexpectedByte,
    /// A raw control character inside a string.
    ControlCharacter,
    /// A backslash followed by something that is no escape.
    BadEscape,
    /// A number that breaks JSON's grammar.
    BadNumber,
    /// The value is well-formed and something other than white space follows it.
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
