//! What is sent (A, B): the head of a request, cache marks, and the body put together from frozen bytes.
//!
//! [`RequestHead`] is what stands before the messages, decided once ([`Latched`], [`Parameters`], [`order_tools`],
//! [`TtlPolicy`]) and kept as an entry; [`Assembly`] is one head and one rendering and makes requests of them;
//! [`Replay`] takes both up again from a file.

mod assemble;
mod frame;
mod head;
mod latched;
mod marks;
mod parameters;
mod replay;
mod request;
mod stripping;
mod synthetic;
mod tool_order;
mod ttl;

pub use assemble::{Assembly, Beginning, Taken};
pub use head::{HeadReason, RequestHead, UnreadableHead};
pub use latched::Latched;
pub use marks::{CacheWrite, MOST_MARKERS, Marks};
pub use parameters::{Body, OnMismatch, ParameterError, Parameters, Think};
pub use replay::{Placed, Replay, Standing};
pub use request::{Assembled, NotReady, RequestKind};
pub use stripping::Predecessor;
pub use synthetic::Birth;
pub use tool_order::{OrderedTools, order_tools};
pub use ttl::{CacheSettings, Route, Ttl, TtlPolicy};
