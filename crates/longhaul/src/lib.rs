//! Context management for LLM agents, for people who write agents in Rust: a conversation that never runs out of context,
//! and a prompt cache that stays warm.
//!
//! A [`Session`] is the [engine] with a model, a storage, a workspace and hooks around it. The agent keeps its own loop:
//! say something, take a turn, run the tools, hand in their results. Clearing, compaction, recovery from requests that are
//! too long, and restoring context happen in between.
//!
//! ```
//! use longhaul::prelude::*;
//! use longhaul_sim::model::SimModel;
//! use longhaul_sim::server::{SimServer, SimServerOptions};
//! use longhaul_sim::world::{World, WorldOptions};
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct ReadInput {
//!     /// The path of the file.
//!     file_path: String,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // The offline world stands in for a provider. With a key: `ClientConfig::from_env(…, |name| std::env::var(name).ok())`.
//! let world = World::new(WorldOptions::new(1, Box::new(SimModel::new(Default::default()))));
//! let server = SimServer::start("127.0.0.1:0".parse()?, world, SimServerOptions::default()).await?;
//! let client = ClientConfig::from_env(Dialect::Anthropic, |name| match name {
//!     "ANTHROPIC_BASE_URL" => Some(server.url()),
//!     "ANTHROPIC_API_KEY" => Some("any".into()),
//!     _ => None,
//! })?;
//! let tools = Toolbox::new().with_fn("Read", "Reads a file.", |input: ReadInput| async move {
//!     Ok(format!("// {}\n{}", input.file_path, "fn part() -> u32 { 42 }\n".repeat(200)).into())
//! });
//! let mut config = Config::default();
//! config.window_cap = Some(12_000); // Small, to see it happen.
//!
//! let mut session = Session::builder()
//!     .model(Client::new(client)?)
//!     .prompt(Prompt::new("claude-sonnet-4-6", "You read code.").with_tools(tools.definitions()))
//!     .config(config)
//!     .open()?;
//! for question in 1..=12 {
//!     session.say(format!("Question {question}: what does src/part{question}.rs do?")).await?;
//!     for _ in 0..4 {
//!         let reply = session.turn().await?;
//!         let results = tools.run(&reply).await;
//!         if results.is_empty() {
//!             break;
//!         }
//!         session.results(results).await?;
//!     }
//! }
//! assert!(session.compactions() >= 2, "it continued through several compactions");
//! # Ok(())
//! # }
//! ```
//!
//! The folder `examples/` of this crate has eight small agents. What an agent can replace: the model ([`Model`],
//! [`model_fn`]), where lines are stored ([`Storage`]), where context is restored from ([`Workspace`]), the hooks
//! ([`hooks`]) and the clock ([`Clock`]).
//!
//! # Features
//!
//! All are on by default. With `default-features = false` a session with a model of your own needs no C compiler, no TLS
//! and few crates.
//!
//! | feature | what it adds | without it |
//! |---|---|---|
//! | `http` | `provider::Client`, the client for model APIs | the session needs your own [`Model`] |
//! | `sqlite` | the archive and recall | what left the window is only in the transcript; a session with an archive does not open |
//! | `hooks` | `hooks::CommandHooks`: hooks from settings files, run as processes | hooks written in Rust ([`hooks::Hooks`]) |
//! | `tools` | [`Tool`] and [`Toolbox`]: typed tools with derived schemas | schemas are written as JSON |
//! | `otel` | events as OpenTelemetry metrics | the log (`tracing`) has the events |
//!
//! # Single parts
//!
//! An agent with a loop of its own can use single parts: [`planning`] says what to do before a request, [`mod@summary`] asks
//! for summaries, reads them and keeps what the user said, [`request::RequestAssembly`] makes requests that hit the cache,
//! and [`cache::CacheBreakDetector`] says why one did not. [`engine::Engine`] puts them together without doing any IO.

#![warn(clippy::missing_errors_doc)]

pub mod branches;
pub mod cache_breaks;
mod clock;
#[cfg(feature = "hooks")]
pub mod environment;
pub mod hooks;
pub mod memory_files;
mod model;
pub mod notes;
mod parts;
pub mod prelude;
#[cfg(feature = "hooks")]
pub mod process_group;
mod prompt;
mod read_policy;
pub mod resolved_file;
pub mod rewind;
pub mod session;
#[cfg(feature = "hooks")]
pub mod shell;
mod storage;
mod telemetry;
#[cfg(feature = "tools")]
mod tools;
pub mod undo;
mod workspace;

#[cfg(feature = "tools")]
pub use schemars;

pub use clock::{Clock, SystemClock};
pub use longhaul_core::config::Config;
pub use longhaul_core::economy::EconomyPolicy;
pub use longhaul_core::engine::{
    CompactRequest, CompactionSuccess, EffectFailure, EffectFailureKind, Event, ModelRequest,
    NewEntry, ToolOutput,
};
pub use longhaul_core::message::{Entry, Usage};
pub use longhaul_core::models::{ModelSpec, ModelTable};
pub use longhaul_core::window::WindowStatus;
#[cfg(feature = "http")]
pub use longhaul_provider::Client;
pub use longhaul_provider::{
    CancellationToken, ClientConfig, Dialect, Error as ModelError, ErrorClass as ModelErrorClass,
    Reply, ReplyBlock, ReplyBlockKind, ReplyBuilder, StopReason, StreamEvent, ToolCall,
    ToolInputError,
};
pub use longhaul_store::Durability;
pub use model::{Boxed, Model, ModelFn, OnStream, model_fn};
#[cfg(feature = "sqlite")]
pub use parts::archive;
pub use parts::{
    cache, engine, planning, provider, rehydration, request, summary, tokens, transcript,
};
pub use prompt::{Prompt, System};
pub use read_policy::ReadPolicy;
pub use session::{
    Cancellation, CompactError, CompactOutcome, Observer, OpenError, RetryWait, Session,
    SessionBuilder, SessionOptions, SilentObserver, TurnError, recorded, window,
};
pub use storage::{
    AppendPosition, ArchiveLocation, BlockingWrites, DepartingEntries, DepartingPart, FileStorage,
    MemoryStorage, Storage, StorageError,
};
#[cfg(feature = "tools")]
pub use tools::{Tool, ToolContent, ToolError, Toolbox};
pub use undo::undo;
pub use workspace::{FileWorkspace, NoWorkspace, RestoreRequest, Workspace, text_of};

/// The Rust code of docs/library.md, which is compiled with the documentation's examples.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
struct DocumentedExamples;
