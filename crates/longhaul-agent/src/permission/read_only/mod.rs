//! Commands that only look, and so may run unasked inside the workspace. A short list on purpose: a command that is not
//! on it is asked for, and a rule of the user can allow it.

pub(crate) mod git;

use std::path::PathBuf;

use super::paths::Located;
use super::shell::{Part, Script, Word};
use super::workspace::Workspace;

/// Commands whose arguments are options, texts and files to read.
const LOOKING: &[&str] = &[
    "ls",
    "cat",
    "head",
    "tail",
    "wc",
    "pwd",
    "echo",
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "find",
    "stat",
    "du",
    "file",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "which",
    "type",
    "true",
    "false",
    ":",
    "cut",
    "tr",
    "nl",
    "tac",
    "rev",
    "cmp",
    "diff",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "od",
    "hexdump",
    "strings",
    "printf",
    "test",
    "[",
    "sort",
    "uniq",
    "sed",
    "date",
    "whoami",
    "id",
    "uname",
    "hostname",
    "nproc",
    "sleep",
    "tree",
    "cd",
    "git",
    "exit",
    "break",
    "continue",
];

/// Those of them that do not read what a wildcard may lead to: they show names.
const NAMING: &[&str] = &[
    "ls", "echo", "find", "stat", "du", "basename", "dirname", "printf",
];

/// Those whose arguments are no files.
const TALKING: &[&str] = &[
    "echo", "printf", "true", "false", ":", "tr", "whoami", "uname", "nproc", "sleep", "exit",
    "break", "continue", "which", "type", "basename", "dirname", "pwd",
];

/// Options that write, run, or read a list of files; also in short (`--outp`), as many programs take them.
fn forbidden(name: &str) -> &'static [&'static str] {
    match name {
        "find" => &[
            "-exec",
            "-execdir",
            "-ok",
            "-okdir",
            "-delete",
            "-fprint",
            "-fprint0",
            "-fprintf",
            "-fls",
            "-files0-from",
            "-L",
            "-follow",
            "-H",
        ],
        "rg" => &[
            "--pre",
            "--pre-glob",
            "--hostname-bin",
            "--follow",
            "-L",
            "-z",
            "--search-zip",
        ],
        "grep" | "egrep" | "fgrep" => &["-R", "--dereference-recursive"],
        "sort" => &[
            "-o",
            "--output",
            "--compress-program",
            "--files0-from",
            "-T",
            "--temporary-directory",
        ],
        "wc" | "du" => &["--files0-from"],
        "tree" => &["-o", "--output", "-l", "-R"],
        "date" => &["-s", "--set", "-f", "--file"],
        "file" => &[
            "-C",
            "--compile",
            "-f",
            "--files-from",
            "-z",
            "-Z",
            "--uncompress",
        ],
        "hostname" => &["-F", "--file", "-b", "--boot"],
        "printf" => &["-v"],
        "tail" => &["-f", "-F", "--follow", "--retry"],
        "git" => git::FORBIDDEN,
        _ => &[],
    }
}

/// Whether a command as a whole only looks, and only inside the workspace.
pub(crate) fn is_read_only(script: &Script, workspace: &Workspace) -> bool {
    let Some(bases) = bases(script, workspace) else {
        return false;
    };
    script.unclear.is_none()
        && script
            .parts
            .iter()
            .all(|part| only_looks(part, &bases, workspace))
        && script
            .reads
            .iter()
            .all(|word| stays_inside(word, &bases, workspace))
        && script.writes.iter().all(is_sink)
        && script.sets.iter().all(|name| is_harmless_variable(name))
}

/// The folders in which parts of a command may find themselves. None if that cannot be told.
pub(crate) fn bases(script: &Script, workspace: &Workspace) -> Option<Vec<PathBuf>> {
    let mut bases = vec![workspace.cwd.clone()];
    let moves = script.parts.iter().filter(|part| part.name() == "cd");
    for part in moves {
        let [_, folder] = part.words.as_slice() else {
            return None;
        };
        if !folder.is_known()
            || folder.tilde
            || folder.glob
            || folder.text.starts_with('-')
            || bases.len() > 8
        {
            return None;
        }
        let further: Vec<PathBuf> = bases.iter().map(|base| base.join(&folder.text)).collect();
        bases.extend(further);
    }
    // A repository of another folder has settings of its own, and they can make git run programs.
    let moves_git = bases.len() > 1 && script.parts.iter().any(|part| part.name() == "git");
    (!moves_git).then_some(bases)
}

