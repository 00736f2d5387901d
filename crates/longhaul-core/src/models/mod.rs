//! Models as data (N1): window, prices, cache minimum, tokenizer and thinking rules, in a table that a user can extend.
//!
//! [`ModelTable::builtin`] is the embedded `builtin.toml`. [`ModelTable::extended_with`] overlays it with a user's file
//! of the same format, field by field. [`ModelTable::resolve`] finds a model under any of the names that providers use;
//! it also answers for an unknown model and says what it assumed. `window/` computes how full a window is.

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
