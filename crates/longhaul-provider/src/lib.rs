//! Speaks to model APIs: the Anthropic Messages dialect and OpenAI's chat completions, and any server that speaks one
//! of them.
//!
//! The pure parts can be used on their own: [`sse`] turns bytes in any chunking into events, [`decode`] folds events of
//! either dialect into one [`Reply`], [`error`] classifies failures, [`retry`] decides whether and when to retry.
//! [`Client`] puts them on a connection. **Request bodies are never built or changed here**: they come as slices of
//! bytes and are sent as they are; `longhaul-core` decides what is in them. A session takes any [`Model`], and the client is
//! one.
//!
//! The client is in the feature `http`, which is on by default; everything else needs neither a network nor TLS.
//!
//! ```no_run
//! use longhaul_provider::{Client, ClientConfig, Dialect, Request, StreamEvent};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let config = ClientConfig::from_env(Dialect::Anthropic, |name| std::env::var(name).ok())?;
//! let client = Client::new(config)?;
//! let body = br#"{"model":"claude-opus-5-5","max_tokens":99,"stream":true,"messages":[{"role":"user","content":"Hi"}]}"#;
//! let mut stream = client.send(Request::new(body.to_vec())).await?;
//! while let Some(event) = stream.next().await {
//!     match event? {
//!         StreamEvent::Text { text, .. } => print!("{text}"),
//!         StreamEvent::Finished(reply) => println!("\n{:?}", reply.usage),
//!         _ => {}
//!     }
//! }
//! # Ok(())
//! # }
//! ```

#![warn(clippy::missing_errors_doc)]

pub mod anthropic;
mod block;
#[cfg(feature = "http")]
mod client;
mod composed;
mod config;
pub mod decode;
mod decode_error;
mod delta;
pub mod error;
mod event;
mod header;
mod key;
mod model;
mod open_block;
pub mod openai;
mod progress;
mod raw;
mod reply;
pub mod retry;
pub mod sse;
mod usage;

pub use block::{BlockCompleteness, ReplyBlock, ReplyBlockKind, ToolCall, ToolInputError};
#[cfg(feature = "http")]
pub use client::{
    Certificates, Client, Redactor, ReplyStream, Request, RequestBody, chain, http_client,
};
pub use composed::ReplyBuilder;
pub use config::{ClientConfig, ClientConfigError, ClientTimeouts, Dialect, Proxy};
pub use error::{Error, ErrorClass};
pub use event::StreamEvent;
pub use key::{Auth, Secret};
pub use model::{Boxed, Model, OnStream};
pub use reply::{AppliedEdit, Reply, ReplyNotice, StopReason};
pub use tokio_util::sync::CancellationToken;
pub use usage::{anthropic as anthropic_usage, openai as openai_usage};
