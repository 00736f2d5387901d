//! Ids in the API's format, derived from the world's seed: the same run gives the same ids.

use longhaul_core::xxh3::xxh3_64_with_seed;

const DIGITS: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// Generates ids.
#[derive(Debug, Clone)]
pub(crate) struct ApiIds {
    seed: u64,
    made: u64,
}

impl ApiIds {
    /// Creates the ids of a world with this seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, made: 0 }
    }

    /// A message id: `msg_01…`.
    pub(crate) fn message(&mut self) -> String {
        self.next("msg_01", 22)
    }

    /// A tool call id: `toolu_01…`.
    pub(crate) fn tool_use(&mut self) -> String {
        self.next("toolu_01", 22)
    }

    /// The id of a call that the server runs: `srvtoolu_01…`.
    pub(crate) fn server_tool_use(&mut self) -> String {
        self.next("srvtoolu_01", 22)
    }

    /// A request id: `req_011C…`.
    pub(crate) fn request(&mut self) -> String {
        self.next("req_011C", 20)
    }

    fn next(&mut self, prefix: &str, length: usize) -> String {
        let mut id = String::with_capacity(prefix.len() + length);
        id.push_str(prefix);
        let mut rest = 0;
        for at in 0..length {
            if at % 10 == 0 {
                self.made += 1;
                rest = xxh3_64_with_seed(&self.made.to_le_bytes(), self.seed);
            }
            let digit = DIGITS.get((rest % 58) as usize).copied();
            id.push(char::from(digit.unwrap_or(b'1')));
            rest /= 58;
        }
        id
    }
}
