//! The required shape of a JSON value, as data, and the check with the API's wording and paths.
//!
//! Fields are checked in the order of their table, which is the order in which the API reports them; unknown fields
//! come last. The tables are in `params`, `blocks` and `tools`.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::path::FieldPath;
use crate::call::ApiError;

/// The beta headers of a request.
pub(super) type Betas = BTreeSet<String>;

/// The required shape of a value.
pub(super) enum ValueShape {
    /// Anything.
    Any,
    /// A string.
    Str,
    /// A string of at most this many characters.
    Short(usize),
    /// A non-empty string of certain characters, with the pattern as the API prints it.
    Pattern(fn(&str) -> bool, &'static str),
    /// True or false.
    Bool,
    /// A whole number of at least this value.
    Int(i64),
    /// A number.
    Number,
    /// An object with any fields.
    Dict,
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// A list.
    List(&'static ValueShape),
    /// A string, or else this shape.
    StrOr(&'static ValueShape),
    /// A boolean, or else this shape.
    BoolOr(&'static ValueShape),
    /// An object with these fields.
    Object(&'static [FieldSpec]),
    /// An object whose `type` determines its fields.
    Tagged(&'static [TaggedVariant]),
}

/// A variant of a tagged object.
pub(super) struct TaggedVariant {
    /// The value of its `type`.
    pub(super) tag: &'static str,
    /// Its other fields.
    pub(super) fields: &'static [FieldSpec],
    /// The betas any of which makes the variant known; none is needed if empty.
    pub(super) betas: &'static [&'static str],
}

/// Whether a field is required.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldRequirement {
    /// The field is required.
    Required,
    /// The field may be left out.
    Optional,
    /// The field may be left out or be null.
    Nullable,
}

/// A field of an object.
pub(super) struct FieldSpec {
    /// The name of the field.
    pub(super) name: &'static str,
    /// The shape of its value.
    pub(super) shape: &'static ValueShape,
    /// Whether the field is required.
    pub(super) need: FieldRequirement,
    /// The betas any of which makes the field known; none is needed if empty.
    pub(super) betas: &'static [&'static str],
}

/// A field: `field!(Required, "name", &shape)`, followed by the betas that make it known, if it needs any. It is a
/// macro and not a function, so that tables of fields are constants.
macro_rules! field {
    ($need:ident, $name:literal, $shape:expr $(,)?) => {
        $crate::request::shape::field!($need, $name, $shape, &[])
    };
    ($need:ident, $name:literal, $shape:expr, $betas:expr $(,)?) => {
        $crate::request::shape::FieldSpec {
            name: $name,
            shape: $shape,
            need: $crate::request::shape::FieldRequirement::$need,
            betas: $betas,
        }
    };
}

/// A variant of a tagged object: its `type`, its other fields, the betas that make it known.
macro_rules! variant {
    ($tag:literal, $fields:expr $(,)?) => {
        $crate::request::shape::variant!($tag, $fields, &[])
    };
    ($tag:literal, $fields:expr, $betas:expr $(,)?) => {
        $crate::request::shape::TaggedVariant {
            tag: $tag,
            fields: $fields,
            betas: $betas,
        }
    };
}

pub(super) use {field, variant};

/// Whether the caller's betas include one of those needed.
pub(super) fn known(needs: &[&str], betas: &Betas) -> bool {
    needs.is_empty() || needs.iter().any(|beta| betas.contains(*beta))
}

/// Checks a value.
pub(super) fn check(
    value: &Value,
    shape: &ValueShape,
    at: &FieldPath<'_>,
    betas: &Betas,
) -> Result<(), ApiError> {
    let fits = |fits: bool, what: &str| if fits { Ok(()) } else { Err(at.error(what)) };
    match shape {
        ValueShape::Any => Ok(()),
        ValueShape::Str => fits(value.is_string(), "Input should be a valid string"),
        ValueShape::Short(most) => match value.as_str() {
            None => Err(at.error("Input should be a valid string")),
            Some(text) if text.chars().nth(*most).is_some() => {
                Err(at.error(format_args!("String should have at most {most} characters")))
            }
            Some(_) => Ok(()),
        },
        ValueShape::Pattern(matches, pattern) => match value.as_str() {
            None => Err(at.error("Input should be a valid string")),
            Some("") => Err(at.error("String should have at least 1 character")),
            Some(text) if !matches(text) => {
                Err(at.error(format_args!("String should match pattern '{pattern}'")))
            }
            Some(_) => Ok(()),
        },
        ValueShape::Bool => fits(value.is_boolean(), "Input should be a valid boolean"),
        ValueShape::Int(least) => match whole(value) {
            None => Err(at.error("Input should be a valid integer")),
            Some(number) if number < *least as f64 => Err(at.error(format_args!(
                "Input should be greater than or equal to {least}"
            ))),
            Some(_) => Ok(()),
        },
        ValueShape::Number => fits(value.is_number(), "Input should be a valid number"),
        ValueShape::Dict => fits(value.is_object(), "Input should be a valid dictionary"),
        ValueShape::OneOf(choices) => match value.as_str() {
            Some(text) if choices.contains(&text) => Ok(()),
            _ => Err(at.error(format_args!("Input should be {}", either(choices)))),
        },
        ValueShape::List(shape) => {
            let Some(items) = value.as_array() else {
                return Err(at.error("Input should be a valid array"));
            };
            let mut items = items.iter().enumerate();
            items.try_for_each(|(index, item)| check(item, shape, &at.index(index), betas))
        }
        ValueShape::StrOr(_) if value.is_string() => Ok(()),
        ValueShape::BoolOr(_) if value.is_boolean() => Ok(()),
        ValueShape::StrOr(shape) | ValueShape::BoolOr(shape) => check(value, shape, at, betas),
        ValueShape::Object(fields) => match value.as_object() {
            Some(object) => check_fields(object, fields, None, at, betas),
            None => Err(at.error("Input does not match the expected shape.")),
        },
        ValueShape::Tagged(variants) => {
            let Some(object) = value.as_object() else {
                return Err(at.error("Input should be an object"));
            };
            let variant = pick(object, variants, at, betas)?;
            check_fields(
                object,
                variant.fields,
                Some("type"),
                &at.name(variant.tag),
                betas,
            )
        }
    }
}

/// The variant of a tagged object.
pub(super) fn pick(
    object: &Map<String, Value>,
    variants: &'static [TaggedVariant],
    at: &FieldPath<'_>,
    betas: &Betas,
) -> Result<&'static TaggedVariant, ApiError> {
    let Some(tag) = object.get("type") else {
        return Err(at.name("type").error("Field required"));
    };
    let Some(tag) = tag.as_str() else {
        return Err(at.name("type").error("Input should be a valid string"));
    };
    let open = |variant: &&TaggedVariant| known(variant.betas, betas);
    if let Some(variant) = variants.iter().filter(open).find(|v| v.tag == tag) {
        return Ok(variant);
    }
    if tag == "compaction" && variants.iter().any(|v| v.tag == tag) {
        return Err(at.error("'compaction' is not one of the expected content block types"));
    }
    let tags: Vec<String> = variants
        .iter()
        .filter(open)
        .map(|v| format!("'{}'", v.tag))
        .collect();
    Err(at.error(format_args!(
        "Input tag '{tag}' found using 'type' does not match any of the expected tags: {}",
        tags.join(", ")
    )))
}

/// Checks the fields of an object: the known fields in their order, then the unknown ones.
pub(super) fn check_fields(
    object: &Map<String, Value>,
    fields: &'static [FieldSpec],
    besides: Option<&str>,
    at: &FieldPath<'_>,
    betas: &Betas,
) -> Result<(), ApiError> {
    for field in fields {
        match object.get(field.name) {
            _ if !known(field.betas, betas) => {}
            None if field.need == FieldRequirement::Required => {
                return Err(at.name(field.name).error("Field required"));
            }
            None => {}
            Some(Value::Null) if field.need == FieldRequirement::Nullable => {}
            Some(value) => check(value, field.shape, &at.name(field.name), betas)?,
        }
    }
    for name in object.keys() {
        let expected = Some(name.as_str()) == besides
            || fields
                .iter()
                .any(|f| f.name == name && known(f.betas, betas));
        if !expected {
            return Err(at.name(name).error("Extra inputs are not permitted"));
        }
    }
    Ok(())
}

fn whole(value: &Value) -> Option<f64> {
    value.as_f64().filter(|number| number.fract() == 0.0)
}

/// Formats a list as `'a', 'b' or 'c'`.
fn either(choices: &[&str]) -> String {
    let quoted: Vec<String> = choices.iter().map(|choice| format!("'{choice}'")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}
