//! Resuming from the tail of a file (M5).

use std::path::Path;

use bytes::Bytes;
use longhaul_core::message::LineScanner;
use longhaul_core::transcript::{ResolvedConversation, TranscriptTable};
use longhaul_store::{LineReader, resume, resume_lines};
use longhaul_testkit::session::{CompactionSchedule, Feature, KeptRounds, SessionSpec};

/// Offsets of the live view and its size in tokens, found by reading the whole file.
fn whole(path: &Path) -> (Vec<u64>, u64) {
    let mut lines = LineReader::open(path).unwrap();
    let mut table = TranscriptTable::default();
    let mut scanner = LineScanner::default();
    while let Some(line) = lines.next().unwrap() {
        if let Ok(facets) = scanner.scan(line.bytes) {
            table.push(line.number, line.offset, facets.view(line.bytes));
        }
    }
    let conversation = ResolvedConversation::resolve(&table, &mut Vec::new());
    let rows = &conversation.view().rows;
    let offsets = rows
        .iter()
        .map(|row| table.rows()[*row as usize].offset)
        .collect();
    (offsets, conversation.ledger(&table).context().tokens())
}

/// Checks that a resume finds what reading the whole file finds; returns where it began to read.
pub(crate) fn check(bytes: &[u8], name: &str) -> u64 {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    let resumed = resume(file.path()).unwrap();
    let (offsets, tokens) = whole(file.path());
    assert_eq!(resumed.offsets, offsets, "{name}");
    assert_eq!(resumed.ledger.context().tokens(), tokens, "{name}");
    for (entry, offset) in resumed.entries.iter().zip(&resumed.offsets) {
        assert!(
            bytes[*offset as usize..].starts_with(entry.bytes()),
            "{name}"
        );
    }
    resumed.read_from
}

#[test]
fn m5_a_resume_finds_the_same_view_as_reading_the_whole_file() {
    for seed in 0..8 {
        for kept in [
            KeptRounds::Nothing,
            KeptRounds::AfterSummary,
            KeptRounds::AfterBoundary,
            KeptRounds::Listed,
        ] {
            let spec = SessionSpec::new(seed, 40)
                .kept(kept)
                .compaction(CompactionSchedule::EveryRounds(9));
            let spec = if seed % 2 == 0 {
                spec.with(Feature::Branches)
            } else {
                spec
            };
            let session = spec.generate();
            let from = check(&session.bytes, &format!("seed {seed}, {kept:?}"));
            let last = session.truth.boundaries.last().unwrap();
            if kept == KeptRounds::Nothing {
                assert_eq!(
                    from, last.offset as u64,
                    "not a byte before the boundary is kept"
                );
            } else {
                assert!(from > 0, "seed {seed}, {kept:?}: the whole file was read");
            }
        }
    }
}

#[test]
fn m5_lines_that_were_kept_elsewhere_resume_as_a_file_does() {
    for seed in 0..4 {
        let spec = SessionSpec::new(seed, 40).compaction(CompactionSchedule::EveryRounds(9));
        let bytes = spec.with(Feature::Branches).generate().bytes;
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &bytes).unwrap();
        let from_file = resume(file.path()).unwrap();
        let lines = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        let lines = lines.split(|byte| *byte == b'\n');
        let lines: Vec<Bytes> = lines.map(Bytes::copy_from_slice).collect();
        let from_lines = resume_lines(&lines).unwrap();
        assert_eq!(from_lines.entries, from_file.entries, "seed {seed}");
        assert_eq!(from_lines.offsets, from_file.offsets, "seed {seed}");
        assert_eq!(from_lines.preserved, from_file.preserved, "seed {seed}");
    }
}

#[test]
fn m5_a_resume_is_the_same_wherever_the_file_ends() {
    let spec = SessionSpec::new(21, 30)
        .kept(KeptRounds::AfterSummary)
        .compaction(CompactionSchedule::EveryRounds(8));
    let session = spec.with(Feature::Branches).generate();
    let ends: Vec<usize> = memchr::memchr_iter(b'\n', &session.bytes)
        .map(|at| at + 1)
        .collect();
    for end in ends.iter().step_by(3) {
        check(&session.bytes[..*end], &format!("cut at {end}"));
        // The file is torn inside the next line.
        check(
            &session.bytes[..(*end + 40).min(session.bytes.len())],
            &format!("torn after {end}"),
        );
    }
}

