//! Walks the grammar's tree and collects what a command would run. Kinds of nodes that are not listed are not understood.

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use super::word::Word;
use super::{Part, Script, heredoc};

/// Adds what `source` holds to `script`.
pub(super) fn walk(source: &str, script: &mut Script) {
    let Some(tree) = parse(source) else {
        script.unclear = Some("it cannot be read");
        return;
    };
    if tree.root_node().has_error() {
        script.unclear.get_or_insert("its syntax is not understood");
    }
    let mut open = vec![(tree.root_node(), "")];
    let mut leaves_end = 0;
    while let Some((node, parent)) = open.pop() {
        if let Err(why) = visit(node, parent, source, script) {
            script.unclear.get_or_insert(why);
        }
        if node.child_count() == 0 {
            // Whatever lies between the grammar's tokens is read by nobody.
            let between = source
                .get(leaves_end..node.start_byte())
                .unwrap_or_default();
            if !is_blank(between) && !is_text(parent) {
                script.unclear.get_or_insert("its syntax is not understood");
            }
            leaves_end = leaves_end.max(node.end_byte());
        }
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        let kind = node.kind();
        if ONE_LINE.contains(&kind) && is_broken(&children, source) {
            script
                .unclear
                .get_or_insert("a line break stands inside a command");
        }
        open.extend(children.into_iter().rev().map(|child| (child, kind)));
    }
}

/// How often the parser may report before it is stopped: far more often than for anything that people write.
const MOST_REPORTS: usize = 4_000;

