//! Answers: short, and made of what was really seen. What could not be had is said with its reason. The pieces are made in
//! `telling`.

use longhaul_sim::model::agent::places::name_of;
use longhaul_sim::model::conversation::first_line;
use longhaul_sim::model::toolbox::Kind;

use super::look::files;
use super::scene::Scene;
use super::telling::{
    about, excerpt, failures, headings, hits, kinds, names, next_steps, refused, short, tail,
};

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
