//! Ends of a relay: how many there may be, and one that is a socket of the kernel.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Mutex;
use std::task::Context;
use std::time::Duration;

use skyhaul_core::StreamError;
use skyhaul_net::relay::{Relay, RelayEnd, RelayOptions};
use skyhaul_net::{StppEndpoint, StppOptions};
use skyhaul_petra::relay::{Coupling, End, Side};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::oneshot;

use crate::split::BOUNDS;
use crate::support::{PORT, hop, loopback, pattern, receive, send, within};

/// Socket of the kernel. It is asked again after every turn, as a test may.
struct Kernel(TcpStream);

impl End for Kernel {
    fn read(&mut self, out: &mut [u8]) -> Result<Option<usize>, StreamError> {
        moved(self.0.read(out))
    }

    fn write(&mut self, data: &[u8]) -> Result<usize, StreamError> {
        Ok(moved(self.0.write(data))?.unwrap_or(0))
    }

    fn finish(&mut self) {
        let _ = self.0.shutdown(Shutdown::Write);
    }

    /// Nothing: what is not read closes the window.
    fn hold(&mut self, _: bool) {}

    fn unsent_bytes(&self) -> u64 {
        0
    }
}

fn moved(result: io::Result<usize>) -> Result<Option<usize>, StreamError> {
    match result {
        Ok(octets) => Ok(Some(octets)),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
        Err(_) => Err(StreamError::Closed(None)),
    }
}

/// Socket of the kernel whose peer is in doubt until it is said to be none other.
struct Doubted(Kernel, Mutex<Option<oneshot::Receiver<bool>>>);

impl RelayEnd for Doubted {
    fn work(&mut self, cx: &mut Context<'_>, coupling: &mut Coupling, side: Side) -> bool {
        self.0.work(cx, coupling, side)
    }

    fn confirmed(&self) -> impl Future<Output = bool> + Send {
        let word = self.1.lock().unwrap().take().unwrap();
        async { word.await.unwrap_or(false) }
    }

    fn part(&mut self) {
        self.0.part();
    }

    fn refuse(&mut self) {
        self.0.refuse();
    }
}

impl RelayEnd for Kernel {
    fn work(&mut self, cx: &mut Context<'_>, coupling: &mut Coupling, side: Side) -> bool {
        cx.waker().wake_by_ref();
        coupling.work_at(side, self)
    }

    fn part(&mut self) {}

    fn refuse(&mut self) {
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

fn relay(max_couplings: usize) -> Relay {
    Relay::new(RelayOptions { bounds: BOUNDS, max_couplings })
}

fn server(relay: &Relay, onwards: SocketAddr) -> StppEndpoint {
    let server = StppEndpoint::bind_stpp(loopback(), StppOptions::accepting(hop())).unwrap();
    let (serving, listener) = (relay.clone(), server.listen(PORT).unwrap());
    tokio::spawn(async move {
        let open = || {
            let socket = TcpStream::connect(onwards)?;
            socket.set_nonblocking(true)?;
            Ok(Kernel(socket))
        };
        serving.serve(listener, open).await;
    });
    server
}

#[tokio::test]
async fn a_socket_of_the_kernel_is_an_end() {
    within(60, async {
        let kernel = TcpListener::bind(loopback()).unwrap();
        let echo = kernel.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut socket, _) = kernel.accept().unwrap();
            let mut data = Vec::new();
            socket.read_to_end(&mut data).unwrap();
            socket.write_all(&data).unwrap();
        });
        let relay = relay(1);
        let server = server(&relay, echo);
        let client = StppEndpoint::client_stpp(server.local_addr(), StppOptions::accepting(hop())).unwrap();
        let mut near = client.open_stpp(server.local_addr(), PORT, hop()).unwrap();
        let data = pattern(200_000);
        send(&mut near, &data).await;
        assert!(receive(&mut near).await == data);
    })
    .await;
}

#[tokio::test]
async fn more_connections_than_there_may_be_couplings_are_refused_and_counted() {
    within(30, async {
        let kernel = TcpListener::bind(loopback()).unwrap();
        let relay = relay(1);
        let server = server(&relay, kernel.local_addr().unwrap());
        let client = StppEndpoint::client_stpp(server.local_addr(), StppOptions::accepting(hop())).unwrap();
        let mut first = client.open_stpp(server.local_addr(), PORT, hop()).unwrap();
        first.write_all(b"hello").await.unwrap();
        let hear = move || {
            let (mut socket, _) = kernel.accept().unwrap();
            socket.read_exact(&mut [0; 5]).unwrap();
            socket
        };
        let _socket = tokio::task::spawn_blocking(hear).await.unwrap();
        let mut second = client.open_stpp(server.local_addr(), PORT, hop()).unwrap();
        let _ = second.write_all(b"hello").await;
        assert!(second.read_u8().await.is_err(), "it was refused");
        let record = relay.record();
        assert_eq!((record.couplings, record.refused, relay.coupling_count()), (1, 1, 1), "{record:?}");
    })
    .await;
}

/// Both ends of a connection of the kernel's.
fn connected() -> (TcpStream, Kernel) {
    let listener = TcpListener::bind(loopback()).unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (far, _) = listener.accept().unwrap();
    far.set_nonblocking(true).unwrap();
    (near, Kernel(far))
}

#[tokio::test]
async fn what_is_in_doubt_is_passed_on_once_it_is_confirmed_and_never_otherwise() {
    within(30, async {
        for is_confirmed in [true, false] {
            let ((mut peer, near), (mut host, far)) = (connected(), connected());
            let (say, word) = oneshot::channel();
            let relay = relay(1);
            relay.couple(Doubted(near, Mutex::new(Some(word))), || Ok(far));
            peer.write_all(b"early").unwrap();
            peer.shutdown(Shutdown::Write).unwrap();
            host.set_nonblocking(true).unwrap();
            tokio::time::sleep(Duration::from_millis(100)).await;
            let nothing = host.read(&mut [0; 9]).unwrap_err();
            assert_eq!(nothing.kind(), ErrorKind::WouldBlock, "still in doubt");
            say.send(is_confirmed).unwrap();
            host.set_nonblocking(false).unwrap();
            let (host, heard) = tokio::task::spawn_blocking(move || {
                let mut heard = Vec::new();
                let _ = host.read_to_end(&mut heard); // a reset, or the end
                (host, heard)
            })
            .await
            .unwrap();
            assert_eq!(heard, if is_confirmed { &b"early"[..] } else { b"" });
            let _ = host.shutdown(Shutdown::Both);
            while relay.coupling_count() > 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            assert_eq!(relay.record().failed > 0, !is_confirmed, "{:?}", relay.record());
        }
    })
    .await;
}
