//! Everything from the user's side except tool results: prompts, meta messages, attachments, pictures.

use super::generator::Generator;
use super::meter;
use super::spec::Feature;
use crate::ids;
use crate::json::{ObjectBuilder, array, quote};
use crate::words;

impl Generator {
    /// Writes a prompt, with the lines that may come before and after it.
    pub(super) fn prompt(&mut self) {
        if self.spec.has(Feature::Meta) && self.rng.percent(12) {
            self.local_command();
        }
        self.cut();
        let letters = self.letters;
        let mut text = {
            let sentences = self.rng.skewed(1, 14);
            words::prose(&mut self.rng, sentences, letters)
        };
        if self.rng.percent(10) {
            let lines = self.rng.skewed(4, 160);
            text.push_str("\n\n```\n");
            text.push_str(&words::log(&mut self.rng, lines, letters));
            text.push_str("\n```");
        }
        let content = if self.spec.has(Feature::Images) && self.rng.percent(6) {
            self.meter.add(2_000);
            let picture = self.picture();
            array([
                ObjectBuilder::new()
                    .text("type", "text")
                    .text("text", &text)
                    .end(),
                picture.block,
            ])
        } else {
            quote(&text)
        };
        self.meter.add(meter::tokens(text.len()));
        self.user_line(&content, |line| {
            line.raw("todos", "[]").text("permissionMode", "default")
        });
        if self.spec.has(Feature::Attachments) && self.rng.percent(25) {
            self.attachment();
        }
    }

    /// Writes a user line of the conversation; `more` adds members after the timestamp.
    pub(super) fn user_line(
        &mut self,
        content: &str,
        more: impl FnOnce(ObjectBuilder) -> ObjectBuilder,
    ) {
        let uuid = ids::uuid(&mut self.rng);
        let line = self
            .tape
            .open(&self.thread, self.thread.last.as_deref())
            .text("type", "user")
            .raw(
                "message",
                &ObjectBuilder::new()
                    .text("role", "user")
                    .raw("content", content)
                    .end(),
            )
            .text("uuid", &uuid)
            .text("timestamp", &self.tape.stamp());
        let written = self.tape.link(&mut self.thread, &more(line).end(), uuid);
        self.see(written);
    }

    /// Writes a command that the user ran outside the conversation: a meta caveat, the command, its output.
    fn local_command(&mut self) {
        let (command, printed) = (
            words::noun(&mut self.rng),
            words::sentence(&mut self.rng, self.letters),
        );
        let caveat = "<local-command-caveat>What follows was run by the user, not asked of you.</local-command-caveat>";
        let texts = [
            (caveat.to_owned(), true),
            (
                format!("<command-name>/{command}</command-name>\n<command-args></command-args>"),
                false,
            ),
            (
                format!("<local-command-stdout>{printed}</local-command-stdout>"),
                false,
            ),
        ];
        for (text, meta) in texts {
            self.meter.add(meter::tokens(text.len()));
            self.user_line(&quote(&text), |line| {
                if meta {
                    line.flag("isMeta", true)
                } else {
                    line
                }
            });
        }
    }

    /// Writes one attachment line at the end of the chain.
    pub(super) fn attachment(&mut self) {
        let letters = self.letters;
        let attachment = match self.rng.below(3) {
            0 => {
                let file = self.new_file();
                let (path, content) = (self.absolute(file), self.file_content(file));
                let file = ObjectBuilder::new()
                    .text("filePath", &path)
                    .text("content", &content)
                    .end();
                let content = ObjectBuilder::new()
                    .text("type", "text")
                    .raw("file", &file)
                    .end();
                ObjectBuilder::new()
                    .text("type", "file")
                    .text("filename", &path)
                    .raw("content", &content)
                    .end()
            }
            1 => ObjectBuilder::new()
                .text("type", "todo")
                .raw("content", &self.todos_json())
                .number("itemCount", self.todos.len() as u64)
                .text("context", "prompt")
                .end(),
            _ => ObjectBuilder::new()
                .text("type", "queued_command")
                .text("prompt", &words::prose(&mut self.rng, 2, letters))
                .text("commandMode", "prompt")
                .end(),
        };
        self.meter.add(meter::tokens(attachment.len()));
        let uuid = ids::uuid(&mut self.rng);
        let line = self.tape.attachment(
            &self.thread,
            self.thread.last.as_deref(),
            &attachment,
            &uuid,
        );
        let written = self.tape.link(&mut self.thread, &line, uuid);
        self.see(written);
    }

    /// A fake picture: random base 64.
    pub(super) fn picture(&mut self) -> GeneratedPicture {
        let len = self.rng.skewed(2_000, 40_000);
        let data = ids::base64(&mut self.rng, len);
        let source = ObjectBuilder::new()
            .text("type", "base64")
            .text("media_type", "image/png")
            .text("data", &data)
            .end();
        GeneratedPicture {
            block: ObjectBuilder::new()
                .text("type", "image")
                .raw("source", &source)
                .end(),
            data,
        }
    }
}

/// A picture as a content block, and its data alone.
pub(super) struct GeneratedPicture {
    pub(super) block: String,
    pub(super) data: String,
}
