//! What the agent is told about its edits, each compared with its snapshot.

use longhaul::notes::NotesEditError;

const DONE: &str = include_str!("../../../src/notes/fragments/done.md");
const NO_TOOLS: &str = include_str!("../../../src/notes/fragments/no_tools.md");

#[test]
fn s3_what_is_said_about_edits_is_as_it_was() {
    let errors = [
        NotesEditError::NoEdit,
        NotesEditError::NoChange,
        NotesEditError::NotFound,
        NotesEditError::Ambiguous,
        NotesEditError::BreaksFrame,
    ];
    let mut told: Vec<String> = errors.iter().map(ToString::to_string).collect();
    told.extend([DONE.trim_end().to_owned(), NO_TOOLS.trim_end().to_owned()]);
    assert!(told.iter().all(|text| text.len() < 300));
    insta::assert_snapshot!(told.join("\n\n"), @r"
    Nothing was changed: an edit needs file_path, old_string and new_string, each a text.

    Nothing was changed: old_string must be a text that stands in the notes, and new_string must differ from it.

    Nothing was changed: old_string does not stand in the notes like this. Compare it with the notes as they are now, edits of yours before this one included, and send the edit again.

    Nothing was changed: old_string stands in the notes more than once. Send the edit again with more of what is around the place.

    Nothing was changed: the edit would change a heading or the line in italics below one. Those stay as they are, and none is added. Send the edit again so that it changes only what stands below them.

    The notes were changed.

    This call was not run: no tool is open to you while you take notes. Answer in text with the sections that change, between the tags you were told.
    ");
}
