//! Fetches the entries that the model sees, or saw when it gave an earlier response.
//!
//! For the next request the tail of the file is enough, however long the file is. An earlier response needs the whole
//! file, and so does standard input; it is read twice, once for the table of its lines and once for the entries.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use longhaul_core::message::{Entry, EntryKind};
use longhaul_core::prompt::{PlacedEntry, RenderingReplay, UnreadablePrefix};
use longhaul_core::transcript::TranscriptRow;
use longhaul_store::{LineReader, newest_model, resume};

use crate::failure::CliError;
use crate::reading;
use crate::target::InspectionTarget;
use crate::text::count;

/// The part of a session that was read.
pub(super) struct SessionReading {
    /// The file's name, or the name of standard input.
    pub(super) name: String,
    /// The view, in its order.
    pub(super) entries: Vec<EntryAtOffset>,
    /// The newest recorded request prefix of the session.
    pub(super) head: Option<EntryAtOffset>,
    /// The selected response, and how many there are; `None` for the next request.
    pub(super) turn: Option<TurnNumber>,
    /// The model that gave that response, or the newest one if none is in view.
    pub(super) model: Option<String>,
    /// Whether the file is empty.
    pub(super) is_empty: bool,
    /// Problems of the file, in sentences.
    pub(super) problems: Vec<String>,
}

/// An entry, and where its line begins.
pub(super) struct EntryAtOffset {
    pub(super) offset: u64,
    pub(super) entry: Entry,
}

/// A response by its number, from 1.
#[derive(Clone, Copy)]
pub(super) struct TurnNumber {
    pub(super) number: usize,
    pub(super) count: usize,
}

impl EntryAtOffset {
    fn placed(&self) -> PlacedEntry<'_> {
        PlacedEntry {
            offset: self.offset,
            entry: self.entry.view(),
        }
    }
}

impl SessionReading {
    /// How the conversation was rendered; `None` if no prefix entry was found.
    pub(super) fn replay(&self) -> Option<Result<RenderingReplay, UnreadablePrefix>> {
        let view: Vec<PlacedEntry<'_>> = self.entries.iter().map(EntryAtOffset::placed).collect();
        let head = self.head.as_ref()?;
        Some(RenderingReplay::of(head.placed(), &view))
    }
}

/// Reads the part of a session that is needed.
pub(super) fn read(
    target: InspectionTarget,
    turn: Option<i64>,
) -> Result<SessionReading, CliError> {
    match target {
        InspectionTarget::Folder(path) => Err(CliError::NotOneSession { path }),
        InspectionTarget::Stdin => {
            let bytes = reading::buffered(reading::stdin(), reading::STDIN, CliError::Stdin)?;
            whole(
                &RereadableSource::Bytes(reading::STDIN.to_owned(), bytes),
                turn,
            )
        }
        InspectionTarget::File(path) => {
            let source = RereadableSource::of_file(path)?;
            match (&source, turn) {
                (RereadableSource::File(path), None) => tail(path, &source),
                _ => whole(&source, turn),
            }
        }
    }
}

/// Something that can be read more than once.
enum RereadableSource {
    File(PathBuf),
    Bytes(String, Vec<u8>),
}

impl RereadableSource {
    /// Opens a file; a pipe can be read only once, so its content is kept.
    fn of_file(path: PathBuf) -> Result<Self, CliError> {
        let failed = |source| CliError::Read {
            path: path.clone(),
            source,
        };
        if std::fs::metadata(&path).map_err(failed)?.is_file() {
            return Ok(Self::File(path));
        }
        let name = path.display().to_string();
        let pipe = File::open(&path).map_err(failed)?;
        let bytes = reading::buffered(pipe, &name, failed)?;
        Ok(Self::Bytes(name, bytes))
    }

    fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Bytes(name, _) => name.clone(),
        }
    }

    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(match self {
            Self::File(path) => Box::new(File::open(path)?),
            Self::Bytes(_, bytes) => Box::new(bytes.as_slice()),
        })
    }

    fn failed(&self, source: io::Error) -> CliError {
        CliError::Read {
            path: self.name().into(),
            source,
        }
    }
}

