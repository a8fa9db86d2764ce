//! A path that two relays split: TCP with ACK stop on both wires, STPP over an emulated link between them.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::thread::{self, JoinHandle};

use skyhaul_core::SECOND;
use skyhaul_net::relay::{Relay, RelayOptions};
use skyhaul_net::tun::{TcpListener, TcpStream, TunHost, TunOptions};
use skyhaul_net::{EmbeddedLink, SealedStppEndpoint, StppEndpoint, StppOptions, UtlStream};
use skyhaul_petra::relay::{Bounds, Control, Record};
use skyhaul_petra::{stpp, utl};
use skyhaul_tcp::Config;
use tokio::sync::oneshot;

use crate::support::{FAR, NEAR, PORT, associations, hop, key, loopback, satellite, wire};

/// Bounds of the buffers at relays: small, so that senders are held.
pub(crate) const BOUNDS: Bounds =
    Bounds { threshold_bytes: 16_000, size_bytes: 64_000, control: Control::Hold };
/// Silence of the far relay after which the near one gives the hop up.
const GIVE_UP_NS: u64 = 2 * SECOND;

pub(crate) const UTL: utl::Config = utl::Config {
    batch_bytes: 10_000,
    window_batches: 20,
    timeout_ns: 10 * SECOND,
    send_limit_bytes: 1 << 20,
};

pub(crate) fn options() -> StppOptions {
    StppOptions::accepting(hasty_hop())
}

pub(crate) fn hasty_hop() -> stpp::Config {
    stpp::Config { give_up_ns: Some(GIVE_UP_NS), ..hop() }
}

pub(crate) fn relay() -> Relay {
    Relay::new(RelayOptions { bounds: BOUNDS, ..RelayOptions::default() })
}

/// Host at one end of a wire, with LTL. Wires have networks of their own.
pub(crate) fn host(wire: u8, number: u8, fd: OwnedFd) -> TunHost {
    let accept = Config::petra();
    TunHost::over(fd, TunOptions { accept, ..TunOptions::new(vec![address(wire, number)]) }).unwrap()
}

pub(crate) fn address(wire: u8, number: u8) -> IpAddr {
    IpAddr::from([10, 77, wire, number])
}

/// Part of the path in a thread and runtime of its own, which can end without a word.
pub(crate) struct Node {
    kill: oneshot::Sender<()>,
    thread: JoinHandle<Record>,
}

impl Node {
    /// Starts a node: `make` gives its relay, and what is to be kept as long as it lives.
    pub(crate) fn start<T>(make: impl FnOnce() -> (Relay, T) + Send + 'static) -> Self {
        let (kill, killed) = oneshot::channel();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let (relay, kept) = runtime.block_on(async {
                let made = make();
                let _ = killed.await;
                made
            });
            drop(runtime); // nothing is sent any more
            drop(kept);
            relay.record()
        });
        Self { kill, thread }
    }

    /// Ends the node without a word; gives what its relay has counted.
    pub(crate) async fn kill(self) -> Record {
        let _ = self.kill.send(());
        tokio::task::spawn_blocking(|| self.thread.join().unwrap()).await.unwrap()
    }
}

/// Relay at the end of wire 0, which goes on over the hop.
pub(crate) fn near_relay(
    wired: TunHost,
    onwards: impl FnMut() -> io::Result<skyhaul_net::Stream<stpp::Endpoint>> + Send + 'static,
) -> (Relay, TunHost) {
    let (relay, listener) = (relay(), wired.listen(PORT, 8).unwrap());
    let serving = relay.clone();
    tokio::spawn(async move { serving.serve(listener, onwards).await });
    (relay, wired)
}

/// Relay at the end of the hop, which goes on over wire 1.
pub(crate) fn far_relay(hop: &StppEndpoint, wired: TunHost) -> (Relay, TunHost) {
    let (relay, listener) = (relay(), hop.listen(PORT).unwrap());
    let (serving, onwards) = (relay.clone(), wired.clone());
    tokio::spawn(async move { serving.serve(listener, || onwards.open(far_host(), Config::petra())).await });
    (relay, wired)
}

