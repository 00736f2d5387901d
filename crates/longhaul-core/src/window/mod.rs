//! How full the window is, and what may be done about it (H).
//!
//! [`WindowStatus`] derives every threshold at once, so that no two places compute the same number differently.
//! [`switches`] and [`guards`] say whether a kind of compaction may run at all. `tokens/` counts the used tokens,
//! `models/` knows a model's window, and `plan/` decides what is done.

pub mod guards;
mod percent;
mod scale;
mod settings;
mod status;
pub mod switches;

pub use guards::{ProactiveGuard, QuerySource, WindowOwner};
pub use percent::Percent;
pub use scale::{WindowError, WindowScale};
pub use settings::{AutoCompact, WindowSettings};
pub(crate) use status::check_cap;
pub use status::{WindowInput, WindowLevel, WindowStatus};
pub use switches::{Switch, SwitchVerdict, SwitchableAction, Switches};

#[cfg(test)]
mod tests;
