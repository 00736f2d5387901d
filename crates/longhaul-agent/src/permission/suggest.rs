//! The rule that a question offers: it allows similar calls, and no more than people mean when they agree to this one.

use std::path::Path;

use super::read_only::is_harmless_in_env;
use super::shell::{ShellWord, SimpleCommand, reachable, without_timing};

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

/// How commands begin that build and test the current project: whoever agrees to one agrees to run the project's code,
/// whatever words follow. Other programs can be told by an option, a script or a file to run any program or to write
/// any file (`sed 1e…`, `git -c`, `tar --to-command`, `make SHELL=…`, `go test -exec`), so agreeing to one of their
/// commands means this command alone.
const BUILDING: &[&[&str]] = &[
    &["cargo", "bench"],
    &["cargo", "build"],
    &["cargo", "check"],
    &["cargo", "clippy"],
    &["cargo", "doc"],
    &["cargo", "fmt"],
    &["cargo", "test"],
    &["cargo", "tree"],
    &["pytest"],
    &["python", "-m", "pytest"],
    &["python3", "-m", "pytest"],
];

/// Variables that make any program load code, or decide which program a name means.
const LOADING: &[&str] = &["PATH", "BASH_ENV", "ENV", "IFS"];
const LOADING_PREFIXES: &[&str] = &["LD_", "DYLD_", "BASH_FUNC"];

/// The maximum length of an offered rule: nobody reads more.
const LONGEST: usize = 200;

/// A rule for commands that begin like this part, which is all of a command that needs consent. Only where no word
/// after the beginning can do more than people expect.
pub(super) fn for_part(part: &SimpleCommand) -> Option<String> {
    let core = without_timing(part);
    let begins = |beginning: &&&[&str]| {
        let words = core.words.iter().take(beginning.len());
        words.len() == beginning.len()
            && words
                .zip(beginning.iter())
                .all(|(word, expected)| word.raw == word.text && word.text == *expected)
    };
    let harmless = part
        .assigns
        .iter()
        .all(|(name, _)| is_harmless_in_env(name));
    let beginning = BUILDING.iter().find(begins).filter(|_| harmless)?;
    Some(format!("Bash({}:*)", beginning.join(" ")))
}

/// A rule for exactly this command, whose simple commands are `parts`. There is none for commands that delete or run
/// whatever follows them, none where the text does not say what would run, and none that nobody would read; the error
/// says which.
pub(super) fn for_command(command: &str, parts: &[SimpleCommand]) -> Result<String, String> {
    let command = command.trim();
    if command.chars().count() > LONGEST {
        return Err(format!("it has more than {LONGEST} characters"));
    }
    if command.contains(char::is_control) {
        return Err("it has several lines".to_owned());
    }
    for part in parts {
        says_what_runs(part)?;
    }
    if command.is_empty() || command.contains('*') || command.ends_with(':') {
        return Err("its signs mean something else in a rule".to_owned());
    }
    Ok(format!("Bash({command})"))
}

/// Whether a part is certain to the last word, and starts nothing that is always asked about.
fn says_what_runs(part: &SimpleCommand) -> Result<(), String> {
    let loads = |name: &str| {
        LOADING.contains(&name)
            || LOADING_PREFIXES
                .iter()
                .any(|prefix| name.starts_with(prefix))
    };
    let unknown = |raw: &str| format!("only the shell knows what {raw} becomes");
    for (name, raw) in &part.assigns {
        if loads(name) {
            return Err(format!("{name} makes programs load code"));
        }
        if raw.contains(['$', '`']) {
            return Err(unknown(raw));
        }
    }
    let core = without_timing(part);
    let is_known = |word: &&ShellWord| word.is_known() && !word.glob;
    if let Some(word) = core.words.iter().find(|word| !is_known(word)) {
        return Err(unknown(&word.raw));
    }
    if let Some(first) = core.words.first() {
        let plain = |character: char| character.is_alphanumeric() || "._-/+@[".contains(character);
        if first.raw != first.text || first.text.is_empty() || !first.text.chars().all(plain) {
            return Err(unknown(&first.raw));
        }
    }
    if runs_text(&core) {
        let name = core.name();
        return Err(format!("{name} would run a text or its input as a program"));
    }
    let name = |command: &SimpleCommand| {
        let name = command.name();
        name.rsplit('/').next().unwrap_or(name).to_owned()
    };
    let mut names = reachable(&core).into_iter().map(|command| name(&command));
    match names.find(|name| NEVER.contains(&name.as_str())) {
        Some(name) => Err(format!("{name} is always asked about")),
        None => Ok(()),
    }
}

/// Whether an interpreter gets a program as an option, or as its input.
fn runs_text(part: &SimpleCommand) -> bool {
    let name = part.name();
    let base = name.rsplit('/').next().unwrap_or(name);
    if !INTERPRETERS.contains(&base) {
        return false;
    }
    let word = |at: usize| part.words.get(at).map(|word| word.text.as_str());
    match word(1) {
        // `python -m pytest` names a program, as `pytest` does.
        Some("-m") => word(2).is_none_or(|module| module.starts_with('-')),
        // `node --test` runs the tests of the project.
        Some("--test" | "--version") => false,
        Some(first) => first.starts_with('-'),
        None => true,
    }
}

/// A rule for this file; for a folder, a rule for the files in it.
pub(super) fn for_path(tool: &str, path: &Path, cwd: &Path) -> Option<String> {
    let end = if path.is_dir() { "/**" } else { "" };
    // Paths with characters that have a meaning in patterns cannot be named exactly.
    let inside = path.strip_prefix(cwd).ok().map(|below| below.to_str());
    let named = match inside {
        Some(Some("")) => ".".to_owned(),
        Some(below) => format!("./{}", below?),
        None if path.parent().is_none() => return None,
        None => format!("/{}", path.to_str()?),
    };
    (!named.contains(['*', '?', '[', ']', '{', '}', '(', ')', '\\', '!', '#'])
        && !named.contains(char::is_control)
        && !named.ends_with(' '))
    .then(|| format!("{tool}({named}{end})"))
}
