//! The permission check knows which folder the shell is in: the folder that one command ends in counts for the next.

use std::os::unix::fs::symlink;

use longhaul_agent::event::ApprovalMode;
use longhaul_agent::permission::{
    PermissionDecision, PermissionRule, PermissionRules, Permissions, ReadableWorkspace,
    RulePathBases,
};
use serde_json::json;

use super::desk::{Desk, desk};

fn permissions(desk: &Desk, mode: ApprovalMode, deny: &[&str]) -> Permissions {
    let bases = RulePathBases {
        cwd: &desk.folder,
        settings: &desk.folder,
        home: None,
    };
    let rules = PermissionRules {
        deny: deny
            .iter()
            .map(|rule| PermissionRule::parse(rule, bases).unwrap())
            .collect(),
        ..PermissionRules::default()
    };
    let workspace = ReadableWorkspace::new(&desk.place, None);
    Permissions::new(workspace, rules, mode, desk.folder.join("local.json"))
}

/// Decides about a command as the loop does: by what the tool says it touches.
fn runs_unasked(desk: &Desk, permissions: &Permissions, command: &str) -> bool {
    let input = json!({ "command": command });
    let access = desk.access("Bash", input.clone());
    permissions.judge("Bash", &input, &access) == PermissionDecision::Allow
}

#[tokio::test]
async fn q1_a_command_is_judged_from_where_the_shell_stands() {
    let desk = desk();
    desk.put("docs/sub/x.txt", "");
    desk.put("up/hostname", "");
    symlink(&desk.outside, desk.folder.join("docs/sub/up")).unwrap();
    let default = permissions(&desk, ApprovalMode::Default, &[]);
    let edits = permissions(&desk, ApprovalMode::AcceptEdits, &[]);
    assert!(runs_unasked(&desk, &default, "cat up/hostname"));
    assert!(runs_unasked(&desk, &edits, "echo x > up/f"));
    desk.bash("cd docs/sub").await;
    assert!(runs_unasked(&desk, &default, "cat x.txt ../../up/hostname"));
    assert!(!runs_unasked(&desk, &default, "cat up/hostname"));
    assert!(!runs_unasked(&desk, &default, "ls up/"));
    assert!(!runs_unasked(&desk, &default, "cat ../../../outside/x"));
    assert!(!runs_unasked(&desk, &edits, "echo x > up/f"));
    assert!(runs_unasked(&desk, &edits, "echo x > f"));
    let denying = permissions(
        &desk,
        ApprovalMode::BypassPermissions,
        &["Read(./docs/sub/x.txt)"],
    );
    assert!(!runs_unasked(&desk, &denying, "cat x.txt"));
    desk.bash("cd ../..").await;
    assert!(runs_unasked(&desk, &default, "cat up/hostname"));
    assert!(runs_unasked(&desk, &denying, "cat x.txt"));
}

#[tokio::test]
async fn q1_git_is_judged_by_the_repository_around_the_shells_folder() {
    let desk = desk();
    for repository in [".git", "vendor/.git", "bare"] {
        desk.put(&format!("{repository}/HEAD"), "ref: refs/heads/main\n");
        desk.put(&format!("{repository}/objects/info/packs"), "");
        desk.put(&format!("{repository}/refs/heads/none"), "");
    }
    desk.put("vendor/.git/config", "[include]\n\tpath = ../x\n");
    desk.put("src/a", "");
    let default = permissions(&desk, ApprovalMode::Default, &[]);
    for (folder, expected) in [("src", true), ("vendor", false), ("bare", false)] {
        desk.bash(&format!("cd {}/{folder}", desk.folder.display()))
            .await;
        assert_eq!(
            runs_unasked(&desk, &default, "git status"),
            expected,
            "{folder}"
        );
    }
}

#[tokio::test]
async fn q1_where_cd_and_wildcards_lead_is_not_for_the_environment_to_say() {
    let desk = desk();
    desk.put("docs/x", "");
    desk.put(".hidden", "");
    std::fs::create_dir(desk.outside.join("docs")).unwrap();
    let home = desk.folder.display();
    // The wrapper removes such variables, and the shell's own variable cannot be turned into a file to write.
    let text = desk
        .bash("echo \"${CDPATH-none} ${GLOBIGNORE-none}\"; echo *; pwd")
        .await;
    assert_eq!(text, format!("none none\ndocs\n{home}"));
    desk.call("Bash", json!({"command": "longhaul_cwd=written; ls"}))
        .await;
    assert!(!desk.folder.join("written").exists());
}
