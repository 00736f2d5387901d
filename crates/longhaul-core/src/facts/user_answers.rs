//! The user's words inside tool results: answers to a tool's questions, and comments on a refused call (X1). They count
//! as the user's messages like any that were typed; the host's text around them does not.

use super::excerpt::ToolResultBlock;
use super::host_texts::HostTexts;
use crate::json::{self, JsonCursor, ObjectReader};

/// The most bytes of a result that are searched for the user's words.
const LONGEST_RESULT: usize = 64 << 10;
/// The most bytes of a question that are kept.
const LONGEST_QUESTION: usize = 600;
/// A message of up to this many characters may be an answer that means nothing without its question.
const SHORT_ANSWER: usize = 32;

/// How hosts begin the result of a call that the user refused.
const REFUSED: [&str; 6] = [
    "The user doesn't want to proceed",
    "The user doesn't want to take this action",
    "The user did not allow this call",
    "Permission for this tool use was denied",
    "The agent proposed a plan that was rejected by the user",
    "User rejected",
];
/// Tools whose failures begin in the host's own words, such as a failed command with its exit code. Any other tool's
/// failure is a foreign text, which could claim that the user had said something.
const OWN_WORDS: [&str; 15] = [
    "AskUserQuestion",
    "Bash",
    "Edit",
    "EnterPlanMode",
    "ExitPlanMode",
    "Glob",
    "Grep",
    "LS",
    "MultiEdit",
    "NotebookEdit",
    "Read",
    "Skill",
    "Task",
    "TodoWrite",
    "Write",
];
/// The host's text before the user's own words in such a result.
const SAID: [&str; 4] = [
    "the user said:",
    "The user said:",
    "The user says:",
    "reason for the rejection:",
];
/// The host's text after the user's own words.
const AFTER_SAID: &str = "\n\nNote: The user's next message may contain";
/// The host's text around answers to questions.
const ANSWERED: [&str; 2] = [
    "User has answered your questions:",
    "The user answered your questions:",
];
const AFTER_ANSWERS: &str = "You can now continue";

/// The user's words in a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UserAnswer {
    /// The words with the question that they answer.
    pub(super) text: String,
    /// The words alone: only these can state a rule.
    pub(super) words: String,
}

/// The questions that a call asks the user.
pub(super) fn questions(input: ObjectReader<'_>) -> Vec<String> {
    let mut asked = Vec::new();
    let listed = input.get("questions").and_then(json::items);
    for item in listed.into_iter().flatten() {
        let is_object = item.first() == Some(&b'{');
        let question = is_object.then(|| ObjectReader::new(item).string("question"));
        asked.extend(question.flatten().map(|text| shown(&text)));
    }
    if asked.is_empty() {
        asked.extend(input.string("question").map(|text| shown(&text)));
    }
    asked
}

/// The user's answers. `questions` are those of the call.
pub(super) fn answered(answer: ToolResultBlock<'_>, questions: &[String]) -> Option<UserAnswer> {
    let pairs = recorded(answer).or_else(|| answers_in(&answer.excerpt(LONGEST_RESULT), questions));
    let mut heard = UserAnswer {
        text: String::new(),
        words: String::new(),
    };
    for (question, words) in pairs? {
        for text in [&mut heard.text, &mut heard.words] {
            if !text.is_empty() {
                text.push('\n');
            }
        }
        heard.text.push_str(&format!("Asked “{question}”: {words}"));
        heard.words.push_str(&words);
    }
    (!heard.words.trim().is_empty()).then_some(heard)
}

/// The answers by question, where the host recorded them in the result's entry.
fn recorded(answer: ToolResultBlock<'_>) -> Option<Vec<(String, String)>> {
    let line = answer.entry.line;
    memchr::memmem::find(line, b"\"answers\"")?;
    let result = ObjectReader::new(line).object("toolUseResult")?;
    let answers = result
        .get("answers")
        .filter(|raw| raw.first() == Some(&b'{'))?;
    let mut pairs = Vec::new();
    let walked = JsonCursor::new(answers).object(|cursor, question| {
        let words = cursor.raw()?;
        if let Some(words) = json::content(words) {
            pairs.push((
                shown(&json::decode(question)),
                json::decode(words).into_owned(),
            ));
        }
        Ok(())
    });
    walked.ok()?;
    (!pairs.is_empty()).then_some(pairs)
}

