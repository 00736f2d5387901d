//! Calls that change files. An edit adds, rewords or removes a comment marked `sim-note`, anchored on lines that really
//! are in the text that was read; a write makes a new file under `sim-notes/`.

use serde_json::json;

use super::file::RememberedFile;
use super::known_paths::{extension, joined, name_of};
use super::symbols::definition;
use super::turn::{AgentTurn, PlannedCall};
use super::{WriteAccess, view::PlanningMode};
use crate::model::toolbox::{OfferedTool, ToolPurpose};

/// The marker of the agent's own comments.
const MARK: &str = "sim-note:";
/// The number of own comments in a file above which one is removed rather than added.
const MOST_NOTES: usize = 4;
/// The maximum length of the text that an edit anchors on.
const LONGEST_ANCHOR: usize = 400;

impl AgentTurn<'_> {
    /// Edits a file whose content the agent knows.
    pub(super) fn edit(&mut self, offer: OfferedTool<'_>) -> Option<PlannedCall> {
        let (path, old, new, doing) = self.change()?;
        let field = offer.path_field()?;
        let hints = match offer.kind {
            ToolPurpose::MultiEdit => {
                json!({ field: path, "edits": [{ "old_string": old, "new_string": new }] })
            }
            _ => json!({
                field: path, "old_string": old, "new_string": new, "old_str": old, "new_str": new,
                "command": "str_replace",
            }),
        };
        Some(self.call(offer, hints, doing))
    }

    /// Views or edits a file with a tool that does both.
    pub(super) fn editor(&mut self, offer: OfferedTool<'_>) -> Option<PlannedCall> {
        let may_change =
            self.pace.write_access == WriteAccess::Full && self.view.mode == PlanningMode::Working;
        if may_change
            && self.chance.odds(0.4)
            && let Some(call) = self.edit(offer)
        {
            return Some(call);
        }
        let mut call = self.read(offer)?;
        call.input["command"] = json!("view");
        Some(call)
    }

    /// Writes a new file about what the agent found.
    pub(super) fn write(&mut self, offer: OfferedTool<'_>) -> Option<PlannedCall> {
        let field = offer.path_field()?;
        let topic = self.topic();
        let stem = topic.replace(' ', "-");
        let name = format!("sim-notes/{stem}-{:04x}.md", self.chance.below(1 << 16));
        let path = joined(self.view.folder.as_deref(), &name);
        let mut text = format!("# {topic}\n\nFiles that bear on it:\n");
        for file in self.view.places.read.iter().take(12) {
            text.push_str(&format!("- `{file}`\n"));
        }
        let doing = format!("write what was found to `{path}`");
        Some(self.call(offer, json!({ field: path, "content": text }), doing))
    }

    /// An edit that applies: the path, the old text, the new text, and a description.
    fn change(&mut self) -> Option<(String, String, String, String)> {
        let editable: Vec<usize> = (0..self.held.len())
            .filter(|index| comment(&self.held[*index].path).is_some())
            .collect();
        let near: Vec<usize> = editable
            .iter()
            .copied()
            .filter(|index| self.bears_on_it(&self.held[*index].path))
            .collect();
        let pool = if !near.is_empty() && self.chance.odds(0.8) {
            near
        } else {
            editable
        };
        let index = *self.chance.pick(&pool)?;
        let held = self.held[index].clone();
        let path = held.path.clone();
        let (open, close) = comment(&path)?;
        let notes: Vec<usize> = held
            .text
            .lines()
            .enumerate()
            .filter(|(_, line)| line.contains(MARK))
            .map(|(at, _)| at)
            .collect();
        let lines: Vec<&str> = held.text.split('\n').collect();
        let name = name_of(&path).to_owned();
        let fresh = self.note();
        if !notes.is_empty() && (notes.len() >= MOST_NOTES || self.chance.odds(0.4)) {
            let at = *self.chance.pick(&notes)?;
            let line = lines.get(at)?;
            let indent = &line[..line.len() - line.trim_start().len()];
            if notes.len() >= MOST_NOTES
                && let Some(next) = lines.get(at + 1).filter(|next| !next.trim().is_empty())
            {
                let old = format!("{line}\n{next}");
                let doing = format!("take a stale remark out of `{name}`");
                return anchored(&held, &old).then(|| (path, old, (*next).to_owned(), doing));
            }
            let new = format!("{indent}{open} {MARK} {fresh}{close}");
            let old = (*line).to_owned();
            let doing = format!("reword a remark in `{name}`");
            return (anchored(&held, &old) && old != new).then_some((path, old, new, doing));
        }
        let spots: Vec<usize> = (0..lines.len())
            .filter(|at| is_spot(&path, lines[*at]) && (*at == 0 || !lines[at - 1].contains(MARK)))
            .collect();
        for _ in 0..6 {
            let at = *self.chance.pick(&spots)?;
            let line = lines[at];
            let indent = &line[..line.len() - line.trim_start().len()];
            let remark = format!("{indent}{open} {MARK} {fresh}{close}");
            // A second line makes the anchor unique where only a part of the file was read.
            let (old, new) = match lines.get(at + 1).filter(|next| !next.trim().is_empty()) {
                Some(next) => (
                    format!("{line}\n{next}"),
                    format!("{remark}\n{line}\n{next}"),
                ),
                None => (line.to_owned(), format!("{remark}\n{line}")),
            };
            if anchored(&held, &old) {
                let what =
                    definition(line).map_or(String::new(), |symbol| format!(" above `{symbol}`"));
                return Some((path, old, new, format!("add a remark to `{name}`{what}")));
            }
        }
        None
    }

    fn note(&mut self) -> String {
        let topic = self.topic();
        let remark = self.chance.say(&[
            "kept as it is while looking into",
            "this is where to begin for",
            "checked together with",
            "see the tests before changing this for",
            "has to stay in step with",
        ]);
        format!("{remark} {topic}")
    }
}

/// Whether an edit can be anchored on the text: it is short enough and occurs exactly once in the known content.
fn anchored(held: &RememberedFile, old: &str) -> bool {
    old.len() <= LONGEST_ANCHOR
        && !old.trim().is_empty()
        && !old.contains(['\r', '\u{fffd}'])
        && held.text.matches(old).count() == 1
}

/// Whether a comment above this line does no harm.
fn is_spot(path: &str, line: &str) -> bool {
    match extension(path) {
        "md" | "markdown" | "html" => line.starts_with('#') || line.starts_with("<h"),
        "toml" => line.starts_with('['),
        "yaml" | "yml" => line.ends_with(':') && !line.starts_with([' ', '-']),
        _ => !line.contains(MARK) && definition(line).is_some(),
    }
}

/// The opening and the end of a comment in a file.
fn comment(path: &str) -> Option<(&'static str, &'static str)> {
    match extension(path) {
        "rs" | "js" | "mjs" | "ts" | "tsx" | "jsx" | "go" | "java" | "c" | "h" | "cc" | "cpp"
        | "hpp" | "cs" | "swift" | "kt" | "scala" | "zig" | "dart" => Some(("//", "")),
        "py" | "rb" | "sh" | "toml" | "yaml" | "yml" => Some(("#", "")),
        "lua" | "sql" | "hs" => Some(("--", "")),
        "css" => Some(("/*", " */")),
        "md" | "markdown" | "html" => Some(("<!--", " -->")),
        _ => None,
    }
}
