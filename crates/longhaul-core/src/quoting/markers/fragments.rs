//! The fragments that markers are read from. A test compares this list with the folder: a new fragment must be added
//! here, and from then on it cannot be forged.

/// The purpose of a fragment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FragmentRole {
    /// The engine writes it into the conversation.
    Written,
    /// The fragment holds the headings of a summary.
    Sections,
    /// The fragment is inside the element in which the host speaks, or is a block of its own.
    Reminder,
    /// The fragment asks a model for something; its tags are read back.
    Prompt,
    /// The fragment lists texts that hosts write.
    Data,
}

/// A fragment.
#[derive(Debug)]
pub(super) struct MarkerFragment {
    pub(super) path: &'static str,
    pub(super) text: &'static str,
    pub(super) role: FragmentRole,
}

macro_rules! fragments {
    ($($role:ident: $($path:literal)*;)*) => {
        &[$($(MarkerFragment {
            path: $path,
            text: include_str!(concat!("../../", $path)),
            role: FragmentRole::$role,
        },)*)*]
    };
}

/// All fragments.
pub(super) const FRAGMENTS: &[MarkerFragment] = fragments! {
    Written:
        "collapse/heading.md"
        "collapse/nothing.md"
        "collapse/opening.md"
        "facts/fragments/called_off.md"
        "facts/fragments/cancelled.md"
        "facts/fragments/error.md"
        "facts/fragments/files.md"
        "facts/fragments/messages.md"
        "facts/fragments/opening.md"
        "facts/fragments/rules.md"
        "facts/fragments/todos.md"
        "facts/fragments/cut.txt"
        "facts/fragments/files_omitted.txt"
        "facts/fragments/omitted.txt"
        "local_summary/cut_off.md"
        "local_summary/opening.md"
        "normalize/fragments/cleared.txt"
        "normalize/fragments/data_left_out.txt"
        "normalize/fragments/image_left_out.txt"
        "normalize/fragments/placeholder.txt"
        "normalize/fragments/unanswered.txt"
        "notes/cut.md"
        "reduce/fragments/changed.txt"
        "reduce/fragments/excerpt.txt"
        "reduce/fragments/excerpt_errors.txt"
        "reduce/fragments/same.txt"
        "reduce/fragments/shortened.txt"
        "reduce/fragments/shortened_errors.txt"
        "rounds/marker.txt"
        "summary/message/automatic.md"
        "summary/message/autonomous.md"
        "summary/message/kept_behind.md"
        "summary/message/opening.md"
        "summary/message/opening_provider.md"
        "summary/message/opening_recent.md"
        "summary/message/recall.md"
        "summary/message/transcript.md";
    Sections:
        "local_summary/sections.txt";
    Reminder:
        "normalize/attachment/fragments/agent.txt"
        "normalize/fragments/late_result.txt"
        "normalize/fragments/unsendable.txt"
        "normalize/attachment/fragments/agents_delta.txt"
        "normalize/attachment/fragments/date.txt"
        "normalize/attachment/fragments/delta_gone.txt"
        "normalize/attachment/fragments/delta_new.txt"
        "normalize/attachment/fragments/delta_new_servers.txt"
        "normalize/attachment/fragments/edited_file.txt"
        "normalize/attachment/fragments/file.txt"
        "normalize/attachment/fragments/file_elsewhere.txt"
        "normalize/attachment/fragments/folder.txt"
        "normalize/attachment/fragments/hook.txt"
        "normalize/attachment/fragments/hook_blocked.txt"
        "normalize/attachment/fragments/hook_failed.txt"
        "normalize/attachment/fragments/memories.txt"
        "normalize/attachment/fragments/memory.txt"
        "normalize/attachment/fragments/noted.txt"
        "normalize/attachment/fragments/opened_file.txt"
        "normalize/attachment/fragments/other.txt"
        "normalize/attachment/fragments/picture.txt"
        "normalize/attachment/fragments/plan_file.txt"
        "normalize/attachment/fragments/plan_file_off.txt"
        "normalize/attachment/fragments/plan_mode.txt"
        "normalize/attachment/fragments/plan_mode_off.txt"
        "normalize/attachment/fragments/queued.txt"
        "normalize/attachment/fragments/resource.txt"
        "normalize/attachment/fragments/selected_lines.txt"
        "normalize/attachment/fragments/servers_delta.txt"
        "normalize/attachment/fragments/skill.txt"
        "normalize/attachment/fragments/skill_listing.txt"
        "normalize/attachment/fragments/skills.txt"
        "normalize/attachment/fragments/style.txt"
        "normalize/attachment/fragments/task.txt"
        "normalize/attachment/fragments/todo.txt"
        "normalize/attachment/fragments/todo_empty.txt"
        "normalize/attachment/fragments/todo_off.txt"
        "normalize/attachment/fragments/tools_delta.txt";
    Prompt:
        "collapse/prompt/answer.md"
        "collapse/prompt/closing.md"
        "collapse/prompt/condense.md"
        "collapse/prompt/holds.md"
        "collapse/prompt/kept.md"
        "collapse/prompt/span.md"
        "collapse/prompt/task.md"
        "collapse/prompt/task_one.md"
        "notes/prompt/answer.md"
        "notes/prompt/current.md"
        "notes/prompt/edit.md"
        "notes/prompt/over_section.md"
        "notes/prompt/over_sections.md"
        "notes/prompt/over_total.md"
        "notes/prompt/rules.md"
        "notes/prompt/task.md"
        "summary/prompt/answer.md"
        "summary/prompt/called_off.md"
        "summary/prompt/closing.md"
        "summary/prompt/draft.md"
        "summary/prompt/instructions.md"
        "summary/prompt/no_tools.md"
        "summary/prompt/provider.md"
        "summary/prompt/system.md"
        "summary/prompt/task_from.md"
        "summary/prompt/task_up_to.md"
        "summary/prompt/task_whole.md"
        "summary/prompt/whose_words.md"
        "summary/prompt/sections/1_request.md"
        "summary/prompt/sections/2_concepts.md"
        "summary/prompt/sections/3_files.md"
        "summary/prompt/sections/4_errors.md"
        "summary/prompt/sections/5_solving.md"
        "summary/prompt/sections/6_messages.md"
        "summary/prompt/sections/7_pending.md"
        "summary/prompt/sections/8_completed.md"
        "summary/prompt/sections/8_current.md"
        "summary/prompt/sections/9_continuing.md"
        "summary/prompt/sections/9_next.md";
    Data:
        "facts/host_texts.txt";
};
