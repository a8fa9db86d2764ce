//! Addresses as people write them.

use std::net::{Ipv6Addr, SocketAddr};

use crate::failure::Failure;

/// Resolves ADDRESS:PORT; names are looked up and may have several addresses.
pub(crate) async fn resolve(text: &str) -> Result<Vec<SocketAddr>, Failure> {
    let host = host_of(text).map_err(Failure::usage)?;
    let found = tokio::net::lookup_host(text).await;
    let addresses: Vec<SocketAddr> =
        found.map_err(|e| Failure::new(format!("cannot find the address of '{host}': {e}")))?.collect();
    if addresses.is_empty() { Err(Failure::new(format!("'{host}' has no address"))) } else { Ok(addresses) }
}

/// The part before the port.
fn host_of(text: &str) -> Result<&str, String> {
    if text.parse::<Ipv6Addr>().is_ok() {
        return Err(format!("'{text}' has no port; write an IPv6 address like [{text}]:4700"));
    }
    let Some((host, port)) = text.rsplit_once(':') else {
        return Err(format!("'{text}' has no port; write ADDRESS:PORT, like 192.0.2.7:4700"));
    };
    if host.is_empty() || port.parse::<u16>().is_err() || port == "0" {
        return Err(format!("'{text}' is no ADDRESS:PORT, like 192.0.2.7:4700"));
    }
    if host.contains(':') && !host.starts_with('[') {
        return Err(format!("'{text}' is not clear; write an IPv6 address like [{host}]:{port}"));
    }
    Ok(host)
}

/// Where to wait: an address of this machine in figures.
pub(crate) fn listen_address(text: &str) -> Result<SocketAddr, String> {
    let like = "like 127.0.0.1:4700, [::1]:4700, or 0.0.0.0:4700 for every network of this machine";
    text.parse().map_err(|_| format!("write ADDRESS:PORT with the address in figures, {like}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv6_address_needs_brackets() {
        for (text, advice) in [
            ("2001:db8::7", "[2001:db8::7]:4700"),
            ("2001:db8::7:4700", "[2001:db8::7:4700]:4700"),
            ("2001:db8:0:0:0:0:0:7:4700", "[2001:db8:0:0:0:0:0:7]:4700"),
            ("192.0.2.7", "192.0.2.7:4700"),
        ] {
            let error = host_of(text).unwrap_err();
            assert!(error.contains(advice), "{text}: {error}");
        }
        assert_eq!(host_of("[2001:db8::7]:4700"), Ok("[2001:db8::7]"));
        assert_eq!(host_of("ship.example:4700"), Ok("ship.example"));
    }
}
