//! Chat completions: the request headers, and how replies are read into the same format as those of the Messages API.

mod decode;
mod encode;
mod message;
mod wire;

pub use decode::OpenAiDecoder;
pub use encode::headers;
pub use message::decode_json;
