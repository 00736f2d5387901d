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

mod draft;
mod talk;

pub use draft::Draft;
pub use talk::Talk;
