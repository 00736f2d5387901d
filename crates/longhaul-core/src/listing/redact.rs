//! Replaces ids and times, which differ in every run, by placeholders: a snapshot must not depend on them.

/// The lengths of the groups of a UUID.
const UUID: [usize; 5] = [8, 4, 4, 4, 12];

/// Returns the line without UUIDs and times.
pub(super) fn redacted(line: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | ':' | '.' | '+');
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find(is_part) {
        let (before, behind) = rest.split_at(start);
        let end = behind.find(|c| !is_part(c)).unwrap_or(behind.len());
        let (word, behind) = behind.split_at(end);
        text.push_str(before);
        let bare = word.trim_end_matches(['.', ':', '-', '+']);
        match () {
            () if is_uuid(bare) => text.push_str("<uuid>"),
            () if is_time(bare) => text.push_str("<time>"),
            () => text.push_str(bare),
        }
        text.push_str(&word[bare.len()..]);
        rest = behind;
    }
    text.push_str(rest);
    text
}

fn is_uuid(word: &str) -> bool {
    word.split('-').map(str::len).eq(UUID)
        && word
            .bytes()
            .all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// Whether a word is a date with a time, as in RFC 3339.
fn is_time(word: &str) -> bool {
    word.contains('T') && word.parse::<jiff::Timestamp>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_times_are_replaced_and_nothing_else_is() {
        let line = "at 2026-03-02T08:00:19.446Z: see 28655334-23d7-43bb-8b01-59d32e9b293a.";
        assert_eq!(redacted(line), "at <time>: see <uuid>.");
        for same in ["", "a-b-c", "2026-03-02", "v1.2.3: T-shirt…", "漢字 10:20"] {
            assert_eq!(redacted(same), same);
        }
    }
}
