//! Questions that the model asks the user, in the shape of Claude Code's `AskUserQuestion`.

use serde_json::Value;

/// The most questions of one call, and the most options of one question.
const MOST_QUESTIONS: usize = 4;
const MOST_OPTIONS: usize = 6;
/// The most characters of a question: the conversation's facts keep questions up to this length whole.
const LONGEST_QUESTION: usize = 500;
/// The most characters of a label, a heading and a description.
const LONGEST_LABEL: usize = 200;
const LONGEST_HEADER: usize = 60;
const LONGEST_DESCRIPTION: usize = 600;

/// A question with its options. The user may always say something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserQuestion {
    /// The question, on one line.
    pub question: String,
    /// What the question is about, in a word or two; it may be empty.
    pub header: String,
    /// The offered answers.
    pub options: Vec<QuestionOption>,
    /// Whether several options may be chosen.
    pub multi_select: bool,
}

/// An offered answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionOption {
    /// The answer, on one line.
    pub label: String,
    /// What it means; it may be empty.
    pub description: String,
}

impl UserQuestion {
    /// The questions of a call. An error says what is wrong with the input.
    pub(crate) fn of_input(input: &Value) -> Result<Vec<Self>, String> {
        let items = list(input, "questions")?;
        if items.is_empty() || items.len() > MOST_QUESTIONS {
            return Err(format!(
                "`questions` needs 1 to {MOST_QUESTIONS} questions, and has {}",
                items.len()
            ));
        }
        let questions: Vec<Self> = items.iter().map(Self::read).collect::<Result<_, _>>()?;
        for (at, one) in questions.iter().enumerate() {
            if questions[..at]
                .iter()
                .any(|other| other.question == one.question)
            {
                return Err(format!("the question “{}” is there twice", one.question));
            }
        }
        Ok(questions)
    }

    fn read(item: &Value) -> Result<Self, String> {
        let question = line(item, "question", LONGEST_QUESTION)?;
        if question.is_empty() {
            return Err("a question has no `question`".to_owned());
        }
        let mut options: Vec<QuestionOption> = Vec::new();
        for item in list(item, "options")? {
            // Some models give a text where an object is asked for.
            let label = match item.as_str() {
                Some(text) => one_line(text, "label", LONGEST_LABEL)?,
                None => line(item, "label", LONGEST_LABEL)?,
            };
            if label.is_empty() || options.iter().any(|other| other.label == label) {
                return Err(format!(
                    "the options of “{question}” need labels, each another one"
                ));
            }
            options.push(QuestionOption {
                label,
                description: line(item, "description", LONGEST_DESCRIPTION)?,
            });
        }
        if options.len() < 2 || options.len() > MOST_OPTIONS {
            return Err(format!(
                "“{question}” needs 2 to {MOST_OPTIONS} options, and has {}",
                options.len()
            ));
        }
        Ok(Self {
            header: line(item, "header", LONGEST_HEADER)?,
            multi_select: item.get("multiSelect").and_then(Value::as_bool) == Some(true),
            question,
            options,
        })
    }
}

fn list<'v>(input: &'v Value, name: &str) -> Result<&'v [Value], String> {
    let items = input.get(name).and_then(Value::as_array);
    items
        .map(Vec::as_slice)
        .ok_or_else(|| format!("`{name}` is not a list"))
}

/// A text field of an item, on one line; empty if it is missing.
fn line(item: &Value, name: &str, most: usize) -> Result<String, String> {
    let text = item.get(name).and_then(Value::as_str).unwrap_or_default();
    one_line(text, name, most)
}

/// A text on one line. One that is too long is an error: a part of it would be another question.
fn one_line(text: &str, name: &str, most: usize) -> Result<String, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.chars().nth(most) {
        Some(_) => Err(format!("`{name}` has more than {most} characters")),
        None => Ok(line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn asked(question: &str, options: Value) -> Value {
        json!({"questions": [{"question": question, "header": "It", "options": options}]})
    }

    #[test]
    fn q1_questions_are_read_on_one_line_each() {
        let options = json!([{"label": "A\nb", "description": "first"}, "C"]);
        let read = UserQuestion::of_input(&asked(" Which\n one? ", options)).unwrap();
        assert_eq!(read[0].question, "Which one?");
        assert_eq!(read[0].options[0].label, "A b");
        assert_eq!(read[0].options[1].label, "C");
        assert!(!read[0].multi_select);
    }

    #[test]
    fn q1_what_cannot_be_asked_is_refused_with_a_reason() {
        let two = json!([{"label": "A"}, {"label": "B"}]);
        for (input, why) in [
            (json!({}), "not a list"),
            (json!({"questions": []}), "1 to 4"),
            (asked("", two.clone()), "no `question`"),
            (asked("Which?", json!([{"label": "A"}])), "2 to 6"),
            (asked("Which?", json!(["A", "A"])), "each another one"),
            (asked(&"x".repeat(501), two.clone()), "more than 500"),
            (
                json!({"questions": [asked("Q?", two.clone())["questions"][0], asked("Q?", two)["questions"][0]]}),
                "twice",
            ),
        ] {
            let error = UserQuestion::of_input(&input).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
