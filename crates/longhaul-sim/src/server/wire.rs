//! A connection that can be reset instead of closed.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// A flag that makes a connection be reset when it is closed.
#[derive(Debug, Clone, Default)]
pub(super) struct ResetFlag(Arc<AtomicBool>);

impl ResetFlag {
    pub(super) fn arm(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A connection that is reset on drop if its flag is set.
#[derive(Debug)]
pub(super) struct ResettableConnection {
    stream: TcpStream,
    cutter: ResetFlag,
}

impl ResettableConnection {
    pub(super) fn new(stream: TcpStream, cutter: ResetFlag) -> Self {
        Self { stream, cutter }
    }
}

impl Drop for ResettableConnection {
    fn drop(&mut self) {
        if self.cutter.0.load(Ordering::Relaxed) {
            // Closing without lingering sends RST. If this fails, the client sees an abrupt end instead.
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for ResettableConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for ResettableConnection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.cutter.0.load(Ordering::Relaxed) {
            // A shutdown would end the stream properly before it can be reset.
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