fn parse(source: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .ok()?;
    let mut reports = 0;
    let mut count = |_: &ParseState| {
        reports += 1;
        match reports > MOST_REPORTS {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let options = ParseOptions::new().progress_callback(&mut count);
    let mut text = |at: usize, _| source.as_bytes().get(at..).unwrap_or_default();
    parser.parse_with_options(&mut text, None, Some(options))
}

/// A line break ends these; the grammar passes over some, and would take the next command for arguments.
const ONE_LINE: &[&str] = &[
    "command",
    "redirected_statement",
    "file_redirect",
    "herestring_redirect",
    "declaration_command",
    "unset_command",
    "variable_assignment",
    "concatenation",
    "negated_command",
];

fn is_broken(children: &[Node<'_>], source: &str) -> bool {
    children.windows(2).any(|pair| {
        let between = source.get(pair[0].end_byte()..pair[1].start_byte());
        between
            .unwrap_or_default()
            .replace("\\\n", "")
            .contains('\n')
    })
}

fn is_blank(between: &str) -> bool {
    between.replace("\\\n", "").trim().is_empty()
}

/// Texts and here-documents are read from the source, not from their tokens.
fn is_text(kind: &str) -> bool {
    matches!(
        kind,
        "string" | "heredoc_body" | "heredoc_redirect" | "expansion" | "concatenation"
    )
}

fn visit(
    node: Node<'_>,
    parent: &str,
    source: &str,
    script: &mut Script,
) -> Result<(), &'static str> {
    let raw = &source[node.byte_range()];
    match node.kind() {
        "command" => {
            let (part, trouble) = part(node, source);
            let reserved = part
                .words
                .first()
                .is_some_and(|word| RESERVED.contains(&word.raw.as_str()));
            script.parts.push(part);
            match trouble {
                Some(why) => Err(why),
                // The grammar takes `! ! rm` for a command of the name `!`.
                None if reserved => {
                    Err("a word of the shell's own stands where a command should be")
                }
                None => Ok(()),
            }
        }
        "declaration_command" | "unset_command" => {
            let words = raw.split_whitespace().map(Word::plain).collect();
            script.parts.push(Part {
                words,
                ..Part::default()
            });
            Ok(())
        }
        "variable_assignment" if !matches!(parent, "command" | "declaration_command") => {
            script.sets.push(name_of(raw));
            Ok(())
        }
        "for_statement" => {
            let variable = node.child_by_field_name("variable");
            let name = variable.map_or("", |variable| &source[variable.byte_range()]);
            script.sets.push(name.to_owned());
            Ok(())
        }
        "file_redirect" => redirect(node, source, script),
        "heredoc_redirect" => heredoc::check(node, source),
        "test_command" => match is_plain_test(raw) {
            true => Ok(()),
            false => Err("its test may run commands"),
        },
        // `${x@P}` runs what `x` holds; an index is arithmetic, and so runs what it names.
        "expansion" if raw.contains('@') && !raw.ends_with("[@]}") => {
            Err("it holds expansions that are not understood")
        }
        "arithmetic_expansion" | "compound_statement" | "subscript" if may_evaluate(node, raw) => {
            Err("its arithmetic may run commands")
        }
        kind if !node.is_named() || UNDERSTOOD.contains(&kind) => Ok(()),
        _ => Err("its syntax is not understood"),
    }
}

/// Words that a shell never takes for a command.
const RESERVED: &[&str] = &[
    "!", "{", "}", "then", "do", "done", "fi", "else", "elif", "esac", "in", "function", "select",
    "case", "for", "while", "until", "if", "[[", "]]", "((", "))",
];

/// Nodes that need nothing but their children to be looked at.
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
    "function_definition",
    "comment",
    "word",
    "number",
    "string",
    "string_content",
    "raw_string",
    "ansi_c_string",
    "translated_string",
    "concatenation",
    "simple_expansion",
    "expansion",
    "command_substitution",
    "process_substitution",
    "arithmetic_expansion",
    "brace_expression",
    "variable_name",
    "special_variable_name",
    "variable_assignment",
    "array",
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
    "extglob_pattern",
    "regex",
];

fn may_evaluate(node: Node<'_>, raw: &str) -> bool {
    match node.kind() {
        "arithmetic_expansion" => raw
            .get(3..)
            .is_some_and(|inner| inner.contains(['[', '`', '$', '\''])),
        "compound_statement" => raw.starts_with("(("),
        _ => true,
    }
}

/// `[ … ]` and `[[ … ]]` evaluate what is compared as numbers, and the names of variables.
fn is_plain_test(raw: &str) -> bool {
    let inner = raw.trim_start_matches('[').trim_end_matches(']');
    let evaluates = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v", "-R"];
    !(inner.contains('[')
        && inner
            .split_whitespace()
            .any(|word| evaluates.contains(&word)))
}

fn name_of(assignment: &str) -> String {
    let name = assignment.split(['=', '+', '[']).next();
    name.unwrap_or_default().to_owned()
}

fn part(node: Node<'_>, source: &str) -> (Part, Option<&'static str>) {
    let mut part = Part::default();
    let mut trouble = None;
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        let raw = &source[child.byte_range()];
        match child.kind() {
            "variable_assignment" => part.assigns.push((name_of(raw), raw.to_owned())),
            "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {}
            _ => match Word::read(child, source) {
                Ok(word) => part.words.push(word),
                Err(why) => {
                    trouble = Some(why);
                    part.words.push(Word::anything());
                }
            },
        }
    }
    (part, trouble)
}

fn redirect(node: Node<'_>, source: &str, script: &mut Script) -> Result<(), &'static str> {
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
    // The grammar takes words that follow the file as further files; for a shell they are arguments.
    let target = match targets.as_slice() {
        [target] => *target,
        [] if operator.ends_with('-') => return Ok(()),
        _ => return Err("words follow a redirection"),
    };
    let word = Word::read(target, source)?;
    match operator {
        "<" => script.reads.push(word),
        ">&" | "<&" if word.text == "-" || word.text.bytes().all(|byte| byte.is_ascii_digit()) => {}
        ">" | ">>" | ">|" | "&>" | "&>>" | ">&" => script.writes.push(word),
        _ => return Err("a redirection is not understood"),
    }
    Ok(())
}
