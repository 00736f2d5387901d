//! Settings that are decided once and then kept, because changing them would break the cache (B4, B5). They are the
//! `settings` part of the prefix entry (M7).

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::Ttl;
use crate::json::{JsonCursor, ObjectReader};
use crate::models::ModelSpec;

/// Windows larger than this accept more pictures.
const LARGE_WINDOW: u64 = 200_000;

/// Settings that are part of the cache key, latched for the session.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LatchedSettings {
    /// The lifetime of what requests write to the cache; if `None`, they have no cache breakpoints at all.
    pub ttl: Option<Ttl>,
    /// The requested beta features, sorted.
    #[serde(default)]
    pub betas: Vec<String>,
    /// Whether results carry a reference for cache edits (B3).
    #[serde(default)]
    pub cache_references: bool,
    /// The uuid of the entry up to which thinking is no longer sent (N2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_stripped_through: Option<String>,
    /// The maximum number of pictures in a request.
    #[serde(default = "fewest_images")]
    pub most_images: usize,
    /// The body fields other than `system`, `tools`, `messages` and `stream`: an object, sent exactly as it is here.
    pub body: Box<RawValue>,
}

impl LatchedSettings {
    /// Creates the settings of a new session.
    pub fn new(
        ttl: Option<Ttl>,
        betas: impl IntoIterator<Item = String>,
        spec: &ModelSpec,
        body: Box<RawValue>,
    ) -> Self {
        Self {
            ttl,
            betas: sorted(betas),
            cache_references: false,
            thinking_stripped_through: None,
            most_images: most_images(spec),
            body,
        }
    }

    /// Adds beta features that have become necessary. None is ever removed, because that would change the cache key as
    /// well.
    pub(crate) fn add_betas(&mut self, more: impl IntoIterator<Item = String>) {
        let betas = std::mem::take(&mut self.betas);
        self.betas = sorted(betas.into_iter().chain(more));
    }

    /// Returns a body field as JSON.
    pub fn field(&self, name: &str) -> Option<&str> {
        let value = ObjectReader::new(self.body.get().as_bytes()).get(name)?;
        std::str::from_utf8(value).ok()
    }

    /// Sets a body field. The others keep their bytes and their order, and so does this one if its value is the same.
    pub(crate) fn set_field(&mut self, name: &str, value: &Value) {
        let value = value.to_string();
        if self.field(name) == Some(&value) {
            return;
        }
        self.rebuild(name, Some(&value));
    }

    /// Removes a body field. The others keep their bytes and their order.
    pub(crate) fn remove_field(&mut self, name: &str) {
        if self.field(name).is_none() {
            return;
        }
        self.rebuild(name, None);
    }

    /// Writes the body again with this field at its end, or without it.
    fn rebuild(&mut self, name: &str, value: Option<&str>) {
        let mut body = String::from("{");
        let mut push = |name: &str, value: &str| {
            let comma = if body.len() > 1 { "," } else { "" };
            body.push_str(&format!("{comma}{}:{value}", Value::from(name)));
        };
        // Raw JSON is valid, so the walk ends with the object.
        let _ = JsonCursor::new(self.body.get().as_bytes()).object(|cursor, key| {
            let key = crate::json::decode(key);
            let old = String::from_utf8_lossy(cursor.raw()?);
            if key != name {
                push(&key, &old);
            }
            Ok(())
        });
        if let Some(value) = value {
            push(name, value);
        }
        body.push('}');
        if let Ok(body) = RawValue::from_string(body) {
            self.body = body;
        }
    }

    /// Whether requests under both settings are the same except for their messages. Stripped thinking does not count.
    pub(super) fn sends_as(&self, other: &Self) -> bool {
        self.ttl == other.ttl
            && self.betas == other.betas
            && self.cache_references == other.cache_references
            && self.most_images == other.most_images
            && self.body.get() == other.body.get()
    }
}

