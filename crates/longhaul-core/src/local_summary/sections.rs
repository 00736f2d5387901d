//! The nine sections, each from facts and from extracts.

use std::collections::BTreeMap;

use super::extracts::{
    OUTCOME, QUOTE, about, counts, earlier, one_line, outcome_text, quote, title, words,
};
use super::gather::Gathered;
use crate::facts::appendix::messages_within;
use crate::facts::excerpt::excerpt;
use crate::facts::page::Page;
use crate::facts::{CancelledKind, Facts, FileAction, shorten};

/// The number of sections.
pub(super) const SECTIONS: usize = 9;

/// Where calls hold the text that they put into a file.
const NEW_TEXT: [&str; 7] = [
    "new_string",
    "content",
    "new_source",
    "new_str",
    "file_text",
    "newString",
    "newText",
];

/// The most that are shown of each.
const ERRORS: usize = 6;
const SNIPPETS: usize = 6;
const ACTIONS: usize = 10;
/// How many later calls are searched for one that repeats a failed one.
const RETRIES: usize = 300;
/// The most bytes of a change that are shown.
const SNIPPET: usize = 500;
/// The most bytes of an earlier summary that are looked at.
const EARLIER: usize = 200_000;

/// What sections are written from.
pub(super) struct Source<'a> {
    pub(super) gathered: &'a Gathered<'a>,
    pub(super) facts: &'a Facts,
}

impl Source<'_> {
    /// Writes a section, counted from 0.
    pub(super) fn write(&self, section: usize, page: &mut Page) {
        match section {
            0 => self.request(page),
            1 => self.concepts(page),
            2 => self.files(page),
            3 => self.errors(page),
            4 => self.solving(page),
            5 => self.messages(page),
            6 => self.pending(page),
            7 => self.current(page),
            _ => self.next(page),
        }
    }

    fn request(&self, page: &mut Page) {
        let messages = self.facts.messages();
        if let Some(first) = messages.first() {
            quote(page, "First request", first);
        }
        if let [_, .., newest] = messages {
            quote(page, "Newest request", newest);
        }
        if let Some(literal) = self.gathered.earlier {
            let text = excerpt(literal, EARLIER);
            let text = earlier(&text);
            let lead = "- The summary of what came before, in part:\n";
            let room = page.room().saturating_sub(lead.len() + 1);
            if room > 80 {
                page.line(&format!("{lead}{}", shorten(text.trim(), room)));
            }
        }
    }

    fn concepts(&self, page: &mut Page) {
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
        counts(page, "Programs run", programs);
        let tools = self.gathered.tools.iter();
        let tools = tools.map(|(name, count)| (String::from_utf8_lossy(name).into_owned(), *count));
        counts(page, "Tools used", tools.collect());
    }

    fn files(&self, page: &mut Page) {
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
            page.line(&format!(
                "- {path}, as last changed:\n```\n{}\n```",
                code.trim_end()
            ));
            shown.push(path.into_owned());
        }
        for file in self.facts.files() {
            if !shown.contains(&file.path)
                && !page.line(&format!("- {} ({})", file.path, file.state()))
            {
                break;
            }
        }
    }

    fn errors(&self, page: &mut Page) {
        let calls = &self.gathered.calls;
        let failed = (0..calls.len()).rev().filter(|at| calls[*at].failed());
        for at in failed.take(ERRORS) {
            let called = &calls[at];
            let retried = calls[at + 1..].iter().take(RETRIES);
            let fixed = retried
                .filter(|later| later.tool() == called.tool() && !later.failed())
                .any(|later| about(later) == about(called));
            let outcome = match fixed {
                true => "; the same succeeded later",
                false => "",
            };
            let text = outcome_text(called, QUOTE);
            let line = format!("- {} failed{outcome}:\n{}", title(called), text.trim());
            if !page.line(&line) {
                let room = page.room().saturating_sub(1);
                if room > 120 {
                    page.line(&shorten(&line, room));
                }
                return;
            }
        }
        if let Some(error) = self.facts.last_error().filter(|error| error.tool.is_none()) {
            page.line(&format!("- {}", shorten(error.text.trim(), QUOTE)));
        }
    }

    fn solving(&self, page: &mut Page) {
        let last = self.gathered.last_texts.iter().rev().skip(1).rev();
        for said in self.gathered.first_texts.iter().chain(last) {
            if !page.line(&format!("- The assistant: {}", words(said, QUOTE))) {
                return;
            }
        }
    }

    fn messages(&self, page: &mut Page) {
        let room = page.room();
        let text = messages_within(self.facts.messages(), room);
        if !text.is_empty() {
            page.line(text.trim_end_matches('\n'));
        }
    }

    fn pending(&self, page: &mut Page) {
        for todo in self.facts.open_todos() {
            if !page.line(&format!("- ({}) {}", todo.status, todo.content)) {
                return;
            }
        }
        let plans = self.facts.cancelled().iter();
        for plan in plans.filter(|one| one.kind == CancelledKind::Plan) {
            page.line(&format!(
                "- Turned down by the user, not to be resumed: “{}”",
                plan.title
            ));
        }
    }

    fn current(&self, page: &mut Page) {
        let newest = self.gathered.last_texts.back();
        if let Some(said) = newest.or(self.gathered.first_texts.last()) {
            page.line(&format!(
                "- The assistant last said: {}",
                words(said, QUOTE)
            ));
        }
        let from = self.gathered.calls.len().saturating_sub(ACTIONS);
        let mut lines = Vec::new();
        let mut room = page.room();
        for called in self.gathered.calls[from..].iter().rev() {
            let outcome = match (called.result, called.failed()) {
                (None, _) => "no result yet".to_owned(),
                (_, true) => format!("failed: {}", one_line(&outcome_text(called, OUTCOME))),
                (_, false) => "done".to_owned(),
            };
            let line = format!("- {}: {outcome}", title(called));
            let units = line.len() + 1;
            if units > room {
                break;
            }
            room -= units;
            lines.push(line);
        }
        for line in lines.iter().rev() {
            page.line(line);
        }
    }

    fn next(&self, page: &mut Page) {
        let mut open = self.facts.open_todos();
        if let Some(todo) = open.find(|todo| todo.status == "in_progress") {
            page.line(&format!("- Go on with: {}", todo.content));
        }
        if let Some(newest) = self.facts.messages().last() {
            let lead = "- In line with the newest request: “";
            let room = page.room().saturating_sub(lead.len() + 3);
            if room > 40 {
                let words = shorten(&one_line(&newest.text), room.min(QUOTE));
                page.line(&format!("{lead}{words}”"));
            }
        }
    }
}
