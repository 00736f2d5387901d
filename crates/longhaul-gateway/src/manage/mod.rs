//! Keeps conversations within the window: what the client sends whole each time is sent on with its beginning replaced.
//!
//! A client's history is never changed; what is changed is what stands for its beginning. A [`Rewrite`] says so: *behind
//! the message where the rolling hash has this value, these bytes stand for all messages up to it*. It is found by the hash
//! of a request's own messages, so branches that share the beginning share it, and a client that edits its history loses it.
//! Rewrites are made in the background, ahead of the threshold, and are durable before they are used.
//!
//! `talk` is a conversation as it is worked on, `draft` what comes of it.
//!
//! [`Rewrite`]: crate::store::Rewrite

mod asking;
mod care;
mod clear;
mod draft;
mod material;
mod rewrites;
mod sending;
mod settle;
mod standing;
mod summarise;
mod talk;
mod thinking;
mod work;

use bytes::Bytes;

pub(crate) use asking::Asking;
pub(crate) use care::Care;
pub use draft::Draft;
pub(crate) use material::Material;
pub(crate) use rewrites::Shelved;
pub(crate) use sending::Sending;
pub use talk::Talk;

/// What work on conversations depends on.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Thresholds and switches.
    pub config: longhaul_core::config::Config,
    /// Models and their windows.
    pub models: longhaul_core::models::ModelTable,
    /// Tools whose results may be cleared.
    pub clearable: longhaul_core::micro::ClearableTools,
}

pub fn known_tools() -> longhaul_core::micro::ClearableTools {
    Default::default()
}

/// Elements of a list, with commas between them.
fn join(elements: &[Bytes]) -> Bytes {
    elements.join(&b","[..]).into()
}