/// The answers as the result states them: `"question"="answer"`, or else its whole text.
fn answers_in(result: &str, questions: &[String]) -> Option<Vec<(String, String)>> {
    let body = ANSWERED
        .iter()
        .find_map(|lead| result.trim().strip_prefix(lead));
    let body = body.unwrap_or(result).trim();
    let body = body.rfind(AFTER_ANSWERS).map_or(body, |at| &body[..at]);
    let body = body.trim().trim_end_matches('.');
    let starts: Vec<(usize, &String)> = questions
        .iter()
        .filter_map(|question| Some((body.find(&format!("\"{question}\"=\""))?, question)))
        .collect();
    let mut pairs = Vec::new();
    for (at, question) in &starts {
        let from = at + question.len() + "\"\"=\"".len();
        let next = starts
            .iter()
            .map(|(start, _)| *start)
            .filter(|start| start > at);
        let until = next.min().unwrap_or(body.len());
        let words = body.get(from..until)?.trim_end_matches([' ', ',']);
        let words = words.strip_suffix('"').unwrap_or(words);
        pairs.push(((*question).clone(), words.to_owned()));
    }
    if pairs.is_empty() && !body.is_empty() {
        pairs.push((questions.join(" "), body.to_owned()));
    }
    (!pairs.is_empty()).then_some(pairs)
}

/// Whether a tool's failures begin in the host's own words.
pub(super) fn fails_in_own_words(tool: &str) -> bool {
    OWN_WORDS.contains(&tool)
}

/// Whether a failed result is a user's refusal.
pub(super) fn is_refusal(result: &str) -> bool {
    REFUSED.iter().any(|begin| result.starts_with(begin))
}

/// The user's comment on a refused call. `None` if there is none.
pub(super) fn refused(answer: ToolResultBlock<'_>, host: &HostTexts) -> Option<UserAnswer> {
    let result = answer.excerpt(LONGEST_RESULT);
    if !is_refusal(&result) {
        return None;
    }
    let said = SAID.iter().find_map(|mark| result.split_once(mark))?.1;
    let said = said.find(AFTER_SAID).map_or(said, |at| &said[..at]).trim();
    (!said.is_empty() && !host.is_hosts(said)).then(|| UserAnswer {
        text: said.to_owned(),
        words: said.to_owned(),
    })
}

/// The question that a short message answers, from the assistant's last text.
pub(super) fn question_of(message: &str, said: Option<&str>) -> Option<String> {
    let message = message.trim();
    let is_short = !message.is_empty() && message.chars().count() <= SHORT_ANSWER;
    let said = said.filter(|said| is_short && said.contains(['?', '？']))?;
    Some(shown(said))
}

/// The end of an assistant's text block: the place of a question, with the choices it offers.
pub(super) fn last_words(value: &[u8]) -> Option<String> {
    let content = json::content(value)?;
    let tail = json::decode_tail(content, LONGEST_QUESTION);
    // A text that was cut begins with a complete line.
    let tail = if content.len() > LONGEST_QUESTION {
        tail.split_once('\n').map_or(&*tail, |(_, rest)| rest)
    } else {
        &tail
    };
    Some(tail.trim().to_owned())
}

fn shown(question: &str) -> String {
    let question = question.trim();
    match question.char_indices().nth(LONGEST_QUESTION) {
        Some((at, _)) => format!("{}…", &question[..at]),
        None => question.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x1_answers_are_told_apart_by_their_questions() {
        let questions = ["Which rig?".to_owned(), "Which tools, and why?".to_owned()];
        let result = "User has answered your questions: \"Which rig?\"=\"No rig, \"none\" at all\", \"Which tools, and why?\"=\"Credo. It is small.\". You can now continue with the user's answers in mind.";
        let pairs = answers_in(result, &questions).unwrap();
        assert_eq!(pairs[0].1, "No rig, \"none\" at all");
        assert_eq!(pairs[1].1, "Credo. It is small.");
        let free = answers_in("Neither of them", &questions[..1]).unwrap();
        assert_eq!(
            free,
            [("Which rig?".to_owned(), "Neither of them".to_owned())]
        );
    }

    #[test]
    fn x1_only_a_short_message_after_a_question_needs_it() {
        let said = "1. Postgres\n2. MySQL\nWhich one?";
        assert_eq!(question_of(" 2 ", Some(said)).as_deref(), Some(said));
        assert_eq!(question_of("option 2", Some("Done.")), None);
        let long = "Please write the tests first and then run all of them.";
        assert_eq!(question_of(long, Some(said)), None);
    }
}
