//! The model that a conversation last used, for when its live view no longer says so: after everything was compacted no
//! reply is in view, but the lines before the boundary still name it.

use std::io;
use std::path::Path;

use longhaul_core::message::LineScanner;

use crate::error::ReadError;
use crate::tail::TailReader;

/// The model of the newest reply in a file that names one; sub-agents' replies count only where there is no other. The
/// file is read backwards from the end, no further than necessary.
///
/// # Errors
/// Fails if the file cannot be read.
pub fn newest_model(path: &Path) -> Result<Option<String>, ReadError> {
    find(path).map_err(|source| ReadError {
        path: path.to_owned(),
        source,
    })
}

fn find(path: &Path) -> io::Result<Option<String>> {
    let mut lines = TailReader::open(path)?;
    let mut scanner = LineScanner::default();
    let mut of_agent = None;
    while let Some(line) = lines.next()? {
        let Ok(facets) = scanner.scan(line.bytes) else {
            continue;
        };
        if !facets.is_reply() || !facets.model.is_present() {
            continue;
        }
        let model = facets.view(line.bytes).text(facets.model).into_owned();
        if facets.flags.sidechain {
            of_agent = of_agent.or(Some(model))
        } else {
            return Ok(Some(model));
        }
    }
    Ok(of_agent)
}
