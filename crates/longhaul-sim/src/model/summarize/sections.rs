//! The content of each section: a list of items, the most important first, all of them quotes or facts from the
//! conversation.

use crate::model::conversation::{clip, first_line, gist};
use crate::model::digest::{
    CarriedSummary, ConversationDigest, DigestFileAction, QUOTE, SectionTopic,
};

/// The analysis that goes through the conversation in order and checks itself.
pub(super) fn analysis(
    digest: &ConversationDigest<'_>,
    instructions: Option<&str>,
    room: usize,
) -> String {
    let mut text = String::from("Going through the conversation in order:\n");
    if let Some(instructions) = instructions {
        text.push_str(&format!(
            "(This summary was asked to mind: {})\n",
            first_line(instructions, 160)
        ));
    }
    let lines = &digest.walk;
    for (index, line) in lines.iter().enumerate() {
        if text.len() + line.len() + 200 > room {
            text.push_str(&format!(
                "({} more prompts are covered below)\n",
                lines.len() - index
            ));
            break;
        }
        text.push_str(&format!("- {line}\n"));
    }
    text.push_str(&format!(
        "Check: {} messages of the user, {} files, {} failures, {} commands found.",
        digest.messages.len(),
        digest.files.len(),
        digest.failures.len(),
        digest.ran.len()
    ));
    text
}

/// The items of a section.
pub(super) fn items(
    digest: &ConversationDigest<'_>,
    topic: SectionTopic,
    instructions: Option<&str>,
) -> Vec<String> {
    let mut items = match topic {
        SectionTopic::Intent => intent(digest, instructions),
        SectionTopic::Concepts => concepts(digest),
        SectionTopic::Files => files(digest),
        SectionTopic::Errors => errors(digest),
        SectionTopic::Solving => solving(digest),
        SectionTopic::Messages => digest
            .messages
            .iter()
            .map(|message| quoted(message))
            .collect(),
        SectionTopic::Pending => pending(digest),
        SectionTopic::Current | SectionTopic::Other => current(digest),
        SectionTopic::Completed => completed(digest),
        SectionTopic::Next => next(digest),
        SectionTopic::Continuing => continuing(digest),
    };
    if carried(topic) {
        items.extend(from_earlier(&digest.earlier, topic));
    }
    items
}

/// A user's message in the tags that set it apart.
pub(super) fn quoted(message: &str) -> String {
    format!("{}\n{message}\n{}", QUOTE.0, QUOTE.1)
}

/// Whether earlier sections on this topic are still valid.
fn carried(topic: SectionTopic) -> bool {
    matches!(
        topic,
        SectionTopic::Concepts
            | SectionTopic::Files
            | SectionTopic::Errors
            | SectionTopic::Solving
            | SectionTopic::Completed
    )
}

fn from_earlier(earlier: &[CarriedSummary], topic: SectionTopic) -> Vec<String> {
    let lines = earlier.iter().rev().flat_map(|summary| summary.on(topic));
    lines
        .filter(|line| !line.contains("None found"))
        .map(str::to_owned)
        .collect()
}

fn intent(digest: &ConversationDigest<'_>, instructions: Option<&str>) -> Vec<String> {
    let mut items = Vec::new();
    if let Some(first) = digest.messages.first() {
        items.push(format!("- First asked: \"{}\"", clip(first, 600)));
    }
    if digest.messages.len() > 1
        && let Some(last) = digest.messages.last()
    {
        items.push(format!("- Most recently asked: \"{}\"", clip(last, 600)));
    }
    if let Some(instructions) = instructions {
        items.push(format!("- This summary was asked to mind: {instructions}"));
    }
    items
}

fn concepts(digest: &ConversationDigest<'_>) -> Vec<String> {
    let mut items = Vec::new();
    let mut ends: Vec<&str> = digest
        .files
        .iter()
        .filter_map(|file| file.path.rsplit('/').next()?.rsplit_once('.'))
        .map(|(_, end)| end)
        .collect();
    ends.sort_unstable();
    ends.dedup();
    if !ends.is_empty() {
        items.push(format!("- Kinds of files: {}", ends.join(", ")));
    }
    if !digest.tools.is_empty() {
        let tools: Vec<String> = digest
            .tools
            .iter()
            .map(|(name, count)| format!("{name} ({count})"))
            .collect();
        items.push(format!("- Tools used: {}", tools.join(", ")));
    }
    let mut programs: Vec<&str> = digest
        .ran
        .iter()
        .filter_map(|ran| ran.command.split_whitespace().next())
        .collect();
    programs.sort_unstable();
    programs.dedup();
    if !programs.is_empty() {
        items.push(format!("- Programs run: {}", programs.join(", ")));
    }
    items
}

