//! Generates commands from a seed: everything that the shell has, combined at random.

use super::attacks::ATTACKS;
use super::words::{
    EXPANSIONS, MILD_EXPANSIONS, MILD_PATHS, MILD_PROGRAMS, NAMES, NOISE, OPERATORS, PATHS,
    PROGRAMS, QUESTIONS, VALUES,
};

/// Folders that the shell may be in.
const FOLDERS: &[&str] = &["", "", "", "docs/sub", "src", "odd"];

/// An endless source of commands, each with the folder that the shell is in.
pub(super) struct Generator {
    state: u64,
    /// How many harmful pieces the current command may still get: with too many of them, no command would run.
    spice: usize,
}

impl Iterator for Generator {
    type Item = (String, &'static str);

    fn next(&mut self) -> Option<Self::Item> {
        let folder = self.pick(FOLDERS);
        self.spice = self.below(4);
        let mut command = match self.below(8) {
            0 => ATTACKS[self.below(ATTACKS.len())].command.to_owned(),
            _ => self.list(3),
        };
        if self.below(4) == 0 {
            for _ in 0..=self.below(3) {
                self.disturb(&mut command);
            }
        }
        Some((command, folder))
    }
}

impl Generator {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            state: seed,
            spice: 0,
        }
    }

    /// The next number of SplitMix64.
    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.random() % (end as u64)).unwrap()
    }

    fn pick(&mut self, from: &[&'static str]) -> &'static str {
        from[self.below(from.len())]
    }

    /// One of these, or of the milder ones.
    fn choose(&mut self, wild: &[&'static str], mild: &[&'static str]) -> &'static str {
        if self.spice > 0 && self.below(3) == 0 {
            self.spice -= 1;
            return self.pick(wild);
        }
        self.pick(mild)
    }

    /// Inserts or removes something at a random place.
    fn disturb(&mut self, command: &mut String) {
        let places: Vec<usize> = command.char_indices().map(|(at, _)| at).collect();
        if places.is_empty() {
            return;
        }
        let at = places[self.below(places.len())];
        match self.below(3) {
            0 => {
                command.remove(at);
            }
            _ => command.insert_str(at, self.pick(NOISE)),
        }
    }

    fn list(&mut self, depth: usize) -> String {
        let mut text = self.command(depth);
        for _ in 0..self.below(3) {
            let joint = self.pick(&[
                "; ", "; ", " && ", " || ", " | ", "\n", " & ", " |& ", " # x\n",
            ]);
            text.push_str(joint);
            text.push_str(&self.command(depth));
        }
        text
    }

    fn command(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.simple(0);
        }
        let inner = depth - 1;
        match self.below(26) {
            0 => format!("({})", self.list(inner)),
            1 => format!("{{ {}; }}", self.list(inner)),
            2 => format!(
                "if {}; then {}; fi",
                self.condition(inner),
                self.list(inner)
            ),
            3 => format!(
                "while {}; do {}; break; done",
                self.condition(inner),
                self.list(inner)
            ),
            4 => format!(
                "until {}; do {}; break; done",
                self.condition(inner),
                self.list(inner)
            ),
            5 => format!(
                "for {} in {} {}; do {}; done",
                self.choose(NAMES, &["x", "i"]),
                self.word(inner),
                self.pick(VALUES),
                self.list(inner)
            ),
            6 => format!(
                "case {} in {}) {};; *) {};; esac",
                self.word(inner),
                self.word(inner),
                self.list(inner),
                self.simple(inner)
            ),
            7 => format!("f() {{ {}; }}; f", self.list(inner)),
            8 => self.condition(inner),
            9 => format!("! {}", self.command(inner)),
            10 => format!(
                "cat <<EOF\n{}\n{}\nEOF",
                self.word(inner),
                self.pick(VALUES)
            ),
            11 => format!(
                "cat <<'EOF'\n{}\nEOF\n{}",
                self.word(inner),
                self.simple(inner)
            ),
            12 => format!("cat <<< {}", self.word(inner)),
            13..=15 => format!("{}; {}", self.assignment(inner), self.command(inner)),
            16 => format!("cd {}; {}", self.path(), self.command(inner)),
            17 => format!("cd {} && {}", self.path(), self.command(inner)),
            18 => format!("(({})) && {}", self.pick(NAMES), self.simple(inner)),
            19 => format!("{} {}", self.assignment(inner), self.simple(inner)),
            _ => self.simple(inner),
        }
    }

    fn simple(&mut self, depth: usize) -> String {
        let mut text = self.choose(PROGRAMS, MILD_PROGRAMS).to_owned();
        for _ in 0..self.below(3) {
            text.push(' ');
            text.push_str(&self.word(depth));
        }
        match self.below(14) {
            0 if self.spice > 0 => text.push_str(&format!(" > {}", self.word(depth))),
            1 => text.push_str(&format!(" < {}", self.path())),
            2 => text.push_str(" 2>&1"),
            3 => text.push_str(" > /dev/null"),
            4 if self.spice > 0 => text.push_str(&format!(" >> {}", self.path())),
            5 if self.spice > 0 => text.push_str(&format!(" {{{}}}<a.txt", self.pick(NAMES))),
            _ => {}
        }
        text
    }

    fn assignment(&mut self, depth: usize) -> String {
        let name = self.choose(NAMES, &["x", "y", "arr"]);
        match self.below(6) {
            0 => format!("{name}=({} {})", self.word(depth), self.pick(VALUES)),
            1 => format!("{name}=([{}]={})", self.pick(NAMES), self.pick(VALUES)),
            2 => {
                let index = self.choose(NAMES, &["0", "1"]);
                format!("{name}[{index}]={}", self.word(depth))
            }
            3 => format!("{name}+={}", self.pick(VALUES)),
            4 => format!("{name}={}", self.expansion()),
            _ => format!("{name}={}", self.pick(VALUES)),
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        let one = self.word(depth);
        let other = self.word(depth);
        match self.below(8) {
            0 => format!("[ {} {one} ]", self.pick(QUESTIONS)),
            1 => format!("[[ {} {one} ]]", self.pick(QUESTIONS)),
            2 => format!("[ {one} {} {other} ]", self.pick(OPERATORS)),
            3 => format!("[[ {one} {} {other} ]]", self.pick(OPERATORS)),
            4 => format!("[[ {} {} 1 ]]", self.pick(NAMES), self.pick(OPERATORS)),
            5 => format!(
                "[[ {one} == b {} {other} -eq 1 ]]",
                self.pick(&["&&", "||"])
            ),
            6 => format!("[ {one} ]"),
            _ => format!("test {} {one}", self.pick(QUESTIONS)),
        }
    }

    fn word(&mut self, depth: usize) -> String {
        let wild = self.spice > 0 && depth > 0;
        match self.below(14) {
            0 if wild => format!("$({})", self.list(depth - 1)),
            1 if wild => format!("\"$({})\"", self.simple(depth - 1)),
            2 if wild => format!("`{}`", self.simple(0)),
            3 if wild => format!("<({})", self.simple(depth - 1)),
            4 if wild => self.expansion(),
            5 => format!("\"{}\"", self.expansion()),
            6 if wild => format!("{}{}", self.path(), self.expansion()),
            _ => self.path(),
        }
    }

    fn expansion(&mut self) -> String {
        let shape = self.choose(EXPANSIONS, MILD_EXPANSIONS);
        let name = self.pick(NAMES);
        // `@` stands for a name where one fits, and for itself elsewhere.
        let named = match shape.strip_prefix("${@").or(shape.strip_prefix("${#@")) {
            Some(_) => shape.replacen('@', name, 1),
            None => shape.replace('@', name),
        };
        named.replace('%', &self.pick(VALUES).replace('%', ""))
    }

    /// A path, perhaps with quotes that change none or all of its meaning.
    fn path(&mut self) -> String {
        let path = self.choose(PATHS, MILD_PATHS);
        let at = self.below(path.len() + 1);
        let Some((before, after)) = path.split_at_checked(at) else {
            return path.to_owned();
        };
        match self.below(12) {
            0 => format!("'{path}'"),
            1 => format!("\"{path}\""),
            2 => format!("{before}\"\"{after}"),
            3 => format!("\"\"{path}"),
            4 => format!("'{before}'{after}"),
            5 => format!("{before}\"{after}\""),
            6 if !after.is_empty() => format!("{before}\\{after}"),
            _ => path.to_owned(),
        }
    }
}
