//! Grep: modes, filters, caps.

use std::os::unix::fs::symlink;

use longhaul_agent::tool::CallContext;
use serde_json::json;

use super::desk::{Desk, desk, holds};

fn project() -> Desk {
    let desk = desk();
    desk.put("src/a.rs", "fn one() {}\nfn two() {\n    needle();\n}\n");
    desk.put("src/b.rs", "// Needle\nlet needle = 1;\nneedle\n");
    desk.put("docs/c.md", "a needle in the hay\r\n");
    desk.put("target/d.rs", "needle");
    desk.put(".hidden", "needle");
    desk.put(".git/objects", "needle");
    desk.put(".gitignore", "target\n");
    desk.put("binary", b"needle\0\0\0");
    desk
}

#[tokio::test]
async fn q1_grep_names_files_in_order_and_leaves_out_ignored_ones() {
    let desk = project();
    let text = desk.ok("Grep", json!({"pattern": "needle"})).await;
    assert_eq!(text, ".hidden\ndocs/c.md\nsrc/a.rs\nsrc/b.rs");
}

#[tokio::test]
async fn q1_grep_shows_lines_with_context_and_counts() {
    let desk = project();
    let content = json!({"pattern": "needle", "path": "src", "output_mode": "content", "-B": 1});
    let text = desk.ok("Grep", content).await;
    assert_eq!(
        text,
        "src/a.rs-2-fn two() {\nsrc/a.rs:3:    needle();\nsrc/b.rs-1-// Needle\nsrc/b.rs:2:let needle = 1;\nsrc/b.rs:3:needle"
    );
    let bare =
        json!({"pattern": "needle", "path": "docs/c.md", "output_mode": "content", "-n": false});
    assert_eq!(desk.ok("Grep", bare).await, "docs/c.md:a needle in the hay");
    let count = json!({"pattern": "needle", "output_mode": "count", "-i": true, "glob": "*.rs"});
    assert_eq!(desk.ok("Grep", count).await, "src/a.rs:1\nsrc/b.rs:3");
}

#[tokio::test]
async fn q1_grep_filters_by_glob_and_type() {
    let desk = project();
    let files = |more: serde_json::Value| {
        let mut input = json!({"pattern": "needle"});
        input
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        input
    };
    assert_eq!(
        desk.ok("Grep", files(json!({"glob": "*.md"}))).await,
        "docs/c.md"
    );
    assert_eq!(
        desk.ok("Grep", files(json!({"glob": "src/**/b*"}))).await,
        "src/b.rs"
    );
    assert_eq!(
        desk.ok("Grep", files(json!({"glob": "!*.rs"}))).await,
        ".hidden\ndocs/c.md"
    );
    assert_eq!(
        desk.ok("Grep", files(json!({"glob": "*.{md,txt}"}))).await,
        "docs/c.md"
    );
    assert_eq!(
        desk.ok("Grep", files(json!({"type": "rust"}))).await,
        "src/a.rs\nsrc/b.rs"
    );
    holds(
        &desk
            .refused("Grep", files(json!({"type": "klingon"})))
            .await,
        &["no file type"],
    );
    holds(
        &desk.refused("Grep", files(json!({"glob": "{"}))).await,
        &["glob does not work"],
    );
}

#[tokio::test]
async fn q1_grep_spans_lines_when_asked() {
    let desk = project();
    let pattern = r"two\(\) \{\n\s+needle";
    holds(
        &desk.refused("Grep", json!({"pattern": pattern})).await,
        &["does not work", "multiline"],
    );
    let input = json!({"pattern": pattern, "multiline": true, "output_mode": "content"});
    assert_eq!(
        desk.ok("Grep", input).await,
        "src/a.rs:2:fn two() {\nsrc/a.rs:3:    needle();"
    );
}

#[tokio::test]
async fn q1_grep_says_what_is_wrong_with_a_pattern() {
    let desk = desk();
    let why = desk
        .refused("Grep", json!({"pattern": "interface{}("}))
        .await;
    holds(&why, &["The pattern does not work", "backslash"]);
}

#[tokio::test]
async fn q1_grep_is_capped() {
    let desk = desk();
    desk.put("many.txt", "needle\n".repeat(1_000));
    desk.put("wide.txt", format!("needle{}\n", "x".repeat(100_000)));
    let content =
        |limit: u64| json!({"pattern": "needle", "output_mode": "content", "head_limit": limit});
    let text = desk.ok("Grep", content(3)).await;
    insta::assert_snapshot!("capped", text);
    let text = desk.ok("Grep", content(0)).await;
    assert!(text.len() < 70_000, "{}", text.len());
    let wide = json!({"pattern": "needle", "output_mode": "content", "path": "wide.txt"});
    assert!(desk.ok("Grep", wide).await.len() < 600);
    assert_eq!(
        desk.ok("Grep", json!({"pattern": "nothing"}))
            .await
            .lines()
            .count(),
        1
    );
}

#[tokio::test]
async fn q1_grep_does_not_follow_links_out() {
    let desk = desk();
    std::fs::write(desk.outside.join("secret"), "needle").unwrap();
    symlink(&desk.outside, desk.folder.join("out")).unwrap();
    symlink(desk.outside.join("secret"), desk.folder.join("file")).unwrap();
    holds(
        &desk.ok("Grep", json!({"pattern": "needle"})).await,
        &["No matches"],
    );
}

#[tokio::test]
async fn q1_grep_ends_when_it_is_cancelled() {
    let desk = project();
    let call = CallContext::quiet("x");
    call.cancel.cancel();
    let output = desk
        .tool("Grep")
        .run(json!({"pattern": "needle"}), &call)
        .await;
    assert!(output.is_error);
    holds(output.content.as_str().unwrap(), &["stopped"]);
}

#[tokio::test]
async fn q1_searches_pass_over_what_is_hidden() {
    let desk = desk();
    desk.put("hidden.txt", "a needle\n");
    desk.put("shown.txt", "a needle\n");
    assert_eq!(
        desk.ok("Grep", json!({"pattern": "needle"})).await,
        "shown.txt"
    );
    assert_eq!(
        desk.ok("Glob", json!({"pattern": "*.txt"})).await,
        "shown.txt"
    );
}

#[tokio::test]
async fn q1_grep_reads_what_is_not_utf8() {
    let desk = desk();
    desk.put("latin.txt", b"caf\xe9 needle\n");
    let input = json!({"pattern": "needle", "output_mode": "content"});
    assert_eq!(
        desk.ok("Grep", input).await,
        "latin.txt:1:caf\u{FFFD} needle"
    );
}
