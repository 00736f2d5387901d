//! The rule that a question offers: calls like this one, and no more than people mean when they say yes to it.

use std::path::Path;

use super::shell::Part;

/// Commands of which no prefix is harmless: they delete, or run whatever stands behind them.
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

/// Programs that run a text given behind these options, and whatever script they are given else.
const INTERPRETERS: &[&str] = &[
    "python", "python2", "python3", "node", "deno", "bun", "perl", "ruby", "php", "lua", "Rscript",
    "tclsh",
];

/// A rule for commands like this part.
pub(super) fn for_command(part: &Part) -> Option<String> {
    let mut words = part.words.iter();
    let first = words.next()?;
    let is_plain = |text: &str| {
        let plain = |character: char| character.is_alphanumeric() || "._-/+@".contains(character);
        !text.is_empty() && text.chars().all(plain)
    };
    let name = first.text.as_str();
    let base = name.rsplit('/').next().unwrap_or(name);
    if !part.assigns.is_empty() || first.raw != *name || !is_plain(name) || NEVER.contains(&base) {
        return None;
    }
    let second = words
        .next()
        .map(|word| (word.raw.as_str(), word.text.as_str()));
    if INTERPRETERS.contains(&base) {
        // With the script's name it is a command; without, it is anything.
        let (raw, text) =
            second.filter(|(raw, text)| raw == text && !text.starts_with('-') && is_plain(text))?;
        return (raw == text).then(|| format!("Bash({name} {text}:*)"));
    }
    match second {
        // A sub-command says more than its program: `cargo test`, `npm run`.
        Some((raw, text))
            if raw == text
                && is_plain(text)
                && !text.starts_with('-')
                && !text.contains(['/', '.']) =>
        {
            Some(format!("Bash({name} {text}:*)"))
        }
        _ => Some(format!("Bash({name}:*)")),
    }
}

/// A rule for files beside this one.
pub(super) fn for_path(tool: &str, path: &Path, cwd: &Path) -> Option<String> {
    let folder = if path.is_dir() { path } else { path.parent()? };
    // Folders with characters that mean something in patterns cannot be named exactly.
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
