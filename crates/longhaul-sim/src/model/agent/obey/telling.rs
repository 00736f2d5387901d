//! Describes in a few words what was seen: files, search matches, failures, and ideas for what to ask next.

use std::collections::BTreeMap;

use longhaul_core::figures::counted;

use super::super::file::RememberedFile;
use super::super::known_paths::extension;
use super::super::say::excerpt;
use super::super::symbols::defined;
use super::super::turn::AgentTurn;
use super::super::view::was_refused;
use crate::model::conversation::{ToolExchange, clip, first_line};
use crate::model::toolbox::{PATH_FIELDS, ToolPurpose};

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
    let lines = held.text.lines().count();
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

/// The lines that searches found, at most `most` of them.
pub(super) fn hits(mind: &AgentTurn<'_>, most: usize) -> Option<String> {
    let mut lines = Vec::new();
    let mut all = 0;
    let mut terms = Vec::new();
    for grep in mind
        .view
        .of_kind(ToolPurpose::Grep)
        .filter(|grep| grep.succeeded())
    {
        let text = grep.text();
        let found: Vec<&str> = text
            .lines()
            .filter(|line| line.contains(':') || line.contains('/'))
            .collect();
        if !found.is_empty() {
            terms.push(format!(
                "`{}`",
                grep.input_text("pattern").unwrap_or("").replace('\\', "")
            ));
        }
        all += found.len();
        lines.extend(found.iter().take(most).map(|line| {
            format!(
                "- `{}`",
                clip(mind.display_path(line.trim()), 140).replace('`', "'")
            )
        }));
    }
    lines.truncate(most);
    let times = if all == 1 { "once" } else { "in these places" };
    let turn = if terms.len() == 1 { "turns" } else { "turn" };
    (!lines.is_empty()).then(|| {
        format!(
            "{} {turn} up {times}:\n{}",
            terms.join(", "),
            lines.join("\n")
        )
    })
}

/// The failures for this prompt.
pub(super) fn failures(mind: &AgentTurn<'_>) -> Option<String> {
    let failed: Vec<&ToolExchange<'_>> = mind
        .view
        .since_prompt()
        .iter()
        .filter(|call| call.failed())
        .collect();
    let lines: Vec<String> = failed
        .iter()
        .take(3)
        .map(|call| {
            let about = call
                .input_any(PATH_FIELDS)
                .or_else(|| call.input_any(&["pattern", "command", "url"]));
            let about = about.map_or_else(String::new, |about| {
                format!(" `{}`", mind.display_path(about))
            });
            if was_refused(call) {
                format!("{}{about} was not allowed, so I did without.", call.name)
            } else {
                format!(
                    "{}{about} failed: {}",
                    call.name,
                    first_line(&call.text(), 120)
                )
            }
        })
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

pub(super) fn next_steps(mind: &AgentTurn<'_>, held: &[RememberedFile]) -> String {
    let mut ideas = Vec::new();
    if let Some(name) = defined(held).first() {
        ideas.push(format!("“find {name}”"));
    }
    if let Some(file) = mind.unread().first() {
        ideas.push(format!("“explain {}”", mind.display_path(file)));
    }
    if mind.can(ToolPurpose::Bash) {
        ideas.push("“run the tests”".to_owned());
    }
    ideas.push("“read everything”".to_owned());
    format!("You could say {}.", ideas.join(", "))
}
