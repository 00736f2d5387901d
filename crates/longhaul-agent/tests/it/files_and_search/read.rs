//! Read: ranges, pictures, documents, and what it refuses.

use longhaul_agent::tool::ToolAccess;
use serde_json::json;

use super::desk::{desk, holds};

/// A picture of 3 × 2 pixels.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x03\0\0\0\x02\x08\x06\0\0\0\0\0\0\0";

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut png = PNG.to_vec();
    png[16..20].copy_from_slice(&width.to_be_bytes());
    png[20..24].copy_from_slice(&height.to_be_bytes());
    png
}

#[tokio::test]
async fn q1_read_numbers_lines_and_reads_ranges() {
    let desk = desk();
    desk.put("a.txt", "one\ntwo\nthree\n");
    assert_eq!(
        desk.read("a.txt").await,
        "     1\tone\n     2\ttwo\n     3\tthree\n"
    );
    let part = desk
        .ok(
            "Read",
            json!({"file_path": "a.txt", "offset": 2, "limit": 1}),
        )
        .await;
    assert_eq!(part, "     2\ttwo\n\n(2 of 3 lines; read on with offset 3)");
    let text = desk
        .ok(
            "Read",
            json!({"file_path": "a.txt", "offset": "3", "limit": 5.0}),
        )
        .await;
    assert_eq!(text, "     3\tthree\n");
}

#[tokio::test]
async fn q1_read_shows_two_thousand_lines_of_two_thousand_characters() {
    let desk = desk();
    desk.put("many.txt", "x\n".repeat(2_500));
    let text = desk.read("many.txt").await;
    assert!(text.ends_with("  2000\tx\n\n(2000 of 2500 lines; read on with offset 2001)"));
    desk.put("long.txt", format!("{}\nshort\n", "é".repeat(5_000)));
    let text = desk.read("long.txt").await;
    assert_eq!(text.matches('é').count(), 2_000);
    holds(&text, &["     2\tshort", "lines cut at 2000 characters: 1"]);
    assert!(!text.contains("UTF-8"));
}

#[tokio::test]
async fn q1_read_bounds_one_answer() {
    let desk = desk();
    desk.put("wide.txt", format!("{}\n", "y".repeat(1_900)).repeat(130));
    let text = desk.read("wide.txt").await;
    assert!(text.len() < 140 << 10);
    holds(&text, &["of 130 lines; read on with offset"]);
}

#[tokio::test]
async fn q1_read_says_what_an_invalid_range_means() {
    let desk = desk();
    desk.put("a.txt", "one\ntwo");
    let text = desk
        .ok("Read", json!({"file_path": "a.txt", "offset": 9}))
        .await;
    assert_eq!(
        text,
        "The file has 2 lines; line 9 is behind its end. Nothing is shown."
    );
    let first = desk
        .ok(
            "Read",
            json!({"file_path": "a.txt", "offset": 0, "limit": 0}),
        )
        .await;
    holds(&first, &["     1\tone"]);
    let all = desk
        .ok(
            "Read",
            json!({"file_path": "a.txt", "offset": 1, "limit": u64::MAX}),
        )
        .await;
    holds(&all, &["     2\ttwo"]);
    let far = desk
        .ok(
            "Read",
            json!({"file_path": "a.txt", "offset": u64::MAX, "limit": u64::MAX}),
        )
        .await;
    holds(&far, &["is behind its end"]);
    desk.put("empty.txt", "");
    assert_eq!(desk.read("empty.txt").await, "The file is empty.");
    holds(
        &desk
            .refused("Read", json!({"file_path": "a.txt", "offset": -3}))
            .await,
        &["does not fit"],
    );
}

#[tokio::test]
async fn q1_read_takes_crlf_bom_and_what_is_not_utf8() {
    let desk = desk();
    desk.put("dos.txt", "\u{FEFF}one\r\ntwo\r\n");
    assert_eq!(desk.read("dos.txt").await, "     1\tone\n     2\ttwo\n");
    desk.put("latin.txt", b"caf\xe9\n");
    let text = desk.read("latin.txt").await;
    holds(&text, &["caf\u{FFFD}", "not valid UTF-8"]);
}