/// Returns the betas in a fixed order, whatever order and however often they were requested.
fn sorted(betas: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut betas: Vec<String> = betas
        .into_iter()
        .map(|beta| beta.trim().to_owned())
        .filter(|beta| !beta.is_empty())
        .collect();
    betas.sort_unstable();
    betas.dedup();
    betas
}

fn most_images(spec: &ModelSpec) -> usize {
    if spec.window > LARGE_WINDOW {
        600
    } else {
        fewest_images()
    }
}

fn fewest_images() -> usize {
    100
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::ModelTable;

    #[test]
    fn b5_betas_are_sorted_and_never_taken_away() {
        let spec = ModelTable::builtin().resolve("claude-opus-4-8").spec;
        let body = RawValue::from_string("{}".to_owned()).unwrap();
        let betas = ["b", " a", "c", "b", ""].map(str::to_owned);
        let mut latched = LatchedSettings::new(None, betas, &spec, body);
        assert_eq!(latched.betas, ["a", "b", "c"]);
        latched.add_betas(["ab".to_owned()]);
        assert_eq!(latched.betas, ["a", "ab", "b", "c"]);
        assert_eq!(latched.most_images, 600);
        let mut small = (*spec).clone();
        small.window = 200_000;
        assert_eq!(most_images(&small), fewest_images());
    }

    #[test]
    fn b5_settings_that_differ_in_one_thing_are_sent_differently() {
        let spec = ModelTable::builtin().resolve("claude-opus-4-8").spec;
        let body = RawValue::from_string(r#"{"model":"m"}"#.to_owned()).unwrap();
        let latched = LatchedSettings::new(Some(Ttl::OneHour), ["a".into()], &spec, body);
        assert!(latched.sends_as(&latched.clone()));
        let stripped = LatchedSettings {
            thinking_stripped_through: Some("u1".into()),
            ..latched.clone()
        };
        assert!(latched.sends_as(&stripped), "no request has that");
        let other_body = RawValue::from_string(r#"{"model":"n"}"#.to_owned()).unwrap();
        for other in [
            LatchedSettings {
                ttl: None,
                ..latched.clone()
            },
            LatchedSettings {
                betas: Vec::new(),
                ..latched.clone()
            },
            LatchedSettings {
                cache_references: true,
                ..latched.clone()
            },
            LatchedSettings {
                most_images: 1,
                ..latched.clone()
            },
            LatchedSettings {
                body: other_body,
                ..latched.clone()
            },
        ] {
            assert!(!latched.sends_as(&other), "{other:?}");
        }
    }

    #[test]
    fn b5_a_field_that_is_set_leaves_the_others_as_they_are() {
        let spec = ModelTable::builtin().resolve("claude-opus-4-8").spec;
        let body = RawValue::from_string(r#"{"model":"m","a":[1, 2]}"#.to_owned()).unwrap();
        let mut latched = LatchedSettings::new(None, [], &spec, body);
        let edits = serde_json::json!({"edits": []});
        latched.set_field("context_management", &edits);
        let once = r#"{"model":"m","a":[1, 2],"context_management":{"edits":[]}}"#;
        assert_eq!(latched.body.get(), once);
        latched.set_field("context_management", &edits);
        assert_eq!(latched.body.get(), once);
        latched.set_field("context_management", &serde_json::json!(1));
        latched.set_field("model", &serde_json::json!("m"));
        let replaced = r#"{"model":"m","a":[1, 2],"context_management":1}"#;
        assert_eq!(latched.body.get(), replaced);
    }

    #[test]
    fn m7_settings_of_older_heads_are_read() {
        let old = r#"{"ttl":"1h","body":{"model":"m" }}"#;
        let latched: LatchedSettings = serde_json::from_str(old).unwrap();
        assert_eq!(latched.ttl, Some(Ttl::OneHour));
        assert_eq!(latched.body.get(), r#"{"model":"m" }"#);
    }
}
