//! A result of a call, as the forms are made of it.

/// A result: its call and its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResultText<'a> {
    /// The id of the call.
    pub call: &'a str,
    /// The text.
    pub text: &'a str,
}
