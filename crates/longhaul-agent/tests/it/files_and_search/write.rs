//! Write: in one step, with permissions kept and folders created.

use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;

use super::desk::{desk, holds};

#[tokio::test]
async fn q1_write_makes_files_and_folders() {
    let desk = desk();
    let output = desk
        .call(
            "Write",
            json!({"file_path": "new/deep/a.txt", "content": "one\ntwo\n"}),
        )
        .await;
    assert_eq!(output.content, "Created new/deep/a.txt (lines: 2).");
    assert_eq!(desk.content("new/deep/a.txt"), "one\ntwo\n");
    holds(&output.detail, &["+++ b/new/deep/a.txt", "+two"]);
}

#[tokio::test]
async fn q1_write_keeps_permissions_and_leaves_nothing_beside() {
    let desk = desk();
    let path = desk.put("run.sh", "echo one\n");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o751)).unwrap();
    desk.read("run.sh").await;
    let said = desk
        .ok(
            "Write",
            json!({"file_path": "run.sh", "content": "echo two\n"}),
        )
        .await;
    assert_eq!(said, "Replaced run.sh (lines now: 1).");
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o751);
    assert_eq!(std::fs::read_dir(&desk.folder).unwrap().count(), 1);
}

#[tokio::test]
async fn q1_write_through_a_link_keeps_the_link() {
    let desk = desk();
    desk.put("real.txt", "one");
    symlink("real.txt", desk.folder.join("link")).unwrap();
    desk.read("link").await;
    desk.ok("Write", json!({"file_path": "link", "content": "two"}))
        .await;
    assert_eq!(desk.content("real.txt"), "two");
    assert!(
        std::fs::symlink_metadata(desk.folder.join("link"))
            .unwrap()
            .is_symlink()
    );
}

#[tokio::test]
async fn q1_write_refuses_folders_and_files_on_the_way() {
    let desk = desk();
    desk.put("sub/a.txt", "x");
    holds(
        &desk
            .refused("Write", json!({"file_path": "sub", "content": ""}))
            .await,
        &["is a folder"],
    );
    let why = desk
        .refused("Write", json!({"file_path": "sub/a.txt/b", "content": ""}))
        .await;
    holds(&why, &["a part of its path is a file"]);
}

#[tokio::test]
async fn q1_a_file_that_was_deleted_can_be_written_anew() {
    let desk = desk();
    let path = desk.put("a.txt", "one");
    desk.read("a.txt").await;
    std::fs::remove_file(path).unwrap();
    let edit = json!({"file_path": "a.txt", "old_string": "one", "new_string": "two"});
    holds(&desk.refused("Edit", edit).await, &["does not exist"]);
    desk.ok("Write", json!({"file_path": "a.txt", "content": "two"}))
        .await;
    assert_eq!(desk.content("a.txt"), "two");
}

#[tokio::test]
async fn q1_a_cancelled_write_does_not_happen() {
    let desk = desk();
    let call = longhaul_agent::tool::CallContext::quiet("x");
    call.cancel.cancel();
    let output = desk
        .tool("Write")
        .run(json!({"file_path": "a.txt", "content": "x"}), &call)
        .await;
    assert!(output.is_error);
    assert!(!desk.folder.join("a.txt").exists());
}
