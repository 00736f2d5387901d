//! What the model knows about files: stubs, refusals, stale hints.

use serde_json::json;

use super::desk::{desk, holds};

const STUB: &str = "File unchanged since";

#[tokio::test]
async fn w1_reading_the_same_again_gives_a_stub() {
    let desk = desk();
    desk.put("a.txt", "one\ntwo\n");
    desk.read("a.txt").await;
    assert!(desk.read("a.txt").await.starts_with(STUB));
    assert!(
        desk.read("./a.txt").await.starts_with(STUB),
        "by another name, too"
    );
    let part = desk
        .ok("Read", json!({"file_path": "a.txt", "offset": 2}))
        .await;
    holds(&part, &["two"]);
}

#[tokio::test]
async fn w1_the_stub_is_one_that_the_engine_knows() {
    let desk = desk();
    desk.put("a.txt", "one\n");
    desk.read("a.txt").await;
    let output = desk.call("Read", json!({"file_path": "a.txt"})).await;
    let sent = serde_json::to_string(&output.content).unwrap();
    assert!(sent.starts_with("\"File unchanged since"), "{sent}");
    let text = output.content.as_str().unwrap();
    let (before, rest) = text.split_once(" at ").unwrap();
    let (_, after) = rest.split_once(" UTC").unwrap();
    insta::assert_snapshot!("unchanged", format!("{before} at {{time}}{after}"));
}

#[tokio::test]
async fn w1_the_content_decides_and_not_the_time() {
    let desk = desk();
    let path = desk.put("a.txt", "one\n");
    desk.read("a.txt").await;
    let changed = std::fs::metadata(&path).unwrap().modified().unwrap();
    // The time differs, but the content is the same.
    let later = changed + std::time::Duration::from_secs(5);
    std::fs::File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_modified(later)
        .unwrap();
    assert!(desk.read("a.txt").await.starts_with(STUB));
    // The size and the time are the same, but the content differs.
    desk.put("a.txt", "eno\n");
    std::fs::File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_modified(later)
        .unwrap();
    holds(&desk.read("a.txt").await, &["eno"]);
}

#[tokio::test]
async fn w1_after_a_compaction_the_content_comes_again() {
    let desk = desk();
    let kept = desk.put("kept.txt", "kept\n");
    desk.put("lost.txt", "lost\n");
    desk.read("kept.txt").await;
    desk.read("lost.txt").await;
    desk.files.compacted(&[kept]);
    let edit =
        |name: &str, old: &str| json!({"file_path": name, "old_string": old, "new_string": "new"});
    holds(
        &desk.refused("Edit", edit("lost.txt", "lost")).await,
        &["Read it first"],
    );
    desk.ok("Edit", edit("kept.txt", "kept")).await;
    holds(&desk.read("kept.txt").await, &["new"]);
    holds(&desk.read("lost.txt").await, &["lost"]);
}

#[tokio::test]
async fn w1_a_restored_file_can_be_read_in_full() {
    let desk = desk();
    let path = desk.put("a.txt", "one\n");
    desk.read("a.txt").await;
    desk.files.compacted(&[path]);
    holds(&desk.read("a.txt").await, &["one"]);
}

#[tokio::test]
async fn w1_what_was_cleared_from_the_window_is_shown_again() {
    let desk = desk();
    desk.put("a.txt", "one\n");
    desk.read("a.txt").await;
    desk.files.cleared(&["another"]);
    assert!(desk.read("a.txt").await.starts_with(STUB));
    desk.files.cleared(&["call_1"]);
    holds(&desk.read("a.txt").await, &["one"]);
}

#[tokio::test]
async fn w1_unread_and_changed_files_are_not_overwritten() {
    let desk = desk();
    desk.put("a.txt", "one\n");
    let write = json!({"file_path": "a.txt", "content": "mine"});
    let edit = json!({"file_path": "a.txt", "old_string": "one", "new_string": "two"});
    holds(
        &desk.refused("Write", write.clone()).await,
        &["has not been read yet"],
    );
    holds(
        &desk.refused("Edit", edit.clone()).await,
        &["has not been read yet"],
    );
    desk.read("a.txt").await;
    desk.put("a.txt", "one more\n");
    holds(
        &desk.refused("Write", write).await,
        &["has changed on disk", "Read it again"],
    );
    holds(
        &desk.refused("Edit", edit.clone()).await,
        &["has changed on disk"],
    );
    assert_eq!(desk.content("a.txt"), "one more\n");
    desk.read("a.txt").await;
    desk.ok("Edit", edit).await;
    assert_eq!(desk.content("a.txt"), "two more\n");
}

#[tokio::test]
async fn w1_what_the_model_wrote_it_may_change_and_read() {
    let desk = desk();
    desk.ok("Write", json!({"file_path": "a.txt", "content": "one\n"}))
        .await;
    desk.ok(
        "Edit",
        json!({"file_path": "a.txt", "old_string": "one", "new_string": "two"}),
    )
    .await;
    desk.ok("Write", json!({"file_path": "a.txt", "content": "three\n"}))
        .await;
    holds(&desk.read("a.txt").await, &["three"]);
}

#[tokio::test]
async fn w1_a_clone_goes_its_own_way() {
    let desk = desk();
    desk.put("a.txt", "one\n");
    desk.read("a.txt").await;
    let fork = (*desk.files).clone();
    fork.compacted(&[]);
    assert!(desk.read("a.txt").await.starts_with(STUB));
}

#[tokio::test]
async fn w2_a_command_names_the_read_files_that_it_changed_once() {
    let desk = desk();
    desk.put("a.txt", "one\n");
    desk.put("b.txt", "one\n");
    desk.put("unread.txt", "one\n");
    desk.read("a.txt").await;
    desk.read("b.txt").await;
    let text = desk
        .bash("echo two >> a.txt; echo two >> unread.txt; touch -d 2001-01-01 b.txt; echo done")
        .await;
    insta::assert_snapshot!("stale", text);
    assert_eq!(desk.bash("echo again").await, "again");
    desk.read("a.txt").await;
    holds(
        &desk.bash("rm a.txt").await,
        &["Changed on disk since you read them: a.txt"],
    );
}

#[tokio::test]
async fn w2_the_models_own_writes_are_not_stale() {
    let desk = desk();
    desk.put("a.txt", "one\n");
    desk.read("a.txt").await;
    desk.ok(
        "Edit",
        json!({"file_path": "a.txt", "old_string": "one", "new_string": "two"}),
    )
    .await;
    assert!(desk.files.stale().is_empty());
    desk.put("a.txt", "three\n");
    assert_eq!(desk.files.stale(), [desk.folder.join("a.txt")]);
    assert!(desk.files.stale().is_empty(), "named once");
}
