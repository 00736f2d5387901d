//! Who may change a transcript.

use longhaul_store::{Force, Home, HomeOwner, OwnershipRefusal, may_change_in_place};

use crate::support::{at, file_at, our_home};

#[test]
fn g2_another_programs_file_is_changed_only_when_forced() {
    let (root, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let home = our_home(root.path());
    let ours = home.projects().join("-work/s.jsonl");
    let theirs = elsewhere.path().join("s.jsonl");
    file_at(&ours, "", 1_000);
    file_at(&theirs, "", 1_000);
    let now = at(2_000);
    assert!(may_change_in_place(&ours, &home, now, Force::No).is_ok());
    let refused = may_change_in_place(&theirs, &home, now, Force::No).unwrap_err();
    assert!(matches!(refused, OwnershipRefusal::OtherProgram { .. }));
    assert!(refused.to_string().contains("--force"), "{refused}");
    assert!(may_change_in_place(&theirs, &home, now, Force::Yes).is_ok());
    let claude = Home::at(root.path(), HomeOwner::ClaudeCode).unwrap();
    assert!(may_change_in_place(&ours, &claude, now, Force::No).is_err());
}

#[test]
#[cfg(unix)]
fn g2_a_link_among_our_sessions_does_not_make_a_file_ours() {
    let (root, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let home = our_home(root.path());
    let theirs = elsewhere.path().join("s.jsonl");
    file_at(&theirs, "", 1_000);
    file_at(&home.projects().join("-work/own.jsonl"), "", 1_000);
    let link = home.projects().join("-work/link.jsonl");
    std::os::unix::fs::symlink(&theirs, &link).unwrap();
    let refused = may_change_in_place(&link, &home, at(2_000), Force::No).unwrap_err();
    assert!(matches!(refused, OwnershipRefusal::OtherProgram { .. }));
}

#[test]
fn g2_a_file_modified_within_the_last_minute_is_changed_only_when_forced() {
    let root = tempfile::tempdir().unwrap();
    let home = our_home(root.path());
    let path = home.projects().join("-work/s.jsonl");
    file_at(&path, "", 1_000);
    for now in [900, 1_000, 1_059] {
        let refused = may_change_in_place(&path, &home, at(now), Force::No).unwrap_err();
        assert!(
            matches!(refused, OwnershipRefusal::ModifiedRecently { .. }),
            "{now}"
        );
        assert!(refused.to_string().contains("--force"), "{refused}");
        assert!(may_change_in_place(&path, &home, at(now), Force::Yes).is_ok());
    }
    assert!(may_change_in_place(&path, &home, at(1_060), Force::No).is_ok());
}

#[test]
fn g2_a_file_that_is_not_there_is_named() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("none.jsonl");
    let home = our_home(root.path());
    let refused = may_change_in_place(&path, &home, at(1), Force::No).unwrap_err();
    assert!(matches!(refused, OwnershipRefusal::Unreadable { .. }));
    assert!(refused.to_string().contains("none.jsonl"), "{refused}");
}
