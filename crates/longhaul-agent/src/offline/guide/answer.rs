//! Answers: short, and made of what was really seen. What could not be had is said with its reason.

use std::collections::BTreeMap;

use longhaul_sim::model::agent::file::Held;
use longhaul_sim::model::agent::places::{extension, name_of};
use longhaul_sim::model::agent::symbols::definition;
use longhaul_sim::model::conversation::{Exchange, clip, first_line};
use longhaul_sim::model::toolbox::{Kind, PATH_FIELDS};

use super::look::files;
use super::scene::Scene;

/// What was found in the folder.
pub(super) fn overview(scene: &Scene<'_>) -> String {
    let held = scene.held();
    let mut parts = Vec::new();
    let titles = held
        .iter()
        .filter(|held| name_of(&held.path).to_lowercase().starts_with("readme"));
    let title = titles
        .filter_map(|held| headings(held).into_iter().next())
        .next();
    let count = scene.places.files.len();
    parts.push(match (title, count) {
        (Some(title), _) => format!(
            "**{}** calls itself “{title}”. {}",
            scene.here(),
            kinds(scene)
        ),
        (None, 0) => format!("**{}** has no files that I could list.", scene.here()),
        (None, _) => format!("**{}**: {}", scene.here(), kinds(scene)),
    });
    let read: Vec<String> = held
        .iter()
        .map(|held| format!("- {}", about(scene, held)))
        .collect();
    if !read.is_empty() {
        parts.push(format!("What I read of it:\n{}", read.join("\n")));
    }
    parts.extend(hits(scene, 3));
    parts.extend(failures(scene));
    parts.push(next_steps(scene, &held));
    parts.join("\n\n")
}

