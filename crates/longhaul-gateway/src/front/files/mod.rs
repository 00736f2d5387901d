//! How many files the process may have open: a connection takes one, and its upstream connection another.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

/// Files reserved for the store, the log and the like.
const OTHERS: u64 = 64;
/// A connection and the upstream connection that it may need.
const A_CONNECTION: u64 = 2;
/// The minimum number of connections, however few files there are.
const FEWEST: usize = 16;

/// Raises the soft limit of open files to the hard one, as servers do: the soft one is kept low for old programs. The
/// program that runs a gateway calls it at startup; if it fails, fewer connections are accepted.
pub fn raise_open_files() {
    system::raise_open_files();
}

/// How many connections there may be at once, up to `most`.
pub(super) fn connections(most: usize) -> usize {
    let Some(files) = system::open_files() else {
        return most;
    };
    let fit = files.saturating_sub(OTHERS) / A_CONNECTION;
    let fit = usize::try_from(fit).unwrap_or(usize::MAX);
    most.min(fit.max(FEWEST))
}
