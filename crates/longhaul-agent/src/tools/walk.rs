//! The files in a folder that a search visits: hidden files are included, ignored files are not, and links are not
//! followed.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use ignore::types::Types;
use ignore::{Walk, WalkBuilder};

/// The folders that version control uses internally.
const OWN: [&str; 4] = [".git", ".hg", ".svn", ".jj"];

/// Walks a folder in the order of paths.
pub(super) fn walk(root: &Path, types: Option<Types>) -> Walk {
    let mut walk = WalkBuilder::new(root);
    walk.hidden(false)
        .require_git(false)
        .follow_links(false)
        .sort_by_file_path(|a, b| a.cmp(b))
        .filter_entry(|entry| !OWN.iter().any(|own| entry.file_name() == *own));
    if let Some(types) = types {
        walk.types(types);
    }
    walk.build()
}

/// A pattern for paths in a folder.
pub(super) struct GlobPathPattern {
    matcher: GlobMatcher,
    wanted: bool,
}

impl GlobPathPattern {
    /// A pattern without a slash matches names at any depth; a leading `!` excludes what matches.
    pub(super) fn new(pattern: &str) -> Result<Self, globset::Error> {
        let (wanted, pattern) = match pattern.strip_prefix('!') {
            Some(rest) => (false, rest),
            None => (true, pattern),
        };
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        let anywhere = format!("**/{pattern}");
        let pattern = match pattern.strip_prefix('/') {
            Some(from_root) => from_root,
            None if pattern.contains('/') => pattern,
            None => &anywhere,
        };
        let glob = GlobBuilder::new(pattern).literal_separator(true).build()?;
        Ok(Self {
            matcher: glob.compile_matcher(),
            wanted,
        })
    }

    /// Whether a path in the folder is wanted.
    pub(super) fn wants(&self, relative: &Path) -> bool {
        self.matcher.is_match(relative) == self.wanted
    }
}
