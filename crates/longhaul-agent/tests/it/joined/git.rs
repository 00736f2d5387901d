//! Opening and exploring a repository runs none of the programs that its configuration names. Each test has a real
//! repository whose configuration would create a file, the canary, if git obeyed it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use longhaul_agent::agent::SessionChoice;
use longhaul_agent::event::ApprovalAnswer;
use serde_json::json;

use super::{Says, open, put, results, workplace};
use crate::agent::house::{House, calls, say, text, work};

/// Commands that run without asking, with most of the ways in which git reads files and history.
const LOOKING: &str = "git status; git diff; git diff --stat HEAD; git log -p; git show; git show HEAD:a.txt; git blame a.txt; git stash list; git grep hello; git ls-files -m; git describe --always; git branch -vv; git for-each-ref '--format=%(objectname) %(signature)'; git log --all; echo 'looked around'";

fn git(folder: &Path, arguments: &[&str]) {
    let run = plain_git(folder).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "git {arguments:?}: {said}");
}

fn plain_git(folder: &Path) -> Command {
    let mut git = Command::new("git");
    git.current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .args(["-c", "user.name=Somebody", "-c", "user.email=a@example.com"])
        .args(["-c", "protocol.file.allow=always"])
        .stdin(Stdio::null());
    git
}

/// A repository in the project, with one commit and one change, and the canary's path.
fn repository(house: &House) -> PathBuf {
    let cwd = house.cwd();
    put(house, "a.txt", "hello\n");
    git(&cwd, &["init", "--quiet", "--initial-branch=main"]);
    git(&cwd, &["add", "."]);
    git(&cwd, &["commit", "--quiet", "--message=one"]);
    put(house, "a.txt", "hello again\n");
    house.folder.path().join("canary")
}

/// A program that creates the canary.
fn program(house: &House) -> String {
    let path = house.folder.path().join("program.sh");
    let canary = house.folder.path().join("canary");
    std::fs::write(&path, format!("#!/bin/sh\ntouch {}\n", canary.display())).unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    path.display().to_string()
}

async fn looking() -> House {
    House::scripted(&[
        calls(&[("Bash", json!({"command": LOOKING}))]),
        text("Done."),
    ])
    .await
}

/// Opens the project and runs the command; returns its output, or why it was not run.
async fn look_around(house: &House) -> String {
    let place = workplace(house, &mut Says::no()).await;
    let (mut agent, mut events) = open(house, &place, SessionChoice::New).await;
    let (_, told) = work(&mut agent, &mut events, "Look around.", |_| {}, || None).await;
    results(&told).remove(0)
}

/// Runs the same command in the user's own shell, which proves that the canary would be created.
fn as_the_user(folder: &Path) {
    let run = Command::new("bash")
        .args(["-c", LOOKING])
        .current_dir(folder)
        .output();
    run.unwrap();
}

fn signed_commit(folder: &Path) {
    let mut hash = plain_git(folder);
    let tree = plain_git(folder).args(["write-tree"]).output().unwrap();
    let tree = String::from_utf8(tree.stdout).unwrap();
    let object = format!(
        "tree {}\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nsigned\n",
        tree.trim()
    );
    let file = folder.join(".git/object");
    std::fs::write(&file, object).unwrap();
    hash.args(["hash-object", "-t", "commit", "-w", ".git/object"]);
    let id = String::from_utf8(hash.output().unwrap().stdout).unwrap();
    git(folder, &["update-ref", "refs/heads/signed", id.trim()]);
}

