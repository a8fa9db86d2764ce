//! What the tests share.

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use skyhaul_net::{Endpoint, EndpointOptions, Listener, Stream};
use skyhaul_stp::Config;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// The port of STP that servers listen on.
pub(crate) const PORT: u16 = 7;

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

/// Writes everything and ends our direction.
pub(crate) async fn send(stream: &mut (impl AsyncWriteExt + Unpin), data: &[u8]) {
    stream.write_all(data).await.unwrap();
    stream.shutdown().await.unwrap();
}

/// Reads to the end.
pub(crate) async fn receive(stream: &mut (impl AsyncReadExt + Unpin)) -> Vec<u8> {
    let mut data = Vec::new();
    stream.read_to_end(&mut data).await.unwrap();
    data
}
