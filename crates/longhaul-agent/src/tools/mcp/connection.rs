//! A connection to a server: its process and the handshake.

use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt;
use tokio::process::{ChildStdin, ChildStdout};

use super::line_by_line::LineByLine;
use super::listener::{McpListener, McpService};
use super::listing::McpOffer;
use super::process::McpProcess;

/// A server after a successful handshake.
pub(super) struct McpConnection {
    pub(super) service: McpService,
    pub(super) process: Arc<McpProcess>,
}

impl McpConnection {
    /// Performs the handshake with a process and lists what it offers, within a time limit. An error is half a sentence.
    pub(super) async fn open(
        process: Arc<McpProcess>,
        pipes: (ChildStdout, ChildStdin),
        patience: Duration,
        listener: McpListener,
    ) -> Result<(Self, McpOffer), String> {
        let hello = async {
            let (output, input) = pipes;
            let service = listener.serve((LineByLine::new(output), input)).await;
            let service = service.map_err(|error| error.to_string())?;
            let offered = McpOffer::of(&service).await?;
            service.service().remember(&offered.tools.tools);
            Ok::<_, String>((service, offered))
        };
        let said_hello = tokio::time::timeout(patience, hello).await;
        let why = match said_hello {
            Ok(Ok((service, offered))) => return Ok((Self { service, process }, offered)),
            Ok(Err(error)) => super::one_line(&error, 300),
            Err(_) => format!("it did not say hello within {patience:?}"),
        };
        let said = process.latest_stderr_line();
        process.kill();
        Err(if said.is_empty() {
            why
        } else {
            format!("{why}; it said: {said}")
        })
    }

    /// Whether the connection can no longer be used.
    pub(super) fn is_closed(&self) -> bool {
        self.service.peer().is_transport_closed()
    }
}