/// What further reading brought.
pub(super) fn further(scene: &Scene<'_>) -> String {
    let held = scene.held();
    if held.is_empty() && scene.of_kind(Kind::Read).next().is_none() {
        let seen = match scene.places.read.len() {
            0 => "I found nothing to read here.".to_owned(),
            read => format!("I have read what I can see here ({}).", files(read)),
        };
        return format!("{seen} Say “write a made-up text” to have the window filled.");
    }
    let lines: usize = held.iter().map(|held| held.text.lines().count()).sum();
    let mut parts = vec![format!("{}, {lines} lines:", files(held.len()))];
    let read: Vec<String> = held
        .iter()
        .map(|held| format!("- {}", about(scene, held)))
        .collect();
    parts.push(read.join("\n"));
    parts.extend(failures(scene));
    let left = scene.unread().len();
    if left > 0 {
        parts.push(format!(
            "{} that I know of are left; say “read on” for more.",
            files(left)
        ));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n")
}

/// What a listing showed.
pub(super) fn listed(scene: &Scene<'_>, pattern: &str) -> String {
    let newest = scene.done().iter().rev().find(|list| list.succeeded());
    let Some(newest) = newest else {
        return failures(scene)
            .unwrap_or_else(|| "I was given no tool that lists files.".to_owned());
    };
    let text = newest.text();
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let shown: Vec<String> = lines
        .iter()
        .take(15)
        .map(|line| format!("- `{}`", scene.told(line.trim())))
        .collect();
    let more = match lines.len().saturating_sub(15) {
        0 => String::new(),
        more => format!("\n- and {more} more"),
    };
    format!("For `{pattern}`:\n{}{more}", shown.join("\n"))
}

/// What is in a file.
pub(super) fn file(scene: &Scene<'_>, given: &str) -> String {
    let held = scene.held();
    let Some(held) = held.last() else {
        let failed =
            failures(scene).unwrap_or_else(|| "I was given no tool that reads files.".to_owned());
        return format!("I could not read `{given}`. {failed}");
    };
    let mut parts = vec![about(scene, held)];
    parts.push(format!(
        "It begins:\n\n```\n{}\n```",
        excerpt(&held.text, 8)
    ));
    let names = names(held);
    if let Some(name) = names.first() {
        parts.push(format!("Say “find {name}” to see where that is used."));
    }
    parts.join("\n\n")
}

/// What a search found.
pub(super) fn found(scene: &Scene<'_>, terms: &[String]) -> String {
    let quoted: Vec<String> = terms.iter().map(|term| format!("`{term}`")).collect();
    let mut parts: Vec<String> = hits(scene, 8).into_iter().collect();
    if parts.is_empty() {
        let said = failures(scene);
        let said = said.unwrap_or_else(|| format!("I found no {} here.", quoted.join(", ")));
        return format!(
            "{said}\n\nI only know words, not meanings: name something that stands in the files, in quotes."
        );
    }
    if let Some(held) = scene.held().last() {
        parts.push(format!(
            "{}\n\n```\n{}\n```",
            about(scene, held),
            excerpt(&held.text, 6)
        ));
    }
    parts.extend(failures(scene));
    parts.join("\n\n")
}

/// What a command said.
pub(super) fn ran(scene: &Scene<'_>) -> String {
    let Some(bash) = scene.of_kind(Kind::Bash).last() else {
        return "Nothing was run.".to_owned();
    };
    let command = bash.input_text("command").unwrap_or("");
    let text = bash.text();
    match (refused(bash), bash.failed()) {
        (true, _) => format!(
            "You did not allow `{command}`, so it was not run. I can look at files instead."
        ),
        (false, failed) => {
            let verdict = if failed { "failed" } else { "ran" };
            format!(
                "`{command}` {verdict}. The end of what it said:\n\n```\n{}\n```",
                tail(&text, 12)
            )
        }
    }
}

/// What became of a change.
pub(super) fn changed(scene: &Scene<'_>, path: &str, text: &str) -> String {
    let done = scene.done().iter().rev();
    let mut done = done.filter(|call| {
        call.name.to_lowercase().contains("write") || call.name.to_lowercase().contains("edit")
    });
    match done.next() {
        Some(call) if call.succeeded() => format!("Done: `{path}` now says “{}”.", short(text, 60)),
        Some(call) if refused(call) => format!(
            "You did not allow it, so `{path}` is as it was. It would have said: “{}”.",
            short(text, 60)
        ),
        Some(call) => format!(
            "`{path}` was not changed: {}",
            first_line(&call.text(), 200)
        ),
        None => failures(scene).unwrap_or_else(|| format!("`{path}` was not changed.")),
    }
}

/// What a page says.
pub(super) fn fetched(scene: &Scene<'_>, url: &str) -> String {
    match scene.of_kind(Kind::Fetch).last() {
        Some(page) if page.succeeded() => format!("{url} begins:\n\n{}", excerpt(&page.text(), 10)),
        Some(page) => format!("I did not get {url}: {}", first_line(&page.text(), 200)),
        None => "I was given no tool that fetches pages.".to_owned(),
    }
}

/// What was said and done so far, from what is in the window.
pub(super) fn recap(scene: &Scene<'_>) -> String {
    let quoted = scene.summary.iter().flat_map(|(_, quoted)| quoted);
    let before = scene.prompts.iter().rev().skip(1).rev();
    let prompts: Vec<&String> = quoted.chain(before).collect();
    let lines: Vec<String> = prompts
        .iter()
        .rev()
        .take(8)
        .rev()
        .map(|prompt| format!("- “{}”", first_line(prompt, 80)))
        .collect();
    let mut parts = vec![match lines.is_empty() {
        true => "We have only just begun.".to_owned(),
        false => format!(
            "You asked {} times. The newest:\n{}",
            prompts.len(),
            lines.join("\n")
        ),
    }];
    let read: Vec<String> = scene
        .places
        .read
        .iter()
        .take(8)
        .map(|file| format!("`{}`", scene.told(file)))
        .collect();
    if !read.is_empty() {
        parts.push(format!(
            "Still in my window, word for word: {}.",
            read.join(", ")
        ));
    }
    if scene.summary.is_some() {
        parts.push(
            "What came before is summed up, and your words are in it as you wrote them.".to_owned(),
        );
    }
    parts.join("\n\n")
}

/// An end where nothing else fits.
pub(super) fn account(scene: &Scene<'_>) -> String {
    let calls = scene.done().len();
    let failed = failures(scene).unwrap_or_default();
    format!("That is as far as I get after {calls} calls. {failed}")
        .trim_end()
        .to_owned()
}

/// A call that was refused rather than failed.
pub(super) fn refused(call: &Exchange<'_>) -> bool {
    let text = call.text().to_lowercase();
    let no = [
        "denied",
        "not allowed",
        "refused",
        "rejected",
        "permission",
        "declined",
        "doesn't want",
        "does not want",
        "the user said no",
    ];
    call.failed() && no.iter().any(|word| text.contains(word))
}

/// The first lines of a text, each clipped.
pub(super) fn excerpt(text: &str, lines: usize) -> String {
    let lines = text
        .lines()
        .take(lines)
        .map(|line| clip(line, 160).replace("```", "'''"));
    lines.collect::<Vec<_>>().join("\n")
}

fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    excerpt(&all[all.len().saturating_sub(lines)..].join("\n"), lines)
}

/// A text in one line.
pub(super) fn short(text: &str, limit: usize) -> String {
    let line = first_line(text, limit);
    match line.len() < text.trim().len() {
        true => format!("{line}…"),
        false => line.to_owned(),
    }
}

