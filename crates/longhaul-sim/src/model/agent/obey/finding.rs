//! Looks for something that was named: a file, a word, the words of a question.

use serde_json::json;

use super::super::known_paths::name_of;
use super::super::turn::{AgentMove, AgentTurn, PlannedCall};
use super::hints::{A_LOOK, A_READ, search, within};
use super::look::rank;
use super::{acting, answer};
use crate::model::toolbox::ToolPurpose;

/// Reads one file and says what is in it.
pub(super) fn file(mind: &mut AgentTurn<'_>, given: &str) -> AgentMove {
    let name = name_of(given);
    let known = mind
        .view
        .places
        .files
        .iter()
        .find(|file| file.ends_with(given));
    let path = known.cloned().unwrap_or_else(|| mind.path(given));
    let tried = mind.view.of_kind(ToolPurpose::Read).count();
    let failed = mind
        .view
        .of_kind(ToolPurpose::Read)
        .filter(|read| read.failed())
        .count();
    if tried == 0 {
        let hints = json!({ "file_path": path, "limit": A_READ });
        if let Some(call) = mind.call_of(ToolPurpose::Read, hints) {
            return acting(format!("Reading `{given}`."), [call]);
        }
    }
    if failed == tried && tried == 1 && mind.view.rounds(ToolPurpose::Glob) == 0 {
        let hints = within(mind, json!({ "pattern": format!("**/{name}*") }));
        if let Some(call) = mind.call_of(ToolPurpose::Glob, hints) {
            return acting(format!("Not there. Is there another `{name}`?"), [call]);
        }
    }
    if failed == tried && tried == 1 {
        let fits = |file: &&String| name_of(file).starts_with(name) && **file != path;
        if let Some(found) = mind.view.places.files.iter().find(fits).cloned()
            && let Some(call) = mind.call_of(
                ToolPurpose::Read,
                json!({ "file_path": found, "limit": A_READ }),
            )
        {
            return acting(format!("There is `{}`.", mind.display_path(&found)), [call]);
        }
    }
    AgentMove::Say(answer::file(mind, given))
}

/// Searches for words that were named or are the important ones of a question, and reads the most informative match.
pub(super) fn find(mind: &mut AgentTurn<'_>, terms: &[String]) -> AgentMove {
    // Where only one call may be made at a time, the words are searched for one after the other.
    let done = mind.view.of_kind(ToolPurpose::Grep).count();
    let mut calls = Vec::new();
    for term in terms.iter().skip(done) {
        calls.extend(mind.call_of(ToolPurpose::Grep, search(term)));
    }
    if !calls.is_empty() {
        let left = terms[done..].join("`, `");
        return acting(format!("Searching for `{left}`."), calls);
    }
    if mind.view.rounds(ToolPurpose::Read) == 0
        && let Some(call) = first_hit(mind)
    {
        return acting("This looks closest.", [call]);
    }
    AgentMove::Say(answer::found(mind))
}

fn first_hit(mind: &mut AgentTurn<'_>) -> Option<PlannedCall> {
    let greps = mind
        .view
        .of_kind(ToolPurpose::Grep)
        .filter(|grep| grep.succeeded());
    let texts: Vec<String> = greps.map(|grep| grep.text().into_owned()).collect();
    let hit = mind.view.places.files.iter().filter(|file| {
        texts
            .iter()
            .any(|text| text.contains(mind.display_path(file)))
    });
    let path = hit
        .min_by_key(|file| (rank(mind.display_path(file)), file.len()))?
        .clone();
    mind.call_of(
        ToolPurpose::Read,
        json!({ "file_path": path, "limit": A_LOOK }),
    )
}
