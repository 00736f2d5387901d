//! Answers: short, and made of what was really seen. Anything that could not be obtained is mentioned with the reason.
//! The pieces are made in `telling`.

use longhaul_core::figures::counted;

use super::super::file::RememberedFile;
use super::super::known_paths::name_of;
use super::super::say::excerpt;
use super::super::symbols::defined;
use super::super::turn::AgentTurn;
use super::super::view::Refusal;
use super::telling::{
    OUT_OF_VIEW, about, failures, files, headings, hits, kinds, next_steps, refused, searches,
    short, tail,
};
use crate::model::conversation::first_line;
use crate::model::toolbox::{ToolPurpose, kind_of_name};

/// Describes the folder.
pub(super) fn overview(mind: &AgentTurn<'_>) -> String {
    let held = mind.read_now();
    let mut parts = Vec::new();
    let titles = held
        .iter()
        .filter(|held| name_of(&held.path).to_lowercase().starts_with("readme"));
    let title = titles
        .filter_map(|held| headings(held).into_iter().next())
        .next();
    let count = mind.view.places.files.len();
    parts.push(match (title, count) {
        (Some(title), _) => format!(
            "**{}** calls itself “{title}”. {}",
            mind.here(),
            kinds(mind)
        ),
        (None, 0) => format!("**{}** has no files that I could list.", mind.here()),
        (None, _) => format!("**{}**: {}", mind.here(), kinds(mind)),
    });
    let read: Vec<String> = held
        .iter()
        .map(|held| format!("- {}", about(mind, held)))
        .collect();
    if !read.is_empty() {
        parts.push(format!("What I read of it:\n{}", read.join("\n")));
    }
    parts.extend(hits(mind, 3));
    parts.extend(failures(mind));
    parts.push(next_steps(mind, &held));
    parts.join("\n\n")
}

