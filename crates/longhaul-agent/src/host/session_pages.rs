//! Pages of text about a session and its project: what `/agents`, `/mcp`, `/memory`, `/permissions` and `/status` show,
//! and the conversation as `/export` writes it.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use longhaul::memory_files;
use longhaul_core::figures::{counted, grouped};
use longhaul_store::keep_private;

use super::read_only_queries::ReadOnlyQueries;
use super::transcript;
use crate::agent::AgentKind;
use crate::permission::CurrentRules;
use crate::screen::{HostRefusal, SessionPage, transcript_text};
use crate::simulated_model::ModelBackend;
use crate::tools::mcp::McpServerStatus;

impl ReadOnlyQueries {
    pub(super) fn page(&self, page: SessionPage) -> Result<String, HostRefusal> {
        match page {
            SessionPage::Agents => Ok(self.agents()),
            SessionPage::Mcp => Ok(self.servers()),
            SessionPage::Memory => Ok(self.memory()),
            SessionPage::Permissions => Ok(self.permissions()),
            SessionPage::Status => self.status(),
        }
    }

    fn agents(&self) -> String {
        let kinds = AgentKind::with_builtin(self.workplace.project.agents.clone());
        let mut text = "Kinds of sub-agents (.claude/agents adds more):\n".to_owned();
        for kind in &kinds {
            let _ = writeln!(text, "  {}: {}", kind.name, kind.description);
        }
        text
    }

    fn servers(&self) -> String {
        let running = self.workplace.servers();
        let configured = &self.workplace.project.mcp_servers;
        if configured.is_empty() && running.is_empty() {
            return "There are no MCP servers. .mcp.json in the project and mcpServers in your settings define them.\n"
                .to_owned();
        }
        let mut text = "MCP servers:\n".to_owned();
        for (name, status) in &running {
            let _ = writeln!(text, "  {name}: {}", server_line(status));
        }
        let idle = configured.iter().filter(|server| {
            let mut running = running.iter();
            !running.any(|(name, _)| *name == server.name)
        });
        for server in idle {
            let _ = writeln!(
                text,
                "  {}: not started: nobody has agreed to it",
                server.name
            );
        }
        text
    }

    fn memory(&self) -> String {
        let found = memory_files::load(&memory_files::places(&self.env, &self.cwd));
        if found.files.is_empty() {
            return "There are no memory files. /init writes a CLAUDE.md for this project.\n"
                .to_owned();
        }
        let mut text = "Memory files, as the next session or compaction reads them:\n".to_owned();
        for file in &found.files {
            let _ = writeln!(
                text,
                "  {} ({} characters)",
                file.path.display(),
                grouped(file.text.chars().count() as u64)
            );
        }
        text
    }

    fn permissions(&self) -> String {
        let CurrentRules { allow, ask, deny } = self.workplace.current_rules();
        let mut text = format!(
            "Mode: {}\n",
            crate::screen::mode_name(self.workplace.mode())
        );
        for (name, rules) in [("Allowed", allow), ("Asked for", ask), ("Forbidden", deny)] {
            if rules.is_empty() {
                let _ = writeln!(text, "{name}: no rules");
                continue;
            }
            let _ = writeln!(text, "{name}:");
            for rule in rules {
                let _ = writeln!(text, "  {rule}");
            }
        }
        let local = &self.workplace.project.local_settings;
        let local = local.display();
        let _ = writeln!(text, "“yes, and for this project” writes to {local}.");
        text
    }

    fn status(&self) -> Result<String, HostRefusal> {
        let look = self.look()?;
        let mut text = String::new();
        let mut line = |name: &str, what: String| {
            let _ = writeln!(text, "{name:<12}{what}");
        };
        line("Version", env!("CARGO_PKG_VERSION").to_owned());
        line(
            "Model",
            match look.backend {
                ModelBackend::Provider => look.model.clone(),
                ModelBackend::Simulator => format!("{} (simulated)", look.model),
            },
        );
        line("Folder", self.cwd.display().to_string());
        line("Session", look.session_id.clone());
        line("Transcript", look.transcript.display().to_string());
        line(
            "Mode",
            crate::screen::mode_name(self.workplace.mode()).to_owned(),
        );
        line(
            "Window",
            format!(
                "{} of {} tokens in use; {} at {}",
                grouped(look.status.used),
                grouped(look.status.size),
                if look.status.auto_compact_enabled {
                    "compacted"
                } else {
                    "input is refused"
                },
                grouped(look.status.limit)
            ),
        );
        let servers = self.workplace.servers();
        let is_running =
            |status: &McpServerStatus| matches!(status, McpServerStatus::Running { .. });
        let running = servers.iter().filter(|(_, status)| is_running(status));
        line(
            "Servers",
            match servers.len() {
                0 => "none".to_owned(),
                all => format!("{} of {all} running", running.count()),
            },
        );
        Ok(text)
    }

    /// Writes the conversation as text into a new file. Returns a sentence about it.
    pub(super) fn export(&self, name: &str) -> Result<String, HostRefusal> {
        let look = self.look()?;
        let short = look.session_id.get(..8).unwrap_or(&look.session_id);
        let default = format!("longhaul-{short}.txt");
        let path = self.cwd.join(if name.is_empty() { &default } else { name });
        let items = transcript::items(&look.transcript, look.prefix.total()).map_err(refusal)?;
        write_new(&path, &transcript_text(&items))
            .map_err(|error| HostRefusal(format!("{} is not written: {error}", path.display())))?;
        Ok(format!("the conversation is in {}", path.display()))
    }
}

/// What has become of a server.
fn server_line(status: &McpServerStatus) -> String {
    match status {
        McpServerStatus::Starting => "still starting".to_owned(),
        McpServerStatus::Running {
            tools,
            prompts,
            resources,
        } => {
            let parts = [
                (*tools, "tool"),
                (*prompts, "prompt"),
                (*resources, "resource"),
            ];
            let parts = parts.into_iter().enumerate();
            // Most servers have only tools.
            let parts = parts.filter(|(at, (number, _))| *at == 0 || *number > 0);
            let parts: Vec<String> = parts
                .map(|(_, (number, noun))| counted(number as u64, noun))
                .collect();
            format!("running, {}", parts.join(", "))
        }
        McpServerStatus::Failed { why, log } => {
            // A program that is not there has written nothing.
            let log = match log.exists() {
                true => format!("\n    its log: {}", log.display()),
                false => String::new(),
            };
            format!("{why}{log}")
        }
    }
}

/// Writes a file that does not exist yet.
fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    keep_private(&mut options)
        .open(path)?
        .write_all(text.as_bytes())
}

fn refusal(error: impl std::fmt::Display) -> HostRefusal {
    HostRefusal(error.to_string())
}
