//! Strings, numbers and booleans for a schema node. A string is guessed from the name of its field: a path for `path`,
//! a search term for `query`.

use serde_json::{Number, Value};

use super::{ValuePalette, is_type, pattern};
use crate::model::chance::Chance;

/// A value of this type; the hint if it is allowed.
pub(super) fn value(
    node: &Value,
    kind: &str,
    hint: Option<&Value>,
    name: &str,
    palette: ValuePalette<'_>,
    chance: &mut Chance,
) -> Value {
    if let Some(hint) = hint.filter(|hint| is_type(hint, kind) && allowed(node, hint)) {
        return hint.clone();
    }
    let stated = node.get("default").or_else(|| node.get("examples")?.get(0));
    if let Some(stated) = stated.filter(|stated| is_type(stated, kind) && allowed(node, stated)) {
        return stated.clone();
    }
    match kind {
        "integer" => Value::from(whole(node, name, chance)),
        "number" => number(node, name, chance),
        "boolean" => Value::Bool(chance.odds(0.5)),
        _ => Value::String(string(node, name, palette, chance)),
    }
}

fn allowed(node: &Value, value: &Value) -> bool {
    if let Some(text) = value.as_str() {
        let length = text.chars().count() as u64;
        let bound = |key| node.get(key).and_then(Value::as_u64);
        let right = |pattern| pattern::begins_right(pattern, text);
        return bound("minLength").is_none_or(|least| least <= length)
            && bound("maxLength").is_none_or(|most| length <= most)
            && node
                .get("pattern")
                .and_then(Value::as_str)
                .is_none_or(right);
    }
    let Some(number) = value.as_f64() else {
        return true;
    };
    let (low, high) = bounds(node);
    low.is_none_or(|low| low <= number)
        && high.is_none_or(|high| number <= high)
        && step(node).is_none_or(|step| (number / step).fract() == 0.0)
}

/// The bounds for whole numbers; exclusive bounds are moved inward by one.
fn bounds(node: &Value) -> (Option<f64>, Option<f64>) {
    let bound = |key| node.get(key).and_then(Value::as_f64);
    (
        bound("minimum").or_else(|| bound("exclusiveMinimum").map(|low| low + 1.0)),
        bound("maximum").or_else(|| bound("exclusiveMaximum").map(|high| high - 1.0)),
    )
}

fn step(node: &Value) -> Option<f64> {
    let step = node.get("multipleOf").and_then(Value::as_f64);
    step.filter(|step| *step > 0.0)
}

fn whole(node: &Value, name: &str, chance: &mut Chance) -> i64 {
    let (low, high) = bounds(node);
    let usual = match name {
        "limit" | "max_results" | "count" | "head_limit" => 20,
        _ => chance.between(1, 9) as i64,
    };
    let low = low.map_or(i64::MIN, |low| low.ceil() as i64);
    let high = high.map_or(i64::MAX, |high| high.floor() as i64);
    let usual = usual.max(low).min(high);
    match step(node).map(|step| step as i64).filter(|step| *step > 1) {
        Some(step) => {
            let up = usual
                .div_euclid(step)
                .saturating_add(1)
                .saturating_mul(step);
            if up <= high {
                up
            } else {
                usual.div_euclid(step) * step
            }
        }
        None => usual,
    }
}

fn number(node: &Value, name: &str, chance: &mut Chance) -> Value {
    let bound = |key| node.get(key).and_then(Value::as_f64);
    let low = bound("minimum").or_else(|| bound("exclusiveMinimum"));
    let high = bound("maximum").or_else(|| bound("exclusiveMaximum"));
    if let (Some(low), Some(high), None) = (low, high, step(node)) {
        let between = low + (high - low) * chance.between(1, 3) as f64 / 4.0;
        return Number::from_f64(between).map_or(Value::Null, Value::Number);
    }
    Value::from(whole(node, name, chance))
}

fn string(node: &Value, name: &str, palette: ValuePalette<'_>, chance: &mut Chance) -> String {
    if let Some(pattern) = node.get("pattern").and_then(Value::as_str)
        && let Some(made) = pattern::text(pattern, chance)
    {
        return made;
    }
    let text = match node.get("format").and_then(Value::as_str) {
        Some("date") => format!("2026-0{}-1{}", chance.between(1, 9), chance.below(10)),
        Some("date-time") => format!(
            "2026-0{}-1{}T09:30:00Z",
            chance.between(1, 9),
            chance.below(10)
        ),
        Some("time") => "09:30:00Z".to_owned(),
        Some("uri" | "url") => "https://example.com/".to_owned(),
        Some("email") => "someone@example.com".to_owned(),
        Some("uuid") => format!(
            "{:08x}-0000-4000-8000-{:012x}",
            chance.below(1 << 32),
            chance.below(1 << 48)
        ),
        Some("ipv4") => format!("192.0.2.{}", chance.between(1, 254)),
        Some("hostname") => "example.com".to_owned(),
        _ => by_name(name, palette, chance),
    };
    let bound = |key| {
        node.get(key)
            .and_then(Value::as_u64)
            .map(|bound| bound as usize)
    };
    let mut text: String = text
        .chars()
        .take(bound("maxLength").unwrap_or(usize::MAX))
        .collect();
    let missing = bound("minLength")
        .unwrap_or(0)
        .min(MOST_CHARACTERS)
        .saturating_sub(text.chars().count());
    text.extend(std::iter::repeat_n('x', missing));
    text
}

/// The maximum number of characters that a text is filled up to, whatever a schema demands.
const MOST_CHARACTERS: usize = 20_000;

fn by_name(name: &str, palette: ValuePalette<'_>, chance: &mut Chance) -> String {
    let name = name.to_ascii_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    let path = |chance: &mut Chance| chance.pick(palette.paths).cloned();
    let made = if has(&["path", "file", "dir", "folder"]) {
        path(chance)
    } else if has(&["url", "uri", "link"]) {
        Some("https://example.com/".to_owned())
    } else if has(&["command", "cmd"]) {
        Some("git status --short".to_owned())
    } else if name == "id" || name.ends_with("_id") || name.ends_with("id") && name.len() < 12 {
        Some(format!("{:06x}", chance.below(1 << 24)))
    } else {
        chance.pick(palette.phrases).cloned()
    };
    made.unwrap_or_else(|| {
        chance
            .say(&["overview", "status", "main", "default", "recent"])
            .to_owned()
    })
}
