//! A range of bytes within one line.

/// The position of a part within an entry's bytes. An absent part is the empty span at 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct ByteSpan {
    start: u32,
    end: u32,
}

impl ByteSpan {
    /// The span of an absent part.
    pub(crate) const ABSENT: Self = Self { start: 0, end: 0 };

    /// Creates a span of a line. Lines are shorter than 4 GiB (the scanner refuses longer ones).
    pub(crate) fn new(start: usize, end: usize) -> Self {
        Self {
            start: start as u32,
            end: end as u32,
        }
    }

    /// Whether the part is present.
    pub fn is_present(self) -> bool {
        // No part can lie before the line's opening brace, so 0..0 can mean "absent".
        self.end > 0
    }

    /// The first byte.
    pub fn start(self) -> usize {
        self.start as usize
    }

    /// One past the last byte.
    pub fn end(self) -> usize {
        self.end as usize
    }

    /// The bytes of this part of `line`; empty if the part is absent or `line` is a different line.
    pub fn of(self, line: &[u8]) -> &[u8] {
        line.get(self.start()..self.end()).unwrap_or_default()
    }
}
