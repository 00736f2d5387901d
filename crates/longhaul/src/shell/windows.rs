//! Shells on Windows: those of Git for Windows, whose installer puts only `git` on the PATH.

use std::path::{Path, PathBuf};

/// What to tell the user where there is no shell.
pub const NO_SHELL: &str =
    "there is no bash; install Git for Windows (https://gitforwindows.org), which brings one";

/// The program of the shell with this name; `None` if it is known that there is none.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let system = std::env::var_os("SystemRoot").map(|folder| in_one_case(Path::new(&folder)));
    // The `bash` of the system runs commands in a Linux of its own, which has other paths.
    let is_of_the_system = |folder: &PathBuf| {
        let system = system.as_ref();
        system.is_some_and(|system| in_one_case(folder).starts_with(system))
    };
    let program = format!("{name}.exe");
    std::env::split_paths(&path)
        .filter(|folder| !is_of_the_system(folder))
        .flat_map(|folder| [Some(folder.join(&program)), beside_git(&folder, &program)])
        .flatten()
        .find(|file| file.is_file())
}

/// The shell of the git in this folder: `Git\cmd\git.exe` has `Git\bin\bash.exe`.
fn beside_git(folder: &Path, program: &str) -> Option<PathBuf> {
    let above = folder.parent()?;
    let is_git = folder.join("git.exe").is_file();
    is_git.then(|| above.join("bin").join(program))
}

fn in_one_case(path: &Path) -> PathBuf {
    path.to_string_lossy().to_lowercase().into()
}
