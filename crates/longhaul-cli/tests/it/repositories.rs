//! Repositories whose configuration names programs, opened with `longhaul chat -p`.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::chat::Provider;
use crate::support::{Finish, Run, World};

/// A program that makes the file `canary` where it runs.
fn program(world: &World) -> String {
    let path = world.write("program.sh", "#!/bin/sh\ntouch \"$HOME/canary\"\ncat\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, mode).unwrap();
    path.display().to_string()
}

fn git(world: &World, folder: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=Somebody", "-c", "user.email=a@example.com"])
        .args(arguments)
        .env("HOME", world.root())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .current_dir(folder);
    let run = git.output().unwrap();
    assert!(run.status.success(), "{arguments:?}: {run:?}");
}

fn repository(world: &World) -> PathBuf {
    let file = world.write("project/sub/a.txt", "hello\n");
    let folder = file.ancestors().nth(2).unwrap().to_owned();
    git(world, &folder, &["init", "--quiet"]);
    folder
}

/// Opens the folder and has git look around in it.
fn look(world: &World, folder: &Path) -> Run {
    let provider = Provider::scripted(&[
        r#"{"tools":[{"name":"Bash","input":{"command":"git status --short; git diff; echo looked"}}]}"#,
        r#"{"text":"Done."}"#,
    ]);
    let mut chat = provider.chat(world, &["-p", "Go.", "--output-format", "stream-json"]);
    chat.current_dir(folder).finish().ends(0)
}

#[test]
fn opening_a_folder_does_not_run_the_programs_of_its_repository() {
    let world = World::new();
    let folder = repository(&world);
    git(
        &world,
        &folder,
        &["config", "core.fsmonitor", &program(&world)],
    );
    let run = look(&world, &folder);
    assert!(run.out.contains("looked"), "{}", run.out);
    assert!(!world.root().join("canary").exists());
    // From a folder in it, too.
    let run = look(&world, &folder.join("sub"));
    assert!(run.out.contains("looked"), "{}", run.out);
    assert!(!world.root().join("canary").exists());
    git(&world, &folder, &["status"]);
    assert!(world.root().join("canary").exists());
}

#[test]
fn filters_that_the_user_has_set_are_not_run_unasked_on_what_a_repository_picks() {
    let world = World::new();
    let folder = repository(&world);
    git(&world, &folder, &["add", "."]);
    git(&world, &folder, &["commit", "--quiet", "--message=one"]);
    let settings = format!("[filter \"mine\"]\nclean = {}\nrequired\n", program(&world));
    world.write(".gitconfig", settings);
    world.write("project/sub/.gitattributes", "* filter=mine\n");
    // As long as before, so that git must read it to know.
    world.write("project/sub/a.txt", "HELLO\n");
    let run = look(&world, &folder);
    assert!(
        run.out.contains("looked") && run.out.contains("HELLO"),
        "{}",
        run.out
    );
    assert!(!world.root().join("canary").exists());
    git(&world, &folder, &["diff"]);
    assert!(world.root().join("canary").exists());
}
