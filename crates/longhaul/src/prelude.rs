//! The names that most agents need: `use longhaul::prelude::*`.

#[cfg(feature = "http")]
pub use crate::Client;
pub use crate::{
    ClientConfig, CompactRequest, Config, Dialect, Event, Model, Observer, Prompt, Reply, Session,
    SessionBuilder, Storage, StreamEvent, ToolOutput, TurnError, model_fn,
};
#[cfg(feature = "tools")]
pub use crate::{Tool, ToolContent, ToolError, Toolbox};
