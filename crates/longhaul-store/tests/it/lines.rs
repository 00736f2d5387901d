//! Forward reading.

use std::io::{Cursor, Read};

use longhaul_store::{LineEnding, LineReader};
use proptest::prelude::*;

use crate::support::{Dribble, messy_bytes};

type Owned = (u64, u64, Vec<u8>, LineEnding);

fn all(mut reader: LineReader<impl Read>) -> (Vec<Owned>, bool) {
    let mut lines = Vec::new();
    while let Some(line) = reader.next().unwrap() {
        lines.push((line.number, line.offset, line.bytes.to_vec(), line.ending));
    }
    (lines, reader.had_bom())
}

#[test]
fn m4_lines_are_numbered_and_their_ends_kept_apart() {
    let bytes = b"\xEF\xBB\xBFone\r\n\ntwo\r \nlast\r";
    let (lines, bom) = all(LineReader::new(&bytes[..]));
    assert!(bom);
    let expected = vec![
        (1, 3, b"one".to_vec(), LineEnding::CrLf),
        (2, 8, b"".to_vec(), LineEnding::Lf),
        (3, 9, b"two\r ".to_vec(), LineEnding::Lf),
        (4, 15, b"last\r".to_vec(), LineEnding::None),
    ];
    assert_eq!(lines, expected);
}

#[test]
fn m4_an_empty_file_and_a_lone_bom_have_no_lines() {
    assert_eq!(all(LineReader::new(&b""[..])), (vec![], false));
    assert_eq!(all(LineReader::new(&b"\xEF\xBB\xBF"[..])), (vec![], true));
    assert_eq!(all(LineReader::new(&b"\xEF\xBB"[..])).0.len(), 1);
}

#[test]
fn m4_a_line_of_a_hundred_megabytes_is_read_whole() {
    let mut bytes = b"first\n".to_vec();
    bytes.resize(bytes.len() + 100_000_000, b'x');
    bytes.extend_from_slice(b"\nlast\n");
    let mut reader = LineReader::new(&bytes[..]);
    assert_eq!(reader.next().unwrap().unwrap().bytes, b"first");
    assert_eq!(reader.next().unwrap().unwrap().bytes.len(), 100_000_000);
    let last = reader.next().unwrap().unwrap();
    assert_eq!((last.number, last.bytes), (3, &b"last"[..]));
    assert!(reader.next().unwrap().is_none());
    assert_eq!(reader.offset(), bytes.len() as u64);
}

#[test]
fn m5_reading_can_start_at_any_line() {
    let bytes = b"\xEF\xBB\xBFone\ntwo\n\xEF\xBB\xBFthree";
    let reader = LineReader::starting_at(Cursor::new(bytes), 11).unwrap();
    let (lines, bom) = all(reader);
    assert_eq!(
        lines,
        vec![(1, 11, b"\xEF\xBB\xBFthree".to_vec(), LineEnding::None)]
    );
    assert!(!bom, "a mark inside the file is no byte order mark");
    let from_start = LineReader::starting_at(Cursor::new(bytes), 0).unwrap();
    assert!(all(from_start).1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn m4_lines_put_together_are_the_file_however_it_is_read(
        bytes in messy_bytes(),
        step in prop_oneof![1_usize..9, 1_000_usize..100_000],
        buffer in prop_oneof![0_usize..9, 1_000_usize..100_000],
    ) {
        let step = if bytes.len() > 10_000 { step.max(500) } else { step };
        let dribble = Dribble { bytes: &bytes, step, calls: 0 };
        let (lines, bom) = all(LineReader::with_buffer(dribble, buffer));
        let mut whole = if bom { b"\xEF\xBB\xBF".to_vec() } else { Vec::new() };
        for (index, (number, offset, line, ending)) in lines.iter().enumerate() {
            prop_assert_eq!(*number, index as u64 + 1);
            prop_assert_eq!(*offset, whole.len() as u64);
            prop_assert!(!line.contains(&b'\n'));
            whole.extend_from_slice(line);
            whole.extend_from_slice(ending.bytes());
        }
        prop_assert!(whole == bytes, "not the same bytes");
        prop_assert_eq!(lines, all(LineReader::new(&bytes[..])).0);
    }
}
