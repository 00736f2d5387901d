//! The list of skills in the tool's definition, with a limited number of characters: it is paid for in every request.

use longhaul_core::normalize::fragment::fill;

use super::Skill;
use crate::tools::definition::one_line;

/// The maximum number of characters of the list.
pub(crate) const LISTING_CHARACTERS: usize = 15_000;

/// The maximum length of a description, however much space there is.
const LONGEST: usize = 1_000;
/// Space for the line that says how many skills are left out.
const MORE: usize = 80;

/// A line for each skill.
pub(super) fn list(skills: &[&Skill], characters: usize) -> String {
    // A binary search finds the longest descriptions that fit; all are cut at the same length, so short ones stay
    // whole.
    let (mut fits, mut too_long) = (0, LONGEST + 1);
    while fits + 1 < too_long {
        let middle = fits.midpoint(too_long);
        if count(&lines(skills, middle)) <= characters {
            fits = middle
        } else {
            too_long = middle
        }
    }
    let mut lines = lines(skills, fits);
    if count(&lines) > characters {
        let room = characters.saturating_sub(MORE);
        let fit = (0..=lines.len())
            .rev()
            .find(|&fit| count(&lines[..fit]) <= room);
        let left_out = (lines.len() - fit.unwrap_or_default()).to_string();
        lines.truncate(fit.unwrap_or_default());
        let more = fill(include_str!("fragments/more.md"), &[("count", &left_out)]);
        lines.push(more);
    }
    lines.join("\n")
}

fn lines(skills: &[&Skill], longest: usize) -> Vec<String> {
    let line = |skill: &&Skill| {
        let name = one_line(&skill.name, 64);
        // Descriptions may span several lines; here they become one.
        let words: Vec<&str> = skill.description.split_whitespace().collect();
        match (longest, words.join(" ")) {
            (0, _) => format!("- {name}"),
            (_, words) if words.is_empty() => format!("- {name}"),
            (longest, words) => format!("- {name}: {}", one_line(&words, longest)),
        }
    };
    skills.iter().map(line).collect()
}

fn count(lines: &[String]) -> usize {
    lines.iter().map(|line| line.chars().count() + 1).sum()
}
