//! What a client says belongs together: session ids in headers and in `metadata.user_id`. It only groups lines on the
//! page; which line a request goes on is never decided by it, as helper and sub-agent calls share such ids.

use std::borrow::Cow;

use http::HeaderMap;
use longhaul_core::json::ObjectReader;
use longhaul_core::xxh3::Xxh3_64;

use super::ids::SessionId;
use super::tenant::Tenant;

/// Headers that name a session.
const SESSION: [&str; 2] = ["x-claude-code-session-id", "x-session-id"];
/// The header that names a sub-agent within one.
const AGENT: &str = "x-claude-code-agent-id";
/// Ids longer than this are none.
const LONGEST: usize = 256;
/// Metadata longer than this is not looked into.
const LONGEST_METADATA: usize = 16 << 10;

/// A client's own name for what belongs together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientGroup {
    /// The session it names.
    pub session: SessionId,
    /// Whether a sub-agent asks.
    pub agent: bool,
}

impl ClientGroup {
    /// Reads the headers, then `metadata` as the body has it.
    pub fn of(tenant: Tenant, headers: &HeaderMap, metadata: Option<&[u8]>) -> Option<Self> {
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
        let mut hash = Xxh3_64::new();
        hash.update(&tenant.0.to_le_bytes());
        hash.update(&id);
        Some(Self {
            session: SessionId(hash.digest()),
            agent: header(AGENT).is_some(),
        })
    }
}

/// The session in `metadata.user_id`, which some clients fill with JSON.
fn session_in(metadata: &[u8]) -> Option<String> {
    let user = ObjectReader::new(metadata).string("user_id")?;
    let session = ObjectReader::new(user.as_bytes()).string("session_id")?;
    Some(session.into_owned())
}
