//! Says where the work stands: what was asked for and done, the newest first, the user's rules, the files, what is next.
//! It is made of the summary and of the messages that are still in the window. What a host wrote for the model is left
//! out, and so are questions like the one that is being answered.

use std::collections::BTreeSet;

use longhaul_core::figures::counted;
use serde_json::Value;

use super::super::past::{EarlierPrompt, PromptEnd};
use super::super::turn::AgentTurn;
use super::super::view::was_refused;
use super::super::wish::{Wish, states_rule};
use super::telling::{files, next_steps, short};
use crate::model::conversation::{ToolExchange, first_line};
use crate::model::toolbox::{PATH_FIELDS, ToolPurpose, kind_of_name};

/// The maximum number of requests, rules and files to list.
const MOST: usize = 8;

/// Recounts the conversation so far.
pub(super) fn told(mind: &AgentTurn<'_>) -> String {
    let prompts = mind.past.earlier_prompts();
    let prompts: Vec<EarlierPrompt<'_>> = prompts
        .into_iter()
        .filter(|prompt| !matches!(Wish::of(prompt.text), Wish::Recap))
        .collect();
    let stood = mind.past.where_it_stood();
    if prompts.is_empty() && stood.is_empty() {
        return "We have only just begun.".to_owned();
    }
    let mut parts = Vec::new();
    if !stood.is_empty() {
        let stood: Vec<String> = stood.iter().map(|line| format!("- {line}")).collect();
        parts.push(format!(
            "The summary of what came before says:\n{}",
            stood.join("\n")
        ));
    }
    parts.extend(requests(mind, &prompts));
    parts.extend(rules(mind));
    parts.extend(touched(mind));
    parts.push(next(mind, &prompts));
    parts.join("\n\n")
}

/// What was asked for and done.
fn requests(mind: &AgentTurn<'_>, prompts: &[EarlierPrompt<'_>]) -> Option<String> {
    let count = prompts.len() + mind.past.forgotten_prompts();
    let lines: Vec<String> = (0..prompts.len())
        .rev()
        .take(MOST)
        .map(|index| {
            let done = done_for(mind, prompts, index);
            let done = done.map_or_else(String::new, |done| format!(": {done}"));
            format!("- “{}”{done}", short(prompts[index].text, 80))
        })
        .collect();
    let lead = match (count, count - lines.len()) {
        (0, _) => return None,
        (1, 0) => "You asked for one thing so far:".to_owned(),
        (_, 0) => format!("You asked for {count} things so far; the newest first:"),
        (_, _) => format!(
            "You asked for {count} things so far; the newest {}:",
            lines.len()
        ),
    };
    Some(format!("{lead}\n{}", lines.join("\n")))
}

/// What was done for a request: from the calls in view, or from what notes say of them.
fn done_for(mind: &AgentTurn<'_>, prompts: &[EarlierPrompt<'_>], index: usize) -> Option<String> {
    let prompt = prompts[index];
    if states_rule(prompt.text) {
        return Some("a rule, noted".to_owned());
    }
    let mut deeds = Deeds::default();
    match calls_for(mind, prompts, index) {
        Some(calls) => {
            for call in calls {
                deeds.add(mind, call);
            }
        }
        None => {
            for call in mind.past.noted_calls(prompt.text)?.split(", ") {
                deeds.add_noted(mind, call);
            }
        }
    }
    deeds.told(prompt.text)
}

