//! Remembers counts by identity, within bounds: there are two generations, and the older is dropped when the younger is
//! full.

use std::collections::HashMap;

use super::TokenizerFamily;

/// The maximum number of counts in a generation. At 32 bytes each, both are a few megabytes.
const FULL: usize = 1 << 16;

#[derive(Debug, Default)]
pub(super) struct TokenMemo {
    young: HashMap<(u128, TokenizerFamily), u64>,
    old: HashMap<(u128, TokenizerFamily), u64>,
}

impl TokenMemo {
    pub(super) fn get_or(
        &mut self,
        identity: u128,
        family: TokenizerFamily,
        count: impl FnOnce() -> u64,
    ) -> u64 {
        let key = (identity, family);
        if let Some(&known) = self.young.get(&key) {
            return known;
        }
        let counted = self.old.get(&key).copied().unwrap_or_else(count);
        if self.young.len() >= FULL {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, counted);
        counted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_is_not_counted_again_and_memory_is_bounded() {
        let mut memo = TokenMemo::default();
        assert_eq!(memo.get_or(1, TokenizerFamily::Old, || 7), 7);
        assert_eq!(memo.get_or(1, TokenizerFamily::Old, || 8), 7);
        assert_eq!(memo.get_or(1, TokenizerFamily::New, || 9), 9);
        for identity in 2..3 * FULL as u128 {
            memo.get_or(identity, TokenizerFamily::Old, || 1);
        }
        assert!(memo.young.len() + memo.old.len() <= 2 * FULL);
        assert_eq!(memo.get_or(1, TokenizerFamily::Old, || 10), 10);
    }
}
