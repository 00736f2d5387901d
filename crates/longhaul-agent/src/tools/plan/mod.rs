//! Plan mode (Q1): the model explores and plans, the user agrees, the work begins.
//!
//! [`PlanState`] holds the plan and the mode to return to; `permission` decides what the mode forbids, and the loop
//! asks for consent to a plan before [`ExitPlanModeTool`] runs.

mod state;

use std::sync::Arc;

use longhaul_core::normalize::fragment::fill;
use serde_json::Value;

use super::definition::{one_line, text_field};
use super::typed::TypedTool;
use crate::event::{ApprovalMode, EXIT_PLAN_MODE};
use crate::tool::{CallContext, ToolAccess, ToolCallOutput};

pub use state::{ApprovalModeStore, PlanState, REMINDER};

/// The name of the tool that submits a plan.
pub(crate) const EXIT: &str = EXIT_PLAN_MODE;
/// The name of the tool that asks for plan mode.
pub(crate) const ENTER: &str = "EnterPlanMode";

/// Submits a plan. Its call needs the user's consent in every mode; when it runs, consent was given.
pub struct ExitPlanModeTool {
    state: Arc<PlanState>,
}

impl ExitPlanModeTool {
    /// Leaves the plan mode of this session.
    pub fn new(state: Arc<PlanState>) -> Self {
        Self { state }
    }
}

impl TypedTool for ExitPlanModeTool {
    const NAME: &'static str = EXIT;
    const DESCRIPTION: &'static str = include_str!("fragments/exit.md");
    const SCHEMA: &'static str = include_str!("fragments/exit.json");
    type Input = Value;

    fn access(&self, _: &Value) -> ToolAccess {
        ToolAccess::LeavesPlanMode
    }

    fn line(&self, input: &Value) -> String {
        one_line(text_field(input, "plan").trim_start_matches(['#', ' ']), 80)
    }

    fn detail(&self, input: &Value) -> String {
        text_field(input, "plan").to_owned()
    }

    async fn run(&self, input: Value, _: &CallContext) -> Result<ToolCallOutput, String> {
        if !self.state.is_on() {
            return Err(include_str!("fragments/not_planning.md")
                .trim_end()
                .to_owned());
        }
        let plan = text_field(&input, "plan");
        if plan.is_empty() {
            return Err(include_str!("fragments/no_plan.md").trim_end().to_owned());
        }
        let path = self.state.path().display().to_string();
        if let Err(why) = self.state.keep(plan).await {
            let gaps = [("path", &*path), ("why", &why.to_string())];
            return Err(fill(include_str!("fragments/not_kept.md"), &gaps));
        }
        self.state.leave();
        let agreed = fill(include_str!("fragments/agreed.md"), &[("path", &path)]);
        Ok(ToolCallOutput::text(agreed, "agreed").with_detail(plan))
    }
}

/// Asks for plan mode.
pub struct EnterPlanModeTool {
    state: Arc<PlanState>,
}

impl EnterPlanModeTool {
    /// Enters the plan mode of this session.
    pub fn new(state: Arc<PlanState>) -> Self {
        Self { state }
    }
}

impl TypedTool for EnterPlanModeTool {
    const NAME: &'static str = ENTER;
    const DESCRIPTION: &'static str = include_str!("fragments/enter.md");
    const SCHEMA: &'static str = include_str!("fragments/enter.json");
    type Input = Value;

    fn access(&self, _: &Value) -> ToolAccess {
        ToolAccess::Other
    }

    fn line(&self, _: &Value) -> String {
        "make a plan first".to_owned()
    }

    async fn run(&self, _: Value, _: &CallContext) -> Result<ToolCallOutput, String> {
        let refused = match self.state.mode() {
            ApprovalMode::Plan => include_str!("fragments/already.md"),
            ApprovalMode::DontAsk => include_str!("fragments/nobody.md"),
            ApprovalMode::Default | ApprovalMode::AcceptEdits | ApprovalMode::BypassPermissions => {
                self.state.enter();
                return Ok(ToolCallOutput::text(REMINDER.trim_end(), "plan mode is on"));
            }
        };
        Err(refused.trim_end().to_owned())
    }
}
