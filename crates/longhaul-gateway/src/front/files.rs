//! How many files the process may have open: a connection takes one, and its upstream connection another.

/// Files reserved for the store, the log and the like.
const OTHERS: u64 = 64;
/// A connection and the upstream connection that it may need.
const A_CONNECTION: u64 = 2;
/// The minimum number of connections, however few files there are.
const FEWEST: usize = 16;

/// Raises the soft limit of open files to the hard one, as servers do: the soft one is kept low for old programs. The
/// program that runs a gateway calls it at startup; if it fails, fewer connections are accepted.
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

/// How many connections there may be at once, up to `most`.
pub(super) fn connections(most: usize) -> usize {
    let Some(files) = open_files() else {
        return most;
    };
    let fit = files.saturating_sub(OTHERS) / A_CONNECTION;
    let fit = usize::try_from(fit).unwrap_or(usize::MAX);
    most.min(fit.max(FEWEST))
}

/// How many files may be open; `None` if there is no limit or it is unknown.
fn open_files() -> Option<u64> {
    #[cfg(unix)]
    return rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    #[cfg(not(unix))]
    return None;
}
