//! A compacted prefix in memory, split into the elements that are sent.

use std::sync::Arc;

use bytes::Bytes;
use longhaul_core::json;
use longhaul_core::xxh3::xxh3_128_with_seed;

use super::weight;
use crate::store::CompactedPrefix;

/// A compacted prefix, and what the cache watch sees of it.
#[derive(Debug)]
pub(crate) struct LoadedPrefix {
    pub(crate) prefix: CompactedPrefix,
    /// Each element that is sent, with the hash of its bytes.
    pub(crate) elements: Arc<[(u128, Bytes)]>,
    /// Distinguishes its bytes from others that replace the same history.
    pub(crate) bytes_hash: u128,
}

impl LoadedPrefix {
    pub(super) fn new(prefix: CompactedPrefix) -> Self {
        let bytes_hash = xxh3_128_with_seed(&prefix.text, 0);
        let elements = elements_of(&prefix.text)
            .into_iter()
            .map(|element| (xxh3_128_with_seed(&element, 0), element))
            .collect();
        Self {
            prefix,
            elements,
            bytes_hash,
        }
    }

    /// Whether the messages after the summary still have to be made from the client's.
    pub(super) fn is_incomplete(&self) -> bool {
        self.prefix.derived.is_some() && self.prefix.text.len() == self.prefix.summary
    }

    /// Distinguishes it from other prefixes of the same history.
    pub(crate) fn beginning(&self) -> u128 {
        self.prefix.at
    }

    /// The token count of what is sent for it.
    pub(super) fn weight(&self) -> u64 {
        let elements = self.elements.iter();
        elements.map(|(_, element)| weight::element(element)).sum()
    }

    /// The elements of the summary.
    pub(crate) fn summary(&self) -> Vec<Bytes> {
        elements_of(
            self.prefix
                .text
                .get(..self.prefix.summary)
                .unwrap_or_default(),
        )
    }
}

/// Splits a text into its elements, which are separated by commas.
fn elements_of(text: &[u8]) -> Vec<Bytes> {
    let list = Bytes::from([b"[", text, b"]"].concat());
    let items = json::items(&list).into_iter().flatten();
    items.map(|item| list.slice_ref(item)).collect()
}
