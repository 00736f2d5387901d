//! The web search of one request: its limits, and what each call gives.

use serde_json::{Value, json};

use super::invented;
use crate::request::{ApiTool, MessagesRequest};

/// The longest query in characters. The API has a limit and does not document it.
const LONGEST_QUERY: usize = 1_000;

/// Why a search gave no results. The reply itself is a success (200), and such a search is not billed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchError {
    /// The call has no query.
    InvalidToolInput,
    /// The query is too long.
    QueryTooLong,
    /// The reply has had as many searches as `max_uses` allows.
    MaxUsesExceeded,
    /// Too many searches at once.
    TooManyRequests,
    /// The search does not work at the moment.
    Unavailable,
}

impl SearchError {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::InvalidToolInput,
        Self::QueryTooLong,
        Self::MaxUsesExceeded,
        Self::TooManyRequests,
        Self::Unavailable,
    ];

    /// The `error_code`.
    pub fn code(self) -> &'static str {
        match self {
            Self::InvalidToolInput => "invalid_tool_input",
            Self::QueryTooLong => "query_too_long",
            Self::MaxUsesExceeded => "max_uses_exceeded",
            Self::TooManyRequests => "too_many_requests",
            Self::Unavailable => "unavailable",
        }
    }
}

/// Whether a tool is the API's web search, of any version.
pub(crate) fn is_web_search(tool: &ApiTool) -> bool {
    let kind = tool.kind.as_deref();
    kind.is_some_and(|kind| kind.starts_with("web_search_"))
}

/// The web search of a request that offers it.
#[derive(Debug)]
pub(crate) struct WebSearch {
    allowed: Vec<String>,
    blocked: Vec<String>,
    max_uses: Option<u64>,
    /// The searches that were tried.
    tried: u64,
    /// The searches that gave results, which are the ones that are billed.
    pub(crate) billed: u64,
}

impl WebSearch {
    /// The search that a request offers.
    pub(crate) fn of(request: &MessagesRequest) -> Option<Self> {
        let tool = request.tools.iter().find(|tool| is_web_search(tool))?;
        let domains = |field: &str| {
            let list = tool.fields.get(field).and_then(Value::as_array);
            let names = list.into_iter().flatten().filter_map(Value::as_str);
            names.map(str::to_owned).collect()
        };
        Some(Self {
            allowed: domains("allowed_domains"),
            blocked: domains("blocked_domains"),
            max_uses: tool.fields.get("max_uses").and_then(Value::as_u64),
            tried: 0,
            billed: 0,
        })
    }

    /// The result block of a call. `fails` is an error that the world has in store.
    pub(crate) fn run(&mut self, id: &str, input: &Value, fails: Option<SearchError>) -> Value {
        let content = match self.search(input, fails) {
            Ok(results) => Value::Array(results),
            Err(error) => {
                json!({ "type": "web_search_tool_result_error", "error_code": error.code() })
            }
        };
        json!({ "type": "web_search_tool_result", "tool_use_id": id, "content": content })
    }

    fn search(
        &mut self,
        input: &Value,
        fails: Option<SearchError>,
    ) -> Result<Vec<Value>, SearchError> {
        if self.max_uses.is_some_and(|most| self.tried >= most) {
            return Err(SearchError::MaxUsesExceeded);
        }
        self.tried += 1;
        if let Some(error) = fails {
            return Err(error);
        }
        let query = input.get("query").and_then(Value::as_str).map(str::trim);
        let query = query
            .filter(|query| !query.is_empty())
            .ok_or(SearchError::InvalidToolInput)?;
        if query.chars().nth(LONGEST_QUERY).is_some() {
            return Err(SearchError::QueryTooLong);
        }
        self.billed += 1;
        Ok(invented::results(query, &self.allowed, &self.blocked))
    }
}
