//! Longhaul sessions on every provider that the crate [`genai`] speaks to: OpenAI, Gemini, Ollama, Groq, DeepSeek and others.
//!
//! [`GenaiModel`] is a [`longhaul::Model`]. The session builds its requests in the format of the Messages API, as always;
//! they are translated on their way to the provider, and so are the replies and the errors on their way back. Clearing,
//! compaction and the recovery from a prompt that is too long work as with the library's own client.
//!
//! ```no_run
//! use longhaul::{Prompt, Session};
//! use longhaul_genai::GenaiModel;
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! // genai reads the provider from the model's name and the key from that provider's variable, here OPENAI_API_KEY.
//! let client = longhaul_genai::client_builder()?.build()?;
//! let mut session = Session::builder()
//!     .model(GenaiModel::new(client))
//!     .prompt(Prompt::new("gpt-5.2", "You are helpful."))
//!     .open()?;
//! session.say("Good morning.").await?;
//! println!("{}", session.turn().await?.text());
//! # Ok(())
//! # }
//! ```
//!
//! A session has to know how large the model's window is. For a model that Longhaul does not know, say it with
//! `SessionBuilder::models` or `Config::window_cap`.
//!
//! # What is translated
//!
//! | part | how |
//! |---|---|
//! | system prompt, text, tool calls, tool results | They are passed on. A failed tool result begins with `Error:`, because genai has no field for that. |
//! | images and PDF files | They are passed on. One that is in a tool's result goes into a message after the result, because results are text in genai. |
//! | tools, `tool_choice`, `max_tokens`, `temperature`, `top_p`, `stop_sequences` | They are passed on. |
//! | cache breakpoints | They are passed on to Anthropic's models, one per message, as genai has it. Other providers decide themselves what they cache, and get none. |
//! | usage | It is taken over, with what was read from the cache and written to it. |
//! | errors | They get the classes of [`longhaul::ModelErrorClass`], by HTTP status and body. |
//!
//! # What is left out
//!
//! * **Thinking.** What a model thought is neither kept nor sent back, and the session's own setting for thinking is not
//!   sent. `ChatOptions::with_reasoning_effort` asks a model to think ([`GenaiModel::with_options`]).
//! * **Server-side features of the Messages API**: beta headers, tools that the server runs, context management. A
//!   request with a tool or a content block that cannot be translated fails with
//!   [`Invalid`](longhaul::ModelErrorClass::Invalid), so that nothing is lost silently.
//!
//! Whoever uses only Anthropic's API, or a server that speaks it, is better served by `longhaul::Client`, which sends the
//! session's bytes unchanged.

#![warn(clippy::missing_errors_doc)]

mod blocks;
mod breakpoints;
mod client;
mod failure;
mod messages;
mod model;
mod reply;
mod request;
mod usage;

pub use client::client_builder;
pub use genai;
pub use longhaul_provider::retry::RetryPolicy;
pub use model::GenaiModel;
