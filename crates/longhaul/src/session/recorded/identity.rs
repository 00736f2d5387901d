//! Who wrote a recording: the fields that appended lines carry, so that they belong to the same conversation.

use std::path::Path;

use longhaul_core::engine::{SessionIdentity, UuidSequence};
use longhaul_core::json::ObjectReader;
use longhaul_core::message::Entry;

/// The identity of the newest entries of a view. A file that holds only a sub-agent's entries is that agent's own, and
/// stays so.
pub(crate) fn identity(view: &[Entry], path: &Path, ids: &mut UuidSequence) -> SessionIdentity {
    let newest = |name: &str| {
        let mut lines = view
            .iter()
            .rev()
            .map(|entry| ObjectReader::new(entry.bytes()));
        lines.find_map(|line| Some(line.string(name)?.into_owned()))
    };
    let stem = || Some(path.file_stem()?.to_string_lossy().into_owned());
    let session_id = newest("sessionId").or_else(stem);
    let in_chain = || {
        view.iter()
            .map(|entry| entry.facets())
            .filter(|facets| facets.uuid.is_present())
    };
    let is_agents = in_chain().next().is_some() && in_chain().all(|facets| facets.flags.sidechain);
    SessionIdentity {
        agent: is_agents.then(|| newest("agentId").or_else(stem).unwrap_or_default()),
        session_id: session_id.unwrap_or_else(|| ids.next_uuid()),
        cwd: newest("cwd").unwrap_or_default(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        git_branch: newest("gitBranch"),
    }
}
