//! Attachments for files, folders and the user's selection in the editor.

use super::fields::{filled, first};
use super::{AttachedPicture, AttachmentContent};
use crate::json::ObjectReader;
use crate::normalize::fragment::fill;
use crate::quoting::{inline, quoted};

/// Returns the content for a file or folder.
pub(super) fn tell<'a>(kind: &str, attachment: ObjectReader<'a>) -> Option<AttachmentContent<'a>> {
    let path = || first(attachment, &["filename", "path", "filePath", "displayPath"]);
    let told = |fragment: &str, content: &str| {
        let path = path()?;
        let values = [("path", &*inline(&path)), ("content", &*quoted(content))];
        Some(fill(fragment, &values).into())
    };
    match kind {
        "file" | "new_file" | "already_read_file" | "edited_image_file" => {
            file(attachment, &path()?)
        }
        "edited_text_file" => {
            let content = first(attachment, &["snippet", "content"])?;
            told(include_str!("fragments/edited_file.txt"), &content)
        }
        "compact_file_reference" | "pdf_reference" => {
            told(include_str!("fragments/file_elsewhere.txt"), "")
        }
        "directory" | "new_directory" => {
            let content = filled(attachment, "content")?;
            told(include_str!("fragments/folder.txt"), &content)
        }
        "opened_file_in_ide" => told(include_str!("fragments/opened_file.txt"), ""),
        "selected_lines_in_ide" => {
            let line = |name| attachment.count(name).map(|line| line.to_string());
            let text = fill(
                include_str!("fragments/selected_lines.txt"),
                &[
                    ("path", &inline(&path()?)),
                    ("first", &line("lineStart")?),
                    ("last", &line("lineEnd")?),
                    ("content", &quoted(&filled(attachment, "content")?)),
                ],
            );
            Some(text.into())
        }
        _ => None,
    }
}

/// Returns the content of a file that was read: text or a picture.
fn file<'a>(attachment: ObjectReader<'a>, path: &str) -> Option<AttachmentContent<'a>> {
    let told = |fragment: &str, path: &str, content: &str| {
        let values = [("path", &*inline(path)), ("content", &*quoted(content))];
        fill(fragment, &values)
    };
    if let Some(content) = filled(attachment, "content") {
        let text = told(include_str!("fragments/file.txt"), path, &content);
        return Some(text.into());
    }
    let content = attachment.object("content")?;
    let file = content.object("file")?;
    let path = filled(file, "filePath").unwrap_or_else(|| path.to_owned());
    match &*content.string("type")? {
        "text" => {
            let content = file.string("content")?;
            Some(told(include_str!("fragments/file.txt"), &path, &content).into())
        }
        "image" => Some(AttachmentContent {
            text: told(include_str!("fragments/picture.txt"), &path, ""),
            pictures: vec![AttachedPicture {
                media_type: file.get("type")?,
                data: file.get("base64")?,
            }],
        }),
        "pdf" | "parts" | "file_unchanged" => {
            Some(told(include_str!("fragments/file_elsewhere.txt"), &path, "").into())
        }
        _ => None,
    }
}
