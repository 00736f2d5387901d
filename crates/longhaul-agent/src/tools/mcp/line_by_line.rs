//! Hands a server's output on line by line. The SDK's decoder stops after a line that is no message of the protocol and waits
//! for more output, even if what it has read already holds the answer; with one line at a time, there is nothing to overlook.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncBufRead, AsyncRead, BufReader, ReadBuf};

/// A reader that gives at most one line to each read.
pub(super) struct LineByLine<R>(BufReader<R>);

impl<R: AsyncRead> LineByLine<R> {
    pub(super) fn new(output: R) -> Self {
        Self(BufReader::new(output))
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for LineByLine<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let output = &mut self.get_mut().0;
        let read = ready!(Pin::new(&mut *output).poll_fill_buf(context))?;
        let line = read.iter().position(|byte| *byte == b'\n');
        let line = line.map_or(read.len(), |end| end + 1);
        let taken = line.min(into.remaining());
        into.put_slice(read.get(..taken).unwrap_or_default());
        Pin::new(output).consume(taken);
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt as _;

    #[tokio::test]
    async fn q1_each_read_gives_one_line_at_most() {
        let mut lines = LineByLine::new(&b"what?\n{}\nhalf"[..]);
        let mut got = Vec::new();
        loop {
            let mut buffer = [0; 100];
            let count = lines.read(&mut buffer).await.unwrap();
            if count == 0 {
                break;
            }
            got.push(buffer[..count].to_vec());
        }
        assert_eq!(got, [&b"what?\n"[..], b"{}\n", b"half"]);
    }
}
