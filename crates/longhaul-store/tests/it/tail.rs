//! Backward reading.

use std::io::{Cursor, Read, Seek, SeekFrom};

use longhaul_store::{LineEnding, LineReader, TailReader};
use proptest::prelude::*;

use longhaul_testkit::corpora::corpora;

use crate::support::{files_below, messy_bytes};

type Owned = (u64, Vec<u8>, LineEnding);

fn forward(bytes: &[u8]) -> (Vec<Owned>, bool) {
    let mut reader = LineReader::new(bytes);
    let mut lines = Vec::new();
    while let Some(line) = reader.next().unwrap() {
        lines.push((line.offset, line.bytes.to_vec(), line.ending));
    }
    (lines, reader.had_bom())
}

fn backward(bytes: &[u8]) -> (Vec<Owned>, bool) {
    let mut reader = TailReader::new(Cursor::new(bytes)).unwrap();
    let mut lines = Vec::new();
    while let Some(line) = reader.next().unwrap() {
        lines.push((line.offset, line.bytes.to_vec(), line.ending));
    }
    assert!(reader.next().unwrap().is_none(), "the end stays the end");
    lines.reverse();
    (lines, reader.had_bom())
}

/// Counts how often each byte is read.
struct Counting {
    inner: Cursor<Vec<u8>>,
    reads: Vec<u8>,
}

impl Read for Counting {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let at = usize::try_from(self.inner.position()).unwrap();
        let read = self.inner.read(into)?;
        for count in &mut self.reads[at..at + read] {
            *count += 1;
        }
        Ok(read)
    }
}

impl Seek for Counting {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.inner.seek(to)
    }
}

fn counting(bytes: Vec<u8>) -> TailReader<Counting> {
    let reads = vec![0; bytes.len()];
    let inner = Cursor::new(bytes);
    TailReader::new(Counting { inner, reads }).unwrap()
}

#[test]
fn m5_the_last_lines_of_a_large_file_cost_one_block() {
    let mut bytes = b"x\n".repeat(5_000_000);
    bytes.extend_from_slice(b"last\n{\"torn");
    let size = bytes.len() as u64;
    let mut tail = counting(bytes);
    let torn = tail.next().unwrap().unwrap();
    assert_eq!(
        (torn.bytes, torn.ending),
        (&b"{\"torn"[..], LineEnding::None)
    );
    assert_eq!(tail.next().unwrap().unwrap().bytes, b"last");
    assert_eq!(tail.read_down_to(), size - (64 << 10));
}

#[test]
fn m5_each_byte_is_read_once_even_of_a_line_of_a_hundred_megabytes() {
    let mut bytes = b"first\n".to_vec();
    bytes.resize(bytes.len() + 100_000_000, b'x');
    bytes.extend_from_slice(b"\r\nlast");
    let mut tail = counting(bytes);
    assert_eq!(tail.next().unwrap().unwrap().bytes, b"last");
    let long = tail.next().unwrap().unwrap();
    assert_eq!(
        (long.bytes.len(), long.ending),
        (100_000_000, LineEnding::CrLf)
    );
    assert_eq!(tail.next().unwrap().unwrap().bytes, b"first");
    assert!(tail.next().unwrap().is_none());
    let reads = tail.into_inner().reads;
    assert!(reads.iter().all(|count| *count == 1));
}

#[test]
fn m5_real_transcripts_read_backwards_are_the_same_lines() {
    let Some(corpora) = corpora() else { return };
    for path in files_below(&corpora) {
        let bytes = std::fs::read(&path).unwrap();
        assert!(forward(&bytes) == backward(&bytes), "{}", path.display());
    }
}

#[test]
fn m5_a_line_may_end_exactly_where_a_block_begins() {
    for extra in 0..6 {
        for end in [&b"\n"[..], b"\r\n", b""] {
            let mut bytes = b"\xEF\xBB\xBFab\r\n".to_vec();
            bytes.resize(bytes.len() + (64 << 10) - extra, b'y');
            bytes.extend_from_slice(end);
            assert!(forward(&bytes) == backward(&bytes), "{extra} {end:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn m5_lines_read_backwards_are_the_lines_read_forwards(bytes in messy_bytes()) {
        prop_assert!(forward(&bytes) == backward(&bytes));
    }
}
