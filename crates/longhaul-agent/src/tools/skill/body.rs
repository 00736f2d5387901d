//! A skill's instructions: its file without the front matter, with the arguments filled in.

use longhaul_core::normalize::fragment::fill;
use longhaul_core::prompt::memory::without_front_matter;

use super::Skill;
use crate::tools::definition::beginning;

/// The maximum length of the instructions, in characters.
const LONGEST: usize = 100_000;
/// The placeholder for the arguments.
const ARGUMENTS: &str = "$ARGUMENTS";

/// The text for the model; an error says why it cannot be read.
pub(super) async fn read(skill: &Skill, args: &str) -> Result<String, String> {
    let real = skill.real.clone();
    let text = tokio::task::spawn_blocking(move || longhaul::text_of(&real)).await;
    let text = text.map_err(|error| error.to_string())??;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let text = without_front_matter(text).trim();
    let cut = beginning(text, LONGEST);
    let body = match cut {
        Some(beginning) => fill(
            include_str!("fragments/cut.md"),
            &[
                ("body", beginning),
                ("file", &skill.file.display().to_string()),
            ],
        ),
        None => text.to_owned(),
    };
    let body = match (body.contains(ARGUMENTS), args.is_empty()) {
        (true, _) => body.replace(ARGUMENTS, args),
        (false, true) => body,
        (false, false) => fill(
            include_str!("fragments/arguments.md"),
            &[("body", &body), ("args", args)],
        ),
    };
    let folder = skill.folder.display().to_string();
    let gaps = [("name", &*skill.name), ("folder", &folder), ("body", &body)];
    Ok(fill(include_str!("fragments/loaded.md"), &gaps))
}
