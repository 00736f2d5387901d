//! Token counts of genai as those of the library.

use genai::chat::Usage as GenaiUsage;
use longhaul::Usage;

/// The counts, or `None` if the provider did not say how large the prompt was.
///
/// genai counts all of a prompt as `prompt_tokens`, for every provider; here what was read from the cache and written to
/// it is counted apart.
pub(crate) fn from_genai(usage: &GenaiUsage) -> Option<Usage> {
    let count = |value: Option<i32>| value.and_then(|value| u64::try_from(value).ok());
    let prompt = count(usage.prompt_tokens)?;
    let details = usage.prompt_tokens_details.as_ref();
    let detail = |read: fn(&genai::chat::PromptTokensDetails) -> Option<i32>| {
        details
            .and_then(|details| count(read(details)))
            .unwrap_or(0)
    };
    let cache_read = detail(|details| details.cached_tokens).min(prompt);
    let written = detail(|details| details.cache_creation_tokens).min(prompt - cache_read);
    let for_an_hour = detail(|details| {
        let lifetimes = details.cache_creation_details.as_ref()?;
        lifetimes.ephemeral_1h_tokens
    });
    let cache_write_1h = for_an_hour.min(written);
    Some(Usage {
        input: prompt - cache_read - written,
        cache_read,
        cache_write_5m: written - cache_write_1h,
        cache_write_1h,
        output: count(usage.completion_tokens).unwrap_or(0),
        ..Usage::default()
    })
}

#[cfg(test)]
mod tests {
    use genai::chat::{CacheCreationDetails, PromptTokensDetails};

    use super::*;

    #[test]
    fn the_parts_of_a_prompt_add_up_to_it() {
        let usage = GenaiUsage {
            prompt_tokens: Some(1_000),
            prompt_tokens_details: Some(PromptTokensDetails {
                cached_tokens: Some(700),
                cache_creation_tokens: Some(200),
                cache_creation_details: Some(CacheCreationDetails {
                    ephemeral_5m_tokens: Some(150),
                    ephemeral_1h_tokens: Some(50),
                }),
                audio_tokens: None,
            }),
            completion_tokens: Some(9),
            ..GenaiUsage::default()
        };
        let usage = from_genai(&usage).unwrap();
        let parts = (usage.input, usage.cache_read, usage.cache_write_5m);
        assert_eq!(parts, (100, 700, 150));
        assert_eq!((usage.cache_write_1h, usage.output), (50, 9));
        assert_eq!(usage.prompt(), 1_000);
    }

    #[test]
    fn a_provider_that_counts_nothing_measures_nothing() {
        assert_eq!(from_genai(&GenaiUsage::default()), None);
    }

    #[test]
    fn counts_that_contradict_each_other_do_not_exceed_the_prompt() {
        let usage = GenaiUsage {
            prompt_tokens: Some(10),
            prompt_tokens_details: Some(PromptTokensDetails {
                cached_tokens: Some(90),
                cache_creation_tokens: Some(-5),
                ..PromptTokensDetails::default()
            }),
            ..GenaiUsage::default()
        };
        let usage = from_genai(&usage).unwrap();
        assert_eq!((usage.input, usage.cache_read, usage.prompt()), (0, 10, 10));
    }
}
