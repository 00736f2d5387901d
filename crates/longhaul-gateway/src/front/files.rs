//! How many files the process may have open: a connection is one, and the upstream's beside it another.

/// What is left for the store, the log and the like.
const OTHERS: u64 = 64;
/// A connection and the one to the upstream that it may need.
const A_CONNECTION: u64 = 2;
/// However few there may be.
const FEWEST: usize = 16;

/// Raises the soft limit of open files to the hard one, as servers do: the soft one is kept low for old programs. For the
/// program that a gateway runs in to call when it starts; where it fails, fewer connections are taken.
pub fn raise_open_files() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        if current != maximum {
            let raised = Rlimit {
                current: maximum,
                maximum,
            };
            if let Err(error) = setrlimit(Resource::Nofile, raised) {
                tracing::warn!(%error, "the limit of open files cannot be raised");
            }
        }
    }
}

/// How many connections there may be at once, of these at most.
pub(super) fn connections(most: usize) -> usize {
    let Some(files) = open_files() else {
        return most;
    };
    let fit = files.saturating_sub(OTHERS) / A_CONNECTION;
    let fit = usize::try_from(fit).unwrap_or(usize::MAX);
    most.min(fit.max(FEWEST))
}

/// How many files may be open; none if there is no limit, or none is known.
fn open_files() -> Option<u64> {
    #[cfg(unix)]
    return rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    #[cfg(not(unix))]
    return None;
}
