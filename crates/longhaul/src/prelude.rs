//! The names that most agents need: `use longhaul::prelude::*`.

pub use crate::{
    Client, ClientConfig, CompactRequest, Config, Dialect, Event, Model, Observer, Prompt, Reply,
    Session, SessionBuilder, Storage, StreamEvent, Tool, ToolContent, ToolError, ToolOutput,
    Toolbox, TurnError, model_fn,
};
