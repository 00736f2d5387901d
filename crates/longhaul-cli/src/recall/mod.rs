//! `longhaul recall`: finds something again in a conversation (X2).
//!
//! The archive itself is `longhaul_store::archive`; here a transcript is brought into it (`following.rs`), and what was
//! found is shown to people (`page.rs`) or programs (`json.rs`).

mod following;
mod json;
mod page;

use longhaul_store::archive::{Archive, ArchiveError, Hit, Matched, PathMatch, Scope};
use longhaul_store::layout::Home;

use crate::args::Recall as Command;
use crate::failure::{Failure, Outcome, tell};
use crate::output;
use crate::settings::Given;
use crate::target::Target;
use crate::text::clean;
use following::{Followed, Index};

/// What was found, and how well it fits.
enum Answer {
    /// Matches with the part of each that answers.
    Matches {
        hits: Vec<Hit>,
        fit: Fit,
        /// Whether there are more than were asked for.
        more: bool,
    },
    /// All that has an id, with its whole text.
    Whole(Vec<(Hit, String)>),
}

/// How well matches fit what was asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    Words(Matched),
    Path(PathMatch),
}

impl Answer {
    fn is_empty(&self) -> bool {
        match self {
            Self::Matches { hits, .. } => hits.is_empty(),
            Self::Whole(parts) => parts.is_empty(),
        }
    }
}

pub(crate) fn run(command: &Command, given: &Given) -> Result<Outcome, Failure> {
    // For the log and the warnings: no setting changes what is found.
    given.resolve(Vec::new())?;
    let home = Home::longhaul(&given.env)?;
    let transcript = match Target::find(&command.session, &given.env)? {
        Target::File(path) => path,
        Target::Folder(_) | Target::Stdin => {
            return Err(Failure::NotOneSession {
                path: command.session.clone(),
            });
        }
    };
    let index = match command.rebuild {
        true => Index::Anew,
        false => Index::Extended,
    };
    let mut followed = Followed::open(&home, &transcript, index)?;
    let answer = match find(&followed.archive, command) {
        // Damage may show only when a part of the index is read for the first time.
        Err(ArchiveError::Damaged { .. }) => {
            followed = followed.mended()?;
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
        return Ok(Outcome::NothingFound);
    }
    Ok(Outcome::Fine)
}

fn find(archive: &Archive, command: &Command) -> Result<Answer, ArchiveError> {
    let limit = command.limit as usize;
    if let Some(id) = &command.id {
        let records = archive.by_id(id)?.into_iter();
        let parts = records.map(|record| {
            let text = archive.text(&record)?;
            Ok((archive.hit(record)?, text))
        });
        return parts.collect::<Result<_, _>>().map(Answer::Whole);
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
        return Ok(Answer::Matches {
            hits: hits.collect::<Result<_, _>>()?,
            fit: Fit::Path(fit),
            more,
        });
    }
    let found = archive.search(&command.query.join(" "), Scope::Everything, limit)?;
    Ok(Answer::Matches {
        hits: found.hits,
        fit: Fit::Words(found.matched),
        more: found.more,
    })
}

/// That nothing was found, and what to try.
fn nothing(command: &Command) -> String {
    let text = match (&command.id, &command.path) {
        (Some(id), _) => {
            format!("Nothing has the id {id}. Searching for words names the ids of what it finds.")
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
