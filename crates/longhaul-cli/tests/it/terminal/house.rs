//! Where the binary runs: a project folder, home folders of its own, and a strict provider that logs usage.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use longhaul_sim::faults::wire::EventPace;
use longhaul_sim::server::{SimServer, SimServerOptions};
use longhaul_sim::world::{self, World as SimWorld};
use longhaul_testkit::terminal::{CommandBuilder, PATIENCE, TestTerminal};
use serde_json::Value;

use super::actor::{Actor, Mood};
use super::wire::Wire;
use crate::support::World;

/// Enough rows so that the text a test waits for is not scrolled away at once.
const ROWS: u16 = 40;
const COLUMNS: u16 = 100;

/// A model whose window and prices are known.
pub(super) const MODEL: &str = "claude-sonnet-4-6";

/// The environment of a test.
pub(super) struct House {
    pub(super) world: World,
    pub(super) wire: Wire,
    pub(super) mood: Arc<Mood>,
    server: SimServer,
    _runtime: tokio::runtime::Runtime,
}

impl House {
    pub(super) fn new() -> Self {
        Self::paced(Duration::ZERO)
    }

    /// An environment in which replies come with this much time between their events.
    pub(super) fn paced(between: Duration) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let mood = Arc::new(Mood::default());
        let mut options = world::WorldOptions::new(7, Box::new(Actor(Arc::clone(&mood))));
        options.kept_calls = 100_000;
        options.pace = SimServerOptions::world_pace(EventPace::FAST);
        let pace = EventPace {
            between,
            ..EventPace::FAST
        };
        let served = SimServerOptions {
            pace,
            ..SimServerOptions::default()
        };
        let address = "127.0.0.1:0".parse().unwrap();
        let server = runtime.block_on(SimServer::start(address, SimWorld::new(options), served));
        let server = server.unwrap();
        let house = Self {
            world: World::new(),
            wire: Wire::before(server.addr()),
            mood,
            server,
            _runtime: runtime,
        };
        house.world.write("work/notes.txt", "one\ntwo\nthree\n");
        house.world.write("work/more.txt", "four\nfive\n");
        house
    }

    /// The project.
    pub(super) fn work(&self) -> PathBuf {
        self.world.root().join("work")
    }

    /// The variables of a process in the environment.
    fn variables(&self) -> Vec<(&'static str, String)> {
        let path = |path: PathBuf| path.into_os_string().into_string().unwrap();
        vec![
            ("PATH", std::env::var("PATH").unwrap_or_default()),
            ("HOME", path(self.world.root().to_owned())),
            ("LONGHAUL_HOME", path(self.world.home())),
            ("CLAUDE_CONFIG_DIR", path(self.world.claude())),
            ("SHELL", "/bin/bash".to_owned()),
            ("TERM", "xterm-256color".to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
            ("ANTHROPIC_BASE_URL", self.wire.url()),
            ("ANTHROPIC_API_KEY", "a key".to_owned()),
            ("LONGHAUL_MODEL", MODEL.to_owned()),
        ]
    }

    /// Starts `longhaul chat` in a terminal and waits until it is ready.
    pub(super) fn chat(&self, args: &[&str]) -> TestTerminal {
        let terminal = self.start(args, &[]);
        terminal.sees("> what should be done?");
        terminal
    }

    /// Starts `longhaul chat` in a terminal with variables set, without waiting.
    pub(super) fn start(&self, args: &[&str], variables: &[(&str, &str)]) -> TestTerminal {
        let mut all = vec!["chat"];
        all.extend(args);
        self.program(env!("CARGO_BIN_EXE_longhaul"), &all, variables)
    }

    /// Another program in a terminal.
    pub(super) fn program(
        &self,
        program: &str,
        args: &[&str],
        variables: &[(&str, &str)],
    ) -> TestTerminal {
        let mut command = CommandBuilder::new(program);
        command.args(args);
        command.env_clear();
        for (name, value) in self.variables() {
            command.env(name, value);
        }
        for (name, value) in variables {
            command.env(name, value);
        }
        command.cwd(self.work());
        TestTerminal::start(command, ROWS, COLUMNS)
    }

    /// `longhaul chat` without a terminal.
    pub(super) fn piped(&self, args: &[&str]) -> Command {
        let mut command = self.world.longhaul(std::iter::once(&"chat").chain(args));
        command.envs(self.variables()).current_dir(self.work());
        command
    }

    /// The only transcript of a main conversation.
    #[track_caller]
    pub(super) fn transcript(&self) -> PathBuf {
        let mut all = self.transcripts();
        assert_eq!(all.len(), 1, "{all:?}");
        all.remove(0)
    }

    /// All transcripts of main conversations, oldest first.
    pub(super) fn transcripts(&self) -> Vec<PathBuf> {
        transcripts(&self.world.home())
    }

    /// The entries of the only transcript. Every line is an entry.
    #[track_caller]
    pub(super) fn entries(&self) -> Vec<Value> {
        entries(&self.transcript())
    }

    /// The report of `inspect` about the only transcript; it finds no problem.
    #[track_caller]
    pub(super) fn inspected(&self) -> Value {
        self.inspected_at(&self.transcript())
    }

    #[track_caller]
    pub(super) fn inspected_at(&self, path: &Path) -> Value {
        let args = ["inspect".as_ref(), path.as_os_str(), "--json".as_ref()];
        let found = self.world.run(args).ends(0).json();
        assert_eq!(
            found["problems"].as_array().map(Vec::len),
            Some(0),
            "{found}"
        );
        found
    }

    /// Checks that the provider refused nothing.
    #[track_caller]
    pub(super) fn nothing_refused(&self) {
        let refused = self.server.with_world(|world| {
            let recent = world.usage_log().recent.iter();
            let refused = recent.filter(|record| record.status != 200);
            refused
                .map(|record| format!("{} {}", record.status, record.outcome))
                .collect::<Vec<_>>()
        });
        assert_eq!(refused, [""; 0]);
    }

    /// Tokens that were read from the cache by the last call.
    pub(super) fn last_cache_read(&self) -> u64 {
        self.server.with_world(|world| {
            let last = world.usage_log().last();
            last.map_or(0, |record| record.tokens.cache_read_input_tokens)
        })
    }

    /// How many requests for a reply have come.
    pub(super) fn calls(&self) -> usize {
        self.wire.requests().len()
    }

    /// Lets the next requests for a turn fail, one with each of these faults of the simulator.
    pub(super) fn fails_next(&self, faults: &[&str]) {
        let mut next = self.mood.faults.lock().unwrap();
        next.extend(faults.iter().map(|fault| (*fault).to_owned()));
    }

    /// Whether summaries stop in the middle.
    pub(super) fn stick_summaries(&self, stuck: bool) {
        self.mood.stuck_summaries.store(stuck, Ordering::SeqCst);
    }
}

