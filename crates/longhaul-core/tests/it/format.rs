//! Tests the detection of a file's format.

use longhaul_core::transcript::format::{DetectedFormat, recognize};

fn is_foreign(bytes: &[u8], word: &str) {
    match recognize(bytes) {
        DetectedFormat::Foreign(foreign) => assert!(
            foreign.what.contains(word),
            "{} is not {word}",
            foreign.what
        ),
        verdict => panic!("{word}: {verdict:?}"),
    }
}

#[test]
fn m3_a_transcript_is_told_by_any_entry_near_its_beginning() {
    let entry = r#"{"parentUuid":null,"type":"user","uuid":"u","message":{"content":"hi"}}"#;
    assert_eq!(recognize(entry.as_bytes()), DetectedFormat::Transcript);
    assert_eq!(
        recognize(format!("garbage\n{entry}\n").as_bytes()),
        DetectedFormat::Transcript
    );
    assert_eq!(
        recognize(format!("\u{feff}\r\n\r\n{entry}").as_bytes()),
        DetectedFormat::Transcript
    );
    assert_eq!(
        recognize(br#"{"type":"summary","summary":"A title","leafUuid":"x"}"#),
        DetectedFormat::Transcript
    );
    assert_eq!(
        recognize(br#"{"type":"queue-operation","operation":"enqueue","sessionId":"s"}"#),
        DetectedFormat::Transcript
    );
}

#[test]
fn m4_what_is_empty_or_torn_is_not_judged_by_its_beginning() {
    assert_eq!(recognize(b""), DetectedFormat::Unclear);
    assert_eq!(recognize(b"\n\n  \n"), DetectedFormat::Unclear);
    assert_eq!(
        recognize(br#"{"parentUuid":null,"type":"us"#),
        DetectedFormat::Unclear
    );
}

#[test]
fn m3_other_formats_are_told_by_name() {
    is_foreign(
        br#"{"timestamp":"t","type":"session_meta","payload":{"id":"x"}}"#,
        "Codex",
    );
    is_foreign(
        b"{\n  \"environment\": \"main\",\n  \"trajectory\": [\n",
        "SWE-agent",
    );
    is_foreign(
        br#"{"type":"system","subtype":"init","session_id":"s","tools":[]}"#,
        "stream-json",
    );
    is_foreign(br#"{"messages": [{"role":"user"}]}"#, "API request");
    is_foreign(b"# aider chat started at 2026-01-01\n", "aider");
    is_foreign(&[0x1f, 0x8b, 8, 0, 0], "compressed");
    is_foreign(b"SQLite format 3\0rest", "SQLite");
    is_foreign(&[0, 1, 2, 3, 200, 201, 255, 254], "binary");
    is_foreign(b"[{\"role\":\"user\"}]", "array");
    is_foreign(b"{\"a\":1}\n{\"a\":2}\n", "JSON lines");
    is_foreign(b"{\n\"a\": 1\n}\n", "JSON document");
    is_foreign(b"once upon a time\n", "text");
}

#[test]
fn m3_every_file_of_the_corpora_is_told_rightly() {
    let Some(files) = longhaul_testkit::corpora::all_files() else {
        return;
    };
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        let head = &bytes[..bytes
            .len()
            .min(longhaul_core::transcript::format::HEAD_BYTES)];
        let name = file.display().to_string();
        let is_transcript = name.contains("claude-code") && name.ends_with(".jsonl");
        match recognize(head) {
            DetectedFormat::Transcript => assert!(is_transcript, "{name}"),
            DetectedFormat::Foreign(foreign) => assert!(!is_transcript, "{name}: {}", foreign.what),
            // This is a document of one long line, which only further reading can identify.
            DetectedFormat::Unclear => assert!(!is_transcript, "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}
