//! The tools that search in files and for files.

use super::{GeneratedAnswer, InputAndAnswer};
use crate::json::{ObjectBuilder, array, quote};
use crate::session::generator::Generator;
use crate::words;

impl Generator {
    pub(super) fn grep(&mut self, fails: bool) -> InputAndAnswer {
        let pattern = format!(
            "{}|\\b{}\\(",
            words::noun(&mut self.rng),
            words::name(&mut self.rng)
        );
        let input = ObjectBuilder::new()
            .text("pattern", &pattern)
            .text("path", "src");
        if fails {
            return (input.end(), Self::failure("No such folder: src"));
        }
        if self.rng.percent(50) {
            let found = self.rng.skewed(0, 60);
            let names: Vec<String> = (0..found).map(|_| words::path(&mut self.rng)).collect();
            let copy = ObjectBuilder::new()
                .text("mode", "files_with_matches")
                .raw("filenames", &array(names.iter().map(|name| quote(name))))
                .number("numFiles", found as u64)
                .end();
            let content = quote(&format!("{found} files\n{}", names.join("\n")));
            return (
                input.text("output_mode", "files_with_matches").end(),
                GeneratedAnswer {
                    content,
                    copy,
                    fails,
                },
            );
        }
        let count = self.rng.skewed(1, 260);
        let found: Vec<String> = (0..count)
            .map(|_| {
                let path = words::path(&mut self.rng);
                format!(
                    "{path}:{}:{}",
                    self.rng.between(1, 900),
                    words::code(&mut self.rng, 1, self.letters)
                )
            })
            .collect();
        let text = found.join("\n");
        let copy = ObjectBuilder::new()
            .text("mode", "content")
            .number("numFiles", 0)
            .raw("filenames", "[]")
            .text("content", &text)
            .number("numLines", count as u64)
            .end();
        let input = input.text("output_mode", "content").flag("-n", true).end();
        (
            input,
            GeneratedAnswer {
                content: quote(&text),
                copy,
                fails,
            },
        )
    }

    pub(super) fn glob(&mut self) -> InputAndAnswer {
        let found = self.rng.skewed(0, 100);
        let names: Vec<String> = (0..found)
            .map(|_| format!("{}/{}", self.tape.cwd, words::path(&mut self.rng)))
            .collect();
        let copy = ObjectBuilder::new()
            .raw("filenames", &array(names.iter().map(|name| quote(name))))
            .number("durationMs", self.rng.between(5, 900) as u64)
            .number("numFiles", found as u64)
            .flag("truncated", false)
            .end();
        let input = ObjectBuilder::new()
            .text(
                "pattern",
                &format!("**/*{}*.rs", words::noun(&mut self.rng)),
            )
            .end();
        (
            input,
            GeneratedAnswer {
                content: quote(&names.join("\n")),
                copy,
                fails: false,
            },
        )
    }
}
