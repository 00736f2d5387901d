//! Who can read text of conversations on the page of a gateway: its own user, if the system tells users apart.

use std::net::{Ipv4Addr, TcpListener};

use longhaul_gateway::peer_user::{PeerUsers, SystemPeerUsers};

use super::finding::{Finding, FindingState};
use crate::serve::TOKEN;
use crate::settings::CommandSettings;

const CHECK: &str = "texts";

/// What protects texts from other users of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextGuard {
    /// None are kept or shown (`gateway.hashes`).
    Hashes,
    /// Whoever wants to see anything needs a token.
    Token,
    /// The system says which user a connection belongs to.
    System,
    /// Nothing.
    None,
}

/// Whether other users of this machine can read texts.
pub(super) fn texts(given: &CommandSettings) -> Finding {
    let hashes = given.resolve(Vec::new());
    let has_hashes = hashes.is_ok_and(|config| config.gateway_hashes);
    let has_token = std::env::var_os(TOKEN).is_some_and(|token| !token.is_empty());
    judge(if has_hashes {
        TextGuard::Hashes
    } else if has_token {
        TextGuard::Token
    } else if system_tells(&SystemPeerUsers) {
        TextGuard::System
    } else {
        TextGuard::None
    })
}

/// Tries it with a port of our own.
fn system_tells(users: &dyn PeerUsers) -> bool {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let address = listener.as_ref().map(TcpListener::local_addr);
    matches!(address, Ok(Ok(address)) if users.can_tell(address))
}

fn judge(guard: TextGuard) -> Finding {
    let ok = |says: &str| Finding::new(CHECK, FindingState::Ok, says);
    match guard {
        TextGuard::Hashes => ok("a gateway keeps and shows no text of conversations (gateway.hashes)"),
        TextGuard::Token => ok(&format!("a gateway shows text of conversations to whoever has the token in {TOKEN}")),
        TextGuard::System => ok("a gateway shows text of conversations to you and root alone: the system says which user a connection belongs to"),
        TextGuard::None => Finding::new(
            CHECK,
            FindingState::Warning,
            "the system does not say which user a connection belongs to: every user of this machine can read text of conversations on a gateway's page",
        )
        .advise(format!(
            "If others use this machine, start gateways with a token ({TOKEN}), or with the setting gateway.hashes, which keeps no such text."
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use longhaul_gateway::peer_user::{ConnectionEnds, PeerUser};

    use super::*;

    struct NothingIsSaid;

    impl PeerUsers for NothingIsSaid {
        fn can_tell(&self, _: SocketAddr) -> bool {
            false
        }

        fn user(&self, _: ConnectionEnds) -> PeerUser {
            PeerUser::Unfound
        }
    }

    #[test]
    fn x8_a_system_that_tells_no_users_apart_is_warned_of_with_what_to_do() {
        assert!(!system_tells(&NothingIsSaid));
        let found = judge(TextGuard::None);
        assert_eq!(found.state, FindingState::Warning);
        let advice = found.advice.unwrap();
        assert!(
            advice.contains(TOKEN) && advice.contains("gateway.hashes"),
            "{advice}"
        );
        for guard in [TextGuard::Hashes, TextGuard::Token, TextGuard::System] {
            assert_eq!(judge(guard).state, FindingState::Ok);
        }
    }
}
