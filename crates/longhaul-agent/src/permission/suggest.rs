//! The rule that a question offers: it allows similar calls, and no more than people mean when they agree to this one.

use std::path::Path;

use super::shell::SimpleCommand;

/// Commands that are always asked about: they delete, or run whatever follows them.
const NEVER: &[&str] = &[
    "sudo",
    "doas",
    "su",
    "rm",
    "rmdir",
    "dd",
    "mkfs",
    "shred",
    "chmod",
    "chown",
    "kill",
    "pkill",
    "killall",
    "sh",
    "bash",
    "zsh",
    "dash",
    "ksh",
    "fish",
    "env",
    "xargs",
    "eval",
    "exec",
    "source",
    ".",
    "command",
    "builtin",
    "find",
    "fd",
    "ssh",
    "scp",
    "curl",
    "wget",
    "nc",
    "ncat",
    "telnet",
    "alias",
    "export",
    "trap",
    "nohup",
    "time",
    "timeout",
    "nice",
    "watch",
    "parallel",
    "busybox",
    "awk",
    "gawk",
    "osascript",
    "powershell",
    "pwsh",
    "reboot",
    "shutdown",
    "chroot",
    "strace",
    "script",
    "tee",
    "mv",
    "ln",
];

/// Programs that run a text given after an option, or their input.
const INTERPRETERS: &[&str] = &[
    "python", "python2", "python3", "node", "deno", "bun", "perl", "ruby", "php", "lua", "Rscript",
    "tclsh",
];

/// Sub-commands that build and test the current project: whoever agrees to one agrees to run the project's code,
/// whatever words follow. Other programs can be told by an option, a script or a file to run any program or to write
/// any file (`sed 1e…`, `git -c`, `tar --to-command`, `make SHELL=…`), so agreeing to one of their commands means this
/// command alone.
const BUILDING: &[(&str, &[&str])] = &[(
    "cargo",
    &[
        "bench", "build", "check", "clippy", "doc", "fmt", "test", "tree",
    ],
)];

/// The maximum length of an offered rule: nobody reads more.
const LONGEST: usize = 120;

/// A rule for commands like this part.
pub(super) fn for_command(part: &SimpleCommand) -> Option<String> {
    let first = part.words.first()?;
    let is_plain = |text: &str| {
        let plain =
            |character: char| character.is_alphanumeric() || "._-/+@=:,%".contains(character);
        !text.is_empty() && text.chars().all(plain)
    };
    let name = first.text.as_str();
    let base = name.rsplit('/').next().unwrap_or(name);
    let as_written = part
        .words
        .iter()
        .all(|word| word.raw == word.text && is_plain(&word.text));
    if !part.assigns.is_empty() || first.raw != *name || !is_plain(name) || NEVER.contains(&base) {
        return None;
    }
    let sub_command = part.words.get(1).filter(|word| word.raw == word.text);
    let builds = BUILDING
        .iter()
        .find(|(program, _)| *program == name)
        .zip(sub_command)
        .filter(|((_, commands), word)| commands.contains(&word.text.as_str()));
    if let Some((_, word)) = builds {
        return Some(format!("Bash({name} {}:*)", word.text));
    }
    let whole = part.text();
    let runs_text = INTERPRETERS.contains(&base)
        && part
            .words
            .get(1)
            .is_none_or(|word| word.text.starts_with('-'));
    (as_written && !runs_text && whole.len() <= LONGEST && !whole.ends_with(':'))
        .then(|| format!("Bash({whole})"))
}

/// A rule for the files in the folder of this one.
pub(super) fn for_path(tool: &str, path: &Path, cwd: &Path) -> Option<String> {
    let folder = if path.is_dir() { path } else { path.parent()? };
    // Folders with characters that have a meaning in patterns cannot be named exactly.
    let inside = folder.strip_prefix(cwd).ok().map(|below| below.to_str());
    let text = match inside {
        Some(Some("")) => "./**".to_owned(),
        Some(below) => format!("./{}/**", below?),
        None if folder.parent().is_none() => return None,
        None => format!("/{}/**", folder.to_str()?),
    };
    let folder = text.trim_end_matches("**");
    (!folder.contains(['*', '?', '[', ']', '{', '}', '(', ')', '\\', '!', '#'])
        && !folder.contains(char::is_control))
    .then(|| format!("{tool}({text})"))
}
