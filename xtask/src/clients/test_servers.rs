//! A simulator with a gateway in front of it, both as processes, and what their usage logs say.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::CheckContext;
use super::catalog::{AllowedRefusals, SMALL, WindowSize};
use super::report::ClientReport;
use crate::workspace::{array, text};

/// How many times the usage logs are read: they are written a moment after the answer.
const LOOKS: u32 = 50;
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// A server process that is killed when dropped.
struct ServerProcess {
    process: Child,
    url: String,
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // The server may have exited by itself; then both calls fail, and that is fine.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The simulator and the gateway.
pub(super) struct TestServers {
    simulator: ServerProcess,
    gateway: ServerProcess,
}

impl TestServers {
    /// Starts both servers. A script replaces the simulator's agent.
    pub(super) fn start(
        setting: &CheckContext<'_>,
        window: WindowSize,
        script: Option<&Path>,
    ) -> Result<Self, String> {
        let home = setting.folder.join("longhaul-home");
        fs::create_dir_all(&home).map_err(|error| error.to_string())?;
        let serving = || {
            let mut command = super::run_program::bare(&setting.longhaul, &home);
            command.env("LONGHAUL_HOME", &home);
            command
        };
        let mut sim = serving();
        sim.args(["sim", "--listen", "127.0.0.1:0"]);
        if let Some(script) = script {
            sim.arg("--script").arg(script);
        }
        let mut gateway = serving();
        gateway.args(["serve", "--listen", "127.0.0.1:0", "--store", "memory"]);
        if let Some(policy) = &setting.policy {
            gateway.args(["--policy", policy]);
        }
        if window == WindowSize::Small {
            let models = home.join("small-window.toml");
            let table = |id: &str| format!("[models.{id}]\nwindow = {SMALL}\n");
            let tables = table("claude-opus-5-5") + &table("gpt-5");
            fs::write(&models, tables).map_err(|error| error.to_string())?;
            let set = format!("models.file={}", models.display());
            sim.args(["--set", &set]);
            gateway.args(["--set", &set]);
        }
        let simulator = listening(sim)?;
        gateway.args(["--upstream", &simulator.url]);
        Ok(Self {
            gateway: listening(gateway)?,
            simulator,
        })
    }

    /// The gateway's address, which clients are given.
    pub(super) fn url(&self) -> &str {
        &self.gateway.url
    }

    /// Whether the gateway may change requests.
    pub(super) fn manages(&self) -> bool {
        let body = r#"{"model":"claude-opus-5-5","max_tokens":16,"messages":[{"role":"user","content":"Hello"}]}"#;
        let mut curl = Command::new("curl");
        curl.args(["--silent", "--noproxy", "*", "--include", "--data", body])
            .args(["--header", "content-type: application/json"])
            .args(["--header", "x-api-key: any"])
            .args(["--header", "anthropic-version: 2023-06-01"])
            .arg(format!("{}/v1/messages", self.url()));
        let answer = curl
            .output()
            .map(|output| output.stdout)
            .unwrap_or_default();
        String::from_utf8_lossy(&answer)
            .to_lowercase()
            .contains("x-longhaul-policy: manage")
    }

    /// Reads both usage logs and reports what they say about a stage.
    pub(super) fn judge(&self, stage: &str, refusals: AllowedRefusals, report: &mut ClientReport) {
        let mut calls = (0, 0);
        for _ in 0..LOOKS {
            match asked(&self.gateway, "/longhaul/api/sessions?limit=1000") {
                Ok(books) => calls = sessions(&books),
                Err(why) => return report.failed(&format!("{stage}: books"), why),
            }
            if calls.0 > 0 {
                break;
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
        let refusals = match refusals {
            AllowedRefusals::WhereObserved if self.manages() => AllowedRefusals::Never,
            AllowedRefusals::WhereObserved => AllowedRefusals::Asked,
            other => other,
        };
        let name = format!("{stage}: the gateway's usage log");
        match calls {
            (0, _) => report.failed(&name, "it shows no call".to_owned()),
            (_, failed @ 1..) if refusals == AllowedRefusals::Never => {
                report.failed(&name, format!("{failed} calls failed"));
            }
            _ => report.held(&name),
        }
        let name = format!("{stage}: nothing refused upstream");
        match asked(&self.simulator, "/sim/books") {
            Err(why) => report.failed(&name, why),
            Ok(_) if refusals == AllowedRefusals::Asked => {}
            Ok(books) => match refused(&books) {
                0 => report.held(&name),
                errors => report.failed(&name, format!("{errors} calls: {}", reasons(&books))),
            },
        }
    }
}

/// Starts a server and waits for its first line, which contains its address.
fn listening(mut command: Command) -> Result<ServerProcess, String> {
    let spawned = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut process = spawned.map_err(|error| format!("longhaul: {error}"))?;
    let stdout = process.stdout.take();
    let mut server = ServerProcess {
        process,
        url: String::new(),
    };
    let mut line = String::new();
    if let Some(stdout) = stdout {
        let read = BufReader::new(stdout).read_line(&mut line);
        read.map_err(|error| error.to_string())?;
    }
    match line.trim().strip_prefix("listening on ") {
        Some(url) => url.clone_into(&mut server.url),
        None => return Err("longhaul did not start; run it by hand to see why".to_owned()),
    }
    Ok(server)
}

fn asked(server: &ServerProcess, path: &str) -> Result<Value, String> {
    let mut curl = Command::new("curl");
    curl.args(["--silent", "--noproxy", "*", "--fail"]);
    let answer = curl.arg(format!("{}{path}", server.url)).output();
    let answer = answer.map_err(|error| format!("curl: {error}"))?;
    serde_json::from_slice(&answer.stdout)
        .map_err(|_| format!("{path} does not answer: {}", answer.status))
}

/// The number of calls, and how many of them failed.
fn sessions(books: &Value) -> (u64, u64) {
    let sessions = array(&books["sessions"]);
    let sum = |key: &str| sessions.iter().filter_map(|one| one[key].as_u64()).sum();
    (sum("calls"), sum("failed"))
}

/// The number of refused calls.
fn refused(books: &Value) -> u64 {
    books["total"]["errors"].as_u64().unwrap_or_default()
}

/// The reasons for refusals, as far as the usage log keeps them, each once and without the figures that make them
/// differ.
fn reasons(books: &Value) -> String {
    let told = array(&books["recent"])
        .iter()
        .map(|call| text(&call["refusal"]));
    let plain = told.filter(|told| !told.is_empty()).map(|told| {
        let digits = |letter: char| letter.is_ascii_digit();
        let parts = told.split(digits).filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join("N")
    });
    let distinct: BTreeSet<String> = plain.collect();
    Vec::from_iter(distinct).join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_told_once_each() {
        let books = serde_json::json!({ "recent": [
            { "refusal": "prompt is too long: 61234 tokens > 60000 maximum" },
            { "status": 200 },
            { "refusal": "prompt is too long: 70000 tokens > 60000 maximum" },
        ]});
        assert_eq!(reasons(&books), "prompt is too long: N tokens > N maximum");
    }
}
