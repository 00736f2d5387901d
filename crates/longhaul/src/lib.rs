//! Context management for LLM agents, for people who write agents in Rust: a conversation that never runs out of context,
//! and a prompt cache that stays warm.
//!
//! A [`Session`] is the engine of [`core`] with a model, a transcript, a workspace and hooks around it. The agent keeps
//! its own loop: say something, take a turn, run the tools, hand in their results. Clearing, compaction, recovery from
//! requests that are too long, and restoring context happen in between.
//!
//! ```
//! use longhaul::core::engine::ToolOutput;
//! use longhaul::provider::{Client, ClientConfig, Dialect};
//! use longhaul::{Prompt, Session};
//! use longhaul_sim::model::SimModel;
//! use longhaul_sim::server::{SimServer, SimServerOptions};
//! use longhaul_sim::world::{World, WorldOptions};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // The offline world stands in for a provider. With a key: `ClientConfig::from_env(…, |name| std::env::var(name).ok())`.
//! let world = World::new(WorldOptions::new(1, Box::new(SimModel::new(Default::default()))));
//! let server = SimServer::start("127.0.0.1:0".parse()?, world, SimServerOptions::default()).await?;
//! let config = ClientConfig::from_env(Dialect::Anthropic, |name| match name {
//!     "ANTHROPIC_BASE_URL" => Some(server.url()),
//!     "ANTHROPIC_API_KEY" => Some("any".into()),
//!     _ => None,
//! })?;
//! let read = serde_json::json!({"name": "Read", "description": "Reads a file.", "input_schema": {
//!     "type": "object", "properties": {"file_path": {"type": "string"}}, "required": ["file_path"]}});
//! let mut settings = longhaul::core::config::Config::default();
//! settings.window_cap = Some(12_000); // Small, to see it happen.
//!
//! let mut session = Session::builder()
//!     .model(Client::new(config)?)
//!     .prompt(Prompt::new("claude-sonnet-4-6", "You read code.").with_tools(vec![read]))
//!     .config(settings)
//!     .open()?;
//! for question in 1..=12 {
//!     session.say(format!("Question {question}: what does src/part{question}.rs do?")).await?;
//!     for _ in 0..4 {
//!         let reply = session.turn().await?;
//!         let results: Vec<ToolOutput> = (reply.tool_calls())
//!             .map(|call| ToolOutput::text(call.id, "fn part() -> u32 { 42 }\n".repeat(200)))
//!             .collect();
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
//! | `otel` | events as OpenTelemetry metrics | the log (`tracing`) has the events |
//!
//! # Single parts
//!
//! An agent with a loop of its own can use single parts, all in [`core`]: [`core::plan`] and [`core::micro`] say what
//! to do before a request, [`core::summary`] asks for summaries and reads them, [`core::facts`] keeps what the user
//! said, [`core::prompt::RequestAssembly`] makes requests that hit the cache, and [`core::cache::CacheBreakDetector`]
//! says why one did not. [`core::engine::Engine`] puts them together without doing any IO.

#![warn(clippy::missing_errors_doc)]

pub mod branches;
pub mod cache_breaks;
#[cfg(feature = "http")]
mod client_model;
mod clock;
#[cfg(feature = "hooks")]
pub mod environment;
pub mod hooks;
pub mod memory_files;
mod model;
pub mod notes;
#[cfg(feature = "hooks")]
pub mod process_group;
mod prompt;
mod read_policy;
pub mod resolved_file;
pub mod rewind;
pub mod session;
mod storage;
mod telemetry;
pub mod undo;
mod workspace;

pub use clock::{Clock, SystemClock};
pub use longhaul_core as core;
pub use longhaul_provider as provider;
pub use longhaul_store as store;
pub use model::{Boxed, Model, OnStream};
pub use prompt::{Prompt, System};
pub use read_policy::ReadPolicy;
pub use session::{Session, recorded, window};
pub use storage::StorageError;
pub use undo::undo;
pub use workspace::{FileWorkspace, NoWorkspace, RestoreRequest, Workspace, text_of};
