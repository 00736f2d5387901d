//! Where paths lead, and which side of the fence that is.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use longhaul_agent::files::{FenceSide, FolderFence, PathPurpose, UnusableFile, resolve};
use longhaul_agent::tool::ToolAccess;
use proptest::prelude::*;
use serde_json::json;

use super::desk::{Desk, desk, holds};

fn judge(desk: &Desk, given: &str) -> FenceSide {
    let fence = FolderFence::of(&desk.place);
    fence.judge(&fence.resolve(given).unwrap(), PathPurpose::Write)
}

#[test]
fn q1_dots_and_links_do_not_lead_out_unseen() {
    let desk = desk();
    desk.put("sub/a.txt", "x");
    symlink(&desk.outside, desk.folder.join("folder-out")).unwrap();
    symlink(desk.outside.join("secret"), desk.folder.join("dangling")).unwrap();
    symlink("../outside/../outside/new", desk.folder.join("relative")).unwrap();
    symlink("sub", desk.folder.join("in")).unwrap();
    for inside in [
        "a",
        "sub/../b",
        "in/a.txt",
        "in/new/deep",
        "none/../x",
        "./sub/./a.txt",
        "folder-out/../work/a",
    ] {
        assert_eq!(judge(&desk, inside), FenceSide::Inside, "{inside}");
    }
    for outside in [
        "..",
        "../x",
        "sub/../../x",
        "/etc/passwd",
        "folder-out/x",
        "folder-out/new/deep",
        "dangling",
        "relative",
        "in/../../work2",
        "../workx",
    ] {
        assert_eq!(judge(&desk, outside), FenceSide::Outside, "{outside}");
    }
}

#[test]
fn q1_access_names_the_resolved_path() {
    let desk = desk();
    symlink(desk.outside.join("new.txt"), desk.folder.join("link")).unwrap();
    let target = desk.outside.join("new.txt");
    for tool in ["Write", "Edit"] {
        assert_eq!(
            desk.access(tool, json!({"file_path": "link"})),
            ToolAccess::Writes(target.clone())
        );
    }
    assert_eq!(
        desk.access("Read", json!({"file_path": "link"})),
        ToolAccess::Reads(target)
    );
    for tool in ["Grep", "Glob"] {
        let input = json!({"pattern": "x", "path": "../outside"});
        assert_eq!(
            desk.access(tool, input),
            ToolAccess::Reads(desk.outside.clone())
        );
        assert_eq!(
            desk.access(tool, json!({"pattern": "x"})),
            ToolAccess::Reads(desk.folder.clone())
        );
    }
    let absolute = json!({"pattern": format!("{}/*.txt", desk.outside.display())});
    assert_eq!(
        desk.access("Glob", absolute),
        ToolAccess::Reads(desk.outside.clone())
    );
    assert_eq!(
        desk.access("Bash", json!({"command": "ls"})),
        ToolAccess::Runs {
            command: "ls".to_owned(),
            folder: desk.folder.clone()
        }
    );
    assert_eq!(
        desk.access("BashOutput", json!({"bash_id": "bash_1"})),
        ToolAccess::Nothing
    );
    assert_eq!(
        desk.access("Read", json!({"file_path": "\0"})),
        ToolAccess::Nothing
    );
}

#[test]
fn q1_links_in_a_circle_end() {
    let desk = desk();
    symlink("b", desk.folder.join("a")).unwrap();
    symlink("a", desk.folder.join("b")).unwrap();
    assert!(matches!(
        resolve(&desk.folder.join("a/x")),
        Err(UnusableFile::Links(_))
    ));
    assert_eq!(
        desk.access("Read", json!({"file_path": "a"})),
        ToolAccess::Nothing
    );
}

#[test]
fn q1_further_folders_are_inside_and_the_sessions_own_are_for_reading() {
    let desk = desk();
    let mut place = (*desk.place).clone();
    place.more.push(desk.outside.clone());
    let fence = FolderFence::of(&place);
    assert_eq!(
        fence.judge(&desk.outside.join("x"), PathPurpose::Write),
        FenceSide::Inside
    );
    let long = place.session_folder().join("tool-results/x.txt");
    assert_eq!(fence.judge(&long, PathPurpose::Read), FenceSide::Inside);
    assert_eq!(fence.judge(&long, PathPurpose::Write), FenceSide::Outside);
    assert_eq!(
        fence.judge(&place.transcript, PathPurpose::Read),
        FenceSide::Inside
    );
}

#[tokio::test]
async fn q1_a_link_that_was_swapped_after_the_judgement_is_not_followed() {
    let desk = desk();
    let secret = desk.outside.join("secret");
    std::fs::write(&secret, "secret").unwrap();
    let link = desk.put("a.txt", "mine");
    desk.read("a.txt").await;
    for (tool, input) in [
        ("Read", json!({"file_path": "a.txt"})),
        ("Write", json!({"file_path": "a.txt", "content": "x"})),
        (
            "Edit",
            json!({"file_path": "a.txt", "old_string": "secret", "new_string": "x"}),
        ),
    ] {
        assert!(!matches!(
            desk.access(tool, input.clone()),
            ToolAccess::Nothing
        ));
        std::fs::remove_file(&link).unwrap();
        symlink(&secret, &link).unwrap();
        holds(
            &desk.refused(tool, input).await,
            &["became a symbolic link"],
        );
        std::fs::remove_file(&link).unwrap();
        std::fs::write(&link, "mine").unwrap();
    }
    // The same applies to a folder on the path.
    desk.put("sub/secret", "mine");
    desk.access("Grep", json!({"pattern": "secret", "path": "sub"}));
    std::fs::remove_dir_all(desk.folder.join("sub")).unwrap();
    symlink(&desk.outside, desk.folder.join("sub")).unwrap();
    holds(
        &desk
            .refused("Grep", json!({"pattern": "secret", "path": "sub"}))
            .await,
        &["became a symbolic link"],
    );
    assert_eq!(std::fs::read_to_string(secret).unwrap(), "secret");
}

#[test]
fn q1_a_resolved_path_is_opened_without_following_links() {
    let desk = desk();
    std::fs::write(desk.outside.join("secret"), "secret").unwrap();
    symlink(&desk.outside, desk.folder.join("sub")).unwrap();
    symlink(desk.outside.join("secret"), desk.folder.join("file")).unwrap();
    for path in ["sub/secret", "file"] {
        let path = desk.folder.join(path);
        assert!(longhaul_agent::files::OpenedFile::regular(&path).is_err());
        assert!(longhaul_agent::files::replace(&path, b"x").is_err());
    }
    assert_eq!(
        std::fs::read_to_string(desk.outside.join("secret")).unwrap(),
        "secret"
    );
    assert_eq!(std::fs::read_dir(&desk.outside).unwrap().count(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn q1_what_exists_resolves_as_the_system_resolves_it(steps in prop::collection::vec(
        prop::sample::select(vec!["a", "b", "in", "up", "..", ".", "deep"]), 1..8,
    )) {
        let desk = desk();
        desk.put("a/b/deep/x", "x");
        symlink("a/b", desk.folder.join("in")).unwrap();
        symlink("..", desk.folder.join("a/up")).unwrap();
        let given: PathBuf = steps.iter().collect();
        let path = desk.folder.join(given);
        if let Ok(canonical) = path.canonicalize() {
            prop_assert_eq!(resolve(&path).unwrap(), canonical);
        }
        let resolved = resolve(&path).unwrap();
        prop_assert_eq!(resolve(&resolved).unwrap(), resolved.clone());
        prop_assert!(!resolved.components().any(|it| it.as_os_str() == Path::new("..")));
    }
}