/// The calls for a request, as far as they are in view; `None` if only a summary has the request.
fn calls_for<'m, 'a>(
    mind: &'m AgentTurn<'a>,
    prompts: &[EarlierPrompt<'_>],
    index: usize,
) -> Option<Vec<&'m ToolExchange<'a>>> {
    let begin = prompts.get(index)?.at?;
    let end = prompts.get(index + 1).and_then(|next| next.at);
    let end = end.unwrap_or(mind.ask.prompt_at);
    let calls = mind.view.exchanges.iter();
    Some(
        calls
            .filter(|call| (begin..end).contains(&call.at))
            .collect(),
    )
}

/// The calls for a request, by what they did.
#[derive(Debug, Default)]
struct Deeds {
    read: Vec<String>,
    changed: Vec<String>,
    searched: Vec<String>,
    ran: Vec<String>,
    other: Vec<&'static str>,
    refused: usize,
    failed: usize,
}

impl Deeds {
    fn add(&mut self, mind: &AgentTurn<'_>, call: &ToolExchange<'_>) {
        if call.failed() {
            match was_refused(call) {
                true => self.refused += 1,
                false => self.failed += 1,
            }
            return;
        }
        let kind = kind_of_name(call.name);
        let about = match kind {
            ToolPurpose::Bash => call.input_text("command"),
            ToolPurpose::Grep => call.input_text("pattern"),
            _ => call.input_any(PATH_FIELDS),
        };
        self.count(mind, kind, about.unwrap_or(""));
    }

    /// Adds a call as notes name it: `Read src/lib.rs`.
    fn add_noted(&mut self, mind: &AgentTurn<'_>, call: &str) {
        if call.ends_with(" (failed)") {
            self.failed += 1;
            return;
        }
        let (name, about) = call.split_once(' ').unwrap_or((call, ""));
        self.count(mind, kind_of_name(name), about);
    }

    fn count(&mut self, mind: &AgentTurn<'_>, kind: ToolPurpose, about: &str) {
        let path = || mind.display_path(about).to_owned();
        let (list, what) = match kind {
            ToolPurpose::Read | ToolPurpose::Editor => (&mut self.read, path()),
            ToolPurpose::Write | ToolPurpose::Edit | ToolPurpose::MultiEdit => {
                (&mut self.changed, path())
            }
            ToolPurpose::Grep => (&mut self.searched, about.replace('\\', "")),
            ToolPurpose::Bash => (&mut self.ran, first_line(about, 80).to_owned()),
            ToolPurpose::Task => return self.others("asked a sub-agent"),
            ToolPurpose::Fetch => return self.others("fetched a page"),
            ToolPurpose::WebSearch => return self.others("searched the web"),
            ToolPurpose::Glob | ToolPurpose::List => return self.others("listed the files"),
            _ => return,
        };
        if !list.contains(&what) {
            list.push(what);
        }
    }

    fn others(&mut self, what: &'static str) {
        if !self.other.contains(&what) {
            self.other.push(what);
        }
    }

    /// What was done, in a few words; a command that the request itself names is not repeated.
    fn told(&self, prompt: &str) -> Option<String> {
        let mut told: Vec<String> = self.other.iter().map(|what| (*what).to_owned()).collect();
        let named = |items: &[String]| match items {
            [one] => format!("`{one}`"),
            [one, two] => format!("`{one}` and `{two}`"),
            many => files(many.len()),
        };
        if !self.searched.is_empty() {
            let terms: Vec<String> = self
                .searched
                .iter()
                .map(|term| format!("`{term}`"))
                .collect();
            told.push(format!("searched for {}", terms.join(", ")));
        }
        if !self.read.is_empty() {
            told.push(format!("read {}", named(&self.read)));
        }
        if !self.changed.is_empty() {
            told.push(format!("changed {}", named(&self.changed)));
        }
        match self.ran.as_slice() {
            [] => {}
            [one] if prompt.contains(one.as_str()) => told.push("ran it".to_owned()),
            [one] => told.push(format!("ran `{one}`")),
            many => told.push(format!("ran {}", counted(many.len() as u64, "command"))),
        }
        if self.refused > 0 {
            let calls = counted(self.refused as u64, "call");
            told.push(format!("{calls} not allowed"));
        }
        if self.failed > 0 {
            told.push(format!("{} failed", counted(self.failed as u64, "call")));
        }
        (!told.is_empty()).then(|| told.join(", "))
    }
}

fn rules(mind: &AgentTurn<'_>) -> Option<String> {
    let rules = mind.past.rules();
    let told: Vec<String> = rules
        .iter()
        .rev()
        .take(MOST)
        .map(|rule| format!("“{}”", short(rule, 160)))
        .collect();
    match told.as_slice() {
        [] => None,
        [one] => Some(format!("Your rule, word for word: {one}")),
        many => Some(format!(
            "Your rules, word for word:\n- {}",
            many.join("\n- ")
        )),
    }
}

/// The files that were read and changed, and those that are still in the window.
fn touched(mind: &AgentTurn<'_>) -> Option<String> {
    let mut read: Vec<&str> = Vec::new();
    let mut changed: Vec<&str> = Vec::new();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut in_view: Vec<&str> = Vec::new();
    for call in mind
        .view
        .exchanges
        .iter()
        .rev()
        .filter(|call| call.succeeded())
    {
        let Some(path) = call.input_any(PATH_FIELDS) else {
            continue;
        };
        let list = match kind_of_name(call.name) {
            ToolPurpose::Read => &mut read,
            ToolPurpose::Write | ToolPurpose::Edit | ToolPurpose::MultiEdit => &mut changed,
            _ => continue,
        };
        if !call.is_out_of_view() && !in_view.contains(&path) {
            in_view.push(path);
        }
        if seen.insert(path) {
            list.push(path);
        }
    }
    for (path, done) in mind.past.files() {
        if seen.insert(path) {
            let list = if done.contains("read") {
                &mut read
            } else {
                &mut changed
            };
            list.push(path);
        }
    }
    if seen.is_empty() {
        return None;
    }
    let shown = |paths: &[&str]| {
        let names = paths
            .iter()
            .take(MOST)
            .map(|path| format!("`{}`", mind.display_path(path)));
        let mut names: Vec<String> = names.collect();
        if paths.len() > MOST {
            names.push(format!("{} more", paths.len() - MOST));
        }
        names.join(", ")
    };
    let mut told = match (read.as_slice(), changed.as_slice()) {
        (read, []) => format!(
            "I read {} and changed none; the newest: {}.",
            files(read.len()),
            shown(read)
        ),
        ([], changed) => format!("I changed {}: {}.", files(changed.len()), shown(changed)),
        (read, changed) => format!(
            "I changed {}: {}. I read {}; the newest: {}.",
            files(changed.len()),
            shown(changed),
            files(read.len()),
            shown(read)
        ),
    };
    told.push_str(&match in_view.len() {
        0 => String::new(),
        all if all == seen.len() => " All of it is still in my window.".to_owned(),
        some => format!(" Of {} I still have the text in my window.", files(some)),
    });
    Some(told)
}

/// What comes next: the request that was cut off, open work, or what the user could ask for.
fn next(mind: &AgentTurn<'_>, prompts: &[EarlierPrompt<'_>]) -> String {
    let cut_off = prompts
        .last()
        .filter(|newest| newest.end == PromptEnd::CutOff && !states_rule(newest.text));
    let Some(newest) = cut_off else {
        return next_after_the_end(mind, prompts);
    };
    let mut told = format!(
        "Next: “{}” was not finished, because the work on it was cut off. Ask for it again to have it done.",
        short(newest.text, 60).trim_end_matches('.')
    );
    if let Some(open) = open_work(mind) {
        told.push_str(&format!("\nStill open on the list:\n{open}"));
    }
    told
}

