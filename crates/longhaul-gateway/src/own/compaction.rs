//! One compaction with what the model sees instead of what went: the summary, and the files (documented in
//! docs/gateway.md). It is text of a conversation, shown to whoever may read that, and only if its seal is intact.

use longhaul_core::json::{ObjectReader, items};
use longhaul_core::message::{Entry, EntryKind, EntryView};
use longhaul_core::tokens::RoughEstimator;
use serde_json::{Value, json};

use super::text_access::TextAccess;
use crate::manage::{ElementParts, element_texts};
use crate::state::GatewayState;
use crate::store::{CompactedPrefix, PrefixMakingId, StoreError};

/// The longest summary that is shown, in bytes.
const LONGEST: usize = 512 << 10;
/// How many files are listed.
const MOST_FILES: usize = 500;

/// The texts of a compaction, or why there are none; `None` if there was no such compaction.
pub(super) async fn texts(
    state: &GatewayState,
    made: PrefixMakingId,
    most: usize,
    access: TextAccess,
) -> Result<Option<Value>, StoreError> {
    let all = state.prefix_store.made(made.session, most).await?;
    if !all.iter().any(|one| one.making() == made) {
        return Ok(None);
    }
    let nothing =
        |why: &str| json!({"id": made.to_string(), "summary": null, "files": [], "missing": why});
    if let Some(why) = access.why_missing() {
        return Ok(Some(nothing(why)));
    }
    // What was settled has the summary, too, and may have replaced the prefix that it settled.
    let settled = all.iter().find(|one| {
        one.settles() == Some(made.kind)
            && one.line == made.line
            && one.making().millis >= made.millis
    });
    let candidates = [Some(made), settled.map(|settled| settled.making())];
    for candidate in candidates.into_iter().flatten() {
        let Some(found) = state.prefix_store.made_as(candidate).await? else {
            continue;
        };
        return Ok(Some(match found.open(&state.seal) {
            Some(prefix) => shown(made, &prefix),
            None => nothing("the store has it with a broken seal, so it is not shown"),
        }));
    }
    Ok(Some(nothing(
        "it is no longer in the store: a later one has replaced it, or it was too old",
    )))
}

fn shown(made: PrefixMakingId, prefix: &CompactedPrefix) -> Value {
    let lines = prefix.lines.split(|byte| *byte == b'\n');
    let entries: Vec<Entry> = lines
        .filter(|line| !line.is_empty())
        .filter_map(|line| Entry::read(prefix.lines.slice_ref(line)).ok())
        .collect();
    let summary = (prefix.summary > 0).then(|| summary(prefix, &entries));
    let is_cut = summary
        .as_ref()
        .is_some_and(|summary| summary.len() > LONGEST);
    let summary = summary.map(|summary| {
        let end = (0..=LONGEST.min(summary.len()))
            .rev()
            .find(|end| summary.is_char_boundary(*end));
        summary
            .get(..end.unwrap_or(0))
            .unwrap_or_default()
            .to_owned()
    });
    let files = files(&entries);
    let more = files.len().saturating_sub(MOST_FILES);
    json!({
        "id": made.to_string(),
        "summary": summary,
        "summary_cut": is_cut,
        "files": files.into_iter().take(MOST_FILES).collect::<Vec<_>>(),
        "more_files": more,
        "missing": null,
    })
}

/// The summary as the model reads it: the engine's own entry, or everything that is sent for it.
fn summary(prefix: &CompactedPrefix, entries: &[Entry]) -> String {
    let own = entries.iter().map(Entry::view);
    let own = own.filter(|view| view.facets.flags.compact_summary).last();
    let said = own.and_then(|view| {
        let message = ObjectReader::new(view.line).object("message")?;
        Some(element_texts(message.get("content")?))
    });
    said.unwrap_or_else(|| {
        let sent = prefix.text.get(..prefix.summary).unwrap_or_default();
        let list = [b"[", sent, b"]"].concat();
        let elements = items(&list).unwrap_or_default();
        let texts = elements.into_iter().filter_map(|element| {
            let read = ElementParts::read(element)?;
            Some(element_texts(read.content()))
        });
        texts.collect::<Vec<_>>().join("\n\n")
    })
}

/// The files of the conversation, those that were put back first.
fn files(entries: &[Entry]) -> Vec<Value> {
    let mut files: Vec<(String, Value)> = Vec::new();
    for view in entries.iter().map(Entry::view) {
        if let Some((path, text)) = restored(view) {
            let tokens = RoughEstimator::text(&text).padded();
            let file = json!({"path": path, "state": "restored", "tokens": tokens});
            files.push((path, file));
        }
    }
    let boundary = entries.iter().rev().map(Entry::view);
    let mut ledgers = boundary.filter_map(|view| {
        let metadata = view.object(view.facets.metadata);
        metadata.object("ledger")
    });
    let touched = ledgers.next().and_then(|ledger| ledger.get("files"));
    for file in touched.and_then(items).unwrap_or_default() {
        let file = ObjectReader::new(file);
        let Some(path) = file.string("path").map(std::borrow::Cow::into_owned) else {
            continue;
        };
        let done = file.string("done").unwrap_or_default();
        match files.iter_mut().find(|(known, _)| *known == path) {
            Some((_, known)) => known["done"] = json!(done),
            None => {
                let named = json!({"path": path, "state": "named", "done": done, "tokens": null});
                files.push((path, named));
            }
        }
    }
    files.into_iter().map(|(_, file)| file).collect()
}

/// A file that was put back with its text.
fn restored(view: EntryView<'_>) -> Option<(String, String)> {
    if view.facets.kind != EntryKind::Attachment {
        return None;
    }
    let attachment = view.object(view.facets.attachment);
    let file = attachment.object("content")?.object("file")?;
    let is_file = attachment.string("type").as_deref() == Some("file");
    let path = file.string("filePath").filter(|_| is_file)?;
    Some((path.into_owned(), file.string("content")?.into_owned()))
}
