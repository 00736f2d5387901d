//! Patterns of paths in rules, such as `src/**` and `~/notes/**`.

use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::paths::LocatedPath;
use super::spelling::{IGNORES_CASE, as_on_disk};

/// The folders that relative paths in rules start from.
#[derive(Debug, Clone, Copy)]
pub struct RulePathBases<'a> {
    /// The base for `src/**` and `./src/**`.
    pub cwd: &'a Path,
    /// The base for `/src/**`: the project's folder, or that of the user's settings.
    pub settings: &'a Path,
    /// The base for `~/notes/**`.
    pub home: Option<&'a Path>,
}

/// A pattern of paths with the meaning that it has in a .gitignore file.
#[derive(Debug, Clone)]
pub(crate) struct RulePathPattern {
    text: String,
    roots: Vec<(PathBuf, Gitignore)>,
    /// The one path that it matches, for each root, if it has no wildcards and is bound to its root.
    fixed: Option<Vec<PathBuf>>,
}

impl RulePathPattern {
    /// Parses a pattern; `None` if it is not valid.
    pub(crate) fn parse(text: &str, bases: RulePathBases<'_>) -> Option<Self> {
        let (root, line) = match text {
            _ if text.starts_with("//") => (Path::new("/"), text[1..].to_owned()),
            "~" => (bases.home?, "/**".to_owned()),
            _ if text.starts_with("~/") => (bases.home?, text[1..].to_owned()),
            _ if text.starts_with('/') => (bases.settings, text.to_owned()),
            "." | "./" => (bases.cwd, "/**".to_owned()),
            _ if text.starts_with("./") => (bases.cwd, text[1..].to_owned()),
            // A pattern that leaves the folder through `..` is rooted where it then is.
            _ if text.starts_with("../") => return Self::above(text, bases),
            _ => (bases.cwd, text.to_owned()),
        };
        Self::rooted(text, root, &line)
    }

    fn above(text: &str, bases: RulePathBases<'_>) -> Option<Self> {
        let mut root = bases.cwd;
        let mut rest = text;
        while let Some(below) = rest.strip_prefix("../") {
            root = root.parent()?;
            rest = below;
        }
        Self::rooted(text, root, &format!("/{rest}"))
    }

    fn rooted(text: &str, root: &Path, line: &str) -> Option<Self> {
        // `!` and `#` have a meaning in files, but not in rules.
        let line = if line.starts_with(['!', '#']) {
            format!("\\{line}")
        } else {
            line.to_owned()
        };
        let mut roots = vec![root.to_owned()];
        let real = longhaul_store::real_path(root).unwrap_or_else(|_| root.to_owned());
        if real != root {
            roots.push(real);
        }
        let fixed = fixed(&line).map(|below| {
            let paths = roots.iter().map(|root| as_on_disk(root.join(below)));
            paths.collect()
        });
        let mut built = Vec::new();
        for root in roots {
            let mut builder = GitignoreBuilder::new(&root);
            builder.case_insensitive(IGNORES_CASE).ok()?;
            builder.add_line(None, &line).ok()?;
            let pattern = builder.build().ok()?;
            if pattern.is_empty() {
                return None;
            }
            built.push((root, pattern));
        }
        Some(Self {
            text: text.to_owned(),
            roots: built,
            fixed,
        })
    }

    /// The paths that it matches, if they can be listed; everything inside them matches, too.
    pub(crate) fn fixed(&self) -> Option<&[PathBuf]> {
        self.fixed.as_deref()
    }

    /// Whether it could match a path in a folder, existing or not.
    pub(crate) fn may_mean_below(&self, folder: &Path) -> bool {
        match &self.fixed {
            Some(fixed) => fixed
                .iter()
                .any(|path| path.starts_with(folder) || folder.starts_with(path)),
            None => self
                .roots
                .iter()
                .any(|(root, _)| root.starts_with(folder) || folder.starts_with(root)),
        }
    }

    /// The pattern as it is written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// For rules that forbid: whether either name of the path matches.
    pub(crate) fn touches(&self, path: &LocatedPath) -> bool {
        self.matches(&path.named) || self.matches(&path.real)
    }

    /// For rules that allow: whether both names of the path match.
    pub(crate) fn covers(&self, path: &LocatedPath) -> bool {
        self.matches(&path.named) && self.matches(&path.real)
    }

    fn matches(&self, path: &Path) -> bool {
        self.roots.iter().any(|(root, pattern)| {
            let Ok(below) = path.strip_prefix(root) else {
                return false;
            };
            let is_dir = path.is_dir();
            !below.as_os_str().is_empty()
                && pattern
                    .matched_path_or_any_parents(below, is_dir)
                    .is_ignore()
        })
    }
}

/// The single path that a line of a .gitignore file names, relative to its root; `None` if it is not a single path.
fn fixed(line: &str) -> Option<&str> {
    let name = line.trim_end_matches("/**").trim_end_matches('/');
    let below = name.trim_start_matches('/');
    let plain = !below.is_empty()
        && !below.contains(['*', '?', '[', ']', '\\', '{', '}', '!', '#'])
        && below.trim() == below;
    (plain && line.trim_end_matches('/').contains('/')).then_some(below)
}
