//! How a gateway proves to a program of the same user that it is the one whose secret is in a private file.
//!
//! Agents are given a gateway's address together with their keys, so whoever took over the port of a gateway that has ended
//! would get them. The program draws a challenge, and only a process that knows the secret can answer it. The answer holds
//! for one process and one port: that of another gateway cannot be passed on in its place.

use std::io;

use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

/// The path at which a gateway answers challenges; the challenge is the query `challenge=HEX`.
pub const PROOF_PATH: &str = "/longhaul/proof";
const SECRET_BYTES: usize = 32;
/// The lengths of a challenge.
const CHALLENGE: std::ops::RangeInclusive<usize> = 32..=128;

/// The secret of a running gateway.
#[derive(Clone)]
pub struct GatewayProof([u8; SECRET_BYTES]);

impl std::fmt::Debug for GatewayProof {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("GatewayProof")
    }
}

impl GatewayProof {
    /// Draws a secret.
    ///
    /// # Errors
    /// Fails if the system gives no random bytes; then nothing can be proved.
    pub fn draw() -> io::Result<Self> {
        drawn().map(Self)
    }

    /// The secret that was written as hexadecimal digits; `None` if these are not one.
    pub fn of_hex(text: &str) -> Option<Self> {
        unhex(text)?.try_into().ok().map(Self)
    }

    /// The secret as hexadecimal digits, for a file that only its user can read.
    pub fn to_hex(&self) -> String {
        hex(&self.0)
    }

    /// A challenge that was never used before.
    ///
    /// # Errors
    /// Fails if the system gives no random bytes.
    pub fn challenge() -> io::Result<String> {
        drawn().map(|bytes| hex(&bytes))
    }

    /// The answer to a challenge of the gateway with this process id and port.
    pub fn answer(&self, pid: u32, port: u16, challenge: &str) -> String {
        hex(hmac::sign(&self.key(), claim(pid, port, challenge).as_bytes()).as_ref())
    }

    /// Whether an answer is right. It takes the same time whatever is wrong.
    pub fn accepts(&self, pid: u32, port: u16, challenge: &str, answer: &str) -> bool {
        let claim = claim(pid, port, challenge);
        let answer = unhex(answer);
        answer.is_some_and(|tag| hmac::verify(&self.key(), claim.as_bytes(), &tag).is_ok())
    }

    fn key(&self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, &self.0)
    }
}

/// What an answer is a keyed hash of.
fn claim(pid: u32, port: u16, challenge: &str) -> String {
    format!("longhaul gateway\0{pid}\0{port}\0{challenge}")
}

/// The challenge in a query, if it could be one.
pub(crate) fn challenge_in(query: Option<&str>) -> Option<&str> {
    let challenge = query?.strip_prefix("challenge=")?;
    let is_hex = challenge.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_hex && CHALLENGE.contains(&challenge.len())).then_some(challenge)
}

fn drawn() -> io::Result<[u8; SECRET_BYTES]> {
    let mut bytes = [0; SECRET_BYTES];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| io::Error::other("the system gives no random bytes"))?;
    Ok(bytes)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    let pairs = (0..text.len()).step_by(2);
    pairs
        .map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_holds_for_one_secret_process_port_and_challenge() {
        let proof = GatewayProof::draw().unwrap();
        let challenge = GatewayProof::challenge().unwrap();
        let answer = proof.answer(7, 80, &challenge);
        assert!(proof.accepts(7, 80, &challenge, &answer));
        let other = GatewayProof::draw().unwrap();
        assert!(!other.accepts(7, 80, &challenge, &answer));
        assert!(!proof.accepts(8, 80, &challenge, &answer));
        assert!(!proof.accepts(7, 81, &challenge, &answer));
        assert!(!proof.accepts(7, 80, &GatewayProof::challenge().unwrap(), &answer));
        assert!(!proof.accepts(7, 80, &challenge, ""));
    }

    #[test]
    fn a_secret_survives_being_written_and_damaged_ones_are_refused() {
        let proof = GatewayProof::draw().unwrap();
        let again = GatewayProof::of_hex(&proof.to_hex()).unwrap();
        assert_eq!(again.answer(1, 2, "c"), proof.answer(1, 2, "c"));
        for wrong in ["", "00", &"zz".repeat(32), &"é".repeat(32)] {
            assert!(GatewayProof::of_hex(wrong).is_none(), "{wrong}");
        }
    }
}
