//! Looking for something that was named: a file, a word, the words of a question.

use longhaul_sim::model::DraftBlock;
use longhaul_sim::model::agent::places::name_of;
use longhaul_sim::model::toolbox::Kind;
use serde_json::{Value, json};

use super::answer;
use super::look::{A_LOOK, A_READ, acting, rank, within};
use super::scene::{Move, Scene};

/// Reads one file and says what is in it.
pub(super) fn file(scene: &Scene<'_>, given: &str) -> Move {
    let name = name_of(given);
    let known = scene.places.files.iter().find(|file| file.ends_with(given));
    let path = known.cloned().unwrap_or_else(|| scene.path(given));
    let tried = scene.of_kind(Kind::Read).count();
    let failed = scene
        .of_kind(Kind::Read)
        .filter(|read| read.failed())
        .count();
    if tried == 0 {
        let hints = json!({ "file_path": path, "limit": A_READ });
        if let Some(call) = scene.call(Kind::Read, hints) {
            return acting(format!("Reading `{given}`."), [call]);
        }
    }
    if failed == tried && tried == 1 && scene.rounds(Kind::Glob) == 0 {
        let hints = within(scene, json!({ "pattern": format!("**/{name}*") }));
        if let Some(call) = scene.call(Kind::Glob, hints) {
            return acting(format!("Not there. Is there another `{name}`?"), [call]);
        }
    }
    if failed == tried && tried == 1 {
        let fits = |file: &&String| name_of(file).starts_with(name) && **file != path;
        if let Some(found) = scene.places.files.iter().find(fits)
            && let Some(call) =
                scene.call(Kind::Read, json!({ "file_path": found, "limit": A_READ }))
        {
            return acting(format!("There is `{}`.", scene.told(found)), [call]);
        }
    }
    Move::say(answer::file(scene, given))
}

/// Searches for a word and looks at the first place.
pub(super) fn find(scene: &Scene<'_>, term: &str) -> Move {
    if scene.rounds(Kind::Grep) == 0
        && let Some(call) = scene.call(Kind::Grep, search(term))
    {
        return acting(format!("Searching for `{term}`."), [call]);
    }
    if scene.rounds(Kind::Read) == 0
        && let Some(call) = first_hit(scene)
    {
        return acting("The first place, up close:".to_owned(), [call]);
    }
    Move::say(answer::found(scene, &[term.to_owned()]))
}

/// A question about what is here: searches for its weightier words.
pub(super) fn question(scene: &Scene<'_>, terms: &[String]) -> Move {
    if scene.rounds(Kind::Grep) == 0 {
        let calls: Vec<DraftBlock> = terms
            .iter()
            .filter_map(|term| scene.call(Kind::Grep, search(term)))
            .collect();
        if !calls.is_empty() {
            return acting("I look for the words of your question.".to_owned(), calls);
        }
    }
    if scene.rounds(Kind::Read) == 0
        && let Some(call) = first_hit(scene)
    {
        return acting("This looks closest.".to_owned(), [call]);
    }
    Move::say(answer::found(scene, terms))
}

fn first_hit(scene: &Scene<'_>) -> Option<DraftBlock> {
    let greps = scene.of_kind(Kind::Grep).filter(|grep| grep.succeeded());
    let texts: Vec<String> = greps.map(|grep| grep.text().into_owned()).collect();
    let hit = scene
        .places
        .files
        .iter()
        .filter(|file| texts.iter().any(|text| text.contains(scene.told(file))));
    let path = hit.min_by_key(|file| (rank(file), file.len()))?;
    scene.call(Kind::Read, json!({ "file_path": path, "limit": A_LOOK }))
}

/// A search that shows lines.
pub(super) fn search(term: &str) -> Value {
    json!({ "pattern": escaped(term), "output_mode": "content", "-n": true, "head_limit": 40 })
}

/// A term as a pattern that means just it.
fn escaped(term: &str) -> String {
    let special = |letter: char| r"\.+*?()|[]{}^$#&-~".contains(letter);
    let mut pattern = String::new();
    for letter in term.chars() {
        if special(letter) {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}
