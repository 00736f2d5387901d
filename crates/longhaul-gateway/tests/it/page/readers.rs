//! Texts of conversations are for the user who runs the gateway, or for whoever has its token.

use std::net::SocketAddr;
use std::sync::Arc;

use longhaul_gateway::front::{Gateway, GatewayOptions};
use longhaul_gateway::peer_user::{ConnectionEnds, PeerUser, PeerUsers};
use longhaul_provider::Secret;
use longhaul_testkit::browser::{Browser, ColorScheme};
use serde_json::Value;

use super::told::{ERROR, SESSION, TITLE};
use super::{assert_clean, assert_fits, json_of, told};
use crate::support::{body_of, exchange, get};

/// A system on which all connections are the same user's; `None` where it does not say whose they are.
struct SameUser(Option<PeerUser>);

impl PeerUsers for SameUser {
    fn can_tell(&self, _: SocketAddr) -> bool {
        self.0.is_some()
    }

    fn user(&self, connection: ConnectionEnds) -> PeerUser {
        assert!(connection.peer.ip().is_loopback());
        assert_ne!(connection.peer, connection.own);
        self.0.unwrap()
    }
}

async fn asked_by(user: Option<PeerUser>) -> GatewayOptions {
    let mut options = told().await;
    options.peer_users = Arc::new(SameUser(user));
    options
}

/// What a gateway answers that may hold text: the list, a session, both as tables, and a summary.
async fn answers(gateway: &Gateway) -> (Value, String) {
    let session = format!("/longhaul/api/sessions/{SESSION}");
    let one = json_of(gateway, &session).await;
    let mut made = one["compactions"].as_array().unwrap().iter();
    let summary = made.rfind(|made| made["has_summary"] == true);
    let id = summary.unwrap()["id"].as_str().unwrap();
    let mut all = String::new();
    for path in [
        "/longhaul/api/sessions".to_owned(),
        "/longhaul/api/sessions?format=csv".to_owned(),
        session.clone(),
        format!("{session}?format=csv"),
        format!("{session}/compactions/{id}"),
    ] {
        all.push_str(body_of(&get(gateway.addr(), &path).await));
    }
    (one, all)
}

/// The message of an error, without its type.
fn message() -> &'static str {
    ERROR.split_once(": ").unwrap().1
}

#[tokio::test]
async fn x8_texts_are_shown_to_the_gateways_own_user_and_where_nobody_can_be_told_apart() {
    for user in [Some(PeerUser::OwnOrRoot), None] {
        let gateway = Gateway::start(asked_by(user).await).await.unwrap();
        let (one, all) = answers(&gateway).await;
        assert_eq!(one["texts"], "shown");
        assert_eq!(one["title"], TITLE);
        assert!(
            all.contains(message()) && all.contains("\"about\":"),
            "{all}"
        );
        assert!(!all.contains("the user who runs it"), "{all}");
        gateway.stop().await;
    }
}

#[tokio::test]
async fn x8_another_user_of_the_machine_sees_figures_and_no_text() {
    for (user, name) in [
        (PeerUser::Another, "another_user"),
        (PeerUser::Unfound, "unknown_user"),
    ] {
        let gateway = Gateway::start(asked_by(Some(user)).await).await.unwrap();
        let (one, all) = answers(&gateway).await;
        assert_eq!(one["texts"], name);
        assert_eq!(one["title"], Value::Null);
        assert!(one["calls"].as_array().unwrap().len() > 60 && one["saved_usd"].is_f64());
        assert!(
            all.contains("overloaded_error"),
            "the type of an error is no text of a conversation"
        );
        for text in [TITLE, "billing", message(), "\"about\":"] {
            assert!(!all.contains(text), "{text} in {all}");
        }
        assert!(all.contains("\"summary\":null") && all.contains("the user who runs it"));
        gateway.stop().await;
    }
}

#[tokio::test]
async fn x8_a_token_decides_alone() {
    let mut options = asked_by(Some(PeerUser::Another)).await;
    options.token = Some(Secret::new("let-me-in"));
    let gateway = Gateway::start(options).await.unwrap();
    let request = "GET /longhaul/api/sessions HTTP/1.1\r\nHost: any\r\nAuthorization: Bearer let-me-in\r\n\r\n";
    let answer = exchange(gateway.addr(), request.as_bytes()).await;
    assert!(answer.contains("\"texts\":\"shown\"") && answer.contains("billing"));
    gateway.stop().await;
}

#[tokio::test]
async fn x8_the_page_says_why_texts_are_missing_and_what_to_do() {
    let Some(browser) = Browser::start().await else {
        return;
    };
    let options = asked_by(Some(PeerUser::Another)).await;
    let gateway = Gateway::start(options).await.unwrap();
    let page = browser.page().await;
    for (width, scheme) in [(390, ColorScheme::Light), (1280, ColorScheme::Dark)] {
        page.size(width, 900).await;
        page.scheme(scheme).await;
        for path in [String::new(), format!("#/session/{SESSION}")] {
            page.open("about:blank").await;
            page.open(&format!("{}/{path}", gateway.url())).await;
            page.wait_for(".withheld:not([hidden])").await;
            let said = page.text(".withheld").await;
            assert!(said.contains("another user") && said.contains("LONGHAUL_GATEWAY_TOKEN"));
            assert_fits(&page).await;
        }
        page.picture(&super::picture(&format!("withheld-{width}")))
            .await;
    }
    assert_clean(&page, &gateway);
    gateway.stop().await;
}

/// The kernel is asked, so this needs two users: only root can be somebody else.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x8_the_kernel_says_which_user_asks() {
    use std::os::unix::process::CommandExt as _;

    let gateway = Gateway::start(told().await).await.unwrap();
    let (one, _) = answers(&gateway).await;
    assert_eq!(one["texts"], "shown", "we are who runs it");
    let mut command = std::process::Command::new("curl");
    command
        .args(["--silent", "--noproxy", "*"])
        .arg(format!("{}/longhaul/api/sessions?limit=1", gateway.url()))
        .current_dir("/")
        .uid(65_534);
    match command.output() {
        Err(_) => longhaul_testkit::skipped::note(
            "asking as another user needs root, and the program curl",
        ),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(said.contains("\"texts\":\"another_user\""), "{said}");
            assert!(said.contains("\"title\":null"), "{said}");
        }
    }
    gateway.stop().await;
}
