//! Recall for real clients, with the simulator as their model: Claude Code and the Python SDK against `longhaul mcp`, and
//! Claude Code through `longhaul serve --recall`.
//!
//! They are installed only where `LONGHAUL_TEST_INSTALL` is set (Claude Code alone has 350 MB), into the target folder,
//! and stay there. Where nothing is installed, the tests say so and pass: `mcp.rs` uses the Rust SDK's client.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Finish, Run, World};

/// The versions that were tried.
const CLAUDE_CODE: &str = "@anthropic-ai/claude-code@2.1.325";
const PYTHON_SDK: &str = "mcp==2.3.0";

/// Words that only the earlier session holds.
const EARLIER: &str = "The staging database is called quokka-7.";

/// A folder for packages, which later runs reuse, once `install` has filled it.
fn packages(name: &str, version: &str, install: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("mcp-clients")
        .join(name);
    let installed = folder.join("installed.txt");
    if std::fs::read_to_string(&installed).is_ok_and(|text| text == version) {
        return Some(folder);
    }
    std::env::var_os("LONGHAUL_TEST_INSTALL")?;
    std::fs::create_dir_all(&folder).unwrap();
    install(&folder).then(|| std::fs::write(&installed, version).unwrap())?;
    Some(folder)
}

fn works(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// Writes a session of Claude Code in this project, in which the user said [`EARLIER`].
fn with_an_earlier_session(world: &World) -> PathBuf {
    let project = world.root().join("project");
    std::fs::create_dir_all(&project).unwrap();
    let project = project.canonicalize().unwrap();
    let name = longhaul_store::layout::folder_name(&project);
    let line = json!({"type": "user", "uuid": "u1", "parentUuid": null, "sessionId": "earlier", "cwd": project,
        "timestamp": "2026-02-12T16:01:00.000Z", "message": {"role": "user", "content": EARLIER}});
    world.write(
        format!("claude/projects/{name}/aaaa0000-0000-4000-8000-00000000000a.jsonl"),
        format!("{line}\n"),
    );
    project
}

/// `longhaul sim` with a script, ended when it is dropped.
struct Simulator(Child, String);

impl Simulator {
    fn start(world: &World, script: &Path) -> Self {
        let args = ["sim", "--listen", "127.0.0.1:0", "--script"];
        let mut command = world.longhaul(args.map(std::ffi::OsString::from));
        let pipes = command
            .arg(script)
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = pipes.spawn().unwrap();
        let mut first = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut first).unwrap();
        let url = first.trim().strip_prefix("listening on ").unwrap();
        Self(child, url.to_owned())
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Claude Code, if it can be installed, in a world of its own.
struct ClaudeCode<'w> {
    world: &'w World,
    folder: PathBuf,
    project: PathBuf,
}

impl<'w> ClaudeCode<'w> {
    fn installed(world: &'w World) -> Option<Self> {
        let install = |folder: &Path| {
            works(
                Command::new("npm")
                    .args(["install", "--silent", "--no-audit", "--no-fund"])
                    .args(["--fetch-retries=1", "--fetch-timeout=60000", "--prefix"])
                    .arg(folder)
                    .arg(CLAUDE_CODE),
            )
        };
        let folder = packages("claude-code", CLAUDE_CODE, install)?;
        let project = with_an_earlier_session(world);
        Some(Self {
            world,
            folder,
            project,
        })
    }

    fn run(&self, url: &str, words: &[&str]) -> Run {
        let mut command = Command::new(self.folder.join("node_modules/.bin/claude"));
        command
            .args(words)
            .current_dir(&self.project)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.world.root())
            .env("LONGHAUL_HOME", self.world.home())
            .env("CLAUDE_CONFIG_DIR", self.world.claude())
            .env("ANTHROPIC_BASE_URL", url)
            .env("ANTHROPIC_API_KEY", "any")
            .env("DISABLE_TELEMETRY", "1")
            .env("DISABLE_ERROR_REPORTING", "1")
            .env("DISABLE_AUTOUPDATER", "1")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .stdin(Stdio::null());
        command.finish().ends(0)
    }

    /// Sends a prompt and returns the events that were printed.
    fn ask(&self, url: &str, words: &[&str]) -> Vec<Value> {
        let format = ["--output-format", "stream-json", "--verbose", "--print"];
        let printed = self.run(url, &[&format, words].concat()).out;
        let events = printed.lines().map(serde_json::from_str);
        let events: Vec<Value> = events.filter_map(Result::ok).collect();
        let last = events.iter().rfind(|event| event["type"] == "result");
        assert_eq!(last.unwrap()["is_error"], false, "{printed}");
        events
    }
}