/// Describes what further reading showed.
pub(super) fn further(mind: &AgentTurn<'_>) -> String {
    let held = mind.read_now();
    if held.is_empty() && mind.view.of_kind(ToolPurpose::Read).next().is_none() {
        let seen = match mind.view.places.read.len() {
            0 => "I found nothing to read here.".to_owned(),
            read => format!("I have read what I can see here ({}).", files(read)),
        };
        return format!("{seen} Say “write a made-up text” to have the window filled.");
    }
    let lines: usize = held.iter().map(RememberedFile::lines).sum();
    let mut parts = vec![format!(
        "{}, {}:",
        files(held.len()),
        counted(lines as u64, "line")
    )];
    let read: Vec<String> = held
        .iter()
        .map(|held| format!("- {}", about(mind, held)))
        .collect();
    parts.push(read.join("\n"));
    parts.extend(failures(mind));
    let left = mind.unread().len();
    if left > 0 {
        parts.push(format!(
            "{} that I know of are left; say “read on” for more.",
            files(left)
        ));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n")
}

/// Describes a listing.
pub(super) fn listed(mind: &AgentTurn<'_>, pattern: &str) -> String {
    let newest = mind
        .view
        .since_prompt()
        .iter()
        .rev()
        .find(|list| list.succeeded() && !list.is_out_of_view());
    let Some(newest) = newest else {
        return failures(mind)
            .unwrap_or_else(|| "I was given no tool that lists files.".to_owned());
    };
    let text = newest.text();
    if text.trim_start().starts_with("No ") {
        return format!("I found no file for `{pattern}`.");
    }
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let shown: Vec<String> = lines
        .iter()
        .take(15)
        .map(|line| format!("- `{}`", mind.display_path(line.trim())))
        .collect();
    let more = match lines.len().saturating_sub(15) {
        0 => String::new(),
        more => format!("\n- and {more} more"),
    };
    format!("For `{pattern}`:\n{}{more}", shown.join("\n"))
}

/// Describes a file.
pub(super) fn file(mind: &AgentTurn<'_>, given: &str) -> String {
    let held = mind.read_now();
    let Some(held) = held.last() else {
        let has_read = mind.view.of_kind(ToolPurpose::Read).next().is_some();
        let mut unchanged = mind.view.of_kind(ToolPurpose::Read);
        let unchanged = unchanged.any(|read| read.text().contains("unchanged"));
        let why = failures(mind).unwrap_or_else(|| {
            let why = if unchanged {
                "It has not changed since I read it, but that reading is no longer in my window."
            } else if has_read {
                "What I was shown is not its text."
            } else {
                "I was given no tool that reads files."
            };
            why.to_owned()
        });
        return format!("I could not read `{given}`. {why}");
    };
    let mut parts = vec![about(mind, held)];
    parts.push(format!(
        "It begins:\n\n```\n{}\n```",
        excerpt(&held.text, 8)
    ));
    if let Some(name) = defined(std::slice::from_ref(held)).first() {
        parts.push(format!("Say “find {name}” to see where that is used."));
    }
    parts.join("\n\n")
}

/// Describes what a search found, and names every word that was not found.
pub(super) fn found(mind: &AgentTurn<'_>) -> String {
    let mut parts: Vec<String> = hits(mind, 8).into_iter().collect();
    let searches = searches(mind);
    let missing = searches.iter().filter(|search| !search.found());
    let missing: Vec<String> = missing.map(|search| format!("`{}`", search.term)).collect();
    let has_found = !parts.is_empty();
    if !missing.is_empty() {
        parts.push(format!("I found no {} here.", missing.join(", ")));
    }
    if has_found && let Some(held) = mind.read_now().last() {
        parts.push(format!(
            "{}\n\n```\n{}\n```",
            about(mind, held),
            excerpt(&held.text, 6)
        ));
    }
    parts.extend(failures(mind));
    if parts.is_empty() {
        return "I was given no tool that searches files.".to_owned();
    }
    if !has_found && !missing.is_empty() {
        parts.push(
            "I only know words, not meanings: name something that stands in the files, in quotes."
                .to_owned(),
        );
    }
    parts.join("\n\n")
}

/// Describes the output of a command.
pub(super) fn ran(mind: &AgentTurn<'_>) -> String {
    let Some(bash) = mind.view.of_kind(ToolPurpose::Bash).last() else {
        return "Nothing was run.".to_owned();
    };
    let command = bash.input_text("command").unwrap_or("");
    let text = bash.text();
    match (bash.failed(), Refusal::of(bash)) {
        (true, Some(refusal)) => format!(
            "`{command}` was not run: {} I can look at files instead.",
            refused(bash, refusal)
        ),
        (false, _) if bash.is_out_of_view() => format!("`{command}` ran: {OUT_OF_VIEW}"),
        (failed, _) => {
            let verdict = if failed { "failed" } else { "ran" };
            format!(
                "`{command}` {verdict}. The end of what it said:\n\n```\n{}\n```",
                tail(without_note(&text), 12)
            )
        }
    }
}

/// The output without a last line in parentheses, which a host adds for the model alone.
fn without_note(text: &str) -> &str {
    match text.trim_end().rsplit_once('\n') {
        Some((output, note))
            if note.starts_with('(') && note.ends_with(')') && !output.trim().is_empty() =>
        {
            output.trim_end()
        }
        _ => text,
    }
}

/// Describes the outcome of a change.
pub(super) fn changed(mind: &AgentTurn<'_>, path: &str, text: &str) -> String {
    let done = mind.view.since_prompt().iter().rev();
    let mut done = done.filter(|call| {
        matches!(
            kind_of_name(call.name),
            ToolPurpose::Write | ToolPurpose::Edit
        )
    });
    match done.next() {
        Some(call) if call.succeeded() => format!("Done: `{path}` now says “{}”.", short(text, 60)),
        Some(call) => match Refusal::of(call) {
            Some(refusal) => format!("`{path}` was not changed: {}", refused(call, refusal)),
            None => format!(
                "`{path}` was not changed: {}",
                first_line(&call.text(), 200)
            ),
        },
        None => failures(mind).unwrap_or_else(|| format!("`{path}` was not changed.")),
    }
}

/// Describes a page.
pub(super) fn fetched(mind: &AgentTurn<'_>, url: &str) -> String {
    match mind.view.of_kind(ToolPurpose::Fetch).last() {
        Some(page) if page.is_out_of_view() => format!("{url}: {OUT_OF_VIEW}"),
        Some(page) if page.succeeded() => format!("{url} begins:\n\n{}", excerpt(&page.text(), 10)),
        Some(page) => match Refusal::of(page) {
            Some(refusal) => format!("I did not get {url}: {}", refused(page, refusal)),
            None => format!("I did not get {url}: {}", first_line(&page.text(), 200)),
        },
        None => "I was given no tool that fetches pages.".to_owned(),
    }
}

/// Describes what a search of the web gave.
pub(super) fn searched(mind: &AgentTurn<'_>, query: &str) -> String {
    match mind.view.of_kind(ToolPurpose::WebSearch).last() {
        Some(search) if search.is_out_of_view() => format!("“{query}”: {OUT_OF_VIEW}"),
        Some(search) if search.succeeded() => {
            let text = search.text();
            let pages = pages(&text);
            match pages.is_empty() {
                true => format!("For “{query}”:\n\n{}", excerpt(&text, 14)),
                false => format!("For “{query}” there is:\n\n{}", pages.join("\n")),
            }
        }
        Some(search) => match Refusal::of(search) {
            Some(refusal) => format!("Nothing was searched: {}", refused(search, refusal)),
            None => format!(
                "The search for “{query}” failed: {}",
                first_line(&search.text(), 200)
            ),
        },
        None => "I was given no tool that searches the web.".to_owned(),
    }
}

/// The numbered pages of a search, each with the address in the line below it.
fn pages(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let pairs = lines.windows(2).filter_map(|pair| {
        let (number, title) = pair[0].strip_prefix('[')?.split_once("] ")?;
        let url = pair[1].split_whitespace().next()?;
        let is_page = number.parse::<u32>().is_ok() && url.starts_with("http");
        is_page.then(|| format!("- {title}: {url}"))
    });
    pairs.collect()
}

/// The answer where nothing else fits.
pub(super) fn account(mind: &AgentTurn<'_>) -> String {
    let calls = mind.view.since_prompt().len();
    let failed = failures(mind).unwrap_or_default();
    let calls = counted(calls as u64, "call");
    format!("That is as far as I get after {calls}. {failed}")
        .trim_end()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_host_adds_for_the_model_is_not_quoted_to_the_user() {
        let told = "(no output)\n(Changed on disk since you read them: a.md.)";
        assert_eq!(without_note(told), "(no output)");
        assert_eq!(without_note("(no output)"), "(no output)");
        assert_eq!(without_note("a\nb"), "a\nb");
    }

    #[test]
    fn the_pages_of_a_search_are_listed_with_their_addresses() {
        let found =
            "Pages:\n[1] Tides\n    https://a.example/1 (2 days ago)\n[2] No address\n\n> text [1]";
        assert_eq!(pages(found), ["- Tides: https://a.example/1"]);
    }
}
