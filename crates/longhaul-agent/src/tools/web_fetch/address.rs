//! What may be reached: addresses of the public internet, unless the user allowed more.
//!
//! An address is checked when a connection is made, after the lookup of its name: a name that leads into the local
//! network is refused, too, and cannot change in between.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use longhaul_core::normalize::fragment::fill;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

use crate::tools::definition::one_line;

/// The maximum length of a page's address.
const LONGEST: usize = 2_000;

/// Which addresses may be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AllowedAddresses {
    /// The public internet.
    #[default]
    Public,
    /// Also this machine and the local network; these also without TLS.
    All,
}

impl AllowedAddresses {
    /// Parses an address from the model, changes it to https, and checks it as far as that is possible without a
    /// lookup.
    ///
    /// # Errors
    /// Why it cannot be fetched, for the model.
    pub(super) fn read(self, given: &str) -> Result<Url, String> {
        let not_one = |why: &str| Err(fill(include_str!("fragments/no_url.md"), &[("why", why)]));
        if given.is_empty() {
            return not_one("it is empty");
        }
        if given.len() > LONGEST {
            return not_one("it is too long");
        }
        let mut url = match Url::parse(given) {
            Ok(url) => url,
            Err(error) => return not_one(&error.to_string()),
        };
        if !matches!(url.scheme(), "http" | "https") {
            return not_one("it is neither http nor https");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return not_one("it holds a user name or a password");
        }
        url.set_fragment(None);
        let Some(host) = url.host() else {
            return not_one("it has no host");
        };
        let is_local = is_local(&host);
        if is_local && self == Self::Public {
            return Err(refused(&host.to_string()));
        }
        // Servers on this machine seldom have a certificate.
        if url.scheme() == "http" && !is_local && url.set_scheme("https").is_err() {
            return not_one("it cannot be made https");
        }
        Ok(url)
    }
}

/// The message to the model about an address that may not be reached.
pub(super) fn refused(host: &str) -> String {
    let host = one_line(host, 200);
    fill(include_str!("fragments/refused.md"), &[("host", &host)])
}

/// Whether a host is local by its text alone. Numbers in any notation have been parsed as addresses by now.
fn is_local(host: &Host<&str>) -> bool {
    match host {
        Host::Ipv4(address) => !is_public(IpAddr::V4(*address)),
        Host::Ipv6(address) => !is_public(IpAddr::V6(*address)),
        Host::Domain(name) => {
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            let ends = [".localhost", ".local", ".internal", ".home.arpa"];
            // A name without a dot belongs to the local network.
            !name.contains('.') || ends.iter().any(|end| name.ends_with(end))
        }
    }
}

/// Whether an address belongs to the public internet.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let special = match address.octets() {
        [0, ..] | [240..=255, ..] => true,
        // Shared by the customers of a provider.
        [100, second, ..] => (64..128).contains(&second),
        // Protocol assignments, and networks for measurements.
        [192, 0, 0, _] | [198, 18..=19, ..] => true,
        _ => false,
    };
    !(special
        || address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation())
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let inside = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match address.segments() {
        // An IPv4 address in another form: mapped, compatible, translated, tunnelled. Loopback is among them.
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0, 0, 0, 0, 0xffff, 0, high, low] => {
            inside(high, low)
        }
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => inside(high, low),
        [0x2002, high, low, ..] => inside(high, low),
        // All assigned addresses are in 2000::/3; documentation and tunnels are excluded from it.
        [0x2001, 0 | 0xdb8, ..] => false,
        [first, ..] => (0x2000..0x4000).contains(&first),
    }
}

/// The name leads to an address that may not be reached.
#[derive(Debug, thiserror::Error)]
#[error("{0} is in the local network")]
pub(super) struct NotPublicAddress(pub(super) String);

/// Looks names up, and refuses those that lead into the local network.
pub(super) struct AddressLookup {
    /// Which addresses may be reached.
    pub(super) addresses: AllowedAddresses,
    /// The host of the proxy, which is usually in the local network.
    pub(super) proxy: Option<String>,
}

impl Resolve for AddressLookup {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().to_owned();
        let any = self.addresses == AllowedAddresses::All || self.proxy.as_deref() == Some(&*host);
        Box::pin(async move {
            let found = tokio::net::lookup_host((&*host, 0)).await?;
            let found: Vec<SocketAddr> = found.collect();
            // One local address is enough to refuse, because we do not choose which of them is used.
            if !any && found.iter().any(|found| !is_public(found.ip())) {
                return Err(
                    Box::new(NotPublicAddress(host)) as Box<dyn std::error::Error + Send + Sync>
                );
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q1_local_addresses_are_refused_in_every_form() {
        let local = [
            "http://localhost/",
            "http://LOCALHOST./",
            "https://a.localhost",
            "http://printer.local",
            "http://127.0.0.1/",
            "http://127.1/",
            "http://2130706433/",
            "http://0x7f000001/",
            "http://0177.0.0.1/",
            "http://0/",
            "http://10.1.2.3",
            "http://172.16.0.1",
            "http://192.168.1.1",
            "http://169.254.169.254/meta",
            "http://100.64.0.1",
            "http://198.18.0.1",
            "http://224.0.0.1",
            "http://255.255.255.255",
            "http://[::1]/",
            "http://[::]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:a00:1]/",
            "http://[::127.0.0.1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://[2002:7f00:1::]/",
            "http://[fe80::1]/",
            "http://[fd00::1]/",
            "http://[ff02::1]/",
            "http://[2001:db8::1]/",
            "http://１２７.0.0.1/",
            "http://metadata.google.internal/",
            "http://intranet/wiki",
        ];
        for given in local {
            let refused = AllowedAddresses::Public.read(given).unwrap_err();
            assert!(refused.contains("local network"), "{given}: {refused}");
            assert!(AllowedAddresses::All.read(given).is_ok(), "{given}");
        }
        let public = [
            "http://1.1.1.1/",
            "http://[2606:4700::1]/",
            "http://example.org/",
            "http://[2002:101:101::]/",
        ];
        for given in public {
            let url = AllowedAddresses::Public.read(given).unwrap();
            assert_eq!(url.scheme(), "https", "{given}");
        }
    }

    #[test]
    fn q1_what_is_no_address_of_a_page_is_said_so() {
        for given in [
            "",
            "example.org",
            "file:///etc/passwd",
            "ftp://a.org",
            "https://user:pw@a.org",
            "https://",
        ] {
            let why = AllowedAddresses::All.read(given).unwrap_err();
            assert!(why.contains("full address"), "{given}: {why}");
        }
        assert!(
            AllowedAddresses::All
                .read(&format!("https://a.org/{}", "x".repeat(2_000)))
                .is_err()
        );
    }

    #[tokio::test]
    async fn q1_a_name_that_leads_to_this_machine_is_refused_behind_the_lookup() {
        let lookup = |addresses, proxy: Option<&str>| {
            let proxy = proxy.map(str::to_owned);
            AddressLookup { addresses, proxy }.resolve("localhost".parse().unwrap())
        };
        let refused = lookup(AllowedAddresses::Public, None).await.err().unwrap();
        assert!(refused.downcast_ref::<NotPublicAddress>().is_some());
        assert!(lookup(AllowedAddresses::All, None).await.is_ok());
        assert!(
            lookup(AllowedAddresses::Public, Some("localhost"))
                .await
                .is_ok()
        );
        assert!(
            lookup(AllowedAddresses::Public, Some("other"))
                .await
                .is_err()
        );
    }
}
