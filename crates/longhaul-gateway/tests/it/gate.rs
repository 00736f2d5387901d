//! A gate before an upstream: requests for summaries are counted, and held while it is closed; all others pass.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::support::{Upstream, read_message};

/// The words by which the gateway's own requests for summaries are recognized.
const TELLING: &[u8] = b"Sum up the whole conversation above.";

/// A gate before an upstream that holds requests for summaries.
pub(crate) struct Gate {
    pub(crate) url: String,
    open: watch::Sender<bool>,
    arrived: Arc<AtomicUsize>,
}

impl Gate {
    /// A closed gate.
    pub(crate) async fn before(upstream: SocketAddr) -> Self {
        let mut outside = Upstream::start().await;
        let url = outside.url().to_string();
        let (open, opened) = watch::channel(false);
        let arrived = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&arrived);
        tokio::spawn(async move {
            while let Some(stream) = outside.accepted.recv().await {
                tokio::spawn(pass(stream, upstream, opened.clone(), Arc::clone(&counted)));
            }
        });
        Self { url, open, arrived }
    }

    pub(crate) fn open(&self) {
        self.open.send(true).unwrap();
    }

    /// How many requests for summaries arrived so far.
    pub(crate) fn arrived(&self) -> usize {
        self.arrived.load(Ordering::Acquire)
    }
}

async fn pass(
    mut stream: TcpStream,
    upstream: SocketAddr,
    mut opened: watch::Receiver<bool>,
    arrived: Arc<AtomicUsize>,
) -> Option<()> {
    let mut inside = TcpStream::connect(upstream).await.ok()?;
    while let Some(request) = read_message(&mut stream).await {
        if memchr::memmem::find(&request, TELLING).is_some() {
            arrived.fetch_add(1, Ordering::AcqRel);
            opened.wait_for(|open| *open).await.ok()?;
        }
        inside.write_all(&request).await.ok()?;
        let mut answer = read_message(&mut inside).await?;
        if memchr::memmem::find(&answer, b"transfer-encoding: chunked").is_some() {
            while !answer.ends_with(b"\r\n0\r\n\r\n") {
                inside
                    .read_buf(&mut answer)
                    .await
                    .ok()
                    .filter(|read| *read > 0)?;
            }
        }
        stream.write_all(&answer).await.ok()?;
    }
    None
}