#[tokio::test]
async fn programs_that_a_repository_names_are_not_run_by_looking_around_in_it() {
    // Settings with PROGRAM in them, and the attributes that make git use them.
    let knobs: &[(&[(&str, &str)], &str)] = &[
        (&[("core.fsmonitor", "PROGRAM")], ""),
        (&[("diff.external", "PROGRAM")], ""),
        (&[("diff.odd.command", "PROGRAM")], "* diff=odd"),
        (&[("diff.odd.textconv", "PROGRAM")], "* diff=odd"),
        (
            &[("log.showSignature", "true"), ("gpg.program", "PROGRAM")],
            "",
        ),
        (
            &[
                ("format.pretty", "%G? %s"),
                ("gpg.openpgp.program", "PROGRAM"),
            ],
            "",
        ),
    ];
    for (settings, attributes) in knobs {
        let house = looking().await;
        let canary = repository(&house);
        signed_commit(&house.cwd());
        for (key, value) in *settings {
            let value = value.replace("PROGRAM", &program(&house));
            git(&house.cwd(), &["config", key, &value]);
        }
        put(&house, ".git/info/attributes", attributes);
        let printed = look_around(&house).await;
        assert!(!canary.exists(), "{settings:?}");
        assert!(printed.contains("looked around"), "{settings:?}: {printed}");
        assert!(printed.contains("hello again"), "{settings:?}: {printed}");
        as_the_user(&house.cwd());
        assert!(canary.exists(), "{settings:?} does nothing to git");
    }
}

#[tokio::test]
async fn hooks_of_a_repository_are_not_run_by_looking_around_in_it() {
    let house = looking().await;
    let canary = repository(&house);
    let hooks = house.cwd().join(".git/hooks");
    std::fs::create_dir_all(&hooks).unwrap();
    std::fs::copy(program(&house), hooks.join("post-index-change")).unwrap();
    // The same text again: git notices that and updates its index, which runs a hook.
    put(&house, "a.txt", "hello\n");
    let printed = look_around(&house).await;
    assert!(printed.contains("looked around"), "{printed}");
    assert!(!canary.exists());
    put(&house, "a.txt", "hello\n");
    as_the_user(&house.cwd());
    assert!(canary.exists());
}

#[tokio::test]
async fn what_cannot_be_switched_off_in_a_repository_is_asked_for() {
    let knobs: &[(&str, &str, &str)] = &[
        ("filter.odd.clean", "PROGRAM", "* filter=odd"),
        ("filter.odd.process", "PROGRAM", "* filter=odd"),
        ("merge.odd.driver", "PROGRAM", "* merge=odd"),
        ("include.path", "../settings", ""),
        ("includeIf.gitdir:**.path", "../settings", ""),
        ("core.worktree", "/", ""),
        ("hook.odd.command", "PROGRAM", ""),
        ("trailer.odd.command", "PROGRAM", ""),
    ];
    for (key, value, attributes) in knobs {
        let house = looking().await;
        let canary = repository(&house);
        let program = program(&house);
        put(
            &house,
            "settings",
            &format!("[core]\nfsmonitor = {program}\n"),
        );
        let value = value.replace("PROGRAM", &program);
        git(&house.cwd(), &["config", key, &value]);
        put(&house, ".git/info/attributes", attributes);
        // The length is unchanged, so that git must read it.
        put(&house, "a.txt", "Hello\n");
        let printed = look_around(&house).await;
        assert!(!canary.exists(), "{key}");
        assert!(!printed.contains("looked around"), "{key}: {printed}");
    }
}

#[tokio::test]
async fn a_filter_that_only_attributes_name_is_asked_for_and_never_run_by_opening() {
    let house = looking().await;
    let canary = repository(&house);
    put(&house, ".gitattributes", "*.txt filter=lfs\n");
    let printed = look_around(&house).await;
    assert!(printed.contains("filter"), "{printed}");
    assert!(!printed.contains("looked around") && !canary.exists());
    let branch = house.last_body()["system"].to_string();
    assert!(branch.contains("main"), "{branch}");
}

#[tokio::test]
async fn a_submodule_is_not_entered() {
    let house = looking().await;
    let canary = repository(&house);
    let other = house.folder.path().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("b.txt"), "b\n").unwrap();
    git(&other, &["init", "--quiet"]);
    git(&other, &["add", "."]);
    git(&other, &["commit", "--quiet", "--message=one"]);
    let cwd = house.cwd();
    let from = other.display().to_string();
    git(&cwd, &["submodule", "--quiet", "add", &from, "sub"]);
    git(&cwd, &["commit", "--quiet", "--message=two"]);
    git(
        &cwd.join("sub"),
        &["config", "core.fsmonitor", &program(&house)],
    );
    let printed = look_around(&house).await;
    assert!(printed.contains("looked around"), "{printed}");
    assert!(!canary.exists());
    as_the_user(&cwd);
    assert!(canary.exists());
}

