//! Edit: exact and unique matches, line ends kept, and helpful errors.

use longhaul_agent::tool::ToolCallOutput;
use proptest::prelude::*;
use serde_json::json;

use super::desk::{Desk, desk, holds};

async fn edit(desk: &Desk, old: &str, new: &str) -> ToolCallOutput {
    desk.read("a.txt").await;
    let input = json!({"file_path": "a.txt", "old_string": old, "new_string": new});
    desk.call("Edit", input).await
}

#[tokio::test]
async fn q1_edit_changes_the_one_place() {
    let desk = desk();
    desk.put("a.txt", "fn one() {}\nfn two() {}\n");
    let output = edit(&desk, "two", "three").await;
    assert_eq!(output.content, "Changed a.txt at line 2.");
    assert_eq!(output.line, "1 change");
    insta::assert_snapshot!("diff", output.detail);
    assert_eq!(desk.content("a.txt"), "fn one() {}\nfn three() {}\n");
}

#[tokio::test]
async fn q1_edit_wants_to_know_which_place() {
    let desk = desk();
    desk.put("a.txt", "x = 1\ny = 2\nx = 1\n");
    let output = edit(&desk, "x = 1", "x = 3").await;
    assert!(output.is_error);
    holds(
        output.content.as_str().unwrap(),
        &["2 times (lines 1, 3)", "replace_all"],
    );
    let all = json!({"file_path": "a.txt", "old_string": "x = 1", "new_string": "x = 3", "replace_all": "true"});
    assert_eq!(
        desk.ok("Edit", all).await,
        "Changed a.txt at 2 places, the first at line 1."
    );
    assert_eq!(desk.content("a.txt"), "x = 3\ny = 2\nx = 3\n");
}

#[tokio::test]
async fn q1_edit_refuses_what_changes_nothing() {
    let desk = desk();
    desk.put("a.txt", "one");
    holds(
        edit(&desk, "one", "one").await.content.as_str().unwrap(),
        &["nothing to change"],
    );
    holds(
        edit(&desk, "", "one").await.content.as_str().unwrap(),
        &["old_string is empty"],
    );
}

#[tokio::test]
async fn q1_edit_names_the_nearest_line() {
    let desk = desk();
    desk.put(
        "a.txt",
        "struct Point {\n    x: i32,\n    height: u64,\n}\n",
    );
    let spaces = edit(&desk, "\theight: u64,", "y").await;
    insta::assert_snapshot!("white_space", spaces.content.as_str().unwrap());
    let like = edit(&desk, "    heigth: u46,", "y").await;
    insta::assert_snapshot!("nearest", like.content.as_str().unwrap());
    let unlike = edit(&desk, "something else entirely", "y").await;
    insta::assert_snapshot!("unlike", unlike.content.as_str().unwrap());
}

#[tokio::test]
async fn q1_edit_keeps_crlf_and_bom() {
    let desk = desk();
    desk.put("a.txt", "\u{FEFF}one\r\ntwo\r\nthree\r\n");
    assert!(!edit(&desk, "one\ntwo", "1\n2\n2.5").await.is_error);
    assert_eq!(desk.content("a.txt"), "\u{FEFF}1\r\n2\r\n2.5\r\nthree\r\n");
    assert!(!edit(&desk, "three", "3\n4").await.is_error);
    assert_eq!(desk.content("a.txt"), "\u{FEFF}1\r\n2\r\n2.5\r\n3\r\n4\r\n");
}

#[tokio::test]
async fn q1_edit_leaves_other_line_ends_alone() {
    let desk = desk();
    desk.put("a.txt", "one\r\ntwo\nthree\nfour\n");
    assert!(!edit(&desk, "three\nfour", "3\n4").await.is_error);
    assert_eq!(desk.content("a.txt"), "one\r\ntwo\n3\n4\n");
}

#[tokio::test]
async fn q1_edit_with_nothing_to_find_makes_a_new_file() {
    let desk = desk();
    let input = json!({"file_path": "new.txt", "old_string": "", "new_string": "x"});
    assert_eq!(desk.ok("Edit", input).await, "Created new.txt.");
    assert_eq!(desk.content("new.txt"), "x");
}

#[tokio::test]
async fn q1_edit_refuses_what_is_not_utf8() {
    let desk = desk();
    desk.put("a.txt", b"caf\xe9 one\n");
    let output = edit(&desk, "one", "two").await;
    holds(output.content.as_str().unwrap(), &["not valid UTF-8"]);
    assert_eq!(
        std::fs::read(desk.folder.join("a.txt")).unwrap(),
        b"caf\xe9 one\n"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn q1_edit_touches_nothing_but_the_place(
        before in "[a-c\r\n]{0,40}",
        after in "[a-c\r\n]{0,40}",
        new in "[a-c]{0,9}",
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let desk = desk();
        desk.put("a.txt", format!("{before}MARK{after}"));
        let output = runtime.block_on(edit(&desk, "MARK", &new));
        prop_assert!(!output.is_error);
        prop_assert_eq!(desk.content("a.txt"), format!("{before}{new}{after}"));
    }
}
