//! Pictures in the prompt: from the clipboard (ctrl-v) or from a pasted path. In the text they are `[Image #1]`, as Claude
//! Code shows them; whoever deletes that takes the picture back.

use std::path::PathBuf;

use super::{App, HostAnswer};
use crate::picture::Picture;
use crate::screen::clipboard;

/// The pictures that were pasted, in the order of their numbers.
#[derive(Debug, Default)]
pub(crate) struct PastedPictures(Vec<Picture>);

impl PastedPictures {
    /// Adds a picture. Returns what stands for it in a text.
    fn add(&mut self, picture: Picture) -> String {
        self.0.push(picture);
        name(self.0.len())
    }

    /// The pictures that a text names.
    pub(super) fn named_in(&self, text: &str) -> Vec<Picture> {
        let pictures = (1..).zip(&self.0);
        pictures
            .filter(|(number, _)| text.contains(&name(*number)))
            .map(|(_, picture)| picture.clone())
            .collect()
    }
}

fn name(number: usize) -> String {
    format!("[Image #{number}]")
}

impl App {
    /// Takes the picture that is on the clipboard.
    pub(super) fn paste_picture(&mut self) {
        self.hint = Some("looking at the clipboard".to_owned());
        let to = self.answered.clone();
        tokio::spawn(async move {
            let is_set = |name: &str| std::env::var_os(name).is_some_and(|it| !it.is_empty());
            // A screen that is gone needs no picture.
            let _ = to.send(HostAnswer::Picture(clipboard::picture(is_set).await));
        });
    }

    /// Takes the picture in a file whose path was pasted. Returns false if the text is no such path.
    pub(super) fn paste_path(&mut self, text: &str) -> bool {
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let Some(path) = clipboard::pasted_path(text, &self.workspace, home.as_deref()) else {
            return false;
        };
        let to = self.answered.clone();
        tokio::task::spawn_blocking(move || {
            // A screen that is gone needs no picture.
            let _ = to.send(HostAnswer::Picture(clipboard::picture_of_file(&path)));
        });
        true
    }

    /// Puts a picture into the prompt.
    pub(super) fn on_picture(&mut self, taken: Result<Picture, String>) {
        match taken {
            Ok(picture) => {
                self.hint = Some(picture.size());
                let name = self.pictures.add(picture);
                self.editor.insert_as_one(&name);
                self.editor.insert(" ");
            }
            Err(why) => {
                self.hint = None;
                self.warn(why);
            }
        }
    }
}
