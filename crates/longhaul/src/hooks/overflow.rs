//! Output that is too long for the conversation: all of it goes to a file, its beginning to the model.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use longhaul_core::xxh3::xxh3_64;
use longhaul_store::keep_private;

use super::name::HookEventName;
use super::outcome::{HookFailure, HookResponse};

/// The most characters that one text of a hook may add to the conversation.
const LONGEST: usize = 10_000;

/// How many characters of a longer text are shown.
const BEGINNING: usize = 2_000;

const KEPT: &str = include_str!("overflow.md");
const LOST: &str = include_str!("overflow_lost.md");

/// Shortens every text of an answer that is too long, after writing it to a file in the folder.
pub(super) async fn bounded(
    mut outcome: HookResponse,
    event: HookEventName,
    hook: &str,
    folder: Option<PathBuf>,
) -> HookResponse {
    if outcome.texts_mut().all(|text| text.len() <= LONGEST) {
        return outcome;
    }
    let name = hook.to_owned();
    let work = move || bound(outcome, event, &name, folder.as_deref());
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| HookResponse::failed(hook, HookFailure::Panicked))
}

fn bound(
    mut outcome: HookResponse,
    event: HookEventName,
    hook: &str,
    folder: Option<&Path>,
) -> HookResponse {
    let mut failures = Vec::new();
    for text in outcome.texts_mut() {
        if let Some((cut, _)) = text.char_indices().nth(BEGINNING)
            && text.char_indices().nth(LONGEST).is_some()
        {
            let file = folder.and_then(|folder| {
                let kept = keep(folder, event, text);
                kept.map_err(|error| failures.push(error.kind())).ok()
            });
            *text = shortened(text, cut, file.as_deref());
        }
    }
    for kind in failures {
        outcome.fail(hook, HookFailure::NotKept(kind));
    }
    outcome
}

fn shortened(text: &str, cut: usize, file: Option<&Path>) -> String {
    let total = text.chars().count().to_string();
    let filled = match file {
        Some(file) => KEPT.replace("{file}", &file.display().to_string()),
        None => LOST.to_owned(),
    };
    // The hook's own text goes in last, so that nothing in it is taken for a placeholder.
    let filled = filled.trim_end().replace("{total}", &total);
    filled.replacen("{beginning}", &text[..cut], 1)
}

/// The file is named by a hash of the text, so the same output is kept once.
fn keep(folder: &Path, event: HookEventName, text: &str) -> io::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    let hash = xxh3_64(text.as_bytes());
    let file = folder.join(format!("hook-{event}-{hash:016x}.txt"));
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    // A hook may print something that other users of the machine should not read.
    keep_private(&mut options)
        .open(&file)?
        .write_all(text.as_bytes())?;
    Ok(file)
}
