//! What the user wants, told by keywords. Writing, changing and running are wished for only by an order: a sentence that
//! begins with the verb, politeness aside. "How would I write a file?" is a question.

use longhaul_sim::model::agent::symbols::weighty;

use super::change::Running;

/// How much of each file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// Some lines of several files.
    Skim,
    /// A lot of each.
    Whole,
}

/// What is wished for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wish {
    Who,
    Help,
    Thanks,
    Recap,
    Filler,
    /// An order that lacks something; how to put it.
    Unclear(&'static str),
    Overview,
    More(Depth),
    List(String),
    Read(String),
    Find(String),
    Question(Vec<String>),
    Fetch(String),
    Delegate(String),
    Todo(Vec<String>),
    Run(Running),
    Write {
        path: String,
        text: String,
    },
    Edit {
        path: String,
        old: String,
        new: String,
    },
}

const POLITE: &[&str] = &[
    "please",
    "now",
    "then",
    "and",
    "also",
    "ok",
    "okay",
    "so",
    "next",
    "first",
    "can you",
    "could you",
    "would you",
    "will you",
    "i want you to",
    "i would like you to",
    "let us",
    "let's",
    "kindly",
    "just",
];
const HOW_TO_WRITE: &str = "write a file hello.txt saying good morning";
const HOW_TO_EDIT: &str = "replace \"old words\" with \"new words\" in notes.txt";
const HOW_TO_RUN: &str = "run `ls -l`";

impl Wish {
    /// The wish of a prompt.
    pub(super) fn of(words: &str) -> Self {
        let lower = words.to_lowercase();
        let has = |parts: &[&str]| parts.iter().any(|part| lower.contains(part));
        if let Some(order) = orders(words).find_map(order) {
            return order;
        }
        let short = words.split_whitespace().count() <= 6;
        if has(&[
            "who are you",
            "what are you",
            "which model",
            "what model",
            "are you real",
            "are you claude",
            "are you an ai",
            "simulated",
            "are you a person",
        ]) {
            return Self::Who;
        }
        if short && starts(&lower, &["hi", "hello", "hey", "help", "good morning"])
            || has(&["what can you do", "how does this work", "what now"])
        {
            return Self::Help;
        }
        if short && has(&["thank", "great", "well done", "bye"]) {
            return Self::Thanks;
        }
        if has(&[
            "where were we",
            "so far",
            "what did we",
            "what have we",
            "what did i",
            "remember",
            "recap",
        ]) {
            return Self::Recap;
        }
        if has(&["sub-agent", "subagent", "delegate"]) {
            return Self::Delegate(words.trim().to_owned());
        }
        if has(&[
            "made-up",
            "made up",
            "a long text",
            "a long story",
            "filler",
        ]) {
            return Self::Filler;
        }
        if has(&["skim"]) {
            return Self::More(Depth::Skim);
        }
        if has(&[
            "everything",
            "as much as",
            "as many",
            "fill the window",
            "all files",
            "all the files",
            "keep reading",
            "read on",
            "in full",
        ]) {
            return Self::More(Depth::Whole);
        }
        if starts(&lower, &["list", "ls", "tree"])
            || has(&[
                "which files",
                "what files",
                "list files",
                "list the files",
                "list of files",
                "file names",
            ])
        {
            return Self::List(pattern(words));
        }
        if let Some(term) = sought(words, &lower) {
            return Self::Find(term);
        }
        if let Some(path) = path_in(words) {
            return Self::Read(path);
        }
        if short && has(&["go on", "continue", "more", "next"]) || lower.trim() == "yes" {
            return Self::More(Depth::Skim);
        }
        if has(&[
            "project",
            "folder",
            "repository",
            "repo",
            "codebase",
            "code base",
            "overview",
            "explore",
            "look around",
            "in here",
            "directory",
        ]) {
            return Self::Overview;
        }
        let terms = weighty(words);
        match words.contains('?') && !terms.is_empty() {
            true => Self::Question(terms.into_iter().take(3).collect()),
            false => Self::Overview,
        }
    }
}