/// The live view, from the tail of a file.
fn tail(path: &Path, source: &RereadableSource) -> Result<SessionReading, CliError> {
    let name = source.name();
    let failed = |error| source.failed(error);
    let mut beginning = source.open().map_err(failed)?;
    reading::recognize(&mut beginning, &name, failed)?;
    let resumed = resume(path).map_err(|error| failed(error.source))?;
    if resumed.entries.is_empty() {
        // The tail holds nothing of a conversation: the whole file must show what it is.
        return whole(source, None);
    }
    let damaged = (resumed.damaged > 0).then(|| {
        let lines = count(
            resumed.damaged as u64,
            "damaged line is",
            "damaged lines are",
        );
        format!("{lines} ignored; `longhaul inspect` says which")
    });
    let mut replies = resumed.entries.iter().map(|entry| entry.facets());
    let told = resumed.request_prefix.is_some()
        || replies.any(|facets| facets.is_reply() && facets.model.is_present());
    let model = match told {
        true => None,
        // After a compaction of everything no reply is in view; earlier lines name the model.
        false => newest_model(path).map_err(|error| failed(error.source))?,
    };
    let entries = resumed.entries.into_iter().zip(resumed.offsets);
    Ok(SessionReading {
        name,
        entries: entries
            .map(|(entry, offset)| EntryAtOffset { offset, entry })
            .collect(),
        head: resumed.request_prefix.map(|head| EntryAtOffset {
            offset: head.offset,
            entry: head.entry,
        }),
        turn: None,
        model,
        is_empty: false,
        problems: damaged.into_iter().collect(),
    })
}

/// The live view or an earlier one, from a whole file.
fn whole(source: &RereadableSource, turn: Option<i64>) -> Result<SessionReading, CliError> {
    let name = source.name();
    let failed = |error| source.failed(error);
    let inspection = reading::inspection(source.open().map_err(failed)?, &name, failed)?;
    let is_empty = inspection.entries() == 0 && inspection.damaged_lines() == 0;
    let (table, conversation, problems) = inspection.resolve();
    let rows = table.rows();
    let (view, end, turn, model) = match turn {
        None => {
            let view = conversation.view().clone();
            let named = |row: &TranscriptRow| row.is_reply() && row.model.is_some();
            let in_view = view.rows.iter().any(|at| named(&rows[*at as usize]));
            let newest = (0..rows.len() as u32).rev();
            let newest = newest.filter(|at| conversation.is_main(*at) && !in_view);
            let model = newest
                .map(|at| &rows[at as usize])
                .find(|row| named(row))
                .and_then(|row| row.model);
            let model = model.map(|name| table.text(name).to_owned());
            (view, rows.len(), None, model)
        }
        Some(number) => {
            let responses = conversation.responses(&table);
            let turn = found(number, responses.len())?;
            let row = responses[turn.number - 1];
            let view = conversation.view_answered_by(&table, row);
            let model = rows[row as usize]
                .model
                .map(|name| table.text(name).to_owned());
            (view, row as usize, Some(turn), model)
        }
    };
    let head = rows[..end].iter().rfind(|row| row.kind == EntryKind::Head);
    let head = head.map(|row| row.offset);
    let view: Vec<u64> = (view.rows.iter())
        .map(|row| rows[*row as usize].offset)
        .collect();
    let wanted = view.iter().copied().chain(head);
    let entries = pick(source.open().map_err(failed)?, wanted).map_err(failed)?;
    let sighted = |offset: u64| {
        let entry = entries.get(&offset)?.clone();
        Some(EntryAtOffset { offset, entry })
    };
    Ok(SessionReading {
        name,
        entries: view.into_iter().filter_map(sighted).collect(),
        head: head.and_then(sighted),
        turn,
        model,
        is_empty,
        problems: reading::in_sentences(&problems),
    })
}

/// The response with this number, counted from 1, or from the end if it is negative.
fn found(turn: i64, count: usize) -> Result<TurnNumber, CliError> {
    let from_start = usize::try_from(turn).ok();
    let from_end = || {
        let back = usize::try_from(turn.unsigned_abs()).ok()?;
        (count + 1).checked_sub(back)
    };
    let number = from_start.or_else(from_end);
    number
        .filter(|number| (1..=count).contains(number))
        .map(|number| TurnNumber { number, count })
        .ok_or(CliError::NoSuchTurn { turn, count })
}

/// The entries whose lines begin at these offsets.
fn pick(source: impl Read, wanted: impl Iterator<Item = u64>) -> io::Result<BTreeMap<u64, Entry>> {
    let mut entries: BTreeMap<u64, Option<Entry>> = wanted.map(|offset| (offset, None)).collect();
    let last = entries.last_key_value().map(|(offset, _)| *offset);
    let mut lines = LineReader::new(source);
    while let Some(line) = lines.next()? {
        if Some(line.offset) > last {
            break;
        }
        if let Some(entry) = entries.get_mut(&line.offset) {
            *entry = Entry::read(line.bytes.to_vec().into()).ok();
        }
    }
    let entries = entries.into_iter();
    Ok(entries
        .filter_map(|(offset, entry)| Some((offset, entry?)))
        .collect())
}
