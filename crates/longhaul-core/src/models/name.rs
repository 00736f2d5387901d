//! The many names of one model: providers add prefixes, dates, versions and variants to its id.

/// A model's name without the parts that providers add.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ModelName {
    /// The bare id: `claude-opus-4-6`.
    pub(super) plain: String,
    /// Who serves the model.
    pub(super) route: ModelRoute,
    /// Whether the name asked for a window other than the model's own.
    pub(super) window: RequestedWindow,
}

/// Who serves the model, judged by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModelRoute {
    /// The maker serves the model: the name is the maker's own.
    Direct,
    /// A reseller serves the model: the name has a reseller's prefix or suffix, so prices may differ.
    Reseller,
}

/// The window that a name asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestedWindow {
    /// The model's own window.
    Own,
    /// `[1m]`: a window of a million tokens.
    Million,
}

/// Parses a name: `us.anthropic.claude-opus-4-5-20251101-v1:0` is `claude-opus-4-5` from a reseller.
pub(super) fn normalize(requested: &str) -> ModelName {
    let lower = requested.trim().to_ascii_lowercase();
    let (rest, window) = match lower.strip_suffix("[1m]") {
        Some(rest) => (rest, RequestedWindow::Million),
        None => (lower.as_str(), RequestedWindow::Own),
    };
    // Paths (`openrouter/anthropic/…`, `bedrock/us-east-1/…`, an ARN) end with the model; `anthropic.` may follow a
    // region.
    let file = rest.rsplit('/').next().unwrap_or(rest);
    let id = file.split_once("anthropic.").map_or(file, |(_, id)| id);
    let route = if id.len() == rest.len() || rest.strip_suffix(id) == Some("anthropic/") {
        ModelRoute::Direct
    } else {
        ModelRoute::Reseller
    };
    let id = without_variant(id);
    let id = without_numbered(id, "-v", 1..=2);
    let id = id.strip_suffix("-latest").unwrap_or(id);
    let id = without_numbered(id, "-", 8..=8);
    ModelName {
        plain: id.replace('.', "-"),
        route,
        window,
    }
}

/// Removes a suffix after `:` or `@` if it names a release or a service variant, but not if it names another model
/// (`qwen:14b`).
fn without_variant(id: &str) -> &str {
    const SERVED: [&str; 6] = ["thinking", "beta", "extended", "nitro", "floor", "exacto"];
    let id = match id.split_once(':') {
        Some((head, tail)) if SERVED.contains(&tail) => head,
        Some((head, _)) if without_numbered(head, "-v", 1..=2) != head => head,
        _ => id,
    };
    match id.split_once('@') {
        Some((head, "latest" | "default")) => head,
        Some((head, _)) if without_numbered(id, "@", 8..=8) == head => head,
        _ => id,
    }
}

/// Removes a marker and the number after it, if the number has the expected number of digits.
fn without_numbered<'a>(
    text: &'a str,
    mark: &str,
    digits: std::ops::RangeInclusive<usize>,
) -> &'a str {
    match text.rsplit_once(mark) {
        Some((head, number))
            if digits.contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit()) =>
        {
            head
        }
        _ => text,
    }
}