/// The blocks of all messages of this kind.
fn blocks(events: &[Value], kind: &str) -> Vec<Value> {
    let messages = events.iter().filter(|event| event["type"] == *kind);
    let contents = messages.map(|event| event["message"]["content"].as_array().cloned());
    contents.flatten().flatten().collect()
}

fn script(world: &World, turns: &[Value]) -> PathBuf {
    let lines: Vec<String> = turns.iter().map(Value::to_string).collect();
    world.write("script.jsonl", lines.join("\n"))
}

#[test]
fn x2_claude_code_finds_an_earlier_session_through_the_one_line_that_adds_the_server() {
    let world = World::new();
    let Some(claude) = ClaudeCode::installed(&world) else {
        longhaul_testkit::skipped::note(
            "Claude Code is not installed (set LONGHAUL_TEST_INSTALL=1)",
        );
        return;
    };
    let turns = [
        json!({"script": 1, "by": "replies", "end": "stop"}),
        json!({"tools": [{"name": "mcp__longhaul__recall", "input": {"query": "staging database"}}]}),
        // Claude Code writes its transcript a moment after what it is about.
        json!({"tools": [{"name": "Bash", "input": {"command": "sleep 1", "description": "Wait a second"}}]}),
        json!({"tools": [{"name": "mcp__longhaul__context", "input": {}}]}),
        json!({"text": "It is called quokka-7."}),
    ];
    let simulator = Simulator::start(&world, &script(&world, &turns));
    let (url, longhaul) = (&simulator.1, env!("CARGO_BIN_EXE_longhaul"));
    claude.run(url, &["mcp", "add", "longhaul", "--", longhaul, "mcp"]);
    let listed = claude.run(url, &["mcp", "list"]).out;
    assert!(
        listed.contains("longhaul") && listed.contains("Connected"),
        "{listed}"
    );
    let tools = "mcp__longhaul__recall,mcp__longhaul__context,Bash(sleep 1)";
    let asked = "What is the staging database called?";
    let events = claude.ask(url, &[asked, "--allowedTools", tools]);
    let results: Vec<String> = blocks(&events, "user")
        .iter()
        .filter(|block| block["type"] == "tool_result")
        .map(Value::to_string)
        .collect();
    let found = |text: &&String| text.contains("quokka-7") && text.contains("aaaa0000");
    assert!(results.iter().any(|text| found(&text)), "{results:?}");
    let session = events.iter().find_map(|event| event["session_id"].as_str());
    let own = format!("Session {} of Claude Code", session.unwrap());
    assert!(
        results.iter().any(|text| text.contains(&own)),
        "{own}\n{results:?}"
    );
}

