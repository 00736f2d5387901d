//! WebFetch, against servers on this machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use longhaul::Clock;
use longhaul_agent::tool::{CallContext, Tool, ToolAccess};
use longhaul_agent::tools::web_fetch::{AllowedAddresses, WebFetchOptions, WebFetchTool};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::{run, text};

/// A web server with a few pages. It counts its requests.
struct Site {
    url: String,
    asked: Arc<AtomicUsize>,
}

impl Site {
    async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = asked.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let counter = counter.clone();
                tokio::spawn(async move {
                    let mut request = Vec::new();
                    while !request.ends_with(b"\r\n\r\n") {
                        match stream.read_u8().await {
                            Ok(byte) => request.push(byte),
                            Err(_) => return,
                        }
                    }
                    counter.fetch_add(1, Ordering::Relaxed);
                    let request = String::from_utf8(request).unwrap();
                    let path = request.split(' ').nth(1).unwrap().to_owned();
                    assert!(!request.to_lowercase().contains("cookie:"), "{request}");
                    let answer = page(&path, port);
                    if answer.is_empty() {
                        std::future::pending::<()>().await;
                    }
                    let _ = stream.write_all(&answer).await;
                });
            }
        });
        Self {
            url: format!("http://127.0.0.1:{port}"),
            asked,
        }
    }

    fn at(&self, path: &str) -> serde_json::Value {
        json!({"url": format!("{}{path}", self.url), "prompt": "What is there?"})
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

/// An answer by path; if empty, no answer ever arrives.
fn page(path: &str, port: u16) -> Vec<u8> {
    let answer = |status: &str, headers: &str, body: &[u8]| {
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\nset-cookie: a=b\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n"
        );
        [head.as_bytes(), body].concat()
    };
    let html = "content-type: text/html\r\n";
    let to = |place: &str| answer("302 Found", &format!("location: {place}\r\n"), b"");
    match path {
        "/" => answer(
            "200 OK",
            html,
            b"<h1>Hello</h1><script>no</script><p>A <b>page</b>.</p>",
        ),
        "/plain" => answer("200 OK", "content-type: text/plain\r\n", b"just text"),
        "/pdf" => answer("200 OK", "content-type: application/pdf\r\n", b"%PDF"),
        "/gone" => answer("404 Not Found", html, b"<p>There is nothing.</p>"),
        "/here" => to("/plain"),
        "/there" => to(&format!("http://localhost:{port}/plain")),
        "/round" => to("/round"),
        "/file" => to("file:///etc/passwd"),
        "/long" => answer(
            "200 OK",
            "content-type: text/plain\r\n",
            "line\n".repeat(50_000).as_bytes(),
        ),
        "/large" => answer(
            "200 OK",
            "content-type: text/plain\r\n",
            &vec![b'x'; 11 << 20],
        ),
        "/broken" => b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort".to_vec(),
        "/garbage" => b"I am no web server\r\n\r\n".to_vec(),
        "/silent" => Vec::new(),
        _ => answer("500 Internal Server Error", html, b""),
    }
}

fn local() -> WebFetchOptions {
    WebFetchOptions {
        addresses: AllowedAddresses::All,
        ..WebFetchOptions::default()
    }
}

#[tokio::test]
async fn q1_a_page_comes_as_markdown() {
    let site = Site::open().await;
    let tool = WebFetchTool::new(local());
    let input = site.at("/");
    assert_eq!(
        tool.access(&input),
        ToolAccess::Fetches("127.0.0.1".to_owned())
    );
    let output = run(&tool, input).await;
    assert!(!output.is_error, "{}", text(&output));
    assert!(
        text(&output).contains("# Hello\n\nA **page**."),
        "{}",
        text(&output)
    );
    assert!(!text(&output).contains("no"));
    let output = run(&tool, site.at("/plain")).await;
    assert!(text(&output).ends_with("just text"));
}

#[tokio::test]
async fn q1_a_redirect_is_followed_on_its_host_and_told_elsewhere() {
    let site = Site::open().await;
    let tool = WebFetchTool::new(local());
    let output = run(&tool, site.at("/here")).await;
    assert!(text(&output).ends_with("just text"));
    let output = run(&tool, site.at("/there")).await;
    assert!(!output.is_error);
    assert!(
        text(&output).contains("fetch http://localhost:"),
        "{}",
        text(&output)
    );
    let output = run(&tool, site.at("/file")).await;
    assert!(
        text(&output).contains("file:///etc/passwd"),
        "{}",
        text(&output)
    );
    assert!(!text(&output).contains("root:"));
    let output = run(&tool, site.at("/round")).await;
    assert!(output.is_error && text(&output).contains("more than 10 times"));
}

