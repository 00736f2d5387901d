//! Attaches the memory file of a folder in which a file was read. The attachment is cleared with old results (U6), and
//! after a compaction the file is loaded again when it is needed (C1).

use serde_json::{Value, json};

use super::memory::{MemoryFile, MemoryFileKind};
use super::memory_part::cut_note;
use crate::tokens::cut;
use crate::window::WindowScale;

/// The maximum number of tokens of one file, by padded estimate.
const MOST_TOKENS: u64 = 10_000;

/// Returns the attachment. A long file is cut at a line, and the model is told how much is missing.
pub fn nested_memory(file: &MemoryFile, scale: WindowScale) -> Value {
    let text = file.text.trim();
    let most = cut::units_within(scale.apply(MOST_TOKENS));
    let content = if cut::units(text) <= most && file.unread_bytes == 0 {
        text.to_owned()
    } else {
        let kept = cut::at_line(text, most).trim_end();
        format!("{kept}\n{}", cut_note(file, kept))
    };
    let kind = match file.kind {
        MemoryFileKind::User => "User",
        MemoryFileKind::Project => "Project",
        MemoryFileKind::Local => "Local",
    };
    let path = file.path.display().to_string();
    json!({
        "type": "nested_memory",
        "path": path,
        "content": {"path": path, "type": kind, "content": content},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c1_a_long_memory_file_of_a_folder_is_cut_at_a_line_and_says_so() {
        let file = MemoryFile {
            path: "/p/web/CLAUDE.md".into(),
            kind: MemoryFileKind::Project,
            imported_by: None,
            text: "Use tabs.\n".repeat(20_000),
            unread_bytes: 0,
        };
        let whole = MemoryFile {
            text: "Use tabs.".to_owned(),
            ..file.clone()
        };
        let scale = WindowScale::of_window(200_000);
        let content = |file: &MemoryFile| {
            let content = &nested_memory(file, scale)["content"]["content"];
            content.as_str().unwrap().to_owned()
        };
        assert_eq!(content(&whole), "Use tabs.");
        let cut = content(&file);
        assert!(cut.len() < 60_000 && cut.starts_with("Use tabs.\n"));
        assert!(cut.contains("/p/web/CLAUDE.md"), "where the rest is");
    }
}
