//! `docs/chat-screens.md`: what each habit from Claude Code looks like, as text from real runs with the simulated model.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use longhaul_testkit::terminal::TestTerminal;

use super::{FOLDER, command};
use crate::chat::Provider;
use crate::support::World;

/// What the file begins with.
const HEAD: &str = "# What the habits look like

Captures of real runs in a terminal with the simulated model, one for each row of [Habits from Claude Code](chat.md#habits-from-claude-code)
that can be seen. `cargo xtask shots` makes them again; the status line is left out.
";

/// An MCP server with a tool, a prompt and a resource, which answers once the file that it is given is there.
const SERVER: &str = r#"#!/bin/sh
while [ ! -e "$1" ]; do sleep 0.1; done
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) r='{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"prompts":{},"resources":{}},"serverInfo":{"name":"shop","version":"1"}}' ;;
    *'"tools/list"'*) r='{"tools":[{"name":"price","description":"The price of an article.","inputSchema":{"type":"object"}}]}' ;;
    *'"prompts/list"'*) r='{"prompts":[{"name":"offer","description":"Writes an offer.","arguments":[{"name":"article","required":true}]}]}' ;;
    *'"prompts/get"'*) r='{"messages":[{"role":"user","content":{"type":"text","text":"Explain README.md, as the beginning of an offer."}}]}' ;;
    *'"resources/list"'*) r='{"resources":[{"uri":"shop://terms","name":"Terms of sale"}]}' ;;
    *'"resources/read"'*) r='{"contents":[{"uri":"shop://terms","mimeType":"text/plain","text":"Goods are paid for on delivery.\nReturns within 14 days."}]}' ;;
    *) continue ;;
  esac
  [ -n "$id" ] && printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$r"
done
"#;

/// A command of the user's own.
const SIZE_COMMAND: &str = "---
description: How long is a file?
argument-hint: FILE
---
Lines and name: !`wc -l notes.txt`
Explain README.md.
";

/// Writes down what the program tells whoever looks away.
const BELL: &str = r#"{"hooks": {"Notification": [{"hooks": [{"type": "command",
    "command": "sed -n 's/.*\"message\":\"\\([^\"]*\\)\".*/\\1/p' >> bell.txt"}]}]}}"#;

/// A model that asks a question, and goes on with the answer.
const ASKING: [&str; 2] = [
    r#"{"text": "I need to know one thing.", "tools": [{"name": "AskUserQuestion", "input": {"questions": [{
        "question": "Which currency shall the prices be in?", "header": "Currency", "multiSelect": false, "options": [
        {"label": "Euros", "description": "as CLAUDE.md says"},
        {"label": "Pounds", "description": "for the shop in Leeds"}]}]}}]}"#,
    r#"{"text": "Pounds it is."}"#,
];

