//! Pictures in prompts: from the clipboard and from pasted paths.

use longhaul_testkit::terminal::TestTerminal;
use serde_json::Value;

use super::house::{House, Typing};

const PLAIN: [&str; 2] = ["--set", "compaction.notes=false"];
/// A picture of one pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// A program in place of the one that reads the clipboard, which has this to say.
fn start(house: &House, program: &str) -> TestTerminal {
    use std::os::unix::fs::PermissionsExt;
    let path = house
        .world
        .write("bin/wl-paste", format!("#!/bin/sh\n{program}\n"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let folder = path.parent().unwrap().display().to_string();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap_or_default());
    let variables = [("PATH", &*path), ("WAYLAND_DISPLAY", "wayland-0")];
    let terminal = house.start(&PLAIN, &variables);
    terminal.sees("> what should be done?");
    terminal
}

fn last_content(house: &House) -> Value {
    let entries = house.entries();
    let mut users = entries
        .iter()
        .rev()
        .filter(|entry| entry["type"] == "user" && entry["isMeta"] != true);
    users.next().unwrap()["message"]["content"].clone()
}

#[test]
fn q2_pictures_are_pasted_shown_by_number_and_sent_as_claude_code_writes_them() {
    let house = House::new();
    let program = format!(
        r#"if [ "$1" = --list-types ]; then echo text/html; echo image/png; else echo {PIXEL} | base64 -d; fi"#
    );
    let mut terminal = start(&house, &program);
    terminal.keys("look at ");
    terminal.keys("\u{16}");
    terminal.sees("> look at [Image #1]");
    terminal.sees("1 × 1 pixels");
    terminal.asks("please", "Done with: look at [Image #1] please");
    let content = last_content(&house);
    assert_eq!(content[0]["text"], "look at [Image #1] please");
    assert_eq!(content[1]["source"]["media_type"], "image/png");
    assert_eq!(content[1]["source"]["data"], PIXEL);
    assert_eq!(content.as_array().unwrap().len(), 2);

    // A file that is dropped on a terminal is pasted as its path.
    let file = house.work().join("a dot.png");
    let decoded = std::process::Command::new("sh")
        .arg("-c")
        .arg(format!("echo {PIXEL} | base64 -d"))
        .output();
    std::fs::write(&file, decoded.unwrap().stdout).unwrap();
    let dropped = file.display().to_string().replace(' ', "\\ ");
    terminal.keys(&format!("\u{1b}[200~{dropped}\u{1b}[201~"));
    terminal.sees("> [Image #2]");
    // The picture goes as one, and with it what would be sent.
    terminal.keys("\u{7f}\u{7f}");
    terminal.misses("[Image #2]");
    terminal.keys(&format!("\u{1b}[200~{dropped}\u{1b}[201~"));
    terminal.sees("> [Image #3]");
    terminal.asks("and this", "Done with: [Image #3] and this");
    assert_eq!(last_content(&house).as_array().unwrap().len(), 2);
    let last = String::from_utf8(house.wire.requests().pop().unwrap()).unwrap();
    assert_eq!(last.matches(PIXEL).count(), 2);
    assert!(
        last.contains("[Image: source: "),
        "the model may work on the file"
    );
    terminal.leaves();
    house.nothing_refused();
    house.inspected();
}

#[test]
fn q2_where_there_is_no_picture_people_are_told_so() {
    let house = House::new();
    let mut terminal = start(&house, "echo text/plain");
    terminal.keys("\u{16}");
    terminal.sees("there is no picture on the clipboard");
    house.world.write("work/odd.png", "no picture");
    terminal.keys("\u{1b}[200~odd.png\u{1b}[201~");
    terminal.sees("odd.png is not attached: it is not a PNG, JPEG, GIF or WebP picture");
    terminal.leaves();
    let mut terminal = house.chat(&PLAIN);
    terminal.keys("\u{16}");
    terminal.sees("this terminal has no clipboard; paste the path of a picture instead");
    terminal.leaves();
}
