//! Usage as the APIs report it, read into the core's price classes.

use longhaul_core::json::{JsonCursor, ObjectReader};
use longhaul_core::message::{Iteration, IterationKind, Usage};

use crate::raw;

/// Token counts are capped, so that totals of what a hostile server claims cannot overflow.
const MOST: u64 = 1 << 40;

fn count(object: ObjectReader<'_>, key: &str) -> u64 {
    object.count(key).unwrap_or(0).min(MOST)
}

/// Reads a `usage` object of the Messages API.
pub fn anthropic(bytes: &[u8]) -> Usage {
    let object = ObjectReader::new(bytes);
    let mut usage = counts(object);
    for step in raw::items(object.get("iterations").unwrap_or_default()) {
        if step.first() == Some(&b'{') {
            let step = ObjectReader::new(step);
            let kind = match step.string("type").as_deref() {
                Some("message") | None => IterationKind::Message,
                Some(_) => IterationKind::Other,
            };
            let usage_of_step = counts(step);
            usage.iterations.push(Iteration {
                kind,
                usage: usage_of_step,
            });
        }
    }
    usage
}

fn counts(object: ObjectReader<'_>) -> Usage {
    let split = object.object("cache_creation");
    let split = |key| split.map_or(0, |split| count(split, key));
    let mut usage = Usage {
        input: count(object, "input_tokens"),
        cache_read: count(object, "cache_read_input_tokens"),
        cache_write_5m: split("ephemeral_5m_input_tokens"),
        cache_write_1h: split("ephemeral_1h_input_tokens"),
        output: count(object, "output_tokens"),
        cache_deleted: (object.count("cache_deleted_input_tokens")).map(|count| count.min(MOST)),
        web_searches: (object.object("server_tool_use"))
            .map_or(0, |tools| count(tools, "web_search_requests")),
        batch: object.string("service_tier").as_deref() == Some("batch"),
        us_only: object.string("inference_geo").as_deref() == Some("us"),
        iterations: Vec::new(),
    };
    // The split by lifetime is not always reported, and in a stream may be older than the total; what it does not
    // account for has the default lifetime.
    let written = count(object, "cache_creation_input_tokens");
    usage.cache_write_5m += written.saturating_sub(usage.cache_write());
    usage
}

/// Reads a `usage` object of chat completions, whose `prompt_tokens` include what was read from the cache.
///
/// Cache writes there have one price, that of Anthropic's five-minute ones.
pub fn openai(bytes: &[u8]) -> Usage {
    let object = ObjectReader::new(bytes);
    let details = object.object("prompt_tokens_details");
    let detail = |key| details.map_or(0, |details| count(details, key));
    let prompt = count(object, "prompt_tokens");
    // DeepSeek and similar servers report the hits beside the total.
    let cached = detail("cached_tokens").max(count(object, "prompt_cache_hit_tokens"));
    let cache_read = cached.min(prompt);
    let cache_write_5m = detail("cache_write_tokens").min(prompt - cache_read);
    Usage {
        input: prompt - cache_read - cache_write_5m,
        cache_read,
        cache_write_5m,
        output: count(object, "completion_tokens"),
        ..Usage::default()
    }
}

/// Usage in the format of the Messages API, for replies of the other dialect.
pub(crate) fn write(usage: &Usage) -> Vec<u8> {
    format!(
        r#"{{"input_tokens":{},"cache_creation_input_tokens":{},"cache_read_input_tokens":{},"output_tokens":{}}}"#,
        usage.input,
        usage.cache_write(),
        usage.cache_read,
        usage.output
    )
    .into_bytes()
}

/// Whether the bytes are a JSON object. Usage is not always one (`null` in most chunks).
pub(crate) fn is_object(bytes: &[u8]) -> bool {
    bytes.first() == Some(&b'{') && JsonCursor::new(bytes).skip().is_ok()
}
