//! The sections that record past work: concepts, files, errors, problems.

use std::collections::BTreeMap;

use super::condense::RetainedEnd;
use super::extracts::{
    QUOTE, about, add_counts, counts, lead_with_quote, outcome_text, title, words,
};
use super::section_source::SectionSource;
use crate::facts::excerpt::excerpt;
use crate::facts::page::BoundedText;
use crate::facts::{ErrorSource, FileAction};
use crate::quoting::{inline, quoted};

/// The input fields in which calls hold the text that they write into a file.
const NEW_TEXT: [&str; 7] = [
    "new_string",
    "content",
    "new_source",
    "new_str",
    "file_text",
    "newString",
    "newText",
];

/// The maximum number of items shown for each category.
const ERRORS: usize = 6;
const SNIPPETS: usize = 6;
/// How many later calls are searched for one that repeats a failed call.
const RETRIES: usize = 300;
/// The maximum number of bytes of a change that are shown.
const SNIPPET: usize = 500;

/// How items begin that later summaries recognize.
const CHANGED: &str = ", as last changed:";
const SAID: &str = "- The assistant said";
pub(super) const SAID_LAST: &str = "- The assistant last said";

impl SectionSource<'_> {
    pub(super) fn concepts(&self, page: &mut BoundedText) {
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        for file in self.facts.files() {
            let name = file.path.rsplit(['/', '\\']).next().unwrap_or_default();
            let kind = name.rsplit_once('.').map(|(_, kind)| kind);
            let kind = kind.filter(|kind| !kind.is_empty() && kind.len() <= 10);
            *kinds.entry(kind.unwrap_or("other").to_owned()).or_default() += 1;
        }
        counts(page, "Kinds of file", kinds);
        let mut programs: BTreeMap<String, usize> = BTreeMap::new();
        for called in self.gathered.calls.iter().rev().take(500) {
            if called.tool() == b"Bash"
                && let Some(command) = about(called)
                && let Some(program) = command.split_whitespace().next()
                && program.len() <= 24
            {
                *programs.entry(program.to_owned()).or_default() += 1;
            }
        }
        let tools = self.gathered.tools.iter();
        let tools = tools.map(|(name, count)| (String::from_utf8_lossy(name).into_owned(), *count));
        let mut tools: BTreeMap<String, usize> = tools.collect();
        let before: Vec<&String> = self.extracts(1).collect();
        add_counts(&mut programs, "Programs run", &before);
        add_counts(&mut tools, "Tools used", &before);
        counts(page, "Programs run", programs);
        counts(page, "Tools used", tools);
        self.carry(page, 1, page.room());
    }

    pub(super) fn files(&self, page: &mut BoundedText) {
        let mut shown: Vec<String> = Vec::new();
        let tools = &self.facts.vocabulary().file_tools;
        for called in self
            .gathered
            .calls
            .iter()
            .rev()
            .filter(|called| !called.failed())
        {
            if shown.len() == SNIPPETS || page.room() < SNIPPET {
                break;
            }
            let input = called.entry.object(called.block.body);
            let tool = tools
                .iter()
                .find(|tool| tool.is_called(called.tool(), input));
            let tool = tool.filter(|tool| tool.action != FileAction::Read);
            let Some(path) = tool.and_then(|tool| input.string(&tool.path)) else {
                continue;
            };
            if shown.iter().any(|known| *known == *path) {
                continue;
            }
            let Some(code) = NEW_TEXT.into_iter().find_map(|field| input.get(field)) else {
                continue;
            };
            let code = excerpt(code, SNIPPET);
            page.line(&format!("- {}{CHANGED}\n{}", inline(&path), quoted(&code)));
            shown.push(path.into_owned());
        }
        for item in self.extracts(2) {
            let lead = item.lines().next().unwrap_or_default();
            let path = lead
                .strip_prefix("- ")
                .and_then(|lead| lead.strip_suffix(CHANGED));
            if let Some(path) = path
                && shown.len() < SNIPPETS
                && !shown.iter().any(|known| inline(known) == path)
                && page.line(item)
            {
                shown.push(path.to_owned());
            }
        }
        self.carry(page, 2, page.room() / 2);
        for file in self.facts.files() {
            if !shown.contains(&file.path)
                && !page.line(&format!("- {} ({})", inline(&file.path), file.state()))
            {
                break;
            }
        }
    }

    pub(super) fn errors(&self, page: &mut BoundedText) {
        let calls = &self.gathered.calls;
        let failed = (0..calls.len()).rev().filter(|at| calls[*at].failed());
        let mut items: Vec<String> = Vec::new();
        for at in failed.take(ERRORS) {
            let called = &calls[at];
            let retried = calls[at + 1..].iter().take(RETRIES);
            let fixed = retried
                .filter(|later| later.tool() == called.tool() && !later.failed())
                .any(|later| about(later) == about(called));
            let outcome = if fixed {
                "; the same succeeded later"
            } else {
                ""
            };
            let text = outcome_text(called, QUOTE);
            items.push(format!(
                "- {} failed{outcome}:\n{}",
                title(called),
                quoted(&text)
            ));
        }
        if let Some(error) = self.facts.last_error().filter(|error| error.tool.is_none()) {
            let who = match error.source {
                ErrorSource::Api => "- The API failed",
                ErrorSource::Tool => "- A tool failed",
            };
            items.push(lead_with_quote(who, error.text.trim()));
        }
        items.extend(self.extracts(3).cloned());
        self.list(page, items, RetainedEnd::First);
        self.carry(page, 3, page.room());
    }

    pub(super) fn solving(&self, page: &mut BoundedText) {
        let mut items: Vec<String> = self.extracts(4).cloned().collect();
        // The last text before the earlier summary has become one of the past texts.
        let last = self.extracts(7);
        items.extend(last.filter_map(|item| {
            let said = item.strip_prefix(SAID_LAST)?;
            Some(format!("{SAID}{said}"))
        }));
        let texts = self.gathered.texts();
        let before_last = texts.iter().rev().skip(1).rev();
        items.extend(before_last.map(|text| lead_with_quote(SAID, &words(text, QUOTE))));
        // The earlier summary is older than all of the above.
        self.carry(page, 4, page.room() / 2);
        self.list(page, items, RetainedEnd::Last);
    }
}
