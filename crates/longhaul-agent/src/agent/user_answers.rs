//! Answers to the model's questions: the user gives them, or a hook in the user's place. They are added to the input of
//! the call, where Claude Code has them, too. What the model itself writes there is removed: it would put words into
//! the user's mouth.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::tool::{ANSWERS, ToolAccess};

/// The input of a call as the model may give it.
pub(super) fn as_asked<'v>(access: &ToolAccess, input: &'v Value) -> Cow<'v, Value> {
    let ToolAccess::AsksUser(_) = access else {
        return Cow::Borrowed(input);
    };
    let mut input = input.clone();
    if let Some(fields) = input.as_object_mut() {
        fields.remove(ANSWERS);
    }
    Cow::Owned(input)
}

/// Whether a call cannot run before somebody has answered.
pub(super) fn is_open(access: &ToolAccess, input: &Value) -> bool {
    matches!(access, ToolAccess::AsksUser(_)) && input.get(ANSWERS).is_none()
}

/// The input with the user's answers, one for each question.
pub(super) fn answered(access: &ToolAccess, mut input: Value, answers: Vec<String>) -> Value {
    if let (ToolAccess::AsksUser(questions), Some(fields)) = (access, input.as_object_mut()) {
        let pairs = questions.iter().zip(answers);
        let pairs = pairs.map(|(asked, answer)| (asked.question.clone(), Value::String(answer)));
        let pairs: Map<String, Value> = pairs.collect();
        fields.insert(ANSWERS.to_owned(), Value::Object(pairs));
    }
    input
}
