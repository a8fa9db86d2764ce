//! A relay between an honest sender and the receiver. By its sockets an attacker has the addresses of both
//! ends; what it sees, it may tell him, or keep.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::wire;

/// Datagrams of the sender that are kept.
const MAX_KEPT: usize = 2000;
/// After which a thread looks whether it has to end.
const LOOK: Duration = Duration::from_millis(50);

#[derive(Debug)]
struct Way {
    /// Socket that the sender knows as the receiver.
    front: UdpSocket,
    /// Socket that the receiver knows as the sender.
    back: UdpSocket,
    receiver: SocketAddr,
    sender: Mutex<Option<SocketAddr>>,
    /// STP's port of the sender; the last one that was seen.
    port: Mutex<Option<u16>>,
    kept: Mutex<Vec<Vec<u8>>>,
    /// True if every datagram is sent back to whoever it came from, too.
    reflects: AtomicBool,
    is_over: AtomicBool,
}

/// Relay that runs until it is dropped.
#[derive(Debug)]
pub(crate) struct Relay {
    way: Arc<Way>,
    threads: Vec<JoinHandle<()>>,
}

impl Relay {
    pub(crate) fn start(receiver: SocketAddr) -> io::Result<Self> {
        let (front, back) = (wire::socket([77, 0, 1])?, wire::socket([77, 0, 2])?);
        for socket in [&front, &back] {
            socket.set_read_timeout(Some(LOOK))?;
        }
        let way = Arc::new(Way {
            front,
            back,
            receiver,
            sender: Mutex::default(),
            port: Mutex::default(),
            kept: Mutex::default(),
            reflects: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
        });
        let (there, back) = (Arc::clone(&way), Arc::clone(&way));
        let threads =
            vec![std::thread::spawn(move || there.forward()), std::thread::spawn(move || back.back())];
        Ok(Self { way, threads })
    }

    /// Address that the sender has to send to.
    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.way.front.local_addr()
    }

    /// STP's port of the sender, once it has sent something.
    pub(crate) fn port(&self) -> Option<u16> {
        *self.way.port.lock().ok()?
    }

    /// Socket that speaks in the sender's name.
    pub(crate) fn as_sender(&self) -> &UdpSocket {
        &self.way.back
    }

    /// Socket that speaks in the receiver's name, and the sender's address, once that has sent something.
    pub(crate) fn as_receiver(&self) -> Option<(&UdpSocket, SocketAddr)> {
        Some((&self.way.front, (*self.way.sender.lock().ok()?)?))
    }

    /// Sends everything back from now on, too.
    pub(crate) fn reflect(&self) {
        self.way.reflects.store(true, Ordering::Relaxed);
    }

    /// Datagrams of the sender, in order: the first 2000.
    pub(crate) fn kept(&self) -> Vec<Vec<u8>> {
        self.way.kept.lock().map(|kept| kept.clone()).unwrap_or_default()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.way.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Way {
    /// Datagrams that arrive at `socket`.
    fn each(&self, socket: &UdpSocket, mut take: impl FnMut(&[u8], SocketAddr)) {
        let mut buffer = vec![0; 1 << 16];
        while !self.is_over.load(Ordering::Relaxed) {
            if let Ok((bytes, from)) = socket.recv_from(&mut buffer) {
                take(&buffer[..bytes], from);
            }
        }
    }

    /// From the sender to the receiver.
    fn forward(&self) {
        self.each(&self.front, |datagram, from| {
            self.notice(datagram, from);
            let _ = self.back.send_to(datagram, self.receiver);
            if self.reflects.load(Ordering::Relaxed) {
                let _ = self.front.send_to(datagram, from);
            }
        });
    }

    fn notice(&self, datagram: &[u8], from: SocketAddr) {
        if let (Ok(mut sender), Ok(mut port), Ok(mut kept)) =
            (self.sender.lock(), self.port.lock(), self.kept.lock())
        {
            *sender = Some(from);
            *port = wire::segment(datagram).map(|segment| segment.source_port).or(*port);
            if kept.len() < MAX_KEPT {
                kept.push(datagram.to_vec());
            }
        }
    }

    /// From the receiver to the sender.
    fn back(&self) {
        self.each(&self.back, |datagram, from| {
            let sender = self.sender.lock().map(|sender| *sender);
            if let (Ok(Some(sender)), true) = (sender, from == self.receiver) {
                let _ = self.front.send_to(datagram, sender);
            }
            if self.reflects.load(Ordering::Relaxed) {
                let _ = self.back.send_to(datagram, from);
            }
        });
    }
}
