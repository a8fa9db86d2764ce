//! Other addresses of a receiver's name, asked beside one that does not answer [RFC 8305]. They are asked
//! at a port where nobody waits: who refuses that is there, and no transfer has begun that could arrive
//! twice.

use std::future::{pending, poll_fn};
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use skyhaul_core::CloseReason;
use skyhaul_net::EndpointOptions;
use skyhaul_stp::Config;

use crate::advice;
use crate::dial::Dial;

/// Port of STP where nobody waits.
const NOBODY_PORT: u16 = u16::MAX;
/// Silence of an address after which the others are asked.
const HASTE: Duration = Duration::from_secs(5);
/// Addresses asked at once; more of them are not asked before their turn.
const MAX_ASKED: usize = 8;

/// Address of `peers` that answers first, while the tried one `is_silent`. Ends never if it is not, or if
/// nobody answers.
pub(crate) async fn first_to_answer<D: Dial>(
    dial: &D,
    is_silent: impl Fn() -> bool,
    peers: Vec<SocketAddr>,
    config: Config,
) -> SocketAddr {
    tokio::time::sleep(HASTE).await;
    if !is_silent() {
        return pending().await;
    }
    let asked = peers.into_iter().take(MAX_ASKED).map(|peer| Box::pin(is_there(dial, peer, config.clone())));
    let mut asked: Vec<_> = asked.collect();
    while !asked.is_empty() {
        let answer = poll_fn(|cx| first_of(&mut asked, cx)).await;
        if let Some(peer) = answer
            && is_silent()
        {
            return peer;
        }
    }
    pending().await
}

/// What the first of these gives that ends; it is taken out.
fn first_of<F: Future + Unpin>(asked: &mut Vec<F>, cx: &mut Context<'_>) -> Poll<F::Output> {
    for place in 0..asked.len() {
        if let Poll::Ready(answer) = Pin::new(&mut asked[place]).poll(cx) {
            drop(asked.swap_remove(place));
            return Poll::Ready(answer);
        }
    }
    Poll::Pending
}

/// The address, if a machine that speaks STP answers there.
async fn is_there<D: Dial>(dial: &D, peer: SocketAddr, config: Config) -> Option<SocketAddr> {
    let options = EndpointOptions { accept: config.clone(), ..EndpointOptions::default() };
    let end = dial.end(peer, options).ok()?;
    match dial.connect(&end, peer, NOBODY_PORT, config).await {
        Ok(()) => Some(peer),
        Err(error) => {
            let reason = error.get_ref().and_then(|inner| inner.downcast_ref::<CloseReason>());
            reason.is_some_and(|&reason| advice::is_refusal(reason)).then_some(peer)
        }
    }
}
