//! Formats figures for people.

/// Writes 1234567 as 1,234,567.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with its noun, whose plural ends in `s`: "1 file", "2,000 files".
pub fn counted(number: u64, noun: &str) -> String {
    counted_as(number, noun, &format!("{noun}s"))
}

/// A number with its noun and its plural: "1 match", "2,000 matches".
pub fn counted_as(number: u64, one: &str, many: &str) -> String {
    let noun = if number == 1 { one } else { many };
    format!("{} {noun}", grouped(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_separators_and_nouns_their_plural() {
        assert_eq!(grouped(999), "999");
        assert_eq!(counted(1, "file"), "1 file");
        assert_eq!(counted(0, "file"), "0 files");
        assert_eq!(
            counted_as(1_234_567, "match", "matches"),
            "1,234,567 matches"
        );
    }
}