/// The transcripts in a home, oldest first.
pub(super) fn transcripts(home: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in std::fs::read_dir(home.join("projects"))
        .into_iter()
        .flatten()
    {
        for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|it| it == "jsonl") {
                found.push(path);
            }
        }
    }
    found.sort_by_key(|path| path.metadata().unwrap().modified().unwrap());
    found
}

#[track_caller]
pub(super) fn entries(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Waits until a condition holds, where there is no screen to look at.
#[track_caller]
pub(super) fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = std::time::Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "no {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The actions of a user.
pub(super) trait Typing {
    /// Types a line and sends it.
    fn says(&mut self, line: &str);

    /// Sends a prompt and waits until the work is done.
    fn asks(&mut self, line: &str, shows: &str);

    /// Waits until the prompt is empty and nothing is worked on.
    fn is_idle(&self);

    /// Leaves and checks that the program ended well.
    fn leaves(&mut self);
}

impl Typing for TestTerminal {
    fn says(&mut self, line: &str) {
        self.keys(line);
        // A typed line is shown before it is sent, so that later input cannot overtake it.
        self.keys("\r");
    }

    #[track_caller]
    fn asks(&mut self, line: &str, shows: &str) {
        self.says(line);
        self.sees(shows);
        self.is_idle();
    }

    #[track_caller]
    fn is_idle(&self) {
        self.until("empty prompt", |terminal| {
            let shown = terminal.shown();
            shown.contains("> what should be done?") && !shown.contains("esc to")
        });
    }

    #[track_caller]
    fn leaves(&mut self) {
        self.keys("\u{4}");
        assert_eq!(self.ends(), 0, "{}", self.shown());
    }
}
