//! The kernel's sockets.

use std::io;
use std::net::SocketAddr;

use skyhaul_net::tun::{TcpStream as OurStream, TunHost};
use skyhaul_tcp::Config;
use socket2::{Domain, Socket, Type};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::lab::{KERNEL, ours};

/// A kernel's socket whose congestion control is `controller`, before anything is done with it.
fn socket(address: SocketAddr, controller: Option<&str>, change: impl FnOnce(&Socket)) -> Socket {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None).unwrap();
    if let Some(name) = controller {
        socket.set_tcp_congestion(name.as_bytes()).unwrap_or_else(|e| panic!("the kernel's {name}: {e}"));
    }
    socket.set_nonblocking(true).unwrap();
    change(&socket);
    socket
}

/// A kernel's listener.
pub(crate) fn listen(
    family: usize,
    controller: Option<&str>,
    change: impl FnOnce(&Socket),
) -> (TcpListener, SocketAddr) {
    let address = SocketAddr::new(KERNEL[family], 0);
    let socket = socket(address, controller, change);
    socket.bind(&address.into()).unwrap();
    socket.listen(256).unwrap();
    let listener = TcpListener::from_std(socket.into()).unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// The kernel connects.
pub(crate) async fn connect(
    to: SocketAddr,
    controller: Option<&str>,
    change: impl FnOnce(&Socket),
) -> io::Result<TcpStream> {
    let socket = socket(to, controller, change);
    TcpSocket::from_std_stream(socket.into()).connect(to).await
}

/// The kernel connects to our host, which listens from now on: our end and the kernel's.
pub(crate) async fn from_kernel(
    host: &TunHost,
    family: usize,
    controller: Option<&str>,
) -> (OurStream, TcpStream) {
    let mut listener = host.listen(ours(family).port(), 8).unwrap();
    let (stream, kernel) = tokio::join!(listener.accept(), connect(ours(family), controller, |_| {}));
    (stream.unwrap(), kernel.unwrap())
}

/// Our host connects to the kernel: our end and the kernel's.
pub(crate) async fn to_kernel(
    host: &TunHost,
    family: usize,
    controller: Option<&str>,
    config: Config,
) -> (OurStream, TcpStream) {
    let (listener, address) = listen(family, controller, |_| {});
    let (stream, kernel) = tokio::join!(host.connect(address, config), listener.accept());
    (stream.unwrap(), kernel.unwrap().0)
}
