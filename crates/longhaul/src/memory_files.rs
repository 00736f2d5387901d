//! Reads memory files from disk: what the core's search asks for, and no more of it than a budget can use.
//!
//! Which files there are and what of them is sent is decided in [`longhaul_core::prompt::memory`].

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use longhaul_core::prompt::ContextBudget;
use longhaul_core::prompt::memory::{
    Content, Encoding, Found, MemoryFile, Notice, Reach, Search, Unavailable,
    compact_instructions as section,
};
use longhaul_store::{Env, Home};

pub use longhaul_core::prompt::memory::Places;

/// The places of a session that works in this folder. The project is the repository around it, else the folder itself.
pub fn places(env: &Env, cwd: &Path) -> Places {
    let root = |home: Home| home.root().to_owned();
    let project_root = cwd.ancestors().find(|folder| folder.join(".git").exists());
    Places {
        user_home: env.user_home.clone(),
        claude_home: Home::claude(env).ok().map(root),
        longhaul_home: Home::longhaul(env).ok().map(root),
        project_root: project_root.unwrap_or(cwd).to_owned(),
        cwd: cwd.to_owned(),
    }
}

/// Loads the memory files of a session. Whatever is wrong with one of them is a notice.
#[tracing::instrument(level = "debug", skip_all, fields(project = %places.project_root.display()))]
pub fn load(places: &Places) -> Found {
    run(Search::new(places), places)
}

/// Loads the memory files of the folders that lead to a file, but for those that every session has. What lies outside of
/// the project is left out: nobody was asked about it.
pub fn load_nested(places: &Places, file: &Path) -> Found {
    without_outside(run(Search::nested(places, file), places))
}

/// The same without files that lie outside of the project and of the user's own folders, whoever imports them.
pub(crate) fn without_outside(mut found: Found) -> Found {
    let outside: Vec<PathBuf> = (found.notices.iter())
        .filter_map(|notice| match notice {
            Notice::Outside { path, .. } => Some(path.clone()),
            _ => None,
        })
        .collect();
    (found.files).retain(|file| !outside.contains(&file.path));
    found
}

/// What memory files say about compactions (F4): their sections, one after the other. None if there is none.
pub fn compact_instructions(files: &[MemoryFile]) -> Option<String> {
    let sections: Vec<&str> = (files.iter())
        .filter_map(|file| section(&file.text))
        .collect();
    (!sections.is_empty()).then(|| sections.join("\n\n"))
}

fn run(mut search: Search, places: &Places) -> Found {
    let most_bytes = ContextBudget::FULL.most_bytes_of_a_file();
    let roots = Roots::of(places);
    loop {
        let wanted = search.wanted();
        if wanted.is_empty() {
            break;
        }
        for path in wanted {
            search.supply(&path, read(&path, most_bytes, &roots));
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

/// The folders by which a file's reach is told, with all links resolved.
struct Roots {
    project: Vec<PathBuf>,
    home: Vec<PathBuf>,
}

impl Roots {
    fn of(places: &Places) -> Self {
        let real = |path: &PathBuf| fs::canonicalize(path).ok();
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

    fn reach(&self, real: &Path) -> Reach {
        let within = |roots: &[PathBuf]| roots.iter().any(|root| real.starts_with(root));
        if within(&self.project) {
            Reach::Project
        } else if within(&self.home) {
            Reach::Home
        } else {
            Reach::Elsewhere
        }
    }
}

fn read(path: &Path, most_bytes: u64, roots: &Roots) -> Result<Content, Unavailable> {
    let real = fs::canonicalize(path).map_err(unavailable)?;
    // Asked before it is opened: to open a pipe is to wait for somebody at its other end.
    usable(&fs::metadata(&real).map_err(unavailable)?)?;
    let file = File::open(&real).map_err(unavailable)?;
    let metadata = file.metadata().map_err(unavailable)?;
    usable(&metadata)?;
    let mut bytes = Vec::new();
    let mut beginning = file.take(most_bytes + 1);
    beginning.read_to_end(&mut bytes).map_err(unavailable)?;
    let unread_bytes = match bytes.len() as u64 > most_bytes {
        // Files that a system makes up as they are read tell no length.
        true => metadata.len().max(bytes.len() as u64) - most_bytes,
        false => 0,
    };
    bytes.truncate(usize::try_from(most_bytes).unwrap_or(usize::MAX));
    if bytes.contains(&0) {
        return Err(unusable("it is not a text"));
    }
    let (text, encoding) = decoded(&bytes, unread_bytes);
    Ok(Content {
        text,
        encoding,
        unread_bytes,
        reach: roots.reach(&real),
        real,
    })
}

/// The text, without a byte order mark. A character that was cut off at the end of what was read is no damage.
fn decoded(bytes: &[u8], unread_bytes: u64) -> (String, Encoding) {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    match str::from_utf8(bytes) {
        Ok(text) => (text.to_owned(), Encoding::Exact),
        Err(error) if unread_bytes > 0 && error.error_len().is_none() => {
            let whole = &bytes[..error.valid_up_to()];
            (String::from_utf8_lossy(whole).into_owned(), Encoding::Exact)
        }
        Err(_) => (
            String::from_utf8_lossy(bytes).into_owned(),
            Encoding::Repaired,
        ),
    }
}

fn usable(metadata: &fs::Metadata) -> Result<(), Unavailable> {
    match metadata {
        _ if metadata.is_file() => Ok(()),
        _ if metadata.is_dir() => Err(unusable("it is a folder; name a file in it")),
        _ => Err(unusable("it is a pipe, a socket or a device, not a file")),
    }
}

fn unavailable(error: io::Error) -> Unavailable {
    match error.kind() {
        // A path through something that is no folder, or longer than any name, leads nowhere.
        io::ErrorKind::NotFound
        | io::ErrorKind::NotADirectory
        | io::ErrorKind::InvalidFilename
        | io::ErrorKind::InvalidInput => Unavailable::Missing,
        _ => unusable(&format!("it cannot be read ({error})")),
    }
}

fn unusable(reason: &str) -> Unavailable {
    Unavailable::Unusable(reason.to_owned())
}
