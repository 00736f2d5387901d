//! Fills the fields of a tool with words from the prompt: a city for `city`, a number for `days`, one of the values
//! that a field lists, also inside objects and lists. A required field without a match is left to be made up; an
//! optional one stays away. `worded` finds the values in the words.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::worded::{FieldKind, WordedValues};
use crate::model::schema::resolved;

/// Below this depth nothing is filled.
const DEEPEST: u8 = 4;

/// The fields that these words fill, as hints for an input of this schema. `tools` are the names of tools, which are no
/// values; the first is that of the tool itself.
pub(super) fn filled(schema: &Value, words: &str, tools: &[&str]) -> Value {
    let mut filler = Filler {
        root: schema,
        words: WordedValues::new(words, tools),
    };
    Value::Object(filler.object(schema, FieldKind::General, 0))
}

struct Filler<'a> {
    root: &'a Value,
    words: WordedValues<'a>,
}

impl Filler<'_> {
    /// The fields of an object that the words fill. `around` is what the object itself is about.
    fn object(&mut self, node: &Value, around: FieldKind, depth: u8) -> Map<String, Value> {
        let mut hints = Map::new();
        let node = resolved(self.root, node).into_owned();
        let required: Vec<&str> = node
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let fields: Vec<Field<'_>> = node
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|(name, node)| Field {
                name,
                node: resolved(self.root, node).into_owned(),
                kind: FieldKind::of(name, around),
                is_required: required.contains(&name.as_str()),
            })
            .collect();
        // Values with a field's name come first, so that none of them is taken for another field.
        for field in &fields {
            if let Some(value) = self.stated(field) {
                hints.insert(field.name.to_owned(), value);
            }
        }
        let passes: [&dyn Fn(&Field<'_>) -> bool; 3] = [
            &|field| field.is_required && field.kind != FieldKind::General,
            &|field| field.is_required,
            // An optional field is filled where its name says what it takes.
            &|field| field.kind.is_telling(),
        ];
        for takes in passes {
            for field in fields.iter().filter(|field| takes(field)) {
                self.guess(field, &mut hints, depth);
            }
        }
        // Where nothing fits, the words are about the first field that is no mere setting.
        let is_setting = |kind| matches!(kind, FieldKind::Setting | FieldKind::Language);
        for field in fields.iter().filter(|field| !is_setting(field.kind)) {
            if hints.is_empty() {
                self.guess(field, &mut hints, depth);
            }
        }
        hints
    }

    /// A value that the words state for the field: one that it lists, or one beside its name.
    fn stated(&mut self, field: &Field<'_>) -> Option<Value> {
        if let Some(values) = field.node.get("enum").and_then(Value::as_array) {
            return self.words.listed(values).into_iter().next();
        }
        let items = field.node.get("items");
        let items = items.map(|items| resolved(self.root, items).into_owned());
        if let Some(values) = items
            .as_ref()
            .and_then(|items| items.get("enum")?.as_array())
        {
            let listed = self.words.listed(values);
            return (!listed.is_empty()).then_some(Value::Array(listed));
        }
        if is_a(&field.node, &["integer", "number"]) {
            return self.words.number_by(field.name);
        }
        if is_text(&field.node) {
            return self.words.text_by(field.name).map(Value::String);
        }
        None
    }

    fn guess(&mut self, field: &Field<'_>, hints: &mut Map<String, Value>, depth: u8) {
        if !hints.contains_key(field.name)
            && let Some(value) = self.guessed(&field.node, field, depth)
        {
            hints.insert(field.name.to_owned(), value);
        }
    }

    /// The value that fits the field best.
    fn guessed(&mut self, node: &Value, field: &Field<'_>, depth: u8) -> Option<Value> {
        if depth >= DEEPEST || node.get("enum").is_some() {
            return None;
        }
        if is_a(node, &["object"]) || node.get("properties").is_some() {
            let inner = self.object(node, field.kind, depth + 1);
            return (!inner.is_empty()).then_some(Value::Object(inner));
        }
        if is_a(node, &["array"]) {
            return self.list(node, field, depth);
        }
        if is_a(node, &["integer", "number"]) {
            return if field.is_required {
                self.words.number()
            } else {
                None
            };
        }
        if !is_text(node) {
            return None;
        }
        self.words.text_of(field.kind).map(Value::String)
    }

    fn list(&mut self, node: &Value, field: &Field<'_>, depth: u8) -> Option<Value> {
        let items = node.get("items").map(|items| resolved(self.root, items));
        let items = items.map_or(Value::Null, Cow::into_owned);
        if is_text(&items) {
            let texts = self.words.texts_of(field.kind);
            let texts: Vec<Value> = texts.into_iter().map(Value::String).collect();
            return (!texts.is_empty()).then_some(Value::Array(texts));
        }
        let item = self.guessed(&items, field, depth + 1)?;
        Some(Value::Array(vec![item]))
    }
}

