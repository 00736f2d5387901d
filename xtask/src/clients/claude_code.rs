//! Claude Code, unattended: prompts on its command line, with a project and a configuration of its own.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use super::CheckContext;
use super::catalog::{AllowedRefusals, PackageRegistry, WindowSize};
use super::install::InstalledClient;
use super::report::ClientReport;
use super::run_program;
use super::test_servers::TestServers;
use crate::workspace::{array, text};

/// The time limit for a prompt.
const LIMIT: Duration = Duration::from_secs(120);
/// Tools that need no permission here; the other tools are of no use to these checks.
const TOOLS: &str = "Read,Grep,Glob,Bash";
const READ: &str = "Read notes.txt, then say what is in it.";
const GO_ON: &str = "And what else is there?";
/// The prompts of the long session, and the maximum number of replies to each: after a summary the simulated agent
/// starts over, so it would never end.
const PROMPTS: usize = 8;
const TURNS: &str = "40";
/// The number of files in the project, and of lines in each.
const FILES: usize = 40;
const LINES: usize = 120;

/// Runs every check, each group against servers of its own.
pub(super) fn checks(
    setting: &CheckContext<'_>,
    installed: &InstalledClient,
    report: &mut ClientReport,
) {
    let groups: [(&str, CheckGroup); 5] = [
        ("session", session),
        ("compaction", compaction),
        ("errors", errors),
        ("sub-agent", sub_agent),
        ("long", long),
    ];
    for (name, group) in groups {
        let place = match FreshHome::fresh(installed) {
            Ok(place) => place,
            Err(error) => return report.failed(name, error.to_string()),
        };
        group(setting, &place, report);
    }
}

