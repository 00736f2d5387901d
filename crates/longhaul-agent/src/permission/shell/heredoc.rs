//! Whether a here-document ends where the grammar says it does. If it were shorter for the shell, the rest would run.

use tree_sitter::Node;

/// Checks a `heredoc_redirect` against the shell's own rule: it ends at the first line that is the word and nothing
/// else.
pub(super) fn check(node: Node<'_>, source: &str) -> Result<(), &'static str> {
    const UNSURE: Result<(), &str> = Err("where its here-document ends is not certain");
    let mut cursor = node.walk();
    let mut start = None;
    let mut end = None;
    let mut strips_tabs = false;
    for child in node.children(&mut cursor) {
        match child.kind() {
            "heredoc_start" if start.is_none() => start = Some(child),
            "heredoc_end" if end.is_none() => end = Some(child),
            "<<-" => strips_tabs = true,
            "<<" | "heredoc_body" | "pipeline" | "command" | "list" | "file_redirect" | "&&"
            | "||" | "|" | ";" => {}
            "redirected_statement" | "subshell" | "compound_statement" => {}
            _ => return UNSURE,
        }
    }
    let (Some(start), Some(end)) = (start, end) else {
        return UNSURE;
    };
    let word = &source[start.byte_range()];
    let bare = unquoted(word);
    let is_plain = !bare.is_empty()
        && bare
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !is_plain || source.matches("<<").count() > 1 {
        return UNSURE;
    }
    let first_row = start.start_position().row + 1;
    let ends = |line: &str| {
        if strips_tabs {
            line.trim_start_matches('\t') == bare
        } else {
            line == bare
        }
    };
    let mut rows = source.split('\n').enumerate().skip(first_row);
    let Some((row, _)) = rows.find(|(_, line)| ends(line)) else {
        return UNSURE;
    };
    if row != end.start_position().row {
        return UNSURE;
    }
    let body: Vec<&str> = source
        .split('\n')
        .skip(first_row)
        .take(row - first_row)
        .collect();
    let expands = word == bare;
    if expands
        && body.iter().any(|line| {
            ["`", "$(", "${", "$["]
                .iter()
                .any(|mark| line.contains(mark))
        })
    {
        return Err("its here-document runs commands");
    }
    Ok(())
}

fn unquoted(word: &str) -> &str {
    let within = |quote: char| {
        word.strip_prefix(quote)
            .and_then(|rest| rest.strip_suffix(quote))
    };
    within('\'').or_else(|| within('"')).unwrap_or(word)
}
