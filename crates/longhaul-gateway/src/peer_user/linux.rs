//! The kernel's tables of TCP connections (`/proc/net/tcp` and `tcp6`): one line for each end, with the id of the user who
//! opened it. They show what is in the network namespace of this process, in which its loopback clients are, too.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use super::{ConnectionEnds, PeerUser};

const TABLES: [&str; 2] = ["tcp", "tcp6"];
const LISTENING: u8 = 0x0a;
const ROOT: u32 = 0;
/// How often the tables are read: a line can be missed while connections around it come and go.
const TRIES: usize = 3;

/// The tables, and the user that this process runs as.
#[derive(Debug)]
pub(super) struct ConnectionTables {
    folder: PathBuf,
    own_user: u32,
}

impl ConnectionTables {
    pub(super) fn of_the_kernel() -> Self {
        Self {
            folder: PathBuf::from("/proc/self/net"),
            own_user: rustix::process::geteuid().as_raw(),
        }
    }

    /// Whether the tables list the socket on which this process listens: those of another namespace, and the empty ones
    /// of some sandboxes, do not.
    pub(super) fn list_own(&self, listening: SocketAddr) -> bool {
        let is_own = |end: &ConnectionEnd| {
            end.state == LISTENING && end.local == listening && end.user == self.own_user
        };
        matches!(self.find(is_own), Ok(Some(_)))
    }

    pub(super) fn user(&self, connection: ConnectionEnds) -> PeerUser {
        let local = canonical(connection.peer);
        let remote = canonical(connection.own);
        // An end that no process has any more is listed as root's, and without a file.
        let is_the_peers =
            |end: &ConnectionEnd| end.local == local && end.remote == remote && end.inode != 0;
        for _ in 0..TRIES {
            if let Ok(Some(end)) = self.find(is_the_peers) {
                return match end.user {
                    ROOT => PeerUser::OwnOrRoot,
                    user if user == self.own_user => PeerUser::OwnOrRoot,
                    _ => PeerUser::Another,
                };
            }
        }
        PeerUser::Unfound
    }

    /// The first line of the tables that is wanted. A table that does not exist, because the machine has no IPv6, is empty.
    fn find(
        &self,
        is_wanted: impl Fn(&ConnectionEnd) -> bool,
    ) -> io::Result<Option<ConnectionEnd>> {
        for table in TABLES {
            let table = match File::open(self.folder.join(table)) {
                Ok(table) => BufReader::new(table),
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            for line in table.lines() {
                match ConnectionEnd::read(&line?) {
                    Some(end) if is_wanted(&end) => return Ok(Some(end)),
                    _ => {}
                }
            }
        }
        Ok(None)
    }
}

/// A line of a table.
#[derive(Debug)]
struct ConnectionEnd {
    local: SocketAddr,
    remote: SocketAddr,
    state: u8,
    user: u32,
    /// The number of the socket's file; 0 if no process has it open.
    inode: u64,
}

impl ConnectionEnd {
    /// `None` for the line with the names of the columns, and for anything else that is not a connection.
    fn read(line: &str) -> Option<Self> {
        let mut columns = line.split_ascii_whitespace().skip(1);
        let local = address(columns.next()?)?;
        let remote = address(columns.next()?)?;
        let state = u8::from_str_radix(columns.next()?, 16).ok()?;
        // Between them: queues, timers, retransmissions; then a timeout.
        let user = columns.nth(3)?.parse().ok()?;
        let inode = columns.nth(1)?.parse().ok()?;
        Some(Self {
            local,
            remote,
            state,
            user,
            inode,
        })
    }
}

/// An address as the kernel prints it: words of four bytes, each as one number of this machine, then the port.
fn address(text: &str) -> Option<SocketAddr> {
    let (words, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let mut bytes = Vec::with_capacity(16);
    for at in (0..words.len()).step_by(8) {
        let word = u32::from_str_radix(words.get(at..at + 8)?, 16).ok()?;
        bytes.extend(word.to_ne_bytes());
    }
    let ip = match <[u8; 4]>::try_from(bytes.as_slice()) {
        Ok(four) => IpAddr::V4(Ipv4Addr::from(four)),
        Err(_) => IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?)),
    };
    Some(canonical(SocketAddr::new(ip, port)))
}

