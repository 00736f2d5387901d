//! What a request is for, determined by method and path.

use http::Method;
use longhaul_provider::Dialect;

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GatewayRoute {
    /// The request continues a conversation.
    Conversation(Dialect),
    /// The request only counts the tokens of a conversation.
    Counting,
    /// The request is for the gateway itself.
    Own,
    /// Any other request, which is passed on untouched.
    Other(Dialect),
}

impl GatewayRoute {
    pub(super) fn of(method: &Method, path: &str) -> Self {
        match (method.as_str(), path) {
            ("POST", "/v1/messages") => Self::Conversation(Dialect::Anthropic),
            ("POST", "/v1/messages/count_tokens") => Self::Counting,
            ("POST", "/v1/chat/completions") => Self::Conversation(Dialect::OpenAi),
            ("GET" | "HEAD", "/" | "/healthz" | "/metrics") => Self::Own,
            (_, path) if path == "/longhaul" || path.starts_with("/longhaul/") => Self::Own,
            (_, path) => Self::Other(dialect_of(path)),
        }
    }

    /// A name for traces. Never the path itself, which may contain names of the client's.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Conversation(Dialect::Anthropic) => "messages",
            Self::Conversation(Dialect::OpenAi) => "chat_completions",
            Self::Counting => "count_tokens",
            Self::Own => "own",
            Self::Other(_) => "other",
        }
    }

    /// The API dialect in which errors are reported.
    pub(super) fn dialect(self) -> Dialect {
        match self {
            Self::Conversation(dialect) | Self::Other(dialect) => dialect,
            Self::Own | Self::Counting => Dialect::Anthropic,
        }
    }
}

/// Paths that only OpenAI's API has.
fn dialect_of(path: &str) -> Dialect {
    const OPENAI: [&str; 5] = [
        "/v1/chat/",
        "/v1/responses",
        "/v1/embeddings",
        "/v1/completions",
        "/v1/images",
    ];
    if OPENAI.iter().any(|start| path.starts_with(start)) {
        Dialect::OpenAi
    } else {
        Dialect::Anthropic
    }
}