#[tokio::test]
async fn q1_what_is_too_long_is_cut_with_a_note() {
    let site = Site::open().await;
    let tool = WebFetchTool::new(local());
    let output = run(&tool, site.at("/long")).await;
    assert!(text(&output).ends_with("[cut here: the first 100000 of 250000 characters]"));
    let output = run(&tool, site.at("/large")).await;
    assert!(text(&output).contains("larger than 10 MB"));
    assert!(text(&output).len() < 101_000);
}

#[tokio::test]
async fn q1_what_cannot_be_read_is_an_error_that_says_why() {
    let site = Site::open().await;
    let tool = WebFetchTool::new(local());
    for (path, said) in [
        ("/pdf", "application/pdf"),
        ("/gone", "404 Not Found"),
        ("/gone", "There is nothing."),
        ("/broken", "broke off"),
        ("/garbage", "could not be understood"),
    ] {
        let output = run(&tool, site.at(path)).await;
        assert!(output.is_error, "{path}");
        assert!(text(&output).contains(said), "{path}: {}", text(&output));
    }
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = closed.local_addr().unwrap();
    drop(closed);
    let output = run(
        &tool,
        json!({"url": format!("http://{address}/"), "prompt": ""}),
    )
    .await;
    assert!(text(&output).contains("no network"), "{}", text(&output));
    for input in [
        json!({}),
        json!(null),
        json!({"url": 1}),
        json!({"url": "not one"}),
    ] {
        assert_eq!(tool.access(&input), ToolAccess::Nothing);
        assert!(run(&tool, input).await.is_error);
    }
}

#[tokio::test]
async fn q1_this_machine_is_refused() {
    let site = Site::open().await;
    let tool = WebFetchTool::new(WebFetchOptions::default());
    for url in [
        site.url.clone(),
        site.url.replace("127.0.0.1", "localhost"),
        site.url.replace("127.0.0.1", "2130706433"),
    ] {
        let output = run(&tool, json!({"url": url, "prompt": "?"})).await;
        assert!(
            output.is_error && text(&output).contains("local network"),
            "{url}: {}",
            text(&output)
        );
    }
    assert_eq!(site.asked(), 0);
}

#[tokio::test]
async fn q1_a_page_that_never_comes_ends_by_time_or_by_the_user() {
    let site = Site::open().await;
    let impatient = WebFetchTool::new(WebFetchOptions {
        timeout: Duration::from_millis(50),
        ..local()
    });
    let output = run(&impatient, site.at("/silent")).await;
    assert!(
        text(&output).contains("did not answer"),
        "{}",
        text(&output)
    );
    let tool = WebFetchTool::new(local());
    let call = CallContext::quiet("toolu_1");
    let stop = async {
        while site.asked() < 2 {
            tokio::task::yield_now().await;
        }
        call.cancel.cancel();
    };
    let (output, ()) = tokio::join!(tool.run(site.at("/silent"), &call), stop);
    assert!(output.is_error && text(&output).contains("stopped"));
}

/// A clock that stands still until it is moved.
struct Still(AtomicI64);

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.0.load(Ordering::Relaxed)).unwrap()
    }
}

#[tokio::test]
async fn q1_a_page_is_kept_for_a_quarter_of_an_hour() {
    let site = Site::open().await;
    let clock = Arc::new(Still(AtomicI64::new(0)));
    let tool = WebFetchTool::new(WebFetchOptions {
        clock: clock.clone(),
        ..local()
    });
    for (minute, asked) in [(0, 1), (0, 1), (14, 1), (15, 2), (29, 2), (31, 3)] {
        clock.0.store(minute * 60, Ordering::Relaxed);
        run(&tool, site.at("/plain")).await;
        assert_eq!(site.asked(), asked, "minute {minute}");
    }
    run(&tool, site.at("/gone")).await;
    run(&tool, site.at("/gone")).await;
    assert_eq!(site.asked(), 5, "failures are not kept");
}
