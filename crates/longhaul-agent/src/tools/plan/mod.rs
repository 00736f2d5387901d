//! Plan mode (Q1): the model looks and plans, the user agrees, the work begins.
//!
//! [`PlanState`] knows the plan and the mode to go back to; what the mode forbids is decided in `permission`, and consent
//! to a plan is asked for by the loop, before [`ExitPlanMode`] runs.

mod state;

use std::sync::Arc;

use longhaul::Boxed;
use longhaul_core::normalize::fragment::fill;
use serde_json::Value;

use super::definition::{definition, one_line, text_field};
use crate::event::Mode;
use crate::tool::{Access, Call, Output, Tool};

pub use state::{Modes, PlanState, REMINDER};

/// The name of the tool that hands in a plan.
pub const EXIT: &str = "ExitPlanMode";
/// The name of the tool that asks for plan mode.
pub const ENTER: &str = "EnterPlanMode";

/// Hands in a plan. Its call needs the user's consent in every mode; once it runs, it was given.
pub struct ExitPlanMode {
    state: Arc<PlanState>,
}

impl ExitPlanMode {
    /// Leaves the plan mode of this session.
    pub fn new(state: Arc<PlanState>) -> Self {
        Self { state }
    }
}

impl Tool for ExitPlanMode {
    fn name(&self) -> &str {
        EXIT
    }

    fn definition(&self) -> Value {
        definition(
            EXIT,
            include_str!("fragments/exit.md"),
            include_str!("fragments/exit.json"),
        )
    }

    fn access(&self, _: &Value) -> Access {
        Access::Other
    }

    fn line(&self, input: &Value) -> String {
        one_line(text_field(input, "plan").trim_start_matches(['#', ' ']), 80)
    }

    fn detail(&self, input: &Value) -> String {
        text_field(input, "plan").to_owned()
    }

    fn run<'a>(&'a self, input: Value, _: &'a Call) -> Boxed<'a, Output> {
        Box::pin(async move {
            if !self.state.is_on() {
                return Output::error(include_str!("fragments/not_planning.md").trim_end());
            }
            let plan = text_field(&input, "plan");
            if plan.is_empty() {
                return Output::error(include_str!("fragments/no_plan.md").trim_end());
            }
            let path = self.state.path().display().to_string();
            if let Err(why) = self.state.keep(plan).await {
                let gaps = [("path", &*path), ("why", &why.to_string())];
                return Output::error(fill(include_str!("fragments/not_kept.md"), &gaps));
            }
            self.state.leave();
            let agreed = fill(include_str!("fragments/agreed.md"), &[("path", &path)]);
            Output::text(agreed, "agreed").with_detail(plan)
        })
    }
}

/// Asks for plan mode.
pub struct EnterPlanMode {
    state: Arc<PlanState>,
}

impl EnterPlanMode {
    /// Enters the plan mode of this session.
    pub fn new(state: Arc<PlanState>) -> Self {
        Self { state }
    }
}

impl Tool for EnterPlanMode {
    fn name(&self) -> &str {
        ENTER
    }

    fn definition(&self) -> Value {
        definition(
            ENTER,
            include_str!("fragments/enter.md"),
            include_str!("fragments/enter.json"),
        )
    }

    fn access(&self, _: &Value) -> Access {
        Access::Other
    }

    fn line(&self, _: &Value) -> String {
        "make a plan first".to_owned()
    }

    fn run<'a>(&'a self, _: Value, _: &'a Call) -> Boxed<'a, Output> {
        Box::pin(async move {
            match self.state.mode() {
                Mode::Plan => Output::error(include_str!("fragments/already.md").trim_end()),
                Mode::DontAsk => Output::error(include_str!("fragments/nobody.md").trim_end()),
                Mode::Default | Mode::AcceptEdits | Mode::BypassPermissions => {
                    self.state.enter();
                    Output::text(REMINDER.trim_end(), "plan mode is on")
                }
            }
        })
    }
}
