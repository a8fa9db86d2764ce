//! Somebody on the wire who sees every packet, and decides what becomes of it.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use etherparse::{IpHeaders, NetHeaders, PacketHeaders, TcpHeader, TransportHeader};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Where a packet comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum From {
    Kernel,
    Ours,
}

/// Packets that go on, with the side that they seem to come from.
pub(crate) type Out = Vec<(From, Vec<u8>)>;

/// Decides what leaves for a packet that came.
pub(crate) trait Watcher: FnMut(From, Vec<u8>, &mut Out) + Send {}
impl<F: FnMut(From, Vec<u8>, &mut Out) + Send> Watcher for F {}

/// The thread of a watcher.
pub(crate) struct Tap {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Tap {
    /// `ends`: the kernel's and ours.
    pub(crate) fn start(ends: [OwnedFd; 2], watcher: impl Watcher + 'static) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&stop);
        let thread = thread::spawn(move || run(&ends, watcher, &is_over));
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let result = self.thread.take().unwrap().join();
        assert!(result.is_ok() || thread::panicking(), "the watcher has failed");
    }
}

fn run(ends: &[OwnedFd; 2], mut watcher: impl Watcher, is_over: &AtomicBool) {
    let mut room = vec![0; 64 << 10];
    let mut out = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let mut fds = [PollFd::new(&ends[0], PollFlags::IN), PollFd::new(&ends[1], PollFlags::IN)];
        let _ = poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 20_000_000 }));
        for (from, end) in [From::Kernel, From::Ours].into_iter().zip(ends) {
            for _ in 0..64 {
                match rustix::io::read(end, &mut room[..]) {
                    Ok(length) if length > 0 => watcher(from, room[..length].to_vec(), &mut out),
                    Err(rustix::io::Errno::AGAIN) => break,
                    _ => return,
                }
            }
        }
        for (from, packet) in out.drain(..) {
            let to = if from == From::Kernel { &ends[1] } else { &ends[0] };
            let _ = rustix::io::write(to, &packet);
        }
    }
}

/// The TCP header in a packet, if it is a whole one.
pub(crate) fn tcp(packet: &[u8]) -> Option<TcpHeader> {
    match PacketHeaders::from_ip_slice(packet).ok()?.transport? {
        TransportHeader::Tcp(header) => Some(header),
        _ => None,
    }
}

/// Payload bytes of a packet.
pub(crate) fn payload_bytes(packet: &[u8]) -> usize {
    PacketHeaders::from_ip_slice(packet).map_or(0, |headers| headers.payload.slice().len())
}

/// The ECN field of a packet.
pub(crate) fn ecn(packet: &[u8]) -> u8 {
    match PacketHeaders::from_ip_slice(packet).ok().and_then(|headers| headers.net) {
        Some(NetHeaders::Ipv4(header, _)) => header.ecn.value(),
        Some(NetHeaders::Ipv6(header, _)) => header.traffic_class & 3,
        _ => 0,
    }
}

/// The packet with "congestion experienced" in its header.
pub(crate) fn marked(packet: &[u8]) -> Vec<u8> {
    let (mut headers, payload) = IpHeaders::from_slice(packet).unwrap();
    match &mut headers {
        IpHeaders::Ipv4(header, _) => {
            header.ecn = etherparse::IpEcn::CongestionExperienced;
            header.header_checksum = header.calc_header_checksum();
        }
        IpHeaders::Ipv6(header, _) => header.traffic_class |= 3,
    }
    let mut packet = Vec::new();
    headers.write(&mut packet).unwrap();
    packet.extend_from_slice(payload.payload);
    packet
}
