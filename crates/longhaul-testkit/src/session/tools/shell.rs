//! The tool that runs commands.

use super::{GeneratedAnswer, InputAndAnswer};
use crate::json::{ObjectBuilder, quote};
use crate::session::generator::Generator;
use crate::words;

impl Generator {
    pub(super) fn bash(&mut self, fails: bool) -> InputAndAnswer {
        let letters = self.letters;
        let (noun, name) = (words::noun(&mut self.rng), words::name(&mut self.rng));
        let command = match self.rng.below(4) {
            0 => format!(
                "cargo test -p {noun} -- {name} 2>&1 | tail -{}",
                self.rng.between(5, 80)
            ),
            1 => format!("grep -rn \"{name}\" src/ | sed 's/\\t/ /g' | head"),
            2 => format!(
                "git log --oneline -{} -- \"{}\"",
                self.rng.between(2, 30),
                words::path(&mut self.rng)
            ),
            _ => format!(
                "ls -la {noun}/ && cat <<'END' > {noun}.txt\n{}\nEND",
                words::code(&mut self.rng, 6, letters)
            ),
        };
        let description = words::sentence(&mut self.rng, letters);
        let mut input = ObjectBuilder::new()
            .text("command", &command)
            .text("description", &description);
        if self.rng.percent(25) {
            input = input.number("timeout", 120_000);
        }
        let lines = self.rng.skewed(1, 420);
        let stdout = words::log(&mut self.rng, lines, letters);
        let answer = if fails {
            let text = format!("Exit code {}\n{stdout}", self.rng.between(1, 2));
            GeneratedAnswer {
                content: quote(&text),
                copy: quote(&format!("Error: {text}")),
                fails,
            }
        } else {
            let copy = ObjectBuilder::new()
                .text("stdout", &stdout)
                .text("stderr", "")
                .flag("interrupted", false)
                .flag("isImage", false)
                .end();
            GeneratedAnswer {
                content: quote(&stdout),
                copy,
                fails,
            }
        };
        (input.end(), answer)
    }
}
