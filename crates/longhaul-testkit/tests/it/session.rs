//! Generated sessions: deterministic, well-formed, shaped like real ones, and true to their `Truth`.

use std::collections::{BTreeMap, BTreeSet};

use longhaul_testkit::session::{
    CacheTtl, CompactionSchedule, ExpectedUsage, KeptRounds, TranscriptRole,
};
use longhaul_testkit::{Feature, GeneratedSession, SessionSpec};

use crate::reader::{Entry, check_calls, check_chain, live, read};

/// Checks that everything a reader could recompute matches the truth.
fn check(session: &GeneratedSession) -> Vec<Entry> {
    let entries = read(&session.bytes);
    let truth = &session.truth;
    check_chain(&entries);
    check_calls(&entries);
    assert_eq!(entries.len(), truth.lines);
    assert_eq!(live(&entries), truth.live);
    assert!(
        entries
            .iter()
            .filter_map(|entry| entry.text("sessionId"))
            .all(|id| id == truth.session_id)
    );

    let own = entries
        .iter()
        .all(|entry| entry.text("uuid").is_none() || entry.is_sidechain());
    let mut usage: BTreeMap<&str, (bool, usize, ExpectedUsage)> = BTreeMap::new();
    let mut calls: BTreeMap<String, usize> = BTreeMap::new();
    let mut reads = BTreeSet::new();
    let mut duplicates = 0;
    for entry in &entries {
        let main = own || !entry.is_sidechain();
        for block in entry
            .blocks()
            .filter(|block| main && block["type"] == "tool_use")
        {
            *calls
                .entry(block["name"].as_str().unwrap().to_owned())
                .or_default() += 1;
            if block["name"] == "Read" && !reads.insert(block["input"].to_string()) {
                duplicates += 1;
            }
        }
        let Some(id) = entry
            .message_id()
            .filter(|_| entry.json["isApiErrorMessage"] != true)
        else {
            continue;
        };
        let count = |path: &str| {
            entry
                .json
                .pointer(&format!("/message/usage/{path}"))
                .unwrap()
                .as_u64()
                .unwrap()
        };
        let found = ExpectedUsage {
            input: count("input_tokens"),
            cache_read: count("cache_read_input_tokens"),
            cache_write_5m: count("cache_creation/ephemeral_5m_input_tokens"),
            cache_write_1h: count("cache_creation/ephemeral_1h_input_tokens"),
            output: count("output_tokens"),
        };
        assert_eq!(
            count("cache_creation_input_tokens"),
            found.cache_write_5m + found.cache_write_1h
        );
        let known = usage.entry(id).or_insert((main, entry.line, found));
        known.2.output = known.2.output.max(found.output);
    }
    let sum = |of_main: bool| {
        usage.values().filter(|(main, ..)| *main == of_main).fold(
            ExpectedUsage::default(),
            |mut sum, (_, _, one)| {
                sum.input += one.input;
                sum.cache_read += one.cache_read;
                sum.cache_write_5m += one.cache_write_5m;
                sum.cache_write_1h += one.cache_write_1h;
                sum.output += one.output;
                sum
            },
        )
    };
    assert_eq!(sum(true), truth.usage);
    assert_eq!(sum(false), truth.sidechain_usage);
    assert_eq!(
        usage.values().filter(|(main, ..)| *main).count(),
        truth.rounds
    );
    assert_eq!(duplicates, truth.duplicate_reads);
    let said: BTreeMap<String, usize> = truth
        .calls
        .iter()
        .map(|(name, count)| ((*name).to_owned(), *count))
        .collect();
    assert_eq!(calls, said);
    if let Some((line, anchor)) = truth.anchor {
        let id = entries[line - 1].message_id().unwrap();
        assert_eq!(usage[id], (true, line, anchor));
    }
    for boundary in &truth.boundaries {
        let entry = &entries[boundary.line - 1];
        assert_eq!(entry.text("uuid"), Some(boundary.uuid.as_str()));
        assert_eq!(
            entry.json["compactMetadata"]["preTokens"],
            boundary.pre_tokens
        );
        assert_eq!(
            entries[boundary.summary_line - 1].json["isCompactSummary"],
            true
        );
        assert!(
            session.bytes[boundary.offset..]
                .starts_with(b"{\"parentUuid\":null,\"logicalParentUuid\":")
        );
    }
    entries
}

