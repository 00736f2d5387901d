//! The client's own grouping: session ids in headers and in `metadata.user_id`. It only groups branches on the page; it
//! never decides which branch a request continues, because helper and sub-agent calls share such ids.

use std::borrow::Cow;

use http::HeaderMap;
use longhaul_core::json::ObjectReader;
use longhaul_core::xxh3::Xxh3_64;

use super::ids::GatewaySessionId;
use super::tenant::Tenant;

/// Headers that name a session.
const SESSION: [&str; 2] = ["x-claude-code-session-id", "x-session-id"];
/// The header that names a sub-agent within a session.
const AGENT: &str = "x-claude-code-agent-id";
/// Ids longer than this are ignored.
const LONGEST: usize = 256;
/// Metadata longer than this is not parsed.
const LONGEST_METADATA: usize = 16 << 10;

/// The client's own name for requests that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientGroup {
    /// The client's name for the session.
    id: Box<[u8]>,
    /// Whether the request comes from a sub-agent.
    pub agent: bool,
}

impl ClientGroup {
    /// Reads the group from the headers, then from the body's `metadata`.
    pub fn of(headers: &HeaderMap, metadata: Option<&[u8]>) -> Option<Self> {
        let header = |name: &str| headers.get(name).map(http::HeaderValue::as_bytes);
        let named = SESSION.iter().find_map(|name| header(name));
        let in_body = || session_in(metadata.filter(|text| text.len() <= LONGEST_METADATA)?);
        let id = match named {
            Some(named) => Cow::Borrowed(named),
            None => Cow::Owned(in_body()?.into_bytes()),
        };
        if id.is_empty() || id.len() > LONGEST {
            return None;
        }
        Some(Self {
            id: id.into(),
            agent: header(AGENT).is_some(),
        })
    }

    /// The session of a tenant that the client names.
    pub(super) fn session(&self, tenant: Tenant) -> GatewaySessionId {
        let mut hash = Xxh3_64::new();
        hash.update(&tenant.0.to_le_bytes());
        hash.update(&self.id);
        GatewaySessionId(hash.digest())
    }
}

/// The session in `metadata.user_id`, which some clients fill with JSON.
fn session_in(metadata: &[u8]) -> Option<String> {
    let user = ObjectReader::new(metadata).string("user_id")?;
    let session = ObjectReader::new(user.as_bytes()).string("session_id")?;
    Some(session.into_owned())
}
