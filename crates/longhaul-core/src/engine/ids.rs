//! Ids for the entries that are created here. There is no randomness: the seed comes from outside, so a replay gives
//! the same ids.

use std::fmt::Write;

use crate::xxh3::xxh3_128_with_seed;

/// Generates a sequence of uuids (version 8: made by our own rule).
#[derive(Debug, Clone)]
pub struct UuidSequence {
    seed: [u8; 16],
    count: u64,
}

impl UuidSequence {
    /// Starts a sequence from a seed that no other session has.
    pub fn new(seed: u128) -> Self {
        Self {
            seed: seed.to_le_bytes(),
            count: 0,
        }
    }

    /// The next uuid.
    pub fn next_uuid(&mut self) -> String {
        self.count += 1;
        let mut bytes = xxh3_128_with_seed(&self.seed, self.count).to_be_bytes();
        bytes[6] = bytes[6] & 0x0f | 0x80;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        let mut text = String::with_capacity(36);
        for (at, byte) in bytes.iter().enumerate() {
            if matches!(at, 4 | 6 | 8 | 10) {
                text.push('-');
            }
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_uuids_of_their_seed() {
        let (mut one, mut same, mut other) = (
            UuidSequence::new(7),
            UuidSequence::new(7),
            UuidSequence::new(8),
        );
        let first = one.next_uuid();
        assert_eq!(first, same.next_uuid());
        assert_ne!(first, other.next_uuid());
        assert_ne!(first, one.next_uuid());
        let parts: Vec<usize> = first.split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12]);
        assert_eq!(&first[14..15], "8", "{first}");
        assert!(
            matches!(&first[19..20], "8" | "9" | "a" | "b"),
            "the variant: {first}"
        );
    }
}
