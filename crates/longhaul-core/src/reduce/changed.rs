//! What changed since a file was read before: the new lines, and which of the earlier result's lines lie between them.
//!
//! Together with the earlier result the text holds every line of the new one, in order. Each line of the file has a sign
//! before it, so no line can be taken for one of ours.

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::ResultText;
use super::numbered::{FileLine, ShownLine, lines};
use crate::normalize::fragment::fill;
use crate::quoting::inline;

const CHANGED: &str = include_str!("fragments/changed.txt");

/// Longer results are not compared.
const MOST_BYTES: usize = 1 << 20;
/// The most lines that are compared, on either side, after equal lines at both ends are left out. The time that a
/// comparison takes grows with the square of it, at worst.
const MOST_LINES: usize = 4_000;
/// A repeated part that is shorter is written out: naming it would take as much.
const SHORTEST_RUN: usize = 24;

/// Equal lines of both results, one after the other in both.
#[derive(Debug, Clone, Copy)]
struct EqualRun {
    /// The first line in the list of new lines, and how many there are.
    first: usize,
    count: usize,
    /// The numbers of the first line, now and there.
    now: u64,
    there: u64,
}

/// Returns what changed since an earlier result, or `None` if the two cannot be compared.
pub(super) fn changed(base: ResultText<'_>, result: ResultText<'_>) -> Option<String> {
    if base.text.len() > MOST_BYTES || result.text.len() > MOST_BYTES {
        return None;
    }
    let (before, old) = lines(base.text);
    let (now, new) = lines(result.text);
    if before != now {
        return None;
    }
    let runs = equal_runs(&old, &new)?;
    let mut text = fill(CHANGED, &[("base", &inline(base.call))]);
    let mut at = 0;
    for run in runs {
        literal(&mut text, &new[at..run.first]);
        at = run.first + run.count;
        let lines = &new[run.first..at];
        if lines.iter().map(|line| line.raw.len() + 1).sum::<usize>() < SHORTEST_RUN {
            literal(&mut text, lines);
        } else {
            text.push_str(&marker(run));
        }
    }
    literal(&mut text, &new[at..]);
    Some(text)
}

fn literal(text: &mut String, lines: &[ShownLine<'_>]) {
    for line in lines {
        text.push_str("\n+");
        text.push_str(line.raw);
    }
}

fn marker(run: EqualRun) -> String {
    let span = |first: u64| match run.count as u64 {
        0 | 1 => first.to_string(),
        count => format!("{first}-{}", first.saturating_add(count - 1)),
    };
    if run.now == run.there {
        format!("\n= {}", span(run.now))
    } else {
        format!("\n= {} ({})", span(run.now), span(run.there))
    }
}

/// The runs of equal lines, in the order of the new result. `None` if there is too much to compare.
fn equal_runs(old: &[ShownLine<'_>], new: &[ShownLine<'_>]) -> Option<Vec<EqualRun>> {
    let old: Vec<FileLine<'_>> = old.iter().filter_map(|line| line.file).collect();
    // The index of each line in the new result.
    let new: Vec<(usize, FileLine<'_>)> = (new.iter().enumerate())
        .filter_map(|(at, line)| Some((at, line.file?)))
        .collect();
    let olds: Vec<&str> = old.iter().map(|line| line.content).collect();
    let news: Vec<&str> = new.iter().map(|(_, line)| line.content).collect();
    let alike = |(a, b): &(&&str, &&str)| a == b;
    let head = olds.iter().zip(&news).take_while(alike).count();
    let ends = olds[head..].iter().rev().zip(news[head..].iter().rev());
    let tail = ends.take_while(alike).count();
    let (old_middle, new_middle) = (
        &olds[head..olds.len() - tail],
        &news[head..news.len() - tail],
    );
    if old_middle.len() > MOST_LINES || new_middle.len() > MOST_LINES {
        return None;
    }
    let mut spans = vec![(0, 0, head)];
    for op in capture_diff_slices(Algorithm::Myers, old_middle, new_middle) {
        if let DiffOp::Equal {
            old_index,
            new_index,
            len,
        } = op
        {
            spans.push((head + old_index, head + new_index, len));
        }
    }
    spans.push((olds.len() - tail, news.len() - tail, tail));
    let pairs = spans
        .into_iter()
        .flat_map(|(old_at, new_at, len)| (0..len).map(move |step| (old_at + step, new_at + step)));
    let mut runs: Vec<EqualRun> = Vec::new();
    for (old_at, new_at) in pairs {
        let (first, now) = new[new_at];
        let there = old[old_at].number;
        match runs.last_mut() {
            Some(run)
                if run.first + run.count == first
                    && run.now + run.count as u64 == now.number
                    && run.there + run.count as u64 == there =>
            {
                run.count += 1;
            }
            _ => runs.push(EqualRun {
                first,
                count: 1,
                now: now.number,
                there,
            }),
        }
    }
    Some(runs)
}
