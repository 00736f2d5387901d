//! Reads what a hook prints: all of it is taken, so that the hook never waits, and a bounded part is kept.

use tokio::io::{AsyncRead, AsyncReadExt};

/// How much of one stream is kept in memory.
const KEPT: usize = 1024 * 1024;

const NOT_KEPT: &str = include_str!("not_kept.md");

/// What came over one stream.
#[derive(Debug, Default)]
pub(super) struct CapturedStream {
    bytes: Vec<u8>,
    /// How many bytes came after those that were kept.
    dropped: u64,
}

impl CapturedStream {
    /// Reads to the end, or until the reading is dropped; what was read until then stays.
    pub(super) async fn fill(&mut self, stream: Option<impl AsyncRead + Unpin>) {
        let Some(mut stream) = stream else { return };
        let mut chunk = vec![0; 16 * 1024];
        // A stream that cannot be read any more has ended.
        while let Ok(length @ 1..) = stream.read(&mut chunk).await {
            let room = length.min(KEPT - self.bytes.len());
            self.bytes.extend_from_slice(&chunk[..room]);
            self.dropped += (length - room) as u64;
        }
    }

    /// How many bytes came.
    pub(super) fn length(&self) -> u64 {
        self.bytes.len() as u64 + self.dropped
    }

    /// The kept part as text, without the white space around it; what is no UTF-8 is replaced.
    pub(super) fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        match self.dropped {
            0 => text.trim().to_owned(),
            // The hook's own text goes in last, so that nothing in it is taken for a place to fill.
            more => NOT_KEPT
                .trim_end()
                .replace("{bytes}", &more.to_string())
                .replacen("{beginning}", text.trim(), 1),
        }
    }

    /// The JSON it holds, if it begins as an object does.
    pub(super) fn json(&self) -> Option<serde_json::Result<serde_json::Value>> {
        let bytes = self.bytes.trim_ascii_start();
        bytes
            .starts_with(b"{")
            .then(|| serde_json::from_slice(bytes))
    }
}
