//! Tool calls: which tool, with what input, and its answer. Also the small made-up project that they work on.
//!
//! There is one file for each kind of tool; each returns input and answer together, with the `toolUseResult` copy that
//! the tool keeps.

mod files;
mod lists;
mod search;
mod shell;

use super::generator::Generator;
use super::meter;
use super::project::SourceFile;
use super::spec::Feature;
use super::transcript_builder::WrittenLine;
use crate::ids;
use crate::json::{ObjectBuilder, array, quote};
use crate::rng::Rng;
use crate::words;

/// A call's input as JSON, and its answer.
type InputAndAnswer = (String, GeneratedAnswer);

/// A call that has been decided, including its answer.
#[derive(Debug)]
pub(super) struct GeneratedCall {
    pub(super) id: String,
    pub(super) tool: &'static str,
    /// `input` as JSON.
    pub(super) input: String,
    pub(super) answer: GeneratedAnswer,
    /// A sub-agent's id and prompt, for `Task`.
    pub(super) agent: Option<(String, String)>,
}

/// The answer to a call.
#[derive(Debug)]
pub(super) struct GeneratedAnswer {
    /// `content` of the result block, as JSON.
    pub(super) content: String,
    /// The `toolUseResult` copy, as JSON.
    pub(super) copy: String,
    pub(super) fails: bool,
}

impl Generator {
    /// Decides the next call; tools are as frequent as in real sessions.
    pub(super) fn call(&mut self) -> GeneratedCall {
        let draw = self.rng.below(1000);
        let fails = self.spec.has(Feature::ToolErrors) && self.rng.percent(4);
        let mut agent = None;
        let (tool, (input, answer)) = match draw {
            0..=349 => ("Bash", self.bash(fails)),
            350..=599 => ("Read", self.read(fails)),
            600..=829 => ("Edit", self.edit(fails)),
            830..=899 => ("Grep", self.grep(fails)),
            900..=939 => ("Glob", self.glob()),
            940..=979 => ("Write", self.write()),
            980..=993 => ("TodoWrite", self.todo_write()),
            _ if self.depth == 0 && self.thread.agent.is_none() => {
                let id = ids::agent(&mut self.rng);
                let sentences = self.rng.between(4, 14);
                let prompt = words::prose(&mut self.rng, sentences, self.letters);
                let both = self.task(&id, &prompt);
                agent = Some((id, prompt));
                ("Task", both)
            }
            _ => ("Glob", self.glob()),
        };
        if self.depth == 0 {
            *self.truth.calls.entry(tool).or_default() += 1;
        }
        GeneratedCall {
            id: ids::tool(&mut self.rng),
            tool,
            input,
            answer,
            agent,
        }
    }

    /// Writes the lines while a call runs, and its result.
    pub(super) fn deliver(&mut self, call: GeneratedCall, asked: &WrittenLine) {
        if call.tool == "Bash" {
            self.bash_progress(&call.id);
        }
        if let Some((id, prompt)) = &call.agent {
            self.sub_agent(id, prompt, &call.id);
        }
        let took = self.rng.skewed(40, 4_000);
        self.tape.wait(took);
        let block = ObjectBuilder::new();
        let block = if call.answer.fails {
            block
                .text("type", "tool_result")
                .raw("content", &call.answer.content)
                .flag("is_error", true)
        } else {
            block
                .text("tool_use_id", &call.id)
                .text("type", "tool_result")
                .raw("content", &call.answer.content)
        };
        let block = match (call.answer.fails, call.tool) {
            (true, _) => block.text("tool_use_id", &call.id),
            (false, "Bash") => block.flag("is_error", false),
            (false, _) => block,
        };
        let uuid = ids::uuid(&mut self.rng);
        let message = ObjectBuilder::new()
            .text("role", "user")
            .raw("content", &array([block.end()]))
            .end();
        let line = self
            .tape
            .open(&self.thread, Some(&asked.uuid))
            .text("type", "user")
            .raw("message", &message)
            .text("uuid", &uuid)
            .text("timestamp", &self.tape.stamp());
        // Sub-agents' results are stored without the copy.
        let line = if self.spec.has(Feature::ToolUseResult) && self.thread.agent.is_none() {
            line.raw("toolUseResult", &call.answer.copy)
        } else {
            line
        };
        let line = line.text("sourceToolAssistantUUID", &asked.uuid).end();
        let written = self.tape.link(&mut self.thread, &line, uuid);
        self.see(written);
        let tokens = meter::tokens(call.answer.content.len()).min(25_000);
        self.meter.add(tokens);
        if self.depth == 0 && !matches!(call.tool, "TodoWrite" | "Task") {
            self.results.push((call.id.clone(), tokens));
        }
        self.after_call(call.tool, &call.id);
    }

    /// Adds a file to the project; names are numbered, so that they are unique.
    pub(super) fn new_file(&mut self) -> usize {
        let at = self.files.len();
        let path = words::path(&mut self.rng).replacen('_', &format!("_{at}_"), 1);
        let lines = self.rng.skewed(8, 760);
        self.files.push(SourceFile {
            path,
            seed: self.rng.next(),
            lines,
        });
        at
    }

    /// A file that the session knows, or a new one if it knows none.
    pub(super) fn known_file(&mut self) -> usize {
        if self.files.is_empty() {
            return self.new_file();
        }
        // Work stays near the files that were read last.
        let newest = self.files.len() - 1;
        newest - self.rng.skewed(0, newest.min(12))
    }

    pub(super) fn absolute(&self, file: usize) -> String {
        format!("{}/{}", self.tape.cwd, self.files[file].path)
    }

    pub(super) fn file_content(&self, file: usize) -> String {
        let file = &self.files[file];
        words::code(&mut Rng::new(file.seed), file.lines, self.letters)
    }

    pub(super) fn todos_json(&self) -> String {
        array(self.todos.iter().map(|todo| {
            ObjectBuilder::new()
                .text("content", &todo.content)
                .text("status", todo.status)
                .text("activeForm", &format!("Now: {}", todo.content))
                .end()
        }))
    }

    /// The answer of a failed call: the message in its tags, and bare in the copy.
    fn failure(message: &str) -> GeneratedAnswer {
        GeneratedAnswer {
            content: quote(&format!("<tool_use_error>{message}</tool_use_error>")),
            copy: quote(&format!("Error: {message}")),
            fails: true,
        }
    }
}
