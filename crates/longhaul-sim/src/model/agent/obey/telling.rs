//! Describes in a few words what was seen: files, search matches, failures, and ideas for what to ask next.

use std::collections::BTreeMap;

use longhaul_core::figures::counted;

use super::super::file::RememberedFile;
use super::super::known_paths::extension;
use super::super::say::excerpt;
use super::super::symbols::defined;
use super::super::turn::AgentTurn;
use super::super::view::Refusal;
use super::project;
use crate::model::conversation::{ToolExchange, clip, first_line};
use crate::model::toolbox::{PATH_FIELDS, ToolPurpose, kind_of_name};

pub(super) fn files(count: usize) -> String {
    counted(count as u64, "file")
}

/// The last lines of a text, each clipped.
pub(super) fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    excerpt(&all[all.len().saturating_sub(lines)..].join("\n"), lines)
}

/// A text on one line.
pub(super) fn short(text: &str, limit: usize) -> String {
    let line = first_line(text, limit);
    if line.len() < text.trim().len() {
        format!("{line}…")
    } else {
        line.to_owned()
    }
}

/// A file in one line: its name, its size, and its definitions or heading.
pub(super) fn about(mind: &AgentTurn<'_>, held: &RememberedFile) -> String {
    let lines = held.lines();
    let names = defined(std::slice::from_ref(held));
    let headings = headings(held);
    let quoted = |items: &[String], mark: &str| {
        let items = items
            .iter()
            .take(4)
            .map(|item| format!("{mark}{item}{mark}"));
        items.collect::<Vec<_>>().join(", ")
    };
    let what = match (names.is_empty(), headings.is_empty()) {
        (false, _) => format!(", defines {}", quoted(&names, "`")),
        (true, false) => format!(
            ", headed {}",
            headings
                .iter()
                .take(3)
                .map(|head| format!("“{head}”"))
                .collect::<Vec<_>>()
                .join(", ")
        ),
        (true, true) => match first_line(&held.text, 60) {
            "" => String::new(),
            line => format!(", begins “{line}”"),
        },
    };
    let lines = counted(lines as u64, "line");
    format!("`{}`: {lines} seen{what}", mind.display_path(&held.path))
}

pub(super) fn headings(held: &RememberedFile) -> Vec<String> {
    if !matches!(extension(&held.path), "md" | "rst" | "txt" | "") {
        return Vec::new();
    }
    let heads = held.text.lines().filter_map(|line| line.strip_prefix('#'));
    let heads = heads.map(|head| clip(head.trim_start_matches('#').trim(), 60).to_owned());
    heads.filter(|head| !head.is_empty()).take(6).collect()
}

pub(super) fn kinds(mind: &AgentTurn<'_>) -> String {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for file in &mind.view.places.files {
        *kinds.entry(extension(file)).or_default() += 1;
    }
    let mut kinds: Vec<(&str, usize)> = kinds.into_iter().collect();
    kinds.sort_by_key(|(kind, count)| (std::cmp::Reverse(*count), *kind));
    let named = kinds.iter().filter(|(kind, _)| !kind.is_empty()).take(4);
    let named: Vec<String> = named
        .map(|(kind, count)| format!("{count} × .{kind}"))
        .collect();
    let count = files(mind.view.places.files.len());
    if named.is_empty() {
        format!("I saw {count} near the top.")
    } else {
        format!("I saw {count} near the top: {}.", named.join(", "))
    }
}

/// A search that was made for this prompt.
pub(super) struct Search {
    /// The word that was searched for.
    pub(super) term: String,
    /// The lines that it found.
    lines: Vec<String>,
    /// Whether the tool says that there are more.
    goes_on: bool,
}

impl Search {
    fn of(mind: &AgentTurn<'_>, grep: &ToolExchange<'_>) -> Self {
        let text = grep.text();
        // What tools write about their result stands in brackets.
        let is_note = |line: &&str| line.starts_with(['(', '[']);
        let lines = text.lines().map(str::trim).filter(|line| !is_note(line));
        let lines = lines.filter(|line| line.contains(':') || line.contains('/'));
        let shown = lines.map(|line| clip(mind.display_path(line), 140).replace('`', "'"));
        Self {
            term: grep.input_text("pattern").unwrap_or("").replace('\\', ""),
            lines: shown.collect(),
            goes_on: text
                .lines()
                .any(|line| is_note(&line) && line.contains("more")),
        }
    }

    pub(super) fn found(&self) -> bool {
        !self.lines.is_empty()
    }

    /// The word and its lines, at most `most` of them.
    fn told(&self, most: usize) -> String {
        let times = match (self.lines.len(), self.goes_on) {
            (1, false) => "once",
            _ => "in these places",
        };
        let mut text = format!("`{}` turns up {times}:", self.term);
        for line in self.lines.iter().take(most) {
            text.push_str(&format!("\n- `{line}`"));
        }
        match (self.lines.len().saturating_sub(most), self.goes_on) {
            (0, false) => {}
            (0, true) => text.push_str("\n- and more"),
            (more, false) => text.push_str(&format!("\n- and {more} more")),
            (more, true) => text.push_str(&format!("\n- and more than {more} more")),
        }
        text
    }
}

