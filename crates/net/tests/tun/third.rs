//! smoltcp as a host at the other end of a wire: a third stack, by other people.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp::{CongestionControl, RecvError, Socket, SocketBuffer, State};
use smoltcp::time::{Duration, Instant};
use smoltcp::wire::{HardwareAddress, IpCidr};
use tokio::sync::oneshot;

use crate::support::{PORT, address, address6, soon};

/// Its number in the network.
pub(crate) const THIRD: u8 = 2;
/// Time after which a test has failed: a bound, not a measure.
const PATIENCE: Duration = Duration::from_secs(25);
/// It looks at its sockets this often at least.
const LOOK: Duration = Duration::from_millis(5);
const MTU_BYTES: usize = 1500;

/// Sees every packet of a wire.
pub(crate) type Watcher = Box<dyn FnMut(&[u8]) + Send>;

/// How its sockets are.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// Bytes that it keeps for a reader, and for the wire. Beyond 65 535 it asks for a window scale.
    pub(crate) buffer_bytes: usize,
    pub(crate) timestamps: bool,
}

impl Default for Shape {
    fn default() -> Self {
        Self { buffer_bytes: 256 << 10, timestamps: true }
    }
}

/// A host.
pub(crate) struct Third {
    interface: Interface,
    sockets: SocketSet<'static>,
    wire: Wire,
    ends_at: Instant,
}

/// Such a host at work, on a thread of its own. It goes when this is dropped.
pub(crate) struct Working<T> {
    result: oneshot::Receiver<T>,
    stop: Arc<AtomicBool>,
}

/// A host at `end` that does `work`, and from then on what its sockets want.
pub(crate) fn third<T: Send + 'static>(
    end: OwnedFd,
    work: impl FnOnce(&mut Third) -> T + Send + 'static,
) -> Working<T> {
    watched(end, Box::new(|_| {}), work)
}

/// Runs the work with somebody who sees its packets.
pub(crate) fn watched<T: Send + 'static>(
    end: OwnedFd,
    watcher: Watcher,
    work: impl FnOnce(&mut Third) -> T + Send + 'static,
) -> Working<T> {
    let (tell, result) = oneshot::channel();
    let stop = Arc::new(AtomicBool::new(false));
    let is_over = Arc::clone(&stop);
    thread::spawn(move || {
        let mut third = Third::new(Wire { end, watcher });
        let _ = tell.send(work(&mut third));
        third.until(|_| is_over.load(Ordering::Relaxed));
    });
    Working { result, stop }
}

impl<T> Working<T> {
    /// Result of the work.
    pub(crate) async fn done(&mut self) -> T {
        soon(&mut self.result).await.expect("smoltcp's side has failed")
    }
}

impl<T> Drop for Working<T> {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl Third {
    fn new(mut wire: Wire) -> Self {
        let now = Instant::now();
        let mut interface = Interface::new(Config::new(HardwareAddress::Ip), &mut wire, now);
        interface.update_ip_addrs(|addresses| {
            addresses.push(IpCidr::new(address(THIRD).into(), 24)).unwrap();
            addresses.push(IpCidr::new(address6(THIRD.into()).into(), 64)).unwrap();
        });
        Self { interface, sockets: SocketSet::new(Vec::new()), wire, ends_at: now + PATIENCE }
    }

    fn socket(&mut self, shape: Shape) -> SocketHandle {
        let buffer = || SocketBuffer::new(vec![0; shape.buffer_bytes]);
        let mut socket = Socket::new(buffer(), buffer());
        socket.set_congestion_control(CongestionControl::Reno);
        if shape.timestamps {
            socket.set_tsval_generator(Some(|| Instant::now().total_millis() as u32));
        }
        self.sockets.add(socket)
    }

    /// A socket that waits for one connection.
    pub(crate) fn listen(&mut self, shape: Shape) -> SocketHandle {
        let handle = self.socket(shape);
        self.get(handle).listen(PORT).unwrap();
        handle
    }

    /// A socket that opens a connection from this port.
    pub(crate) fn connect(&mut self, to: SocketAddr, port: u16, shape: Shape) -> SocketHandle {
        let handle = self.socket(shape);
        let socket = self.sockets.get_mut::<Socket<'_>>(handle);
        socket.connect(self.interface.context(), to, port).unwrap();
        handle
    }

    pub(crate) fn get(&mut self, handle: SocketHandle) -> &mut Socket<'static> {
        self.sockets.get_mut(handle)
    }

    pub(crate) fn state(&mut self, handle: SocketHandle) -> State {
        self.get(handle).state()
    }

