//! Reading what attachments hold, whatever form they hold it in.

use crate::json::{self, ObjectReader};

/// A field that is a text with something in it.
pub(super) fn filled(object: ObjectReader<'_>, name: &str) -> Option<String> {
    object
        .string(name)
        .filter(|text| !text.trim().is_empty())
        .map(Into::into)
}

/// The first of these fields that is a text with something in it.
pub(super) fn first(object: ObjectReader<'_>, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| filled(object, name))
}

/// The items of a field that is a list.
pub(super) fn items<'a>(object: ObjectReader<'a>, name: &str) -> Option<Vec<&'a [u8]>> {
    json::items(object.get(name)?)
}

/// The objects of a field that is a list.
pub(super) fn objects<'a>(object: ObjectReader<'a>, name: &str) -> Option<Vec<ObjectReader<'a>>> {
    let items = items(object, name)?;
    let objects = items.into_iter().filter(|item| item.first() == Some(&b'{'));
    Some(objects.map(ObjectReader::new).collect())
}

/// A field that is a text or a list of texts, as one text with something in it.
pub(super) fn text_or_lines(object: ObjectReader<'_>, name: &str) -> Option<String> {
    filled(object, name).or_else(|| {
        let lines = object.strings(name)?.join("\n");
        Some(lines).filter(|lines| !lines.trim().is_empty())
    })
}
