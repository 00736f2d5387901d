//! Which commands a command would start by itself: `sudo rm`, `xargs rm`, `sh -c 'rm …'`. This is for rules that
//! forbid: it finds too many rather than too few.

use super::word::ShellWord;
use super::{SimpleCommand, read};

/// Programs that start what their arguments name, after options that differ from one program to the next.
const STARTERS: &[&str] = &[
    "sudo",
    "doas",
    "env",
    "command",
    "builtin",
    "exec",
    "nohup",
    "time",
    "nice",
    "ionice",
    "timeout",
    "gtimeout",
    "stdbuf",
    "setsid",
    "xargs",
    "watch",
    "strace",
    "ltrace",
    "chroot",
    "su",
    "busybox",
    "toybox",
    "coproc",
    "caffeinate",
    "parallel",
    "unshare",
    "nsenter",
    "flock",
    "script",
    "chrt",
    "taskset",
    "find",
    "fd",
    "ssh",
    "runuser",
    "systemd-run",
    "entr",
    "unbuffer",
    "dbus-run-session",
    "torsocks",
    "proxychains",
    "rlwrap",
    "setpriv",
    "prlimit",
    "!",
    "then",
    "do",
    "else",
];
const SHELLS: &[&str] = &[
    "sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "rbash",
];
const MOST: usize = 256;
/// The maximum number of a starter's options.
const MOST_OPTIONS: usize = 32;

/// A part and everything that it would start, as far as its words show. A part of one [`ShellWord::anything`] stands
/// for what they do not show.
pub(crate) fn reachable(part: &SimpleCommand) -> Vec<SimpleCommand> {
    let mut found = vec![part.clone()];
    let mut next = 0;
    while next < found.len() {
        if found.len() > MOST {
            found.push(anything());
            break;
        }
        for part in started_by(&found[next]) {
            if found.len() <= MOST && !found.contains(&part) {
                found.push(part);
            }
        }
        next += 1;
    }
    found
}

/// A part without `time`, `nohup`, `nice` and `timeout 30` before it: they change when a command runs, not what it
/// does.
pub(crate) fn without_timing(part: &SimpleCommand) -> SimpleCommand {
    let mut words = part.words.as_slice();
    loop {
        let texts: Vec<&str> = words
            .iter()
            .take(2)
            .map(|word| word.text.as_str())
            .collect();
        words = match texts.as_slice() {
            ["time" | "nohup" | "nice", next] if !next.starts_with('-') => &words[1..],
            ["timeout", next]
                if next.starts_with(|first: char| first.is_ascii_digit()) && words.len() > 2 =>
            {
                &words[2..]
            }
            _ => break,
        };
    }
    SimpleCommand {
        assigns: part.assigns.clone(),
        words: words.to_vec(),
    }
}

fn anything() -> SimpleCommand {
    SimpleCommand {
        assigns: Vec::new(),
        words: vec![ShellWord::anything()],
    }
}

fn of_words(words: &[ShellWord]) -> SimpleCommand {
    SimpleCommand {
        assigns: Vec::new(),
        words: words.to_vec(),
    }
}

fn started_by(part: &SimpleCommand) -> Vec<SimpleCommand> {
    let mut found = Vec::new();
    let Some((first, rest)) = part.words.split_first() else {
        return found;
    };
    let name = first.text.rsplit('/').next().unwrap_or_default();
    if name != first.text {
        let mut words = part.words.clone();
        words[0] = ShellWord::plain(name);
        found.push(of_words(&words));
    }
    match name {
        "git" => found.extend(without_git_options(rest)),
        "eval" => {
            let text: Vec<&str> = rest.iter().map(|word| word.text.as_str()).collect();
            found.extend(parts_of(&text.join(" ")));
        }
        "trap" => found.extend(rest.iter().take(1).flat_map(|word| parts_of(&word.text))),
        "alias" => found.push(anything()),
        "source" | "."
            if rest
                .iter()
                .any(|word| !word.is_known() || word.text.starts_with("/dev/")) =>
        {
            found.push(anything());
        }
        _ if SHELLS.contains(&name) => found.extend(of_shell(rest)),
        _ if STARTERS.contains(&name) => {
            found.extend((0..rest.len().min(MOST_OPTIONS)).map(|from| of_words(&rest[from..])));
            if rest.len() > MOST_OPTIONS
                && rest
                    .iter()
                    .any(|word| STARTERS.contains(&word.text.as_str()))
            {
                found.push(anything());
            }
            let scripts = rest
                .iter()
                .filter(|word| word.text.contains(char::is_whitespace));
            found.extend(scripts.flat_map(|word| parts_of(&word.text)));
        }
        _ => {}
    }
    found
}

/// The commands that a text runs if a shell reads it.
fn parts_of(text: &str) -> Vec<SimpleCommand> {
    if text.contains(super::HOLE) {
        return vec![anything()];
    }
    let script = read(text);
    let mut parts = script.parts;
    if script.unclear.is_some() {
        parts.push(anything());
    }
    parts
}

/// What a shell runs: `sh -c 'text'` runs the text, `sh` alone its input, `sh file` is a program like any other.
fn of_shell(arguments: &[ShellWord]) -> Vec<SimpleCommand> {
    let is_option = |word: &&ShellWord| word.text.starts_with(['-', '+']);
    let takes_text = |word: &&ShellWord| {
        word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains('c')
    };
    if arguments
        .iter()
        .take_while(is_option)
        .any(|word| takes_text(&word))
        || arguments.iter().any(|word| takes_text(&word))
    {
        let texts = arguments.iter().filter(|word| !is_option(word));
        return texts.flat_map(|word| parts_of(&word.text)).collect();
    }
    match arguments.iter().find(|word| !is_option(word)) {
        Some(file) if file.is_known() && !file.text.starts_with("/dev/") => Vec::new(),
        _ => vec![anything()],
    }
}

/// Removes git's global options: `git -C folder push` is `git push` to a rule.
fn without_git_options(arguments: &[ShellWord]) -> Option<SimpleCommand> {
    let with_value = [
        "-C",
        "-c",
        "--git-dir",
        "--work-tree",
        "--namespace",
        "--exec-path",
        "--config-env",
        "--super-prefix",
    ];
    let mut at = 0;
    while let Some(word) = arguments.get(at).filter(|word| word.text.starts_with('-')) {
        at += if with_value.contains(&word.text.as_str()) {
            2
        } else {
            1
        };
    }
    let rest = arguments.get(at..).filter(|_| at > 0)?;
    let mut words = vec![ShellWord::plain("git")];
    words.extend_from_slice(rest);
    Some(of_words(&words))
}
