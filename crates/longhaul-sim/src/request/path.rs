//! Paths as the API writes them: `messages.3.content.1.text`.

use std::fmt;

use crate::call::ApiError;

/// The position of a value in the request; it is formatted only for an error.
#[derive(Clone, Copy)]
pub(super) struct FieldPath<'a> {
    parent: Option<&'a FieldPath<'a>>,
    step: FieldPathStep<'a>,
}

#[derive(Clone, Copy)]
enum FieldPathStep<'a> {
    Name(&'a str),
    Index(usize),
}

impl<'a> FieldPath<'a> {
    /// A top-level field.
    pub(super) fn top(name: &'a str) -> FieldPath<'a> {
        FieldPath {
            parent: None,
            step: FieldPathStep::Name(name),
        }
    }

    /// The path of a field of this value.
    pub(super) fn name(&'a self, name: &'a str) -> FieldPath<'a> {
        FieldPath {
            parent: Some(self),
            step: FieldPathStep::Name(name),
        }
    }

    /// The path of an element of this value.
    pub(super) fn index(&'a self, index: usize) -> FieldPath<'a> {
        FieldPath {
            parent: Some(self),
            step: FieldPathStep::Index(index),
        }
    }

    /// An error about this value.
    pub(super) fn error(&self, what: impl fmt::Display) -> ApiError {
        ApiError::invalid(format!("{self}: {what}"))
    }
}

impl fmt::Display for FieldPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            write!(f, "{parent}.")?;
        }
        match self.step {
            FieldPathStep::Name(name) => f.write_str(name),
            FieldPathStep::Index(index) => write!(f, "{index}"),
        }
    }
}
