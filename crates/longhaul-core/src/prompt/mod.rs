//! What is sent (A, B): the head of a request, cache marks, and the body put together from frozen bytes.

mod assemble;
mod frame;
mod head;
mod latched;
mod marks;
mod parameters;
mod replay;
mod stripping;
mod synthetic;
mod tool_order;
mod ttl;

pub use assemble::{Assembled, Assembly, Beginning, NotReady, RequestKind, Taken};
pub use head::{HeadReason, RequestHead, UnreadableHead};
pub use latched::Latched;
pub use marks::{CacheWrite, MOST_MARKERS, Marks};
pub use parameters::{Body, OnMismatch, ParameterError, Parameters, Think};
pub use replay::{Placed, Replay, Standing};
pub use stripping::Predecessor;
pub use synthetic::Birth;
pub use tool_order::{OrderedTools, order_tools};
pub use ttl::{CacheSettings, Route, Ttl, TtlPolicy};
