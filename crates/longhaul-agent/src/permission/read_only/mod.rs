//! Read-only commands, which may run without asking inside the workspace. The list is short on purpose: the user is
//! asked about any other command, and can allow it with a rule.

mod arguments;
pub(crate) mod git;
mod programs;
mod variables;

use std::path::PathBuf;

use super::folders::CommandFolders;
use super::recursion;
use super::shell::{ShellScript, ShellWord, SimpleCommand, is_plain_test};
use super::workspace::ReadableWorkspace;
use arguments::{is_tame, stays_inside};
use programs::{LOOKING, TALKING, forbidden, is_forbidden};

pub(crate) use arguments::{is_sink, possible_files};
pub(crate) use variables::{is_harmless_in_env, is_harmless_variable};

/// Whether a program on the list reads the files that its arguments name.
pub(crate) fn reads_its_arguments(name: &str) -> bool {
    LOOKING.contains(&name) && !TALKING.contains(&name) && name != "cd"
}

/// Whether a command as a whole is read-only, and stays inside the workspace.
pub(crate) fn is_read_only(
    script: &ShellScript,
    folders: &CommandFolders,
    workspace: &ReadableWorkspace,
) -> bool {
    let Some(folders) = folders.certain() else {
        return false;
    };
    script.unclear.is_none()
        && script
            .parts
            .iter()
            .all(|part| only_looks(part, folders, workspace))
        && script
            .reads
            .iter()
            .all(|word| stays_inside(word, folders, workspace))
        && script.writes.iter().all(is_sink)
        && script.sets.iter().all(|name| is_harmless_variable(name))
}

/// Whether one part is read-only, in whichever of these folders it runs.
pub(crate) fn only_looks(
    part: &SimpleCommand,
    folders: &[PathBuf],
    workspace: &ReadableWorkspace,
) -> bool {
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
        "git" => git::looks_around(part, folders),
        "sed" => prints_lines(arguments),
        // They write to their second file.
        "uniq" | "hostname" | "date" => arguments
            .iter()
            .all(|word| word.text.starts_with(['-', '+']) && word.text != "--"),
        "test" => is_plain_test(arguments),
        "[" => false,
        "printf" => prints_plainly(arguments),
        // `@file` stands for the arguments in the file.
        "strings" => !arguments.iter().any(|word| word.text.contains('@')),
        "diff" => recursion::stays_inside(part, folders, workspace),
        _ => true,
    };
    fits && if TALKING.contains(&name) {
        arguments
            .iter()
            .all(|word| is_tame(word, folders, workspace))
    } else {
        arguments
            .iter()
            .all(|word| stays_inside(word, folders, workspace))
    }
}

/// Whether the format of a `printf` only prints: `%n` sets a variable.
fn prints_plainly(arguments: &[ShellWord]) -> bool {
    let is_plain = |conversion: &str| {
        let kind = conversion.trim_start_matches(|character: char| {
            character.is_ascii_digit() || "-+ #0.".contains(character)
        });
        kind.starts_with([
            's', 'd', 'i', 'u', 'o', 'x', 'X', 'c', 'b', 'e', 'f', 'g', 'q',
        ])
    };
    let format = arguments.iter().find(|word| word.text != "--");
    format.is_none_or(|format| {
        !format.glob
            && format
                .text
                .replace("%%", "")
                .split('%')
                .skip(1)
                .all(is_plain)
    })
}

/// Whether this is `sed -n '10,20p' file`. Other uses of sed may write files and run programs.
fn prints_lines(arguments: &[ShellWord]) -> bool {
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