/// A picture of one pixel.
const PIXEL: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\xdad\xf8\xcfP\x0f\0\x03\x86\x01\x80Z4}k\0\0\0\0IEND\xaeB`\x82";

/// What is in the last line of the screen.
#[derive(PartialEq, Eq)]
enum LastLine {
    Status,
    Hint,
}

/// A project, a terminal in it, and what was captured so far.
struct Album {
    world: World,
    terminal: TestTerminal,
    text: String,
}

impl Album {
    fn new() -> Self {
        let world = World::new();
        world.write("shop/notes.txt", "one\ntwo\n");
        world.write("shop/README.md", "# Shop\nA small shop.\n");
        world.write("shop/CLAUDE.md", "Prices are in euros.\n");
        world.write("shop/dot.png", PIXEL);
        world.write(".claude/commands/size.md", SIZE_COMMAND);
        program(&world, "server", SERVER);
        program(
            &world,
            "editor",
            "#!/bin/sh\nprintf 'explain README.md\\nin one line' > \"$1\"\n",
        );
        let root = world.root().display().to_string();
        let servers = format!(
            r#"{{"mcpServers": {{"shop": {{"command": "{root}/server", "args": ["{root}/gate"]}}}}}}"#
        );
        world.write("servers.json", servers);
        let terminal = start(&world, &["--offline"], None);
        Self {
            world,
            terminal,
            text: HEAD.to_owned(),
        }
    }

    fn folder(&self) -> PathBuf {
        self.world.root().join("shop")
    }

    /// Starts the program anew.
    fn restart(&mut self, args: &[&str]) {
        self.terminal.keys("\u{4}");
        self.terminal.ends();
        let args = [&["--offline"], args].concat();
        self.terminal = start(&self.world, &args, None);
    }

    /// Starts the program anew with another model.
    fn restart_with(&mut self, provider: &Provider) {
        self.terminal.keys("\u{4}");
        self.terminal.ends();
        self.terminal = start(&self.world, &[], Some(provider));
    }

    /// Begins a part.
    fn part(&mut self, heading: &str, about: &str) {
        let _ = write!(self.text, "\n## {heading}\n\n{about}\n");
        // An empty screen to begin with.
        self.terminal.keys("\u{c}");
    }

    fn says(&mut self, line: &str) {
        self.terminal.keys(line);
        self.terminal.sees(line.lines().next().unwrap());
        self.terminal.keys("\r");
    }

    /// Sends a prompt and waits for its end.
    fn asks(&mut self, line: &str) {
        self.says(line);
        self.idle();
    }

    fn idle(&self) {
        self.terminal.until("end of the work", |terminal| {
            let shown = terminal.shown();
            shown.contains("> what should be done?") && !shown.contains("esc to ")
        });
    }

    /// Captures the screen from the last line on that holds this, without the status line.
    fn keep(&mut self, from: &str) {
        self.capture(from, LastLine::Status);
    }

    /// The same, with the hint that is in place of the status line.
    fn keep_with_hint(&mut self, from: &str) {
        self.capture(from, LastLine::Hint);
    }

    fn capture(&mut self, from: &str, last: LastLine) {
        let shown = self.terminal.shown();
        let mut lines: Vec<&str> = shown.trim_end().lines().map(str::trim_end).collect();
        if last == LastLine::Status {
            lines.pop();
        }
        if lines
            .last()
            .is_some_and(|line| line.starts_with("> what should be done?"))
        {
            lines.pop();
        }
        let begin = lines
            .iter()
            .rposition(|line| line.contains(from))
            .unwrap_or(0);
        let text = lines[begin..].join("\n");
        let root = self.world.root().display().to_string();
        let text = text
            .trim_end()
            .replace(&root, "~")
            .replace(&root.replace(['/', '.'], "-"), "-home-user");
        let _ = write!(self.text, "\n```text\n{text}\n```\n");
    }
}

/// A program that is run by the one in the pictures.
fn program(world: &World, name: &str, text: &str) {
    let path = world.write(name, text);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn start(world: &World, args: &[&str], provider: Option<&Provider>) -> TestTerminal {
    let args: Vec<&str> = std::iter::once("chat")
        .chain(args.iter().copied())
        .collect();
    let mut command = command(world, &args, &world.root().join("shop"));
    if let Some(provider) = provider {
        command.env("ANTHROPIC_BASE_URL", provider.url());
        command.env("ANTHROPIC_API_KEY", "any");
    }
    command.env("EDITOR", world.root().join("editor"));
    command.env("SHELL", "/bin/sh");
    let terminal = TestTerminal::start(command, 40, 96);
    terminal.until("first screen", |terminal| {
        let shown = terminal.shown();
        shown.contains("> what should be done?") || shown.contains("Resume:")
    });
    terminal
}

#[test]
#[ignore = "`cargo xtask shots` runs it"]
fn the_habits() {
    let mut album = Album::new();
    in_the_prompt(&mut album);
    commands(&mut album);
    going_back(&mut album);
    pages(&mut album);
    searching(&mut album);
    servers(&mut album);
    asking(&mut album);
    let to = std::env::var_os(FOLDER).expect("`cargo xtask shots` says where the file goes");
    std::fs::write(Path::new(&to).join("chat-screens.md"), &album.text).unwrap();
}

fn in_the_prompt(album: &mut Album) {
    album.part("Shell commands", "`!` runs a command without asking:");
    album.terminal.keys("!wc -l notes.txt");
    album.terminal.sees("enter runs this in the shell");
    album.keep_with_hint("> !wc");
    album.terminal.keys("\r");
    album
        .terminal
        .sees("the model sees this with your next prompt");
    album.idle();
    album.keep("> !wc");

    album.part(
        "Files in a prompt",
        "Paths are completed after `@`, and the files go with the prompt:",
    );
    album.terminal.keys("explain @note");
    album.terminal.sees("@notes.txt");
    album.keep("> explain");
    album.terminal.keys("\t");
    album.terminal.sees("> explain @notes.txt");
    album.terminal.keys("\r");
    album.terminal.sees("attached notes.txt");
    album.idle();
    album.keep("> explain");

    album.part("Earlier prompts", "ctrl-r:");
    album.terminal.keys("\u{12}");
    album.terminal.sees("Earlier prompts");
    album.terminal.keys("wc");
    album.terminal.sees("› !wc -l notes.txt");
    album.keep("Earlier prompts");
    album.terminal.keys("\u{1b}");
    album.terminal.misses("Earlier prompts");

    album.part(
        "The prompt in an editor",
        "ctrl-g; what `$EDITOR` saves is in the prompt:",
    );
    album.terminal.keys("\u{7}");
    album.terminal.sees("in one line");
    album.keep("> explain README.md");
    album.part(
        "Esc twice",
        "At a prompt, it empties it; at an empty one, it goes back:",
    );
    album.terminal.keys("\u{1b}");
    album.terminal.sees("esc again empties the prompt");
    album.keep_with_hint("> explain");
    album.terminal.keys("\u{1b}");
    album.idle();
    album.terminal.keys("\u{1b}");
    album
        .terminal
        .sees("esc again goes back to an earlier message");
    album.terminal.keys("\u{1b}");
    album.terminal.sees("Go back to:");
    album.keep("Go back to:");
    album.terminal.keys("\u{1b}");
    album.idle();

    album.part("Long pastes", "A paste of twelve lines:");
    let paste = "a line\n".repeat(12);
    album
        .terminal
        .keys(&format!("what is this? \u{1b}[200~{paste}\u{1b}[201~"));
    album.terminal.sees("[pasted 12 lines]");
    album.keep("> what is this?");
    album.terminal.keys("\u{3}");
    album.idle();

    album.part(
        "Pictures",
        "ctrl-v, or the path of a picture pasted or dropped:",
    );
    let picture = album.folder().join("dot.png").display().to_string();
    album
        .terminal
        .keys(&format!("see \u{1b}[200~{picture}\u{1b}[201~"));
    album.terminal.sees("1 × 1 pixels");
    album.keep_with_hint("> see");
    album.terminal.keys("\u{3}");
    album.idle();
}

fn commands(album: &mut Album) {
    album.part(
        "Own commands",
        "A command of your own, completed with its hint; what it runs in the shell goes with its text:",
    );
    album.terminal.keys("/siz");
    album.terminal.sees("How long is a file?");
    album.keep("> /siz");
    album.terminal.keys("\u{3}");
    album.idle();
    album.asks("/size");
    album.keep("> /size");

    album.part("How hard the model thinks", "`/effort`:");
    album.asks("/effort high");
    album.keep("> /effort");
}

fn going_back(album: &mut Album) {
    album.restart(&["--permission-mode", "acceptEdits"]);
    album.part(
        "Going back with files",
        "`/rewind`, after the model changed a file:",
    );
    album.asks("replace \"two\" with \"three\" in notes.txt");
    album.says("/rewind");
    album.terminal.sees("Go back to:");
    album.terminal.keys("\r");
    album.terminal.sees("At this message");
    album.keep("At this message");
    album.terminal.keys("1");
    album.terminal.sees("gone back");
    album.keep("gone back");
    album.terminal.keys("\u{3}");
    album.idle();

    album.restart(&["--resume"]);
    album.part("Resuming", "`longhaul chat --resume`:");
    album.terminal.sees("Resume:");
    album.keep("Resume:");
    album.terminal.keys("\u{1b}");
    album.idle();
}

fn pages(album: &mut Album) {
    album.part(
        "Pages",
        "`/permissions`, `/mcp`, `/memory`, `/status`, `/agents` and `/export`:",
    );
    for (line, shows) in [
        ("/permissions", "writes to"),
        ("/mcp", "There are no MCP servers"),
        ("/memory", "CLAUDE.md"),
        ("/status", "Servers"),
        ("/agents", "general-purpose"),
        ("/export", "the conversation is in"),
    ] {
        album.terminal.keys("\u{c}");
        album.says(line);
        album.terminal.sees(shows);
        album.idle();
        album.keep(&format!("> {line}"));
    }
}

fn searching(album: &mut Album) {
    album.part(
        "Searching the web",
        "A search needs your approval, and its costs are among the others:",
    );
    album.says("search the web for tide tables");
    album.terminal.sees("2. yes, and for this session");
    album.keep("> search the web");
    album.terminal.answers("1");
    album.idle();
    album.keep("> search the web");
    album.says("/cost");
    album.terminal.sees("web searches:");
    album.idle();
    album.keep("> /cost");
}

fn asking(album: &mut Album) {
    album.world.write(".claude/settings.json", BELL);
    let provider = Provider::scripted_at_once(
        &ASKING
            .map(|line| line.replace('\n', " "))
            .each_ref()
            .map(|line| line.as_str()),
    );
    album.restart_with(&provider);
    album.part(
        "Questions of the model",
        "`AskUserQuestion`: choose, or say something else:",
    );
    album.says("write down the prices");
    album.terminal.sees("Which currency");
    album.keep("> write down the prices");
    album.terminal.answers("2");
    album.terminal.sees("Pounds it is.");
    album.idle();
    album.keep("> write down the prices");

    album.part(
        "Notification hook",
        "A hook that writes down what it is told, after the question above:",
    );
    album.asks("!cat bell.txt");
    album.keep("> !cat");
}

fn servers(album: &mut Album) {
    let file = album
        .world
        .root()
        .join("servers.json")
        .display()
        .to_string();
    album.restart(&["--mcp-config", &file]);
    album.part(
        "Servers that start",
        "The first prompt does not wait for a slow server; a line says so:",
    );
    album.asks("list *.md");
    album.world.write("gate", "");
    album.terminal.sees("MCP server shop: runs now");
    album.keep("> list *.md");
    album.terminal.keys("\u{c}");
    album.says("/mcp");
    album.terminal.sees("1 resource");
    album.idle();
    album.keep("> /mcp");

    album.part(
        "Prompts of servers",
        "Completed like commands; the server's text goes with what was typed:",
    );
    album.terminal.keys("/mcp__");
    album.terminal.sees("/mcp__shop__offer");
    album.keep("> /mcp__");
    album.terminal.keys("\t");
    album.terminal.sees("> /mcp__shop__offer");
    album.terminal.keys("Lamp\r");
    album.terminal.sees("README.md: ");
    album.idle();
    album.keep("> /mcp__shop__offer");

    album.part("Resources of servers", "`@server:uri`:");
    album.terminal.keys("find small under @shop");
    album.terminal.sees("Terms of sale");
    album.keep("> find small");
    album.terminal.keys("\t");
    album.terminal.sees("@shop:shop://terms");
    album.terminal.keys("\r");
    album.terminal.sees("attached shop:shop://terms");
    album.idle();
    album.keep("> find small");
}