    /// Does what there is to do, and waits a little for more.
    fn step(&mut self) {
        let now = Instant::now();
        assert!(now < self.ends_at, "smoltcp takes too long");
        self.interface.poll(now, &mut self.wire, &mut self.sockets);
        let wait = self.interface.poll_delay(now, &self.sockets).unwrap_or(LOOK).min(LOOK);
        let wait = Timespec { tv_sec: 0, tv_nsec: (wait.total_micros() * 1000) as _ };
        let _ = poll(&mut [PollFd::new(&self.wire.end, PollFlags::IN)], Some(&wait));
    }

    /// Works until this is so.
    pub(crate) fn until(&mut self, mut done: impl FnMut(&mut Self) -> bool) {
        while !done(self) {
            self.step();
        }
    }

    /// Works so long.
    pub(crate) fn linger(&mut self, milliseconds: u64) {
        let end = Instant::now() + Duration::from_millis(milliseconds);
        self.until(|_| Instant::now() >= end);
    }

    /// Works until the socket has a peer.
    pub(crate) fn established(&mut self, handle: SocketHandle) {
        self.until(|third| third.get(handle).may_send());
    }

    /// Reads what the peer says until it ends.
    pub(crate) fn read(&mut self, handle: SocketHandle) -> Vec<u8> {
        self.exchange(handle, None)
    }

    /// Says this, if it shall, and ends its direction, while it reads what the peer says until that ends.
    pub(crate) fn exchange(&mut self, handle: SocketHandle, say: Option<&[u8]>) -> Vec<u8> {
        let (mut left, mut heard, mut is_over) = (say, Vec::new(), false);
        self.until(|third| {
            let socket = third.get(handle);
            if let Some(data) = left {
                let rest = &data[socket.send_slice(data).unwrap()..];
                left = Some(rest).filter(|rest| !rest.is_empty());
                if left.is_none() {
                    socket.close();
                }
            }
            is_over = is_over || hear(socket, &mut heard);
            left.is_none() && is_over
        });
        heard
    }

    /// Says this while it hears so many bytes, and ends nothing. Works until all of it has arrived.
    pub(crate) fn talk(&mut self, handle: SocketHandle, mut say: &[u8], expected_bytes: usize) -> Vec<u8> {
        let mut heard = Vec::new();
        self.until(|third| {
            let socket = third.get(handle);
            say = &say[socket.send_slice(say).unwrap()..];
            let is_end = hear(socket, &mut heard);
            assert!(!is_end, "the peer has ended");
            heard.len() >= expected_bytes && say.is_empty() && socket.send_queue() == 0
        });
        heard
    }

    /// Says what it hears, on all of these at once, until the peers have ended and all is said.
    pub(crate) fn echo(&mut self, handles: &[SocketHandle]) {
        let mut left: Vec<_> = handles.iter().map(|&handle| (handle, Vec::new())).collect();
        self.until(|third| {
            left.retain_mut(|(handle, heard)| {
                let socket = third.get(*handle);
                if !socket.may_send() {
                    return true; // not open yet
                }
                // What is not said yet is not read on: the window closes.
                let is_end = heard.is_empty() && hear(socket, heard);
                let said = socket.send_slice(heard).unwrap();
                heard.drain(..said);
                if is_end && heard.is_empty() {
                    socket.close();
                    return false;
                }
                true
            });
            left.is_empty()
        });
        self.until(|third| handles.iter().all(|&handle| third.get(handle).state() == State::Closed));
    }
}

/// Reads what there is; true if that was the end.
fn hear(socket: &mut Socket<'_>, heard: &mut Vec<u8>) -> bool {
    let mut room = [0; 8192];
    loop {
        match socket.recv_slice(&mut room) {
            Ok(0) => return false,
            Ok(length) => heard.extend_from_slice(&room[..length]),
            Err(RecvError::Finished) => return true,
            Err(RecvError::InvalidState) => panic!("the connection broke off: {}", socket.state()),
        }
    }
}

/// One packet a read and one a write.
struct Wire {
    end: OwnedFd,
    watcher: Watcher,
}

impl Device for Wire {
    type RxToken<'a> = Packet;
    type TxToken<'a> = &'a mut Wire;

    fn receive(&mut self, _now: Instant) -> Option<(Packet, &mut Wire)> {
        let mut room = vec![0; 64 << 10];
        let length = rustix::io::read(&self.end, &mut room[..]).ok().filter(|&length| length > 0)?;
        room.truncate(length);
        (self.watcher)(&room);
        Some((Packet(room), self))
    }

    fn transmit(&mut self, _now: Instant) -> Option<&mut Wire> {
        Some(self)
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = MTU_BYTES;
        capabilities
    }
}

struct Packet(Vec<u8>);

impl RxToken for Packet {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, work: F) -> R {
        work(&self.0)
    }
}

impl TxToken for &mut Wire {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, bytes: usize, work: F) -> R {
        let mut packet = vec![0; bytes];
        let result = work(&mut packet);
        (self.watcher)(&packet);
        // What the wire does not take is lost.
        let _ = rustix::io::write(&self.end, &packet);
        result
    }
}