type CheckGroup = fn(&CheckContext<'_>, &FreshHome, &mut ClientReport);

/// Checks a single prompt, tool calls, and continuing a session.
fn session(setting: &CheckContext<'_>, place: &FreshHome, report: &mut ClientReport) {
    let Some(world) = started(setting, WindowSize::Usual, None, "session", report) else {
        return;
    };
    let shot = place.ask(world.url(), &["What is this project?"]);
    report.told("one shot", shot.and_then(PrintedEvents::fine).map(drop));
    let read = place
        .work(world.url(), READ, &[])
        .and_then(PrintedEvents::fine);
    let id = read
        .as_ref()
        .map(PrintedEvents::session)
        .unwrap_or_default();
    report.told("tool call", read.and_then(|told| told.used_a_tool()));
    let on = place.work(world.url(), GO_ON, &["--continue"]);
    report.told("--continue", on.and_then(|told| told.goes_on(&id)));
    world.judge("session", AllowedRefusals::Never, report);
}

/// Checks Claude Code's own compaction, and continuing after it. Claude Code keeps the thinking of the last turn, which
/// a model that binds thinking refuses once; it then leaves the thinking out by itself.
fn compaction(setting: &CheckContext<'_>, place: &FreshHome, report: &mut ClientReport) {
    for (model, refusals) in [
        ("claude-sonnet-4-6", AllowedRefusals::Never),
        ("claude-opus-5-5", AllowedRefusals::Asked),
    ] {
        let name = |what: &str| format!("{what} ({model})");
        let Some(world) = started(setting, WindowSize::Usual, None, &name("/compact"), report)
        else {
            return;
        };
        let work = |words: &str, more: &[&str]| {
            place.work(world.url(), words, &[&["--model", model], more].concat())
        };
        let id = match work(READ, &[]).and_then(PrintedEvents::fine) {
            Ok(told) => told.session(),
            Err(why) => return report.failed(&name("/compact"), why),
        };
        let compacted = work("/compact", &["--continue"]).and_then(PrintedEvents::fine);
        report.told(
            &name("/compact"),
            compacted.and_then(|told| told.compacted()),
        );
        let on = work(GO_ON, &["--continue"]);
        report.told(
            &name("behind /compact"),
            on.and_then(|told| told.goes_on(&id)),
        );
        world.judge(&name("/compact"), refusals, report);
    }
}

/// Checks that Claude Code recognizes the upstream's refusals for what they are.
fn errors(setting: &CheckContext<'_>, place: &FreshHome, report: &mut ClientReport) {
    let Some(world) = started(setting, WindowSize::Usual, None, "errors", report) else {
        return;
    };
    let told = place.ask(world.url(), &["Hello", "--model", "claude-none-1"]);
    report.told(
        "wrong model",
        told.and_then(|told| match told.result()["api_error_status"].as_u64() {
            Some(404) => Ok(()),
            _ => Err(format!("not the upstream's 404: {}", told.result())),
        }),
    );
}

/// Checks a sub-agent, which has a conversation of its own in the same session.
fn sub_agent(setting: &CheckContext<'_>, place: &FreshHome, report: &mut ClientReport) {
    let script = setting.workspace.root.join("xtask/clients/sub-agent.jsonl");
    let Some(world) = started(
        setting,
        WindowSize::Usual,
        Some(script),
        "sub-agent",
        report,
    ) else {
        return;
    };
    let words = ["How does the parser work?", "--tools", "Agent,Read"];
    let told = place.ask(world.url(), &words).and_then(PrintedEvents::fine);
    report.told(
        "sub-agent",
        told.and_then(
            |told| match told.result()["subagent_stats"]["completed"].as_u64() {
                Some(1) => Ok(()),
                _ => Err(format!(
                    "none came back: {}",
                    told.result()["subagent_stats"]
                )),
            },
        ),
    );
    world.judge("sub-agent", AllowedRefusals::Never, report);
}

/// Checks a session several windows long that Claude Code believes to fit into its window.
fn long(setting: &CheckContext<'_>, place: &FreshHome, report: &mut ClientReport) {
    let Some(world) = started(setting, WindowSize::Small, None, "long", report) else {
        return;
    };
    if !world.manages() {
        return report.skipped("long session", "the gateway only observes");
    }
    let mut outcome = Ok(());
    for prompt in 0..PROMPTS {
        let words =
            format!("Read src/part_{prompt}.rs and the files beside it, then say how they work.");
        let more: &[&str] = match prompt {
            0 => &[],
            _ => &["--continue"],
        };
        let more = [&["--max-turns", TURNS], more].concat();
        let told = place.work(world.url(), &words, &more);
        let told = told.and_then(PrintedEvents::fine_or_stopped);
        outcome = told.and_then(|told| match told.compacted() {
            Ok(()) => Err("it had to compact by itself".to_owned()),
            Err(_) => Ok(()),
        });
        if let Err(why) = outcome {
            outcome = Err(format!("prompt {} of {PROMPTS}: {why}", prompt + 1));
            break;
        }
    }
    report.told("long session", outcome);
    world.judge("long", AllowedRefusals::Never, report);
}

fn started(
    setting: &CheckContext<'_>,
    window: WindowSize,
    script: Option<PathBuf>,
    group: &str,
    report: &mut ClientReport,
) -> Option<TestServers> {
    match TestServers::start(setting, window, script.as_deref()) {
        Ok(world) => Some(world),
        Err(why) => {
            report.failed(group, why);
            None
        }
    }
}

/// A fresh home with a configuration and a project.
struct FreshHome {
    program: PathBuf,
    folder: PathBuf,
}

impl FreshHome {
    fn fresh(installed: &InstalledClient) -> io::Result<Self> {
        let folder = installed.folder.join("place");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        for name in ["home", "config", "project/src"] {
            fs::create_dir_all(folder.join(name))?;
        }
        let project = folder.join("project");
        fs::write(project.join("notes.txt"), "The parser comes first.\n")?;
        for file in 0..FILES {
            let line = |n| {
                format!(
                    "fn step_{file}_{n}(input: &str) -> usize {{ input.len() + {n} }} // counts bytes\n"
                )
            };
            let lines: String = (0..LINES).map(line).collect();
            fs::write(project.join(format!("src/part_{file}.rs")), lines)?;
        }
        Ok(Self {
            program: installed.program(PackageRegistry::Npm, "claude"),
            folder,
        })
    }

    /// Sends a prompt with tools, always the same ones: other tools would mean a different prompt for the cache and for
    /// thinking.
    fn work(&self, url: &str, words: &str, more: &[&str]) -> Result<PrintedEvents, String> {
        let tools = [words, "--tools", TOOLS, "--allowedTools", TOOLS];
        self.ask(url, &[&tools, more].concat())
    }

    /// Sends one prompt and returns the events that it printed.
    fn ask(&self, url: &str, words: &[&str]) -> Result<PrintedEvents, String> {
        let mut command = run_program::bare(&self.program, &self.folder.join("home"));
        command
            .current_dir(self.folder.join("project"))
            .env("CLAUDE_CONFIG_DIR", self.folder.join("config"))
            .env("ANTHROPIC_BASE_URL", url)
            .env("ANTHROPIC_API_KEY", "any")
            .args(["--output-format", "stream-json", "--verbose", "--print"])
            .args(words);
        for name in [
            "DISABLE_TELEMETRY",
            "DISABLE_ERROR_REPORTING",
            "DISABLE_AUTOUPDATER",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        ] {
            command.env(name, "1");
        }
        let ran =
            run_program::run(command, &self.folder, LIMIT).map_err(|error| error.to_string())?;
        if ran.code.is_none() {
            return Err(format!("no answer in {} s", LIMIT.as_secs()));
        }
        let events = ran.stdout.lines().map(serde_json::from_str::<Value>);
        let told = PrintedEvents(events.filter_map(Result::ok).collect());
        if told.result().is_null() {
            Err(ran.last_words())
        } else {
            Ok(told)
        }
    }
}

/// The events that Claude Code printed.
struct PrintedEvents(Vec<Value>);

impl PrintedEvents {
    fn of(&self, kind: &str) -> impl Iterator<Item = &Value> {
        self.0.iter().filter(move |event| event["type"] == *kind)
    }

    /// The final event, which reports the result.
    fn result(&self) -> &Value {
        self.of("result").last().unwrap_or(&Value::Null)
    }

    fn session(&self) -> String {
        text(&self.result()["session_id"]).to_owned()
    }

    /// Fails unless the session ended successfully.
    fn fine(self) -> Result<Self, String> {
        match self.result()["is_error"].as_bool() {
            Some(false) => Ok(self),
            _ => Err(text(&self.result()["result"]).to_owned()),
        }
    }

    /// Fails unless the session ended successfully or reached its limit of turns.
    fn fine_or_stopped(self) -> Result<Self, String> {
        match text(&self.result()["terminal_reason"]) {
            "max_turns" => Ok(self),
            _ => self.fine(),
        }
    }

    fn goes_on(self, session: &str) -> Result<(), String> {
        let told = self.fine()?;
        if told.session() == session {
            Ok(())
        } else {
            Err("it began another session".to_owned())
        }
    }

    /// Fails unless a tool call was carried out and answered.
    fn used_a_tool(&self) -> Result<(), String> {
        let blocks = self
            .of("user")
            .flat_map(|event| array(&event["message"]["content"]));
        let mut results = blocks.filter(|block| block["type"] == "tool_result");
        if results.any(|block| block["is_error"] != Value::Bool(true)) {
            Ok(())
        } else {
            Err("no tool was used".to_owned())
        }
    }

    /// Fails unless Claude Code compacted by itself.
    fn compacted(&self) -> Result<(), String> {
        if self
            .of("system")
            .any(|event| event["subtype"] == "compact_boundary")
        {
            Ok(())
        } else {
            Err("nothing was compacted".to_owned())
        }
    }
}