pub(crate) fn far_host() -> SocketAddr {
    SocketAddr::new(address(1, 2), PORT)
}

/// Path with all that is on it.
pub(crate) struct Split {
    pub(crate) near: TunHost,
    pub(crate) near_relay: Node,
    pub(crate) link: EmbeddedLink,
    pub(crate) far_relay: Node,
    pub(crate) listener: TcpListener,
    pub(crate) far: TunHost,
}

impl Split {
    /// Path whose satellite link loses so many packets.
    pub(crate) fn new(loss: f64) -> Self {
        let ((near, near_relay), (far_relay, far)) = (wire(), wire());
        Self::over([near, near_relay, far_relay, far], loss)
    }

    /// Path whose hosts and relays have these ends of wires, in the order of the path.
    pub(crate) fn over(ends: [OwnedFd; 4], loss: f64) -> Self {
        let [near_end, near_relay_end, far_relay_end, far_end] = ends;
        let (near, far) = (host(0, 1, near_end), host(1, 2, far_end));
        let listener = far.listen(PORT, 8).unwrap();
        let (tell, told) = std::sync::mpsc::channel();
        let far_relay = Node::start(move || {
            let hop = StppEndpoint::bind_stpp(loopback(), options()).unwrap();
            tell.send(hop.local_addr()).unwrap();
            let (relay, wired) = far_relay(&hop, host(1, 1, far_relay_end));
            (relay, (hop, wired))
        });
        let link = EmbeddedLink::start(satellite(loss), 1, told.recv().unwrap()).unwrap();
        let front = link.front_addr();
        let near_relay = Node::start(move || {
            let hop = StppEndpoint::client_stpp(front, options()).unwrap();
            near_relay(host(0, 2, near_relay_end), move || hop.open_stpp(front, PORT, hasty_hop()))
        });
        Self { near, near_relay, link, far_relay, listener, far }
    }

    /// Connection of the near host.
    pub(crate) fn open(&self) -> TcpStream {
        self.near.open(SocketAddr::new(address(0, 2), PORT), Config::petra()).unwrap()
    }

    pub(crate) async fn accept(&mut self) -> TcpStream {
        self.listener.accept().await.unwrap()
    }

    pub(crate) fn open_utl(&self) -> UtlStream {
        UtlStream::over(self.open(), UTL)
    }

    pub(crate) async fn accept_utl(&mut self) -> UtlStream {
        UtlStream::over(self.accept().await, UTL)
    }
}

/// Relays of a path whose hop is sealed, in this runtime: the near and the far host, and what else lives.
pub(crate) fn sealed(loss: f64) -> (TunHost, TcpListener, [Relay; 2], SealedStppEndpoint, impl Sized) {
    let ((near_end, near_relay_end), (far_relay_end, far_end)) = (wire(), wire());
    let (near, far) = (host(0, 1, near_end), host(1, 2, far_end));
    let known = associations(FAR, NEAR);
    let server = SealedStppEndpoint::bind_sealed_stpp(loopback(), options(), known).unwrap();
    let link = EmbeddedLink::start(satellite(loss), 1, server.local_addr()).unwrap();
    let (relays, front) = ([relay(), relay()], link.front_addr());
    let known = associations(NEAR, FAR);
    let client = SealedStppEndpoint::client_sealed_stpp(front, options(), known).unwrap();
    let (wired, onwards, serving) = (host(0, 2, near_relay_end), client.clone(), relays[0].clone());
    let listener = wired.listen(PORT, 8).unwrap();
    tokio::spawn(async move {
        serving.serve(listener, || onwards.open_stpp_to(key(FAR), front, PORT, hasty_hop())).await;
    });
    let (listener, serving) = (server.listen(PORT).unwrap(), relays[1].clone());
    let onwards = host(1, 1, far_relay_end);
    tokio::spawn(async move { serving.serve(listener, || onwards.open(far_host(), Config::petra())).await });
    (near, far.listen(PORT, 8).unwrap(), relays, client, (server, link, wired, far))
}
