//! Big files: as large as requested, deterministic, one chain, distinct ids, and a tail that does not depend on the
//! rest.

use std::collections::BTreeSet;

use longhaul_testkit::big::{BigFile, BigFileBoundaries, BigSpec};

use crate::reader::{check_chain, live, read};

fn written(min_bytes: u64, boundaries: BigFileBoundaries) -> (Vec<u8>, BigFile) {
    let mut bytes = Vec::new();
    let file = BigSpec {
        seed: 9,
        min_bytes,
        boundaries,
    }
    .write_to(&mut bytes)
    .unwrap();
    assert_eq!(file.bytes, bytes.len() as u64);
    assert!(file.bytes >= min_bytes);
    (bytes, file)
}

#[test]
fn blocks_follow_each_other_on_one_chain_with_distinct_ids() {
    for boundaries in [
        BigFileBoundaries::None,
        BigFileBoundaries::Natural,
        BigFileBoundaries::LastBefore(200_000),
    ] {
        let (bytes, file) = written(15 << 20, boundaries);
        let entries = read(&bytes);
        assert_eq!(entries.len() as u64, file.lines);
        check_chain(&entries);
        let sessions: BTreeSet<_> = entries
            .iter()
            .filter_map(|entry| entry.text("sessionId"))
            .collect();
        assert_eq!(sessions.len(), 1);
        let mut calls = BTreeSet::new();
        for block in entries
            .iter()
            .flat_map(|entry| entry.blocks())
            .filter(|block| block["type"] == "tool_use")
        {
            assert!(
                calls.insert(block["id"].as_str().unwrap()),
                "a tool id twice"
            );
        }
        let stamps: Vec<_> = entries
            .iter()
            .filter_map(|entry| entry.text("timestamp"))
            .collect();
        assert!(stamps.is_sorted());
        let found = entries
            .iter()
            .filter(|entry| entry.text("subtype") == Some("compact_boundary"))
            .count();
        assert_eq!(found == 0, boundaries == BigFileBoundaries::None);
        let last = entries.iter().rev().find_map(|entry| entry.text("uuid"));
        assert_eq!(last, Some(&*file.last_uuid));
        assert!(!live(&entries).is_empty());
    }
}

#[test]
fn the_tail_is_the_same_whatever_comes_before_it() {
    let (small, small_file) = written(2 << 20, BigFileBoundaries::LastBefore(300_000));
    let (large, large_file) = written(14 << 20, BigFileBoundaries::LastBefore(300_000));
    let tail = |bytes: &[u8], file: &BigFile| bytes[file.tail_offset.unwrap() as usize..].to_vec();
    assert_eq!(tail(&small, &small_file), tail(&large, &large_file));
    assert!(tail(&small, &small_file).len() >= 300_000);
    assert_eq!(
        tail(&small, &small_file)
            .windows(18)
            .filter(|bytes| bytes == b"\"compact_boundary\"")
            .count(),
        1
    );
    assert!(
        tail(&small, &small_file).starts_with(b"{\"parentUuid\":null,\"logicalParentUuid\":\"")
    );
    assert_eq!(small_file.last_uuid, large_file.last_uuid);
    let live_lines = |bytes: &[u8]| live(&read(bytes)).len();
    assert_eq!(live_lines(&small), live_lines(&large));
}

#[test]
fn the_same_spec_gives_the_same_file() {
    assert_eq!(
        written(3 << 20, BigFileBoundaries::Natural),
        written(3 << 20, BigFileBoundaries::Natural)
    );
    let folder = tempfile::tempdir().unwrap();
    let spec = BigSpec {
        seed: 9,
        min_bytes: 1 << 20,
        boundaries: BigFileBoundaries::Natural,
    };
    let path = spec.cached_in(folder.path()).unwrap();
    assert_eq!(
        std::fs::read(&path).unwrap(),
        written(1 << 20, BigFileBoundaries::Natural).0
    );
    let before = std::fs::metadata(&path).unwrap().modified().unwrap();
    assert_eq!(spec.cached_in(folder.path()).unwrap(), path);
    assert_eq!(
        std::fs::metadata(&path).unwrap().modified().unwrap(),
        before
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
