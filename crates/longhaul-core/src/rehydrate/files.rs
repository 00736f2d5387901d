//! Restores files as attachments (R1): each is cut to its share, and left out if the total would not fit.

use std::path::PathBuf;

use serde_json::json;

use super::restored_attachment::RestoredAttachment;
use super::source_result::RestoreSourceResult;
use crate::figures::grouped;
use crate::tokens::cut;
use crate::window::WindowScale;

/// The maximum number of tokens of one file.
pub(crate) const RESTORED_TOKENS_OF_A_FILE: u64 = 5_000;
/// The maximum number of tokens of all files, measured on the attachments as they are written.
const ALL: u64 = 50_000;

/// A file as it currently is on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileText {
    /// The path of the file.
    pub path: PathBuf,
    /// The text of the file.
    pub text: String,
}

/// The result of restoring files.
#[derive(Debug, Default)]
pub(super) struct RestoredFiles {
    pub(super) attachments: Vec<RestoredAttachment>,
    pub(super) restored: Vec<PathBuf>,
    pub(super) notes: Vec<String>,
}

pub(super) fn restore(
    files: &[RestoreSourceResult<FileText>],
    scale: WindowScale,
) -> RestoredFiles {
    let mut done = RestoredFiles::default();
    let mut room = scale.apply(ALL);
    for file in files {
        let file = match file {
            RestoreSourceResult::Found(file) => file,
            RestoreSourceResult::Failed { what, why } => {
                done.notes.push(format!("{what} was not restored: {why}"));
                continue;
            }
        };
        let attachment = attachment(file, scale.apply(RESTORED_TOKENS_OF_A_FILE));
        let size = attachment.tokens();
        let path = file.path.display();
        if size > room {
            done.notes.push(format!(
                "{path} was not restored: no room for its {} tokens",
                grouped(size)
            ));
            continue;
        }
        room -= size;
        if attachment.is_cut {
            done.notes.push(format!("{path} was restored in part"));
        }
        done.attachments.push(attachment);
        done.restored.push(file.path.clone());
    }
    done
}

fn attachment(file: &FileText, tokens: u64) -> RestoredAttachment {
    let total = file.text.lines().count();
    let kept = cut::beyond(&file.text, tokens);
    let text = kept.unwrap_or(&file.text);
    let lines = text.lines().count();
    let content = match kept {
        Some(text) => {
            // A line that is cut would count as shown whole.
            let shown = if text.ends_with('\n') {
                format!("{lines} of {total} lines")
            } else {
                let [shown, whole] = [text, &file.text].map(|text| grouped(text.len() as u64));
                format!("the first {shown} of {whole} bytes")
            };
            format!("{text}[cut here: {shown} are shown; read the file for the rest]\n")
        }
        None => text.to_owned(),
    };
    RestoredAttachment {
        is_cut: kept.is_some(),
        value: json!({
            "type": "file",
            "filename": file.path,
            "content": {"type": "text", "file": {
                "filePath": file.path,
                "content": content,
                "numLines": lines,
                "startLine": 1,
                "totalLines": total,
            }},
        }),
    }
}
