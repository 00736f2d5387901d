//! What each node of the syntax tree adds to a script. Kinds of nodes that are not listed are not understood.

use tree_sitter::Node;

use super::word::{ShellWord, begins_expansion};
use super::{ShellScript, SimpleCommand, condition, evaluation, heredoc, without_timing};

/// Adds the meaning of one node; an error says why it is not understood.
pub(super) fn visit(
    node: Node<'_>,
    parent: &str,
    source: &str,
    script: &mut ShellScript,
) -> Result<(), &'static str> {
    let raw = &source[node.byte_range()];
    match node.kind() {
        "command" => {
            let (part, trouble) = part(node, source);
            let reserved = part
                .words
                .first()
                .is_some_and(|word| RESERVED.contains(&word.raw.as_str()));
            script.wanders |= without_timing(&part).name() == "cd" && is_repeated(node);
            script.parts.push(part);
            match trouble {
                Some(why) => Err(why),
                // The grammar treats `! ! rm` as a command with the name `!`.
                None if reserved => {
                    Err("a reserved word of the shell is where a command should be")
                }
                None => Ok(()),
            }
        }
        "declaration_command" | "unset_command" => {
            let words = raw.split_whitespace().map(ShellWord::plain).collect();
            script.parts.push(SimpleCommand {
                words,
                ..SimpleCommand::default()
            });
            Ok(())
        }
        "variable_assignment" if !is_name(&name_of(raw)) => {
            Err("what looks like an assignment is a command")
        }
        "variable_assignment" if !matches!(parent, "command" | "declaration_command") => {
            script.sets.push(name_of(raw));
            Ok(())
        }
        "while_statement" if !ends_with_its_input(node, source) => Err("it may run without an end"),
        "for_statement" if raw.starts_with("select") => Err("its syntax is not understood"),
        "for_statement" => {
            let variable = node.child_by_field_name("variable");
            let name = variable.map_or("", |variable| &source[variable.byte_range()]);
            script.sets.push(name.to_owned());
            let mut cursor = node.walk();
            let values = node.children_by_field_name("value", &mut cursor);
            expanded(values, source, script)
        }
        "function_definition" => {
            script.defines = true;
            Ok(())
        }
        "file_redirect" => {
            follows_no_brace(node, source)?;
            redirect(node, source, script)
        }
        "herestring_redirect" => follows_no_brace(node, source),
        "heredoc_redirect" => {
            follows_no_brace(node, source)?;
            heredoc::check(node, source)
        }
        "comment" => begins_a_word(node, source),
        // A shell removes the backslashes from commands between backticks before it parses them.
        "command_substitution" if raw.starts_with('`') && raw.contains('\\') => {
            Err("it holds expansions that are not understood")
        }
        _ => evaluates(node, parent, source, script),
    }
}

/// Words that are not arguments, but that a shell still expands to names of files: it opens folders for that, so they
/// count as reads if they have wildcards or may get some.
fn expanded<'t>(
    words: impl Iterator<Item = Node<'t>>,
    source: &str,
    script: &mut ShellScript,
) -> Result<(), &'static str> {
    for node in words {
        let word = ShellWord::read(node, source)?;
        if word.glob || !word.is_known() {
            script.reads.push(word);
        }
    }
    Ok(())
}

/// Checks what is evaluated when words are expanded. Nodes that are not listed are not understood.
fn evaluates(
    node: Node<'_>,
    parent: &str,
    source: &str,
    script: &mut ShellScript,
) -> Result<(), &'static str> {
    let raw = &source[node.byte_range()];
    match node.kind() {
        "test_command" => condition::check(node, source),
        "expansion" => {
            if let Some(name) = evaluation::expansion(raw)? {
                script.sets.push(name.to_owned());
            }
            Ok(())
        }
        "arithmetic_expansion" => evaluation::arithmetic(raw),
        "compound_statement" if raw.starts_with("((") => Err("its arithmetic may run commands"),
        "subscript" => evaluation::subscript(raw),
        "array" => {
            let mut cursor = node.walk();
            node.named_children(&mut cursor)
                .try_for_each(|child| evaluation::element(&source[child.byte_range()]))?;
            let mut cursor = node.walk();
            expanded(node.named_children(&mut cursor), source, script)
        }
        "string" => ShellWord::read(node, source).map(drop),
        "word" | "number" | "regex" | "extglob_pattern" => evaluation::leaf(raw),
        // A `$` that the grammar treats as text, while the shell may not.
        "$" if parent != "simple_expansion" => {
            if source[node.end_byte()..].starts_with(begins_expansion) && parent != "string" {
                Err("it holds expansions that are not understood")
            } else {
                Ok(())
            }
        }
        kind if !node.is_named() || UNDERSTOOD.contains(&kind) => Ok(()),
        _ => Err("its syntax is not understood"),
    }
}