#[cfg(unix)]
#[test]
fn x2_x8_claude_code_sees_nothing_of_what_its_model_looks_up_behind_the_gateway() {
    let world = World::new();
    let Some(claude) = ClaudeCode::installed(&world) else {
        longhaul_testkit::skipped::note(
            "Claude Code is not installed (set LONGHAUL_TEST_INSTALL=1)",
        );
        return;
    };
    let recall = json!({"name": "recall", "input": {"query": "staging database"}});
    let bash = json!({"name": "Bash", "input": {"command": "echo hello"}});
    let turns = [
        json!({"script": 1, "by": "calls", "helpers": "built-in"}),
        json!({"text": "Let me look. ", "tools": [recall]}),
        json!({"text": "And run something. ", "tools": [recall, bash]}),
        json!({"text": "It is called quokka-7."}),
        json!({"text": "Still quokka-7."}),
    ];
    let simulator = Simulator::start(&world, &script(&world, &turns));
    let home = world.root().join("gateway");
    let arguments = ["--recall", "--upstream", &simulator.1];
    let (gateway, addr) = crate::serve::started(crate::serve::longhaul(&home, &arguments));
    let url = format!("http://{addr}");
    let events = claude.ask(&url, &[EARLIER, "--allowedTools", "Bash"]);
    let said: Vec<String> = blocks(&events, "assistant")
        .iter()
        .map(|block| {
            block["text"]
                .as_str()
                .or(block["name"].as_str())
                .unwrap_or_default()
                .to_owned()
        })
        .collect();
    let expected = [
        "Let me look. ",
        "And run something. ",
        "Bash",
        "It is called quokka-7.",
    ];
    assert_eq!(said, expected);
    let events = claude.ask(&url, &["--continue", "Are you sure?"]);
    assert_eq!(blocks(&events, "assistant")[0]["text"], "Still quokka-7.");
    crate::serve::end(gateway);
    let stored = rusqlite::Connection::open(home.join("gateway/books.sqlite")).unwrap();
    let count = |query: &str| {
        stored
            .query_row(query, [], |row| row.get::<_, i64>(0))
            .unwrap()
    };
    assert_eq!(
        count("SELECT count(*) FROM recall"),
        2,
        "the tool and the rounds"
    );
    assert_eq!(count("SELECT count(*) FROM call WHERE status = 200"), 4);
    assert_eq!(count("SELECT count(*) FROM call"), 4, "nothing was refused");
    // The last request read nearly everything from the cache: what was hidden is where it was.
    let read = count(
        "SELECT cache_read * 100 / (input + cache_read + cache_write_5m) FROM call ORDER BY id DESC LIMIT 1",
    );
    assert!(read > 95, "{read}%");
}

const PYTHON: &str = r#"
import asyncio, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

async def main(program, env):
    server = StdioServerParameters(command=program, args=["mcp"], env=env)
    async with stdio_client(server) as (read, write):
        async with ClientSession(read, write) as session:
            await session.initialize()
            tools = await session.list_tools()
            print(sorted(tool.name for tool in tools.tools))
            found = await session.call_tool("recall", {"query": "staging database"})
            print(found.content[0].text)
            wrong = await session.call_tool("recall", {})
            print("error:", wrong.content[0].text)

asyncio.run(main(sys.argv[1], dict(pair.split("=", 1) for pair in sys.argv[2:])))
"#;

#[test]
fn x2_the_python_sdk_speaks_to_the_server() {
    let install = |folder: &Path| {
        works(Command::new("python3").args(["-m", "venv"]).arg(folder))
            && works(
                Command::new(folder.join("bin/python"))
                    .args([
                        "-m",
                        "pip",
                        "install",
                        "--quiet",
                        "--disable-pip-version-check",
                    ])
                    .args(["--timeout", "15", "--retries", "1", PYTHON_SDK]),
            )
    };
    let Some(folder) = packages("python", PYTHON_SDK, install) else {
        longhaul_testkit::skipped::note(
            "the Python SDK is not installed (set LONGHAUL_TEST_INSTALL=1)",
        );
        return;
    };
    let world = World::new();
    let project = with_an_earlier_session(&world);
    let variable = |name: &str, path: PathBuf| format!("{name}={}", path.display());
    let run = Command::new(folder.join("bin/python"))
        .args(["-c", PYTHON, env!("CARGO_BIN_EXE_longhaul")])
        .arg(variable("HOME", world.root().to_owned()))
        .arg(variable("LONGHAUL_HOME", world.home()))
        .arg(variable("CLAUDE_CONFIG_DIR", world.claude()))
        .current_dir(project)
        .finish()
        .ends(0);
    assert!(
        run.out.contains("['context', 'recall', 'sessions']"),
        "{}",
        run.out
    );
    assert!(run.out.contains("quokka-7"), "{}", run.out);
    assert!(
        run.out
            .contains("error: This call of recall cannot be answered"),
        "{}",
        run.out
    );
}
