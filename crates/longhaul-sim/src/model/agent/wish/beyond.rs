//! Recognizes what the agent cannot do: deleting, committing, refactoring and the like take an understanding that rules
//! do not have. Such a request must not be taken for one to read the file that it names.

use super::order::orders;
use crate::model::conversation::among;

const BEYOND: &str = "delete remove erase commit push merge rebase revert undo refactor rewrite restructure reorganize fix \
    repair debug solve implement add insert append extend improve optimize optimize simplify clean format convert translate \
    port migrate upgrade update install deploy release publish move copy compute calculate draw design generate review send";
/// Words before a verb that turn it into a request.
const LEADS: &str =
    "and then to please also just maybe should must can could would you we me lets now";
/// Words that begin a question which asks for information.
const ASKING: &str = "how what why where which who when should is are does do did explain tell";

/// Whether the words request something of the kind.
pub(super) fn is_requested(words: &str) -> bool {
    if orders(words).any(|(verb, _)| among(&verb, BEYOND)) {
        return true;
    }
    let tokens = tokens(words);
    if tokens.first().is_some_and(|first| among(first, ASKING)) {
        return false;
    }
    let mut pairs = tokens.windows(2);
    pairs.any(|pair| among(&pair[0], LEADS) && among(&pair[1], BEYOND))
}

/// Whether the words mention something of the kind.
pub(super) fn is_mentioned(words: &str) -> bool {
    let mut tokens = tokens(words).into_iter();
    tokens.any(|token| among(&token, BEYOND))
}

fn tokens(words: &str) -> Vec<String> {
    let tokens =
        words.split(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != '.');
    let tokens = tokens.map(|token| token.trim_matches('.').to_lowercase());
    tokens.filter(|token| !token.is_empty()).collect()
}
