//! The obedient manner: rules and keywords, no intelligence, and honest about it. It works on the wish in the user's
//! newest words with the tools that the request offers (`look`, `finding` and `change` make the calls, with the inputs
//! of `hints`; `project` knows how the project is tested), and answers with what it really saw (`answer`, using the
//! phrases of `telling`; `recap` says where the work stands; `talk` and `filler` need no tools). It writes and runs
//! only what is explicitly asked for, and tries it once.

mod answer;
mod change;
mod filler;
mod finding;
mod hints;
mod look;
mod project;
mod recap;
mod talk;
mod telling;

use std::collections::BTreeSet;

use serde_json::Value;

use super::file::{self, RememberedFile};
use super::known_paths::{joined, name_of};
use super::turn::{AgentMove, AgentTurn, PlannedCall};
use super::wish::Wish;
use crate::model::constraints::AllowedCalls;
use crate::model::toolbox::{PATH_FIELDS, ToolPurpose};

impl AgentTurn<'_> {
    /// Does what the newest words ask for.
    pub(super) fn obey(&mut self) -> AgentMove {
        let wish = Wish::of(self.past.goal());
        let decided = if self.view.steps >= self.budget {
            AgentMove::Say(answer::account(self))
        } else {
            self.grant(&wish)
        };
        let AgentMove::Act { lead, mut calls } = decided else {
            return decided;
        };
        match self.ask.calls {
            AllowedCalls::Forbidden => return AgentMove::Say(talk::WITHOUT_TOOLS.to_owned()),
            AllowedCalls::One => calls.truncate(1),
            _ => {}
        }
        if calls.is_empty() {
            AgentMove::Say(answer::account(self))
        } else {
            AgentMove::Act { lead, calls }
        }
    }

    fn grant(&mut self, wish: &Wish) -> AgentMove {
        match wish {
            // Words about a picture are no words to look for.
            Wish::Beyond | Wish::Find(_) | Wish::Question(_) if self.view.pictures > 0 => {
                AgentMove::Say(talk::pictures(self))
            }
            Wish::Who => AgentMove::Say(talk::who()),
            Wish::Help => AgentMove::Say(talk::help(self)),
            Wish::Where => AgentMove::Say(talk::folder(self)),
            Wish::Rule => AgentMove::Say(talk::noted()),
            Wish::Beyond => AgentMove::Say(talk::beyond(self)),
            Wish::Thanks => AgentMove::Say(talk::thanks(self)),
            Wish::Recap => AgentMove::Say(recap::told(self)),
            Wish::Filler => AgentMove::Say(filler::text(self)),
            Wish::Unclear(how) => AgentMove::Say(talk::unclear(how)),
            Wish::Overview => look::around(self),
            Wish::More(depth) => look::further(self, *depth),
            Wish::List(pattern) => look::list(self, pattern),
            Wish::Read(path) => finding::file(self, path),
            Wish::Find(terms) | Wish::Question(terms) => finding::find(self, terms),
            Wish::Fetch(url) => change::fetch(self, url),
            Wish::SearchWeb(query) => change::search_web(self, query),
            Wish::Delegate(task) => change::delegate(self, task),
            Wish::Todo(items) => change::todo(self, items),
            Wish::Run(what) => change::run(self, what),
            Wish::Write { path, text } => change::write(self, path, text),
            Wish::Edit { path, old, new } => change::edit(self, path, old, new),
        }
    }

    /// Whether a tool of this kind is offered.
    fn can(&self, kind: ToolPurpose) -> bool {
        self.tools.of_kind(kind).is_some()
    }

    /// A call of a tool of this kind with those hints that its schema accepts; `None` if there is no such tool.
    fn call_of(&mut self, kind: ToolPurpose, mut hints: Value) -> Option<PlannedCall> {
        let offer = self.tools.of_kind(kind)?;
        // Tools use different names for their path field.
        if let (Some(field), Some(fields)) = (offer.path_field(), hints.as_object_mut())
            && let Some(path) = PATH_FIELDS.iter().find_map(|name| fields.remove(*name))
        {
            fields.insert(field.to_owned(), path);
        }
        Some(self.call(offer, hints, String::new()))
    }

    /// The files that the agent knows and has not read, the most informative first.
    fn unread(&self) -> Vec<String> {
        let (places, before) = (&self.view.places, self.past.summary());
        let known = places.files.iter().filter(|file| {
            !places.read.contains(*file)
                && (before.is_empty() || !before.contains(self.display_path(file)))
        });
        let mut files: Vec<String> = known.cloned().collect();
        // Folders above this one say nothing about a file, even if they are hidden.
        files.sort_by_cached_key(|file| {
            (
                look::rank(self.display_path(file)),
                file.len(),
                file.clone(),
            )
        });
        files
    }

    /// What the agent knows of the files that it read for this prompt, oldest first.
    fn read_now(&self) -> Vec<RememberedFile> {
        let mut seen = BTreeSet::new();
        let reads = self
            .view
            .of_kind(ToolPurpose::Read)
            .filter(|read| read.succeeded());
        reads
            .filter_map(|read| read.input_any(PATH_FIELDS))
            .filter(|path| seen.insert(*path))
            // A file that has not changed since is not shown again.
            .filter_map(|path| file::one(&self.view.exchanges, path))
            .collect()
    }

    /// A path from the user or a listing, in the form that tools take.
    fn path(&self, given: &str) -> String {
        joined(self.view.folder.as_deref(), given)
    }

    /// The name of the folder.
    fn here(&self) -> &str {
        let folder = self.view.folder.as_deref();
        folder.map_or("this folder", |folder| match name_of(folder) {
            "" => "/",
            name => name,
        })
    }
}

/// A move that says something and makes these calls.
fn acting(lead: impl Into<String>, calls: impl IntoIterator<Item = PlannedCall>) -> AgentMove {
    AgentMove::Act {
        lead: lead.into(),
        calls: calls.into_iter().collect(),
    }
}
