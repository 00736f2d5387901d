//! The vocabulary that recognizes facts. All of it is data that a host may change.

use super::file::FileTool;
use super::host_texts::HostTexts;
use super::phrase_matcher::{PhraseListError, PhraseMatcher, SentenceWords};

/// The vocabulary that recognizes facts.
#[derive(Debug, Clone)]
pub struct Vocabulary {
    /// How rules are stated.
    pub wording: PhraseMatcher,
    /// The texts that belong to the host.
    pub host_texts: HostTexts,
    /// The tools that work on files.
    pub file_tools: Vec<FileTool>,
    /// Tools whose input is a whole todo list.
    pub todo_tools: Vec<String>,
    /// Tools that present a plan to the user.
    pub plan_tools: Vec<String>,
    /// Tools that ask the user questions.
    pub question_tools: Vec<String>,
    /// Tools that add a task to a list.
    pub task_create_tools: Vec<String>,
    /// Tools that change a task.
    pub task_update_tools: Vec<String>,
}

impl Vocabulary {
    /// The default vocabulary with other words for rules and for calling work off.
    ///
    /// # Errors
    /// Fails if there are more words than can be searched for.
    pub fn with_words(words: &SentenceWords) -> Result<Self, PhraseListError> {
        let vocabulary = Self::default();
        Ok(Self {
            wording: vocabulary.wording.with_words(words)?,
            ..vocabulary
        })
    }
}

impl Default for Vocabulary {
    fn default() -> Self {
        let one = |name: &str| vec![name.to_owned()];
        Self {
            wording: PhraseMatcher::builtin(),
            host_texts: HostTexts::builtin(),
            file_tools: FileTool::builtin(),
            todo_tools: one("TodoWrite"),
            plan_tools: one("ExitPlanMode"),
            question_tools: vec!["AskUserQuestion".to_owned(), "AskUser".to_owned()],
            task_create_tools: one("TaskCreate"),
            task_update_tools: one("TaskUpdate"),
        }
    }
}
