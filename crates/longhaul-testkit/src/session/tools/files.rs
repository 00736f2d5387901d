//! The tools that read, change and write files.

use super::{GeneratedAnswer, InputAndAnswer};
use crate::json::{ObjectBuilder, array, quote};
use crate::session::generator::Generator;
use crate::session::spec::Feature;
use crate::words;

impl Generator {
    pub(super) fn read(&mut self, fails: bool) -> InputAndAnswer {
        if fails {
            let path = format!("{}/missing/{}.rs", self.tape.cwd, self.rng.next());
            return (
                ObjectBuilder::new().text("file_path", &path).end(),
                Self::failure("No file at that path."),
            );
        }
        if self.spec.has(Feature::Images) && self.rng.percent(1) {
            return self.read_picture();
        }
        let (file, offset, limit) = self.choose_read();
        let content = self.file_content(file);
        let path = self.absolute(file);
        let mut input = ObjectBuilder::new().text("file_path", &path);
        if limit > 0 {
            input = input
                .number("offset", offset as u64)
                .number("limit", limit as u64);
        }
        let total = self.files[file].lines;
        let start = offset.max(1);
        let taken: Vec<&str> = content
            .split('\n')
            .skip(start - 1)
            .take(if limit > 0 { limit } else { total })
            .collect();
        let mut shown = String::with_capacity(content.len() + taken.len() * 10);
        for (at, line) in taken.iter().enumerate() {
            shown.push_str(&format!("{:>6}→{line}\n", start + at));
        }
        let file = ObjectBuilder::new()
            .text("filePath", &path)
            .text("content", &taken.join("\n"))
            .number("numLines", taken.len() as u64)
            .number("startLine", start as u64)
            .number("totalLines", total as u64)
            .end();
        let copy = ObjectBuilder::new()
            .text("type", "text")
            .raw("file", &file)
            .end();
        (
            input.end(),
            GeneratedAnswer {
                content: quote(&shown),
                copy,
                fails: false,
            },
        )
    }

    /// Chooses a file and range not read before, unless it should be a duplicate. A limit of 0 means the whole file.
    fn choose_read(&mut self) -> (usize, usize, usize) {
        if self.depth > 0 {
            // A sub-agent's reads never count as duplicates; using new files keeps them from looking like any.
            return (self.new_file(), 0, 0);
        }
        if self.spec.has(Feature::DuplicateReads) && !self.reads.is_empty() && self.rng.percent(12)
        {
            self.truth.duplicate_reads += 1;
            return self.reads[self.rng.below(self.reads.len())];
        }
        let mut read = (0, 0, 0);
        if !self.files.is_empty() && self.rng.percent(35) {
            let file = self.known_file();
            let (offset, limit) = (
                self.rng.between(1, self.files[file].lines),
                self.rng.between(20, 200),
            );
            read = (file, offset, limit);
        }
        if read.2 == 0 || self.seen_reads.contains(&read) {
            read = (self.new_file(), 0, 0);
        }
        self.seen_reads.insert(read);
        self.reads.push(read);
        read
    }

    fn read_picture(&mut self) -> InputAndAnswer {
        let path = format!(
            "{}/shots/{}-{:08x}.png",
            self.tape.cwd,
            words::noun(&mut self.rng),
            self.rng.next() as u32
        );
        let picture = self.picture();
        let file = ObjectBuilder::new()
            .text("base64", &picture.data)
            .text("type", "image/png")
            .number("originalSize", (picture.data.len() / 4 * 3) as u64)
            .end();
        let copy = ObjectBuilder::new()
            .text("type", "image")
            .raw("file", &file)
            .end();
        let answer = GeneratedAnswer {
            content: array([picture.block]),
            copy,
            fails: false,
        };
        (ObjectBuilder::new().text("file_path", &path).end(), answer)
    }

    pub(super) fn edit(&mut self, fails: bool) -> InputAndAnswer {
        let file = self.known_file();
        let (path, whole) = (self.absolute(file), self.file_content(file));
        let lines: Vec<&str> = whole.split('\n').collect();
        let taken = self.rng.between(1, 12).min(lines.len());
        let start = self.rng.below(lines.len() - taken + 1);
        let old = &lines[start..start + taken];
        let length = self.rng.between(1, 16);
        let new = words::code(&mut self.rng, length, self.letters);
        let input = ObjectBuilder::new()
            .flag("replace_all", false)
            .text("file_path", &path)
            .text("old_string", &old.join("\n"))
            .text("new_string", &new)
            .end();
        if fails {
            return (
                input,
                Self::failure("The text to replace occurs more than once; give more of it."),
            );
        }
        let (before, after) = (
            start.saturating_sub(3),
            (start + taken + 3).min(lines.len()),
        );
        let mut patch: Vec<String> = lines[before..start]
            .iter()
            .map(|line| quote(&format!(" {line}")))
            .collect();
        patch.extend(old.iter().map(|line| quote(&format!("-{line}"))));
        patch.extend(new.split('\n').map(|line| quote(&format!("+{line}"))));
        patch.extend(
            lines[start + taken..after]
                .iter()
                .map(|line| quote(&format!(" {line}"))),
        );
        let hunk = ObjectBuilder::new()
            .number("oldStart", before as u64 + 1)
            .number("oldLines", (after - before) as u64)
            .number("newStart", before as u64 + 1)
            .number("newLines", (after - before - taken + length) as u64)
            .raw("lines", &array(patch))
            .end();
        let copy = ObjectBuilder::new()
            .text("filePath", &path)
            .text("oldString", &old.join("\n"))
            .text("newString", &new)
            .text("originalFile", &whole)
            .raw("structuredPatch", &array([hunk]))
            .flag("userModified", false)
            .flag("replaceAll", false)
            .end();
        (
            input,
            GeneratedAnswer {
                content: quote(&format!("Changed {path}.")),
                copy,
                fails: false,
            },
        )
    }

    pub(super) fn write(&mut self) -> InputAndAnswer {
        let file = self.new_file();
        let (path, content) = (self.absolute(file), self.file_content(file));
        let copy = ObjectBuilder::new()
            .text("type", "create")
            .text("filePath", &path)
            .text("content", &content)
            .raw("structuredPatch", "[]")
            .raw("originalFile", "null")
            .end();
        let input = ObjectBuilder::new()
            .text("file_path", &path)
            .text("content", &content)
            .end();
        (
            input,
            GeneratedAnswer {
                content: quote(&format!("Wrote {path}.")),
                copy,
                fails: false,
            },
        )
    }
}
