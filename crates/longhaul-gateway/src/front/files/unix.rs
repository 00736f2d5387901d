//! Open files on Unix: a limit of the process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What macOS grants at most where the hard limit is none.
const MOST_WITHOUT_LIMIT: u64 = 10_240;

pub(super) fn raise_open_files() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raise_to = |current| setrlimit(Resource::Nofile, Rlimit { current, maximum });
    if current == maximum {
        return;
    }
    let Err(error) = raise_to(maximum) else {
        return;
    };
    let is_less = current.is_some_and(|now| now < MOST_WITHOUT_LIMIT);
    if !is_less || raise_to(Some(MOST_WITHOUT_LIMIT)).is_err() {
        tracing::warn!(%error, "the limit of open files cannot be raised");
    }
}

/// How many files may be open; `None` if there is no limit.
pub(super) fn open_files() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}
