//! Why a specification of faults cannot be parsed.

/// Why a specification cannot be parsed. The message says what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FaultSpecError {
    /// There is nothing between two separators, or nothing at all.
    #[error("a fault is missing: write something like `529*2` or `after 5: reset`")]
    Empty,
    /// There is no such fault.
    #[error(
        "there is no fault `{0}`: it is one of 429, 529, 500, slow, stall, reset, truncate, malformed, error"
    )]
    Unknown(String),
    /// The text is not a valid trigger.
    #[error("`{0}` does not say when: write `after 5`, `every 10` or `2%`")]
    When(String),
    /// The number of repetitions is not valid.
    #[error("`*{0}` does not say how often: write a number from 1 to 1000000")]
    Times(String),
    /// The fault does not take this argument.
    #[error("`{fault}` takes no `{argument}`: {takes}")]
    Argument {
        /// The name of the fault.
        fault: String,
        /// The argument as it was written.
        argument: String,
        /// The arguments that the fault takes.
        takes: &'static str,
    },
    /// A parenthesis is not balanced.
    #[error("`{0}` has an opening parenthesis without a closing one, or the reverse")]
    Parenthesis(String),
}
