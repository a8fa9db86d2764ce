//! An attack under way: its target, when it ends, what it sent.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::machines::Machines;
use crate::relay::Relay;
use crate::wire::ip_bytes;

/// Datagrams between two sleeps of a flood, at most: what a late sleeper makes up for.
const MAX_BURST: u64 = 400;

/// What an attack works with.
#[derive(Debug)]
pub(crate) struct Field<'a> {
    pub(crate) receiver: SocketAddr,
    pub(crate) binary: &'a Path,
    /// Relay that the honest sender's packets pass, if the scene has one.
    relay: Option<&'a Relay>,
    /// Machines that are peers, if the scene is sealed.
    machines: Option<&'a Machines>,
    is_over: AtomicBool,
    stands: AtomicBool,
    datagrams: AtomicU64,
    octets: AtomicU64,
    achieved: Mutex<Option<String>>,
}

impl<'a> Field<'a> {
    pub(crate) fn new(
        receiver: SocketAddr,
        binary: &'a Path,
        relay: Option<&'a Relay>,
        machines: Option<&'a Machines>,
    ) -> Self {
        Self {
            receiver,
            binary,
            relay,
            machines,
            is_over: AtomicBool::new(false),
            stands: AtomicBool::new(false),
            datagrams: AtomicU64::new(0),
            octets: AtomicU64::new(0),
            achieved: Mutex::new(None),
        }
    }

    /// Relay of a scene that has one.
    pub(crate) fn relay(&self) -> io::Result<&'a Relay> {
        self.relay.ok_or_else(|| io::Error::other("this attack needs a relay in its scene"))
    }

    /// Machines of a sealed scene.
    pub(crate) fn machines(&self) -> io::Result<&'a Machines> {
        self.machines.ok_or_else(|| io::Error::other("this attack needs a sealed scene"))
    }

    /// False once the attack has to end.
    pub(crate) fn goes_on(&self) -> bool {
        !self.is_over.load(Ordering::Relaxed)
    }

    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Waits for so long, or until the attack has to end.
    pub(crate) fn wait(&self, time: Duration) {
        const NAP: Duration = Duration::from_millis(20);
        let begun = Instant::now();
        while self.goes_on() && begun.elapsed() < time {
            std::thread::sleep(NAP.min(time));
        }
    }

    /// The attack has its effect by now, if it has any: a newcomer may come.
    pub(crate) fn stand(&self) {
        self.stands.store(true, Ordering::Relaxed);
    }

    pub(crate) fn stands(&self) -> bool {
        self.stands.load(Ordering::Relaxed)
    }

    /// Counts what was sent.
    pub(crate) fn sent(&self, datagrams: u64, octets: u64) {
        self.datagrams.fetch_add(datagrams, Ordering::Relaxed);
        self.octets.fetch_add(octets, Ordering::Relaxed);
    }

    /// Datagrams and IP octets that were sent.
    pub(crate) fn count(&self) -> (u64, u64) {
        (self.datagrams.load(Ordering::Relaxed), self.octets.load(Ordering::Relaxed))
    }

    /// What came of it beside what is measured of every attack.
    pub(crate) fn achieve(&self, what: String) {
        if let Ok(mut achieved) = self.achieved.lock() {
            *achieved = Some(what);
        }
    }

    pub(crate) fn achieved(&self) -> Option<String> {
        self.achieved.lock().ok()?.clone()
    }

    /// Sends a datagram to the receiver; one that the system refuses is none.
    pub(crate) fn send(&self, socket: &UdpSocket, datagram: &[u8]) {
        self.send_to(socket, datagram, self.receiver);
    }

    pub(crate) fn send_to(&self, socket: &UdpSocket, datagram: &[u8], to: SocketAddr) {
        if socket.send_to(datagram, to).is_ok() {
            self.sent(1, ip_bytes(datagram));
        }
    }

    /// Calls `send` so many times a second with 0, 1, 2, ... until it has been called `count` times, or the
    /// attack has to end.
    pub(crate) fn pace(&self, per_s: u64, count: u32, mut send: impl FnMut(u32)) {
        let (begun, mut sent, mut forgiven) = (Instant::now(), 0, 0);
        while self.goes_on() && sent < count {
            let due = (begun.elapsed().as_nanos() * u128::from(per_s) / 1_000_000_000) as u64 - forgiven;
            let late = due.saturating_sub(u64::from(sent)).saturating_sub(MAX_BURST);
            forgiven += late;
            while u64::from(sent) < due - late && sent < count {
                send(sent);
                sent += 1;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// A flood of datagrams to the receiver, so many a second, by these sockets in turn, without an end. It
    /// stands after a second.
    pub(crate) fn flood(&self, per_s: u64, sockets: &[UdpSocket], mut make: impl FnMut(u32) -> Vec<u8>) {
        self.pace(per_s, u32::MAX, |i| {
            self.send(&sockets[i as usize % sockets.len()], &make(i));
            if u64::from(i) == per_s {
                self.stand();
            }
        });
    }
}