/// Sentences with politeness taken off: the verb in lower case, and all that follows it to the end of the prompt.
fn orders(words: &str) -> impl Iterator<Item = (String, &str)> {
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
        while let Some(next) = POLITE.iter().find_map(|word| without(rest, word)) {
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

fn order((verb, rest): (String, &str)) -> Option<Wish> {
    let lower = rest.to_lowercase();
    match verb.as_str() {
        "fetch" | "open" | "get" | "read" | "download" if url_in(rest).is_some() => {
            url_in(rest).map(Wish::Fetch)
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
                (None, None) if !lower.contains("file") => None,
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

/// `a file hello.txt saying good morning` in two.
fn said(rest: &str) -> (&str, Option<String>) {
    const MARKS: &[&str] = &[
        " saying ",
        " that says ",
        " containing ",
        " with the text ",
        " with the content ",
        " with content ",
        " with ",
        ": ",
        ":\n",
    ];
    let found = MARKS
        .iter()
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

/// `"a" with "b" in notes.txt`.
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

fn sought(words: &str, lower: &str) -> Option<String> {
    const ASKING: &[&str] = &[
        "find ",
        "search for ",
        "search ",
        "grep ",
        "where is ",
        "where are ",
        "look for ",
        "who calls ",
        "uses of ",
        "usages of ",
        "look up ",
    ];
    let (at, mark) = ASKING
        .iter()
        .filter_map(|mark| Some((lower.find(mark)?, *mark)))
        .min()?;
    // Lower case may be longer in bytes; then the position means nothing.
    let rest = words.get(at + mark.len()..)?;
    if let Some(quoted) = rest
        .split(['"', '`', '\''])
        .nth(1)
        .filter(|term| !term.trim().is_empty())
    {
        return Some(quoted.to_owned());
    }
    const LIGHT: &[&str] = &[
        "the", "a", "an", "all", "any", "for", "function", "struct", "class", "word", "text", "of",
        "file", "uses", "usages", "every",
    ];
    let word = rest
        .split(|letter: char| letter.is_whitespace() || ",?!;".contains(letter))
        .map(|word| word.trim_matches(|letter: char| ".:()".contains(letter)))
        .find(|word| word.len() > 1 && !LIGHT.contains(&word.to_lowercase().as_str()))?;
    Some(word.to_owned())
}

/// A glob for what shall be listed.
fn pattern(words: &str) -> String {
    let tokens = words
        .split_whitespace()
        .map(|word| word.trim_matches(['`', '"', '\'', ',', '?']));
    for token in tokens {
        if token.contains('*') {
            return token.to_owned();
        }
        if let Some(end) = token
            .strip_prefix('.')
            .filter(|end| !end.is_empty() && end.chars().all(char::is_alphanumeric))
        {
            return format!("**/*.{end}");
        }
    }
    let lower = words.to_lowercase();
    const KINDS: &[(&str, &str)] = &[
        ("rust", "rs"),
        ("python", "py"),
        ("javascript", "js"),
        ("typescript", "ts"),
        ("markdown", "md"),
        ("toml", "toml"),
        ("json", "json"),
    ];
    let kind = KINDS.iter().find(|(name, _)| lower.contains(name));
    kind.map_or_else(|| "*".to_owned(), |(_, end)| format!("**/*.{end}"))
}

/// The first word that looks like a file.
pub(super) fn path_in(words: &str) -> Option<String> {
    let words = words.split_whitespace();
    let words = words.map(|word| {
        word.trim_matches(|letter: char| "`'\"(),:;!?“”".contains(letter))
            .trim_end_matches('.')
    });
    let found = words.filter(|word| !word.contains("://")).find(|word| {
        let name = word.rsplit('/').next().unwrap_or(word);
        let dotted = name.rsplit_once('.').is_some_and(|(stem, end)| {
            !stem.is_empty()
                && (1..=8).contains(&end.len())
                && end.chars().all(char::is_alphanumeric)
                && end.chars().any(char::is_alphabetic)
        });
        let known = matches!(
            name.to_lowercase().as_str(),
            "readme" | "makefile" | "dockerfile" | "license"
        );
        dotted
            || known
            || word.len() > 2 && word.contains('/') && !word.ends_with('/') && !name.is_empty()
    });
    found.map(str::to_owned)
}

fn url_in(words: &str) -> Option<String> {
    let mut words = words
        .split_whitespace()
        .map(|word| word.trim_matches(['`', '"', '\'', ',', '<', '>', '(', ')']));
    let url = words.find(|word| word.starts_with("https://") || word.starts_with("http://"))?;
    Some(url.trim_end_matches('.').to_owned())
}

fn starts(lower: &str, words: &[&str]) -> bool {
    words.iter().any(|word| {
        let rest = lower.trim_start().strip_prefix(word);
        rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q1_orders_are_told_from_talk_about_them() {
        let write = Wish::of("Please write a file hello.txt saying good morning. Twice.");
        let (path, text) = ("hello.txt".to_owned(), "good morning. Twice.".to_owned());
        assert_eq!(write, Wish::Write { path, text });
        for talk in [
            "How would I write a file hello.txt saying hi?",
            "Do not write a file hello.txt saying hi",
            "Never run `rm -rf x`",
            "What happens when we run `make`?",
            "Explain why you would replace \"a\" with \"b\" in notes.txt",
        ] {
            let wish = Wish::of(talk);
            let acts = matches!(wish, Wish::Write { .. } | Wish::Run(_) | Wish::Edit { .. });
            assert!(!acts, "{talk}: {wish:?}");
        }
        assert_eq!(Wish::of("run the tests"), Wish::Run(Running::Tests));
        assert_eq!(
            Wish::of("Hello. Run `ls -l` please"),
            Wish::Run(Running::Command("ls -l".into()))
        );
        assert_eq!(
            Wish::of("todo: buy milk, write a poem"),
            Wish::Todo(vec!["buy milk".into(), "write a poem".into()])
        );
    }

    #[test]
    fn q1_simple_wishes_are_understood() {
        assert_eq!(Wish::of("what is in this project?"), Wish::Overview);
        assert_eq!(
            Wish::of("explain src/main.rs"),
            Wish::Read("src/main.rs".into())
        );
        assert_eq!(Wish::of("find parse_line"), Wish::Find("parse_line".into()));
        assert_eq!(Wish::of("where is `a b` used?"), Wish::Find("a b".into()));
        assert_eq!(
            Wish::of("list the rust files"),
            Wish::List("**/*.rs".into())
        );
        assert_eq!(Wish::of("Who are you?"), Wish::Who);
        assert_eq!(
            Wish::of("fetch https://example.org/x."),
            Wish::Fetch("https://example.org/x".into())
        );
        assert_eq!(Wish::of(""), Wish::Overview);
        assert_eq!(
            Wish::of("replace \"a\" with \"b\" in notes.txt"),
            Wish::Edit {
                path: "notes.txt".into(),
                old: "a".into(),
                new: "b".into()
            }
        );
    }
}
