//! What the user agreed to among the requirements of projects, which of their servers may be started, and which files
//! outside of them they may lead to: `trusted.json` in LONGHAUL_HOME.
//!
//! Each answer applies to exactly what was shown: whatever has changed since is asked for again. A file that cannot be
//! read grants nothing. If it cannot be written, a notice says so, and the answer counts for this session.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::settings::{McpServer, TrustRequirement};

/// The name of the file.
const NAME: &str = "trusted.json";

/// The answers of the user so far.
#[derive(Debug, Clone, Default)]
pub(super) struct ConsentStore {
    path: Option<PathBuf>,
    answers: StoredConsents,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct StoredConsents {
    /// Fingerprints of approved requirements, by the folder whose settings require them.
    agreed: BTreeMap<PathBuf, BTreeSet<String>>,
    /// The answers about servers, by the folder that they belong to.
    servers: BTreeMap<PathBuf, Vec<ServerConsent>>,
    /// Files outside of a folder, links resolved, that its files may lead to.
    outside: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
}

/// A server as it was when the user was asked: with another command, variable or folder it is another server.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
struct ServerConsent {
    name: String,
    fingerprint: String,
    starts: bool,
}

/// The known facts about a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServerTrust {
    /// The user was never asked about a server of this name.
    Never,
    /// The user was asked about another server of this name.
    Changed,
    /// The user agreed to this very server.
    Starts,
    /// The user refused this server.
    StaysOff,
}

impl ConsentStore {
    /// Loads the answers from this home; empty if there is none.
    pub(super) fn load(home: Option<&Path>) -> Self {
        let path = home.map(|home| home.join(NAME));
        let text = path.as_ref().and_then(|path| std::fs::read(path).ok());
        let answers = text.and_then(|text| serde_json::from_slice(&text).ok());
        Self {
            path,
            answers: answers.unwrap_or_default(),
        }
    }

    /// Whether the user agreed to this very requirement.
    pub(super) fn agrees(&self, folder: &Path, want: &TrustRequirement) -> bool {
        let agreed = self.answers.agreed.get(folder);
        agreed.is_some_and(|agreed| agreed.contains(&want.fingerprint()))
    }

    /// Records that the user agreed to these requirements.
    pub(super) fn agree<'a>(
        &mut self,
        folder: &Path,
        wants: impl IntoIterator<Item = &'a TrustRequirement>,
    ) -> io::Result<()> {
        let agreed = self.answers.agreed.entry(folder.to_owned()).or_default();
        agreed.extend(wants.into_iter().map(TrustRequirement::fingerprint));
        self.write()
    }

    /// The files outside of a folder that its files may lead to.
    pub(super) fn outside(&self, folder: &Path) -> Vec<PathBuf> {
        let outside = self.answers.outside.get(folder).into_iter().flatten();
        outside.cloned().collect()
    }

    /// Records that the user agreed that a folder's files lead to these.
    pub(super) fn open(
        &mut self,
        folder: &Path,
        files: impl IntoIterator<Item = PathBuf>,
    ) -> io::Result<()> {
        let outside = self.answers.outside.entry(folder.to_owned()).or_default();
        outside.extend(files);
        self.write()
    }

    /// The known facts about a server.
    pub(super) fn known(&self, folder: &Path, server: &McpServer) -> ServerTrust {
        let all = self.answers.servers.get(folder).into_iter().flatten();
        let mut named = all.filter(|it| it.name == server.name).peekable();
        if named.peek().is_none() {
            return ServerTrust::Never;
        }
        let fingerprint = server.fingerprint();
        match named.find(|it| it.fingerprint == fingerprint) {
            Some(known) if known.starts => ServerTrust::Starts,
            Some(_) => ServerTrust::StaysOff,
            None => ServerTrust::Changed,
        }
    }

    pub(super) fn answer(
        &mut self,
        folder: &Path,
        server: &McpServer,
        starts: bool,
    ) -> io::Result<()> {
        let known = self.answers.servers.entry(folder.to_owned()).or_default();
        known.retain(|it| it.name != server.name);
        known.push(ServerConsent {
            name: server.name.clone(),
            fingerprint: server.fingerprint(),
            starts,
        });
        self.write()
    }

    fn write(&self) -> io::Result<()> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let folder = path.parent().unwrap_or(Path::new("."));
        longhaul_store::create_private_file(path)?;
        let text = serde_json::to_string_pretty(&self.answers)?;
        let mut draft = tempfile::NamedTempFile::new_in(folder)?;
        writeln!(draft, "{text}")?;
        draft.as_file().sync_all()?;
        draft.persist(path).map_err(|error| error.error)?;
        Ok(())
    }
}
