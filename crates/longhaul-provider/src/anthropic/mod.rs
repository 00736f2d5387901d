//! The Messages API: the wire format, the request headers, and how replies are read.

mod decode;
mod encode;
mod message;
pub(crate) mod wire;

pub use crate::config::ApiVersion;
pub use decode::AnthropicDecoder;
pub use encode::headers;
pub use message::decode_json;
