//! What may be read of what a project's files ask for: nothing that a rule forbids, and nothing outside of the project
//! that the user has not agreed to.
//!
//! Which file asks for which is known to whoever reads them ([`crate::memory_files`]); the rules and the answers of the
//! user are the host's.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

type Question = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

/// Which files may be read on the word of a project's files. By default nothing is forbidden, and nothing outside of the
/// project is agreed to.
#[derive(Clone, Default)]
pub struct ReadPolicy {
    denied: Option<Question>,
    agreed: Option<Question>,
}

impl ReadPolicy {
    /// Forbids files: the question is asked with the path as it is named, and with all links resolved.
    #[must_use]
    pub fn denying(mut self, denied: impl Fn(&Path) -> bool + Send + Sync + 'static) -> Self {
        self.denied = Some(Arc::new(denied));
        self
    }

    /// Lets a project's files ask for files outside of the project: the question is asked with all links resolved.
    #[must_use]
    pub fn agreeing(mut self, agreed: impl Fn(&Path) -> bool + Send + Sync + 'static) -> Self {
        self.agreed = Some(Arc::new(agreed));
        self
    }

    /// Whether a rule forbids reading this file.
    pub fn denies(&self, path: &Path) -> bool {
        self.denied.as_ref().is_some_and(|denied| denied(path))
    }

    /// Whether the user agreed that the project's files ask for this file, which lies outside.
    pub fn agrees(&self, real: &Path) -> bool {
        self.agreed.as_ref().is_some_and(|agreed| agreed(real))
    }
}

impl fmt::Debug for ReadPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadPolicy")
            .field("denied", &self.denied.is_some())
            .field("agreed", &self.agreed.is_some())
            .finish()
    }
}
