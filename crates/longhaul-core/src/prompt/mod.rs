//! What is sent (A, B): the head of a request, cache marks, and the body put together from frozen bytes.

mod latched;
mod ttl;

pub use latched::Latched;
pub use ttl::Ttl;
