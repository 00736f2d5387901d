//! Looking around: lists folders and reads files. Nothing here changes anything; what is named is found in `finding`.

use longhaul_sim::model::DraftBlock;
use longhaul_sim::model::agent::places::{extension, name_of};
use longhaul_sim::model::agent::symbols::defined;
use longhaul_sim::model::toolbox::Kind;
use serde_json::{Value, json};

use super::answer;
use super::finding::search;
use super::scene::{Move, Scene};
use super::wish::Depth;

/// Lines read of a file that is only looked at.
pub(super) const A_LOOK: usize = 120;
/// Lines read of a file that is asked about.
pub(super) const A_READ: usize = 600;
/// Rounds of reading for one prompt.
const ROUNDS: usize = 4;

/// What is in this folder: lists, reads what explains it, then some of it, and looks for a name it saw.
pub(super) fn around(scene: &Scene<'_>) -> Move {
    if scene.goes_on() {
        return on(scene);
    }
    if scene.rounds(Kind::Glob) + scene.rounds(Kind::List) == 0 {
        let todos = plan(scene, Planned::Begun);
        let lists = listings(scene);
        if !lists.is_empty() {
            return acting(opening(scene), lists.into_iter().chain(todos));
        }
    }
    let rounds = scene.rounds(Kind::Read);
    let unread = scene.unread();
    let reads = match rounds {
        0 | 1 => reads(scene, &unread, 3, A_LOOK),
        _ => Vec::new(),
    };
    if !reads.is_empty() {
        let say = match rounds {
            0 => format!(
                "{} files to choose from. First what explains the rest.",
                scene.places.files.len()
            ),
            _ => "Now some of the files themselves.".to_owned(),
        };
        return acting(say, reads);
    }
    if rounds > 0 && scene.rounds(Kind::Grep) == 0 {
        let names = defined(&scene.held());
        if let Some(name) = scene.chance().pick(&names)
            && let Some(call) = scene.call(Kind::Grep, search(name))
        {
            return acting(format!("`{name}` caught my eye; where is it used?"), [call]);
        }
    }
    closed(scene).unwrap_or_else(|| Move::say(answer::overview(scene)))
}

/// Reads more files than it has so far.
pub(super) fn further(scene: &Scene<'_>, depth: Depth) -> Move {
    if scene.goes_on() {
        return on(scene);
    }
    let (many, lines) = match depth {
        Depth::Skim => (4, 50),
        Depth::Whole => (3, A_READ),
    };
    let rounds = scene.rounds(Kind::Read);
    let listed = scene.rounds(Kind::Glob) + scene.rounds(Kind::List);
    let unread = scene.unread();
    if unread.len() < many && listed == 0 && rounds == 0 {
        let lists = listings(scene);
        if !lists.is_empty() {
            return acting("Let me see what else there is.".to_owned(), lists);
        }
    }
    if rounds < ROUNDS {
        let reads = reads(scene, &unread, many, lines);
        if !reads.is_empty() {
            let say = format!("{} to go; reading on.", files(unread.len()));
            return acting(say, reads);
        }
    }
    Move::say(answer::further(scene))
}

/// What it says when it goes on after a compaction. Summaries quote it, so it knows that it has done so before.
const GOING_ON: &str = "Going on from the summary.";

/// Goes on where a compaction interrupted it: one more look, then the answer. The answer at once if it is interrupted
/// again, or in a window that is too small it would never end.
fn on(scene: &Scene<'_>) -> Move {
    let before = scene.summary.as_ref().map_or("", |(text, _)| text.as_str());
    if before.contains(GOING_ON) {
        return Move::say(answer::overview(scene));
    }
    if scene.steps == 0 {
        let lists = listings(scene);
        if !lists.is_empty() {
            return acting(GOING_ON.to_owned(), lists);
        }
    }
    if scene.rounds(Kind::Read) == 0 {
        let unread = scene.unread();
        let reads = reads(scene, &unread, 1, A_LOOK);
        if !reads.is_empty() {
            return acting("One file that I had not seen before.".to_owned(), reads);
        }
    }
    closed(scene).unwrap_or_else(|| Move::say(answer::overview(scene)))
}