/// A file in a line: its name, its size, what it defines or how it is headed.
fn about(scene: &Scene<'_>, held: &Held) -> String {
    let lines = held.text.lines().count();
    let names = names(held);
    let headings = headings(held);
    let quoted = |items: &[String], mark: &str| {
        let items = items
            .iter()
            .take(4)
            .map(|item| format!("{mark}{item}{mark}"));
        items.collect::<Vec<_>>().join(", ")
    };
    let what = match (names.is_empty(), headings.is_empty()) {
        (false, _) => format!(", defines {}", quoted(&names, "`")),
        (true, false) => format!(
            ", headed {}",
            headings
                .iter()
                .take(3)
                .map(|head| format!("“{head}”"))
                .collect::<Vec<_>>()
                .join(", ")
        ),
        (true, true) => match first_line(&held.text, 60) {
            "" => String::new(),
            line => format!(", begins “{line}”"),
        },
    };
    format!("`{}`: {lines} lines seen{what}", scene.told(&held.path))
}

fn names(held: &Held) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in held.text.lines().filter_map(definition) {
        if names.len() < 6 && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

fn headings(held: &Held) -> Vec<String> {
    if !matches!(extension(&held.path), "md" | "rst" | "txt" | "") {
        return Vec::new();
    }
    let heads = held.text.lines().filter_map(|line| line.strip_prefix('#'));
    let heads = heads.map(|head| clip(head.trim_start_matches('#').trim(), 60).to_owned());
    heads.filter(|head| !head.is_empty()).take(6).collect()
}

fn kinds(scene: &Scene<'_>) -> String {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for file in &scene.places.files {
        *kinds.entry(extension(file)).or_default() += 1;
    }
    let mut kinds: Vec<(&str, usize)> = kinds.into_iter().collect();
    kinds.sort_by_key(|(kind, count)| (std::cmp::Reverse(*count), *kind));
    let named = kinds.iter().filter(|(kind, _)| !kind.is_empty()).take(4);
    let named: Vec<String> = named
        .map(|(kind, count)| format!("{count} × .{kind}"))
        .collect();
    let count = files(scene.places.files.len());
    match named.is_empty() {
        true => format!("I saw {count} near the top."),
        false => format!("I saw {count} near the top: {}.", named.join(", ")),
    }
}

/// Lines that searches found, as many as asked for.
fn hits(scene: &Scene<'_>, most: usize) -> Option<String> {
    let mut lines = Vec::new();
    let mut all = 0;
    let mut terms = Vec::new();
    for grep in scene.of_kind(Kind::Grep).filter(|grep| grep.succeeded()) {
        let text = grep.text();
        let found: Vec<&str> = text
            .lines()
            .filter(|line| line.contains(':') || line.contains('/'))
            .collect();
        if !found.is_empty() {
            terms.push(format!(
                "`{}`",
                grep.input_text("pattern").unwrap_or("").replace('\\', "")
            ));
        }
        all += found.len();
        lines.extend(found.iter().take(most).map(|line| {
            format!(
                "- `{}`",
                clip(scene.told(line.trim()), 140).replace('`', "'")
            )
        }));
    }
    lines.truncate(most);
    let times = if all == 1 { "once" } else { "in these places" };
    (!lines.is_empty()).then(|| {
        format!(
            "{} turns up {times}:\n{}",
            terms.join(", "),
            lines.join("\n")
        )
    })
}

/// What failed for this prompt.
fn failures(scene: &Scene<'_>) -> Option<String> {
    let failed: Vec<&Exchange<'_>> = scene.done().iter().filter(|call| call.failed()).collect();
    let lines: Vec<String> = failed
        .iter()
        .take(3)
        .map(|call| {
            let about = call
                .input_any(PATH_FIELDS)
                .or_else(|| call.input_any(&["pattern", "command", "url"]));
            let about = about.map_or_else(String::new, |about| format!(" `{}`", scene.told(about)));
            match refused(call) {
                true => format!("{}{about} was not allowed, so I did without.", call.name),
                false => format!(
                    "{}{about} failed: {}",
                    call.name,
                    first_line(&call.text(), 120)
                ),
            }
        })
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn next_steps(scene: &Scene<'_>, held: &[Held]) -> String {
    let mut ideas = Vec::new();
    if let Some(name) = held.iter().flat_map(names).next() {
        ideas.push(format!("“find {name}”"));
    }
    if let Some(file) = scene.unread().first() {
        ideas.push(format!("“explain {}”", scene.told(file)));
    }
    if scene.can(Kind::Bash) {
        ideas.push("“run the tests”".to_owned());
    }
    ideas.push("“read everything”".to_owned());
    format!("You could say {}.", ideas.join(", "))
}
