//! A skill's instructions: its file without the front matter, with the arguments filled in.

use longhaul_core::normalize::fragment::fill;
use longhaul_core::prompt::memory::without_front_matter;

use super::Skill;
use crate::own_command::{CommandPart, parts};
use crate::tools::definition::beginning;

/// The maximum length of the instructions, in characters.
const LONGEST: usize = 100_000;
/// The placeholder for the arguments.
const ARGUMENTS: &str = "$ARGUMENTS";

/// Stands where the instructions go while the words around them are made. Files have no such character.
const GAP: &str = "\u{0}";

/// The text for the model, with its commands for the shell; an error says why it cannot be read.
pub(super) async fn read(skill: &Skill, args: &str) -> Result<Vec<CommandPart>, String> {
    let real = skill.real.clone();
    let text = tokio::task::spawn_blocking(move || longhaul::text_of(&real)).await;
    let text = text.map_err(|error| error.to_string())??;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let text = without_front_matter(text).trim().replace(GAP, " ");
    let cut = beginning(&text, LONGEST);
    let body = cut.unwrap_or(&text);
    let mut around = match cut {
        Some(_) => fill(
            include_str!("fragments/cut.md"),
            &[("body", GAP), ("file", &skill.file.display().to_string())],
        ),
        None => GAP.to_owned(),
    };
    if !body.contains(ARGUMENTS) && !args.is_empty() {
        let gaps = [("body", &*around), ("args", args)];
        around = fill(include_str!("fragments/arguments.md"), &gaps);
    }
    let folder = skill.folder.display().to_string();
    let gaps = [
        ("name", &*skill.name),
        ("folder", &folder),
        ("body", &around),
    ];
    let around = fill(include_str!("fragments/loaded.md"), &gaps);
    let (before, after) = around.split_once(GAP).unwrap_or((&around, ""));
    // Arguments are filled in last: what is in them is no command for the shell.
    let filled = parts(body).into_iter().map(|part| match part {
        CommandPart::Text(text) => CommandPart::Text(text.replace(ARGUMENTS, args)),
        CommandPart::Shell(command) => CommandPart::Shell(command.replace(ARGUMENTS, args)),
    });
    let text = |text: &str| (!text.is_empty()).then(|| CommandPart::Text(text.to_owned()));
    Ok(text(before)
        .into_iter()
        .chain(filled)
        .chain(text(after))
        .collect())
}
