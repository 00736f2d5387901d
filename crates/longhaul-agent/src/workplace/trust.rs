//! Which projects the user trusts, and which of their servers may be started: `trusted.json` in LONGHAUL_HOME.
//!
//! A file that cannot be read trusts nobody. One that cannot be written is a notice, and the answer counts for this session.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::settings::McpServer;

/// The file's name.
const NAME: &str = "trusted.json";

/// What the user has answered so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Ledger {
    path: Option<PathBuf>,
    answers: Answers,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Answers {
    /// Folders that are trusted.
    folders: Vec<PathBuf>,
    /// What was said to servers, by the folder whose they are.
    servers: BTreeMap<PathBuf, Vec<Server>>,
}

/// A server as it was when the user was asked: another command is another server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Server {
    name: String,
    command: Vec<String>,
    starts: bool,
}

impl Ledger {
    /// What lies in this home; nothing if there is none.
    pub(super) fn load(home: Option<&Path>) -> Self {
        let path = home.map(|home| home.join(NAME));
        let text = path.as_ref().and_then(|path| std::fs::read(path).ok());
        let answers = text.and_then(|text| serde_json::from_slice(&text).ok());
        Self {
            path,
            answers: answers.unwrap_or_default(),
        }
    }

    pub(super) fn trusts(&self, folder: &Path) -> bool {
        self.answers.folders.iter().any(|trusted| trusted == folder)
    }

    pub(super) fn trust(&mut self, folder: &Path) -> io::Result<()> {
        if self.trusts(folder) {
            return Ok(());
        }
        self.answers.folders.push(folder.to_owned());
        self.write()
    }

    /// What was said to a server; none if nobody was asked.
    pub(super) fn starts(&self, folder: &Path, server: &McpServer) -> Option<bool> {
        let known = self.answers.servers.get(folder)?;
        let command = command(server);
        let known = known
            .iter()
            .find(|it| it.name == server.name && it.command == command)?;
        Some(known.starts)
    }

    pub(super) fn answer(
        &mut self,
        folder: &Path,
        server: &McpServer,
        starts: bool,
    ) -> io::Result<()> {
        let known = self.answers.servers.entry(folder.to_owned()).or_default();
        known.retain(|it| it.name != server.name);
        known.push(Server {
            name: server.name.clone(),
            command: command(server),
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

fn command(server: &McpServer) -> Vec<String> {
    let program = std::iter::once(&server.command);
    program.chain(&server.args).cloned().collect()
}
