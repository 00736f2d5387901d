//! Conditions: `[ … ]`, `test …` and `[[ … ]]`. They evaluate what they compare as numbers, and the names of variables
//! that they test; `[ a > b ]` even writes a file. Only the forms listed here are understood.

use tree_sitter::Node;

use super::evaluation::is_integer;
use super::word::ShellWord;

const CONDITION: &str = "its test may run commands";

/// Tests of one file or text.
const UNARY: &[&str] = &[
    "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-L", "-n", "-O", "-G", "-N", "-p", "-r", "-S",
    "-s", "-u", "-w", "-x", "-z",
];
/// Comparisons of two files or texts.
const BINARY: &[&str] = &["=", "==", "!=", "-nt", "-ot", "-ef"];
/// Comparisons of two numbers.
const NUMERIC: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

/// Checks a `test_command` of the grammar.
pub(super) fn check(node: Node<'_>, source: &str) -> Result<(), &'static str> {
    let mut cursor = node.walk();
    let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
    // The grammar treats `[-f x ]` as a condition; for a shell it is a program named `[-f`. A line break ends `[`.
    let stands_alone = |open: &Node<'_>, close: &Node<'_>| {
        source[open.end_byte()..].starts_with([' ', '\t', '\n'])
            && source[..close.start_byte()].ends_with([' ', '\t', '\n'])
            && (open.kind() == "[[" || !source[node.byte_range()].contains('\n'))
    };
    match children.as_slice() {
        [open, _, close] if !stands_alone(open, close) => Err(CONDITION),
        [open, inner, _] if open.kind() == "[[" => double(*inner, source),
        [open, inner, _] if open.kind() == "[" => {
            let mut words = Vec::new();
            flatten(*inner, source, &mut words)?;
            if is_plain(&words) {
                Ok(())
            } else {
                Err(CONDITION)
            }
        }
        _ => Err(CONDITION),
    }
}

/// Whether these are the words of a `test` without side effects. The shell decides by their number what each of them
/// means, so none may become several words or disappear.
pub(crate) fn is_plain(words: &[ShellWord]) -> bool {
    if words.iter().any(|word| word.splits || word.glob) {
        return false;
    }
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    match texts.as_slice() {
        [] | [_] => true,
        ["!", rest @ ..] if rest.len() < 4 && rest.first() != Some(&"!") => {
            is_question(rest) || rest.len() == 1
        }
        texts => is_question(texts),
    }
}

fn is_question(texts: &[&str]) -> bool {
    match texts {
        [operator, _] => UNARY.contains(operator),
        [one, operator, other] => {
            BINARY.contains(operator)
                || NUMERIC.contains(operator) && is_integer(one) && is_integer(other)
        }
        _ => false,
    }
}

/// The words of `[ … ]` in their order.
fn flatten(node: Node<'_>, source: &str, words: &mut Vec<ShellWord>) -> Result<(), &'static str> {
    match node.kind() {
        "binary_expression" | "unary_expression" => {
            let mut cursor = node.walk();
            for child in node.children(&mut cursor) {
                flatten(child, source, words)?;
            }
            Ok(())
        }
        // Parentheses are not words here, and `<` and `>` redirect.
        "parenthesized_expression" | "(" | ")" | "<" | ">" => Err(CONDITION),
        _ => {
            words.push(ShellWord::read(node, source)?);
            Ok(())
        }
    }
}

/// Checks the content of `[[ … ]]`. There the shell does not split words, and takes no operator from an expansion.
fn double(node: Node<'_>, source: &str) -> Result<(), &'static str> {
    let text = |node: &Node<'_>| &source[node.byte_range()];
    let mut cursor = node.walk();
    let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
    match (node.kind(), children.as_slice()) {
        ("parenthesized_expression", [_, inner, _]) => double(*inner, source),
        ("unary_expression", [operator, inner]) if text(operator) == "!" => double(*inner, source),
        ("unary_expression", [operator, inner]) if UNARY.contains(&text(operator)) => {
            operand(inner)
        }
        ("binary_expression", [one, operator, other]) => match text(operator) {
            "&&" | "||" => double(*one, source).and_then(|()| double(*other, source)),
            operator if BINARY.contains(&operator) || ["=~", "<", ">"].contains(&operator) => {
                operand(one).and_then(|()| operand(other))
            }
            operator
                if NUMERIC.contains(&operator)
                    && is_integer(text(one))
                    && is_integer(text(other)) =>
            {
                Ok(())
            }
            _ => Err(CONDITION),
        },
        _ => operand(&node),
    }
}

/// Checks a word; its content is checked together with all other words.
fn operand(node: &Node<'_>) -> Result<(), &'static str> {
    if node.kind().ends_with("_expression") && node.kind() != "brace_expression" {
        Err(CONDITION)
    } else {
        Ok(())
    }
}
