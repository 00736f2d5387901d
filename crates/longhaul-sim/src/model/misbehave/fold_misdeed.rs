//! Misdeeds in an answer of several folds, where they differ from those in a summary.

use super::Misdeed;

const OPEN: &str = "<fold n=";
const CLOSE: &str = "</fold>";

/// Spoils an answer of folds. `size` is the number of bytes that they summarize. Returns `None` if the answer holds no
/// folds or the misdeed does not apply.
pub(super) fn spoilt(deed: Misdeed, honest: &str, size: usize) -> Option<String> {
    let folds: Vec<(&str, &str)> = honest
        .split(OPEN)
        .skip(1)
        .filter_map(|fold| fold.split_once('>'))
        .map(|(number, body)| {
            (
                number,
                body.rsplit_once(CLOSE).map_or(body, |(body, _)| body),
            )
        })
        .collect();
    if folds.is_empty() {
        return None;
    }
    let written = |(number, body): &(&str, &str)| format!("{OPEN}{number}>{body}{CLOSE}");
    let all = |folds: &[(&str, &str)]| folds.iter().map(written).collect::<Vec<_>>().join("\n");
    match deed {
        Misdeed::Missing => Some(all(&folds[..folds.len() - 1])),
        Misdeed::Empty => Some(all(&folds
            .iter()
            .map(|(number, _)| (*number, "\n"))
            .collect::<Vec<_>>())),
        Misdeed::Untagged => {
            let bodies: Vec<&str> = folds.iter().map(|(_, body)| body.trim()).collect();
            Some(bodies.join("\n\n"))
        }
        Misdeed::Long => {
            let (number, body) = folds[0];
            let body = body.repeat(size / body.len().max(1) + 2);
            let first = written(&(number, &body));
            Some([first, all(&folds[1..])].join("\n"))
        }
        _ => None,
    }
}
