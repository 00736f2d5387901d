//! Chat completions: how requests are headed, how replies are read into the same shape as those of the Messages API.

mod decode;
mod encode;
mod message;
mod wire;

pub use decode::OpenAiDecoder;
pub use encode::headers;
pub use message::decode_json;
