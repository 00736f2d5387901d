//! Models as data (N1): window, prices, cache minimum, tokenizer, thinking rules, each in a table a user can extend.
//!
//! [`ModelTable::builtin`] is the embedded `builtin.toml`; [`ModelTable::extended_with`] lays a user's file of the
//! same shape over it, field by field; [`ModelTable::resolve`] finds a model under any of the names providers give
//! it, and answers for an unknown one too, saying what it assumed. How full a window is lives in `window/`.

mod assemble;
mod file;
mod name;
mod prices;
mod spec;
mod table;
mod thinking;

pub use file::ModelFileError;
pub use prices::{PriceTier, Prices, TokenPrices};
pub use spec::{ModelSpec, Tokenizer, ToolOverhead};
pub use table::{ModelTable, ResolvedModel};
pub use thinking::{EffortLevel, PriorThinking, ThinkingBinding, ThinkingRules, ThinkingType};

#[cfg(test)]
mod tests;
