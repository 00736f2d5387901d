//! Files as the history shows them (R1): a gateway has no workspace, so the files read last are restored
//! from the newest results.
//!
//! A file's text is known from its newest complete read; writes replace it and edits are applied to it, as the calls
//! say. What cannot be followed is not guessed: the file then counts as read, but is not restored.

mod numbered;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use longhaul_core::facts::HostTexts;

use longhaul_core::json::{ObjectReader, items};
use longhaul_core::message::{BlockKind, Entry, EntryBlock, EntryKind, EntryView, Id};

use super::element::texts;
use super::tools::{KnownTool, KnownTools, ToolKind};

const PARTLY: &str = "only a part of it was read";
const NO_TEXT: &str = "it is not text";
const CHANGED: &str = "it was changed since it was read";
const COMMAND: &str = "a command may have changed it since it was read";

/// The beginning of a result that shows no text because the file is unchanged.
const STUB: &str = "File unchanged since";

/// A field in the edits of some agents: in how many places the text is replaced.
const REPLACEMENTS: &str = "expected_replacements";

/// Words in a command that may change the files it names.
const CHANGES: [&str; 10] = [
    ">",
    "sed -i",
    "perl -",
    "mv ",
    "rm ",
    "cp ",
    "tee ",
    "patch",
    "git ",
    "truncate ",
];

/// The files of a conversation.
#[derive(Debug, Default)]
pub struct HistoryFiles {
    /// Ordered by the last read, the newest last.
    files: Vec<(PathBuf, HistoryFileText)>,
}

/// The known facts about a file's text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum HistoryFileText {
    Text(String),
    Unknown(&'static str),
}

/// A call that awaits its result.
struct PendingFileCall<'a> {
    tool: &'a KnownTool,
    path: Option<PathBuf>,
    input: ObjectReader<'a>,
    raw: &'a [u8],
}

impl HistoryFiles {
    /// Follows the entries of a conversation.
    pub fn of(entries: &[Entry], tools: &KnownTools) -> Self {
        let host = HostTexts::builtin();
        let mut files = Self::default();
        let mut open: HashMap<Id, PendingFileCall<'_>> = HashMap::default();
        // Restored files are listed newest first.
        let put_back = entries.iter().rev().map(Entry::view);
        for view in put_back.filter(|view| view.facets.kind == EntryKind::Attachment) {
            files.attached(view);
        }
        for view in entries.iter().map(Entry::view) {
            for block in view.facets.blocks.iter().filter(|block| !block.inner) {
                let Some(id) = view.block_id(block) else {
                    continue;
                };
                match block.kind {
                    BlockKind::ToolUse => {
                        open.extend(call(view, block, tools).map(|call| (id, call)));
                    }
                    BlockKind::ToolResult => {
                        if let Some(call) = open.remove(&id).filter(|_| !block.is_error) {
                            let result = ObjectReader::new(block.span.of(view.line));
                            files.answered(
                                &call,
                                &texts(result.get("content").unwrap_or_default()),
                                &host,
                            );
                        }
                    }
                    _ => {}
                }
            }
        }
        files
    }

