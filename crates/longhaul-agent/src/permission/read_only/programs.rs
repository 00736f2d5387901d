//! The read-only programs, and which of their options do more than read.

use super::git;

/// Commands whose arguments are options, texts and files to read.
pub(super) const LOOKING: &[&str] = &[
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

/// Commands whose arguments are not files.
pub(super) const TALKING: &[&str] = &[
    "echo", "printf", "true", "false", ":", "tr", "whoami", "uname", "nproc", "sleep", "exit",
    "break", "continue", "which", "type", "basename", "dirname", "pwd",
];

/// Options that write, run, follow links or read a list of files; also abbreviated (`--outp`), as many programs accept
/// them.
pub(super) fn forbidden(name: &str) -> &'static [&'static str] {
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
        "ls" => &[
            "-L",
            "-H",
            "--dereference",
            "--dereference-command-line",
            "--dereference-command-line-symlink-to-dir",
        ],
        "stat" => &["-L", "--dereference"],
        "wc" => &["--files0-from"],
        "du" => &[
            "--files0-from",
            "-L",
            "-D",
            "-H",
            "--dereference",
            "--dereference-args",
        ],
        "tree" => &["-o", "--output", "-l", "-R"],
        "date" => &["-s", "--set", "-f", "--file"],
        "diff" => &["-l", "--paginate"],
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
        "md5sum" | "sha1sum" | "sha256sum" => &["-c", "--check"],
        "printf" => &["-v"],
        "tail" => &["-f", "-F", "--follow", "--retry"],
        "git" => git::FORBIDDEN,
        _ => &[],
    }
}

/// Whether a word is a forbidden option, an abbreviation of one, or one with a value attached.
pub(super) fn is_forbidden(word: &str, forbidden: &[&str]) -> bool {
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
