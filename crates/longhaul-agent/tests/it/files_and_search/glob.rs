//! Glob: newest first, capped.

use std::time::{Duration, SystemTime};

use serde_json::json;

use super::desk::{Desk, desk, holds};

fn aged(desk: &Desk, name: &str, seconds: u64) {
    let path = desk.put(name, "x");
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + seconds);
    std::fs::File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_modified(then)
        .unwrap();
}

#[tokio::test]
async fn q1_glob_names_the_newest_first() {
    let desk = desk();
    aged(&desk, "src/old.rs", 1);
    aged(&desk, "new.rs", 3);
    aged(&desk, "src/deep/mid.rs", 2);
    aged(&desk, "target/no.rs", 9);
    desk.put(".gitignore", "target\n");
    assert_eq!(
        desk.ok("Glob", json!({"pattern": "*.rs"})).await,
        "new.rs\nsrc/deep/mid.rs\nsrc/old.rs"
    );
    assert_eq!(
        desk.ok("Glob", json!({"pattern": "src/*.rs"})).await,
        "src/old.rs"
    );
    assert_eq!(
        desk.ok("Glob", json!({"pattern": "**/m*.rs", "path": "src"}))
            .await,
        "src/deep/mid.rs"
    );
    let absolute = format!("{}/src/**/*.rs", desk.folder.display());
    assert_eq!(
        desk.ok("Glob", json!({"pattern": absolute})).await,
        "src/deep/mid.rs\nsrc/old.rs"
    );
    let named = format!("{}/src/old.rs", desk.folder.display());
    assert_eq!(
        desk.ok("Glob", json!({"pattern": named})).await,
        "src/old.rs"
    );
}

#[tokio::test]
async fn q1_glob_names_a_hundred() {
    let desk = desk();
    for number in 0..120 {
        aged(&desk, &format!("{number:03}.txt"), number);
    }
    let text = desk.ok("Glob", json!({"pattern": "*.txt"})).await;
    assert_eq!(text.lines().count(), 101);
    assert!(text.starts_with("119.txt\n"));
    holds(&text, &["020.txt\n(the newest 100 of 120;"]);
}

#[tokio::test]
async fn q1_glob_refuses_what_cannot_be_meant() {
    let desk = desk();
    desk.put("a.txt", "x");
    holds(
        &desk.refused("Glob", json!({"pattern": "../*"})).await,
        &["Give the folder as path"],
    );
    holds(
        &desk
            .refused("Glob", json!({"pattern": "*", "path": "a.txt"}))
            .await,
        &["is not a folder"],
    );
    holds(
        &desk
            .refused("Glob", json!({"pattern": "*", "path": "none"}))
            .await,
        &["does not exist"],
    );
    holds(
        &desk.refused("Glob", json!({"pattern": "{a"})).await,
        &["does not work"],
    );
    holds(
        &desk.ok("Glob", json!({"pattern": "*.none"})).await,
        &["No files match"],
    );
}
