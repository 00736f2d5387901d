//! Finds the files whose content the kept part of a view still shows: they need not be restored (P4).

use std::collections::BTreeSet;

use crate::hash::{Map, Set};
use crate::message::{BlockKind, EntryView, Id};

/// How to recognize results that show nothing of their file.
#[derive(Debug, Clone, Copy)]
pub struct ReadTools<'a> {
    /// The names of the tools that read files.
    pub names: &'a [&'a str],
    /// How a result begins that says that a file is unchanged since it was last read.
    pub unchanged: &'a str,
    /// The calls whose results were cleared.
    pub cleared: &'a [Id],
}

/// Returns the paths whose content these entries show: read successfully, not cleared, not answered by a stub.
pub fn kept_files<'a>(
    entries: impl IntoIterator<Item = EntryView<'a>>,
    tools: ReadTools<'_>,
) -> BTreeSet<String> {
    let cleared: Set<Id> = tools.cleared.iter().copied().collect();
    let mut reads: Map<Id, String> = Map::default();
    let mut shown: Set<Id> = Set::default();
    for entry in entries {
        let blocks = entry.facets.blocks.iter().filter(|block| !block.inner);
        for block in blocks {
            let Some(call) = entry.block_id(block) else {
                continue;
            };
            match block.kind {
                BlockKind::ToolUse if tools.names.contains(&&*entry.text(block.name)) => {
                    let input = entry.object(block.body);
                    let path = input.string("file_path").or_else(|| input.string("path"));
                    reads.extend(path.map(|path| (call, path.into_owned())));
                }
                BlockKind::ToolResult if !block.is_error && !cleared.contains(&call) => {
                    let stub = format!("\"{}", tools.unchanged);
                    let says = String::from_utf8_lossy(block.body.of(entry.line));
                    if tools.unchanged.is_empty() || !says.starts_with(&stub) {
                        shown.insert(call);
                    }
                }
                _ => {}
            }
        }
    }
    reads.retain(|call, _| shown.contains(call));
    reads.into_values().collect()
}