fn files(digest: &ConversationDigest<'_>) -> Vec<String> {
    let item = |file: &crate::model::digest::DigestFile| {
        let done = match file.done {
            DigestFileAction::Read => "read",
            DigestFileAction::Edited => "edited",
            DigestFileAction::Written => "written",
        };
        match file.snippet.trim_end() {
            "" => format!("- `{}` ({done})", file.path),
            snippet => format!("- `{}` ({done}):\n```\n{snippet}\n```", file.path),
        }
    };
    digest.files.iter().map(item).collect()
}

fn errors(digest: &ConversationDigest<'_>) -> Vec<String> {
    let newest = digest.failures.iter().rev();
    newest
        .map(|failure| {
            let fix = failure.fix.as_deref().unwrap_or("not resolved so far");
            format!("- {}: {} — {fix}", failure.call, failure.error)
        })
        .collect()
}

fn solving(digest: &ConversationDigest<'_>) -> Vec<String> {
    // What was called for each request: the model that goes on can say so, and see what it need not do again.
    let called = digest.walk.iter().rev().filter(|line| line.contains(" → "));
    let called = called
        .map(|line| format!("- {}", whole_calls(line, 200)))
        .take(20);
    let telling = digest.said.iter().rev().filter(|text| text.len() > 60);
    let said = telling
        .map(|text| format!("- Said: \"{}\"", gist(text, 240)))
        .take(40);
    called.chain(said).collect()
}

/// A line of calls within a limit, without a call that is cut off.
fn whole_calls(line: &str, limit: usize) -> &str {
    let cut = clip(line, limit);
    match cut.rsplit_once(", ") {
        Some((whole, _)) if cut.len() < line.len() && whole.contains(" → ") => whole,
        _ => cut,
    }
}

fn pending(digest: &ConversationDigest<'_>) -> Vec<String> {
    let open = digest
        .todos
        .iter()
        .filter(|(_, status)| status != "completed");
    let mut items: Vec<String> = open
        .map(|(content, status)| format!("- {content} ({status})"))
        .collect();
    if digest.todos.is_empty() {
        items.extend(
            digest
                .earlier
                .last()
                .into_iter()
                .flat_map(|earlier| earlier.on(SectionTopic::Pending))
                .map(str::to_owned),
        );
    }
    items
}

fn current(digest: &ConversationDigest<'_>) -> Vec<String> {
    let mut items = Vec::new();
    if let Some(last) = digest.messages.last() {
        items.push(format!("- At work on: \"{}\"", first_line(last, 300)));
    }
    if let Some(text) = digest.said.last() {
        items.push(format!("- Last said: \"{}\"", clip(text, 700)));
    }
    if let Some(ran) = digest.ran.last() {
        let outcome = if ran.failed { "failed" } else { "said" };
        items.push(format!(
            "- Last command: `{}` {outcome}: {}",
            ran.command, ran.said
        ));
    }
    let changed = digest
        .files
        .iter()
        .filter(|file| file.done != DigestFileAction::Read)
        .take(5);
    items.extend(changed.map(|file| format!("- Changed lately: `{}`", file.path)));
    items
}

fn completed(digest: &ConversationDigest<'_>) -> Vec<String> {
    let done = digest
        .todos
        .iter()
        .filter(|(_, status)| status == "completed");
    let mut items: Vec<String> = done.map(|(content, _)| format!("- {content}")).collect();
    let changed = digest
        .files
        .iter()
        .filter(|file| file.done != DigestFileAction::Read);
    items.extend(changed.map(|file| format!("- Changed `{}`", file.path)));
    let ran = digest.ran.iter().rev().filter(|ran| !ran.failed).take(5);
    items.extend(ran.map(|ran| format!("- Ran `{}`: {}", clip(&ran.command, 120), ran.said)));
    items
}

fn next(digest: &ConversationDigest<'_>) -> Vec<String> {
    let Some(last) = digest.messages.last() else {
        return Vec::new();
    };
    let mut items = vec![format!(
        "- Go on with the newest request, in the user's words: \"{}\"",
        clip(last, 400)
    )];
    if let Some((content, _)) = digest
        .todos
        .iter()
        .find(|(_, status)| status == "in_progress")
    {
        items.push(format!("- Under way on the todo list: {content}"));
    }
    if let Some(text) = digest.said.last() {
        items.push(format!("- Where it stopped: \"{}\"", gist(text, 300)));
    }
    items
}

fn continuing(digest: &ConversationDigest<'_>) -> Vec<String> {
    let mut items = current(digest);
    items.extend(pending(digest));
    if let Some(failure) = digest.failures.last() {
        items.push(format!(
            "- Last failure: {}: {}",
            failure.call, failure.error
        ));
    }
    items
}
