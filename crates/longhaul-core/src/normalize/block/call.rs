//! Renders calls of client-side tools.

use std::borrow::Cow;

use bytes::Bytes;

use super::kinds;
use super::shape::{BlockFieldSpec, FieldShape, fit, nullable, optional, record};
use super::shape_mismatch::ShapeMismatch;
use super::source::BlockSource;
use crate::json::{ObjectReader, content, decode, enclose};
use crate::message::{BlockKind, EntryView, Id};
use crate::normalize::piece::{BlockPart, BlockPiece, ClientToolCall, push_string};
use crate::xxh3::xxh3_128;

/// The maximum length of a tool's name.
const LONGEST_NAME: usize = 200;

const FIELDS: &[BlockFieldSpec] = &[
    optional("id", &FieldShape::Text),
    optional("name", &FieldShape::Text),
    optional("input", &FieldShape::Any),
    nullable("caller", &FieldShape::Object),
    nullable("toolset_name", &FieldShape::Text),
];

/// Returns the ids of the calls that a line makes.
pub(in crate::normalize) fn calls(view: EntryView<'_>) -> impl Iterator<Item = Id> {
    let outer = view.facets.blocks.iter().enumerate();
    let outer =
        outer.filter(|(_, block)| block.kind == BlockKind::ToolUse && !block.inner && !block.blank);
    outer.filter_map(move |(index, block)| {
        let made = made(BlockSource { view, index, block })?;
        Some(Id::of(&decode(made.id)))
    })
}

/// The required parts of a call: the contents of its literals.
struct CallLiterals<'a> {
    id: &'a [u8],
    name: Cow<'a, str>,
    input: Option<&'a [u8]>,
}

fn made(source: BlockSource<'_>) -> Option<CallLiterals<'_>> {
    let object: ObjectReader<'_> = source.object();
    let id = content(object.get("id")?)?;
    let name = object
        .string("name")
        .filter(|name| !name.trim().is_empty())?;
    let input = object.get("input").filter(|input| *input != b"null");
    // If the input cannot be sent in any form, the whole call becomes text.
    match input.map(|input| fit(input, &FieldShape::Any)) {
        Some(Err(ShapeMismatch)) => None,
        _ => Some(CallLiterals { id, name, input }),
    }
}

/// Returns an id in a form that the API accepts: another provider's id may contain characters that the API refuses. The
/// same id always maps to the same result.
pub(super) fn sendable_id(literal: &[u8]) -> Cow<'_, [u8]> {
    let id = decode(literal);
    if kinds::is_id(&id) {
        match id {
            Cow::Borrowed(_) => Cow::Borrowed(literal),
            Cow::Owned(id) => Cow::Owned(id.into_bytes()),
        }
    } else {
        Cow::Owned(format!("call_{:032x}", xxh3_128(id.as_bytes())).into_bytes())
    }
}

/// Returns a name in a form that the API accepts.
fn sendable_name(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let plain = name.chars().map(|c| if is_plain(c) { c } else { '_' });
    plain.take(LONGEST_NAME).collect()
}

/// Renders a call, or its JSON as text if it lacks an id or a name.
pub(super) fn call(source: BlockSource<'_>) -> BlockPiece {
    let Some(made) = made(source) else {
        return source.wrapped();
    };
    let sent = sendable_id(made.id);
    let json = record(source.raw(), FIELDS, |field, value| match field.name {
        "id" if *sent == *made.id => Ok(Cow::Borrowed(value)),
        "id" => Ok(Cow::Owned(enclose(&sent))),
        "name" => {
            let name = sendable_name(&made.name);
            Ok(match enclose(name.as_bytes()) {
                same if same == value => Cow::Borrowed(value),
                other => Cow::Owned(other),
            })
        }
        "input" if value.first() == Some(&b'{') => fit(value, field.shape),
        "input" => fit(value, field.shape).map(|value| Cow::Owned(as_input(&value))),
        _ => fit(value, field.shape),
    });
    let json = match (json, made.input) {
        (Ok(json), Some(_)) => json.into_owned(),
        (Ok(json), None) => with_input(&json),
        (Err(ShapeMismatch), _) => return source.wrapped(),
    };
    let part = BlockPart::Call(ClientToolCall {
        id: Id::of(&decode(made.id)),
        literal: Bytes::copy_from_slice(made.id),
        sent: Bytes::copy_from_slice(&sent),
    });
    source.piece(json, part)
}

/// Wraps input that is not an object in an object.
fn as_input(value: &[u8]) -> Vec<u8> {
    match value {
        b"null" => b"{}".to_vec(),
        value => [br#"{"input":"#, value, b"}"].concat(),
    }
}

/// Adds an empty input to a call without one.
fn with_input(json: &[u8]) -> Vec<u8> {
    // A null has already been replaced.
    if ObjectReader::new(json).get("input").is_some() {
        return json.to_vec();
    }
    let open = json.strip_suffix(b"}").unwrap_or(json);
    [open, br#","input":{}}"#].concat()
}

/// Appends the text of an id as it is sent, inside a JSON string.
pub(super) fn push_id(json: &mut Vec<u8>, sent: &[u8]) {
    push_string(json, &String::from_utf8_lossy(sent));
}
