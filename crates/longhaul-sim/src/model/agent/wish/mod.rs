//! Recognizes by keywords what the user wants. Writing, changing and running require an order: a sentence that begins
//! with the verb, politeness aside. "How would I write a file?" is a question.

mod beyond;
mod order;
mod words;

use super::symbols::weighty_as_written;
use words::{path_in, pattern, sought, starts};

/// What to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Running {
    /// This command.
    Command(String),
    /// The project's tests.
    Tests,
    /// The project's build.
    Build,
}

/// How much to read of each file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// Some lines of several files.
    Skim,
    /// A large part of each file.
    Whole,
}

/// What the user wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wish {
    Who,
    Help,
    /// To know the working folder.
    Where,
    /// To have a rule heeded from now on.
    Rule,
    /// Something that the agent cannot do.
    Beyond,
    Thanks,
    Recap,
    Filler,
    /// An order that lacks something; the text says how to phrase it.
    Unclear(&'static str),
    Overview,
    More(Depth),
    List(String),
    Read(String),
    Find(Vec<String>),
    Question(Vec<String>),
    Fetch(String),
    SearchWeb(String),
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
    /// The wish in a prompt.
    pub(super) fn of(words: &str) -> Self {
        if let Some(order) = order::given(words) {
            return order;
        }
        if states_rule(words) {
            // What follows a rule is still to be done.
            let rest = words.split_once(". ").map(|(_, rest)| rest.trim());
            return rest
                .filter(|rest| !rest.is_empty())
                .map_or(Self::Rule, Self::of);
        }
        if beyond::is_requested(words) {
            return Self::Beyond;
        }
        let lower = words.to_lowercase();
        let has = |phrases: &str| phrases.split('|').any(|phrase| lower.contains(phrase));
        let begins = |phrases: &str| starts(&lower, phrases);
        let short = words.split_whitespace().count() <= 6;
        match () {
            () if has(WHO) => Self::Who,
            () if has(HELP) || short && begins(GREETING) => Self::Help,
            () if short && has("thank|great|well done|bye") => Self::Thanks,
            () if has(RECAP) => Self::Recap,
            () if has(WHERE) || lower.trim() == "pwd" => Self::Where,
            () if has("sub-agent|subagent|delegate") => Self::Delegate(words.trim().to_owned()),
            () if has("made-up|made up|a long text|a long story|filler") => Self::Filler,
            () if has("skim") => Self::More(Depth::Skim),
            () if has(WHOLE) => Self::More(Depth::Whole),
            () if begins("list|ls|tree") || has(LISTING) => Self::List(pattern(words)),
            () => Self::named(words, &lower).unwrap_or_else(|| Self::vague(words, &lower)),
        }
    }

    /// A wish for something named: a word to search for, or a file.
    fn named(words: &str, lower: &str) -> Option<Self> {
        if let Some(terms) = sought(words, lower) {
            return Some(Self::Find(terms));
        }
        // A file is shown to users who ask for it, not to those who wonder how it might be changed.
        let wonders = beyond::is_mentioned(words) && !starts(lower, READING);
        path_in(words).filter(|_| !wonders).map(Self::Read)
    }

    /// A wish for something that is not named.
    fn vague(words: &str, lower: &str) -> Self {
        let has = |phrases: &str| phrases.split('|').any(|phrase| lower.contains(phrase));
        let short = words.split_whitespace().count() <= 6;
        match () {
            () if short && has("go on|continue|more|next") => Self::More(Depth::Skim),
            () if lower.trim() == "yes" => Self::More(Depth::Skim),
            () if has(AROUND) || words.trim().is_empty() => Self::Overview,
            () => {
                let terms = weighty_as_written(words).into_iter();
                let verb = |term: &str| {
                    READING
                        .split('|')
                        .any(|verb| term.eq_ignore_ascii_case(verb))
                };
                let terms = terms.filter(|term| !verb(term));
                let terms: Vec<String> = terms.take(3).collect();
                if !terms.is_empty() && (words.contains('?') || starts(lower, READING)) {
                    Self::Question(terms)
                } else {
                    Self::Beyond
                }
            }
        }
    }
}

/// Whether the words begin with a rule for the work from now on.
pub(super) fn states_rule(words: &str) -> bool {
    starts(&words.to_lowercase(), RULE) && !words.contains('?')
}

// Phrases that reveal a wish.
const RULE: &str = "always|never|do not|don't|remember|from now on|keep in mind|please always|please never|please remember|\
    please do not";
const WHO: &str = "who are you|what are you|which model|what model|are you real|are you claude|are you an ai|simulated|\
    are you a person";
const HELP: &str = "what can you do|how does this work|what now";
const GREETING: &str = "hi|hello|hey|help|good morning";
const RECAP: &str = "where were we|so far|what did we|what have we|what did i|remember|recap";
const WHERE: &str = "folder is this|folder are you|folder do you|directory is this|directory are you|directory do you|\
    working directory|working folder|current folder|current directory|where are you|where am i";
const WHOLE: &str = "everything|as much as|as many|fill the window|all files|all the files|keep reading|read on|in full";
const LISTING: &str = "which files|what files|list files|list the files|list of files|file names";
const AROUND: &str = "project|folder|repository|repo|codebase|code base|overview|explore|look around|in here|directory";
/// Words that ask what something contains.
const READING: &str = "read|show|explain|describe|summarize|summarize|open|view|print|cat|look|check|what|tell me about|\
    tell me what|tell me how|tell me why|tell me where|tell me which";

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
        let find = |terms: &[&str]| Wish::Find(terms.iter().map(|term| (*term).into()).collect());
        for (words, terms) in [
            ("find parse_line", &["parse_line"] as &[&str]),
            ("where is `a b` used?", &["a b"]),
            ("find step_1_1 and step_2_2", &["step_1_1", "step_2_2"]),
            ("find gross, net and tax in src", &["gross", "net", "tax"]),
            ("find `a b` and `c d`", &["a b", "c d"]),
            ("find main and tell me what it does", &["main"]),
            ("find \"x y\" where `z` is", &["x y"]),
        ] {
            assert_eq!(Wish::of(words), find(terms), "{words}");
        }
        let question = Wish::Question(vec!["Basket".into()]);
        assert_eq!(Wish::of("explain Basket"), question);
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
    fn a_rule_is_noted_and_not_carried_out() {
        for rule in [
            "Never change anything under data/.",
            "Always run the tests before you commit",
            "Remember that heights are in metres",
            "Do not delete notes.txt",
        ] {
            assert_eq!(Wish::of(rule), Wish::Rule, "{rule}");
        }
        assert_eq!(Wish::of("Do you remember what we did?"), Wish::Recap);
        let more = "Never plan a flight. Now read days.txt.";
        assert_ne!(Wish::of(more), Wish::Rule, "what follows is done");
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
            assert_eq!(wish, Wish::Beyond, "{beyond}");
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
