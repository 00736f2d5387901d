//! Compares whole sessions with the facts that their generator knows about them.

use longhaul_testkit::session::{
    CacheTtl, CompactionSchedule, Feature, GeneratedSession, KeptRounds, SessionSpec,
    TranscriptRole,
};

use crate::lines::{inspect, live_lines};

/// Returns sessions of many shapes, small enough to be read in a moment.
fn sessions() -> impl Iterator<Item = (String, GeneratedSession)> {
    let kept = [
        KeptRounds::Nothing,
        KeptRounds::AfterSummary,
        KeptRounds::AfterBoundary,
        KeptRounds::Listed,
    ];
    let compactions = [
        CompactionSchedule::Never,
        CompactionSchedule::EveryRounds(7),
        CompactionSchedule::EveryRounds(15),
    ];
    (0..10).flat_map(move |seed| {
        kept.into_iter().flat_map(move |kept| {
            compactions.into_iter().map(move |compaction| {
                let mut spec = SessionSpec::new(seed, 40).kept(kept).compaction(compaction);
                // Each seed leaves out another feature.
                spec = spec.without(Feature::ALL[seed as usize * 2 % Feature::ALL.len()]);
                if seed % 3 == 0 {
                    spec = spec
                        .with(Feature::Branches)
                        .with(Feature::Microcompact)
                        .cache_ttl(CacheTtl::OneHour);
                }
                (
                    format!("seed {seed}, {kept:?}, {compaction:?}"),
                    spec.generate(),
                )
            })
        })
    })
}

#[test]
fn m5_the_live_view_of_any_session_is_the_one_its_generator_meant() {
    for (name, session) in sessions() {
        let (table, conversation) = live_lines(&session.bytes);
        let rows = conversation
            .view()
            .rows
            .iter()
            .map(|row| &table.rows()[*row as usize]);
        let lines: Vec<usize> = rows
            .filter(|row| row.is_sent())
            .map(|row| row.line as usize)
            .collect();
        assert_eq!(lines, session.truth.live, "{name}");
    }
}

#[test]
fn t1_the_anchor_of_any_session_is_the_one_its_generator_meant() {
    for (name, session) in sessions() {
        let report = inspect(&session.bytes);
        let anchor = session.truth.anchor.as_ref().map(|(_, usage)| usage);
        let measured = anchor.map_or(0, |usage| usage.context());
        // A reply of which only a part was recorded is estimated, and only the part before it was measured.
        let prompt = anchor.map_or(0, |usage| usage.context() - usage.output);
        let is_partial = report.partial_outputs > 0 && report.measured == prompt;
        assert!(report.measured == measured || is_partial, "{name}");
        let sum = report.measured as i64 + report.estimated;
        assert_eq!(report.context_tokens as i64, sum.max(0), "{name}");
    }
}

#[test]
fn t4_calls_usage_and_repeated_reads_of_any_session_are_counted() {
    for (name, session) in sessions() {
        let (report, truth) = (inspect(&session.bytes), &session.truth);
        assert_eq!(report.entries as usize, truth.lines, "{name}");
        assert_eq!(report.rounds as usize, truth.rounds, "{name}");
        for (tool, calls) in &truth.calls {
            assert_eq!(report.tools[*tool].calls as usize, *calls, "{name}: {tool}");
        }
        let usage = |usage: &longhaul_core::inspect::UsageReport| {
            [
                usage.input,
                usage.cache_read,
                usage.cache_write_5m,
                usage.cache_write_1h,
                usage.output,
            ]
        };
        let meant = |usage: &longhaul_testkit::session::ExpectedUsage| {
            [
                usage.input,
                usage.cache_read,
                usage.cache_write_5m,
                usage.cache_write_1h,
                usage.output,
            ]
        };
        assert_eq!(usage(&report.usage), meant(&truth.usage), "{name}");
        assert_eq!(
            usage(&report.sidechains.usage),
            meant(&truth.sidechain_usage),
            "{name}"
        );
        assert_eq!(
            report.duplicate_reads.count as usize, truth.duplicate_reads,
            "{name}"
        );
        assert_eq!(report.problems, [], "{name}");
        let boundaries: Vec<_> = report
            .boundaries
            .iter()
            .map(|boundary| boundary.line as usize)
            .collect();
        let meant: Vec<_> = truth
            .boundaries
            .iter()
            .map(|boundary| boundary.line)
            .collect();
        assert_eq!(boundaries, meant, "{name}");
        for (boundary, meant) in report.boundaries.iter().zip(&truth.boundaries) {
            assert_eq!(boundary.uuid, meant.uuid, "{name}");
            assert_eq!(boundary.pre_tokens, Some(meant.pre_tokens), "{name}");
            assert_eq!(boundary.preserved as usize, meant.kept.len(), "{name}");
        }
        assert_eq!(report.clearings.len(), truth.clearings.len(), "{name}");
    }
}

