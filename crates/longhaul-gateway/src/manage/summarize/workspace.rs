//! What the gateway restores to the window (R): files as the history shows them, and system messages. There is
//! no other source: the client's own disk is out of reach.

use std::path::Path;

use longhaul::{Boxed, RestoreRequest, Workspace};
use longhaul_core::engine::GatheredContext;
use longhaul_core::facts::shorten;
use longhaul_core::json::ObjectReader;
use longhaul_core::message::{Entry, EntryKind, EntryView};
use longhaul_core::rehydrate::{FileText, RestoreInput, RestoreSourceResult};
use longhaul_core::tokens::RoughEstimator;
use longhaul_core::window::WindowScale;
use serde_json::{Value, json};

use crate::manage::element::texts;
use crate::manage::history_files::HistoryFiles;

/// The introduction to the system messages.
const SAID: &str = include_str!("../fragments/system_said.txt");
/// The most bytes of one system message, and of all of them.
const EACH: u64 = 4_000;
const ALL: u64 = 12_000;
/// The kind of the attachment with the system messages.
const KIND: &str = "critical_system_reminder";
/// Why a file is left out that costs more in each request than reading it again.
const LARGE: &str = "reading it again costs less than keeping it";

/// A conversation's own history, as the source of what is restored.
pub(super) struct HistoryWorkspace {
    files: HistoryFiles,
    said: Option<Value>,
    /// The most tokens of a file that is restored.
    largest: Option<u64>,
}

impl HistoryWorkspace {
    pub(super) fn of(files: HistoryFiles, entries: &[Entry], scale: WindowScale) -> Self {
        Self {
            said: said(entries, scale),
            files,
            largest: None,
        }
    }

    /// The same source, of which files of more tokens are not restored.
    pub(super) fn restoring_at_most(self, largest: Option<u64>) -> Self {
        Self { largest, ..self }
    }

    fn text(&self, path: &Path) -> Result<&str, &'static str> {
        let text = self.files.text(path)?;
        let is_large = |most| RoughEstimator::text(text).unpadded() > most;
        match self.largest {
            Some(most) if is_large(most) => Err(LARGE),
            _ => Ok(text),
        }
    }
}

/// The system messages of the conversation, the newest as far as there is room: each text once, in order.
fn said(entries: &[Entry], scale: WindowScale) -> Option<Value> {
    let bytes = |tokens: u64| usize::try_from(scale.apply(tokens)).unwrap_or(usize::MAX);
    let mut room = bytes(ALL);
    let mut kept: Vec<String> = Vec::new();
    let said = entries.iter().rev();
    let said = said.flat_map(|entry| of_system(entry.view(), bytes(EACH)));
    for text in said.filter(|text| !text.is_empty()) {
        if kept.iter().any(|other| other.contains(&text)) {
            continue;
        }
        match room.checked_sub(text.len()) {
            Some(left) => room = left,
            None => break,
        }
        kept.push(text);
    }
    kept.reverse();
    let content = format!("{}\n\n{}", SAID.trim_end(), kept.join("\n\n"));
    (!kept.is_empty()).then(|| json!({"type": KIND, "content": content}))
}

/// The system texts of an entry, the newest first.
fn of_system(view: EntryView<'_>, each: usize) -> Vec<String> {
    let flags = &view.facets.flags;
    match view.facets.kind {
        EntryKind::User if flags.meta && !flags.compact_summary => {
            let line = ObjectReader::new(view.line).object("message");
            let content = line.and_then(|message| message.get("content"));
            vec![shorten(texts(content.unwrap_or_default()).trim(), each)]
        }
        EntryKind::Attachment => told_before(view).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// The system texts restored after an earlier summary, by paragraph: some may have been repeated since.
fn told_before(view: EntryView<'_>) -> Option<Vec<String>> {
    let attachment = view.object(view.facets.attachment);
    let content = attachment.string("content")?;
    let told = content.strip_prefix(SAID.trim_end())?.trim();
    let paragraphs = told.rsplit("\n\n").map(str::to_owned);
    (attachment.string("type")? == KIND).then(|| paragraphs.collect())
}

impl Workspace for HistoryWorkspace {
    fn gather<'a>(&'a self, wanted: &'a RestoreRequest) -> Boxed<'a, GatheredContext> {
        let files = wanted.files.iter().map(|file| match self.text(&file.path) {
            Ok(text) => RestoreSourceResult::Found(FileText {
                path: file.path.clone(),
                text: text.to_owned(),
            }),
            Err(why) => RestoreSourceResult::Failed {
                what: file.path.display().to_string(),
                why: why.to_owned(),
            },
        });
        let gathered = RestoreInput {
            files: files.collect(),
            announcements: self.said.iter().cloned().collect(),
            ..RestoreInput::default()
        };
        Box::pin(async move {
            GatheredContext {
                gathered,
                prefix: None,
            }
        })
    }
}
