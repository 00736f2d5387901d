//! Paths as the API writes them: `messages.3.content.1.text`.

use std::fmt;

use crate::call::ApiError;

/// Where a value stands in the request; written out only for an error.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    parent: Option<&'a At<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Name(&'a str),
    Index(usize),
}

impl<'a> At<'a> {
    /// A top-level field.
    pub(super) fn top(name: &'a str) -> At<'a> {
        At {
            parent: None,
            step: Step::Name(name),
        }
    }

    /// A field of this.
    pub(super) fn name(&'a self, name: &'a str) -> At<'a> {
        At {
            parent: Some(self),
            step: Step::Name(name),
        }
    }

    /// An element of this.
    pub(super) fn index(&'a self, index: usize) -> At<'a> {
        At {
            parent: Some(self),
            step: Step::Index(index),
        }
    }

    /// The error that this is wrong.
    pub(super) fn error(&self, what: impl fmt::Display) -> ApiError {
        ApiError::invalid(format!("{self}: {what}"))
    }
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            write!(f, "{parent}.")?;
        }
        match self.step {
            Step::Name(name) => f.write_str(name),
            Step::Index(index) => write!(f, "{index}"),
        }
    }
}
