//! Pictures from the clipboard and from pasted paths. The clipboard is read with the system's own programs, and only when the
//! user presses the key for it.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::Command;

use crate::files::{OpenedFile, resolve};
use crate::picture::{MOST_BYTES, Picture};

/// How long a program may take to hand out the clipboard.
const PATIENCE: Duration = Duration::from_secs(5);
/// What to do where there is no picture to be had.
const INSTEAD: &str = "paste the path of a picture instead";
/// The types that are asked for, the best first.
const TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "image/gif"];
/// The endings of files whose pasted path means the picture.
const ENDINGS: [&str; 5] = ["png", "jpg", "jpeg", "gif", "webp"];

/// The picture on the clipboard. An error is half a sentence.
pub(crate) async fn picture(var: impl Fn(&str) -> bool) -> Result<Picture, String> {
    let content = if cfg!(target_os = "macos") {
        of_mac().await?
    } else if var("WAYLAND_DISPLAY") {
        of_programs(
            "wl-paste",
            &["--list-types"],
            &["--no-newline", "--type"],
            &[],
        )
        .await?
    } else if var("DISPLAY") {
        let selection = ["-selection", "clipboard", "-t"];
        let targets = ["-selection", "clipboard", "-t", "TARGETS", "-o"];
        of_programs("xclip", &targets, &selection, &["-o"]).await?
    } else {
        return Err(format!("this terminal has no clipboard; {INSTEAD}"));
    };
    Picture::new(content).map_err(|why| format!("the picture on the clipboard is not taken: {why}"))
}

/// Asks a program which types there are, then for the best picture.
async fn of_programs(
    program: &str,
    list: &[&str],
    before: &[&str],
    after: &[&str],
) -> Result<Vec<u8>, String> {
    let missing = |_| format!("{program} reads the clipboard, and is not installed; {INSTEAD}");
    let types = output(program, list).await.map_err(missing)?;
    let types = String::from_utf8_lossy(&types).into_owned();
    let offered = |kind: &&&str| types.lines().any(|line| line.trim() == **kind);
    let Some(kind) = TYPES.iter().find(offered) else {
        return Err(none());
    };
    let arguments: Vec<&str> = before.iter().chain([kind]).chain(after).copied().collect();
    output(program, &arguments).await.map_err(missing)
}

/// `pngpaste` writes the picture itself; `osascript`, which is always there, its bytes as hexadecimal digits.
async fn of_mac() -> Result<Vec<u8>, String> {
    if let Ok(content) = output("pngpaste", &["-"]).await
        && !content.is_empty()
    {
        return Ok(content);
    }
    let script = ["-e", "the clipboard as «class PNGf»"];
    let said = output("osascript", &script).await.map_err(|_| none())?;
    let said = String::from_utf8_lossy(&said);
    let digits = said.trim().strip_prefix("«data PNGf");
    let digits = digits.and_then(|rest| rest.strip_suffix('»'));
    digits.and_then(bytes).ok_or_else(none)
}

fn none() -> String {
    "there is no picture on the clipboard".to_owned()
}

/// The bytes that hexadecimal digits mean.
fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}

/// What a program writes, up to a little more than a picture may have; empty if it takes too long. It fails if it cannot
/// be started.
async fn output(program: &str, arguments: &[&str]) -> std::io::Result<Vec<u8>> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    let mut content = Vec::new();
    if let Some(out) = child.stdout.take() {
        // Hexadecimal digits are twice as long.
        let mut out = out.take(2 * MOST_BYTES + 100);
        let _ = tokio::time::timeout(PATIENCE, out.read_to_end(&mut content)).await;
    }
    Ok(content)
}

/// The file that a pasted text means, if it is the path of a picture: terminals paste the path of a file that is dropped
/// on them, in quotes, with backslashes or as a URL.
pub(crate) fn pasted_path(text: &str, folder: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let text = text.trim();
    let is_line = !text.is_empty() && text.len() < 4_096 && !text.contains(['\n', '\r']);
    let name = is_line.then(|| plain(text))??;
    let path = match (name.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => folder.join(name),
    };
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    (ENDINGS.contains(&&*ending) && path.is_file()).then_some(path)
}

/// A path without what a terminal adds to it.
fn plain(text: &str) -> Option<String> {
    if let Some(url) = text.strip_prefix("file://") {
        let path = url::Url::parse(&format!("file://{url}")).ok()?;
        return path.to_file_path().ok()?.to_str().map(str::to_owned);
    }
    for quote in ['\'', '"'] {
        let inner = text.strip_prefix(quote);
        if let Some(inner) = inner.and_then(|inner| inner.strip_suffix(quote)) {
            return Some(inner.to_owned());
        }
    }
    let mut name = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if cfg!(unix) => name.push(letters.next()?),
            _ => name.push(letter),
        }
    }
    Some(name)
}

/// The picture in a file. An error is half a sentence.
pub(crate) fn picture_of_file(path: &Path) -> Result<Picture, String> {
    let read = resolve(path)
        .map_err(|error| error.to_string())
        .and_then(|real| {
            let opened = OpenedFile::regular(&real);
            let content = opened.and_then(OpenedFile::content);
            content.map_err(|error| error.to_string())
        });
    let name = path.file_name().unwrap_or(path.as_os_str());
    let taken = read.and_then(|content| Picture::new(content).map_err(|why| why.to_string()));
    match taken {
        Ok(mut picture) => {
            picture.path = Some(path.to_owned());
            Ok(picture)
        }
        Err(why) => Err(format!("{} is not attached: {why}", name.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q2_a_pasted_path_of_a_picture_is_recognized_however_it_is_quoted() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a shot.png");
        std::fs::write(&file, "").unwrap();
        std::fs::write(folder.path().join("notes.txt"), "").unwrap();
        let escaped = file.display().to_string().replace(' ', "\\ ");
        let quoted = format!("'{}'", file.display());
        let url = url::Url::from_file_path(&file).unwrap().to_string();
        for text in [&escaped, &quoted, &url, "a\\ shot.png", " a shot.png \n"] {
            let found = pasted_path(text, folder.path(), None);
            assert_eq!(found.as_ref(), Some(&file), "{text}");
        }
        let found = pasted_path("~/a shot.png", Path::new("/"), Some(folder.path()));
        assert_eq!(found, Some(file));
        for text in ["notes.txt", "missing.png", "look at a.png\nand b.png", ""] {
            assert_eq!(pasted_path(text, folder.path(), None), None, "{text}");
        }
    }

    #[tokio::test]
    async fn q2_without_a_clipboard_people_are_told_what_to_do() {
        if cfg!(target_os = "linux") {
            let why = picture(|_| false).await.unwrap_err();
            assert_eq!(
                why,
                "this terminal has no clipboard; paste the path of a picture instead"
            );
        }
        assert_eq!(bytes("89504E"), Some(vec![0x89, 0x50, 0x4e]));
        assert_eq!(bytes("8950x"), None);
    }
}
