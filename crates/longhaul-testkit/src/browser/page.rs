//! A page: a user's actions on it, and what it shows.

use std::path::Path;

use base64::Engine as _;
use serde_json::{Value, json};

use super::PATIENCE;
use super::wire::DevToolsConnection;

/// The color scheme that the user prefers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColorScheme {
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

/// A page in a real browser, for tests.
#[derive(Debug, Clone)]
pub struct BrowserPage {
    wire: DevToolsConnection,
    session: String,
}

impl BrowserPage {
    pub(super) async fn watched(wire: DevToolsConnection, session: String) -> Self {
        let page = Self { wire, session };
        for domain in ["Page", "Runtime", "Network", "Log"] {
            page.ask(&format!("{domain}.enable"), json!({})).await;
        }
        page
    }

    async fn ask(&self, method: &str, params: Value) -> Value {
        self.wire.ask(Some(&self.session), method, params).await
    }

    /// Opens an address.
    ///
    /// # Panics
    /// If it cannot be loaded.
    pub async fn open(&self, url: &str) {
        let opened = self.ask("Page.navigate", json!({"url": url})).await;
        assert!(opened.get("errorText").is_none(), "{url}: {opened}");
    }

    /// The value of an expression, or of the promise that it returns.
    ///
    /// # Panics
    /// If it throws.
    pub async fn evaluate(&self, expression: &str) -> Value {
        let ask = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let answer = self.ask("Runtime.evaluate", ask).await;
        let thrown = answer.get("exceptionDetails");
        assert!(thrown.is_none(), "{expression}: {thrown:?}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true; it is evaluated whenever the document changes.
    ///
    /// # Panics
    /// If it does not become true in time; the message contains what the page shows.
    pub async fn wait_until(&self, expression: &str) {
        let patience = PATIENCE.as_millis();
        let waiting = format!(
            "new Promise((done) => {{
                const holds = () => {{ try {{ return Boolean({expression}); }} catch {{ return false; }} }};
                if (holds()) return done(true);
                const look = () => {{ if (holds()) {{ observer.disconnect(); clearInterval(timer); done(true); }} }};
                const observer = new MutationObserver(look);
                observer.observe(document, {{ subtree: true, childList: true, attributes: true, characterData: true }});
                const timer = setInterval(look, 100);
                setTimeout(() => done(false), {patience});
            }})"
        );
        let ask = json!({"expression": waiting, "awaitPromise": true, "returnByValue": true});
        loop {
            let session = Some(self.session.as_str());
            let answer = self
                .wire
                .try_ask(session, "Runtime.evaluate", ask.clone())
                .await;
            match answer {
                Ok(answer) if answer["result"]["value"] == true => return,
                Ok(answer) if answer.get("exceptionDetails").is_none() => {
                    let shown = self.evaluate("document.body.innerText").await;
                    let problems = self.problems();
                    panic!("{expression} does not come true on:\n{shown}\n{problems:?}");
                }
                // The document was replaced while we waited.
                _ => {}
            }
        }
    }

    /// Waits for an element.
    ///
    /// # Panics
    /// If the element does not appear.
    pub async fn wait_for(&self, selector: &str) {
        self.wait_until(&format!("document.querySelector({})", json!(selector)))
            .await;
    }

    /// Waits for an element and returns its text.
    ///
    /// # Panics
    /// If the element does not appear.
    pub async fn text(&self, selector: &str) -> String {
        self.wait_for(selector).await;
        let expression = format!("document.querySelector({}).innerText", json!(selector));
        let text = self.evaluate(&expression).await;
        text.as_str().unwrap_or_default().to_owned()
    }

    /// The texts of all matching elements.
    ///
    /// # Panics
    /// If the page does not answer.
    pub async fn texts(&self, selector: &str) -> Vec<String> {
        let expression = format!(
            "[...document.querySelectorAll({})].map((found) => found.textContent)",
            json!(selector)
        );
        let texts = self.evaluate(&expression).await;
        serde_json::from_value(texts).unwrap()
    }

    /// Waits for an element and clicks in the middle of it.
    ///
    /// # Panics
    /// If the element does not appear.
    pub async fn click(&self, selector: &str) {
        self.wait_for(selector).await;
        let place = format!(
            "(() => {{ const found = document.querySelector({}); found.scrollIntoView({{ block: 'center', behavior: 'instant' }});
                const box = found.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()",
            json!(selector)
        );
        let place = self.evaluate(&place).await;
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let mouse = json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
            self.ask("Input.dispatchMouseEvent", mouse).await;
        }
    }

    /// Types into the element that has the focus.
    ///
    /// # Panics
    /// If the page does not answer.
    pub async fn type_text(&self, text: &str) {
        self.ask("Input.insertText", json!({"text": text})).await;
    }

    /// Presses a key, such as `Enter` or `ArrowLeft`.
    ///
    /// # Panics
    /// If the page does not answer.
    pub async fn press(&self, key: &str) {
        let code = match key {
            "Enter" => 13,
            "Tab" => 9,
            "ArrowLeft" => 37,
            "ArrowRight" => 39,
            _ => 0,
        };
        for kind in ["keyDown", "keyUp"] {
            let mut event =
                json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code});
            if key == "Enter" {
                event["text"] = json!("\r");
            }
            self.ask("Input.dispatchKeyEvent", event).await;
        }
    }

    /// Sets the color scheme that the user prefers.
    ///
    /// # Panics
    /// If the page does not answer.
    pub async fn scheme(&self, scheme: ColorScheme) {
        let value = match scheme {
            ColorScheme::Light => "light",
            ColorScheme::Dark => "dark",
        };
        let features = json!([{"name": "prefers-color-scheme", "value": value}]);
        self.ask("Emulation.setEmulatedMedia", json!({"features": features}))
            .await;
    }

    /// Sets the size of the page; narrow pages count as phones.
    ///
    /// # Panics
    /// If the page does not answer.
    pub async fn size(&self, width: u32, height: u32) {
        let phone = width < 600;
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone});
        self.ask("Emulation.setDeviceMetricsOverride", size).await;
        let touch = json!({"enabled": phone});
        self.ask("Emulation.setTouchEmulationEnabled", touch).await;
    }

    /// Takes a screenshot.
    ///
    /// # Panics
    /// If it cannot be taken or written.
    pub async fn picture(&self, path: &Path) {
        let taken = self
            .ask("Page.captureScreenshot", json!({"format": "png"}))
            .await;
        let data = taken["data"].as_str().unwrap();
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(data)
            .unwrap();
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    /// Every address that the page has requested so far.
    #[must_use]
    pub fn requests(&self) -> Vec<String> {
        let events = self
            .wire
            .events(&self.session, &["Network.requestWillBeSent"]);
        let urls = events.iter().map(|event| event["request"]["url"].as_str());
        urls.flatten().map(str::to_owned).collect()
    }

    /// Every console error, exception and warning of the browser so far.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let kinds = [
            "Runtime.exceptionThrown",
            "Runtime.consoleAPICalled",
            "Log.entryAdded",
        ];
        let events = self.wire.events(&self.session, &kinds);
        let bad = events.iter().filter(|event| {
            let level = event["entry"]["level"].as_str().or(event["type"].as_str());
            matches!(
                level,
                None | Some("error" | "warning" | "assert" | "violation")
            )
        });
        bad.map(Value::to_string).collect()
    }
}
