//! A socket that does not wait forever for its peer: to accept bytes, to send the first byte of a connection, to finish
//! the request headers that it began. Memory is charged for the headers read so far until they are complete. Bodies are
//! timed and charged where they are read (`upstream/bodies.rs`).

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

use super::connection_turns::ConnectionTurns;
use super::silent::SilentConnection;
use crate::memory::{MemoryBudget, MemoryCharge};

/// How long the socket waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct SocketTimeouts {
    /// The time for the first byte of a connection, and for the rest of headers that have begun.
    pub(super) head: Duration,
    /// The time for the peer to accept bytes.
    pub(super) taking: Duration,
}

/// A socket that does not wait forever for its peer.
#[derive(Debug)]
pub(super) struct TimedSocket {
    stream: TcpStream,
    patience: SocketTimeouts,
    turns: ConnectionTurns,
    budget: MemoryBudget,
    /// Present until the first byte arrives.
    silent: Option<SilentConnection>,
    /// Runs while a first byte or the rest of the headers is awaited.
    head: Option<Pin<Box<Sleep>>>,
    /// The memory charged for the headers read so far.
    charge: Option<MemoryCharge>,
    /// How many requests' headers came before those that are awaited.
    heads: u64,
    /// Runs while the peer accepts nothing.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl TimedSocket {
    pub(super) fn new(
        stream: TcpStream,
        patience: SocketTimeouts,
        turns: ConnectionTurns,
        budget: MemoryBudget,
        silent: SilentConnection,
    ) -> Self {
        Self {
            stream,
            patience,
            turns,
            budget,
            silent: Some(silent),
            head: Some(Box::pin(tokio::time::sleep(patience.head))),
            charge: None,
            heads: 0,
            stalled: None,
        }
    }

    /// Stops the timer for headers that arrived completely.
    fn catch_up(&mut self) {
        let heads = self.turns.heads();
        if self.turns.are_ours() || heads != self.heads {
            self.heads = heads;
            self.head = None;
            self.charge = None;
        }
    }

    /// Handles the arrival of bytes.
    fn heard(&mut self, bytes: usize) -> io::Result<()> {
        let first = self.silent.take().is_some();
        self.catch_up();
        if self.turns.are_ours() {
            return Ok(());
        }
        if first || self.head.is_none() {
            self.head = Some(Box::pin(tokio::time::sleep(self.patience.head)));
        }
        let charged = match &mut self.charge {
            Some(charge) => charge.grow(bytes),
            None => self.budget.take(bytes).map(|charge| {
                self.charge = Some(charge);
            }),
        };
        charged.map_err(io::Error::other)
    }

    /// Handles a read that brought nothing yet.
    fn waits(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.catch_up();
        let Some(timer) = &mut self.head else {
            return Poll::Pending;
        };
        ready!(timer.as_mut().poll(cx));
        let late = "the client sends no request headers";
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, late)))
    }

    fn timed<T>(
        &mut self,
        cx: &mut Context<'_>,
        polled: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.stalled = None;
            return polled;
        }
        let limit = self.patience.taking;
        let timer = self
            .stalled
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + limit)));
        ready!(timer.as_mut().poll(cx));
        let late = "the client accepts no bytes";
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, late)))
    }
}

impl AsyncRead for TimedSocket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        match Pin::new(&mut self.stream).poll_read(cx, buffer) {
            Poll::Pending => self.waits(cx),
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Ready(Ok(())) => match buffer.filled().len() - before {
                0 => Poll::Ready(Ok(())),
                bytes => Poll::Ready(self.heard(bytes)),
            },
        }
    }
}

impl AsyncWrite for TimedSocket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.timed(cx, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.timed(cx, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