/// A field of a schema.
struct Field<'n> {
    name: &'n str,
    node: Value,
    kind: FieldKind,
    is_required: bool,
}

/// Whether the schema's node allows one of these types.
fn is_a(node: &Value, wanted: &[&str]) -> bool {
    kinds(node).any(|kind| wanted.contains(&kind))
}

fn is_text(node: &Value) -> bool {
    let says_more = ["enum", "properties", "items", "const"];
    is_a(node, &["string"])
        || kinds(node).next().is_none()
            && node.is_object()
            && says_more.iter().all(|key| node.get(key).is_none())
}

fn kinds(node: &Value) -> impl Iterator<Item = &str> {
    let kind = node.get("type");
    let several = kind.and_then(Value::as_array).into_iter().flatten();
    kind.into_iter().chain(several).filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn weather(words: &str, schema: &Value) -> Value {
        filled(schema, words, &["get_weather", "get_time"])
    }

    #[test]
    fn fields_are_filled_from_the_words_of_a_prompt() {
        let schema = json!({ "type": "object", "required": ["city", "days"], "properties": {
            "city": { "type": "string" }, "days": { "type": "integer" },
            "unit": { "type": "string", "enum": ["celsius", "fahrenheit"] } } });
        for (words, wanted) in [
            (
                "What is it like in New York, in Celsius, for the next 3 days? Use the get_weather tool.",
                json!({ "city": "New York", "days": 3, "unit": "celsius" }),
            ),
            (
                "Call get_weather with city: \"Bad Ems\" and days=2",
                json!({ "city": "Bad Ems", "days": 2 }),
            ),
            (
                "Use get_weather for Springfield, IL and 5 days.",
                json!({ "city": "Springfield, IL", "days": 5 }),
            ),
            (
                "use the get_weather tool for the city of paris, 1 day",
                json!({ "city": "paris", "days": 1 }),
            ),
        ] {
            assert_eq!(weather(words, &schema), wanted, "{words}");
        }
        let search = json!({ "type": "object", "required": ["query"],
            "properties": { "query": { "type": "string" } } });
        assert_eq!(
            filled(
                &search,
                "Who built the pier? Use the web_search tool.",
                &["web_search"]
            ),
            json!({ "query": "Who built the pier?" })
        );
    }

    #[test]
    fn optional_fields_are_filled_where_the_words_have_a_value() {
        let text = json!({ "type": "string" });
        let described = json!({ "type": "string", "description": "The city" });
        let paris = "What is the weather in Paris? Use the get_weather tool.";
        let york = "What will the weather in new york be tomorrow? Use get_weather";
        for field in [&text, &described] {
            for name in ["city", "location", "q", "place_name"] {
                let schema = json!({ "type": "object", "properties": { name: field,
                    "units": { "enum": ["metric", "imperial"] }, "lang": text, "days": { "type": "integer" } } });
                assert_eq!(weather(paris, &schema), json!({ name: "Paris" }), "{name}");
            }
            let schema = json!({ "type": "object", "properties": { "location": field } });
            assert_eq!(weather(york, &schema), json!({ "location": "new york" }));
            let imperial =
                "Use the `get_weather` tool: how warm is it in san francisco in Fahrenheit?";
            let schema = json!({ "type": "object", "properties": {
                "location": field, "units": { "enum": ["metric", "imperial"] } } });
            assert_eq!(
                weather(imperial, &schema),
                json!({ "location": "san francisco", "units": "imperial" })
            );
        }
        for (words, city) in [
            ("Use get_weather for new york", "new york"),
            ("call get_weather new york", "new york"),
            ("Use get_weather and get_time for Paris.", "Paris"),
            (
                "Use get_weather to tell me the forecast for rio de janeiro, please",
                "rio de janeiro",
            ),
            (
                "How is the weather in New York on Monday? Use get_weather.",
                "New York",
            ),
        ] {
            let schema = json!({ "type": "object", "properties": { "city": text } });
            assert_eq!(weather(words, &schema), json!({ "city": city }), "{words}");
        }
        let nothing =
            json!({ "type": "object", "properties": { "verbose": { "type": "boolean" } } });
        assert_eq!(weather(paris, &nothing), json!({}));
    }

    #[test]
    fn objects_and_lists_are_filled_too() {
        let text = json!({ "type": "string" });
        let paris = "What is the weather in Paris, France? Use the get_weather tool.";
        let nested = json!({ "type": "object", "required": ["location"], "properties": { "location": {
            "type": "object", "properties": { "city": text, "country": text } } } });
        let said = weather(paris, &nested);
        assert_eq!(said["location"]["city"], "Paris", "{said}");
        assert_eq!(said["location"]["country"], "France", "{said}");
        let named = json!({ "type": "object", "$defs": { "place": { "type": "object",
            "properties": { "name": text } } }, "properties": { "place": { "$ref": "#/$defs/place" } } });
        assert_eq!(
            weather(paris, &named),
            json!({ "place": { "name": "Paris" } })
        );
        let list = json!({ "type": "object", "properties": { "cities": { "type": "array", "items": text } } });
        for (words, cities) in [
            (
                "Compare the weather in Paris, London and new york. Use get_weather.",
                vec!["Paris", "London", "new york"],
            ),
            (
                "What is the weather in Paris? Use the get_weather tool.",
                vec!["Paris"],
            ),
        ] {
            assert_eq!(
                weather(words, &list),
                json!({ "cities": cities }),
                "{words}"
            );
        }
        let fields = json!({ "type": "object", "properties": { "city": text, "show": { "type": "array",
            "items": { "enum": ["wind", "rain", "sun"] } } } });
        assert_eq!(
            weather("Wind and rain in Paris? Use get_weather.", &fields)["show"],
            json!(["wind", "rain"])
        );
        let sum = json!({ "type": "object", "required": ["a", "b"], "properties": {
            "a": { "type": "number" }, "b": { "type": "number" } } });
        let added = filled(&sum, "Use the add tool on 2 and 3.", &["add"]);
        assert_eq!(added, json!({ "a": 2, "b": 3 }));
        let trip =
            json!({ "type": "object", "properties": { "origin": text, "destination": text } });
        assert_eq!(
            filled(&trip, "Use find_train from Paris to Rome", &["find_train"]),
            json!({ "origin": "Paris", "destination": "Rome" })
        );
        let translate = json!({ "type": "object", "required": ["text", "target_language"],
            "properties": { "text": text, "target_language": text } });
        assert_eq!(
            filled(
                &translate,
                "Translate \"good morning\" to French with translate_text.",
                &["translate_text"]
            ),
            json!({ "text": "good morning", "target_language": "French" })
        );
    }
}