/// Whether one part only looks.
pub(crate) fn only_looks(part: &Part, bases: &[PathBuf], workspace: &Workspace) -> bool {
    let Some((command, arguments)) = part.words.split_first() else {
        return part
            .assigns
            .iter()
            .all(|(name, _)| is_harmless_variable(name));
    };
    let name = command.text.as_str();
    if command.raw != name
        || !LOOKING.contains(&name)
        || !part
            .assigns
            .iter()
            .all(|(name, _)| is_harmless_in_env(name))
    {
        return false;
    }
    if arguments
        .iter()
        .any(|word| !word.is_known() || is_forbidden(&word.text, forbidden(name)))
    {
        return false;
    }
    let fits = match name {
        "git" => git::looks_around(part, bases),
        "sed" => prints_lines(arguments),
        "uniq" | "hostname" | "date" => arguments
            .iter()
            .all(|word| word.text.starts_with(['-', '+'])),
        "test" | "[" => !arguments
            .iter()
            .any(|word| word.text.contains('[') || word.text == "-v"),
        _ => true,
    };
    fits && (TALKING.contains(&name)
        || arguments
            .iter()
            .all(|word| is_fine(word, name, bases, workspace)))
}

fn is_fine(word: &Word, name: &str, bases: &[PathBuf], workspace: &Workspace) -> bool {
    let text = word.text.as_str();
    if word.glob && (!NAMING.contains(&name) || text.contains("..")) && word.raw == text {
        return false;
    }
    if let Some(option) = text.strip_prefix('-') {
        // A value that hangs on an option may be a file: `-f/etc/passwd`, `--file=/etc/passwd`.
        return match option.split_once('=') {
            Some((option, value)) => {
                !option.contains('/') && stays_inside(&Word::plain(value), bases, workspace)
            }
            None => !option.contains(['/', '~']),
        };
    }
    stays_inside(word, bases, workspace)
}

/// Whether a word, if it is a path, leads nowhere outside of the workspace.
fn stays_inside(word: &Word, bases: &[PathBuf], workspace: &Workspace) -> bool {
    if is_sink(word) {
        return true;
    }
    let fixed = word.text.split(['*', '?', '[']).next().unwrap_or_default();
    let path = if word.glob { fixed } else { &word.text };
    let inside = |base: &PathBuf| workspace.may_read(&Located::find(&base.join(path)));
    word.is_known() && !word.tilde && !word.text.starts_with('~') && bases.iter().all(inside)
}

/// Files that swallow what is written to them.
pub(crate) fn is_sink(word: &Word) -> bool {
    ["/dev/null", "/dev/stdout", "/dev/stderr"].contains(&word.text.as_str())
}

/// `-name`, its short forms, and what hangs on it.
fn is_forbidden(word: &str, forbidden: &[&str]) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    forbidden
        .iter()
        .any(|option| match option.strip_prefix("--") {
            Some(_) => name.len() > 2 && name.starts_with("--") && option.starts_with(name),
            None if option.len() == 2 => {
                let letter = option.as_bytes()[1];
                word.starts_with('-')
                    && !word.starts_with("--")
                    && word.as_bytes().contains(&letter)
            }
            None => word == *option,
        })
}

/// `sed -n '10,20p' file`: all else that sed can do includes writing files and running programs.
fn prints_lines(arguments: &[Word]) -> bool {
    let [quiet, script, files @ ..] = arguments else {
        return false;
    };
    let lines = script.text.strip_suffix('p').unwrap_or_default();
    let are_lines = !lines.is_empty()
        && lines
            .chars()
            .all(|character| character.is_ascii_digit() || ",$".contains(character));
    quiet.text == "-n" && are_lines && files.iter().all(|word| !word.text.starts_with('-'))
}

/// Variables of the script itself. Names in capitals may be those that programs listen to.
pub(crate) fn is_harmless_variable(name: &str) -> bool {
    let is_own = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    !name.is_empty() && name.bytes().all(is_own) && !name.ends_with("proxy")
}

/// Variables that change how a command looks, not what it does.
pub(crate) fn is_harmless_in_env(name: &str) -> bool {
    const HARMLESS: &[&str] = &[
        "CI",
        "COLUMNS",
        "CARGO_TERM_COLOR",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "FORCE_COLOR",
        "LANG",
        "LC_ALL",
        "LC_CTYPE",
        "NO_COLOR",
        "NODE_ENV",
        "PYTHONDONTWRITEBYTECODE",
        "PYTHONUNBUFFERED",
        "RUST_BACKTRACE",
        "RUST_LOG",
        "TERM",
        "TZ",
    ];
    HARMLESS.contains(&name)
}