#[test]
fn m5_a_boundary_replaced_what_the_model_saw_before_it() {
    for (name, session) in sessions() {
        let report = inspect(&session.bytes);
        for boundary in &report.boundaries {
            // This is the file as it was just before the boundary was written.
            let lines = session.bytes.split_inclusive(|byte| *byte == b'\n');
            let before: Vec<u8> = lines
                .take(boundary.line as usize - 1)
                .flatten()
                .copied()
                .collect();
            let (table, conversation) = live_lines(&before);
            let rows = conversation
                .view()
                .rows
                .iter()
                .map(|row| &table.rows()[*row as usize]);
            let seen = rows.filter(|row| row.is_sent()).count() as u64;
            assert_eq!(
                boundary.replaced.entries + boundary.preserved,
                seen,
                "{name}, line {}",
                boundary.line
            );
        }
    }
}

#[test]
fn m5_a_generated_sub_agents_file_is_read_as_a_main_one() {
    let session = SessionSpec::new(3, 20)
        .role(TranscriptRole::SubAgent)
        .generate();
    let report = inspect(&session.bytes);
    assert_eq!(report.rounds as usize, session.truth.rounds);
    assert_eq!(report.sidechains.rounds, 0);
    assert_eq!(report.problems, []);
}

#[test]
fn t4_real_sessions_add_up() {
    let Some(files) = longhaul_testkit::corpora::claude_code_transcripts() else {
        return;
    };
    for file in files {
        let report = inspect(&std::fs::read(&file).unwrap());
        let name = file.display();
        let of_turns = |of: fn(&longhaul_core::inspect::UsageReport) -> u64| -> u64 {
            report.turns.iter().map(|turn| of(&turn.usage)).sum()
        };
        assert_eq!(
            of_turns(|usage| usage.cache_read),
            report.usage.cache_read,
            "{name}"
        );
        assert_eq!(
            of_turns(|usage| usage.output),
            report.usage.output,
            "{name}"
        );
        let by_tool: u64 = report.categories.tool_results_by_tool.values().sum();
        assert_eq!(by_tool, report.categories.tool_results, "{name}");
        assert_eq!(
            report.context_tokens as i64,
            report.measured as i64 + report.estimated,
            "{name}"
        );
        assert!((0.0..=1.0).contains(&report.cache_hit_rate), "{name}");
        assert!(report.messages <= report.entries, "{name}");
    }
}

#[test]
fn u2_recorded_savings_of_real_clearings_equal_our_estimate() {
    // Another program made the recorded figure over the same results, so it checks T2 independently.
    let Some(corpora) = longhaul_testkit::corpora::corpora() else {
        return;
    };
    let bytes = std::fs::read(corpora.join("claude-code/entire/b0-dc55b3a1dc-1.jsonl")).unwrap();
    let (table, _) = live_lines(&bytes);
    let results: std::collections::HashMap<_, _> = table
        .rows()
        .iter()
        .flat_map(|row| table.blocks(row))
        .filter_map(|block| block.call.map(|call| (call, block.weight.unpadded())))
        .collect();
    let clearings: Vec<_> = table
        .boundaries()
        .iter()
        .filter(|note| !note.cleared.is_empty())
        .collect();
    assert_eq!(clearings.len(), 2);
    for note in clearings {
        let saved: u64 = note.cleared.iter().map(|call| results[call]).sum();
        assert_eq!(Some(saved), note.tokens_saved);
    }
}
