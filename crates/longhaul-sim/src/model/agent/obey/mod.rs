//! The obedient manner: rules and keywords, no intelligence, and honest about it. It works on the wish of the user's newest
//! words with the tools that the request offers (`look`, `finding` and `change` make the calls), and answers with what it
//! really saw (`answer`, made of what `telling` puts into words; `talk` and `filler` need no tools). It writes and runs only
//! what is asked for in so many words, and tries it once.

mod answer;
mod change;
mod filler;
mod finding;
mod look;
mod talk;
mod telling;

use std::collections::BTreeSet;

use serde_json::Value;

use super::file::{self, Held};
use super::mind::{Call, Mind, Move};
use super::places::{joined, name_of};
use super::wish::Wish;
use crate::model::ask::Calls;
use crate::model::toolbox::{Kind, PATH_FIELDS};

impl Mind<'_> {
    /// Does what the newest words ask for.
    pub(super) fn obey(&mut self) -> Move {
        let wish = Wish::of(self.past.goal());
        let decided = match self.view.steps >= self.budget {
            true => Move::Say(answer::account(self)),
            false => self.grant(&wish),
        };
        let Move::Act { lead, mut calls } = decided else {
            return decided;
        };
        match self.ask.calls {
            Calls::Forbidden => return Move::Say(talk::WITHOUT_TOOLS.to_owned()),
            Calls::One => calls.truncate(1),
            _ => {}
        }
        match calls.is_empty() {
            true => Move::Say(answer::account(self)),
            false => Move::Act { lead, calls },
        }
    }

    fn grant(&mut self, wish: &Wish) -> Move {
        match wish {
            Wish::Who => Move::Say(talk::who()),
            Wish::Help => Move::Say(talk::help(self)),
            Wish::Where => Move::Say(talk::folder(self)),
            Wish::Beyond => Move::Say(talk::beyond(self)),
            Wish::Thanks => Move::Say(talk::thanks(self)),
            Wish::Recap => Move::Say(answer::recap(self)),
            Wish::Filler => Move::Say(filler::text(self)),
            Wish::Unclear(how) => Move::Say(talk::unclear(how)),
            Wish::Overview => look::around(self),
            Wish::More(depth) => look::further(self, *depth),
            Wish::List(pattern) => look::list(self, pattern),
            Wish::Read(path) => finding::file(self, path),
            Wish::Find(term) => finding::find(self, std::slice::from_ref(term)),
            Wish::Question(terms) => finding::find(self, terms),
            Wish::Fetch(url) => change::fetch(self, url),
            Wish::Delegate(task) => change::delegate(self, task),
            Wish::Todo(items) => change::todo(self, items),
            Wish::Run(what) => change::run(self, what),
            Wish::Write { path, text } => change::write(self, path, text),
            Wish::Edit { path, old, new } => change::edit(self, path, old, new),
        }
    }

    /// A tool of this kind is on offer.
    fn can(&self, kind: Kind) -> bool {
        self.tools.of_kind(kind).is_some()
    }

    /// A call of a tool of this kind with what its schema takes of these; none where there is no such tool.
    fn call_of(&mut self, kind: Kind, mut hints: Value) -> Option<Call> {
        let offer = self.tools.of_kind(kind)?;
        // Tools name their path field differently.
        if let (Some(field), Some(fields)) = (offer.path_field(), hints.as_object_mut())
            && let Some(path) = PATH_FIELDS.iter().find_map(|name| fields.remove(*name))
        {
            fields.insert(field.to_owned(), path);
        }
        Some(self.call(offer, hints, String::new()))
    }

    /// Files it knows and has not looked at, those that tell most first.
    fn unread(&self) -> Vec<String> {
        let (places, before) = (&self.view.places, self.past.summary());
        let known = places.files.iter().filter(|file| {
            !places.read.contains(*file) && (before.is_empty() || !before.contains(self.told(file)))
        });
        let mut files: Vec<String> = known.cloned().collect();
        files.sort_by_cached_key(|file| (look::rank(file), file.len(), file.clone()));
        files
    }

    /// What it holds of files that it read for this prompt, oldest first.
    fn read_now(&self) -> Vec<Held> {
        let mut seen = BTreeSet::new();
        let reads = self
            .view
            .of_kind(Kind::Read)
            .filter(|read| read.succeeded());
        reads
            .filter_map(|read| read.input_any(PATH_FIELDS))
            .filter(|path| seen.insert(*path))
            .filter_map(|path| file::one(self.view.since_prompt(), path))
            .collect()
    }

    /// A path that the user or a listing gave, as tools take it.
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

/// Says something and makes these calls.
fn acting(lead: impl Into<String>, calls: impl IntoIterator<Item = Call>) -> Move {
    Move::Act {
        lead: lead.into(),
        calls: calls.into_iter().collect(),
    }
}
