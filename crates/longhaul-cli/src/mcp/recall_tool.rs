//! The tool `recall`: searches the archives of all sessions in scope, as `longhaul recall` does for one of them.
//!
//! This file reads the input and goes through the sessions; `recall_search.rs` searches each of them and describes what
//! was found. The first search of a session builds its index, and a project may have hundreds of sessions, so a call
//! works for a limited time: the newest sessions come first, and the answer says which were left out. A later call finds
//! the indexes that are done and gets further.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::mcp_tool_error::McpToolError;
use super::recall_search::{RecallSearch, SearchRequest, SearchTarget};
use super::session_scope::{FoundSession, SessionScope};

pub(super) const NAME: &str = "recall";
pub(super) const DESCRIPTION: &str = include_str!("fragments/recall.md");
pub(super) const SCHEMA: &str = include_str!("fragments/recall.json");
pub(super) const USAGE: &str = "Give exactly one of these: {\"query\": \"words \\\"or a phrase\\\"\"} to search, {\"path\": \"src/main.rs\"} for what was read from or written to a file, {\"id\": \"toolu_...\"} for the whole text of a match.";

/// The number of matches if the call does not say.
const MATCHES: usize = 8;
/// The most matches in one answer.
const MOST_MATCHES: usize = 20;
/// After this time no further session is indexed. Clients wait for a minute or longer.
const TIME: Duration = Duration::from_secs(20);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecallInput {
    query: Option<String>,
    path: Option<String>,
    id: Option<String>,
    session: Option<String>,
    limit: Option<usize>,
    offset: Option<u64>,
}

impl RecallInput {
    /// What is asked for. Models leave fields empty that they do not mean.
    fn target(&self) -> Result<SearchTarget, McpToolError> {
        let given = |text: &Option<String>| {
            let text = text.as_deref().unwrap_or_default().trim();
            (!text.is_empty()).then(|| text.to_owned())
        };
        let input = |problem: &str| McpToolError::Input {
            tool: NAME,
            problem: problem.to_owned(),
            usage: USAGE,
        };
        match (given(&self.query), given(&self.path), given(&self.id)) {
            (Some(words), None, None) => Ok(SearchTarget::Words(words)),
            (None, Some(path), None) => Ok(SearchTarget::Path(path)),
            (None, None, Some(id)) => Ok(SearchTarget::Id(id)),
            (None, None, None) => Err(input("it asks for nothing")),
            _ => Err(input("it asks for more than one thing")),
        }
    }

    fn sessions(&self, scope: &SessionScope) -> Result<Vec<FoundSession>, McpToolError> {
        let wanted = self.session.as_deref().map(str::trim);
        if let Some(id) = wanted.filter(|id| !id.is_empty()) {
            return scope.session(Some(id)).map(|one| vec![one]);
        }
        let sessions = scope.sessions();
        if sessions.is_empty() {
            return Err(McpToolError::NoSessions {
                scope: scope.name(),
            });
        }
        Ok(sessions)
    }
}

pub(super) fn answer(
    scope: &SessionScope,
    input: &RecallInput,
    cancel: &CancellationToken,
) -> Result<String, McpToolError> {
    let request = SearchRequest {
        target: input.target()?,
        limit: input.limit.unwrap_or(MATCHES).clamp(1, MOST_MATCHES),
        offset: input.offset.unwrap_or(0),
    };
    let sessions = input.sessions(scope)?;
    let started = Instant::now();
    let mut search = RecallSearch::default();
    for session in &sessions {
        if cancel.is_cancelled() {
            return Err(McpToolError::Interrupted("it was canceled".to_owned()));
        }
        if started.elapsed() > TIME {
            search.left_out += 1;
            continue;
        }
        let looked = search.look_into(session, scope, &request, || {
            if cancel.is_cancelled() || started.elapsed() > TIME {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        match looked {
            Ok(()) => search.searched += 1,
            // With one session the error is the answer; otherwise the others still count.
            Err(error) if sessions.len() == 1 => return Err(error),
            Err(error) => {
                tracing::warn!(%error, "recall");
                search.unreadable.push(session.id().to_owned());
            }
        }
        if search.whole.is_some() {
            break;
        }
    }
    search.describe(&request)
}