#[test]
fn the_same_spec_gives_the_same_bytes() {
    let spec = SessionSpec::new(11, 60).kept(KeptRounds::AfterSummary);
    assert_eq!(spec.bytes(), spec.bytes());
    assert_ne!(
        spec.bytes(),
        SessionSpec::new(12, 60)
            .kept(KeptRounds::AfterSummary)
            .bytes()
    );
}

#[test]
fn bytes_do_not_change_by_accident() {
    // If this fails, the generator changed. That is allowed, but raise `FORMAT` in big/mod.rs with it.
    let bytes = SessionSpec::new(1, 40).bytes();
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    });
    assert_eq!(
        format!("{:x} {}", hash, bytes.len()),
        "33959a1e23661d97 1103753"
    );
}

#[test]
fn sessions_of_every_kind_are_what_their_truth_says() {
    for seed in 0..5 {
        for kept in [
            KeptRounds::Nothing,
            KeptRounds::AfterSummary,
            KeptRounds::AfterBoundary,
            KeptRounds::Listed,
        ] {
            let spec = SessionSpec::new(seed, 60)
                .kept(kept)
                .compaction(CompactionSchedule::EveryRounds(17));
            let session = spec.generate();
            check(&session);
            assert!(session.truth.boundaries.len() >= 3);
            let kept_some = session
                .truth
                .boundaries
                .iter()
                .any(|boundary| !boundary.kept.is_empty());
            assert_eq!(kept_some, kept != KeptRounds::Nothing);
        }
        check(
            &SessionSpec::new(seed, 30)
                .role(TranscriptRole::SubAgent)
                .generate(),
        );
        check(&SessionSpec::new(seed, 30).plain().generate());
    }
}

#[test]
fn a_session_of_one_round_is_a_session() {
    let session = SessionSpec::new(3, 1).plain().generate();
    assert_eq!(check(&session).len(), 2);
    assert_eq!(session.truth.live, [1, 2]);
    assert!(SessionSpec::new(3, 0).plain().bytes().is_empty());
}

/// Whether a line shows that a feature is on.
fn shows(feature: Feature, session: &GeneratedSession) -> bool {
    let text = String::from_utf8_lossy(&session.bytes);
    match feature {
        Feature::Thinking => text.contains("\"type\":\"thinking\""),
        Feature::ParallelCalls => read(&session.bytes).windows(2).any(|pair| {
            pair[0].message_id().is_some()
                && pair[0].message_id() == pair[1].message_id()
                && pair
                    .iter()
                    .all(|entry| entry.blocks().any(|block| block["type"] == "tool_use"))
        }),
        Feature::ToolUseResult => text.contains("\"toolUseResult\":"),
        Feature::HookProgress => text.contains("\"hook_progress\""),
        Feature::BashProgress => text.contains("\"bash_progress\""),
        Feature::AgentProgress => text.contains("\"agent_progress\""),
        Feature::Snapshots => text.contains("\"file-history-snapshot\""),
        Feature::SystemLines => {
            text.contains("\"turn_duration\"") && text.contains("\"stop_hook_summary\"")
        }
        Feature::Attachments => text.contains("\"type\":\"attachment\""),
        Feature::Sidechains => text.contains("\"isSidechain\":true"),
        Feature::Images => text.contains("\"media_type\":\"image/png\""),
        Feature::Meta => text.contains("\"isMeta\":true"),
        Feature::DuplicateReads => session.truth.duplicate_reads > 0,
        Feature::NonAscii => text.contains("港口"),
        Feature::ToolErrors => text.contains("\"is_error\":true"),
        Feature::ApiErrors => text.contains("<synthetic>"),
        Feature::QueueOperations => text.contains("\"queue-operation\""),
        Feature::Titles => text.contains("\"type\":\"summary\""),
        Feature::Microcompact => !session.truth.clearings.is_empty(),
        Feature::Branches => {
            let entries = read(&session.bytes);
            let prompts: Vec<_> = entries
                .iter()
                .filter(|entry| entry.json.get("permissionMode").is_some())
                .collect();
            let parents: BTreeSet<_> = prompts
                .iter()
                .map(|entry| entry.text("parentUuid"))
                .collect();
            parents.len() < prompts.len()
        }
        Feature::IdleGaps => {
            let hours: Vec<String> = read(&session.bytes)
                .iter()
                .filter_map(|entry| entry.text("timestamp").map(|at| at[..13].to_owned()))
                .collect();
            hours
                .windows(2)
                .any(|pair| pair[0][..10] != pair[1][..10] || hour(&pair[1]) > hour(&pair[0]) + 1)
        }
        Feature::PartialUsage => {
            let entries = read(&session.bytes);
            entries.windows(2).any(|pair| {
                pair[0].message_id().is_some()
                    && pair[0].message_id() == pair[1].message_id()
                    && pair[0].json.pointer("/message/usage/output_tokens")
                        != pair[1].json.pointer("/message/usage/output_tokens")
            })
        }
        other => panic!("no sign known for {other:?}"),
    }
}

