//! The batch that is being sent. It stays here while the socket would block, and is sent in parts
//! when the device cannot split it.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::task::{Context, Poll};

use skyhaul_core::{Engine, Instant, Transmit};

use super::sources::Sources;
use super::wire::Wire;
use crate::watch::Sink;
use crate::{Counters, Protection};

/// Largest payload of a UDP datagram over IPv4, which a batch must not exceed either.
const MAX_BATCH_BYTES: usize = 65_507;
/// `EMSGSIZE`, `EIO`, `EINVAL`: the numbers of Linux on every architecture.
const EMSGSIZE: i32 = rustix::io::Errno::MSGSIZE.raw_os_error();
const EIO: i32 = rustix::io::Errno::IO.raw_os_error();
const EINVAL: i32 = rustix::io::Errno::INVAL.raw_os_error();

/// Reports of a refusal in a row after which a datagram is given up.
const MAX_REFUSALS: u64 = 3;

/// A batch of datagrams to one peer.
pub(super) struct Outbox {
    buffer: Vec<u8>,
    /// Bytes of the buffer that are done with.
    done: usize,
    transmit: Option<Transmit<SocketAddr>>,
    largest_datagram: usize,
}

/// How sending a batch went.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flushed {
    /// Times at which the system said that nobody receives at the peer's address.
    pub(super) refusals: u64,
    /// The socket takes nothing at present; it wakes the driver when it does.
    pub(super) is_blocked: bool,
}

impl Outbox {
    pub(super) fn new(mtu_bytes: u32) -> Self {
        let largest_datagram = (mtu_bytes as usize).clamp(1, MAX_BATCH_BYTES);
        Self { buffer: Vec::new(), done: 0, transmit: None, largest_datagram }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.transmit.is_none()
    }

    /// Takes the next batch from the engine; false if there is none.
    pub(super) fn fill(
        &mut self,
        now: Instant,
        engine: &mut skyhaul_stp::Endpoint,
        wire: &Wire,
        sink: &mut Sink,
    ) -> bool {
        let max_segments = wire.max_segments().min(MAX_BATCH_BYTES / self.largest_datagram).max(1);
        self.transmit = engine.poll_transmit(now, &mut self.buffer, max_segments, sink);
        self.done = 0;
        !self.is_empty()
    }

    /// Puts each datagram into its envelope.
    pub(super) fn seal(&mut self, protection: Protection) {
        let Some(transmit) = self.transmit else { return };
        self.buffer.chunks_mut(transmit.segment_bytes.max(1)).for_each(|datagram| protection.seal(datagram));
    }

    /// Sends what is left of the batch, as far as the socket takes it.
    pub(super) fn flush(
        &mut self,
        cx: &mut Context<'_>,
        wire: &Wire,
        sources: &Sources,
        counters: &mut Counters,
    ) -> Flushed {
        let mut flushed = Flushed::default();
        let Some(Transmit { way: remote, segment_bytes, .. }) = self.transmit else { return flushed };
        let mut refused_in_a_row = 0;
        while self.done < self.buffer.len() {
            let part = next_part(&self.buffer[self.done..], segment_bytes, wire.max_segments());
            let datagrams = part.len().div_ceil(segment_bytes.max(1));
            match wire.poll_send(cx, remote, sources.of(remote), segment_bytes, part) {
                Poll::Pending => {
                    counters.send_waits += 1;
                    flushed.is_blocked = true;
                    return flushed;
                }
                // The report of an earlier datagram: this one was not sent.
                Poll::Ready(Err(error)) if is_refusal(&error) && refused_in_a_row < MAX_REFUSALS => {
                    refused_in_a_row += 1;
                    flushed.refusals += 1;
                    continue;
                }
                // The device cannot split batches: from now on they are sent one by one.
                Poll::Ready(Err(error)) if datagrams > 1 && is_no_offload(&error, wire) => continue,
                Poll::Ready(result) => count(counters, &result, datagrams as u64, part.len() as u64),
            }
            refused_in_a_row = 0;
            self.done += part.len();
        }
        self.transmit = None;
        flushed
    }
}

/// What one system call may send.
fn next_part(rest: &[u8], segment_bytes: usize, max_segments: usize) -> &[u8] {
    &rest[..rest.len().min(segment_bytes.max(1) * max_segments.max(1))]
}

fn is_refusal(error: &io::Error) -> bool {
    error.kind() == ErrorKind::ConnectionRefused
}

/// `quinn-udp` has just stopped to use the offload.
fn is_no_offload(error: &io::Error, wire: &Wire) -> bool {
    matches!(error.raw_os_error(), Some(EIO | EINVAL)) && wire.max_segments() == 1
}

fn count(counters: &mut Counters, result: &io::Result<()>, datagrams: u64, bytes: u64) {
    match result {
        Ok(()) => {
            counters.send_calls += 1;
            counters.sent_datagrams += datagrams;
            counters.sent_bytes += bytes;
        }
        Err(error) if error.raw_os_error() == Some(EMSGSIZE) => counters.too_large += datagrams,
        Err(_) => counters.send_failures += datagrams,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_cut_where_datagrams_end() {
        let batch = [0; 1000];
        assert_eq!(next_part(&batch, 300, 64).len(), 1000);
        assert_eq!(next_part(&batch, 300, 1).len(), 300);
        assert_eq!(next_part(&batch[900..], 300, 1).len(), 100);
    }

    #[test]
    fn what_the_system_refuses_is_counted_and_not_fatal() {
        let mut counters = Counters::default();
        count(&mut counters, &Err(io::Error::from_raw_os_error(EMSGSIZE)), 3, 3000);
        count(&mut counters, &Err(io::Error::from(ErrorKind::NetworkUnreachable)), 2, 3000);
        count(&mut counters, &Ok(()), 1, 500);
        assert_eq!((counters.too_large, counters.send_failures), (3, 2));
        assert_eq!((counters.sent_datagrams, counters.sent_bytes, counters.send_calls), (1, 500, 1));
    }
}
