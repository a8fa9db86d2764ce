//! Addresses as people write them.

use std::net::{Ipv6Addr, SocketAddr};

use crate::errors::ErrorCode;
use crate::failure::Failure;

/// Resolves ADDRESS:PORT; names are looked up and may have several addresses.
pub(crate) async fn resolve(text: &str) -> Result<Vec<SocketAddr>, Failure> {
    let host = host_of(text).map_err(Failure::usage)?;
    let addresses = match with_zone(text) {
        Some((inside, port)) => {
            tokio::net::lookup_host((inside, port)).await.map(Iterator::collect::<Vec<SocketAddr>>)
        }
        None => tokio::net::lookup_host(text).await.map(Iterator::collect),
    };
    let addresses = addresses.map_err(|e| unknown(format!("cannot find the address of '{host}': {e}")))?;
    if addresses.is_empty() {
        return Err(unknown(format!("'{host}' has no address")));
    }
    match addresses.iter().find(|address| lacks_zone(address)) {
        Some(address) => Err(Failure::usage(format!(
            "{} is an address of one link alone: write its interface, too, like [{}%eth0]:{}",
            address.ip(),
            address.ip(),
            address.port()
        ))),
        None => Ok(addresses),
    }
}

/// An address of IPv6 with the name of its interface behind a %, in brackets [RFC 4007 11], and its port. The
/// system looks such names up without the brackets.
fn with_zone(text: &str) -> Option<(&str, u16)> {
    let (host, port) = text.rsplit_once(':')?;
    let inside = host.strip_prefix('[')?.strip_suffix(']')?;
    let (address, zone) = inside.split_once('%')?;
    let is_one = address.parse::<Ipv6Addr>().is_ok() && !zone.is_empty();
    Some((inside, port.parse().ok()?)).filter(|_| is_one)
}

/// True for an address that every link may have, of no link.
fn lacks_zone(address: &SocketAddr) -> bool {
    matches!(address, SocketAddr::V6(v6) if v6.ip().is_unicast_link_local() && v6.scope_id() == 0)
}

/// Failure of a name without an address.
pub(crate) fn unknown(message: String) -> Failure {
    Failure::of(ErrorCode::AddressUnknown, message)
}

/// The part before the port.
fn host_of(text: &str) -> Result<&str, String> {
    if text.parse::<Ipv6Addr>().is_ok() {
        return Err(without_brackets(text));
    }
    let in_brackets = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    if in_brackets.is_some_and(|text| text.parse::<Ipv6Addr>().is_ok()) {
        return Err(format!("'{text}' has no port; write ADDRESS:PORT, like {text}:4700"));
    }
    let Some((host, port)) = text.rsplit_once(':') else {
        let is_name = !text.is_empty() && !text.contains(['/', ' ']);
        let like = if is_name { text } else { "192.0.2.7" };
        return Err(format!("'{text}' has no port; write ADDRESS:PORT, like {like}:4700"));
    };
    if port.parse() == Ok(0u16) {
        return Err(format!("'{text}': port 0 cannot be sent to; write the port that the receiver waits at"));
    }
    if host.is_empty() || port.parse::<u16>().is_err() {
        return Err(format!("'{text}' is no ADDRESS:PORT, like 192.0.2.7:4700"));
    }
    if host.contains(':') && !host.starts_with('[') {
        return Err(format!("'{text}' is not clear; write an IPv6 address like [{host}]:{port}"));
    }
    Ok(host)
}

/// Advice on an IPv6 address without brackets, whose end may be meant as the port.
fn without_brackets(text: &str) -> String {
    let with_port = text.rsplit_once(':').filter(|(host, port)| {
        host.parse::<Ipv6Addr>().is_ok() && port.parse::<u16>().is_ok_and(|port| port > 0)
    });
    match with_port {
        Some((host, port)) => format!(
            "'{text}' is not clear; write [{host}]:{port}, or [{text}]:4700 if '{port}' belongs to the address"
        ),
        None => format!("'{text}' has no port; write an IPv6 address like [{text}]:4700"),
    }
}

/// True if a receiver's address is written like this.
pub(crate) fn is_address(text: &str) -> bool {
    host_of(text).is_ok()
}

/// Address of another machine, as it was written.
pub(crate) fn peer_address(text: &str) -> Result<String, String> {
    host_of(text).map(|_| text.into())
}

/// Address to wait at, one of this machine in figures.
pub(crate) fn listen_address(text: &str) -> Result<SocketAddr, String> {
    let like = "like 127.0.0.1:4700, [::1]:4700, or [::]:4700 for every network of this machine";
    text.parse().map_err(|_| format!("write ADDRESS:PORT with the address in figures, {like}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_address_of_one_link_has_its_interface() {
        let found = resolve("[fe80::7%lo]:4700").await.unwrap();
        assert!(
            matches!(found[..], [SocketAddr::V6(one)] if one.scope_id() > 0 && one.port() == 4700),
            "{found:?}"
        );
        let failure = resolve("[fe80::7]:4700").await.unwrap_err();
        assert!(failure.to_string().contains("like [fe80::7%eth0]:4700"), "{failure}");
        let failure = resolve("[fe80::7%nowhere-7]:4700").await.unwrap_err();
        assert_eq!(failure.result().code, "address-unknown");
        assert!(peer_address("[fe80::7%lo]:4700").is_ok());
    }

    #[test]
    fn an_ipv6_address_needs_brackets() {
        for (text, advice) in [
            ("2001:db8::7", "[2001:db8::7]:4700"),
            ("2001:db8::7:4700", "[2001:db8::7:4700]:4700"),
            ("2001:db8::7:4700", "write [2001:db8::7]:4700,"),
            ("::1:4700", "write [::1]:4700,"),
            ("2001:db8:0:0:0:0:0:7:4700", "[2001:db8:0:0:0:0:0:7]:4700"),
            ("[::1]", "has no port; write ADDRESS:PORT, like [::1]:4700"),
            ("192.0.2.7", "192.0.2.7:4700"),
            ("ship.example", "like ship.example:4700"),
            ("", "like 192.0.2.7:4700"),
        ] {
            let error = host_of(text).unwrap_err();
            assert!(error.contains(advice), "{text}: {error}");
        }
        assert_eq!(host_of("[2001:db8::7]:4700"), Ok("[2001:db8::7]"));
        assert!(host_of("192.0.2.7:0").unwrap_err().contains("port 0"));
        assert_eq!(host_of("ship.example:4700"), Ok("ship.example"));
    }
}
