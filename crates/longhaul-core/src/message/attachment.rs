//! Which attachments the model sees (Z1). `normalize/attachment/` decides how they are rendered.

use super::{EntryKind, EntryView};
use crate::json::ObjectReader;

/// Types that only record the host's own actions and carry nothing for the model.
const INVISIBLE: [&str; 4] = [
    "command_permissions",
    "hook_cancelled",
    "hook_permission_decision",
    "structured_output",
];

impl<'a> EntryView<'a> {
    /// Returns the attachment, if the entry is an attachment that the model sees.
    pub fn visible_attachment(self) -> Option<ObjectReader<'a>> {
        let facets = self.facets;
        let is_object = facets.attachment.of(self.line).first() == Some(&b'{');
        if facets.kind != EntryKind::Attachment || !is_object {
            return None;
        }
        let attachment = self.object(facets.attachment);
        let name = attachment.string("type");
        if name.is_some_and(|name| INVISIBLE.contains(&&*name)) {
            None
        } else {
            Some(attachment)
        }
    }
}
