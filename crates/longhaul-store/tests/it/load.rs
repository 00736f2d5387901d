//! Reading a whole file and writing it back.

use longhaul_core::message::LineDamage;
use longhaul_store::{LineEnding, LoadedContent, LoadedTranscript, load, load_from, write_back};
use proptest::prelude::*;

use longhaul_testkit::corpora::corpora;

use crate::support::{Dribble, entry, files_below, messy_bytes};

fn written(loaded: &LoadedTranscript) -> Vec<u8> {
    let mut out = Vec::new();
    write_back(loaded, &mut out).unwrap();
    out
}

#[test]
fn m2_every_file_of_the_corpora_is_written_back_byte_for_byte() {
    let Some(corpora) = corpora() else { return };
    for path in files_below(&corpora) {
        let loaded = load(&path).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert!(written(&loaded) == bytes, "{}", path.display());
        assert_eq!(loaded.size(), bytes.len() as u64);
        if path
            .extension()
            .is_some_and(|extension| extension == "jsonl")
        {
            let damaged = loaded
                .damaged()
                .next()
                .map(|(line, damage)| (line.number, damage));
            assert_eq!(damaged, None, "{}", path.display());
        }
    }
}

#[test]
fn m4_every_kind_of_damage_is_named_with_its_line_and_the_intact_entries_load() {
    let first = entry("a", None);
    let second = entry("b", Some("a"));
    let lines: Vec<&[u8]> = vec![
        first.as_bytes(),
        b"",
        b"  \t",
        b"not json at all",
        b"[1,2]",
        b"{\"type\":\"user\"} and more",
        b"{\"text\":\"\xFF\xFE\"}",
        b"\0\0\0\0",
        second.as_bytes(),
        b"{\"type\":\"user\",\"mess",
    ];
    let bytes = [b"\xEF\xBB\xBF".to_vec(), lines.join(&b"\r\n"[..])].concat();
    let loaded = load_from(&bytes[..], 0).unwrap();
    assert!(loaded.had_bom());
    assert_eq!(loaded.entries().count(), 2);
    let damaged: Vec<_> = loaded.damaged().collect();
    let numbers: Vec<u64> = damaged.iter().map(|(line, _)| line.number).collect();
    assert_eq!(numbers, [4, 5, 6, 7, 8, 10]);
    assert!(matches!(damaged[0].1, LineDamage::NotJson(_)));
    assert_eq!(damaged[1].1, LineDamage::NotAnObject);
    assert!(matches!(damaged[2].1, LineDamage::TrailingGarbage(_)));
    assert_eq!(damaged[3].1, LineDamage::InvalidUtf8(9));
    assert!(damaged[5].1.is_cut_off());
    assert_eq!(damaged[5].0.ending, LineEnding::None);
    assert!(matches!(loaded.lines()[1].content, LoadedContent::Blank(_)));
    assert_eq!(written(&loaded), bytes);
}

#[test]
fn m4_a_line_of_a_hundred_megabytes_loads_among_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.jsonl");
    let long = format!(r#"{{"type":"user","text":"{}"}}"#, "é".repeat(50_000_000));
    let text = format!("{}\n{long}\n{}", entry("a", None), entry("b", Some("a")));
    std::fs::write(&path, &text).unwrap();
    let loaded = load(&path).unwrap();
    assert_eq!(loaded.entries().count(), 3);
    assert!(written(&loaded) == text.as_bytes());
}

#[test]
fn m4_lines_across_the_borders_of_chunks_stay_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.jsonl");
    let mut text = String::new();
    for index in 0..30_000 {
        let padding = "p".repeat(index % 5_000);
        text.push_str(&format!(
            r#"{{"type":"user","uuid":"{index}","text":"{padding}"}}"#
        ));
        text.push('\n');
    }
    assert!(text.len() > 70_000_000, "more than two chunks");
    std::fs::write(&path, &text).unwrap();
    let loaded = load(&path).unwrap();
    assert_eq!(loaded.entries().count(), 30_000);
    assert_eq!(
        loaded.lines().last().unwrap().end_offset(),
        text.len() as u64
    );
    assert!(written(&loaded) == text.as_bytes());
}

#[test]
fn m4_a_wrong_guess_of_the_size_changes_nothing() {
    let text = format!("{}\n", entry("a", None)).repeat(2_000);
    for guess in [0, 1, text.len() as u64, 10 * text.len() as u64] {
        let dribble = Dribble {
            bytes: text.as_bytes(),
            step: 10_000,
            calls: 0,
        };
        let loaded = load_from(dribble, guess).unwrap();
        assert_eq!(loaded.entries().count(), 2_000, "guess {guess}");
        assert!(written(&loaded) == text.as_bytes());
    }
}

#[test]
fn m4_an_empty_file_loads_as_nothing_and_a_missing_one_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("empty.jsonl");
    std::fs::write(&path, "").unwrap();
    assert!(load(&path).unwrap().lines().is_empty());
    let missing = load(&folder.path().join("none.jsonl")).unwrap_err();
    assert!(missing.to_string().contains("none.jsonl"), "{missing}");
    assert!(load(folder.path()).is_err(), "a folder is no transcript");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn m4_whatever_the_bytes_they_are_written_back(bytes in messy_bytes()) {
        let loaded = load_from(&bytes[..], bytes.len() as u64).unwrap();
        prop_assert!(written(&loaded) == bytes);
        prop_assert_eq!(loaded.size(), bytes.len() as u64);
    }
}
