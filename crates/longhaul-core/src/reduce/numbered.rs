//! The lines of a file as a tool shows them, with a number before each line or without.

/// How many lines without a number may come before the first numbered one.
const BEFORE: usize = 3;

/// A line that can be found again in another showing of the same file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileLine<'t> {
    /// The line's number: the one that is shown, or its position.
    pub(super) number: u64,
    /// The line without its number.
    pub(super) content: &'t str,
}

/// A line of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ShownLine<'t> {
    /// The line as it is shown.
    pub(super) raw: &'t str,
    /// The line of the file; `None` for what the tool says around the file.
    pub(super) file: Option<FileLine<'t>>,
}

/// Whether a tool shows numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineNumbering {
    Shown,
    Position,
}

/// Takes a result apart. Joined by line breaks, its lines are the result again.
pub(super) fn lines(text: &str) -> (LineNumbering, Vec<ShownLine<'_>>) {
    let raws: Vec<&str> = text.split('\n').collect();
    let numbers = raws
        .iter()
        .take(BEFORE + 1)
        .position(|raw| is_numbered(raw));
    // One line with a number is no list of them.
    let start = numbers.filter(|start| {
        let pair = raws.get(*start).zip(raws.get(start + 1));
        pair.is_some_and(|(one, next)| match (number(one), number(next)) {
            (Some((one, _)), Some((next, _))) => one.checked_add(1) == Some(next),
            _ => false,
        })
    });
    let Some(start) = start else {
        let plain = (1..).zip(&raws).map(|(number, raw)| ShownLine {
            raw,
            file: Some(FileLine {
                number,
                content: raw,
            }),
        });
        return (LineNumbering::Position, plain.collect());
    };
    let mut expected = raws
        .get(start)
        .and_then(|raw| number(raw))
        .map(|(at, _)| at);
    let shown = raws.iter().map(|raw| {
        let found = number(raw).filter(|(number, _)| Some(*number) == expected);
        expected = match found {
            Some((number, _)) => number.checked_add(1),
            None => expected,
        };
        let file = found.map(|(number, content)| FileLine { number, content });
        ShownLine { raw, file }
    });
    (LineNumbering::Shown, shown.collect())
}

fn is_numbered(line: &str) -> bool {
    number(line).is_some()
}

/// The number before a line, and the rest of the line: `     1→text`, `1<tab>text`, `00001| text`, `1 | text`.
fn number(line: &str) -> Option<(u64, &str)> {
    let line = line.trim_start_matches(' ');
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = line.split_at_checked(digits)?;
    let marks = ["→", "\t", "| ", " | ", "|"];
    let content = marks.iter().find_map(|mark| rest.strip_prefix(mark))?;
    Some((number.parse().ok()?, content))
}
