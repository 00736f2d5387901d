//! The commands in a document: lines of shell blocks, and code within sentences and tables.

/// The blocks of a document, as language and lines.
fn blocks(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut found = Vec::new();
    let mut open: Option<(&str, Vec<&str>)> = None;
    for line in text.lines() {
        match (line.trim_start().strip_prefix("```"), &mut open) {
            (Some(language), None) => open = Some((language.trim(), Vec::new())),
            (Some(_), Some(_)) => found.extend(open.take()),
            (None, Some((_, lines))) => lines.push(line),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block has no end");
    found
}

/// The lines of the shell blocks without comments. In a block that shows what a command prints, commands follow a `$`.
pub(super) fn commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (_, lines) in blocks(text)
        .iter()
        .filter(|(language, _)| *language == "sh")
    {
        let has_output = lines.first().is_some_and(|line| line.starts_with("$ "));
        let mut whole = String::new();
        for line in lines {
            let typed = match (has_output, line.strip_prefix("$ ")) {
                (true, None) => continue,
                (true, Some(typed)) => typed,
                (false, _) => line,
            };
            // A comment is separated by more than a space.
            let typed = typed.split("  #").next().unwrap().trim();
            let typed = typed.split(" # ").next().unwrap().trim();
            if let Some(begin) = typed.strip_suffix('\\') {
                whole.push_str(begin);
                continue;
            }
            whole.push_str(typed);
            if !whole.is_empty() && !whole.starts_with('#') {
                found.push(whole.clone());
            }
            whole.clear();
        }
    }
    found
}

/// Blocks that hold commands and do not say so, by their first lines: nobody would run these.
pub(super) fn unmarked(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (language, lines) in blocks(text) {
        let has_command = lines.iter().any(|line| is_command(line));
        if language.is_empty() || (language != "sh" && has_command) {
            found.push(lines.first().copied().unwrap_or_default().to_owned());
        }
    }
    found
}

/// Code in sentences and tables that is a command with arguments.
pub(super) fn inline(text: &str) -> Vec<String> {
    let mut is_block = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_block = !is_block;
        } else if !is_block {
            // What is between the first and the second backtick, the third and the fourth, …
            let code = line.split('`').skip(1).step_by(2);
            found.extend(code.filter(|code| is_command(code)).map(str::to_owned));
        }
    }
    found
}

fn is_command(line: &str) -> bool {
    let line = without_variables(line);
    ["longhaul ", "cargo ", "crates/"]
        .iter()
        .any(|begin| line.starts_with(begin) && line.contains(' '))
}

/// A command without the variables that are set for it.
pub(super) fn without_variables(line: &str) -> &str {
    let mut rest = line;
    loop {
        let name = rest.find(|letter: char| !letter.is_ascii_uppercase() && letter != '_');
        let Some(value) = rest
            .get(name.unwrap_or(0)..)
            .and_then(|it| it.strip_prefix('='))
        else {
            return rest;
        };
        let end = match value.strip_prefix('\'') {
            Some(quoted) => quoted.find('\'').map(|end| end + 2),
            None => value.find(' '),
        };
        let Some(after) = end.and_then(|end| value.get(end..)) else {
            return "";
        };
        rest = after.trim_start();
    }
}

#[test]
fn commands_are_found_in_blocks_and_in_sentences() {
    let text = "Run `longhaul inspect FILE` or `A=1 cargo test -p x`, not `longhaul`.\n```sh\nA='b c' longhaul x \\\n  -y  # why\n```\n```\nlonghaul z\n```\n";
    assert_eq!(commands(text), ["A='b c' longhaul x -y"]);
    assert_eq!(
        inline(text),
        ["longhaul inspect FILE", "A=1 cargo test -p x"]
    );
    assert_eq!(unmarked(text), ["longhaul z"]);
    assert_eq!(without_variables("A='b c' D=e longhaul x"), "longhaul x");
    assert_eq!(without_variables("longhaul x A=b"), "longhaul x A=b");
}
