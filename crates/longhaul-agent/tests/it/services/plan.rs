//! Plan mode.

use std::sync::Arc;

use longhaul_agent::event::ApprovalMode;
use longhaul_agent::tool::{Tool, ToolAccess};
use longhaul_agent::tools::plan::{EnterPlanModeTool, ExitPlanModeTool, PlanState};
use longhaul_core::rehydrate::{RestoreInput, RestoreSourceResult, restore};
use longhaul_core::window::WindowScale;
use serde_json::json;

use super::{OneMode, place, run, text};

const PLAN: &str = "# Cache\n\n1. Keep it on disk.\n2. Test it.";

fn state(folder: &tempfile::TempDir, mode: ApprovalMode) -> Arc<PlanState> {
    Arc::new(PlanState::new(&place(folder.path()), OneMode::of(mode)))
}

#[tokio::test]
async fn q1_a_plan_that_was_agreed_to_gives_back_the_mode_before() {
    for before in [
        ApprovalMode::Default,
        ApprovalMode::AcceptEdits,
        ApprovalMode::BypassPermissions,
    ] {
        let folder = tempfile::tempdir().unwrap();
        let state = state(&folder, before);
        let entered = run(&EnterPlanModeTool::new(state.clone()), json!({})).await;
        assert!(!entered.is_error && state.is_on());
        let tool = ExitPlanModeTool::new(state.clone());
        let input = json!({"plan": PLAN});
        assert_eq!(tool.access(&input), ToolAccess::LeavesPlanMode);
        assert_eq!(tool.detail(&input), PLAN);
        assert_eq!(tool.line(&input), "Cache");
        let output = run(&tool, input).await;
        assert!(!output.is_error);
        assert_eq!(state.mode(), before);
        assert!(text(&output).contains(&state.path().display().to_string()));
    }
}

#[tokio::test]
async fn q1_plan_mode_stays_as_it_is_where_there_is_nothing_to_agree_to() {
    let folder = tempfile::tempdir().unwrap();
    let planning = state(&folder, ApprovalMode::Plan);
    let exit = ExitPlanModeTool::new(planning.clone());
    for input in [
        json!({}),
        json!({"plan": " "}),
        json!({"plan": 1}),
        json!(null),
    ] {
        assert!(run(&exit, input).await.is_error);
        assert!(planning.is_on());
    }
    assert!(
        run(&EnterPlanModeTool::new(planning), json!({}))
            .await
            .is_error
    );
    let working = state(&folder, ApprovalMode::AcceptEdits);
    let exit = run(
        &ExitPlanModeTool::new(working.clone()),
        json!({"plan": PLAN}),
    )
    .await;
    assert!(exit.is_error && working.mode() == ApprovalMode::AcceptEdits);
    assert_eq!(working.gathered(), None);
    let alone = state(&folder, ApprovalMode::DontAsk);
    assert!(
        run(&EnterPlanModeTool::new(alone.clone()), json!({}))
            .await
            .is_error
    );
    assert_eq!(alone.mode(), ApprovalMode::DontAsk);
}

#[tokio::test]
async fn q1_a_plan_that_cannot_be_kept_leaves_plan_mode_on() {
    let folder = tempfile::tempdir().unwrap();
    let state = state(&folder, ApprovalMode::Plan);
    std::fs::write(folder.path().join("projects"), "in the way").unwrap();
    let output = run(&ExitPlanModeTool::new(state.clone()), json!({"plan": PLAN})).await;
    assert!(output.is_error && state.is_on());
}

#[tokio::test]
async fn r2_the_plan_and_the_reminder_go_back_after_a_compaction() {
    let folder = tempfile::tempdir().unwrap();
    let state = state(&folder, ApprovalMode::Default);
    assert_eq!(state.gathered(), None);
    assert_eq!(state.reminder(), None);
    state.enter();
    run(&ExitPlanModeTool::new(state.clone()), json!({"plan": PLAN})).await;
    state.enter();
    let gathered = RestoreInput {
        plan: state.gathered(),
        plan_mode: state.reminder(),
        ..RestoreInput::default()
    };
    assert!(
        matches!(&gathered.plan, Some(RestoreSourceResult::Found(plan)) if plan.path == state.path())
    );
    let restored = restore(&gathered, WindowScale::of_window(200_000));
    let [plan, reminder] = &restored.attachments[..] else {
        panic!("two attachments")
    };
    assert_eq!(plan.value["type"], "plan_file_reference");
    assert_eq!(plan.value["planContent"], format!("{PLAN}\n"));
    assert_eq!(reminder.value["type"], "plan_mode");
}

#[cfg(unix)]
#[tokio::test]
async fn r2_a_plan_is_for_its_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let state = state(&folder, ApprovalMode::Plan);
    state.keep(PLAN).await.unwrap();
    let mode = std::fs::metadata(state.path())
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}
