//! The todo list, and tasks given to sub-agents.

use super::{GeneratedAnswer, InputAndAnswer};
use crate::json::{ObjectBuilder, array, quote};
use crate::session::generator::Generator;
use crate::session::meter::usage_json;
use crate::session::project::GeneratedTodo;
use crate::session::truth::ExpectedUsage;
use crate::words;

impl Generator {
    pub(super) fn todo_write(&mut self) -> InputAndAnswer {
        let old = self.todos_json();
        let done = self
            .todos
            .iter()
            .filter(|todo| todo.status == "completed")
            .count();
        if self.todos.is_empty() || done == self.todos.len() {
            self.todos = (0..self.rng.between(3, 9))
                .map(|_| GeneratedTodo {
                    content: words::sentence(&mut self.rng, self.letters),
                    status: "pending",
                })
                .collect();
        }
        if let Some(todo) = self
            .todos
            .iter_mut()
            .find(|todo| todo.status != "completed")
        {
            todo.status = if todo.status == "pending" {
                "in_progress"
            } else {
                "completed"
            };
        }
        let new = self.todos_json();
        let input = ObjectBuilder::new().raw("todos", &new).end();
        let copy = ObjectBuilder::new()
            .raw("oldTodos", &old)
            .raw("newTodos", &new)
            .end();
        (
            input,
            GeneratedAnswer {
                content: quote("The list is updated."),
                copy,
                fails: false,
            },
        )
    }

    pub(super) fn task(&mut self, agent: &str, prompt: &str) -> InputAndAnswer {
        let letters = self.letters;
        let input = ObjectBuilder::new()
            .text("description", &words::sentence(&mut self.rng, letters))
            .text("prompt", prompt)
            .text("subagent_type", "Explore")
            .end();
        let sentences = self.rng.between(30, 160);
        let report = words::prose(&mut self.rng, sentences, letters);
        let report = ObjectBuilder::new()
            .text("type", "text")
            .text("text", &report)
            .end();
        let note = ObjectBuilder::new()
            .text("type", "text")
            .text("text", &format!("agentId: {agent}"))
            .end();
        let usage = ExpectedUsage {
            input: 3,
            cache_read: 61_000,
            cache_write_5m: 2_100,
            cache_write_1h: 0,
            output: 1_900,
        };
        let copy = ObjectBuilder::new()
            .text("status", "completed")
            .text("prompt", prompt)
            .text("agentId", agent)
            .raw("content", &array([report.as_str()]))
            .number("totalDurationMs", self.rng.between(8_000, 200_000) as u64)
            .number("totalTokens", usage.context())
            .number("totalToolUseCount", self.rng.between(1, 30) as u64)
            .raw("usage", &usage_json(&usage))
            .end();
        (
            input,
            GeneratedAnswer {
                content: array([report, note]),
                copy,
                fails: false,
            },
        )
    }
}