/// The searches for this prompt whose results are in view.
pub(super) fn searches(mind: &AgentTurn<'_>) -> Vec<Search> {
    let greps = mind.view.of_kind(ToolPurpose::Grep);
    let greps = greps.filter(|grep| grep.succeeded() && !grep.is_out_of_view());
    greps.map(|grep| Search::of(mind, grep)).collect()
}

/// The lines that searches found, about `most` of them.
pub(super) fn hits(mind: &AgentTurn<'_>, most: usize) -> Option<String> {
    let searches = searches(mind);
    let found: Vec<&Search> = searches.iter().filter(|search| search.found()).collect();
    let share = (most / found.len().max(1)).max(2);
    let told: Vec<String> = found.iter().map(|search| search.told(share)).collect();
    (!told.is_empty()).then(|| told.join("\n\n"))
}

/// The failures for this prompt, and the results that cannot be seen any more.
pub(super) fn failures(mind: &AgentTurn<'_>) -> Option<String> {
    let calls = mind.view.since_prompt().iter();
    let failed = calls.filter(|call| call.failed() || call.is_out_of_view());
    let lines: Vec<String> = failed
        .take(3)
        .map(|call| {
            let about = call
                .input_any(PATH_FIELDS)
                .or_else(|| call.input_any(&["pattern", "command", "url"]));
            let about = about.map_or_else(String::new, |about| {
                format!(" `{}`", mind.display_path(about))
            });
            match Refusal::of(call).filter(|_| call.failed()) {
                Some(Refusal::NobodyAsked) => format!(
                    "{}{about} {}, so I did without.",
                    call.name,
                    Refusal::NobodyAsked.reason().trim_start_matches("this ")
                ),
                Some(_) => format!("{}{about} was not allowed, so I did without.", call.name),
                None if call.is_out_of_view() => format!("{}{about}: {OUT_OF_VIEW}", call.name),
                None => format!(
                    "{}{about} failed: {}",
                    call.name,
                    first_line(&call.text(), 120)
                ),
            }
        })
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// What is said of a result that the agent was only pointed to.
pub(super) const OUT_OF_VIEW: &str = "the result is that of an earlier call, which is no longer in my window, so I \
    cannot quote it. `longhaul recall` finds it.";

/// Why a call was not run, and how it could be.
pub(super) fn refused(call: &ToolExchange<'_>, refusal: Refusal) -> String {
    let reason = refusal.reason();
    if refusal != Refusal::NobodyAsked {
        return format!("{reason}.");
    }
    let rule = match call.input_text("command") {
        Some(command) if !command.contains(['\'', '\n', '`']) => {
            format!("'{}({command})'", call.name)
        }
        _ => call.name.to_owned(),
    };
    format!("{reason}. To allow it beforehand, start me with `--allowed-tools {rule}`.")
}

/// What the user could ask for next: only what the agent can do here.
pub(super) fn next_steps(mind: &AgentTurn<'_>, held: &[RememberedFile]) -> String {
    let mut ideas = Vec::new();
    // What was just searched for is no idea.
    let known: Vec<String> = searches(mind)
        .into_iter()
        .map(|search| search.term)
        .collect();
    let mut names = defined(held).into_iter();
    if let Some(name) = names.find(|name| mind.can(ToolPurpose::Grep) && !known.contains(name)) {
        ideas.push(format!("“find {name}”"));
    }
    if mind.can(ToolPurpose::Read)
        && let Some(file) = mind.unread().first()
    {
        ideas.push(format!("“explain {}”", mind.display_path(file)));
    }
    if mind.can(ToolPurpose::Bash) && project::test_command(mind).is_some() {
        ideas.push("“run the tests”".to_owned());
    }
    if !mind.unread().is_empty() {
        ideas.push("“read everything”".to_owned());
    }
    let is_listing = |call: &ToolExchange<'_>| {
        let kind = kind_of_name(call.name);
        matches!(kind, ToolPurpose::Glob | ToolPurpose::List) && call.succeeded()
    };
    let listed = mind.view.exchanges.iter().any(is_listing);
    if mind.view.places.files.is_empty() && !listed {
        ideas.push("“what is in this project?”".to_owned());
        let known = mind.past.files().into_iter().next();
        ideas.extend(known.map(|(file, _)| format!("“explain {}”", mind.display_path(file))));
    } else if mind.view.places.files.is_empty() {
        if mind.can(ToolPurpose::Write) {
            ideas.push("“write a file hello.txt saying good morning”".to_owned());
        }
        if mind.can(ToolPurpose::Bash) {
            ideas.push("“run `ls -la`”".to_owned());
        }
    }
    if ideas.is_empty() {
        ideas.push("“where were we?”".to_owned());
    }
    format!("You could say {}.", ideas.join(", "))
}
