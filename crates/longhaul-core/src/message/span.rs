//! A range of bytes within one line.

/// Where a part of an entry lies in the entry's bytes. An absent part is the empty span at 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct ByteSpan {
    start: u32,
    end: u32,
}

impl ByteSpan {
    /// The span of a part that is not there.
    pub(crate) const ABSENT: Self = Self { start: 0, end: 0 };

    /// A span of a line; lines are shorter than 4 GiB (the scanner refuses longer ones).
    pub(crate) fn new(start: usize, end: usize) -> Self {
        Self {
            start: start as u32,
            end: end as u32,
        }
    }

    /// Whether the part is there.
    pub fn is_present(self) -> bool {
        // No part can lie before the line's opening brace, so 0..0 is free to mean "absent".
        self.end > 0
    }

    /// First byte.
    pub fn start(self) -> usize {
        self.start as usize
    }

    /// One past the last byte.
    pub fn end(self) -> usize {
        self.end as usize
    }

    /// The bytes of this part of `line`; empty if absent or if `line` is another one.
    pub fn of(self, line: &[u8]) -> &[u8] {
        line.get(self.start()..self.end()).unwrap_or_default()
    }
}
