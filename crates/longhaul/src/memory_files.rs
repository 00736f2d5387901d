//! Reads memory files from disk: the files that the core's search asks for, and no more of them than the budget can
//! use.
//!
//! Which files count and which parts are sent is decided in [`longhaul_core::prompt::memory`].

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use longhaul_core::prompt::ContextBudget;
use longhaul_core::prompt::memory::{
    ContentUnavailable, FileReach, FoundMemoryFiles, MemoryFile, MemoryFileContent,
    MemoryFileSearch, ReadAuthority, TextEncoding, WantedFile, compact_instructions as section,
};
use longhaul_store::{Env, Home};

use crate::read_policy::ReadPolicy;
use crate::resolved_file;

pub use longhaul_core::prompt::memory::SessionFolders;

/// The folders of a session that works in this folder. The project is the repository around it, otherwise the folder
/// itself. A repository that holds the user's whole home folder is not a project: everything in it would count as the
/// project's.
pub fn places(env: &Env, cwd: &Path) -> SessionFolders {
    let root = |home: Home| home.root().to_owned();
    let real = |path: &Path| longhaul_store::real_path(path).unwrap_or_else(|_| path.to_owned());
    let user_home = env.user_home.as_deref().map(real);
    let holds_home = |folder: &&Path| {
        let home = user_home.as_ref();
        home.is_some_and(|home| home.starts_with(real(folder)))
    };
    let project_root = cwd
        .ancestors()
        .find(|folder| folder.join(".git").exists())
        .filter(|folder| !holds_home(folder));
    SessionFolders {
        user_home: env.user_home.clone(),
        claude_home: Home::claude(env).ok().map(root),
        longhaul_home: Home::longhaul(env).ok().map(root),
        project_root: project_root.unwrap_or(cwd).to_owned(),
        cwd: cwd.to_owned(),
    }
}

/// Loads the memory files of a session. Any problem with one of them becomes a notice. Files outside of the project are
/// read only if the user's own files ask for them.
pub fn load(places: &SessionFolders) -> FoundMemoryFiles {
    load_with(places, &ReadPolicy::default())
}

/// Loads the memory files of a session under permission rules, and with the files that the user agreed to.
pub fn load_with(places: &SessionFolders, policy: &ReadPolicy) -> FoundMemoryFiles {
    run(MemoryFileSearch::new(places), places, policy)
}

/// Loads the memory files of the folders that lead to a file, except for those that every session has, under permission
/// rules.
pub fn load_nested(places: &SessionFolders, file: &Path, policy: &ReadPolicy) -> FoundMemoryFiles {
    run(MemoryFileSearch::nested(places, file), places, policy)
}

/// The sections of memory files about compactions (F4), one after the other; `None` if there are none.
pub fn compact_instructions(files: &[MemoryFile]) -> Option<String> {
    let sections: Vec<&str> = (files.iter())
        .filter_map(|file| section(&file.text))
        .collect();
    (!sections.is_empty()).then(|| sections.join("\n\n"))
}

fn run(
    mut search: MemoryFileSearch,
    places: &SessionFolders,
    policy: &ReadPolicy,
) -> FoundMemoryFiles {
    let _span = tracing::debug_span!("run", project = %places.project_root.display()).entered();
    let most_bytes = ContextBudget::FULL.most_bytes_of_a_file();
    let roots = MemoryRoots::of(places);
    loop {
        let wanted = search.wanted();
        if wanted.is_empty() {
            break;
        }
        for wanted in wanted {
            search.supply(&wanted, read(&wanted, most_bytes, &roots, policy));
        }
    }
    let found = search.finish();
    tracing::debug!(
        files = found.files.len(),
        notices = found.notices.len(),
        "loaded"
    );
    found
}

/// The folders of the project and of the user, which decide the reach of a file, with all links resolved.
struct MemoryRoots {
    project: Vec<PathBuf>,
    home: Vec<PathBuf>,
}

