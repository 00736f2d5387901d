//! Memory files of sub-folders: loaded when the model reads a file there, as attachments behind the result. One that is in
//! view is not loaded again; after a compaction, or when it was cleared with old results, it is (C1, U6).

use std::path::PathBuf;
use std::sync::Arc;

use longhaul::hooks::LoadReason;
use longhaul::memory_files;
use longhaul_core::engine::{Live, ToolOutput};
use longhaul_core::prompt::memory::{Found, is_memory_file};
use longhaul_core::prompt::nested_memory;
use serde_json::{Value, json};

use super::gate::{Gate, Judged};
use super::hands::Wanted;
use super::head::Heads;
use super::rehydrate::loaded_for;
use super::ring::Ringer;
use crate::files::Fence;
use crate::tool::Access;

/// The tool that shows a file.
const READ: &str = "Read";

/// Memory files that the reading of a file brings.
pub(crate) struct Brought {
    file: PathBuf,
    found: Found,
}

/// Loads them.
#[derive(Clone)]
pub(crate) struct NestedMemory {
    pub(crate) heads: Arc<Heads>,
    pub(crate) gate: Arc<dyn Gate>,
    pub(crate) ringer: Ringer,
}

impl NestedMemory {
    /// What goes with results: each file as an attachment. Hooks hear of it.
    pub(crate) async fn attachments(&self, all: Vec<Brought>) -> Vec<Value> {
        let scale = self.heads.scale();
        let mut attachments = Vec::new();
        for Brought { file, found } in all {
            attachments.extend((found.files.iter()).map(|memory| nested_memory(memory, scale)));
            let reason = LoadReason::NestedTraversal;
            loaded_for(&self.ringer, &found, reason, Some(&file)).await;
        }
        attachments
    }

    /// The memory files that these calls bring and that are not in view.
    pub(crate) fn find(
        &self,
        calls: &[Wanted],
        outputs: &[ToolOutput],
        live: &Live,
    ) -> Vec<Brought> {
        let fence = Fence::of(self.heads.place());
        let places = self.heads.memory_places();
        let mut seen: Vec<PathBuf> = Vec::new();
        let mut all = Vec::new();
        for (call, output) in calls.iter().zip(outputs) {
            let path = (call.input.as_ref()).and_then(|input| input["file_path"].as_str());
            let path = path.filter(|_| call.name == READ && !output.is_error);
            let Some(Ok(file)) = path.map(|path| fence.resolve(path)) else {
                continue;
            };
            // Reading one shows it.
            if is_memory_file(&file) {
                continue;
            }
            let mut found = memory_files::load_nested(&places, &file, self.heads.reads());
            found.files.retain(|memory| {
                let is_new = !seen.contains(&memory.path) && !live.holds_memory(&memory.path);
                is_new && self.may_be_read(&memory.path)
            });
            seen.extend(found.files.iter().map(|memory| memory.path.clone()));
            all.push(Brought { file, found });
        }
        all
    }

    /// Nobody is asked about it: what may not be read unasked is left out.
    fn may_be_read(&self, path: &std::path::Path) -> bool {
        let input = json!({"file_path": path});
        let access = Access::Reads(path.to_owned());
        self.gate.judge(READ, &input, &access) == Judged::Allow
    }
}
