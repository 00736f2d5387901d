//! Tests that the facts of whole sessions, generated and recorded, hold all that the user wrote.

use longhaul_core::facts::session_rows;
use longhaul_core::message::EntryKind;
use longhaul_testkit::session::{CompactionSchedule, Feature, KeptRounds, SessionSpec};

use super::{entries, session_facts, texts, typed_lines};
use crate::lines::live_lines;

#[test]
fn x1_every_prompt_of_any_generated_session_is_in_its_facts() {
    for seed in 0..20 {
        let kept = [
            KeptRounds::Nothing,
            KeptRounds::AfterSummary,
            KeptRounds::AfterBoundary,
            KeptRounds::Listed,
        ][seed as usize % 4];
        let spec = SessionSpec::new(seed, 60)
            .compaction(CompactionSchedule::EveryRounds(11))
            .kept(kept)
            .without(Feature::Branches);
        let session = spec.generate();
        let facts = session_facts(&session.bytes);
        let queued = entries(&session.bytes)
            .iter()
            .filter(|entry| {
                entry.facets().kind == EntryKind::Attachment
                    && entry
                        .bytes()
                        .windows(14)
                        .any(|part| part == b"queued_command")
            })
            .count();
        let meant = typed_lines(&session.bytes);
        let found: std::collections::BTreeSet<_> = texts(&facts).into_iter().collect();
        for (line, text) in &meant {
            assert!(found.contains(text.as_str()), "seed {seed}, line {line}");
        }
        assert_eq!(facts.messages().len(), meant.len() + queued, "seed {seed}");
    }
}

#[test]
fn x1_abandoned_branches_of_generated_sessions_are_left_out() {
    let mut fewer = 0;
    for seed in 0..12 {
        let session = SessionSpec::new(seed, 60)
            .with(Feature::Branches)
            .compaction(CompactionSchedule::EveryRounds(13))
            .generate();
        let facts = session_facts(&session.bytes);
        fewer += usize::from(facts.messages().len() < typed_lines(&session.bytes).len());
        // Messages that the model still sees belong to the session in any case.
        let found: std::collections::BTreeSet<_> = texts(&facts).into_iter().collect();
        for (line, text) in typed_lines(&session.bytes) {
            if session.truth.live.contains(&line) {
                assert!(found.contains(text.as_str()), "seed {seed}, line {line}");
            }
        }
    }
    assert!(fewer > 0, "some branch was abandoned");
}

#[test]
fn x1_every_user_message_of_real_sessions_is_in_their_facts() {
    let Some(files) = longhaul_testkit::corpora::claude_code_transcripts() else {
        return;
    };
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        let (table, conversation) = live_lines(&bytes);
        let rows: std::collections::BTreeSet<u64> = session_rows(&table, &conversation)
            .iter()
            .map(|row| table.rows()[*row as usize].line)
            .collect();
        let facts = session_facts(&bytes);
        let found: std::collections::BTreeSet<_> = texts(&facts).into_iter().collect();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let mut abandoned = 0;
        for (line, text) in typed_lines(&bytes) {
            if rows.contains(&(line as u64)) {
                assert!(found.contains(text.as_str()), "{name}, line {line}: {text}");
            } else {
                abandoned += 1;
            }
        }
        println!(
            "{name}: {} messages, {abandoned} abandoned, {} rules, {} files, {} open todos, {} turned down, ledger {} bytes",
            facts.messages().len(),
            facts.rules().len(),
            facts.file_count(),
            facts.open_todos().count(),
            facts.cancelled().len(),
            facts.to_ledger().unwrap().get().len(),
        );
    }
}
