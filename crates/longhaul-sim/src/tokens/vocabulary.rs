//! The reference vocabulary `cl100k` and its byte-pair counts.
//!
//! A text is split into pieces (`pieces.rs`), and each piece is merged to tokens by rank. The vocabulary is a file in the
//! order of the ranks, each token after a byte with its length: it is read when the first text is counted, in some
//! milliseconds. Crates that offer this vocabulary prepare an automaton of it, either while they are compiled, which took
//! most of a minute of every build from nothing, or when they start, which takes most of a second. The counts are
//! compared with one of them in the tests.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::LazyLock;

use foldhash::fast::FixedState;

use super::pieces::TextPieces;

/// The tokens in the order of their ranks. tiktoken's vocabulary; its license is in `cl100k.LICENSE`.
const TOKENS: &[u8] = include_bytes!("cl100k.bin");
/// How many bytes are merged at once. A longer piece, which no person writes, is cut: its count may then be too high by
/// a token for each cut, and the memory for it stays small.
const MOST_MERGED: usize = 1 << 16;

static CL100K: LazyLock<TokenVocabulary> = LazyLock::new(|| TokenVocabulary::read(TOKENS));

/// The tokens of a text in the reference vocabulary.
pub(super) fn count(text: &str) -> u64 {
    let vocabulary = &*CL100K;
    let mut merger = PieceMerger::default();
    TextPieces::of(text)
        .flat_map(|piece| piece.as_bytes().chunks(MOST_MERGED))
        .map(|piece| merger.count(vocabulary, piece))
        .sum()
}

/// A vocabulary: the rank of each token. A pair with a lower rank is merged first.
struct TokenVocabulary {
    ranks: HashMap<&'static [u8], u32, FixedState>,
}

impl TokenVocabulary {
    fn read(mut rest: &'static [u8]) -> Self {
        let mut ranks = HashMap::with_capacity_and_hasher(101_000, FixedState::default());
        let mut rank = 0;
        while let Some((&length, tail)) = rest.split_first() {
            let Some((token, tail)) = tail.split_at_checked(usize::from(length)) else {
                break;
            };
            ranks.insert(token, rank);
            rank += 1;
            rest = tail;
        }
        Self { ranks }
    }
}

/// A run of bytes that has become one token so far, in a list of such runs.
#[derive(Clone, Copy)]
struct MergedRun {
    end: u32,
    previous: u32,
    next: u32,
}

/// There is no run on this side.
const NONE: u32 = u32::MAX;

/// Two neighbors that are a token together: its rank, where it begins and ends. The one with the lowest rank is
/// merged first, and of equal ones the first.
type PossibleMerge = Reverse<(u32, u32, u32)>;

/// Merges the bytes of pieces to tokens. It keeps its memory from one piece to the next.
#[derive(Default)]
struct PieceMerger {
    /// The runs by their first bytes. A run that was merged into the one before it has no bytes.
    runs: Vec<MergedRun>,
    merges: BinaryHeap<PossibleMerge>,
}

impl PieceMerger {
    fn count(&mut self, vocabulary: &TokenVocabulary, piece: &[u8]) -> u64 {
        if piece.len() < 2 || vocabulary.ranks.contains_key(piece) {
            return u64::from(!piece.is_empty());
        }
        let length = u32::try_from(piece.len()).unwrap_or(NONE);
        self.runs.clear();
        self.runs.extend((0..length).map(|at| MergedRun {
            end: at + 1,
            previous: at.checked_sub(1).unwrap_or(NONE),
            next: if at + 1 < length { at + 1 } else { NONE },
        }));
        self.merges.clear();
        for at in 0..length - 1 {
            self.offer(vocabulary, piece, at);
        }
        let mut count = u64::from(length);
        while let Some(Reverse((_, at, end))) = self.merges.pop() {
            let run = self.runs[at as usize];
            // One of the two has been merged with another neighbor since.
            if run.next == NONE || run.end == at || self.runs[run.next as usize].end != end {
                continue;
            }
            let gone = self.runs[run.next as usize];
            // A run without bytes is no neighbor of anyone.
            self.runs[run.next as usize].end = run.next;
            self.runs[at as usize] = MergedRun {
                end,
                next: gone.next,
                ..run
            };
            if let Some(next) = self.runs.get_mut(gone.next as usize) {
                next.previous = at;
            }
            count -= 1;
            self.offer(vocabulary, piece, at);
            if run.previous != NONE {
                self.offer(vocabulary, piece, run.previous);
            }
        }
        count
    }

    /// Notes that a run and its next neighbor can be merged, if they are a token together.
    fn offer(&mut self, vocabulary: &TokenVocabulary, piece: &[u8], at: u32) {
        let next = self.runs[at as usize].next;
        let Some(next) = self.runs.get(next as usize) else {
            return;
        };
        let token = &piece[at as usize..next.end as usize];
        if let Some(&rank) = vocabulary.ranks.get(token) {
            self.merges.push(Reverse((rank, at, next.end)));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_file_holds_the_vocabulary_that_others_ship() {
        let other = &bpe_openai::cl100k_base().bpe;
        let mut file = Vec::with_capacity(TOKENS.len());
        for rank in 0..u32::try_from(other.num_tokens()).unwrap() {
            let token = other.token_bytes(rank);
            file.push(u8::try_from(token.len()).unwrap());
            file.extend(token);
        }
        assert!(file == TOKENS, "cl100k.bin is not the vocabulary");
    }

    #[track_caller]
    fn same(text: &str) {
        let other = bpe_openai::cl100k_base().count(text) as u64;
        assert_eq!(count(text), other, "{text:?}");
    }

    #[test]
    fn texts_of_every_kind_have_the_tokens_that_others_count() {
        for text in [
            "",
            " ",
            "a",
            "Hello, world!",
            "fn main() {\n    println!(\"{:?}\", 12345678);\n}\n\n\n",
            "don't WE'LL I'VE it's 'tis ſ'ſ",
            "trailing white space   \n\t  ",
            "  \r\n\r\n  x",
            "über Größe naïve Ελληνικά русский 日本語のテキスト 한국어 العربية हिन्दी",
            "👩‍👩‍👧‍👦 🇩🇪 e\u{301} \u{200b} \u{feff}",
            "0123456789 ½ ⅷ ١٢٣ 3.14159e-10",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
            "<|endoftext|> <|im_start|>",
            "________________________________________________________________ ======",
            "\u{0}\u{1}\u{7f}",
        ] {
            same(text);
            same(&text.repeat(7));
        }
        same(include_str!("vocabulary.rs"));
        same(&"antidisestablishmentarianism".repeat(500));
    }

    #[test]
    fn a_piece_without_end_is_counted_in_parts() {
        let text = "ab".repeat(3 * MOST_MERGED);
        let other = bpe_openai::cl100k_base().count(text.as_str()) as u64;
        let cuts = (text.len() / MOST_MERGED) as u64;
        assert!((other..=other + cuts).contains(&count(&text)));
    }

    proptest! {
        #[test]
        fn any_text_has_the_tokens_that_others_count(text in "(\\PC|[a-z ]{3}|\\s|[0-9]{2}){0,80}") {
            same(&text);
        }

        #[test]
        fn any_bytes_that_are_text_have_the_tokens_that_others_count(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            same(&String::from_utf8_lossy(&bytes));
        }
    }
}