/// An address in the one form in which addresses are compared: IPv4 is also written as IPv6, and IPv6 with a scope.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";

    /// The tables of a machine on which the gateway of user 1000 listens on port 8787.
    fn tables(tcp: &str, tcp6: &str) -> (tempfile::TempDir, ConnectionTables) {
        let folder = tempfile::tempdir().unwrap();
        for (name, lines) in [("tcp", tcp), ("tcp6", tcp6)] {
            std::fs::write(folder.path().join(name), format!("{COLUMNS}{lines}")).unwrap();
        }
        let tables = ConnectionTables {
            folder: folder.path().to_owned(),
            own_user: 1000,
        };
        (folder, tables)
    }

    fn line(local: &str, remote: &str, state: &str, user: u32, inode: u64) -> String {
        format!(
            "   1: {local} {remote} {state} 00000000:00000000 00:00000000 00000000  {user}        0 {inode} 1 0000000000000000 20 4 30 10 -1\n"
        )
    }

    /// An address as the kernel of this machine prints it.
    fn printed(address: &str) -> String {
        let address: SocketAddr = address.parse().unwrap();
        let bytes = match address.ip() {
            IpAddr::V4(ip) => ip.octets().to_vec(),
            IpAddr::V6(ip) => ip.octets().to_vec(),
        };
        let words = bytes.chunks(4).map(|word| {
            let word = u32::from_ne_bytes(word.try_into().unwrap());
            format!("{word:08X}")
        });
        format!("{}:{:04X}", words.collect::<String>(), address.port())
    }

    fn ends(peer: &str, own: &str) -> ConnectionEnds {
        ConnectionEnds {
            peer: peer.parse().unwrap(),
            own: own.parse().unwrap(),
        }
    }

    #[test]
    fn x8_the_kernels_tables_say_whose_a_connection_is() {
        let (client, own) = ("127.0.0.1:50000", "127.0.0.1:8787");
        for (user, whose) in [
            (1000, PeerUser::OwnOrRoot),
            (0, PeerUser::OwnOrRoot),
            (1001, PeerUser::Another),
        ] {
            // Our own end of the connection, and a connection of the user's to somebody else, do not count.
            let lines = line(&printed(own), &printed(client), "01", 1000, 7)
                + &line(&printed(client), &printed("127.0.0.1:9999"), "01", 1000, 8)
                + &line(&printed(client), &printed(own), "01", user, 9);
            let (_folder, four) = tables(&lines, "");
            assert_eq!(four.user(ends(client, own)), whose, "{user}");
            assert_eq!(
                four.user(ends("127.0.0.1:50001", own)),
                PeerUser::Unfound,
                "another port"
            );
        }
    }

    #[test]
    fn x8_both_forms_of_an_address_are_the_same_connection() {
        let mapped = line(
            &printed("[::ffff:127.0.0.1]:50000"),
            &printed("[::ffff:127.0.0.1]:8787"),
            "01",
            1000,
            9,
        );
        let six = line(
            &printed("[::1]:50001"),
            &printed("[::1]:8787"),
            "01",
            1001,
            9,
        );
        let (_folder, tables) = tables("", &(mapped + &six));
        let of = |peer, own| tables.user(ends(peer, own));
        assert_eq!(of("127.0.0.1:50000", "127.0.0.1:8787"), PeerUser::OwnOrRoot);
        assert_eq!(of("[::1]:50001", "[::1]:8787"), PeerUser::Another);
    }

    #[test]
    fn x8_an_end_that_its_process_has_closed_is_nobodys_although_the_kernel_lists_it_as_roots() {
        let (client, own) = ("127.0.0.1:50000", "127.0.0.1:8787");
        let waits = line(&printed(client), &printed(own), "06", 0, 0);
        let (_folder, tables) = tables(&waits, "");
        assert_eq!(tables.user(ends(client, own)), PeerUser::Unfound);
    }

    #[test]
    fn x8_tables_that_do_not_list_the_gateway_itself_say_nothing() {
        let listening = "127.0.0.1:8787".parse().unwrap();
        let row = line(
            &printed("127.0.0.1:8787"),
            &printed("0.0.0.0:0"),
            "0A",
            1000,
            5,
        );
        let (_folder, ours) = tables(&row, "");
        assert!(ours.list_own(listening));
        let (_folder, empty) = tables("", "not a table\n");
        assert!(!empty.list_own(listening));
        let missing = ConnectionTables {
            folder: "/nowhere".into(),
            own_user: 1000,
        };
        assert!(!missing.list_own(listening));
    }
}