#[tokio::test]
async fn q1_read_shows_pictures_by_what_they_are() {
    let desk = desk();
    desk.put("misnamed.txt", PNG);
    let output = desk
        .call("Read", json!({"file_path": "misnamed.txt"}))
        .await;
    assert_eq!(output.content[0]["type"], "image");
    assert_eq!(output.content[0]["source"]["media_type"], "image/png");
    assert_eq!(output.line, "3 × 2 pixels");
    desk.put("big.png", png(9_000, 10));
    holds(
        &desk.refused("Read", json!({"file_path": "big.png"})).await,
        &["9,000 × 10", "8,000"],
    );
    desk.put("heavy.png", [PNG, &vec![1; 8_000_000]].concat());
    holds(
        &desk
            .refused("Read", json!({"file_path": "heavy.png"}))
            .await,
        &["8.0 MB", "7.5 MB"],
    );
}

#[tokio::test]
async fn q1_read_never_makes_a_request_of_many_pictures_invalid() {
    let desk = desk();
    desk.put("large.png", png(3_000, 10));
    assert!(
        !desk
            .call("Read", json!({"file_path": "large.png"}))
            .await
            .is_error
    );
    for number in 1..20 {
        desk.put("small.png", png(10, number));
        assert!(
            !desk
                .call("Read", json!({"file_path": "small.png"}))
                .await
                .is_error
        );
    }
    desk.put("small.png", png(11, 1));
    holds(
        &desk
            .refused("Read", json!({"file_path": "small.png"}))
            .await,
        &["more than 20 pictures"],
    );
    desk.files.compacted(&[]);
    assert!(
        !desk
            .call("Read", json!({"file_path": "small.png"}))
            .await
            .is_error
    );
}

#[tokio::test]
async fn q1_read_shows_documents() {
    let desk = desk();
    desk.put("paper.pdf", b"%PDF-1.7\n\0\0");
    let output = desk.call("Read", json!({"file_path": "paper.pdf"})).await;
    assert_eq!(output.content[0]["type"], "document");
    assert_eq!(output.content[0]["source"]["media_type"], "application/pdf");
}

#[tokio::test]
async fn q1_read_refuses_binaries_folders_and_what_is_not_there() {
    let desk = desk();
    desk.put("program", b"\x7fELF\0\0\0");
    desk.put("folder/file", "x");
    holds(
        &desk.refused("Read", json!({"file_path": "program"})).await,
        &["binary file of 7 bytes"],
    );
    holds(
        &desk.refused("Read", json!({"file_path": "folder"})).await,
        &["is a folder", "Glob"],
    );
    holds(
        &desk.refused("Read", json!({"file_path": "none"})).await,
        &["does not exist"],
    );
    holds(
        &desk
            .refused("Read", json!({"file_path": "program/x"}))
            .await,
        &["a part of its path is a file"],
    );
}

#[tokio::test]
async fn q1_read_wants_a_range_for_long_files() {
    let desk = desk();
    let path = desk.put("log.txt", "a line of the log\n".repeat(20_000));
    let why = desk.refused("Read", json!({"file_path": "log.txt"})).await;
    holds(&why, &["360.0 kB", "offset and limit", "Grep"]);
    let text = desk
        .ok(
            "Read",
            json!({"file_path": "log.txt", "offset": 19_999, "limit": 9}),
        )
        .await;
    holds(&text, &[" 20000\ta line of the log"]);
    // The file is too long to be read completely: the rest is not counted.
    let file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    file.set_len(1 << 30).unwrap();
    let text = desk
        .ok(
            "Read",
            json!({"file_path": "log.txt", "offset": 2, "limit": 1}),
        )
        .await;
    assert_eq!(
        text,
        "     2\ta line of the log\n\n(more lines follow; read on with offset 3)"
    );
}

#[test]
fn q1_read_says_what_it_touches() {
    let desk = desk();
    desk.put("sub/a.txt", "x");
    let access = desk.access("Read", json!({"file_path": "sub/../sub/./a.txt"}));
    assert_eq!(access, ToolAccess::Reads(desk.folder.join("sub/a.txt")));
    let line = desk
        .tool("Read")
        .line(&json!({"file_path": desk.folder.join("sub/a.txt"), "offset": 5, "limit": 10}));
    assert_eq!(line, "sub/a.txt (5-14)");
}
