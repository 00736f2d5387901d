//! Plans and calls that the user turned down (Y4). They are recorded so that nobody resumes them.

use serde::{Deserialize, Serialize};

/// The most actions of each kind that are kept; the newest stay.
const MOST: usize = 8;
/// The most characters of a plan's title, and of the user's comment on it.
const LONGEST: usize = 300;

/// How hosts write the answer of a user who turned something down: the result begins with one of these, and the user's
/// comment follows `SAID`.
const DECLINED: [&str; 3] = [
    "The user doesn't want to proceed",
    "The user doesn't want to take this action",
    "User rejected",
];
const SAID: &str = "the user said:";

/// A plan or call that the user turned down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CancelledAction {
    /// The kind of the action.
    pub kind: CancelledActionKind,
    /// The plan's title, or the call's tool and subject.
    pub title: String,
    /// The user's comment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// The entry in which the user turned it down.
    #[serde(default)]
    pub uuid: String,
}

/// The kind of an action that the user turned down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CancelledActionKind {
    /// A plan that the user was asked to approve.
    Plan,
    /// A call that needed the user's consent.
    Call,
}

/// Recognizes a failed result as the user's refusal, and returns the user's comment.
pub(super) fn refusal(result: &str) -> Option<Option<String>> {
    let declined = DECLINED.iter().any(|begin| result.starts_with(begin));
    declined.then(|| {
        let said = result.split_once(SAID)?.1.trim();
        (!said.is_empty()).then(|| said.chars().take(LONGEST).collect())
    })
}

/// Records a refusal.
pub(super) fn decline(
    all: &mut Vec<CancelledAction>,
    kind: CancelledActionKind,
    title: &str,
    said: Option<String>,
    uuid: String,
) {
    all.retain(|known| known.kind != kind || known.title != title);
    let over = (all.iter().filter(|known| known.kind == kind).count() + 1).saturating_sub(MOST);
    for _ in 0..over {
        if let Some(oldest) = all.iter().position(|known| known.kind == kind) {
            all.remove(oldest);
        }
    }
    all.push(CancelledAction {
        kind,
        title: title.to_owned(),
        said,
        uuid,
    });
}

/// Records that an action was done after all.
pub(super) fn accept(all: &mut Vec<CancelledAction>, kind: CancelledActionKind, title: &str) {
    all.retain(|known| known.kind != kind || known.title != title);
}

/// A plan's title: its first line with words.
pub(super) fn plan_title(plan: &str) -> String {
    let line = plan
        .lines()
        .map(|line| line.trim().trim_start_matches('#').trim())
        .find(|line| !line.is_empty());
    line.unwrap_or("a plan").chars().take(LONGEST).collect()
}
