//! Orders: sentences that begin with the verb of the action. Only these lead to writing, changing, running and
//! fetching.

use super::words::path_in;
use super::{Running, Wish};
use crate::model::conversation::among;
use crate::model::web_search;

const POLITE: &str = "please|now|then|and|also|ok|okay|so|next|first|can you|could you|would you|will you|i want you to|\
    i would like you to|let us|let's|kindly|just";
const HOW_TO_WRITE: &str = "write a file hello.txt saying good morning";
const HOW_TO_EDIT: &str = "replace \"old words\" with \"new words\" in notes.txt";
const HOW_TO_SEARCH: &str = "search the web for tide tables";
const HOW_TO_RUN: &str = "run `ls -l`";
/// Programs that are recognized without backticks.
const PROGRAMS: &str = "cargo cat date df du echo find git go grep head ls make mkdir node npm pwd python python3 rm rustc \
    sleep sort tail touch tree wc";

/// The sentences without polite phrases: the verb in lower case, and the text from there to the end of the prompt.
pub(super) fn orders(words: &str) -> impl Iterator<Item = (String, &str)> {
    let ends = |letter: char| matches!(letter, '.' | '!' | '?' | ';' | '\n');
    let begins = words
        .char_indices()
        .filter(move |(at, letter)| {
            ends(*letter) && words[at + letter.len_utf8()..].starts_with([' ', '\n'])
        })
        .map(|(at, letter)| at + letter.len_utf8());
    let starts: Vec<usize> = std::iter::once(0).chain(begins).collect();
    starts.into_iter().filter_map(|at| {
        let mut rest = words[at..].trim_start();
        while let Some(next) = POLITE.split('|').find_map(|word| without(rest, word)) {
            rest = next;
        }
        let end = rest
            .find(|letter: char| !letter.is_alphanumeric())
            .unwrap_or(rest.len());
        let (verb, behind) = rest.split_at(end);
        (!verb.is_empty()).then(|| {
            (
                verb.to_lowercase(),
                behind.trim_start_matches([' ', ':', ',']),
            )
        })
    })
}

fn without<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let head = text.get(..word.len())?;
    let rest = text.get(word.len()..)?;
    let ends = rest.starts_with([' ', ',']);
    (head.eq_ignore_ascii_case(word) && ends).then(|| rest.trim_start_matches([' ', ',']))
}

/// The order that a prompt gives, if it gives one.
pub(super) fn given(words: &str) -> Option<Wish> {
    orders(words).find_map(order)
}

fn order((verb, rest): (String, &str)) -> Option<Wish> {
    let lower = rest.to_lowercase();
    match verb.as_str() {
        "fetch" | "open" | "get" | "read" | "download" if url_in(rest).is_some() => {
            url_in(rest).map(Wish::Fetch)
        }
        "search" | "google" | "look" if web_search::asks(&format!("{verb} {rest}")) => {
            let query = web_search::queries(rest).into_iter().next();
            query
                .filter(|query| !query.is_empty())
                .map(Wish::SearchWeb)
                .or(Some(Wish::Unclear(HOW_TO_SEARCH)))
        }
        "todo" | "todos" => Some(Wish::Todo(items(rest))),
        "add" | "put" | "make" | "write" | "keep"
            if lower.contains("todo") || lower.contains("to-do") =>
        {
            let listed = rest.split_once(':').map_or(rest, |(_, listed)| listed);
            Some(Wish::Todo(items(listed)))
        }
        "write" | "create" | "save" | "make" => {
            if ["made-up", "made up", "long text", "long story"]
                .iter()
                .any(|part| lower.contains(part))
            {
                return Some(Wish::Filler);
            }
            let (head, text) = said(rest);
            match (path_in(head), text) {
                (Some(path), Some(text)) => Some(Wish::Write { path, text }),
                (None, None) if !lower.contains("file") => Some(Wish::Beyond),
                _ => Some(Wish::Unclear(HOW_TO_WRITE)),
            }
        }
        "replace" | "change" | "edit" | "rename" => {
            Some(exchange(rest).unwrap_or(Wish::Unclear(HOW_TO_EDIT)))
        }
        "run" | "execute" | "test" | "build" => Some(running(&verb, rest)),
        _ => None,
    }
}

/// Splits `a file hello.txt saying good morning` in two.
fn said(rest: &str) -> (&str, Option<String>) {
    const MARKS: &str = " saying | that says | containing | with the text | with the content | with content | with |: |:\n";
    let found = MARKS
        .split('|')
        .filter_map(|mark| Some((rest.find(mark)?, mark.len())))
        .min();
    match found {
        Some((at, length)) => {
            let text = rest[at + length..]
                .trim()
                .trim_matches(['"', '“', '”', '`', '\'']);
            (&rest[..at], (!text.is_empty()).then(|| text.to_owned()))
        }
        None => (rest, None),
    }
}

/// Parses `"a" with "b" in notes.txt`.
fn exchange(rest: &str) -> Option<Wish> {
    let quoted: Vec<&str> = rest
        .split(['"', '`', '“', '”'])
        .skip(1)
        .step_by(2)
        .collect();
    let behind = rest.rsplit_once(" in ").map(|(_, file)| file)?;
    match quoted.as_slice() {
        [old, new, ..] if !old.is_empty() && old != new => Some(Wish::Edit {
            path: path_in(behind)?,
            old: (*old).to_owned(),
            new: (*new).to_owned(),
        }),
        _ => None,
    }
}

fn running(verb: &str, rest: &str) -> Wish {
    if let Some(command) = rest
        .split('`')
        .nth(1)
        .filter(|command| !command.trim().is_empty())
    {
        return Wish::Run(Running::Command(command.trim().to_owned()));
    }
    // Backticks do not show on a screen, so users who copy an example leave them out.
    let line = rest.lines().next().unwrap_or_default().trim();
    let program = line.split_whitespace().next().unwrap_or_default();
    if verb == "run" && (among(program, PROGRAMS) || program.starts_with("./")) {
        return Wish::Run(Running::Command(line.to_owned()));
    }
    let lower = rest.to_lowercase();
    match () {
        () if verb == "test" || lower.contains("test") => Wish::Run(Running::Tests),
        () if verb == "build" || lower.contains("build") => Wish::Run(Running::Build),
        () => Wish::Unclear(HOW_TO_RUN),
    }
}

fn items(text: &str) -> Vec<String> {
    let parts = text
        .split([',', ';', '\n'])
        .flat_map(|part| part.split(" and "));
    let parts = parts.map(|part| {
        part.trim()
            .trim_start_matches(['-', '*', ' '])
            .trim_end_matches('.')
    });
    let parts = parts.filter(|part| part.len() > 1).take(20);
    parts.map(str::to_owned).collect()
}

fn url_in(words: &str) -> Option<String> {
    let mut words = words
        .split_whitespace()
        .map(|word| word.trim_matches(['`', '"', '\'', ',', '<', '>', '(', ')']));
    let url = words.find(|word| word.starts_with("https://") || word.starts_with("http://"))?;
    Some(url.trim_end_matches('.').to_owned())
}
