//! The name of a project's folder, made from the path of its working folder.

use std::path::{Component, Path};

use longhaul_core::xxh3::xxh3_64;

/// Longer names are truncated and end in a hash.
const LONGEST: usize = 200;

/// The name of a project's folder, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FolderName {
    /// The whole name.
    Whole(String),
    /// The name is too long: it is this text, a dash, and a hash that only the program that made the folder knows.
    Cut(String),
}

impl FolderName {
    /// The name for a working folder. Each UTF-16 unit of the path that is not an ASCII letter or digit becomes a dash,
    /// as in the program that defined the layout.
    pub(super) fn of(working_folder: &Path) -> Self {
        let mut name = String::new();
        for character in working_folder.to_string_lossy().chars() {
            if character.is_ascii_alphanumeric() {
                name.push(character);
            } else {
                name.extend(std::iter::repeat_n('-', character.len_utf16()));
            }
        }
        if name.len() <= LONGEST {
            return Self::Whole(name);
        }
        name.truncate(LONGEST);
        Self::Cut(name)
    }
}

/// The name that we give the folder of a project with this working folder; the path must be absolute.
pub fn folder_name(working_folder: &Path) -> String {
    match FolderName::of(working_folder) {
        FolderName::Whole(name) => name,
        FolderName::Cut(name) => {
            let hash = xxh3_64(working_folder.as_os_str().as_encoded_bytes());
            format!("{name}-{hash:016x}")
        }
    }
}

/// Whether a text is the name of a single file or folder and cannot lead anywhere else.
pub(crate) fn is_one_name(text: &str) -> bool {
    let mut components = Path::new(text).components();
    let one = matches!(
        (components.next(), components.next()),
        (Some(Component::Normal(_)), None)
    );
    one && !text.contains(['/', '\\', '\0'])
}
