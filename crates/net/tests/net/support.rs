//! Parts that the tests share.

use std::future::Future;
use std::io::Write as _;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use skyhaul_net::{Endpoint, EndpointOptions, Listener, OverUdp, Stream};
use skyhaul_stp::Config;
use tokio::io::AsyncReadExt as _;

pub(crate) use crate::streams::{receive, send};

/// The port of STP that servers listen on.
pub(crate) const PORT: u16 = 7;

/// Says that a test was skipped: aloud, past the test harness, which hides what a passing test prints.
pub(crate) fn skipped(why: &str) {
    let test = thread::current().name().unwrap_or("a test").to_string();
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {why}");
}

/// Fails the test if it takes longer.
pub(crate) async fn within<T>(seconds: u64, work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(seconds), work).await.expect("it takes too long")
}

/// Any free port of IPv4 loopback.
pub(crate) fn loopback() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

/// An endpoint that listens on [`PORT`].
pub(crate) fn server(options: EndpointOptions) -> (Endpoint, Listener) {
    server_at(loopback(), options)
}

/// Runs a server, plain or sealed, that reads a little, then goes without a word.
pub(crate) fn short_lived<P: OverUdp>(
    server: fn(EndpointOptions) -> (Endpoint<P>, Listener<P>),
) -> (SocketAddr, JoinHandle<()>) {
    let (tell, told) = std::sync::mpsc::channel();
    let thread = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (endpoint, listener) = runtime.block_on(async {
            let (endpoint, mut listener) = server(EndpointOptions::default());
            tell.send(endpoint.local_addr()).unwrap();
            let mut stream = listener.accept().await.unwrap();
            stream.read_exact(&mut vec![0; 100_000]).await.unwrap();
            std::mem::forget(stream); // no reset
            (endpoint, listener)
        });
        drop(runtime); // the socket is gone, nothing was said
        drop((endpoint, listener));
    });
    (told.recv().unwrap(), thread)
}

pub(crate) fn server_at(address: SocketAddr, options: EndpointOptions) -> (Endpoint, Listener) {
    let endpoint = Endpoint::bind(address, options).unwrap();
    let listener = endpoint.listen(PORT).unwrap();
    (endpoint, listener)
}

/// An endpoint for connections to `server`.
pub(crate) fn client(server: &Endpoint) -> Endpoint {
    Endpoint::client(server.local_addr(), EndpointOptions::default()).unwrap()
}

/// A client endpoint, and both ends of a connection that it opened.
pub(crate) async fn connected(server: &Endpoint, listener: &mut Listener) -> (Endpoint, Stream, Stream) {
    let client = client(server);
    let near = client.connect(server.local_addr(), PORT, Config::standard()).await.unwrap();
    let far = listener.accept().await.unwrap();
    (client, near, far)
}

/// Bytes that differ from place to place and from `key` to `key`.
pub(crate) fn pattern(key: u64, bytes: usize) -> Vec<u8> {
    let mut data = vec![0; bytes];
    skyhaul_core::Stream::new(key, "tests/pattern").fill(&mut data);
    data
}

/// A thread that carries datagrams between a client, which it learns, and a server.
pub(crate) struct Relay {
    /// Where the client writes to, and what the server sees.
    addresses: [SocketAddr; 2],
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// Work of a relay on each datagram: it gets the datagram and a way to send any bytes on.
pub(crate) type Tamper = Box<dyn FnMut(&[u8], &mut dyn FnMut(&[u8])) + Send>;

impl Relay {
    /// A relay that changes nothing.
    pub(crate) fn between(server: SocketAddr) -> Self {
        Self::at([loopback(); 2], server)
    }

    /// Pair on these addresses.
    pub(crate) fn at(addresses: [SocketAddr; 2], server: SocketAddr) -> Self {
        let pass = || -> Tamper { Box::new(|datagram, send| send(datagram)) };
        Self::tampering(addresses, server, pass(), pass())
    }

    /// A relay that does as it likes in either direction.
    pub(crate) fn tampering(
        addresses: [SocketAddr; 2],
        server: SocketAddr,
        there: Tamper,
        back: Tamper,
    ) -> Self {
        let [front, rear] = addresses.map(|address| Arc::new(UdpSocket::bind(address).unwrap()));
        let addresses = [front.local_addr().unwrap(), rear.local_addr().unwrap()];
        let stop = Arc::new(AtomicBool::new(false));
        let client = Arc::new(Mutex::new(None));
        let (learn, known) = (Arc::clone(&client), client);
        let threads = vec![
            carry(Arc::clone(&front), Arc::clone(&rear), Arc::clone(&stop), there, move |from| {
                *learn.lock().unwrap() = Some(from);
                Some(server)
            }),
            carry(rear, front, Arc::clone(&stop), back, move |_| *known.lock().unwrap()),
        ];
        Self { addresses, stop, threads }
    }

    pub(crate) fn front(&self) -> SocketAddr {
        self.addresses[0]
    }

    /// Stops and closes the sockets; gives their addresses.
    pub(crate) fn stop(self) -> [SocketAddr; 2] {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads {
            thread.join().unwrap();
        }
        self.addresses
    }
}

fn carry(
    from: Arc<UdpSocket>,
    to: Arc<UdpSocket>,
    stop: Arc<AtomicBool>,
    mut tamper: Tamper,
    target: impl Fn(SocketAddr) -> Option<SocketAddr> + Send + 'static,
) -> JoinHandle<()> {
    from.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    thread::spawn(move || {
        let mut room = vec![0; 65_536];
        while !stop.load(Ordering::Relaxed) {
            let Ok((bytes, source)) = from.recv_from(&mut room) else { continue };
            let Some(target) = target(source) else { continue };
            tamper(&room[..bytes], &mut |datagram| {
                let _ = to.send_to(datagram, target);
            });
        }
    })
}
