//! Addresses as people write them.

use std::net::SocketAddr;

use crate::failure::Failure;

/// Resolves ADDRESS:PORT; names are looked up.
pub(crate) async fn resolve(text: &str) -> Result<SocketAddr, Failure> {
    let Some((host, port)) = text.rsplit_once(':') else {
        return Err(Failure::usage(format!("'{text}' has no port; write ADDRESS:PORT, like 192.0.2.7:4700")));
    };
    if host.is_empty() || port.parse::<u16>().is_err() || port == "0" {
        return Err(Failure::usage(format!("'{text}' is no ADDRESS:PORT, like 192.0.2.7:4700")));
    }
    let found = tokio::net::lookup_host(text).await;
    let mut addresses =
        found.map_err(|e| Failure::new(format!("cannot find the address of '{host}': {e}")))?;
    addresses.next().ok_or_else(|| Failure::new(format!("'{host}' has no address")))
}
