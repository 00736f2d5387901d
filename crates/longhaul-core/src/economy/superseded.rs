//! Results that a later one replaced, and clearing down to a target (V4, U5).

use crate::message::Id;

/// What a result is about, so that a later result can be found to replace it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResultSubject {
    /// The file or the command.
    pub target: Id,
    /// The part of the file that was read, if only a part was.
    pub part: Option<Id>,
    /// What the call did with it.
    pub effect: SubjectEffect,
}

/// What a call does with its subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubjectEffect {
    /// It reads the file.
    Reads,
    /// It runs the command.
    Runs,
    /// It changes the file.
    Changes,
}

impl ResultSubject {
    /// Whether this newer result makes an older one out of date.
    fn replaces(self, older: Self) -> bool {
        let covers =
            self.effect == SubjectEffect::Changes || self.part.is_none() || self.part == older.part;
        self.target == older.target && covers
    }
}

/// Returns for each result, oldest first, whether a later one replaced it: the file was read again, edited or written
/// since, or the command was run again.
pub fn superseded(subjects: &[Option<ResultSubject>]) -> Vec<bool> {
    let mut latest: std::collections::BTreeMap<Id, Vec<ResultSubject>> = Default::default();
    let mut replaced = vec![false; subjects.len()];
    for (index, subject) in subjects.iter().enumerate().rev() {
        let Some(subject) = *subject else { continue };
        let later = latest.entry(subject.target).or_default();
        replaced[index] = later.iter().any(|newer| newer.replaces(subject));
        // Two equal subjects replace the same results.
        if !later.contains(&subject) {
            later.push(subject);
        }
    }
    replaced
}

/// Returns which of the oldest `removable` results to clear so that `excess` tokens leave: superseded ones first, then
/// the oldest. All of them, if that is not enough.
pub(crate) fn oldest_until(
    sizes: &[u64],
    superseded: &[bool],
    removable: usize,
    mut excess: u64,
) -> Vec<usize> {
    let candidates = || 0..removable.min(sizes.len());
    let is_superseded = |index: &usize| superseded.get(*index).copied().unwrap_or_default();
    let first = candidates().filter(is_superseded);
    let then = candidates().filter(|index| !is_superseded(index));
    let mut chosen = Vec::new();
    for index in first.chain(then) {
        if excess == 0 {
            break;
        }
        excess = excess.saturating_sub(sizes[index]);
        chosen.push(index);
    }
    chosen.sort_unstable();
    chosen
}
