//! Bash: order, caps, timeouts, and that no process is left running.

use std::io::{BufRead, BufReader};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use longhaul_agent::tool::CallContext;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::desk::{Desk, desk, fifo, holds};

/// The token is cancelled when a process begins to write to the pipe; the thread ends when the last process that holds
/// the pipe is dead.
pub(super) fn last_breath(desk: &Desk) -> (CancellationToken, JoinHandle<()>) {
    let path = desk.folder.join("breath");
    fifo(&path);
    let begun = CancellationToken::new();
    let told = begun.clone();
    let thread = std::thread::spawn(move || {
        let mut pipe = BufReader::new(std::fs::File::open(path).unwrap());
        let mut line = String::new();
        pipe.read_line(&mut line).unwrap();
        told.cancel();
        while pipe.read_line(&mut line).unwrap() > 0 {}
    });
    (begun, thread)
}

/// Holds the pipe open and ignores polite signals, with a grandchild that does the same.
pub(super) const STUBBORN: &str = "trap '' TERM INT HUP; exec 3>breath; (sleep 1000 & sleep 1000) & echo begun >&3; while :; do sleep 1000; done";

#[tokio::test]
async fn q1_bash_keeps_the_order_of_output_and_errors() {
    let desk = desk();
    let text = desk
        .bash("for i in 1 2 3; do echo out $i; echo err $i >&2; done")
        .await;
    assert_eq!(text, "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3");
    assert_eq!(desk.bash("true").await, "(no output)");
}

#[tokio::test]
async fn q1_bash_tells_exit_codes_and_what_cannot_be_parsed() {
    let desk = desk();
    let run = async |command: &str| desk.refused("Bash", json!({"command": command})).await;
    assert_eq!(run("echo no; exit 3").await, "Exit code 3\nno");
    assert_eq!(run("false").await, "Exit code 1");
    assert_eq!(run("kill -9 $$").await, "Exit code 137");
    holds(
        &run("echo 'unbalanced").await,
        &["Exit code", "unexpected EOF"],
    );
    holds(&run("-x").await, &["Exit code 127", "-x"]);
}

#[tokio::test]
async fn q1_bash_has_nothing_to_read() {
    let desk = desk();
    assert_eq!(desk.bash("cat; echo end").await, "end");
}

#[tokio::test]
async fn q1_bash_keeps_its_folder_inside_of_the_workspace() {
    let desk = desk();
    desk.put("sub dir/x", "");
    desk.bash("cd 'sub dir'").await;
    assert_eq!(
        desk.bash("pwd").await,
        desk.folder.join("sub dir").to_str().unwrap()
    );
    let text = desk.bash("cd ../../outside && echo there").await;
    assert_eq!(
        text.replace(desk.folder.to_str().unwrap(), "{workspace}"),
        "there\n(The working folder is outside of the workspace and was set back to {workspace}.)"
    );
    assert_eq!(desk.bash("pwd").await, desk.folder.to_str().unwrap());
    desk.refused("Bash", json!({"command": "cd 'sub dir'; exit 1"}))
        .await;
    assert_eq!(
        desk.bash("pwd; rm -r \"$PWD\"").await,
        desk.folder.join("sub dir").to_str().unwrap()
    );
    assert_eq!(
        desk.bash("pwd").await,
        desk.folder.to_str().unwrap(),
        "its folder is gone"
    );
}

#[tokio::test]
async fn q1_bash_shows_what_a_terminal_would_show() {
    let desk = desk();
    let command = r"printf '\033[31mred\033[0m\n10%%\r50%%\r100%%\n\007bell\r\ncaf\351\n'";
    assert_eq!(desk.bash(command).await, "red\n100%\nbell\ncaf\u{FFFD}");
}

#[tokio::test]
async fn q1_bash_cuts_long_output_and_keeps_all_of_it_in_a_file() {
    let desk = desk();
    let call = CallContext::quiet("../toolu_0/1");
    let input = json!({"command": "seq 1 20000"});
    let output = desk.tool("Bash").run(input, &call).await;
    let text = output.content.as_str().unwrap();
    assert!(text.starts_with("1\n2\n") && text.ends_with("19999\n20000"));
    assert!(text.chars().count() < 30_300);
    let file = desk
        .place
        .session_folder()
        .join("tool-results/___toolu_0_1.txt");
    holds(
        text,
        &[
            "about 78894 of 108894 bytes are left out here",
            file.to_str().unwrap(),
        ],
    );
    let whole = std::fs::read_to_string(&file).unwrap();
    assert_eq!(whole.lines().count(), 20_000);
    // The model is told to look there, so it may.
    desk.ok(
        "Read",
        json!({"file_path": file, "offset": 10_000, "limit": 1}),
    )
    .await;
}

