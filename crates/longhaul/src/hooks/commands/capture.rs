//! Reads the output of a hook: everything is read, so that the hook never waits, and a bounded part is kept.

use tokio::io::{AsyncRead, AsyncReadExt};

/// How much of one stream is kept in memory.
const KEPT: usize = 1024 * 1024;

const NOT_KEPT: &str = include_str!("not_kept.md");

/// The output of one stream.
#[derive(Debug, Default)]
pub(super) struct CapturedStream {
    bytes: Vec<u8>,
    /// How many bytes came after the kept ones.
    dropped: u64,
}

impl CapturedStream {
    /// Reads to the end, or until the future is dropped; what was read by then stays.
    pub(super) async fn fill(&mut self, stream: Option<impl AsyncRead + Unpin>) {
        let Some(mut stream) = stream else { return };
        let mut chunk = vec![0; 16 * 1024];
        // A stream that can no longer be read has ended.
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

    /// The kept part as text, without the white space around it; bytes that are not UTF-8 are replaced.
    pub(super) fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        match self.dropped {
            0 => text.trim().to_owned(),
            // The hook's own text goes in last, so that nothing in it is taken for a placeholder.
            more => NOT_KEPT
                .trim_end()
                .replace("{bytes}", &more.to_string())
                .replacen("{beginning}", text.trim(), 1),
        }
    }

    /// The JSON text, if the output begins like an object.
    pub(super) fn json(&self) -> Option<serde_json::Result<serde_json::Value>> {
        let bytes = self.bytes.trim_ascii_start();
        bytes
            .starts_with(b"{")
            .then(|| serde_json::from_slice(bytes))
    }
}
