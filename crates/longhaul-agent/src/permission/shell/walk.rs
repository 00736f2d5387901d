//! Parses a command and walks the syntax tree. `visit.rs` defines the meaning of each node.

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use super::ShellScript;
use super::visit::visit;

/// Adds the content of `source` to `script`.
pub(super) fn walk(source: &str, script: &mut ShellScript) {
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
            // Text between the grammar's tokens is not examined anywhere else.
            let between = source
                .get(leaves_end..node.start_byte())
                .unwrap_or_default();
            if !is_blank(between) && !is_text(parent) {
                script.unclear.get_or_insert("its syntax is not understood");
            }
            leaves_end = leaves_end.max(node.end_byte());
            if !node.is_named() && SYNTAX.contains(&parent) && !stands_alone(node, source) {
                script
                    .unclear
                    .get_or_insert("a reserved word of the shell is part of another word");
            }
        }
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        let kind = node.kind();
        if ONE_LINE.contains(&kind) && is_broken(&children, source) {
            script
                .unclear
                .get_or_insert("there is a line break inside a command");
        }
        if IN_ONE_PIECE.contains(&kind) && !is_in_one_piece(&children) {
            script
                .unclear
                .get_or_insert("there are blanks where the shell would end a word");
        }
        open.extend(children.into_iter().rev().map(|child| (child, kind)));
    }
}

/// How often the parser may report progress before it is stopped: far more often than for anything that people write.
const MOST_REPORTS: usize = 4_000;

fn parse(source: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .ok()?;
    let mut reports = 0;
    let mut count = |_: &ParseState| {
        reports += 1;
        if reports > MOST_REPORTS {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut count);
    let mut text = |at: usize, _| source.as_bytes().get(at..).unwrap_or_default();
    parser.parse_with_options(&mut text, None, Some(options))
}

/// Nodes that a line break ends; the grammar ignores some line breaks, and would treat the next command as arguments.
const ONE_LINE: &[&str] = &[
    "command",
    "redirected_statement",
    "file_redirect",
    "herestring_redirect",
    "declaration_command",
    "unset_command",
    "variable_assignment",
    "variable_assignments",
    "concatenation",
    "negated_command",
];

/// Nodes whose tokens are separate words of the shell: anything joined to them makes another word. `![[ x ]]` runs a
/// command with the name `![[`, where the grammar sees a test.
const SYNTAX: &[&str] = &[
    "negated_command",
    "test_command",
    "compound_statement",
    "if_statement",
    "elif_clause",
    "else_clause",
    "while_statement",
    "for_statement",
    "do_group",
    "case_statement",
    "function_definition",
];

/// Whether a byte ends a word by itself.
fn is_end_of_word(byte: Option<&u8>) -> bool {
    byte.is_none_or(|byte| b" \t\n;&|()<>`".contains(byte))
}

/// Whether a token is an operator, or a word of its own.
fn stands_alone(node: Node<'_>, source: &str) -> bool {
    let kind = node.kind().as_bytes();
    if kind.iter().any(|byte| is_end_of_word(Some(byte))) {
        return true;
    }
    let bytes = source.as_bytes();
    let before = node
        .start_byte()
        .checked_sub(1)
        .and_then(|at| bytes.get(at));
    is_end_of_word(before) && is_end_of_word(bytes.get(node.end_byte()))
}

/// Nodes whose parts follow each other without a blank. The grammar ignores some blanks where a shell begins a new
/// word: `a[0] =x` runs a command with the name `a[0]`.
const IN_ONE_PIECE: &[&str] = &[
    "variable_assignment",
    "subscript",
    "concatenation",
    "simple_expansion",
];

fn is_in_one_piece(children: &[Node<'_>]) -> bool {
    let mut pairs = children.windows(2);
    pairs.all(|pair| pair[0].end_byte() == pair[1].start_byte())
}

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

/// Whether a node is a text or a here-document, which are read from the source and not from their tokens.
fn is_text(kind: &str) -> bool {
    matches!(
        kind,
        "string" | "heredoc_body" | "heredoc_redirect" | "expansion" | "concatenation"
    )
}