#[tokio::test]
async fn q1_bash_survives_a_flood() {
    let desk = desk();
    let output = desk
        .call(
            "Bash",
            json!({"command": "yes | head -c 100000000; echo; echo end"}),
        )
        .await;
    let text = output.content.as_str().unwrap();
    assert!(text.ends_with("end") && text.chars().count() < 30_300);
    holds(text, &["of 100000005 bytes", "the first 64 MiB are in"]);
    let file = desk.place.session_folder().join("tool-results/call_1.txt");
    assert_eq!(std::fs::metadata(file).unwrap().len(), 64 << 20);
    let text = desk
        .refused("Bash", json!({"command": "yes", "timeout": 200}))
        .await;
    holds(&text, &["Killed: it took longer than 200 ms", "y\ny\n"]);
}

#[tokio::test]
async fn q1_bash_says_when_the_whole_could_not_be_kept() {
    let desk = desk();
    std::fs::create_dir_all(desk.place.session_folder().parent().unwrap()).unwrap();
    std::fs::write(desk.place.session_folder(), "in the way").unwrap();
    holds(&desk.bash("seq 1 20000").await, &["it could not be kept"]);
}

#[tokio::test]
async fn q1_bash_kills_all_of_it_at_the_timeout() {
    let desk = desk();
    let (_, thread) = last_breath(&desk);
    let text = desk
        .refused("Bash", json!({"command": STUBBORN, "timeout": 500}))
        .await;
    holds(&text, &["Killed: it took longer than 500 ms"]);
    thread.join().unwrap();
}

#[tokio::test]
async fn q1_bash_kills_all_of_it_when_cancelled() {
    let desk = desk();
    let (begun, thread) = last_breath(&desk);
    let call = CallContext {
        cancel: begun,
        ..CallContext::quiet("x")
    };
    let command = format!("echo so far; {STUBBORN}");
    let output = desk
        .tool("Bash")
        .run(json!({"command": command}), &call)
        .await;
    assert_eq!(output.content, "Stopped by the user.\nso far");
    assert!(output.is_error);
    thread.join().unwrap();
}

#[tokio::test]
async fn q1_bash_kills_all_of_it_when_dropped() {
    let desk = desk();
    let (begun, thread) = last_breath(&desk);
    let (tool, call) = (desk.tool("Bash"), CallContext::quiet("x"));
    tokio::select! {
        _ = tool.run(json!({"command": STUBBORN}), &call) => panic!("it ended"),
        () = begun.cancelled() => {}
    }
    thread.join().unwrap();
}

#[tokio::test]
async fn q1_bash_kills_what_a_command_left_behind() {
    let desk = desk();
    let (_, thread) = last_breath(&desk);
    let text = desk
        .bash("exec 3>breath; echo begun >&3; sleep 1000 >/dev/null 2>&1 & echo started")
        .await;
    holds(
        &text,
        &["started\n(The command left processes running; they were killed."],
    );
    thread.join().unwrap();
    // A process that keeps the output open is killed, too.
    holds(
        &desk.bash("sleep 1000 & echo started").await,
        &["they were killed"],
    );
}

#[tokio::test]
async fn q1_bash_tells_its_newest_lines_meanwhile() {
    let desk = desk();
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = told.clone();
    let call = CallContext {
        progress: Arc::new(move |text| heard.lock().unwrap().push(text.to_owned())),
        ..CallContext::quiet("x")
    };
    desk.tool("Bash")
        .run(json!({"command": "seq 1 9"}), &call)
        .await;
    let told = told.lock().unwrap();
    let last = told.last().unwrap();
    assert!(
        last.lines().count() <= 5 && last.lines().all(|line| line.parse::<u32>().is_ok()),
        "{last}"
    );
}

#[test]
fn q1_bash_is_told_in_a_line() {
    let desk = desk();
    let line = |command: &str| desk.tool("Bash").line(&json!({"command": command}));
    assert_eq!(line("cargo test"), "cargo test");
    assert_eq!(line("cat <<E\nx\nE"), "cat <<E …");
}
