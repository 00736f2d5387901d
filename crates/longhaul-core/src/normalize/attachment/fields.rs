//! Reads fields of attachments, whatever form their values have.

use crate::json::{self, ObjectReader};

/// Returns a field that is a non-blank text.
pub(super) fn filled(object: ObjectReader<'_>, name: &str) -> Option<String> {
    object
        .string(name)
        .filter(|text| !text.trim().is_empty())
        .map(Into::into)
}

/// Returns the first of these fields that is a non-blank text.
pub(super) fn first(object: ObjectReader<'_>, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| filled(object, name))
}

/// Returns the items of a field that is a list.
pub(super) fn items<'a>(object: ObjectReader<'a>, name: &str) -> Option<Vec<&'a [u8]>> {
    json::items(object.get(name)?)
}

/// Returns the objects in a field that is a list.
pub(super) fn objects<'a>(object: ObjectReader<'a>, name: &str) -> Option<Vec<ObjectReader<'a>>> {
    let items = items(object, name)?;
    let objects = items.into_iter().filter(|item| item.first() == Some(&b'{'));
    Some(objects.map(ObjectReader::new).collect())
}

/// Returns a field that is a text or a list of texts as one non-blank text.
pub(super) fn text_or_lines(object: ObjectReader<'_>, name: &str) -> Option<String> {
    filled(object, name).or_else(|| {
        let lines = object.strings(name)?.join("\n");
        Some(lines).filter(|lines| !lines.trim().is_empty())
    })
}
