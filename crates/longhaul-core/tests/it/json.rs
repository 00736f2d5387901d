//! Compares the JSON reader with an independent one.

use longhaul_core::json::{JsonCursor, decode};
use proptest::prelude::*;
use serde::de::IgnoredAny;
use serde_json::Value;

/// Whether an independent reader accepts the bytes as one JSON value.
fn is_json(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
}

fn reads(bytes: &[u8]) -> bool {
    let mut cursor = JsonCursor::new(bytes);
    std::str::from_utf8(bytes).is_ok() && cursor.skip().is_ok() && cursor.end().is_ok()
}

fn any_value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[a-z ]{0,80}",
        "[\\x00-\\x1f\"\\\\/a-zé漢😀]{0,90}",
        proptest::collection::vec(any::<char>(), 0..70).prop_map(String::from_iter),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 8, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            proptest::collection::btree_map("[a-z\"\\\\é]{0,6}", inner, 0..8)
                .prop_map(Value::from_iter),
        ]
    })
}

/// Writes the same value differently: with spaces and unnecessary escapes, but still valid.
fn written_oddly(value: &Value, salt: u64, out: &mut String) {
    let mut salt = salt.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut pick = |of: u64| {
        salt ^= salt << 13;
        salt ^= salt >> 7;
        salt ^= salt << 17;
        salt % of
    };
    fn text(text: &str, pick: &mut dyn FnMut(u64) -> u64, out: &mut String) {
        out.push('"');
        for c in text.chars() {
            match c {
                '/' if pick(2) == 0 => out.push_str("\\/"),
                '"' | '\\' if pick(3) > 0 => {
                    out.push('\\');
                    out.push(c);
                }
                '\n' if pick(2) == 0 => out.push_str("\\n"),
                '\t' if pick(2) == 0 => out.push_str("\\t"),
                _ if c < ' ' || c == '"' || c == '\\' || pick(6) == 0 => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        out.push_str(&format!("\\u{unit:04X}"));
                    }
                }
                _ => out.push(c),
            }
        }
        out.push('"');
    }
    fn write(value: &Value, pick: &mut dyn FnMut(u64) -> u64, out: &mut String) {
        fn space(pick: &mut dyn FnMut(u64) -> u64, out: &mut String) {
            out.push_str(["", "", " ", "\t", "\r", "  "][pick(6) as usize]);
        }
        space(pick, out);
        match value {
            Value::String(string) => text(string, pick, out),
            Value::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    write(item, pick, out);
                }
                space(pick, out);
                out.push(']');
            }
            Value::Object(fields) => {
                out.push('{');
                for (index, (key, value)) in fields.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    space(pick, out);
                    text(key, pick, out);
                    space(pick, out);
                    out.push(':');
                    write(value, pick, out);
                }
                space(pick, out);
                out.push('}');
            }
            other => out.push_str(&other.to_string()),
        }
        space(pick, out);
    }
    write(value, &mut pick, out);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn m2_what_is_json_is_read_however_it_is_written(value in any_value(), salt: u64) {
        let mut odd = String::new();
        written_oddly(&value, salt, &mut odd);
        prop_assert!(is_json(odd.as_bytes()));
        let mut cursor = JsonCursor::new(odd.as_bytes());
        prop_assert_eq!(cursor.skip(), Ok(()));
        prop_assert_eq!(cursor.end(), Ok(()));
        // The size of the serialized form does not depend on how the value was written.
        prop_assert_eq!(cursor.canonical(), value.to_string().encode_utf16().count());
    }

    #[test]
    fn m4_what_is_not_json_is_refused_as_by_others(value in any_value(), salt: u64, at: prop::sample::Index, with: u8, cut: bool) {
        let mut odd = String::new();
        written_oddly(&value, salt, &mut odd);
        let mut bytes = odd.into_bytes();
        let at = at.index(bytes.len());
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] = with;
        }
        prop_assert_eq!(reads(&bytes), is_json(&bytes), "{}", String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn m4_arbitrary_bytes_are_judged_as_by_others(bytes in proptest::collection::vec(prop_oneof![Just(b'"'), Just(b'\\'), Just(b'{'), Just(b'}'), Just(b':'), Just(b','), Just(b'u'), Just(b'0'), Just(b'e'), Just(b'-'), Just(b'.'), any::<u8>()], 0..200)) {
        prop_assert_eq!(reads(&bytes), is_json(&bytes));
    }

    #[test]
    fn t2_a_string_is_measured_as_it_decodes(text in proptest::collection::vec(any::<char>(), 0..300).prop_map(String::from_iter), salt: u64) {
        let mut odd = String::new();
        written_oddly(&Value::from(text.clone()), salt, &mut odd);
        let mut cursor = JsonCursor::new(odd.as_bytes());
        let literal = cursor.string().unwrap();
        prop_assert_eq!(literal.utf16, text.encode_utf16().count());
        prop_assert_eq!(&*decode(&odd.as_bytes()[literal.start..literal.end]), &text);
    }
}

#[test]
fn m4_deep_nesting_is_read() {
    for depth in [63, 64, 65, 128, 1_000, 100_000] {
        let text = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        assert!(reads(text.as_bytes()), "{depth}");
        let text = format!("{}1{}", "{\"a\":[".repeat(depth), "]}".repeat(depth));
        assert!(reads(text.as_bytes()), "{depth}");
        let wrong = format!("{}1{}", "[".repeat(depth), "}".repeat(depth));
        assert!(!reads(wrong.as_bytes()));
    }
}

#[test]
fn m4_lone_surrogates_are_read_and_measured_as_escapes() {
    for (text, decoded, serialized) in [
        (r#""\ud83d""#, 1, 8),
        (r#""\ude00 x""#, 3, 10),
        (r#""\ud83d\ud83d\ude00""#, 3, 10),
        (r#""\\ud83d\ude00""#, 7, 15),
        (r#""\uD83D\uDE00""#, 2, 4),
    ] {
        let mut cursor = JsonCursor::new(text.as_bytes());
        assert_eq!(
            cursor.string().map(|literal| literal.utf16),
            Ok(decoded),
            "{text}"
        );
        assert_eq!(cursor.canonical(), serialized, "{text}");
    }
}
