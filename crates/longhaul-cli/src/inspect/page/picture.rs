//! Pictures made of characters: the window as a bar, its history as a curve.

use anstyle::{AnsiColor, Style};
use longhaul_core::inspect::InspectionReport;

/// The name of the part for the request prefix, and for tokens that no message accounts for.
pub(super) const PROMPT: &str = "prompt, tools, overhead";
/// The name of the part that is shown tool by tool.
pub(super) const TOOL_RESULTS: &str = "tool results";

/// One part of the window.
pub(super) struct WindowPart {
    pub(super) name: &'static str,
    /// The letter for the part where there is no color.
    letter: char,
    color: AnsiColor,
    pub(super) tokens: u64,
}

impl WindowPart {
    pub(super) fn style(&self) -> Style {
        Style::new().fg_color(Some(self.color.into()))
    }

    /// The character the part is drawn with.
    pub(super) fn mark(&self, color: bool) -> char {
        if color { '█' } else { self.letter }
    }
}

/// What is in the window, in the order in which the model sees it, roughly.
pub(super) fn parts(report: &InspectionReport) -> Vec<WindowPart> {
    let shares = report.categories.shares(report.context_tokens);
    let part = |name, letter, color, tokens| WindowPart {
        name,
        letter,
        color,
        tokens,
    };
    let recorded = shares.system_prompt + shares.tools + shares.memory_files;
    let prompt = shares.unattributed + recorded;
    // Without a measurement nothing is known about what the file does not record.
    let prompt_name = match report.measured + recorded {
        0 => "margin of the estimate",
        _ => PROMPT,
    };
    vec![
        part(prompt_name, 'P', AnsiColor::BrightBlack, prompt),
        part("summaries", 'S', AnsiColor::Magenta, shares.summaries),
        part(
            "human messages",
            'H',
            AnsiColor::Green,
            shares.human_messages,
        ),
        part(
            "assistant messages",
            'A',
            AnsiColor::Cyan,
            shares.assistant_messages,
        ),
        part("tool requests", 'Q', AnsiColor::Blue, shares.tool_requests),
        part(TOOL_RESULTS, 'R', AnsiColor::Yellow, shares.tool_results),
        part("attachments", 'T', AnsiColor::Red, shares.attachments),
    ]
}

/// The window as a bar of `width` columns: what is used, by part, then what is free.
pub(super) fn bar(report: &InspectionReport, width: usize, color: bool) -> String {
    let size = report.window.size.max(1);
    let column =
        |tokens: u64| ((tokens as u128 * width as u128 + size as u128 / 2) / size as u128) as usize;
    let parts = parts(report);
    let total: u64 = parts.iter().map(|part| part.tokens).sum::<u64>().max(1);
    let used = column(report.context_tokens).min(width);
    let mut bar = String::new();
    let (mut seen, mut drawn) = (0, 0);
    for part in &parts {
        seen += part.tokens;
        // Rounded: a part is drawn where it fills most of a cell; this holds for the last one, too.
        let until = ((seen as u128 * used as u128 + total as u128 / 2) / total as u128) as usize;
        let style = part.style();
        let cells: String = std::iter::repeat_n(part.mark(color), until - drawn).collect();
        if !cells.is_empty() {
            bar.push_str(&format!("{style}{cells}{style:#}"));
        }
        drawn = until;
    }
    bar.extend(std::iter::repeat_n('·', width - drawn));
    bar
}

/// The limits below the bar: `w`arning, auto-`c`ompact, `b`locking.
pub(super) fn ruler(report: &InspectionReport, width: usize) -> String {
    let mut ruler = vec![' '; width];
    let thresholds = &report.thresholds;
    let mut limits = vec![(thresholds.warning, 'w'), (thresholds.blocking, 'b')];
    if thresholds.auto_compact_enabled {
        limits.insert(1, (thresholds.auto_compact, 'c'));
    }
    for (tokens, letter) in limits {
        let at = tokens as u128 * width as u128 / report.window.size.max(1) as u128;
        // Limits that share a column are placed side by side.
        let free = (at as usize..width)
            .chain(0..width)
            .find(|at| ruler[*at] == ' ');
        if let Some(at) = free {
            ruler[at] = letter;
        }
    }
    ruler.into_iter().collect::<String>().trim_end().to_owned()
}

/// A curve of values in `width` columns at most; each column shows the largest of its values.
pub(super) fn curve(values: &[u64], width: usize) -> String {
    const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let top = values.iter().copied().max().unwrap_or(0).max(1);
    let columns = values.len().min(width.max(1));
    (0..columns)
        .filter_map(|column| {
            let from = column * values.len() / columns;
            let until = ((column + 1) * values.len() / columns).max(from + 1);
            let value = values[from..until].iter().copied().max()?;
            Some(LEVELS[(value as u128 * 7 / top as u128) as usize])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_fits_its_width_and_keeps_its_peaks() {
        assert_eq!(curve(&[], 10), "");
        assert_eq!(curve(&[0, 7], 10), "▁█");
        let values: Vec<u64> = (0..1_000).map(|n| if n == 503 { 100 } else { 1 }).collect();
        let curve = curve(&values, 50);
        assert_eq!(curve.chars().count(), 50);
        assert_eq!(curve.chars().filter(|c| *c == '█').count(), 1);
    }
}
