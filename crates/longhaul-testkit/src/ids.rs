//! Ids in the forms transcripts use. Their widths and prefixes are fixed, so that `big` can overwrite them in place.

use crate::rng::Rng;

/// The letters of API ids: base 58, without look-alikes.
pub(crate) const BASE58: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// The prefixes of message, tool call and request ids, up to where the varying part begins.
pub(crate) const API_PREFIXES: [&str; 3] = ["msg_01", "toolu_01", "req_011C"];

/// A version 4 uuid.
pub(crate) fn uuid(rng: &mut Rng) -> String {
    let (a, b) = (rng.next(), rng.next());
    format!(
        "{:08x}-{:04x}-4{:03x}-{:x}{:03x}-{:012x}",
        a >> 32,
        (a >> 16) & 0xffff,
        a & 0xfff,
        8 + (b >> 62),
        (b >> 48) & 0xfff,
        b & 0xffff_ffff_ffff
    )
}

/// A message id, `msg_01…`, which all lines of one API message share.
pub(crate) fn message(rng: &mut Rng) -> String {
    format!("{}{}", API_PREFIXES[0], base58(rng, 22))
}

/// A tool call id, `toolu_01…`, which connects a result to its call.
pub(crate) fn tool(rng: &mut Rng) -> String {
    format!("{}{}", API_PREFIXES[1], base58(rng, 22))
}

/// A request id, `req_011C…`.
pub(crate) fn request(rng: &mut Rng) -> String {
    format!("{}{}", API_PREFIXES[2], base58(rng, 20))
}

/// The prefix of a sub-agent's id.
pub(crate) const AGENT_PREFIX: &str = "a";

/// A sub-agent's id.
pub(crate) fn agent(rng: &mut Rng) -> String {
    format!("{AGENT_PREFIX}{:016x}", rng.next())
}

/// Opaque base 64, for signatures and pictures.
pub(crate) fn base64(rng: &mut Rng, len: usize) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(len + 10);
    while out.len() < len {
        let mut bits = rng.next();
        for _ in 0..10 {
            out.push(char::from(LETTERS[(bits & 63) as usize]));
            bits >>= 6;
        }
    }
    out.truncate(len / 4 * 4);
    out
}

fn base58(rng: &mut Rng, len: usize) -> String {
    (0..len)
        .map(|_| char::from(BASE58[rng.below(58)]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_the_widths_of_real_ones() {
        let mut rng = Rng::new(5);
        for _ in 0..200 {
            let id = uuid(&mut rng);
            assert_eq!(id.len(), 36);
            assert_eq!(&id[14..15], "4");
            assert!("89ab".contains(&id[19..20]));
            assert_eq!(message(&mut rng).len(), 28);
            assert_eq!(tool(&mut rng).len(), 30);
            assert_eq!(request(&mut rng).len(), 28);
            assert_eq!(agent(&mut rng).len(), 17);
            assert_eq!(base64(&mut rng, 379).len(), 376);
        }
    }
}
