//! Peers that are not there, do not answer, or vanish.

use std::io::ErrorKind;
use std::net::UdpSocket;
use std::thread;
use std::time::Duration;

use skyhaul_core::{CloseReason, MS, SECOND};
use skyhaul_net::{Clock, Endpoint, EndpointOptions, Limits};
use skyhaul_stp::Config;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{PORT, Relay, client, connected, loopback, server, short_lived, within};

/// A port at which nobody receives.
fn vacant() -> std::net::SocketAddr {
    UdpSocket::bind(loopback()).unwrap().local_addr().unwrap()
}

#[tokio::test]
async fn nobody_at_the_address() {
    within(30, async {
        let peer = vacant();
        let client = Endpoint::client(peer, EndpointOptions::default()).unwrap();
        let error = within(2, client.connect(peer, PORT, Config::standard())).await.unwrap_err();
        assert_eq!(client.counters().sent_datagrams, 1, "the first refusal is heard");
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        assert_eq!(error.to_string(), CloseReason::Unreachable.to_string());
        let mut held = client.open(peer, PORT, Config::standard()).unwrap();
        held.write_all(b"anybody there?").await.unwrap();
        let error = within(2, held.read_u8()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        assert!(client.counters().refusals >= 2);
    })
    .await;
}

#[tokio::test]
async fn nobody_listens_on_the_port() {
    within(30, async {
        let (server, _listener) = server(EndpointOptions::default());
        let client = client(&server);
        let error = client.connect(server.local_addr(), 99, Config::standard()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused, "{error}");
    })
    .await;
}

#[tokio::test]
async fn a_dropped_listener_refuses() {
    within(30, async {
        let (server, listener) = server(EndpointOptions::default());
        let client = client(&server);
        assert!(server.listen(8).is_ok(), "another port");
        let again = server.listen(PORT).unwrap_err();
        assert_eq!(again.kind(), ErrorKind::AddrInUse, "{again}");
        // Accepted by the engine, not yet taken by the application.
        let mut early = client.connect(server.local_addr(), PORT, Config::standard()).await.unwrap();
        drop(listener);
        assert_eq!(early.read_u8().await.unwrap_err().kind(), ErrorKind::ConnectionReset);
        let late = client.connect(server.local_addr(), PORT, Config::standard()).await;
        assert_eq!(late.unwrap_err().kind(), ErrorKind::ConnectionRefused);
        drop(server.listen(8).unwrap());
    })
    .await;
}

#[tokio::test]
async fn a_full_server_refuses() {
    within(30, async {
        let limits = Limits { max_connections: 1, ..Limits::default() };
        let (server, mut listener) = server(EndpointOptions { limits, ..Default::default() });
        let (client, _near, _far) = connected(&server, &mut listener).await;
        let error = client.connect(server.local_addr(), PORT, Config::standard()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused, "{error}");
    })
    .await;
}

#[tokio::test]
async fn a_peer_that_never_answers() {
    within(30, async {
        let silent = UdpSocket::bind(loopback()).unwrap();
        let peer = silent.local_addr().unwrap();
        let client = Endpoint::client(peer, EndpointOptions::default()).unwrap();
        let config = || Config { connect_give_up_ns: Some(700 * MS), ..Config::standard() };
        let clock = Clock::start();
        let error = client.connect(peer, PORT, config()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut, "{error}");
        assert!(clock.now().as_ns() >= 700 * MS);
        let mut held = client.open(peer, PORT, config()).unwrap();
        held.write_all(b"hello?").await.unwrap();
        assert_eq!(held.shutdown().await.unwrap_err().kind(), ErrorKind::TimedOut);
    })
    .await;
}

async fn write_for_ever(client: &Endpoint, peer: std::net::SocketAddr, config: Config) -> std::io::Error {
    let mut stream = client.connect(peer, PORT, config).await.unwrap();
    let data = vec![7; 100_000];
    loop {
        if let Err(error) = stream.write_all(&data).await {
            return error;
        }
    }
}

#[tokio::test]
async fn a_peer_that_vanishes_is_noticed_by_its_silence() {
    within(30, async {
        let (peer, thread) = short_lived(server);
        // Bound, so that reports of the system are not heard.
        let client = Endpoint::bind(loopback(), EndpointOptions::default()).unwrap();
        let config = Config { give_up_ns: Some(2 * SECOND), ..Config::standard() };
        let error = write_for_ever(&client, peer, config).await;
        assert_eq!(error.kind(), ErrorKind::TimedOut, "{error}");
        thread.join().unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_peer_that_vanishes_is_noticed_by_persistent_refusals() {
    within(60, async {
        let (peer, thread) = short_lived(server);
        let client = Endpoint::client(peer, EndpointOptions::default()).unwrap();
        let error = write_for_ever(&client, peer, Config::standard()).await;
        assert_eq!(error.to_string(), CloseReason::Unreachable.to_string());
        assert!(client.counters().refusals >= 10);
        thread.join().unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_few_refusals_do_no_harm_to_an_established_connection() {
    within(60, async {
        let (server, mut listener) = server(EndpointOptions::default());
        let address = server.local_addr();
        let relay = Relay::between(address);
        let client = Endpoint::client(relay.front(), EndpointOptions::default()).unwrap();
        let mut near = client.connect(relay.front(), PORT, Config::standard()).await.unwrap();
        let mut far = listener.accept().await.unwrap();
        let addresses = relay.stop();
        near.write_all(b"into the void").await.unwrap();
        tokio::time::timeout(Duration::from_millis(1500), near.read_u8()).await.unwrap_err();
        assert!(client.counters().refusals > 0);
        let relay = Relay::at(addresses, address);
        far.read_exact(&mut [0; 13]).await.unwrap();
        assert_eq!(near.close_reason(), None);
        relay.stop();
    })
    .await;
}

#[tokio::test]
async fn a_peer_that_left_with_its_last_word_lost_makes_no_failure() {
    within(30, async {
        let (tell, told) = std::sync::mpsc::channel();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let (endpoint, listener) = runtime.block_on(async {
                let (endpoint, mut listener) = server(EndpointOptions::default());
                tell.send(endpoint.local_addr()).unwrap();
                let mut stream = listener.accept().await.unwrap();
                assert_eq!(stream.read_u8().await.unwrap(), b'?');
                stream.write_all(b"all of it").await.unwrap();
                stream.shutdown().await.unwrap(); // confirmed
                std::mem::forget(stream); // no reset
                (endpoint, listener)
            });
            drop(runtime); // the socket is gone, nothing was said
            drop((endpoint, listener));
        });
        let peer = told.recv().unwrap();
        let client = Endpoint::client(peer, EndpointOptions::default()).unwrap();
        let mut stream = client.open(peer, PORT, Config::standard()).unwrap();
        stream.write_u8(b'?').await.unwrap();
        let mut heard = Vec::new();
        stream.read_to_end(&mut heard).await.unwrap();
        thread.join().unwrap();
        within(5, stream.shutdown()).await.unwrap();
        assert_eq!((&heard[..], stream.close_reason()), (&b"all of it"[..], None));
    })
    .await;
}
