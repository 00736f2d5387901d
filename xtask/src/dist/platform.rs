//! The machine that packages are made for, by the names that each kind of package has for it.

use std::process::Command;

use crate::workspace::output;

/// The machine that packages are made for.
pub(super) struct PackagePlatform {
    /// Rust's name, as in `x86_64-unknown-linux-gnu`.
    pub(super) triple: String,
    /// npm's name of the system, as in `linux`.
    pub(super) npm_os: &'static str,
    /// npm's name of the processor, as in `x64`.
    pub(super) npm_cpu: &'static str,
}

impl PackagePlatform {
    pub(super) fn of_this_machine() -> Result<Self, Vec<String>> {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let version = output(Command::new(rustc).arg("-vV"))?;
        let triple = version
            .lines()
            .find_map(|line| line.strip_prefix("host: "))
            .unwrap_or_default();
        Self::of(triple)
    }

    fn of(triple: &str) -> Result<Self, Vec<String>> {
        let npm_os = match triple {
            name if name.contains("-linux-gnu") => "linux",
            name if name.contains("-apple-darwin") => "darwin",
            name if name.contains("-windows-") => "win32",
            other => return Err(vec![format!("no packages are made for {other}")]),
        };
        let npm_cpu = match triple.split('-').next() {
            Some("x86_64") => "x64",
            Some("aarch64") => "arm64",
            _ => return Err(vec![format!("no packages are made for {triple}")]),
        };
        Ok(Self {
            triple: triple.to_owned(),
            npm_os,
            npm_cpu,
        })
    }

    /// The wheel's tag for the machine. For Linux it names the oldest C library that the program runs with.
    pub(super) fn wheel_tag(&self, program: &[u8]) -> String {
        let processor = self.triple.split('-').next().unwrap_or_default();
        match self.npm_os {
            "linux" => {
                let minor = newest_glibc(program).unwrap_or(17);
                format!("manylinux_2_{minor}_{processor}")
            }
            "darwin" if processor == "aarch64" => "macosx_11_0_arm64".to_owned(),
            "darwin" => format!("macosx_10_12_{processor}"),
            _ if processor == "aarch64" => "win_arm64".to_owned(),
            _ => "win_amd64".to_owned(),
        }
    }
}

/// The minor version of the newest C library whose symbols the program wants: `GLIBC_2.34` is 34.
fn newest_glibc(program: &[u8]) -> Option<u32> {
    const SIGN: &[u8] = b"GLIBC_2.";
    let found = program
        .windows(SIGN.len())
        .enumerate()
        .filter(|(_, bytes)| *bytes == SIGN)
        .filter_map(|(at, _)| {
            let digits = &program[at + SIGN.len()..];
            let length = digits.iter().take_while(|byte| byte.is_ascii_digit());
            let digits = std::str::from_utf8(&digits[..length.count()]).ok()?;
            digits.parse::<u32>().ok()
        });
    found.filter(|minor| *minor < 1_000).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wheel_says_which_c_library_it_needs() {
        let linux = PackagePlatform::of("x86_64-unknown-linux-gnu").unwrap();
        let program = b"\x7fELF GLIBC_2.2.5 GLIBC_2.34 GLIBC_2.9\0";
        assert_eq!(linux.wheel_tag(program), "manylinux_2_34_x86_64");
        let mac = PackagePlatform::of("aarch64-apple-darwin").unwrap();
        assert_eq!(mac.wheel_tag(b""), "macosx_11_0_arm64");
        assert!(PackagePlatform::of("wasm32-unknown-unknown").is_err());
    }
}
