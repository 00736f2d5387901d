//! Plan mode.

use std::sync::Arc;

use longhaul_agent::event::Mode;
use longhaul_agent::tool::{Access, Tool};
use longhaul_agent::tools::plan::{EnterPlanMode, ExitPlanMode, PlanState};
use longhaul_core::rehydrate::{Gathered, Source, restore};
use longhaul_core::window::Scale;
use serde_json::json;

use super::{OneMode, place, run, text};

const PLAN: &str = "# Cache\n\n1. Keep it on disk.\n2. Test it.";

fn state(folder: &tempfile::TempDir, mode: Mode) -> Arc<PlanState> {
    Arc::new(PlanState::new(&place(folder.path()), OneMode::of(mode)))
}

#[tokio::test]
async fn q1_a_plan_that_was_agreed_to_gives_back_the_mode_before() {
    for before in [Mode::Default, Mode::AcceptEdits, Mode::BypassPermissions] {
        let folder = tempfile::tempdir().unwrap();
        let state = state(&folder, before);
        let entered = run(&EnterPlanMode::new(state.clone()), json!({})).await;
        assert!(!entered.is_error && state.is_on());
        let tool = ExitPlanMode::new(state.clone());
        let input = json!({"plan": PLAN});
        assert_eq!(tool.access(&input), Access::Other);
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
    let planning = state(&folder, Mode::Plan);
    let exit = ExitPlanMode::new(planning.clone());
    for input in [
        json!({}),
        json!({"plan": " "}),
        json!({"plan": 1}),
        json!(null),
    ] {
        assert!(run(&exit, input).await.is_error);
        assert!(planning.is_on());
    }
    assert!(run(&EnterPlanMode::new(planning), json!({})).await.is_error);
    let working = state(&folder, Mode::AcceptEdits);
    let exit = run(&ExitPlanMode::new(working.clone()), json!({"plan": PLAN})).await;
    assert!(exit.is_error && working.mode() == Mode::AcceptEdits);
    assert_eq!(working.gathered(), None);
    let alone = state(&folder, Mode::DontAsk);
    assert!(
        run(&EnterPlanMode::new(alone.clone()), json!({}))
            .await
            .is_error
    );
    assert_eq!(alone.mode(), Mode::DontAsk);
}

#[tokio::test]
async fn q1_a_plan_that_cannot_be_kept_leaves_plan_mode_on() {
    let folder = tempfile::tempdir().unwrap();
    let state = state(&folder, Mode::Plan);
    std::fs::write(folder.path().join("projects"), "in the way").unwrap();
    let output = run(&ExitPlanMode::new(state.clone()), json!({"plan": PLAN})).await;
    assert!(output.is_error && state.is_on());
}

#[tokio::test]
async fn r2_the_plan_and_the_reminder_go_back_after_a_compaction() {
    let folder = tempfile::tempdir().unwrap();
    let state = state(&folder, Mode::Default);
    assert_eq!(state.gathered(), None);
    assert_eq!(state.reminder(), None);
    state.enter();
    run(&ExitPlanMode::new(state.clone()), json!({"plan": PLAN})).await;
    state.enter();
    let gathered = Gathered {
        plan: state.gathered(),
        plan_mode: state.reminder(),
        ..Gathered::default()
    };
    assert!(matches!(&gathered.plan, Some(Source::Found(plan)) if plan.path == state.path()));
    let restored = restore(&gathered, Scale::of_window(200_000));
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
    let state = state(&folder, Mode::Plan);
    state.keep(PLAN).await.unwrap();
    let mode = std::fs::metadata(state.path())
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}
