//! The commands for the shell in a skill that the model invokes: each runs as a call of its own, and its output takes its
//! place. Where one may not run, the skill is not loaded. `agent/own_command.rs` does the same for what the user types.

use longhaul_core::normalize::fragment::fill;

use crate::own_command::{CommandPart, FilledPrompt, OwnCommand, SHELL, shell_input};
use crate::tool::{CallContext, SingleCall};
use crate::tools::definition::stopped_text;

/// The instructions with the output of their commands; an error says why they are not loaded.
pub(super) async fn filled(loaded: &OwnCommand, call: &CallContext) -> Result<String, String> {
    let refused = |shell: &str, why: &str| {
        let gaps = [("name", &*loaded.name), ("shell", shell), ("why", why)];
        fill(include_str!("fragments/not_loaded.md"), &gaps)
    };
    let Some(nested) = &call.nested else {
        return Ok(loaded.text());
    };
    // What is wrong with a rule was said when the settings were read.
    nested.allow_for_turn(&loaded.allowed_tools);
    let mut prompt = FilledPrompt::of(loaded).map_err(|why| refused(SHELL, &why.to_string()))?;
    for part in &loaded.parts {
        match part {
            CommandPart::Text(words) => prompt.text(words),
            CommandPart::Shell(shell) => {
                match nested.run(SHELL, shell_input(loaded, shell)).await {
                    SingleCall::Ran(output) => prompt.output(&output.content),
                    SingleCall::NotRun(why) => return Err(refused(shell, &why)),
                    SingleCall::Stopped => return Err(stopped_text()),
                }
            }
        }
    }
    Ok(prompt.done())
}
