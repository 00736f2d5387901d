//! A model that does what the first word of a prompt says. Summaries, notes and titles are the simulator's.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use longhaul_sim::model::constraints::ReplyConstraints;
use longhaul_sim::model::conversation::own_texts;
use longhaul_sim::model::{
    DraftBlock, ModelTurn, ReplyDraft, ReplyModel, helper, notes, summarize,
};
use longhaul_sim::request::ApiRole;
use serde_json::{Value, json};

/// What a test can change while it runs.
#[derive(Debug, Default)]
pub(super) struct Mood {
    /// Summaries stop in the middle and never end.
    pub(super) stuck_summaries: AtomicBool,
    /// The faults of the next requests for a turn, one each.
    pub(super) faults: Mutex<VecDeque<String>>,
}

/// The model.
pub(super) struct Actor(pub(super) Arc<Mood>);

/// What was said last, and how many replies it has had.
struct Scene {
    words: String,
    steps: usize,
}

impl Scene {
    fn of(turn: &ModelTurn<'_>) -> Self {
        let messages = &turn.request.messages;
        let at = ReplyConstraints::of(turn.request).prompt_at;
        let words = messages.get(at).map(own_texts).unwrap_or_default();
        let after = messages.iter().skip(at);
        Self {
            words: words.last().cloned().unwrap_or_default(),
            steps: after.filter(|it| it.role == ApiRole::Assistant).count(),
        }
    }
}

fn text(text: impl Into<String>) -> DraftBlock {
    DraftBlock::Text(text.into())
}

fn call(name: &str, input: Value) -> DraftBlock {
    DraftBlock::ToolUse {
        name: name.to_owned(),
        input,
    }
}

/// This many words, each with its number.
pub(super) fn story(count: usize) -> String {
    let words = (1..=count).map(|at| format!("word{at}"));
    words.collect::<Vec<_>>().join(" ")
}

/// The first reply to a prompt, as its first word demands.
fn calls(words: &str) -> Option<Vec<DraftBlock>> {
    let (verb, rest) = words.split_once(' ').unwrap_or((words, ""));
    Some(match verb {
        "run" => vec![call("Bash", json!({ "command": rest }))],
        "read" => {
            let files = rest.split_whitespace();
            // A word that begins with # only makes prompts different.
            files
                .filter(|file| !file.starts_with('#'))
                .map(|file| call("Read", json!({ "file_path": file })))
                .collect()
        }
        "grep" => vec![call(
            "Grep",
            json!({ "pattern": rest, "output_mode": "content" }),
        )],
        "glob" => vec![call("Glob", json!({ "pattern": rest }))],
        "write" => vec![call(
            "Write",
            json!({ "file_path": rest, "content": "hello\n" }),
        )],
        "todo" => vec![call(
            "TodoWrite",
            json!({ "todos": [
                { "content": "Look at it", "status": "in_progress", "activeForm": "Looking at it" },
                { "content": "Tell about it", "status": "pending", "activeForm": "Telling about it" },
            ] }),
        )],
        "delegate" => vec![call(
            "Task",
            json!({ "description": "A small job", "prompt": rest, "subagent_type": "general-purpose" }),
        )],
        "ask" => vec![call(
            "AskUserQuestion",
            json!({ "questions": [
                { "question": "Which database?", "header": "Store", "multiSelect": false, "options": [
                    { "label": "PostgreSQL", "description": "A server of its own" },
                    { "label": "SQLite", "description": "A file in the project" },
                ] },
                { "question": "Which checks?", "header": "Checks", "multiSelect": true, "options": [
                    { "label": "Lints", "description": "" },
                    { "label": "Tests", "description": "" },
                ] },
            ] }),
        )],
        "plan" => vec![call("ExitPlanMode", json!({ "plan": rest }))],
        _ => return None,
    })
}

impl ReplyModel for Actor {
    fn reply(&mut self, turn: &ModelTurn<'_>) -> ReplyDraft {
        let words = ReplyConstraints::of(turn.request).words;
        let asked = match () {
            () if summarize::is_asked(&words) => summarize::reply(turn),
            () if notes::is_asked(&words) => notes::reply(turn.request),
            () => helper::reply(turn.request),
        };
        if let Some(draft) = asked {
            return draft;
        }
        let scene = Scene::of(turn);
        let content = match calls(&scene.words).filter(|_| scene.steps == 0) {
            Some(calls) => calls,
            None => {
                let mut words = scene.words.split_whitespace();
                let told = match (words.next(), words.next().map(str::parse)) {
                    (Some("tell"), Some(Ok(count))) => format!("{}\n\n", story(count)),
                    _ => String::new(),
                };
                vec![text(format!("{told}Done with: {}", scene.words))]
            }
        };
        ReplyDraft {
            content,
            ..ReplyDraft::default()
        }
    }

    fn fault(&mut self, turn: &ModelTurn<'_>) -> Option<String> {
        let words = ReplyConstraints::of(turn.request).words;
        if summarize::is_asked(&words) {
            let stuck = self.0.stuck_summaries.load(Ordering::SeqCst);
            return stuck.then(|| "stall(after=8)".to_owned());
        }
        let next = self.0.faults.lock().unwrap().pop_front();
        if next.is_some() {
            return next;
        }
        let scene = Scene::of(turn);
        (scene.words == "hang on").then(|| "stall(after=4)".to_owned())
    }
}
