//! The official SDKs against the server, where they can be installed; a recorded exchange of theirs everywhere.
//!
//! The scripts and the versions are in `tests/clients`. Packages are installed only where `LONGHAUL_TEST_INSTALL` is set:
//! they are 155 MB. They go into the target folder and stay there.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::house::House;

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients")
}

/// A folder for packages, which later runs reuse.
fn packages(language: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("sdk-clients")
        .join(language);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Whether packages may be fetched and installed.
fn may_install() -> bool {
    std::env::var_os("LONGHAUL_TEST_INSTALL").is_some()
}

fn works(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// A Python with the packages, if it can be installed.
fn python() -> Option<PathBuf> {
    let (folder, list) = (packages("python"), scripts().join("requirements.txt"));
    let python = folder.join("bin/python");
    let versions = std::fs::read_to_string(&list).unwrap();
    let installed = folder.join("installed.txt");
    if std::fs::read_to_string(&installed).is_ok_and(|text| text == versions) {
        return Some(python);
    }
    let made = may_install()
        && works(Command::new("python3").args(["-m", "venv"]).arg(&folder))
        && works(
            Command::new(&python)
                .args([
                    "-m",
                    "pip",
                    "install",
                    "--quiet",
                    "--disable-pip-version-check",
                ])
                .args(["--timeout", "15", "--retries", "1", "-r"])
                .arg(list),
        );
    made.then(|| std::fs::write(installed, versions).unwrap())?;
    Some(python)
}

/// A folder with the packages and the script, if they can be installed.
fn javascript() -> Option<PathBuf> {
    let folder = packages("javascript");
    let list = std::fs::read_to_string(scripts().join("package.json")).unwrap();
    std::fs::write(folder.join("package.json"), &list).unwrap();
    std::fs::copy(scripts().join("clients.mjs"), folder.join("clients.mjs")).unwrap();
    let installed = folder.join("installed.json");
    if std::fs::read_to_string(&installed).is_ok_and(|text| text == list) {
        return Some(folder);
    }
    let made = may_install()
        && works(
            Command::new("npm")
                .args(["install", "--silent", "--no-audit", "--no-fund"])
                .args(["--fetch-retries=1", "--fetch-timeout=15000"])
                .current_dir(&folder),
        );
    made.then(|| std::fs::write(installed, list).unwrap())?;
    Some(folder)
}

/// Runs a script against a server of its own.
async fn run(mut command: Command) {
    let house = House::new().await;
    command.arg(house.server.url());
    let run = tokio::task::spawn_blocking(move || command.output());
    let Output {
        status,
        stdout,
        stderr,
    } = run.await.unwrap().unwrap();
    let told = String::from_utf8_lossy(&stdout);
    println!("{told}");
    assert!(
        status.success(),
        "{told}\n{}",
        String::from_utf8_lossy(&stderr)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn n5_n8_the_python_sdks_talk_to_it_unmodified() {
    let Some(python) = tokio::task::spawn_blocking(python).await.unwrap() else {
        longhaul_testkit::skipped::note(
            "the Python SDKs are not installed (set LONGHAUL_TEST_INSTALL=1); the recorded exchange stands in for them",
        );
        return;
    };
    let mut command = Command::new(python);
    command.arg(scripts().join("clients.py"));
    run(command).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn n5_n8_the_javascript_sdks_talk_to_it_unmodified() {
    let Some(folder) = tokio::task::spawn_blocking(javascript).await.unwrap() else {
        longhaul_testkit::skipped::note(
            "the JavaScript SDKs are not installed (set LONGHAUL_TEST_INSTALL=1); the recorded exchange stands in for them",
        );
        return;
    };
    let mut command = Command::new("node");
    command.current_dir(&folder).arg("clients.mjs");
    run(command).await;
}

#[tokio::test]
async fn n5_what_the_sdks_were_recorded_to_send_is_answered_in_the_recorded_shape() {
    let recorded = std::fs::read_to_string(scripts().join("recorded.json")).unwrap();
    let recorded: Value = serde_json::from_str(&recorded).unwrap();
    let exchanges = recorded["exchanges"].as_array().unwrap();
    assert!(exchanges.len() >= 10);
    let house = House::new().await;
    for exchange in exchanges {
        let path = exchange["path"].as_str().unwrap();
        let mut request = house.client.post(format!("{}{path}", house.server.url()));
        for (name, value) in exchange["headers"].as_object().unwrap() {
            let value = match value.as_str().unwrap() {
                "…" if name == "authorization" => "Bearer recorded",
                "…" => "recorded",
                value => value,
            };
            request = request.header(name, value);
        }
        let response = request
            .body(exchange["body"].to_string())
            .send()
            .await
            .unwrap();
        let expected = &exchange["answer"];
        assert_eq!(response.status().as_u16(), expected["status"], "{exchange}");
        assert_eq!(
            response.headers()["content-type"].to_str().unwrap(),
            expected["content_type"]
        );
        let body = response.text().await.unwrap();
        for field in expected["fields"].as_array().into_iter().flatten() {
            let answer: Value = serde_json::from_str(&body).unwrap();
            assert!(
                answer.get(field.as_str().unwrap()).is_some(),
                "{field} in {body}"
            );
        }
        let events = event_kinds(&body);
        for event in expected["events"].as_array().into_iter().flatten() {
            assert!(
                events.contains(&event.as_str().unwrap().to_owned()),
                "{event} in {body}"
            );
        }
    }
}

/// The kind of each event in a stream.
fn event_kinds(body: &str) -> Vec<String> {
    let data = body.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| match serde_json::from_str::<Value>(data) {
        Ok(event) => {
            let kind = event.get("type").unwrap_or(&event["object"]);
            kind.as_str().unwrap_or_default().to_owned()
        }
        Err(_) => data.to_owned(),
    })
    .collect()
}
