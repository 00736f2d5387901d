//! What the user wants, told by keywords. Writing, changing and running are wished for only by an order: a sentence that
//! begins with the verb, politeness aside. "How would I write a file?" is a question.

mod beyond;
mod order;
mod words;

use super::symbols::weighty;
use words::{path_in, pattern, sought, starts};

/// What shall be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Running {
    /// This command.
    Command(String),
    /// The project's tests.
    Tests,
    /// The project's build.
    Build,
}

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
    /// In which folder it works.
    Where,
    /// Something that it has no way to do.
    Beyond,
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

impl Wish {
    /// The wish of a prompt.
    pub(super) fn of(words: &str) -> Self {
        let lower = words.to_lowercase();
        let has = |parts: &[&str]| parts.iter().any(|part| lower.contains(part));
        if let Some(order) = order::given(words) {
            return order;
        }
        if beyond::is_requested(words) {
            return Self::Beyond;
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
        if has(&[
            "which folder",
            "what folder",
            "which directory",
            "what directory",
            "working directory",
            "working folder",
            "where are you",
            "where am i",
        ]) || lower.trim() == "pwd"
        {
            return Self::Where;
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
        // A file is shown to those who ask for it, not to those who wonder how it might be changed.
        let wonders = beyond::is_mentioned(words) && !starts(&lower, READING);
        if let Some(path) = path_in(words).filter(|_| !wonders) {
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
        ]) || words.trim().is_empty()
        {
            return Self::Overview;
        }
        let terms = weighty(words);
        let asks = words.contains('?') || starts(&lower, READING);
        match asks && !terms.is_empty() {
            true => Self::Question(terms.into_iter().take(3).collect()),
            false => Self::Beyond,
        }
    }
}

/// Words that ask to be told what is there.
const READING: &[&str] = &[
    "read",
    "show",
    "explain",
    "describe",
    "summarize",
    "summarise",
    "open",
    "view",
    "print",
    "cat",
    "tell",
    "look",
    "check",
    "what",
];

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
        assert_eq!(Wish::of("which folder is this?"), Wish::Where);
        assert_eq!(
            Wish::of("replace \"a\" with \"b\" in notes.txt"),
            Wish::Edit {
                path: "notes.txt".into(),
                old: "a".into(),
                new: "b".into()
            }
        );
    }

    #[test]
    fn what_it_has_no_way_to_do_is_told_from_what_it_can_look_at() {
        for beyond in [
            "delete notes.txt",
            "Could you maybe delete notes.txt?",
            "Refactor src/main.rs to use async",
            "commit the change to README.md",
            "Read notes.txt and delete it",
            "I want you to fix src/lib.rs",
            "we should remove build.rs",
            "help me fix the bug",
            "write a poem",
            "translate README.md into French",
            "tell me a joke, please",
            "x",
        ] {
            let wish = Wish::of(beyond);
            let told = matches!(wish, Wish::Beyond | Wish::Question(_));
            assert!(told, "{beyond}: {wish:?}");
        }
        for reading in [
            "explain how delete works in src/a.rs",
            "read the fix in src/a.rs",
            "src/a.rs",
        ] {
            assert_eq!(
                Wish::of(reading),
                Wish::Read("src/a.rs".into()),
                "{reading}"
            );
        }
        let how = Wish::of("How do I delete notes.txt?");
        assert!(matches!(how, Wish::Question(_)), "{how:?}");
    }
}