/// What comes next after a request that was answered.
fn next_after_the_end(mind: &AgentTurn<'_>, prompts: &[EarlierPrompt<'_>]) -> String {
    if let Some(open) = open_work(mind) {
        return format!("Next, still open on the list:\n{open}");
    }
    let ideas = next_steps(mind, &mind.held);
    let newest = prompts.len().checked_sub(1);
    let refused = newest.and_then(|newest| {
        let calls = calls_for(mind, prompts, newest)?;
        Some(calls.iter().any(|call| call.failed() && was_refused(call)))
    });
    match prompts.last() {
        Some(newest) if refused == Some(true) => format!(
            "Next: “{}” is not done, for want of your consent. {ideas}",
            short(newest.text, 60).trim_end_matches('.')
        ),
        Some(newest) => format!(
            "Next: nothing is left open; “{}” was the last thing you wanted. {ideas}",
            short(newest.text, 60).trim_end_matches('.')
        ),
        None => format!("Next: nothing is left open. {ideas}"),
    }
}

/// The entries that are open, a line each; `None` if none is.
fn open_work(mind: &AgentTurn<'_>) -> Option<String> {
    let open = open_todos(mind);
    let open: Vec<&str> = match &open {
        Some(open) => open.iter().map(String::as_str).collect(),
        None => mind.past.open_work(),
    };
    let lines: Vec<String> = (open.iter().take(MOST))
        .map(|work| format!("- {work}"))
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The open entries of the newest todo list in view; `None` if there is no list.
fn open_todos(mind: &AgentTurn<'_>) -> Option<Vec<String>> {
    let mut calls = mind.view.exchanges.iter().rev();
    let list =
        calls.find(|call| kind_of_name(call.name) == ToolPurpose::Todo && call.succeeded())?;
    let entries = list.input.get("todos")?.as_array()?;
    let field = |entry: &Value, name: &str| {
        let value = entry.get(name).and_then(Value::as_str);
        value.unwrap_or_default().to_owned()
    };
    let open = entries
        .iter()
        .filter(|entry| !matches!(field(entry, "status").as_str(), "completed" | "done"));
    Some(open.map(|entry| field(entry, "content")).collect())
}
