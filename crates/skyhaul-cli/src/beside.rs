//! Other addresses of a receiver's name, asked beside one that does not answer [RFC 8305]. They are asked at a
//! port where nobody waits: who refuses that is there, and no transfer has begun that could arrive twice.

use std::future::pending;
use std::net::SocketAddr;
use std::time::Duration;

use skyhaul_core::CloseReason;
use skyhaul_net::{Endpoint, EndpointOptions, Monitor};
use skyhaul_stp::Config;
use tokio::task::JoinSet;

use crate::advice;

/// Port of STP where nobody waits.
const NOBODY_PORT: u16 = u16::MAX;
/// Silence of an address after which the others are asked.
const HASTE: Duration = Duration::from_secs(5);
/// Addresses asked at once; more of them are not asked before their turn.
const MAX_ASKED: usize = 8;

/// Address of `peers` that answers first, while the connection of `tried` hears nothing. Ends never if that
/// does, or if nobody answers.
pub(crate) async fn first_to_answer(tried: Monitor, peers: Vec<SocketAddr>, config: Config) -> SocketAddr {
    tokio::time::sleep(HASTE).await;
    let is_silent = || tried.stats().is_some_and(|stats| stats.received_packets == 0);
    let mut asked = JoinSet::new();
    if is_silent() {
        for peer in peers.into_iter().take(MAX_ASKED) {
            asked.spawn(is_there(peer, config.clone()));
        }
    }
    while let Some(answer) = asked.join_next().await {
        if let Ok(Some(peer)) = answer
            && is_silent()
        {
            return peer;
        }
    }
    pending().await
}

/// The address, if a machine that speaks STP answers there.
async fn is_there(peer: SocketAddr, config: Config) -> Option<SocketAddr> {
    let options = EndpointOptions { accept: config.clone(), ..EndpointOptions::default() };
    let endpoint = Endpoint::client(peer, options).ok()?;
    match endpoint.connect(peer, NOBODY_PORT, config).await {
        Ok(_) => Some(peer),
        Err(error) => {
            let reason = error.get_ref().and_then(|inner| inner.downcast_ref::<CloseReason>());
            reason.is_some_and(|&reason| advice::is_refusal(reason)).then_some(peer)
        }
    }
}