#[test]
fn m5_real_sessions_resume_from_their_tails() {
    let Some(files) = longhaul_testkit::corpora::claude_code_transcripts() else {
        return;
    };
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        let name = file.display().to_string();
        let from = check(&bytes, &name);
        let last_boundary = memchr::memmem::rfind(&bytes, b"\"subtype\":\"compact_boundary\"");
        if let Some(at) = last_boundary {
            let line = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |end| end + 1);
            assert_eq!(from, line as u64, "{name}");
        }
        let ends: Vec<usize> = memchr::memchr_iter(b'\n', &bytes)
            .map(|at| at + 1)
            .collect();
        for end in ends.iter().step_by(ends.len() / 12 + 1) {
            check(&bytes[..*end], &format!("{name} cut at {end}"));
        }
    }
}

#[test]
fn m5_a_rewind_to_before_the_boundary_reads_back_as_far_as_it_must() {
    let session = SessionSpec::new(4, 24)
        .compaction(CompactionSchedule::EveryRounds(10))
        .generate();
    let [first, .., last] = &session.truth.boundaries[..] else {
        panic!("two boundaries")
    };
    let text = String::from_utf8(session.bytes.clone()).unwrap();
    // The summary after the first boundary, long before the last.
    let line = text.lines().nth(first.summary_line - 1).unwrap();
    let parent = line
        .split("\"uuid\":\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    let rewound = crate::support::entry("another-way", Some(parent));
    let from = check(format!("{text}{rewound}\n").as_bytes(), "rewound");
    assert_eq!(from, first.offset as u64);
    assert!(from < last.offset as u64);
}

#[test]
fn m5_an_empty_file_resumes_to_an_empty_view() {
    assert_eq!(check(b"", "empty"), 0);
    assert_eq!(check(b"\n\n", "blank"), 0);
}

#[test]
fn m7_a_resume_finds_the_head_just_before_its_view_or_inside_it() {
    let head = r#"{"type":"request-head","sessionId":"s","system":"x","tools":[],"userContext":"","settings":{}}"#;
    let session = SessionSpec::new(6, 20)
        .compaction(CompactionSchedule::EveryRounds(8))
        .generate();
    let boundary = session.truth.boundaries.last().unwrap().line;
    let text = String::from_utf8(session.bytes).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for place in [boundary - 1, boundary, boundary + 3] {
        let mut with_head = lines.clone();
        with_head.insert(place, head);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), with_head.join("\n") + "\n").unwrap();
        let resumed = resume(file.path()).unwrap();
        assert_eq!(
            resumed.request_prefix.unwrap().entry.bytes(),
            head,
            "at {place}"
        );
        assert!(resumed.read_from > 0);
    }
}

#[test]
fn m7_a_head_that_lies_far_before_the_view_is_not_searched_for() {
    let head = r#"{"type":"request-head","sessionId":"s","system":"x","tools":[],"userContext":"","settings":{}}"#;
    let session = SessionSpec::new(6, 20)
        .compaction(CompactionSchedule::EveryRounds(8))
        .generate();
    let boundary = session.truth.boundaries.last().unwrap().line;
    let text = String::from_utf8(session.bytes).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.insert(boundary - 5, head);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), lines.join("\n") + "\n").unwrap();
    let resumed = resume(file.path()).unwrap();
    assert!(
        resumed.request_prefix.is_none()
            && resumed.replay().is_none()
            && resumed.assembly().is_none()
    );
}

#[test]
fn m7_a_head_that_says_too_little_is_told_apart_from_none() {
    let head = r#"{"type":"request-head","sessionId":"s","system":"x","tools":[]}"#;
    let file = tempfile::NamedTempFile::new().unwrap();
    let entry = crate::support::entry("u", None);
    std::fs::write(file.path(), format!("{head}\n{entry}\n")).unwrap();
    let resumed = resume(file.path()).unwrap();
    assert_eq!(resumed.replay().unwrap().unwrap_err().part, "settings");
}
