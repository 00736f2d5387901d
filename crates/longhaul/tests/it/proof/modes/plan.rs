//! The session that every mode runs: what the user says, what the model does, what tools return and how long that
//! takes. It depends only on a seed and not on what the session does with it.

use std::time::Duration;

use longhaul_sim::model::DraftBlock;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::{Value, json};

/// One turn.
#[derive(Clone)]
pub(super) struct Step {
    /// What the user says before it.
    pub(super) said: Option<String>,
    /// What the model thinks, where it does.
    pub(super) thought: String,
    /// What it answers.
    pub(super) reply: Vec<DraftBlock>,
    /// The results of its calls, in their order: a text, and whether it is an error.
    pub(super) results: Vec<(String, bool)>,
    /// How long the tools take, or the user who reads and thinks.
    pub(super) pause: Duration,
}

/// How fast the window fills.
#[derive(Clone, Copy)]
pub(super) enum Flow {
    /// As agents work: many short results, some long.
    Mixed,
    /// Long stretches with little growth, then quick bursts of long results with at most this many lines.
    Bursts(u32),
}

struct Chances(ChaCha8Rng);

impl Chances {
    fn below(&mut self, end: u32) -> u32 {
        self.0.next_u32() % end
    }

    fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high - low + 1)
    }
}

/// A session of this many turns.
pub(super) fn plan(seed: u64, turns: usize, flow: Flow) -> Vec<Step> {
    let mut chances = Chances(ChaCha8Rng::seed_from_u64(seed));
    let mut steps = Vec::with_capacity(turns);
    let mut left = 0;
    let mut spoken = 0;
    while steps.len() < turns {
        let said = (left == 0).then(|| {
            left = chances.between(2, 6);
            spoken += 1;
            says(&mut chances, spoken)
        });
        left -= 1;
        let at = steps.len();
        let step = match left {
            0 => rests(&mut chances, at),
            _ => works(&mut chances, at, spoken, flow),
        };
        steps.push(Step { said, ..step });
    }
    steps
}

const PARTS: [&str; 6] = ["parser", "cache", "index", "tests", "docs", "lexer"];

fn part(chances: &mut Chances) -> &'static str {
    PARTS[chances.below(6) as usize]
}

/// Mostly a request, sometimes a rule, a correction or a long report.
fn says(chances: &mut Chances, at: u32) -> String {
    let part = part(chances);
    match at % 23 {
        4 => format!("Rule {at}: never touch the {part} of module {at} without asking me first."),
        11 => format!(
            "No, that is wrong in request {at}: you must always run the {part} tests before you say that it works."
        ),
        17 => {
            let words = format!(
                "the {part} of module {at} is slower than it was in the last release, and "
            );
            let times = chances.between(10, 40) as usize;
            format!("Report {at}: {}that is all I know.", words.repeat(times))
        }
        _ => format!(
            "Request {at}: look into the {part} in src/{part}_{at}.rs and make the function run_{at} handle an empty input."
        ),
    }
}

/// The model is done with what it was asked.
fn rests(chances: &mut Chances, at: usize) -> Step {
    let part = part(chances);
    let text = format!(
        "Done with step {at}: the {part} handles an empty input now, and I left the public functions as they were. \
         The tests of the {part} pass. What remains is the case in which two callers wait at the same time."
    );
    Step {
        said: None,
        thought: format!("Step {at} is finished; I should say what was done and what is open."),
        reply: vec![DraftBlock::Text(text)],
        results: Vec::new(),
        // Mostly the user answers soon; sometimes the cache has gone cold meanwhile.
        pause: Duration::from_secs(match chances.below(25) {
            0 => 420,
            _ => u64::from(chances.between(5, 60)),
        }),
    }
}

/// The model calls tools.
fn works(chances: &mut Chances, at: usize, spoken: u32, flow: Flow) -> Step {
    let calls = match chances.below(5) {
        0 => chances.between(2, 3),
        _ => 1,
    };
    let mut reply = Vec::new();
    if chances.below(3) == 0 {
        let text = format!("Step {at}: I look at how this is called before I change it.");
        reply.push(DraftBlock::Text(text));
    }
    let mut results = Vec::new();
    for _ in 0..calls {
        let (name, input, result) = call(chances, at, spoken, flow);
        let input = input.as_object().cloned().unwrap_or_default();
        reply.push(DraftBlock::ToolUse {
            name: name.to_owned(),
            input: Value::Object(input),
        });
        results.push(result);
    }
    Step {
        said: None,
        thought: format!(
            "For step {at} I need to see the callers; the signature may have to change."
        ),
        reply,
        results,
        pause: Duration::from_millis(match (flow, chances.below(12)) {
            (Flow::Bursts(_), _) => u64::from(chances.between(50, 1_500)),
            (Flow::Mixed, 0) => u64::from(chances.between(20_000, 90_000)),
            (Flow::Mixed, _) => u64::from(chances.between(300, 8_000)),
        }),
    }
}

type Called = (&'static str, Value, (String, bool));

fn call(chances: &mut Chances, at: usize, spoken: u32, flow: Flow) -> Called {
    let part = part(chances);
    let path = format!("/project/src/{part}_{}.rs", chances.between(1, 40));
    let output = output(chances, at, flow);
    match chances.below(20) {
        0..9 => ("Read", json!({"file_path": path}), (output, false)),
        9..13 => (
            "Grep",
            json!({"pattern": format!("run_{spoken}")}),
            (output, false),
        ),
        13..16 => (
            "Bash",
            json!({"command": format!("cargo test {part}")}),
            (output, false),
        ),
        16 => {
            let error = format!(
                "error[E0308]: mismatched types in {path}, line {at}: expected `u64`, found `u32`\n{output}"
            );
            (
                "Bash",
                json!({"command": format!("cargo check -p {part}")}),
                (error, true),
            )
        }
        17 => {
            let todo = |text: String, status: &str| json!({"content": text, "status": status, "activeForm": "Working"});
            let todos = json!({"todos": [
                todo(format!("Handle the empty input in the {part}"), "completed"),
                todo(format!("Two callers at once, step {at}"), "in_progress"),
                todo("Write the release notes".to_owned(), "pending"),
            ]});
            (
                "TodoWrite",
                todos,
                ("Todos were written.".to_owned(), false),
            )
        }
        _ => {
            let edit = json!({"file_path": path, "old_string": format!("let value_{at} = 1;"),
                "new_string": format!("let value_{at} = checked(1)?;")});
            ("Edit", edit, ("The file was changed.".to_owned(), false))
        }
    }
}

/// Text of a tool: mostly short, some long.
fn output(chances: &mut Chances, at: usize, flow: Flow) -> String {
    let lines = match (flow, chances.below(20), at % 40) {
        (Flow::Mixed, 0, _) => chances.between(500, 900),
        (Flow::Mixed, 1..7, _) => chances.between(100, 400),
        (Flow::Mixed, ..) => chances.between(10, 100),
        (Flow::Bursts(_), _, 0..25) => chances.between(1, 10),
        (Flow::Bursts(most), ..) => chances.between(most / 4, most),
    };
    let mut text = String::new();
    for line in 0..lines {
        let value = chances.below(997);
        text.push_str(&format!(
            "{line}: let value_{value} = compute({line}, Mode::Strict);\n"
        ));
    }
    text
}
