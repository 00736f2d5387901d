//! Explains why an upstream cannot be used, so that the user can fix it.

use std::error::Error;
use std::io;

use longhaul_provider::chain;
use rustls::{CertificateError, Error as TlsError};

/// The problem between the gateway and the upstream, if a setting fixes it.
pub(super) fn to_mend(error: &(dyn Error + 'static)) -> Option<String> {
    if let Some(fault) = find::<TlsError>(error) {
        return Some(of_tls(fault));
    }
    let not_http = find::<hyper::Error>(error).is_some_and(hyper::Error::is_parse);
    not_http.then(|| {
        format!(
            "it does not answer in HTTP ({}); if it speaks TLS, begin --upstream with https://",
            chain(error)
        )
    })
}

fn of_tls(fault: &TlsError) -> String {
    let hint = match fault {
        TlsError::InvalidCertificate(wrong) => match wrong {
            // The latter: an authority of the same name was created again.
            CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                "its certificate is signed by an authority that is not trusted here; give that authority's certificate with --upstream-ca"
            }
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "its certificate has expired; have it renewed, or set the clock of this machine"
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                "its certificate is not valid yet; set the clock of this machine"
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "its certificate is for another name; check the host of --upstream"
            }
            _ => "its certificate is not valid",
        },
        TlsError::InvalidMessage(_) => {
            "it does not speak TLS; if it speaks plain HTTP, begin --upstream with http://"
        }
        _ => "TLS failed",
    };
    format!("{hint} ({fault})")
}

/// The first cause of a type. The error wrapped by an IO error is not among its sources.
fn find<'e, T: Error + 'static>(error: &'e (dyn Error + 'static)) -> Option<&'e T> {
    let mut cause = Some(error);
    while let Some(found) = cause {
        if let Some(wanted) = found.downcast_ref() {
            return Some(wanted);
        }
        let wrapped = found
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        cause = match wrapped {
            Some(inner) => Some(inner),
            None => found.source(),
        };
    }
    None
}
