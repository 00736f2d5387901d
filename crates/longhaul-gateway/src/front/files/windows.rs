//! Open files on Windows: no limit that a gateway would come near.

pub(super) fn raise_open_files() {}

/// How many files may be open; `None` if there is no limit.
pub(super) fn open_files() -> Option<u64> {
    None
}
