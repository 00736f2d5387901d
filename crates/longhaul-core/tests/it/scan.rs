//! Tests lines as entries.

use bytes::Bytes;
use longhaul_core::message::{BlockKind, Entry, EntryKind, LineDamage, LineScanner, Subtype};
use longhaul_core::tokens::RoughEstimator;

fn read(line: &str) -> Entry {
    Entry::read(Bytes::copy_from_slice(line.as_bytes())).unwrap()
}

/// Returns the estimate for each block of a message with this content.
fn weights(content: &str) -> Vec<u64> {
    let entry = read(&format!(
        r#"{{"type":"user","message":{{"content":{content}}}}}"#
    ));
    let blocks = &entry.facets().blocks;
    let outer = blocks.iter().enumerate().filter(|(_, block)| !block.inner);
    outer
        .map(|(at, block)| RoughEstimator.block(block, &blocks[at + 1..]).unpadded())
        .collect()
}

#[test]
fn m1_kinds_ids_and_flags_are_found() {
    let entry = read(concat!(
        r#"{"parentUuid":"p","isSidechain":true,"type":"user","isMeta":true,"isCompactSummary":true,"#,
        r#""isVisibleInTranscriptOnly":true,"message":{"role":"user","content":"hi"},"uuid":"u","#,
        r#""timestamp":"2026-01-23T14:21:43.537Z","sessionId":"s"}"#
    ));
    let facets = entry.facets();
    assert_eq!(facets.kind, EntryKind::User);
    assert!(
        facets.flags.sidechain
            && facets.flags.meta
            && facets.flags.compact_summary
            && facets.flags.transcript_only
    );
    assert_eq!(entry.view().text(facets.uuid), "u");
    assert_eq!(entry.view().text(facets.parent), "p");
    assert_eq!(entry.view().text(facets.session), "s");
    assert_eq!(
        entry.view().timestamp().unwrap().as_millisecond(),
        1_769_178_103_537
    );
    let kinds = [
        ("user", EntryKind::User),
        ("assistant", EntryKind::Assistant),
        ("system", EntryKind::System),
        ("attachment", EntryKind::Attachment),
        ("progress", EntryKind::Progress),
        ("summary", EntryKind::Summary),
        ("queue-operation", EntryKind::Other),
    ];
    for (name, kind) in kinds {
        assert_eq!(read(&format!(r#"{{"type":"{name}"}}"#)).facets().kind, kind);
    }
    let boundary = read(r#"{"type":"system","subtype":"compact_boundary"}"#);
    assert_eq!(boundary.facets().subtype, Subtype::CompactBoundary);
}

#[test]
fn m1_an_error_message_and_a_synthetic_one_are_no_replies() {
    let reply = r#"{"type":"assistant","message":{"id":"m","model":"claude-opus-4-5"}}"#;
    assert!(read(reply).facets().is_reply());
    let error = r#"{"type":"assistant","isApiErrorMessage":true,"message":{"id":"m","model":"x"}}"#;
    assert!(!read(error).facets().is_reply());
    let synthetic = r#"{"type":"assistant","isApiErrorMessage":false,"message":{"id":"m","model":"<synthetic>"}}"#;
    assert!(!read(synthetic).facets().is_reply());
}

#[test]
fn m2_unknown_fields_and_types_stay_in_the_bytes() {
    let line = r#" {"type":"hologram" , "future":{"x":[1,2.50,"\u00e9"]},"message":{"content":[{"type":"smell","notes":"rose"}]}}"#;
    let entry = read(line);
    assert_eq!(entry.bytes(), line);
    assert_eq!(entry.facets().blocks[0].kind, BlockKind::Other);
    assert_eq!(
        entry.facets().blocks[0].span.of(entry.bytes()),
        br#"{"type":"smell","notes":"rose"}"#
    );
}

#[test]
fn m2_blocks_are_ranges_of_the_line() {
    let entry = read(concat!(
        r#"{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"hm","signature":"s"},"#,
        r#"{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"a"}} ]}}"#
    ));
    let [thinking, call] = entry.facets().blocks[..] else {
        panic!()
    };
    assert_eq!(thinking.kind, BlockKind::Thinking);
    assert_eq!(call.kind, BlockKind::ToolUse);
    assert_eq!(entry.view().text(call.id), "t1");
    assert_eq!(entry.view().text(call.name), "Read");
    assert_eq!(call.body.of(entry.bytes()), br#"{"file_path":"a"}"#);
}

#[test]
fn m2_the_last_of_a_repeated_key_counts() {
    let entry = read(
        r#"{"type":"user","type":"assistant","message":{"content":"a"},"message":{"content":[{"type":"text","text":"bc"}]}}"#,
    );
    assert_eq!(entry.facets().kind, EntryKind::Assistant);
    assert_eq!(entry.facets().blocks.len(), 1);
    assert_eq!(entry.facets().blocks[0].units, 2);
}

#[test]
fn m4_damage_is_named() {
    let scan = |bytes: &[u8]| LineScanner::default().scan(bytes).map(drop).unwrap_err();
    assert!(matches!(
        scan(b"{\"a\":\"\xFF\"}"),
        LineDamage::InvalidUtf8(6)
    ));
    assert!(matches!(scan(b"garbage"), LineDamage::NotJson(_)));
    assert_eq!(scan(b"[1,2]"), LineDamage::NotAnObject);
    assert_eq!(scan(b"17"), LineDamage::NotAnObject);
    assert!(matches!(scan(b"{} {}"), LineDamage::TrailingGarbage(_)));
    let torn = br#"{"type":"user","message":{"content":"so far, so \"#;
    for end in 1..torn.len() {
        assert!(
            scan(&torn[..end]).is_cut_off(),
            "{}",
            String::from_utf8_lossy(&torn[..end])
        );
    }
    assert!(!scan(b"{\"a\":nope}").is_cut_off());
}

#[test]
fn m4_hostile_nesting_costs_no_stack() {
    let deep = |open: &str, close: &str, n: usize| format!("{}{}", open.repeat(n), close.repeat(n));
    let nested = deep(
        r#"[{"type":"tool_result","tool_use_id":"t","content":"#,
        "}]",
        50_000,
    )
    .replace(r#""content":}"#, r#""content":[]}"#);
    let line = format!(r#"{{"type":"user","message":{{"content":{nested}}}}}"#);
    assert!(LineScanner::default().scan(line.as_bytes()).is_ok());
    let steps = format!(
        r#"{}{}"#,
        r#"{"iterations":["#.repeat(50_000),
        "]}".repeat(50_000)
    );
    let line = format!(r#"{{"type":"assistant","message":{{"usage":{steps}}}}}"#);
    assert!(LineScanner::default().scan(line.as_bytes()).is_ok());
}

#[test]
fn t2_a_block_is_a_quarter_of_its_utf16_length_rounded_half_up() {
    assert_eq!(weights(r#""12345""#), [1]);
    assert_eq!(weights(r#""123456""#), [2]);
    assert_eq!(
        weights(r#"[{"type":"text","text":"ééééé\n"},{"type":"text","text":"😀"}]"#),
        [2, 1]
    );
}

#[test]
fn t2_pictures_and_documents_are_two_thousand() {
    let picture = r#"{"type":"image","source":{"data":"AAAA"}}"#;
    assert_eq!(weights(&format!("[{picture}]")), [2_000]);
    assert_eq!(weights(r#"[{"type":"document","source":{}}]"#), [2_000]);
    // The same holds inside a result.
    let inside = format!(
        r#"[{{"type":"tool_result","tool_use_id":"t","content":[{{"type":"text","text":"12345678"}},{picture}]}}]"#
    );
    assert_eq!(weights(&inside), [2_002]);
}

#[test]
fn t2_a_call_is_its_name_and_serialized_input() {
    // Read + {"file_path":"a/b"} is 4 + 19 units, however it was written.
    assert_eq!(
        weights(r#"[{"type":"tool_use","id":"t","name":"Read","input":{"file_path":"a/b"}}]"#),
        [6]
    );
    assert_eq!(
        weights(r#"[{"type":"tool_use","id":"t","name":"Read","input":{ "file_path" : "a\/b" }}]"#),
        [6]
    );
}

#[test]
fn t2_a_result_is_its_content_and_other_blocks_their_serialized_form() {
    assert_eq!(
        weights(r#"[{"type":"tool_result","tool_use_id":"t","content":"12345678"}]"#),
        [2]
    );
    assert_eq!(
        weights(r#"[{"content":"12345678","tool_use_id":"t","type":"tool_result"}]"#),
        [2]
    );
    assert_eq!(
        weights(r#"[{"type":"tool_result","tool_use_id":"t"}]"#),
        [0]
    );
    let thinking = r#"{"type":"thinking","thinking":"hm","signature":"abc"}"#;
    assert_eq!(
        weights(&format!("[{thinking}]")),
        [(thinking.len() as u64 + 2) / 4]
    );
    let unknown = r#"{"type":"web_search_tool_result","content":[{"type":"text","text":"x"}]}"#;
    assert_eq!(
        weights(&format!("[{unknown}]")),
        [(unknown.len() as u64 + 2) / 4]
    );
}

#[test]
fn t2_the_sum_is_padded_by_a_third_and_rounded_up() {
    use longhaul_core::tokens::Estimate;
    assert_eq!(Estimate::new(3).padded(), 4);
    assert_eq!(Estimate::new(4).padded(), 6);
    assert_eq!((Estimate::new(1) + Estimate::new(1)).padded(), 3);
    assert_eq!(Estimate::ZERO.padded(), 0);
}
