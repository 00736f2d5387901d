//! The small made-up project that the calls of a session work on.

/// A file of the made-up project. Its content follows from its seed, so a second read returns the same.
#[derive(Debug)]
pub(super) struct SourceFile {
    pub(super) path: String,
    pub(super) seed: u64,
    pub(super) lines: usize,
}

/// One item of the todo list.
#[derive(Clone, Debug)]
pub(super) struct GeneratedTodo {
    pub(super) content: String,
    pub(super) status: &'static str,
}
