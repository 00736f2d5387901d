//! A socket that does not wait for ever for its peer: to take bytes, to send the first byte of a connection, to finish a head
//! that it began. What it has read of a head is charged until the head is whole. Bodies are timed and charged where they are
//! read (`collect`).

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

/// How long is waited.
#[derive(Debug, Clone, Copy)]
pub(super) struct SocketTimeouts {
    /// For the first byte of a connection, and for the rest of a head that was begun.
    pub(super) head: Duration,
    /// For the peer to take bytes.
    pub(super) taking: Duration,
}

/// See the module.
#[derive(Debug)]
pub(super) struct TimedSocket {
    stream: TcpStream,
    patience: SocketTimeouts,
    turns: ConnectionTurns,
    budget: MemoryBudget,
    /// Until the first byte comes.
    silent: Option<SilentConnection>,
    /// Runs while a first byte or the rest of a head is awaited.
    head: Option<Pin<Box<Sleep>>>,
    /// For what was read of a head.
    charge: Option<MemoryCharge>,
    /// How many heads came before the one that is awaited.
    heads: u64,
    /// Runs while the peer takes nothing.
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

    /// A head that came whole is not awaited any more.
    fn catch_up(&mut self) {
        let heads = self.turns.heads();
        if self.turns.are_ours() || heads != self.heads {
            self.heads = heads;
            self.head = None;
            self.charge = None;
        }
    }

    /// Some bytes came.
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

    /// Nothing came.
    fn waits(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.catch_up();
        let Some(timer) = &mut self.head else {
            return Poll::Pending;
        };
        ready!(timer.as_mut().poll(cx));
        let late = "the client sends no head";
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
        let late = "the client takes no bytes";
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
