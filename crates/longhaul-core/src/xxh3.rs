//! XXH3, the hash that distinguishes ids, requests and files. It is fast but does not resist a deliberate search for
//! collisions: values that outsiders could choose are hashed with a key (`siphasher` in the gateway).
//!
//! Hashes are stored in transcripts, archives and the gateway's store, so their values never change. The implementation
//! uses the vector instructions of the processor, whatever target the program was built for.

use std::hash::Hasher as _;

use twox_hash::{XxHash3_64, XxHash3_128, xxhash3_64, xxhash3_128};

/// Returns the 64-bit hash of bytes.
pub fn xxh3_64(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

/// Returns the 64-bit hash of bytes with a seed.
pub fn xxh3_64_with_seed(bytes: &[u8], seed: u64) -> u64 {
    XxHash3_64::oneshot_with_seed(seed, bytes)
}

/// Returns the 128-bit hash of bytes.
pub fn xxh3_128(bytes: &[u8]) -> u128 {
    XxHash3_128::oneshot(bytes)
}

/// Returns the 128-bit hash of bytes with a seed.
pub fn xxh3_128_with_seed(bytes: &[u8], seed: u64) -> u128 {
    XxHash3_128::oneshot_with_seed(seed, bytes)
}

/// Computes the 64-bit hash of bytes that arrive piece by piece.
#[derive(Clone, Default)]
pub struct Xxh3_64(xxhash3_64::Hasher);

impl Xxh3_64 {
    /// Creates a hasher that has read nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next piece.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    /// Returns the hash of all pieces so far.
    pub fn digest(&self) -> u64 {
        self.0.finish()
    }
}

impl std::fmt::Debug for Xxh3_64 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Xxh3_64").finish_non_exhaustive()
    }
}

/// Computes the 128-bit hash of bytes that arrive piece by piece.
#[derive(Clone, Default)]
pub struct Xxh3_128(xxhash3_128::Hasher);

impl Xxh3_128 {
    /// Creates a hasher that has read nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a hasher with a seed that has read nothing yet.
    pub fn with_seed(seed: u64) -> Self {
        Self(xxhash3_128::Hasher::with_seed(seed))
    }

    /// Adds the next piece.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    /// Returns the hash of all pieces so far.
    pub fn digest(&self) -> u128 {
        self.0.finish_128()
    }
}

impl std::fmt::Debug for Xxh3_128 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Xxh3_128").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The length of the text, the seed, and the hashes of other implementations. Each length takes a different path
    /// through the algorithm.
    const KNOWN: [(usize, u64, u64, u128); 14] = [
        (0, 0, 0x2d06800538d394c2, 0x99aa06d3014798d86001c324468d497f),
        (
            0,
            42,
            0xb029411ff43d84d2,
            0x16c20acd33f7af2f3c1d09e9fe249164,
        ),
        (3, 0, 0xe56d057b91767568, 0xe4efe10db448d184e56d057b91767568),
        (
            3,
            42,
            0xdcc5bbfe804838c7,
            0x17de0cc6cdcd4781dcc5bbfe804838c7,
        ),
        (
            16,
            0,
            0x8603ed1b7f031d9a,
            0x4f568a0046f40c5a79ab1962e5f2f172,
        ),
        (
            16,
            42,
            0xb0deff6ddd1311d7,
            0x528b10d128394ddc1ffdf8a47c208a50,
        ),
        (
            100,
            0,
            0xec99aa84065dbcd5,
            0x15f6f1eb5a0bddf10bb77978b13187b4,
        ),
        (
            100,
            42,
            0xd5682bc93125d906,
            0x6f2a79a83148666e4498246f9c5dd83c,
        ),
        (
            200,
            0,
            0xeb6aeb7d8e15216b,
            0xb3ac8416bdd1ec25d5996e77705dd574,
        ),
        (
            200,
            42,
            0x9821783641adcb57,
            0x0a6344d74a5962f3ce829f4fdee55d96,
        ),
        (
            300,
            0,
            0x039189842217347f,
            0x4e3023a563021fb4039189842217347f,
        ),
        (
            300,
            42,
            0x6e1e146c0e9dd9b9,
            0xaec912a41fea065b6e1e146c0e9dd9b9,
        ),
        (
            1240,
            0,
            0xf53b5db8f56ecea7,
            0xb20d0c302330bf57f53b5db8f56ecea7,
        ),
        (
            1240,
            42,
            0x9b07c56af36c72d4,
            0xd4e2088cf3c25c639b07c56af36c72d4,
        ),
    ];

    #[test]
    fn y2_hashes_are_those_that_earlier_versions_stored() {
        let text = b"Longhaul keeps sessions alive. ".repeat(40);
        for (length, seed, short, long) in KNOWN {
            let bytes = &text[..length];
            assert_eq!(xxh3_64_with_seed(bytes, seed), short, "{length} {seed}");
            assert_eq!(xxh3_128_with_seed(bytes, seed), long, "{length} {seed}");
            let mut pieces = Xxh3_128::with_seed(seed);
            bytes.chunks(37).for_each(|piece| pieces.update(piece));
            assert_eq!(pieces.digest(), long, "{length} {seed}");
            if seed == 0 {
                let mut pieces = Xxh3_64::new();
                bytes.chunks(37).for_each(|piece| pieces.update(piece));
                assert_eq!(pieces.digest(), short, "{length}");
                assert_eq!((xxh3_64(bytes), xxh3_128(bytes)), (short, long), "{length}");
            }
        }
    }
}
