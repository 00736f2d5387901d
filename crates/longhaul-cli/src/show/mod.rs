//! `longhaul show`: what the model sees, block by block, for the next request or an earlier one.
//!
//! The list is made in `longhaul_core::listing`; this module reads the entries (`reading.rs`), puts the request
//! together as a host would (`request.rs`), and shows both: as a table (`page.rs`), with whole texts (`full.rs`), as
//! JSON (`json.rs`), or as the bytes themselves.

mod full;
mod json;
mod page;
mod reading;
mod request;

use longhaul_core::listing::{ListedItem, Listing};

use crate::args::ShowArgs as Command;
use crate::failure::{CliError, CliOutcome, tell, warn};
use crate::output;
use crate::settings::{self, CommandSettings};
use crate::target::InspectionTarget;
use crate::text::clean;
use reading::SessionReading;
use request::ReplayedRequest;

/// Which items are shown whole.
enum FullItems {
    None,
    All,
    One(String),
}

/// What to show of which session.
struct ShowContent<'a> {
    /// The file; `None` for standard input.
    file: Option<&'a str>,
    seen: &'a SessionReading,
    prepared: &'a ReplayedRequest,
    listing: &'a Listing<'a>,
}

pub(crate) fn run(command: &Command, given: &CommandSettings) -> Result<CliOutcome, CliError> {
    let flags = [("model", &command.model), ("models.file", &command.models)];
    let config = given.resolve(settings::given_flags(flags))?;
    let (path, full) = command.target_and_full();
    let target = InspectionTarget::find(&path, &given.env)?;
    let is_stdin = matches!(target, InspectionTarget::Stdin);
    let seen = reading::read(target, command.turn)?;
    if seen.is_empty && !command.request {
        tell(&format!("{}: no entries yet.", clean(&seen.name)));
    }
    for problem in &seen.problems {
        warn(problem);
    }
    let prepared = request::prepare(&seen, command.say.as_deref(), &config)?;
    let outcome = if seen.problems.is_empty() && !prepared.prefix_is_unreadable() {
        CliOutcome::Fine
    } else {
        CliOutcome::Problems
    };
    if command.request {
        output::bytes(prepared.body()?)?;
        return Ok(outcome);
    }
    let listing = prepared.listing();
    let showing = ShowContent {
        file: Some(seen.name.as_str()).filter(|_| !is_stdin),
        seen: &seen,
        prepared: &prepared,
        listing: &listing,
    };
    let items = chosen(&listing, &full)?;
    match (command.json, full) {
        (true, full) => output::json(&json::object(&showing, items, &full))?,
        (false, FullItems::None) => output::page(&page::render(&showing))?,
        (false, _) => output::page(&full::render(&listing, items))?,
    }
    Ok(outcome)
}

/// The items that the user asked for.
fn chosen<'a>(listing: &'a Listing<'_>, full: &FullItems) -> Result<&'a [ListedItem], CliError> {
    let FullItems::One(number) = full else {
        return Ok(&listing.items);
    };
    let at = number.parse::<usize>().ok();
    let at = at.and_then(|number| number.checked_sub(1));
    let item = at.and_then(|at| listing.items.get(at..=at));
    item.ok_or_else(|| CliError::NoSuchItem {
        item: number.clone(),
        count: listing.items.len(),
    })
}

impl Command {
    /// The target, and the items to show whole. In `--full FILE` the file is not meant as a number.
    fn target_and_full(&self) -> (std::path::PathBuf, FullItems) {
        match (&self.target, &self.full) {
            (Some(target), None) => (target.clone(), FullItems::None),
            (Some(target), Some(None)) => (target.clone(), FullItems::All),
            (Some(target), Some(Some(item))) => (target.clone(), FullItems::One(item.clone())),
            (None, Some(Some(target))) => (target.into(), FullItems::All),
            (None, _) => ("-".into(), FullItems::All),
        }
    }
}
