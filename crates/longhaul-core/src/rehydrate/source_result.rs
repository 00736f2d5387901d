//! What the host got from one source of restored context.

/// The result of one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreSourceResult<T> {
    /// The source has this content.
    Found(T),
    /// The source could not be read.
    Failed {
        /// The name of the source, for people.
        what: String,
        /// Why the source could not be read.
        why: String,
    },
}
