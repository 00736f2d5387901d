//! Whose the other end of a connection on this machine is: on Linux, the kernel's tables of connections say it
//! (`linux.rs`). Which answers depend on it is decided in `own/text_access.rs`.

#[cfg(target_os = "linux")]
mod linux;

use std::net::SocketAddr;

/// Both ends of a connection, as the gateway sees them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionEnds {
    /// The client's end.
    pub peer: SocketAddr,
    /// The gateway's end.
    pub own: SocketAddr,
}

/// Whose the other end of a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerUser {
    /// It belongs to the user that the gateway runs as, or to root, who can read everything anyway.
    OwnOrRoot,
    /// It belongs to somebody else.
    Another,
    /// The system does not know of this connection: it has ended, or somebody hides it.
    Unfound,
}

/// Tells whose a connection is.
pub trait PeerUsers: Send + Sync {
    /// Whether the system tells whose connections to this address are, on which this process listens.
    fn can_tell(&self, listening: SocketAddr) -> bool;

    /// Whose the other end of an open connection is. This may block for as long as reading a file takes.
    fn user(&self, connection: ConnectionEnds) -> PeerUser;
}

/// What the operating system says.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemPeerUsers;

#[cfg(target_os = "linux")]
impl PeerUsers for SystemPeerUsers {
    fn can_tell(&self, listening: SocketAddr) -> bool {
        linux::ConnectionTables::of_the_kernel().list_own(listening)
    }

    fn user(&self, connection: ConnectionEnds) -> PeerUser {
        linux::ConnectionTables::of_the_kernel().user(connection)
    }
}

#[cfg(not(target_os = "linux"))]
impl PeerUsers for SystemPeerUsers {
    fn can_tell(&self, _: SocketAddr) -> bool {
        false
    }

    fn user(&self, _: ConnectionEnds) -> PeerUser {
        PeerUser::Unfound
    }
}