/// Lists files.
pub(super) fn list(scene: &Scene<'_>, pattern: &str) -> Move {
    if scene.steps == 0 {
        let call = scene
            .call(Kind::Glob, within(scene, json!({ "pattern": pattern })))
            .or_else(|| scene.call(Kind::List, json!({ "path": scene.path(".") })));
        if let Some(call) = call {
            return acting(format!("Looking for `{pattern}`."), [call]);
        }
    }
    Move::say(answer::listed(scene, pattern))
}

/// How much a file tells a newcomer; less is more.
pub(super) fn rank(path: &str) -> u8 {
    let name = name_of(path).to_ascii_lowercase();
    let hidden = path.split('/').any(|part| part.starts_with('.'));
    match extension(path) {
        _ if hidden || name.ends_with(".lock") || name.contains("-lock.") => 5,
        _ if name.starts_with("readme") => 0,
        _ if matches!(
            name.as_str(),
            "cargo.toml" | "package.json" | "pyproject.toml" | "go.mod" | "makefile"
        ) =>
        {
            1
        }
        "rs" | "py" | "js" | "ts" | "go" | "java" | "c" | "h" | "cpp" | "rb" | "sh" | "kt"
        | "swift" => 2,
        "md" | "txt" | "toml" | "rst" => 3,
        _ => 4,
    }
}

/// What lists the folder, two levels deep. At the root of the disk only a folder that is small: all of it would take long.
fn listings(scene: &Scene<'_>) -> Vec<DraftBlock> {
    let patterns: &[&str] = match scene.folder.as_deref() {
        Some("" | "/") => &["*.conf"],
        _ => &["*", "*/*", "*/*/*"],
    };
    let globs = patterns
        .iter()
        .filter_map(|pattern| scene.call(Kind::Glob, within(scene, json!({ "pattern": pattern }))));
    let globs: Vec<DraftBlock> = globs.collect();
    match globs.is_empty() {
        false => globs,
        true => scene
            .call(Kind::List, json!({ "path": scene.path(".") }))
            .into_iter()
            .collect(),
    }
}

/// Within a small folder, where the whole would take long.
pub(super) fn within(scene: &Scene<'_>, mut hints: Value) -> Value {
    if matches!(scene.folder.as_deref(), Some("" | "/")) {
        hints["path"] = json!("/etc");
    }
    hints
}

fn reads(scene: &Scene<'_>, files: &[&str], many: usize, lines: usize) -> Vec<DraftBlock> {
    let files = files.iter().take(many);
    let reads = files
        .filter_map(|file| scene.call(Kind::Read, json!({ "file_path": file, "limit": lines })));
    reads.collect()
}

/// How far the plan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Planned {
    Begun,
    Done,
}

fn plan(scene: &Scene<'_>, planned: Planned) -> Option<DraftBlock> {
    let status = |first: bool| match (planned, first) {
        (Planned::Done, _) => "completed",
        (Planned::Begun, true) => "in_progress",
        (Planned::Begun, false) => "pending",
    };
    let todo = |content: &str, doing: &str, first| json!({ "content": content, "activeForm": doing, "status": status(first) });
    let todos = [
        todo("List the folder", "Listing the folder", true),
        todo("Read what explains it", "Reading what explains it", false),
        todo("Tell what is here", "Telling what is here", false),
    ];
    scene.call(Kind::Todo, json!({ "todos": todos }))
}

/// Ticks the plan off, once.
fn closed(scene: &Scene<'_>) -> Option<Move> {
    let open = match scene.goes_on() {
        true => 0,
        false => 1,
    };
    let call = plan(scene, Planned::Done).filter(|_| scene.rounds(Kind::Todo) == open)?;
    Some(acting(String::new(), [call]))
}

fn opening(scene: &Scene<'_>) -> String {
    let say = scene.chance().say(&[
        "Let me look around",
        "I will have a look",
        "First, what there is",
    ]);
    format!("{say} in `{}`.", scene.here())
}

pub(super) fn files(count: usize) -> String {
    match count {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    }
}

pub(super) fn acting(say: String, calls: impl IntoIterator<Item = DraftBlock>) -> Move {
    Move {
        say,
        calls: calls.into_iter().collect(),
    }
}
