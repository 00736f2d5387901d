//! The shape of a text: how many words, numbers, marks and the like it has. Tokenizers cut texts at these places.
//!
//! The text is classified in chunks, and each count is a loop over a chunk's classes whose sums cannot overflow a byte.
//! Compilers turn such loops into vector code. A state machine that visits one byte after the other is several times
//! slower (`benches/calibrated.rs`).

use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// What is counted in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ShapeCount {
    /// Runs of ASCII letters.
    Words,
    /// Upper-case letters directly after lower-case ones, as in `camelCase`.
    Humps,
    /// ASCII letters.
    Letters,
    /// Upper-case ASCII letters.
    Capitals,
    /// Digits.
    Digits,
    /// Runs of digits.
    Numbers,
    /// Places where a letter touches a digit, as in ids and base64.
    Joints,
    /// Punctuation and other ASCII symbols, control characters included.
    Marks,
    /// Runs of marks.
    MarkRuns,
    /// Marks that repeat the one before them, as in rulers.
    Repeats,
    /// Line feeds and carriage returns.
    Lines,
    /// Spaces and tabs.
    Spaces,
    /// Runs of two or more spaces or tabs.
    SpaceRuns,
    /// Characters of two bytes in UTF-8.
    TwoByte,
    /// Characters of three bytes in UTF-8.
    ThreeByte,
    /// Characters of four bytes in UTF-8.
    FourByte,
}

/// How many counts there are.
pub(super) const COUNTS: usize = 16;

/// The counts of a text. Shapes of parts can be added; the sum differs from the shape of the joined text only by the
/// counts at the seams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TextShape {
    counts: [u64; COUNTS],
    bytes: u64,
}

impl TextShape {
    /// Counts a text.
    pub fn of(text: &str) -> Self {
        let mut shape = Self {
            bytes: text.len() as u64,
            ..Self::default()
        };
        let mut chunk = ClassifiedChunk::default();
        for bytes in text.as_bytes().chunks(CHUNK) {
            chunk.read(bytes);
            for (sum, count) in shape.counts.iter_mut().zip(chunk.counts()) {
                *sum += u64::from(count);
            }
        }
        shape
    }

    /// One of the counts.
    pub fn count(&self, count: ShapeCount) -> u64 {
        self.counts[count as usize]
    }

    /// The length in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn counts(&self) -> &[u64; COUNTS] {
        &self.counts
    }
}

impl Add for TextShape {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl AddAssign for TextShape {
    fn add_assign(&mut self, other: Self) {
        for (sum, count) in self.counts.iter_mut().zip(other.counts) {
            *sum += count;
        }
        self.bytes += other.bytes;
    }
}

impl Sum for TextShape {
    fn sum<I: Iterator<Item = Self>>(shapes: I) -> Self {
        shapes.fold(Self::default(), Add::add)
    }
}

/// A chunk's length: no count within it overflows a byte.
const CHUNK: usize = 192;
/// How many bytes before a byte its counts depend on.
const BEFORE: usize = 2;

// The classes of bytes, as bits.
const LOWER: u8 = 1;
const UPPER: u8 = 2;
const LETTER: u8 = LOWER | UPPER;
const DIGIT: u8 = 4;
const MARK: u8 = 8;
const LINE: u8 = 16;
const SPACE: u8 = 32;

/// The class of a byte; zero outside ASCII. It has no branches, so that a loop over it becomes vector code.
fn class(byte: u8) -> u8 {
    let bit = |holds: bool, class: u8| u8::from(holds) * class;
    let known = bit(byte.is_ascii_lowercase(), LOWER)
        | bit(byte.is_ascii_uppercase(), UPPER)
        | bit(byte.is_ascii_digit(), DIGIT)
        | bit((byte == b'\n') | (byte == b'\r'), LINE)
        | bit((byte == b' ') | (byte == b'\t'), SPACE);
    known | bit((known == 0) & (byte < 0x80), MARK)
}

/// A chunk of a text and its classes, after the last bytes of the chunk before. A text begins as if after line ends.
struct ClassifiedChunk {
    bytes: [u8; BEFORE + CHUNK],
    classes: [u8; BEFORE + CHUNK],
    length: usize,
}

impl Default for ClassifiedChunk {
    fn default() -> Self {
        Self {
            bytes: [b'\n'; BEFORE + CHUNK],
            classes: [LINE; BEFORE + CHUNK],
            length: 0,
        }
    }
}

impl ClassifiedChunk {
    /// Takes the next chunk of the text.
    fn read(&mut self, chunk: &[u8]) {
        let end = self.length;
        self.bytes.copy_within(end..end + BEFORE, 0);
        self.classes.copy_within(end..end + BEFORE, 0);
        self.length = chunk.len();
        let places = self.bytes[BEFORE..]
            .iter_mut()
            .zip(&mut self.classes[BEFORE..]);
        for ((place, its), byte) in places.zip(chunk) {
            *place = *byte;
            *its = class(*byte);
        }
    }

    fn counts(&self) -> [u8; COUNTS] {
        let is = |class: u8| self.classes(move |it, _, _| it & class != 0);
        let begins =
            |class: u8| self.classes(move |it, last, _| (it & class != 0) & (last & class == 0));
        let is_joint = |it: u8, last: u8, _| {
            ((it & DIGIT != 0) & (last & LETTER != 0)) | ((it & LETTER != 0) & (last & DIGIT != 0))
        };
        [
            begins(LETTER),
            self.classes(|it, last, _| (it == UPPER) & (last == LOWER)),
            is(LETTER),
            is(UPPER),
            is(DIGIT),
            begins(DIGIT),
            self.classes(is_joint),
            is(MARK),
            begins(MARK),
            self.repeats(),
            is(LINE),
            is(SPACE),
            self.classes(|it, last, before| (it == SPACE) & (last == SPACE) & (before != SPACE)),
            self.leading(0xC0, 0xE0),
            self.leading(0xE0, 0xF0),
            self.leading(0xF0, 0xFF),
        ]
    }

    /// How many bytes have a property that depends on their class and on those of the two bytes before.
    fn classes(&self, holds: impl Fn(u8, u8, u8) -> bool) -> u8 {
        let classes = &self.classes[..BEFORE + self.length];
        let before = classes.iter().zip(&classes[1..]);
        let mut sum = 0u8;
        for ((before, last), it) in before.zip(&classes[BEFORE..]) {
            sum = sum.wrapping_add(u8::from(holds(*it, *last, *before)));
        }
        sum
    }

    fn repeats(&self) -> u8 {
        let bytes = &self.bytes[1..BEFORE + self.length];
        let classes = &self.classes[BEFORE..];
        let mut sum = 0u8;
        for ((last, it), class) in bytes.iter().zip(&bytes[1..]).zip(classes) {
            sum = sum.wrapping_add(u8::from((last == it) & (*class == MARK)));
        }
        sum
    }

    /// How many bytes lie in a range, both ends given, the upper one excluded.
    fn leading(&self, from: u8, to: u8) -> u8 {
        let mut sum = 0u8;
        for byte in &self.bytes[BEFORE..BEFORE + self.length] {
            sum = sum.wrapping_add(u8::from((*byte >= from) & (*byte < to)));
        }
        sum
    }
}