fn hour(stamp: &str) -> u32 {
    stamp[11..13].parse().unwrap()
}

#[test]
fn each_feature_can_be_switched_on_alone_and_off_alone() {
    for feature in Feature::ALL {
        let common = matches!(
            feature,
            Feature::Thinking
                | Feature::ParallelCalls
                | Feature::ToolUseResult
                | Feature::HookProgress
                | Feature::BashProgress
                | Feature::Snapshots
                | Feature::SystemLines
                | Feature::Microcompact
        );
        let rounds = if common { 120 } else { 500 };
        let alone = SessionSpec::new(5, rounds).plain().with(feature).generate();
        check(&alone);
        assert!(shows(feature, &alone), "{feature:?} alone");
        let without = SessionSpec::new(5, 60).without(feature).generate();
        check(&without);
        assert!(!shows(feature, &without), "without {feature:?}");
    }
}

#[test]
fn usage_grows_like_a_real_session_and_drops_at_a_boundary() {
    let session = SessionSpec::new(4, 600)
        .without(Feature::Branches)
        .without(Feature::Microcompact)
        .generate();
    check(&session);
    assert!(!session.truth.boundaries.is_empty());
    for boundary in &session.truth.boundaries {
        assert!(
            (167_000..220_000).contains(&boundary.pre_tokens),
            "{}",
            boundary.pre_tokens
        );
    }
    let reads = session.truth.usage.cache_read as f64;
    let all = (session.truth.usage.context() - session.truth.usage.output) as f64;
    assert!(reads / all > 0.75, "cache hit rate {}", reads / all);
    let hour = SessionSpec::new(4, 30)
        .cache_ttl(CacheTtl::OneHour)
        .generate()
        .truth
        .usage;
    assert!(hour.cache_write_5m == 0 && hour.cache_write_1h > 0);
}

#[test]
fn lines_are_as_long_and_as_full_of_escapes_as_real_ones() {
    let bytes = SessionSpec::new(8, 900).bytes();
    let mut lengths: Vec<usize> = bytes
        .split_inclusive(|byte| *byte == b'\n')
        .map(<[u8]>::len)
        .collect();
    lengths.sort_unstable();
    let mean = bytes.len() / lengths.len();
    let median = lengths[lengths.len() / 2];
    let spacing = bytes.len() / bytes.iter().filter(|byte| **byte == b'\\').count();
    let foreign = bytes.iter().filter(|byte| !byte.is_ascii()).count() as f64 / bytes.len() as f64;
    let shape = format!(
        "mean {mean}, median {median}, an escape every {spacing}, {:.2}% not ASCII",
        foreign * 100.0
    );
    println!("{shape}");
    assert!((1_900..2_500).contains(&mean), "{shape}");
    assert!((550..900).contains(&median), "{shape}");
    assert!((22..45).contains(&spacing), "{shape}");
    assert!((0.005..0.03).contains(&foreign), "{shape}");
}
