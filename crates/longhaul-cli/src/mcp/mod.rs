//! `longhaul mcp`: an MCP server over stdin and stdout that lets another agent look into this project's sessions.
//!
//! `server.rs` speaks the protocol, `session_scope.rs` decides which transcripts may be read, and there is one file per
//! tool. Nothing here changes a session; the only files that are written are the search indexes under LONGHAUL_HOME, as
//! `longhaul recall` writes them.

mod context_tool;
mod foreign;
mod mcp_tool_error;
mod recall_search;
mod recall_tool;
mod server;
mod session_scope;
mod sessions_tool;

use std::io::IsTerminal;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;

use crate::args::McpArgs as Command;
use crate::failure::{CliError, CliOutcome, tell};
use crate::inspect::ReportBasis;
use crate::settings::CommandSettings;
use crate::signals::EndSignals;
use server::SessionServer;
use session_scope::SessionScope;

pub(crate) fn run(command: &Command, given: &CommandSettings) -> Result<CliOutcome, CliError> {
    let config = given.resolve(Vec::new())?;
    let scope = SessionScope::new(command, &given.env)?;
    let server = SessionServer::new(scope, ReportBasis::new(&config)?);
    if std::io::stdin().is_terminal() {
        tell(
            "This is an MCP server: a program speaks to it over stdin and stdout. Ctrl-D ends it.",
        );
        tell("  claude mcp add longhaul -- longhaul mcp      adds it to Claude Code");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(CliError::Runtime)?;
    let served = runtime.block_on(serve(server));
    // A read of stdin cannot be cancelled, and nothing else is worth waiting for.
    runtime.shutdown_background();
    served.map(|()| CliOutcome::Fine)
}

/// Serves until the client or a signal ends it.
async fn serve(server: SessionServer) -> Result<(), CliError> {
    let mut signals = EndSignals::listen().map_err(CliError::Runtime)?;
    let transport = (tokio::io::stdin(), tokio::io::stdout());
    let session = async {
        match server.serve(transport).await {
            Ok(running) => running
                .waiting()
                .await
                .map(drop)
                .map_err(|error| CliError::Mcp(error.to_string())),
            // A client that only looked whether the program starts.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(CliError::Mcp(error.to_string())),
        }
    };
    tokio::select! {
        ended = session => ended,
        _ = signals.received() => Ok(()),
    }
}
