//! Files that a prompt mentions: what is attached, what is cut, and what is not attached, which is always said.

use longhaul_agent::agent::SessionChoice;
use longhaul_agent::event::AgentEvent;
use longhaul_agent::host::AgentHost;
use longhaul_agent::screen::{HostRequest, ScreenHost};
use longhaul_core::models::ModelTable;
use tokio::sync::oneshot;

use super::{Says, open, put, workplace};
use crate::agent::house::{House, text, texts};

/// Sends a prompt, and returns what was said of its mentions and what the model was sent.
async fn send(house: &House, prompt: &str) -> (Vec<String>, String) {
    let place = workplace(house, &mut Says::yes()).await;
    let (agent, mut events) = open(house, &place, SessionChoice::New).await;
    let host = AgentHost::start(agent, place, house.env(), ModelTable::builtin());
    let (reply, answer) = oneshot::channel();
    host.ask(HostRequest::Prompt(prompt.to_owned(), reply));
    answer.await.unwrap().unwrap();
    host.finish().await;
    let mut notices = Vec::new();
    while let Ok(event) = events.try_recv() {
        if let AgentEvent::Notice(text) = event {
            notices.push(text);
        }
    }
    notices.retain(|notice| notice.contains("attached"));
    (notices, texts(&house.last_body()).join("\n"))
}

#[tokio::test(flavor = "multi_thread")]
async fn q4_files_with_spaces_in_their_names_are_attached() {
    let house = House::scripted(&[text("Seen.")]).await;
    for (name, content) in [
        ("my file.txt", "tea"),
        ("a b.txt", "salt"),
        ("c d.txt", "rye"),
    ] {
        put(&house, name, content);
    }
    let prompt = r#"Compare @"my file.txt", @'a b.txt' and @c\ d.txt, not @"e f.txt"."#;
    let (notices, sent) = send(&house, prompt).await;
    let expected = [
        "attached my file.txt (1 line)",
        "attached a b.txt (1 line)",
        "attached c d.txt (1 line)",
        "e f.txt is not attached: there is no such file here",
    ];
    assert_eq!(notices, expected);
    assert!(
        ["tea", "salt", "rye"].iter().all(|it| sent.contains(it)),
        "{sent}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn q4_what_is_cut_or_not_attached_is_said() {
    let house = House::scripted(&[text("Seen.")]).await;
    put(&house, "long.txt", &"x".repeat(150_000));
    put(&house, "odd.bin", "a\0b");
    let prompt = "See @long.txt, @odd.bin, @. and @.., but no @decorator";
    let (notices, sent) = send(&house, prompt).await;
    let [long, odd, here, up] = notices.as_slice() else {
        panic!("{notices:?}");
    };
    assert_eq!(
        long,
        "attached long.txt (the first 100,000 of 150,000 bytes)"
    );
    assert!(sent.contains("[cut here: the first 100,000 of 150,000 bytes are shown"));
    assert_eq!(
        odd,
        "odd.bin is not attached: it is a binary file of 3 bytes"
    );
    assert!(here.starts_with("attached . (a folder, "), "{here}");
    assert!(up.starts_with(".. is not attached: it is outside"), "{up}");
}

#[tokio::test(flavor = "multi_thread")]
async fn q4_mentions_after_the_tenth_are_named() {
    let house = House::scripted(&[text("Seen.")]).await;
    let mut prompt = "See @someone".to_owned();
    for number in 1..=12 {
        put(&house, &format!("n{number}.txt"), "x");
        prompt.push_str(&format!(" @n{number}.txt"));
    }
    let (notices, _) = send(&house, &prompt).await;
    assert_eq!(notices.len(), 11, "{notices:?}");
    let last = "not attached, because a prompt can mention no more than 10: n11.txt, n12.txt";
    assert_eq!(notices[10], last);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn q4_a_pipe_is_not_attached_and_that_is_said() {
    let house = House::scripted(&[text("Seen.")]).await;
    let made = std::process::Command::new("mkfifo")
        .arg(house.cwd().join("pipe"))
        .status();
    assert!(made.unwrap().success());
    let (notices, _) = send(&house, "See @pipe").await;
    assert_eq!(
        notices,
        ["pipe is not attached: it is a pipe, a socket or a device, not a file"]
    );
}
