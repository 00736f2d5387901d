//! AskUserQuestion: the model asks, the user chooses or says something else (Q1).
//!
//! The loop asks the user before the call runs, as it asks for permission, and adds the answers to the input
//! (`agent/user_answers.rs`). The result has the form in which the conversation's facts recognize the user's words (X1).

use longhaul_core::normalize::fragment::fill;
use serde_json::Value;

use super::definition::one_line;
use super::typed::TypedTool;
use crate::tool::{ANSWERS, CallContext, ToolAccess, ToolCallOutput, UserQuestion};

/// The tool's name, which the conversation's facts know.
pub(crate) const NAME: &str = "AskUserQuestion";

/// The most characters of the answers in the line for people.
const SHOWN: usize = 120;

/// Asks the user. Its call needs the user in every mode.
pub(crate) struct AskUserQuestionTool;

impl TypedTool for AskUserQuestionTool {
    const NAME: &'static str = NAME;
    const DESCRIPTION: &'static str = include_str!("fragments/description.md");
    const SCHEMA: &'static str = include_str!("fragments/schema.json");
    type Input = Value;

    fn access(&self, input: &Value) -> ToolAccess {
        // A call that cannot be asked runs and says why.
        UserQuestion::of_input(input).map_or(ToolAccess::Nothing, ToolAccess::AsksUser)
    }

    fn line(&self, input: &Value) -> String {
        let questions = UserQuestion::of_input(input).unwrap_or_default();
        let texts: Vec<&str> = questions.iter().map(|it| it.question.as_str()).collect();
        one_line(&texts.join(" · "), SHOWN)
    }

    async fn run(&self, input: Value, _: &CallContext) -> Result<ToolCallOutput, String> {
        let questions = UserQuestion::of_input(&input).map_err(|why| {
            fill(
                include_str!("fragments/not_understood.md"),
                &[("why", &why)],
            )
        })?;
        let answer = |question: &UserQuestion| {
            let given = input.get(ANSWERS)?.get(&question.question)?.as_str()?;
            Some(given.trim()).filter(|given| !given.is_empty())
        };
        let mut told = Vec::new();
        let mut shown = Vec::new();
        for question in &questions {
            if let Some(answer) = answer(question) {
                told.push(format!("\"{}\"=\"{answer}\"", question.question));
                shown.push(answer);
            }
        }
        if told.is_empty() {
            return Err(include_str!("fragments/unanswered.md")
                .trim_end()
                .to_owned());
        }
        let text = fill(
            include_str!("fragments/answered.md"),
            &[("answers", &told.join(", "))],
        );
        let line = one_line(&shown.join(" · ").replace('\n', " "), SHOWN);
        Ok(ToolCallOutput::text(text, line).with_detail(shown.join("\n")))
    }
}