#[tokio::test]
async fn a_bare_repository_in_a_folder_is_not_obeyed() {
    let house = looking().await;
    let cwd = house.cwd();
    git(&cwd, &["init", "--quiet", "--bare", "."]);
    git(&cwd, &["config", "core.bare", "false"]);
    git(&cwd, &["config", "core.worktree", "."]);
    git(&cwd, &["config", "core.fsmonitor", &program(&house)]);
    let canary = house.folder.path().join("canary");
    let printed = look_around(&house).await;
    assert!(!printed.contains("looked around"), "{printed}");
    assert!(!canary.exists());
    as_the_user(&cwd);
    assert!(canary.exists());
}

#[tokio::test]
async fn a_git_file_that_points_to_somebody_elses_repository_is_asked_for() {
    let house = looking().await;
    let secret = house.folder.path().join("secret");
    std::fs::create_dir(&secret).unwrap();
    std::fs::write(secret.join("a.txt"), "sesame\n").unwrap();
    git(&secret, &["init", "--quiet"]);
    git(&secret, &["add", "."]);
    git(&secret, &["commit", "--quiet", "--message=sesame"]);
    let target = secret.join(".git").display().to_string();
    put(&house, ".git", &format!("gitdir: {target}\n"));
    let printed = look_around(&house).await;
    assert!(!printed.contains("sesame"), "{printed}");
}

#[tokio::test]
async fn ordinary_repositories_worktrees_and_sub_folders_are_looked_at_unasked() {
    let house = looking().await;
    repository(&house);
    let printed = look_around(&house).await;
    assert!(printed.contains("looked around"), "{printed}");
    assert!(
        house.last_body()["system"]
            .to_string()
            .contains("uncommitted")
    );

    // A worktree next to its repository, and a folder in it.
    let house = looking().await;
    let main = house.folder.path().join("main");
    std::fs::create_dir_all(&main).unwrap();
    std::fs::write(main.join("a.txt"), "hello\n").unwrap();
    git(&main, &["init", "--quiet"]);
    git(&main, &["add", "."]);
    git(&main, &["commit", "--quiet", "--message=one"]);
    std::fs::remove_dir(house.cwd()).unwrap();
    let project = house.folder.path().join("project").display().to_string();
    git(&main, &["worktree", "add", "--quiet", &project]);
    let printed = look_around(&house).await;
    assert!(printed.contains("looked around"), "{printed}");
    assert!(printed.contains("hello"), "{printed}");
}

#[tokio::test]
async fn a_git_command_that_the_user_agrees_to_runs_as_the_users_own() {
    let command = "git diff --ext-diff";
    let house = House::scripted(&[
        calls(&[("Bash", json!({"command": command}))]),
        calls(&[("Bash", json!({"command": "timeout 9 git status"}))]),
        text("Done."),
    ])
    .await;
    let canary = repository(&house);
    git(&house.cwd(), &["config", "diff.external", &program(&house)]);
    let place = workplace(&house, &mut Says::no()).await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::New).await;
    let once = || Some(ApprovalAnswer::Once);
    let (_, told) = work(&mut agent, &mut events, "Go.", |_| {}, once).await;
    assert_eq!(results(&told).len(), 2);
    assert!(canary.exists());
    // A program that starts git does not use the shell's function, so the user is asked about it.
    let house = House::scripted(&[
        calls(&[("Bash", json!({"command": "timeout 9 git status"}))]),
        text("Done."),
    ])
    .await;
    repository(&house);
    let place = workplace(&house, &mut Says::no()).await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::New).await;
    let (_, told) = say(&mut agent, &mut events, "Go.").await;
    assert!(!results(&told)[0].contains("a.txt"));
}
