//! Instructions added to the request for a summary: the user's, the hooks', the memory file's, in this order (F4, K1).

/// What others want of a summary. Blank ones add nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Instructions<'a> {
    /// What the user gave with the command.
    pub user: &'a str,
    /// What hooks printed, in the order in which they are configured.
    pub hooks: &'a [&'a str],
    /// The section of the project's memory file; see [`compact_instructions`].
    pub memory_file: &'a str,
}

impl Instructions<'_> {
    /// The part of the prompt that holds them; empty if there are none.
    pub(super) fn text(&self) -> String {
        let user = ("From the user:", self.user);
        let hooks = self.hooks.iter().map(|text| ("From a hook:", *text));
        let memory = ("From the project's memory file:", self.memory_file);
        let all = std::iter::once(user).chain(hooks).chain([memory]);
        let mut text = String::new();
        for (from, instruction) in all {
            let instruction = instruction.trim();
            if !instruction.is_empty() {
                text.push_str(&format!("\n\n{from}\n{instruction}"));
            }
        }
        match text.is_empty() {
            true => text,
            false => format!("{}{text}", include_str!("instructions.md").trim_end()),
        }
    }
}

/// The section of a memory file that is headed `Compact Instructions`, without its heading: up to the next heading of
/// the same level or a higher one. Empty if there is none. A heading inside a code block is not one.
pub fn compact_instructions(memory_file: &str) -> &str {
    let mut start = None;
    let mut fenced = false;
    let mut at = 0;
    for line in memory_file.split_inclusive('\n') {
        let (begin, text) = (at, line.trim());
        at += line.len();
        if text.starts_with("```") || text.starts_with("~~~") {
            fenced = !fenced;
        }
        let Some((level, title)) = heading(text).filter(|_| !fenced) else {
            continue;
        };
        match start {
            None if title.eq_ignore_ascii_case("compact instructions") => start = Some((at, level)),
            Some((from, own)) if level <= own => return memory_file[from..begin].trim(),
            _ => {}
        }
    }
    start.map_or("", |(from, _)| memory_file[from..].trim())
}

/// Level and words of a line that is a heading.
fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let title = line[level..].strip_prefix([' ', '\t'])?;
    let title = title.trim().trim_end_matches('#').trim();
    (1..=6).contains(&level).then_some((level, title))
}
