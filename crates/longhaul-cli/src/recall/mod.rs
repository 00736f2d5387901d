//! `longhaul recall`: finds something again in a conversation (X2).
//!
//! The archive itself is `longhaul_store::archive`; this module indexes a transcript (`archive_index.rs`) and shows the
//! results to people (`page.rs`) or programs (`json.rs`).

mod archive_index;
mod json;
mod page;

use longhaul_store::archive::{
    Archive, ArchiveError, PathMatch, SearchHit, SearchScope, WordMatch,
};
use longhaul_store::layout::Home;

use crate::args::RecallArgs as Command;
use crate::failure::{CliError, CliOutcome, tell, warn};
use crate::output;
use crate::reading;
use crate::settings::CommandSettings;
use crate::target::InspectionTarget;
use crate::text::clean;
use archive_index::{IndexUpdate, UpToDateArchive};

/// The search results, and how well they fit.
enum RecallAnswer {
    /// Matches, each with the part that matched.
    Matches {
        hits: Vec<SearchHit>,
        fit: MatchFit,
        /// Whether there are more matches than the limit.
        more: bool,
    },
    /// All items with an id, with their whole texts.
    Whole(Vec<(SearchHit, String)>),
}

/// How well matches fit the query.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MatchFit {
    Words(WordMatch),
    Path(PathMatch),
}

impl RecallAnswer {
    fn is_empty(&self) -> bool {
        match self {
            Self::Matches { hits, .. } => hits.is_empty(),
            Self::Whole(parts) => parts.is_empty(),
        }
    }
}

pub(crate) fn run(command: &Command, given: &CommandSettings) -> Result<CliOutcome, CliError> {
    // Needed for the log and the warnings only: no setting changes the results.
    given.resolve(Vec::new())?;
    if command.id.is_none() && command.path.is_none() && command.query.join("").trim().is_empty() {
        return Err(CliError::NothingToFind);
    }
    let home = Home::longhaul(&given.env)?;
    let transcript = match InspectionTarget::find(&command.session, &given.env)? {
        InspectionTarget::File(path) => path,
        InspectionTarget::Folder(_) | InspectionTarget::Stdin => {
            return Err(CliError::NotOneSession {
                path: command.session.clone(),
            });
        }
    };
    let index = if command.rebuild {
        IndexUpdate::Anew
    } else {
        IndexUpdate::Extended
    };
    let mut followed = UpToDateArchive::open(&home, &transcript, index)?;
    // The text searched for may be in such a line.
    for problem in reading::in_sentences(&reading::damaged_lines(&transcript)?) {
        warn(&problem);
    }
    let answer = match find(&followed.archive, command) {
        // Damage may become visible only when a part of the index is read for the first time.
        Err(ArchiveError::Damaged { .. }) => {
            followed = followed.repaired()?;
            find(&followed.archive, command)
        }
        answer => answer,
    }?;
    if command.json {
        output::json(&json::object(&transcript, &answer))?;
    } else if !answer.is_empty() {
        output::page(&page::render(&command.session, &answer))?;
    }
    if answer.is_empty() {
        tell(&nothing(command));
        return Ok(CliOutcome::NothingFound);
    }
    Ok(CliOutcome::Fine)
}

fn find(archive: &Archive, command: &Command) -> Result<RecallAnswer, ArchiveError> {
    let limit = command.limit as usize;
    if let Some(id) = &command.id {
        let records = archive.by_id(id)?.into_iter();
        let parts = records.map(|record| {
            let text = archive.text(&record)?;
            Ok((archive.hit(record)?, text))
        });
        return parts.collect::<Result<_, _>>().map(RecallAnswer::Whole);
    }
    if let Some(path) = &command.path {
        let (fit, records) = archive
            .by_path(path)?
            .unwrap_or((PathMatch::Exact, Vec::new()));
        let more = records.len() > limit;
        let hits = records
            .into_iter()
            .take(limit)
            .map(|record| archive.hit(record));
        return Ok(RecallAnswer::Matches {
            hits: hits.collect::<Result<_, _>>()?,
            fit: MatchFit::Path(fit),
            more,
        });
    }
    let found = archive.search(&command.query.join(" "), SearchScope::Everything, limit)?;
    Ok(RecallAnswer::Matches {
        hits: found.hits,
        fit: MatchFit::Words(found.matched),
        more: found.more,
    })
}

/// Says that nothing was found, and what to try.
fn nothing(command: &Command) -> String {
    let text = match (&command.id, &command.path) {
        (Some(id), _) => {
            format!("Nothing has the id {id}. A search for words shows the ids of its matches.")
        }
        (_, Some(path)) => {
            format!("Nothing is about a file {path}. Its name alone, or words, may find it.")
        }
        _ => format!(
            "Nothing holds {}. Fewer or other words, or the beginning of a word, may find it.",
            command.query.join(" ")
        ),
    };
    clean(&text)
}
