//! What goes with a prompt besides its text: the files that it mentions and the pictures that were pasted.

use longhaul_core::figures::grouped;

use crate::agent::{Agent, UserPrompt};
use crate::files::FileState;
use crate::picture::Picture;
use crate::project_setup::ProjectSetup;

/// Attaches what a prompt mentions, and says so. A server that does not answer can be stopped; then the prompt is, too.
pub(super) async fn with_mentions(
    agent: &mut Agent,
    workplace: &ProjectSetup,
    said: UserPrompt,
) -> UserPrompt {
    let cancel = agent.cancellation().token();
    let cwd = agent.place().cwd.clone();
    let attached = workplace.with_mentions(&cwd, said.clone());
    match cancel.run_until_cancelled(attached).await {
        Some(attached) => {
            for notice in attached.notices {
                agent.notice(notice);
            }
            attached.prompt
        }
        None => said,
    }
}

/// A prompt with pictures, as far as requests with all of them will be accepted.
pub(super) fn with_pictures(
    agent: &Agent,
    workplace: &ProjectSetup,
    text: String,
    pictures: &[Picture],
) -> UserPrompt {
    let mut said = UserPrompt::text(text);
    for picture in pictures {
        if !workplace.admits_picture(picture) {
            agent.notice(format!(
                "a picture of {} is not attached: with more than 20 pictures, none may have a side over {} pixels",
                picture.size(),
                grouped(FileState::LONG_SIDE as u64)
            ));
            continue;
        }
        said.blocks.push(picture.block());
        let path = picture.path.as_deref();
        let source = path.map(|path| format!("[Image: source: {}]", path.display()));
        said.notes.extend(source);
    }
    said
}
