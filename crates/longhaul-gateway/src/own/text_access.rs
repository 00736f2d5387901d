//! Who may read text of conversations: first words, summaries, what results were about, messages of errors.
//!
//! With a token, whoever has it. Without one the gateway answers this machine alone, but every user of a machine can
//! connect to its loopback address: text is for the user that the gateway runs as, and for root. Others see what
//! `gateway.hashes` leaves. Where the system does not say whose a connection is, the address has to be enough; `longhaul
//! doctor` says so.

use std::sync::Arc;

use http::Request;
use serde_json::{Value, json};

use crate::options::SessionNames;
use crate::peer_user::{ConnectionEnds, PeerUser};
use crate::state::GatewayState;

/// Whether an answer may hold text of conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextAccess {
    /// It may.
    Shown,
    /// It may not: the gateway keeps and shows none.
    Hashes,
    /// It may not: another user asks.
    AnotherUser,
    /// It may not: the system does not say who asks, although it usually does.
    UnknownUser,
}

impl TextAccess {
    /// Decides for a request that may see sessions.
    pub(super) async fn of<B>(state: &GatewayState, request: &Request<B>) -> Self {
        if state.session_names == SessionNames::Hashes {
            return Self::Hashes;
        }
        if state.token.is_some() {
            return Self::Shown;
        }
        let Some(users) = &state.peer_users else {
            return Self::Shown;
        };
        let Some(connection) = request.extensions().get::<ConnectionEnds>().copied() else {
            return Self::UnknownUser;
        };
        let users = Arc::clone(users);
        let user = tokio::task::spawn_blocking(move || users.user(connection)).await;
        match user {
            Ok(PeerUser::OwnOrRoot) => Self::Shown,
            Ok(PeerUser::Another) => Self::AnotherUser,
            Ok(PeerUser::Unfound) | Err(_) => Self::UnknownUser,
        }
    }

    /// By what sessions are named in the answer.
    pub(super) fn names(self) -> SessionNames {
        match self {
            Self::Shown => SessionNames::FirstWords,
            Self::Hashes | Self::AnotherUser | Self::UnknownUser => SessionNames::Hashes,
        }
    }

    /// Why a text is missing in an answer.
    pub(super) fn why_missing(self) -> Option<&'static str> {
        Some(match self {
            Self::Shown => return None,
            Self::Hashes => "this gateway shows no text of conversations (gateway.hashes)",
            Self::AnotherUser => {
                "this gateway shows text of conversations to the user who runs it, and another user asks"
            }
            Self::UnknownUser => {
                "this gateway shows text of conversations to the user who runs it, and the system does not say who asks"
            }
        })
    }

    /// The name of it in the API.
    pub(super) fn json(self) -> Value {
        json!(match self {
            Self::Shown => "shown",
            Self::Hashes => "hashes",
            Self::AnotherUser => "another_user",
            Self::UnknownUser => "unknown_user",
        })
    }
}