    /// The files in the order in which they were read last, the newest last.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|(path, _)| path.as_path())
    }

    /// The text of a file, or why there is none.
    pub fn text(&self, path: &Path) -> Result<&str, &'static str> {
        let known = self.files.iter().find(|(known, _)| known == path);
        match known {
            Some((_, HistoryFileText::Text(text))) => Ok(text),
            Some((_, HistoryFileText::Unknown(why))) => Err(why),
            None => Err("the history does not show it"),
        }
    }

    fn attached(&mut self, view: EntryView<'_>) {
        let attachment = view.object(view.facets.attachment);
        let file = attachment
            .object("content")
            .and_then(|content| content.object("file"));
        let shown = file.and_then(|file| Some((file.string("filePath")?, file.string("content")?)));
        if let (Some("file"), Some((path, text))) = (attachment.string("type").as_deref(), shown) {
            self.read(
                path.as_ref().into(),
                HistoryFileText::Text(text.into_owned()),
            );
        }
    }

    /// Records that a file was shown: it is the newest now.
    fn read(&mut self, path: PathBuf, shown: HistoryFileText) {
        self.files.retain(|(known, _)| *known != path);
        self.files.push((path, shown));
    }

    fn known(&mut self, path: &Path) -> Option<&mut HistoryFileText> {
        let mut files = self.files.iter_mut();
        files
            .find(|(known, _)| known == path)
            .map(|(_, shown)| shown)
    }

    fn answered(&mut self, call: &PendingFileCall<'_>, result: &str, host: &HostTexts) {
        match (call.tool.kind, &call.path) {
            (ToolKind::Read, Some(path)) => self.shown(call, path, result, host),
            (ToolKind::Write, Some(path)) => {
                let text = call
                    .tool
                    .text
                    .as_ref()
                    .and_then(|field| call.input.string(field));
                if let Some(shown) = self.known(path) {
                    let text = text.map(|text| HistoryFileText::Text(text.into_owned()));
                    *shown = text.unwrap_or(HistoryFileText::Unknown(CHANGED));
                }
            }
            (ToolKind::Edit, Some(path)) => {
                if let Some(shown) = self.known(path) {
                    *shown = edited(shown, call)
                        .map_or(HistoryFileText::Unknown(CHANGED), HistoryFileText::Text);
                }
            }
            // A patch names its files inside its text.
            (ToolKind::Write | ToolKind::Edit, None) => self.doubt(call.raw, CHANGED),
            (ToolKind::Shell, _) => {
                let finds = |word: &&str| memchr::memmem::find(call.raw, word.as_bytes()).is_some();
                if CHANGES.iter().any(finds) {
                    self.doubt(call.raw, COMMAND);
                }
            }
            _ => {}
        }
    }

    fn shown(&mut self, call: &PendingFileCall<'_>, path: &Path, result: &str, host: &HostTexts) {
        if result.starts_with(STUB) {
            return;
        }
        let own = host.before_elements(result);
        let asks_for_part = call.tool.part.iter().any(|field| {
            let asked = call.input.get(field);
            asked.is_some_and(|value| value != b"null")
        });
        let shown = match (numbered::plain(own), own.is_empty()) {
            (_, true) => HistoryFileText::Unknown(NO_TEXT),
            (Some(it), _) if !asks_for_part && it.first == 1 && !it.cut => {
                HistoryFileText::Text(it.text)
            }
            (None, _) if !asks_for_part => HistoryFileText::Text(format!("{own}\n")),
            _ => match self.known(path) {
                Some(before @ HistoryFileText::Text(_)) => before.clone(),
                _ => HistoryFileText::Unknown(PARTLY),
            },
        };
        self.read(path.to_owned(), shown);
    }

    /// Marks the files named in this text as possibly changed.
    fn doubt(&mut self, raw: &[u8], why: &'static str) {
        for (path, shown) in &mut self.files {
            let name = path.file_name().unwrap_or_default();
            if memchr::memmem::find(raw, name.as_encoded_bytes()).is_some() {
                *shown = HistoryFileText::Unknown(why);
            }
        }
    }
}

fn call<'a>(
    view: EntryView<'a>,
    block: &EntryBlock,
    tools: &'a KnownTools,
) -> Option<PendingFileCall<'a>> {
    let raw = block.body.of(view.line);
    let input = ObjectReader::new(raw);
    let tool = tools.of_call(&view.text(block.name), input)?;
    let path = tool.path.as_ref().and_then(|field| input.string(field));
    Some(PendingFileCall {
        tool,
        path: path.map(|path| PathBuf::from(path.into_owned())),
        input,
        raw,
    })
}

/// The text after an edit, if the edit can be applied to the known text.
fn edited(shown: &HistoryFileText, call: &PendingFileCall<'_>) -> Option<String> {
    let HistoryFileText::Text(text) = shown else {
        return None;
    };
    let several = call.input.get("edits").and_then(items);
    let edits = match several {
        Some(edits) => edits.into_iter().map(ObjectReader::new).collect(),
        None => vec![call.input],
    };
    let mut text = text.clone();
    for edit in edits {
        // It is not known which places those are.
        if edit.count(REPLACEMENTS).is_some_and(|places| places > 1) {
            return None;
        }
        let old = edit.string(call.tool.old.as_ref()?)?;
        let new = edit.string(call.tool.new.as_ref()?)?;
        if old.is_empty() || !text.contains(&*old) {
            return None;
        }
        let everywhere = call.tool.all.as_ref().and_then(|field| edit.get(field));
        text = match everywhere {
            Some(b"true") => text.replace(&*old, &new),
            _ => text.replacen(&*old, &new, 1),
        };
    }
    Some(text)
}
