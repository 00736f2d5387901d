//! Stands in for a C compiler and its archiver, so that build scripts come to their end where there is none: it makes the
//! files that it is asked for, and leaves them empty. A check never looks into them; a link would fail.

use std::ffi::OsString;
use std::fs::File;
use std::path::PathBuf;

use crate::TaskResult;

/// Makes the files that these arguments of a compiler or an archiver name.
pub(crate) fn run(args: &[OsString]) -> TaskResult {
    for file in outputs(args) {
        File::create(&file).map_err(|error| vec![format!("{}: {error}", file.display())])?;
    }
    Ok(())
}

/// What a compiler writes to is named after `-o`; an archiver (`ar cq FILE …`) writes to the first archive.
fn outputs(args: &[OsString]) -> Vec<PathBuf> {
    let object = args.iter().skip_while(|arg| *arg != "-o").nth(1);
    let mut archives = args.iter().map(PathBuf::from);
    let archive = archives.find(|file| file.extension().is_some_and(|it| it == "a"));
    object
        .map(PathBuf::from)
        .into_iter()
        .chain(archive)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_compiler_and_an_archiver_write_is_found() {
        let outputs = |line: &str| {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            outputs(&args)
        };
        assert_eq!(outputs("-O0 -c a.c -o out/a.o"), [PathBuf::from("out/a.o")]);
        assert_eq!(
            outputs("cq out/lib.a a.o b.o"),
            [PathBuf::from("out/lib.a")]
        );
        assert!(outputs("-E detect.c").is_empty());
    }
}
