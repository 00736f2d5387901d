//! Skill: instructions for one kind of task, loaded when they are needed (Q1) and remembered over compactions (R3).
//!
//! `settings` finds skills on disk; a [`Skill`] is the result. [`Skills`] invokes them, for the model ([`SkillTool`])
//! and for the user, who types `/name`.

mod body;
mod found_skill;
mod listing;
mod shell;
mod skills;

use std::sync::Arc;

use longhaul::Boxed;
use longhaul_core::figures::counted;
use longhaul_core::normalize::fragment::fill;
use serde_json::Value;

use super::definition::{definition, one_line, text_field};
use crate::tool::{CallContext, Tool, ToolAccess, ToolCallOutput};

pub use found_skill::{Skill, SkillInvoker};
pub(crate) use listing::LISTING_CHARACTERS;
pub use skills::{SkillInvokeError, Skills};

/// The tool's name.
pub const NAME: &str = "Skill";

/// The skill tool.
pub struct SkillTool {
    skills: Arc<Skills>,
    definition: Value,
}

impl SkillTool {
    /// Invokes these skills. Their list is part of the definition.
    pub fn new(skills: Arc<Skills>) -> Self {
        let listing = skills.listing(LISTING_CHARACTERS);
        let description = fill(
            include_str!("fragments/description.md"),
            &[("skills", &listing)],
        );
        let definition = definition(NAME, &description, include_str!("fragments/schema.json"));
        Self { skills, definition }
    }
}

impl Tool for SkillTool {
    fn name(&self) -> &str {
        NAME
    }

    fn definition(&self) -> Value {
        self.definition.clone()
    }

    fn access(&self, _: &Value) -> ToolAccess {
        ToolAccess::Nothing
    }

    fn line(&self, input: &Value) -> String {
        let (name, args) = (text_field(input, "skill"), text_field(input, "args"));
        one_line(format!("{name} {args}").trim(), 80)
    }

    fn run<'a>(&'a self, input: Value, call: &'a CallContext) -> Boxed<'a, ToolCallOutput> {
        Box::pin(async move {
            let (name, args) = (text_field(&input, "skill"), text_field(&input, "args"));
            let loaded = self.skills.load(name, args, SkillInvoker::Model).await;
            let loaded = match loaded {
                Ok(loaded) => loaded,
                Err(error) => return ToolCallOutput::error(error.to_string()),
            };
            match shell::filled(&loaded, call).await {
                Ok(text) => {
                    self.skills.invoked(&loaded, &text);
                    let line = counted(text.lines().count() as u64, "line");
                    ToolCallOutput::text(text, line)
                }
                Err(why) => ToolCallOutput::error(why),
            }
        })
    }
}
