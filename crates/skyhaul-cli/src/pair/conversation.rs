//! A pairing over a stream.

use std::time::Duration;

use skyhaul_association::pairing::{Pairing, PairingEvent};
use skyhaul_net::Stream;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use super::FAREWELL;

/// Octets that are read at once: more than any message has.
const BUFFER_BYTES: usize = 512;

/// Talks until something came of it. Who says nothing for as long as `silence` is gone.
pub(super) async fn converse(stream: &mut Stream, pairing: &mut Pairing, silence: Duration) -> PairingEvent {
    let mut buffer = [0; BUFFER_BYTES];
    loop {
        say(stream, pairing).await;
        if let Some(event) = pairing.poll_event() {
            return event;
        }
        match timeout(silence, stream.read(&mut buffer)).await {
            Ok(Ok(length @ 1..)) => pairing.handle(&buffer[..length]),
            _ => pairing.end(),
        }
    }
}

/// Says what is to be said.
async fn say(stream: &mut Stream, pairing: &mut Pairing) {
    while let Some(octets) = pairing.poll_transmit() {
        if stream.write_all(&octets).await.is_err() {
            pairing.end();
        }
    }
}

/// Says the last words; whether the other end has them.
pub(super) async fn part(mut stream: Stream, pairing: &mut Pairing) -> bool {
    say(&mut stream, pairing).await;
    matches!(timeout(FAREWELL, stream.shutdown()).await, Ok(Ok(())))
}