impl MemoryRoots {
    fn of(places: &SessionFolders) -> Self {
        let real = |path: &PathBuf| longhaul_store::real_path(path).ok();
        let homes = [
            &places.user_home,
            &places.claude_home,
            &places.longhaul_home,
        ];
        Self {
            project: [&places.project_root, &places.cwd]
                .into_iter()
                .filter_map(real)
                .collect(),
            home: homes.into_iter().flatten().filter_map(real).collect(),
        }
    }

    fn reach(&self, real: &Path) -> FileReach {
        let within = |roots: &[PathBuf]| roots.iter().any(|root| real.starts_with(root));
        if within(&self.project) {
            FileReach::Project
        } else if within(&self.home) {
            FileReach::Home
        } else {
            FileReach::Elsewhere
        }
    }
}

fn read(
    wanted: &WantedFile,
    most_bytes: u64,
    roots: &MemoryRoots,
    policy: &ReadPolicy,
) -> Result<MemoryFileContent, ContentUnavailable> {
    let real = longhaul_store::real_path(&wanted.path).map_err(unavailable)?;
    // Checked before opening: opening a pipe waits for its other end.
    usable(&fs::metadata(&real).map_err(unavailable)?)?;
    if resolved_file::is_of_the_kernel(&real) {
        return Err(unusable("it is a file of the kernel"));
    }
    if policy.denies(&wanted.path) || policy.denies(&real) {
        return Err(ContentUnavailable::Denied);
    }
    let reach = roots.reach(&real);
    if wanted.authority == ReadAuthority::Project
        && reach != FileReach::Project
        && !policy.agrees(&real)
    {
        return Err(ContentUnavailable::NotAgreed { real });
    }
    // No link is followed: the file that was judged is the file that is read.
    let file = resolved_file::open(&real).map_err(unavailable)?;
    let metadata = file.metadata().map_err(unavailable)?;
    let mut bytes = Vec::new();
    let mut beginning = file.take(most_bytes + 1);
    beginning.read_to_end(&mut bytes).map_err(unavailable)?;
    let unread_bytes = match bytes.len() as u64 > most_bytes {
        // Files that the system generates as they are read report no length.
        true => metadata.len().max(bytes.len() as u64) - most_bytes,
        false => 0,
    };
    bytes.truncate(usize::try_from(most_bytes).unwrap_or(usize::MAX));
    if bytes.contains(&0) {
        return Err(unusable("it is not a text"));
    }
    let (text, encoding) = decoded(&bytes, unread_bytes);
    Ok(MemoryFileContent {
        text,
        encoding,
        unread_bytes,
        reach,
        real,
    })
}

/// The text, without a byte order mark. A character that is cut off at the end of what was read does not count as
/// damage.
fn decoded(bytes: &[u8], unread_bytes: u64) -> (String, TextEncoding) {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    match str::from_utf8(bytes) {
        Ok(text) => (text.to_owned(), TextEncoding::Exact),
        Err(error) if unread_bytes > 0 && error.error_len().is_none() => {
            let whole = &bytes[..error.valid_up_to()];
            (
                String::from_utf8_lossy(whole).into_owned(),
                TextEncoding::Exact,
            )
        }
        Err(_) => (
            String::from_utf8_lossy(bytes).into_owned(),
            TextEncoding::Repaired,
        ),
    }
}

fn usable(metadata: &fs::Metadata) -> Result<(), ContentUnavailable> {
    match metadata {
        _ if metadata.is_file() => Ok(()),
        _ if metadata.is_dir() => Err(unusable("it is a folder; name a file in it")),
        _ => Err(unusable("it is a pipe, a socket or a device, not a file")),
    }
}

fn unavailable(error: io::Error) -> ContentUnavailable {
    match error.kind() {
        // A path through something that is not a folder, or with a name that is too long, does not exist.
        io::ErrorKind::NotFound
        | io::ErrorKind::NotADirectory
        | io::ErrorKind::InvalidFilename
        | io::ErrorKind::InvalidInput => ContentUnavailable::Missing,
        _ => unusable(&format!("it cannot be read ({error})")),
    }
}

fn unusable(reason: &str) -> ContentUnavailable {
    ContentUnavailable::Unusable(reason.to_owned())
}
