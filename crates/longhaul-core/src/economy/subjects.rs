//! What a call is about, so that results which a later call replaced are found (V4).

use super::{ResultSubject, SubjectEffect};
use crate::message::{EntryBlock, EntryView, Id};

/// Returns the file or command that a call is about, if it names one.
pub(crate) fn subject(entry: EntryView<'_>, call: &EntryBlock) -> Option<ResultSubject> {
    let input = entry.object(call.body);
    let tool = entry.text(call.name);
    if let Some(path) = input.string("file_path") {
        let effect = match &*tool {
            "Edit" | "MultiEdit" | "Write" => SubjectEffect::Changes,
            _ => SubjectEffect::Reads,
        };
        let range = ["offset", "limit", "pages"].map(|key| input.get(key).unwrap_or_default());
        let is_whole = range.iter().all(|part| part.is_empty());
        let range = range.map(String::from_utf8_lossy).join(",");
        return Some(ResultSubject {
            target: Id::of(&path),
            part: (!is_whole).then(|| Id::of(&range)),
            effect,
        });
    }
    let command = input.string("command")?;
    Some(ResultSubject {
        // A command and a file of the same name are not the same thing.
        target: Id::of(&format!("$ {command}")),
        part: None,
        effect: SubjectEffect::Runs,
    })
}
