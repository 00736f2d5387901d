//! How the modes affect a call.

use std::sync::Arc;

use super::*;

#[test]
fn q1_plan_mode_changes_nothing_but_the_plan() {
    let world = World::new();
    let permissions = world.permissions(
        ApprovalMode::Plan,
        &["Bash(make:*)", "Edit", "mcp__git"],
        &["Bash(touch:*)"],
        &[],
    );
    permissions.set_plan_file(Some(world.home.join("plan.md")));
    assert_eq!(
        writes(&permissions, world.home.join("plan.md")),
        PermissionDecision::Allow
    );
    assert_eq!(reads(&permissions, "a.txt"), PermissionDecision::Allow);
    assert_eq!(runs(&permissions, "git status"), PermissionDecision::Allow);
    let other = permissions.judge("mcp__git__log", &Value::Null, &ToolAccess::Other);
    for refused in [
        writes(&permissions, "a.txt"),
        runs(&permissions, "make"),
        runs(&permissions, "touch x"),
        other,
    ] {
        assert_eq!(short(&refused), "deny");
        insta::allow_duplicates! {
            insta::assert_snapshot!(reason(&refused), @"Plan mode is on: nothing may be changed or run that is not read-only. Look at what you need, then write the plan into the plan file and present it; the user decides when the work begins.");
        }
    }
    let task = permissions.judge("Task", &json!({ "subagent_type": "x" }), &ToolAccess::Other);
    assert_eq!(task, PermissionDecision::Allow);
}

#[test]
fn q1_where_nobody_can_be_asked_a_question_is_a_no() {
    let world = World::new();
    let permissions = world.permissions(
        ApprovalMode::DontAsk,
        &["Bash(make:*)"],
        &["Bash(make deploy)"],
        &[],
    );
    assert_eq!(runs(&permissions, "make test"), PermissionDecision::Allow);
    assert_eq!(reads(&permissions, "a.txt"), PermissionDecision::Allow);
    assert_eq!(short(&runs(&permissions, "make deploy")), "deny");
    let refused = writes(&permissions, "a.txt");
    assert_eq!(short(&refused), "deny");
    insta::assert_snapshot!(reason(&refused), @"Nobody can be asked in this session, and no rule allows this call. Do it another way, or say what you could not do. (It writes a.txt.)");
}

#[test]
fn q1_deny_wins_over_ask_and_ask_over_allow_in_every_mode() {
    let world = World::new();
    for mode in [
        ApprovalMode::Default,
        ApprovalMode::AcceptEdits,
        ApprovalMode::BypassPermissions,
    ] {
        let permissions = world.permissions(
            mode,
            &["Bash", "Edit", "Read", "WebFetch"],
            &["Bash(git push:*)", "Edit(./a.txt)", "Read(./src/**)"],
            &["Bash(git push --force:*)", "Edit(./src/**)", "WebFetch"],
        );
        assert_eq!(runs(&permissions, "git pull"), PermissionDecision::Allow);
        assert_eq!(short(&runs(&permissions, "ls && git push")), "ask");
        assert_eq!(short(&runs(&permissions, "git push --force x")), "deny");
        assert_eq!(short(&writes(&permissions, "a.txt")), "ask");
        assert_eq!(short(&writes(&permissions, "src/main.rs")), "deny");
        assert_eq!(short(&reads(&permissions, "src/main.rs")), "ask");
        let fetch = permissions.judge(
            "WebFetch",
            &Value::Null,
            &ToolAccess::Fetches("x.org".to_owned()),
        );
        assert_eq!(short(&fetch), "deny");
    }
}

#[test]
fn q1_a_tool_that_touches_nothing_runs_unless_a_rule_names_it() {
    let world = World::new();
    let permissions = world.permissions(ApprovalMode::Default, &[], &[], &["TodoWrite"]);
    assert_eq!(
        permissions.judge("Recall", &Value::Null, &ToolAccess::Nothing),
        PermissionDecision::Allow
    );
    assert_eq!(
        short(&permissions.judge("TodoWrite", &Value::Null, &ToolAccess::Nothing)),
        "deny"
    );
}

#[test]
fn q1_a_mode_that_one_sets_holds_for_all_who_share_it() {
    let world = World::new();
    let permissions = Arc::new(world.allowing(&[]));
    let shared = Arc::clone(&permissions);
    assert_eq!(short(&writes(&shared, "a.txt")), "ask");
    std::thread::spawn(move || permissions.set_mode(ApprovalMode::AcceptEdits))
        .join()
        .unwrap();
    assert_eq!(shared.mode(), ApprovalMode::AcceptEdits);
    assert_eq!(writes(&shared, "a.txt"), PermissionDecision::Allow);
}
