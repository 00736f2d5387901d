//! Memory files of sub-folders: they are loaded when the model reads a file there, as attachments after the result. A
//! file that is already in the window is not loaded again, unless a compaction or the clearing of old results has
//! removed it (C1, U6).

use std::path::PathBuf;
use std::sync::Arc;

use longhaul::hooks::LoadReason;
use longhaul::memory_files;
use longhaul_core::engine::{LiveConversation, ToolOutput};
use longhaul_core::prompt::memory::{FoundMemoryFiles, is_memory_file};
use longhaul_core::prompt::nested_memory;
use serde_json::{Value, json};

use super::hook_runner::HookRunner;
use super::rehydrate::loaded_for;
use super::request_prefix::PrefixBuilder;
use super::requested_call::RequestedCall;
use crate::files::FolderFence;
use crate::permission::{Gate, PermissionDecision};
use crate::tool::ToolAccess;

/// The name of the tool that shows a file.
const READ: &str = "Read";

/// Memory files that come with the reading of a file.
pub(crate) struct NestedMemoryFiles {
    file: PathBuf,
    found: FoundMemoryFiles,
}

/// Loads the memory files of sub-folders.
#[derive(Clone)]
pub(crate) struct NestedMemory {
    pub(crate) prefix_builder: Arc<PrefixBuilder>,
    pub(crate) gate: Arc<dyn Gate>,
    pub(crate) hook_runner: HookRunner,
}

impl NestedMemory {
    /// The attachments that go with results: one for each memory file. Hooks are told of them.
    pub(crate) async fn attachments(&self, all: Vec<NestedMemoryFiles>) -> Vec<Value> {
        let scale = self.prefix_builder.scale();
        let mut attachments = Vec::new();
        for NestedMemoryFiles { file, found } in all {
            attachments.extend((found.files.iter()).map(|memory| nested_memory(memory, scale)));
            let reason = LoadReason::NestedTraversal;
            loaded_for(&self.hook_runner, &found, reason, Some(&file)).await;
        }
        attachments
    }

    /// The memory files that belong to these calls and are not yet in the window.
    pub(crate) fn find(
        &self,
        calls: &[RequestedCall],
        outputs: &[ToolOutput],
        live: &LiveConversation,
    ) -> Vec<NestedMemoryFiles> {
        let fence = FolderFence::of(self.prefix_builder.place());
        let places = self.prefix_builder.memory_places();
        let mut seen: Vec<PathBuf> = Vec::new();
        let mut all = Vec::new();
        for (call, output) in calls.iter().zip(outputs) {
            let path = (call.input.as_ref()).and_then(|input| input["file_path"].as_str());
            let path = path.filter(|_| call.name == READ && !output.is_error);
            let Some(Ok(file)) = path.map(|path| fence.resolve(path)) else {
                continue;
            };
            // Reading a memory file already shows it.
            if is_memory_file(&file) {
                continue;
            }
            let mut found = memory_files::load_nested(&places, &file, self.prefix_builder.reads());
            found.files.retain(|memory| {
                let is_new = !seen.contains(&memory.path) && !live.holds_memory(&memory.path);
                is_new && self.may_be_read(&memory.path)
            });
            seen.extend(found.files.iter().map(|memory| memory.path.clone()));
            all.push(NestedMemoryFiles { file, found });
        }
        all
    }

    /// Whether the file may be read without asking. The user is never asked here: other files are left out.
    fn may_be_read(&self, path: &std::path::Path) -> bool {
        let input = json!({"file_path": path});
        let access = ToolAccess::Reads(path.to_owned());
        self.gate.judge(READ, &input, &access) == PermissionDecision::Allow
    }
}
