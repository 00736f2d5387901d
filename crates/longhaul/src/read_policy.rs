//! Which files may be read because a project's files ask for them: none that a rule forbids, and none outside of the
//! project that the user has not agreed to.
//!
//! The reader of the files ([`crate::memory_files`]) knows which file asks for which; the host supplies the rules and
//! the user's answers.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

type PathPredicate = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

/// Which files may be read because a project's files ask for them. By default nothing is forbidden, and nothing outside
/// of the project is agreed to.
#[derive(Clone, Default)]
pub struct ReadPolicy {
    denied: Option<PathPredicate>,
    agreed: Option<PathPredicate>,
}

impl ReadPolicy {
    /// Forbids files: the predicate is called with the path as it is named, and with all links resolved.
    #[must_use]
    pub fn denying(mut self, denied: impl Fn(&Path) -> bool + Send + Sync + 'static) -> Self {
        self.denied = Some(Arc::new(denied));
        self
    }

    /// Lets a project's files ask for files outside of the project: the predicate is called with all links resolved.
    #[must_use]
    pub fn agreeing(mut self, agreed: impl Fn(&Path) -> bool + Send + Sync + 'static) -> Self {
        self.agreed = Some(Arc::new(agreed));
        self
    }

    /// Whether a rule forbids reading this file.
    pub fn denies(&self, path: &Path) -> bool {
        self.denied.as_ref().is_some_and(|denied| denied(path))
    }

    /// Whether the user agreed that the project's files may ask for this file outside of the project.
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
