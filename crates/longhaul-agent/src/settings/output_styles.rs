//! Output styles: the style of answers, chosen by the setting `outputStyle`. Two are built in; others are Markdown
//! files with front matter, in a folder `output-styles` next to skills and commands.

use std::path::{Path, PathBuf};

use longhaul_core::prompt::OutputStyle;

use super::admission::FileAdmission;
use super::front_matter::FrontMatterFile;
use super::headed_files::HeadedFiles;

/// The style that asks for nothing.
const DEFAULT: &str = "default";

const BUILT_IN: [(&str, &str); 2] = [
    ("Explanatory", include_str!("styles/explanatory.md")),
    ("Learning", include_str!("styles/learning.md")),
];

/// The style with this name, from the first of these folders that has it, or a built-in one. `None` for the default; an
/// unknown name causes a notice.
pub(super) fn load(
    name: &str,
    folders: &[PathBuf],
    admission: &mut FileAdmission,
    notices: &mut Vec<String>,
) -> Option<OutputStyle> {
    let name = name.trim();
    if name.is_empty() || name.eq_ignore_ascii_case(DEFAULT) {
        return None;
    }
    let mut known: Vec<String> = Vec::new();
    let mut files = HeadedFiles::of(folders, admission);
    while let Some((path, headed)) = files.read_next(admission, notices) {
        let own = own_name(&path, &headed);
        if own.eq_ignore_ascii_case(name) {
            return Some(OutputStyle {
                name: own,
                instructions: headed.body.trim().to_owned(),
            });
        }
        known.push(own);
    }
    let mut built_in = BUILT_IN.into_iter();
    if let Some((name, text)) = built_in.find(|(own, _)| own.eq_ignore_ascii_case(name)) {
        return Some(OutputStyle {
            name: name.to_owned(),
            instructions: text.trim().to_owned(),
        });
    }
    known.extend(BUILT_IN.map(|(name, _)| name.to_owned()));
    notices.push(format!(
        "There is no output style `{name}`, so the default one is used. There are: {DEFAULT}, {}. Others are Markdown files in .claude/output-styles",
        known.join(", ")
    ));
    None
}

fn own_name(path: &Path, headed: &FrontMatterFile) -> String {
    let file_name = path.file_stem().unwrap_or_default().to_string_lossy();
    headed
        .text("name")
        .unwrap_or_else(|| file_name.into_owned())
}
