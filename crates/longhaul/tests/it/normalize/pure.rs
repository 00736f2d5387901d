//! The result depends on the entries, not on when it was read (B1, Y2), and only ever grows.

use longhaul_core::message::{Entry, Id};
use longhaul_core::normalize::{RenderOptions, Rendering};
use proptest::collection::vec;
use proptest::prelude::*;

use super::accepted::cases;
use super::hostile::{self, History, shown};
use super::world::messages;

/// A rendering of a history up to `begun` with the rest pushed, sealed where `seal` says so (it is called before each
/// entry that is pushed) and at the end. Also returns the bytes at each seal, with the last message open.
fn pushed(
    options: &RenderOptions,
    history: &History,
    begun: usize,
    mut seal: impl FnMut(usize, &Rendering) -> bool,
) -> (Rendering, Vec<Vec<u8>>) {
    let entries = &history.entries;
    let views = entries[..begun].iter().map(Entry::view);
    let mut rendering = Rendering::begin(options.clone(), views);
    let mut seen = Vec::new();
    for (index, entry) in entries.iter().enumerate().skip(begun) {
        if seal(index, &rendering) {
            rendering.seal();
            seen.push(rendering.buffer().copy(0, rendering.buffer().len()));
        }
        rendering.push(entry.view());
    }
    rendering.seal();
    (rendering, seen)
}

/// Whether a line of a response that began before this place comes after it.
fn is_inside_a_response(history: &History, at: usize) -> bool {
    let ids = |entries: &[Entry]| -> Vec<Id> {
        let replies = entries.iter().filter(|entry| entry.facets().is_reply());
        replies
            .filter_map(|entry| entry.view().message_id())
            .collect()
    };
    let before = ids(&history.entries[..at]);
    ids(&history.entries[at..])
        .iter()
        .any(|id| before.contains(id))
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn y2_sealing_between_responses_changes_nothing(
        lines in hostile::history(24),
        options in hostile::options(),
        begun in 0..24_usize,
        seals in vec(any::<bool>(), 24),
    ) {
        let history = hostile::written(&lines);
        let begun = begun.min(history.entries.len());
        let (once, _) = pushed(&options, &history, begun, |_, _| false);
        let (often, _) = pushed(&options, &history, begun, |at, rendering| {
            seals[at] && rendering.open_calls().is_empty() && !is_inside_a_response(&history, at)
        });
        prop_assert_eq!(messages(&once), messages(&often), "{}", shown(&history));
        let hashes = |rendering: &Rendering| -> Vec<(u64, u64, u64)> {
            let blocks = rendering.blocks().iter();
            blocks.map(|block| (block.start, block.end, block.prefix_hash)).collect()
        };
        prop_assert_eq!(hashes(&once), hashes(&often));
    }

    #[test]
    fn b1_what_was_sent_is_never_rewritten(
        lines in hostile::history(24),
        options in hostile::options(),
        begun in 0..24_usize,
        seals in vec(any::<bool>(), 24),
    ) {
        let history = hostile::written(&lines);
        let begun = begun.min(history.entries.len());
        let (rendering, seen) = pushed(&options, &history, begun, |at, _| seals[at]);
        let last = messages(&rendering).into_bytes();
        for sent in seen {
            prop_assert!(last.starts_with(&sent), "{}", shown(&history));
        }
        notes_are_true(&rendering);
    }
}

/// Blocks and messages are where the notes say.
fn notes_are_true(rendering: &Rendering) {
    let buffer = rendering.buffer();
    let sent: serde_json::Value =
        serde_json::from_str(&format!("[{}]", messages(rendering))).unwrap();
    let sent = sent.as_array().unwrap();
    assert_eq!(sent.len(), rendering.messages().len());
    let blocks: usize = sent
        .iter()
        .map(|message| message["content"].as_array().unwrap().len())
        .sum();
    assert_eq!(blocks, rendering.blocks().len());
    let mut prefix = 0;
    for (index, block) in rendering.blocks().iter().enumerate() {
        let message = &sent[block.message as usize];
        let first = rendering.messages()[block.message as usize].first_block as usize;
        let bytes = buffer.copy(block.start, block.end);
        let written: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(written, message["content"][index - first]);
        assert_eq!(bytes.last(), Some(&b'}'), "a marker goes before the brace");
        let kind = written["type"].as_str().unwrap();
        assert!(!block.markable || !kind.ends_with("thinking"));
        assert_ne!(block.prefix_hash, prefix);
        prefix = block.prefix_hash;
    }
}