/// Whether a loop runs over lines of input: `while read …`. Any other loop may run forever.
fn ends_with_its_input(node: Node<'_>, source: &str) -> bool {
    let condition = node.child_by_field_name("condition");
    let name = condition
        .filter(|condition| condition.kind() == "command")
        .and_then(|condition| condition.child_by_field_name("name"));
    let reads = name.is_some_and(|name| &source[name.byte_range()] == "read");
    reads && source[node.byte_range()].starts_with("while")
}

/// Whether a command may run more than once.
fn is_repeated(node: Node<'_>) -> bool {
    let mut above = node.parent();
    while let Some(node) = above {
        if matches!(
            node.kind(),
            "while_statement" | "for_statement" | "c_style_for_statement" | "function_definition"
        ) {
            return true;
        }
        above = node.parent();
    }
    false
}

/// Checks that no brace precedes: `{name}<file` sets a variable, and evaluates the index in `{name[index]}`.
fn follows_no_brace(node: Node<'_>, source: &str) -> Result<(), &'static str> {
    if source[..node.start_byte()].ends_with('}') {
        Err("a redirection is not understood")
    } else {
        Ok(())
    }
}

/// Checks that `#` begins a word: in the middle of a word, it does not begin a comment.
fn begins_a_word(node: Node<'_>, source: &str) -> Result<(), &'static str> {
    let before = source[..node.start_byte()].chars().next_back();
    match before {
        None | Some(' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')') => Ok(()),
        Some(_) => Err("where its comment begins is not certain"),
    }
}

/// Words that a shell never treats as a command.
const RESERVED: &[&str] = &[
    "!", "{", "}", "then", "do", "done", "fi", "else", "elif", "esac", "in", "function", "select",
    "case", "for", "while", "until", "if", "[[", "]]", "((", "))",
];

/// Nodes for which only the children need to be visited.
const UNDERSTOOD: &[&str] = &[
    "program",
    "list",
    "pipeline",
    "command_name",
    "subshell",
    "compound_statement",
    "redirected_statement",
    "negated_command",
    "while_statement",
    "do_group",
    "if_statement",
    "elif_clause",
    "else_clause",
    "case_statement",
    "case_item",
    "variable_assignments",
    "string_content",
    "raw_string",
    "ansi_c_string",
    "translated_string",
    "concatenation",
    "simple_expansion",
    "command_substitution",
    "process_substitution",
    "brace_expression",
    "variable_name",
    "special_variable_name",
    "variable_assignment",
    "herestring_redirect",
    "file_descriptor",
    "heredoc_start",
    "heredoc_body",
    "heredoc_content",
    "heredoc_end",
    "binary_expression",
    "unary_expression",
    "parenthesized_expression",
    "negation_expression",
    "test_operator",
];

/// Whether a shell accepts this as the name of a variable. The grammar treats `1a=b` as an assignment, a shell as a
/// command.
fn is_name(name: &str) -> bool {
    let starts = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    starts
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn name_of(assignment: &str) -> String {
    let name = assignment.split(['=', '+', '[']).next();
    name.unwrap_or_default().to_owned()
}

fn part(node: Node<'_>, source: &str) -> (SimpleCommand, Option<&'static str>) {
    let mut part = SimpleCommand::default();
    let mut trouble = None;
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        let raw = &source[child.byte_range()];
        match child.kind() {
            "variable_assignment" => part.assigns.push((name_of(raw), raw.to_owned())),
            "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {}
            _ => match ShellWord::read(child, source) {
                Ok(word) => part.words.push(word),
                Err(why) => {
                    trouble = Some(why);
                    part.words.push(ShellWord::anything());
                }
            },
        }
    }
    (part, trouble)
}

fn redirect(node: Node<'_>, source: &str, script: &mut ShellScript) -> Result<(), &'static str> {
    let mut cursor = node.walk();
    let mut operator = "";
    let mut targets = Vec::new();
    for child in node.children(&mut cursor) {
        match child.kind() {
            "file_descriptor" => {}
            kind if !child.is_named() && operator.is_empty() => operator = kind,
            _ => targets.push(child),
        }
    }
    // The grammar treats words after the file as further files; for a shell they are arguments.
    let target = match targets.as_slice() {
        [target] => *target,
        [] if operator.ends_with('-') => return Ok(()),
        _ => return Err("words follow a redirection"),
    };
    let word = ShellWord::read(target, source)?;
    match operator {
        "<" => script.reads.push(word),
        ">&" | "<&" if word.text == "-" || word.text.bytes().all(|byte| byte.is_ascii_digit()) => {}
        ">" | ">>" | ">|" | "&>" | "&>>" | ">&" => script.writes.push(word),
        _ => return Err("a redirection is not understood"),
    }
    Ok(())
}
