//! Special files, huge files and unreadable files.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;

use serde_json::json;

use super::desk::{desk, fifo, holds};

#[tokio::test]
async fn q1_nothing_that_blocks_or_never_ends_is_opened() {
    let desk = desk();
    fifo(&desk.folder.join("pipe"));
    let _socket = UnixListener::bind(desk.folder.join("socket")).unwrap();
    symlink("/dev/zero", desk.folder.join("zero")).unwrap();
    symlink("/proc/self/mem", desk.folder.join("memory")).unwrap();
    let paths = [
        "pipe",
        "socket",
        "zero",
        "memory",
        "/dev/zero",
        "/dev/full",
        "/dev/stdin",
        "/proc/self/environ",
        "/dev/tty",
    ];
    for path in paths {
        for (tool, input) in [
            ("Read", json!({"file_path": path})),
            ("Read", json!({"file_path": path, "offset": 1, "limit": 1})),
            ("Write", json!({"file_path": path, "content": "x"})),
            (
                "Edit",
                json!({"file_path": path, "old_string": "x", "new_string": "y"}),
            ),
        ] {
            let why = desk.refused(tool, input).await;
            assert!(
                why.contains("is not a regular file") || why.contains("does not exist"),
                "{path}: {why}"
            );
        }
    }
    holds(
        &desk
            .refused("Grep", json!({"pattern": "x", "path": "pipe"}))
            .await,
        &["is not a regular file"],
    );
    holds(
        &desk.ok("Grep", json!({"pattern": "x"})).await,
        &["No matches"],
    );
    holds(
        &desk.ok("Glob", json!({"pattern": "*"})).await,
        &["No files"],
    );
}

#[tokio::test]
async fn q1_a_gigabyte_of_nothing_is_refused_at_once() {
    let desk = desk();
    let path = desk.folder.join("sparse");
    std::fs::File::create(&path)
        .unwrap()
        .set_len(1 << 30)
        .unwrap();
    for input in [
        json!({"file_path": "sparse"}),
        json!({"file_path": "sparse", "offset": 5, "limit": 2}),
    ] {
        holds(
            &desk.refused("Read", input).await,
            &["binary file of 1.1 GB"],
        );
    }
    holds(
        &desk.ok("Grep", json!({"pattern": "x"})).await,
        &["No matches"],
    );
}

#[tokio::test]
async fn q1_one_line_of_a_gigabyte_takes_no_memory() {
    let desk = desk();
    let path = desk.put("line.txt", "a".repeat(20_000));
    std::fs::File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_len(200 << 20)
        .unwrap();
    let text = desk
        .ok(
            "Read",
            json!({"file_path": "line.txt", "offset": 1, "limit": 1}),
        )
        .await;
    assert!(text.len() < 3_000);
}

#[tokio::test]
async fn q1_an_unreadable_file_is_told() {
    let desk = desk();
    let path = desk.put("locked", "x");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o000)).unwrap();
    let output = desk.call("Read", json!({"file_path": "locked"})).await;
    // Root may read everything.
    if std::fs::File::open(&path).is_err() {
        holds(output.content.as_str().unwrap(), &["permission denied"]);
    } else {
        assert!(!output.is_error);
    }
}

#[tokio::test]
async fn q1_a_failed_write_leaves_the_file_and_nothing_beside_it() {
    let desk = desk();
    let name = "n".repeat(255);
    desk.put(&name, "old");
    desk.read(&name).await;
    // The name has the maximum length, and the temporary file next to it still has a name.
    desk.ok("Write", json!({"file_path": name, "content": "new"}))
        .await;
    assert_eq!(desk.content(&name), "new");
    let longer = "n".repeat(256);
    desk.refused("Write", json!({"file_path": longer, "content": "x"}))
        .await;
    assert_eq!(std::fs::read_dir(&desk.folder).unwrap().count(), 1);
}

#[test]
fn q1_no_race_with_a_link_leads_out() {
    let desk = desk();
    desk.put("sub/file", "mine");
    std::fs::write(desk.outside.join("file"), "secret").unwrap();
    let path = desk.folder.join("sub/file");
    let (sub, real) = (desk.folder.join("sub"), desk.folder.join("real"));
    let (swaps, seen) = std::thread::scope(|scope| {
        let swapper = scope.spawn(|| {
            let mut swaps = 0;
            for _ in 0..3_000 {
                // Any step may fail: a concurrent write may have created a folder of that name.
                let _ = std::fs::rename(&sub, &real);
                swaps += usize::from(symlink(&desk.outside, &sub).is_ok());
                let _ = std::fs::remove_file(&sub);
                let _ = std::fs::remove_dir_all(&sub);
                let _ = std::fs::rename(&real, &sub);
            }
            swaps
        });
        let mut seen = Vec::new();
        while !swapper.is_finished() {
            let _ = longhaul_agent::files::replace(&path, b"mine");
            let opened = longhaul_agent::files::OpenedFile::regular(&path);
            seen.extend(opened.and_then(|opened| opened.content()));
        }
        (swapper.join().unwrap(), seen)
    });
    assert!(swaps > 0);
    assert!(seen.iter().all(|content| content == b"mine"));
    assert_eq!(
        std::fs::read_to_string(desk.outside.join("file")).unwrap(),
        "secret"
    );
    assert_eq!(std::fs::read_dir(&desk.outside).unwrap().count(), 1);
    longhaul_agent::files::replace(&path, b"still").unwrap();
    assert_eq!(desk.content("sub/file"), "still");
}
