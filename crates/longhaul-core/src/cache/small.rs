//! Recognizes small models, whose cache breaks are not worth reporting (D3).

/// Words in the names of small models. A name is split at every character that is not a letter.
const SMALL: [&str; 4] = ["haiku", "mini", "nano", "lite"];

/// Whether a model is a small one, by its name.
pub(crate) fn is_small_model(model: &str) -> bool {
    let words = model.split(|letter: char| !letter.is_ascii_alphabetic());
    words
        .map(str::to_ascii_lowercase)
        .any(|word| SMALL.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d3_small_models_are_told_by_their_names() {
        for small in [
            "claude-haiku-4-5",
            "gpt-6-mini",
            "anthropic/claude-3-5-haiku-20241022",
        ] {
            assert!(is_small_model(small), "{small}");
        }
        for other in [
            "claude-sonnet-5-5",
            "gemini-pro",
            "administrator",
            "longhaul-offline",
        ] {
            assert!(!is_small_model(other), "{other}");
        }
    }
}
