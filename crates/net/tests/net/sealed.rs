//! Sealed endpoints over real sockets.

use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use skyhaul_core::envelope::Mode;
use skyhaul_core::{CloseReason, Instant, MS, SECOND};
use skyhaul_net::association::aead::TAG_BYTES;
use skyhaul_net::association::{
    Associations, Event, HEAD_BYTES, Identity, PeerSettings, PublicKey, Secret, Token,
};
use skyhaul_net::{Clock, EndpointOptions, Listener, SealedEndpoint, SealedStp, Stream, machine_config};
use skyhaul_stp::Config;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{
    PORT, Relay, Tamper, client, loopback, pattern, receive, send, server, short_lived, within,
};

/// Ends of a pair, and a stranger, by their numbers.
pub(crate) const NEAR: u8 = 1;
pub(crate) const FAR: u8 = 2;
const STRANGER: u8 = 3;

pub(crate) fn key(end: u8) -> PublicKey {
    identity(end).public()
}

fn identity(end: u8) -> Identity {
    Identity::new(Secret::new([end; 32]))
}

pub(crate) fn settings(of: u8) -> PeerSettings {
    let (key, psk) = (key(of), Secret::new([0x33; 32]));
    PeerSettings { key, psk, mode: Mode::Encrypted, token: Token::NONE, reserved: 0 }
}

/// Associations of an end that knows others.
pub(crate) fn associations(end: u8, knows: &[PeerSettings]) -> Associations {
    let seed = skyhaul_store::random_secret().unwrap();
    let mut associations = Associations::new(machine_config(), identity(end), seed);
    for peer in knows {
        associations.add_peer(peer.clone()).unwrap();
    }
    associations
}

pub(crate) fn sealed_server(options: EndpointOptions) -> (SealedEndpoint, Listener<SealedStp>) {
    sealed_server_at(loopback(), options)
}

pub(crate) fn sealed_server_at(
    address: SocketAddr,
    options: EndpointOptions,
) -> (SealedEndpoint, Listener<SealedStp>) {
    let endpoint =
        SealedEndpoint::bind_sealed(address, options, associations(FAR, &[settings(NEAR)])).unwrap();
    let listener = endpoint.listen(PORT).unwrap();
    (endpoint, listener)
}

pub(crate) fn sealed_client(address: SocketAddr) -> SealedEndpoint {
    let options = EndpointOptions::default();
    SealedEndpoint::client_sealed(address, options, associations(NEAR, &[settings(FAR)])).unwrap()
}

/// Message 1 of a handshake of the near end's, without token or counter.
pub(crate) fn first_message() -> Vec<u8> {
    let mut near = associations(NEAR, &[]);
    let far = near.add_peer(settings(FAR)).unwrap();
    let id = near.open(Instant::ZERO, far, loopback()).unwrap();
    near.seal(Instant::ZERO, id, &mut [0; HEAD_BYTES + TAG_BYTES]).unwrap();
    near.poll_transmit().unwrap().datagram
}

pub(crate) fn patient(ns: u64) -> Config {
    Config { connect_give_up_ns: Some(ns), ..Config::standard() }
}

/// Relay, and all that it carried.
pub(crate) fn overheard(server: SocketAddr) -> (Relay, Arc<Mutex<Vec<Vec<u8>>>>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ear = || {
        let heard = Arc::clone(&heard);
        Box::new(move |datagram: &[u8], send: &mut dyn FnMut(&[u8])| {
            heard.lock().unwrap().push(datagram.to_vec());
            send(datagram);
        })
    };
    (Relay::tampering([loopback(); 2], server, ear(), ear()), heard)
}

const LINE: &[u8] = b"nobody else may read this line. ";

/// Datagrams that show a part of the line.
fn readable(heard: &Mutex<Vec<Vec<u8>>>) -> usize {
    let shows = |datagram: &&Vec<u8>| datagram.windows(16).any(|part| part == &LINE[..16]);
    heard.lock().unwrap().iter().filter(shows).count()
}

#[tokio::test]
async fn megabytes_cross_sealed_and_nobody_on_the_way_can_read_them() {
    within(60, async {
        let data = LINE.repeat(100_000);
        let (server, mut listener) = sealed_server(EndpointOptions::default());
        let (relay, heard) = overheard(server.local_addr());
        let client = sealed_client(relay.front());
        let mut near = client.open_to(key(FAR), relay.front(), PORT, Config::standard()).unwrap();
        let serving = async {
            let mut far = listener.accept().await.unwrap();
            let seal = server.seal_of(far.monitor().id().unwrap()).unwrap();
            assert_eq!((seal.key, seal.mode), (key(NEAR), Mode::Encrypted));
            assert!(far.confirmed().await);
            let received = receive(&mut far).await;
            send(&mut far, LINE).await;
            received
        };
        let (back, received) = tokio::join!(
            async {
                send(&mut near, &data).await;
                receive(&mut near).await
            },
            serving
        );
        assert!(received == data && back == LINE);
        assert_eq!(readable(&heard), 0);
        assert!(heard.lock().unwrap().iter().all(|datagram| datagram[0] == 0x24), "the envelope's mode");
        assert_eq!(server.seal_counters().forged + client.seal_counters().forged, 0);
        assert_eq!(server.counters().bad_envelopes + client.counters().bad_envelopes, 0);
        relay.stop();
    })
    .await;
}

#[tokio::test]
async fn the_search_for_readable_octets_finds_those_of_a_plain_transfer() {
    within(60, async {
        let (server, mut listener) = server(EndpointOptions::default());
        let (relay, heard) = overheard(server.local_addr());
        let client = skyhaul_net::Endpoint::client(relay.front(), EndpointOptions::default()).unwrap();
        let mut near = client.open(relay.front(), PORT, Config::standard()).unwrap();
        let serving = async { receive(&mut listener.accept().await.unwrap()).await };
        let data = LINE.repeat(1000);
        tokio::join!(send(&mut near, &data), serving);
        assert!(readable(&heard) > 20);
        relay.stop();
    })
    .await;
}

#[tokio::test]
async fn plain_datagrams_are_dropped_and_counted() {
    within(30, async {
        let (sealed, _listener) = sealed_server(EndpointOptions::default());
        let plain = skyhaul_net::Endpoint::client(sealed.local_addr(), EndpointOptions::default()).unwrap();
        let error = plain.connect(sealed.local_addr(), PORT, patient(700 * MS)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut, "{error}");
        let counters = sealed.counters();
        assert!(counters.bad_envelopes > 0 && counters.bad_envelopes == counters.received_datagrams);
        assert_eq!((counters.sent_datagrams, sealed.connection_count()), (0, 0));
    })
    .await;
}

#[tokio::test]
async fn a_plain_end_takes_no_sealed_datagram() {
    within(30, async {
        let (plain, _listener) = server(EndpointOptions::default());
        let sealed = sealed_client(plain.local_addr());
        let connecting = sealed.connect_to(key(FAR), plain.local_addr(), PORT, patient(700 * MS));
        assert_eq!(connecting.await.unwrap_err().kind(), ErrorKind::TimedOut);
        assert!(plain.counters().bad_envelopes > 0 && plain.counters().sent_datagrams == 0);
        drop(client(&plain));
    })
    .await;
}

#[tokio::test]
async fn a_stranger_meets_silence_and_is_told_when_its_patience_ends() {
    within(30, async {
        let (server, _listener) = sealed_server(EndpointOptions::default());
        let (address, options) = (server.local_addr(), EndpointOptions::default());
        let stranger =
            SealedEndpoint::client_sealed(address, options, associations(STRANGER, &[settings(FAR)]))
                .unwrap();
        let clock = Clock::start();
        let error = stranger.connect_to(key(FAR), address, PORT, patient(1500 * MS)).await.unwrap_err();
        assert!(clock.now().as_ns() >= 1500 * MS);
        assert_eq!(error.to_string(), CloseReason::ConnectTimeout.to_string());
        assert!(server.seal_counters().refused > 0);
        assert_eq!((server.counters().sent_datagrams, server.connection_count()), (0, 0));
        let unknown = stranger.open_to(key(NEAR), address, PORT, Config::standard()).unwrap_err();
        assert_eq!(unknown.to_string(), "this endpoint does not know the peer");
    })
    .await;
}

#[tokio::test]
async fn nobody_at_the_address_is_told_at_once_though_the_socket_hears_everybody() {
    within(30, async {
        let vacant = UdpSocket::bind(loopback()).unwrap().local_addr().unwrap();
        let client = sealed_client(vacant);
        let error = within(2, client.connect_to(key(FAR), vacant, PORT, Config::standard())).await;
        assert_eq!(error.unwrap_err().to_string(), CloseReason::Unreachable.to_string());
        assert_eq!(client.counters().refusals, 1);
    })
    .await;
}

/// Client that has this to say of its peer, with the counters that it asks for.
fn client_with(address: SocketAddr, known: &PeerSettings) -> SealedEndpoint {
    let known_by = associations(NEAR, std::slice::from_ref(known));
    let client = SealedEndpoint::client_sealed(address, EndpointOptions::default(), known_by).unwrap();
    let Some(Event::Reserve { peer, up_to }) = client.take_event() else { panic!("no counters") };
    client.change_associations(|associations| associations.reserved(peer, known.reserved..up_to));
    client
}

/// Says hello, and gives what it learned for the next time.
async fn token_of(server: &SealedEndpoint, listener: &mut Listener<SealedStp>) -> Token {
    let client = client_with(server.local_addr(), &settings(FAR));
    let mut near = client.open_to(key(FAR), server.local_addr(), PORT, Config::standard()).unwrap();
    near.write_all(b"hello").await.unwrap();
    let (_far, token) = tokio::join!(listener.accept(), async {
        loop {
            if let Event::Token { token, .. } = client.next_event().await.unwrap() {
                return token;
            }
        }
    });
    client.close().await;
    token
}

#[tokio::test]
async fn who_holds_a_token_is_heard_before_it_hears_anything() {
    within(30, async {
        let (server, mut listener) = sealed_server(EndpointOptions::default());
        let token = token_of(&server, &mut listener).await;
        let (pass, swallow): (Tamper, Tamper) =
            (Box::new(|datagram, send| send(datagram)), Box::new(|_, _| {}));
        let relay = Relay::tampering([loopback(); 2], server.local_addr(), pass, swallow);
        for (token, is_heard) in [(Token::NONE, false), (token, true)] {
            let known = PeerSettings { token, reserved: 1000, ..settings(FAR) };
            let client = client_with(relay.front(), &known);
            let mut near = client.open_to(key(FAR), relay.front(), PORT, Config::standard()).unwrap();
            near.write_all(b"hello").await.unwrap();
            let accepted = tokio::time::timeout(Duration::from_millis(800), listener.accept()).await;
            assert_eq!(accepted.is_ok(), is_heard);
            if let Ok(far) = accepted {
                let far = far.unwrap();
                let confirming = tokio::time::timeout(Duration::from_millis(300), far.confirmed()).await;
                assert!(confirming.is_err(), "the keys are not proven");
            }
        }
        relay.stop();
    })
    .await;
}

async fn write_for_ever(mut stream: Stream<SealedStp>) -> std::io::Error {
    let data = vec![7; 100_000];
    loop {
        if let Err(error) = stream.write_all(&data).await {
            return error;
        }
    }
}

#[tokio::test]
async fn connections_to_a_receiver_that_restarted_end_by_its_resets() {
    within(60, async {
        let (address, thread) = short_lived(sealed_server);
        let client = sealed_client(address);
        let stream = client.connect_to(key(FAR), address, PORT, Config::standard()).await.unwrap();
        let writing = tokio::spawn(write_for_ever(stream));
        tokio::task::spawn_blocking(|| thread.join().unwrap()).await.unwrap();
        let (server, _listener) = sealed_server_at(address, EndpointOptions::default());
        let clock = Clock::start();
        let error = writing.await.unwrap();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}");
        assert!(clock.now().as_ns() < 15 * SECOND, "instead of 600 s");
        drop(server);
    })
    .await;
}

#[tokio::test]
async fn refusals_end_nothing_that_is_protected() {
    within(60, async {
        let (server, mut listener) = sealed_server(EndpointOptions::default());
        let address = server.local_addr();
        let relay = Relay::between(address);
        let client = sealed_client(relay.front());
        let mut near = client.connect_to(key(FAR), relay.front(), PORT, Config::standard()).await.unwrap();
        let mut far = listener.accept().await.unwrap();
        near.write_all(b"before").await.unwrap();
        far.read_exact(&mut [0; 6]).await.unwrap();
        let addresses = relay.stop();
        // A plain connection ends after ten refusals and three seconds.
        while client.counters().refusals < 12 {
            near.write_all(b"into the void").await.unwrap();
            let reading = tokio::time::timeout(Duration::from_millis(400), near.read_u8());
            assert!(reading.await.is_err(), "{:?}", near.close_reason());
        }
        let relay = Relay::at(addresses, address);
        near.write_all(b"after").await.unwrap();
        let mut heard = Vec::new();
        while !heard.ends_with(b"after") {
            heard.push(far.read_u8().await.unwrap());
        }
        relay.stop();
    })
    .await;
}

#[tokio::test]
async fn a_sealed_end_hears_from_both_families_on_one_socket() {
    if UdpSocket::bind("[::1]:0").is_err() {
        return crate::support::skipped("this machine has no IPv6");
    }
    within(30, async {
        let options = EndpointOptions::default();
        let (server, mut listener) = sealed_server_at("[::]:0".parse().unwrap(), options);
        for host in ["127.0.0.2", "::1"] {
            let peer = SocketAddr::new(host.parse().unwrap(), server.local_addr().port());
            let client = sealed_client(peer);
            let mut near = client.open_to(key(FAR), peer, PORT, Config::standard()).unwrap();
            let data = pattern(1, 100_000);
            let serving = async {
                let mut far = listener.accept().await.unwrap();
                (far.peer_addr().is_ipv4(), receive(&mut far).await)
            };
            let ((), (is_ipv4, received)) = tokio::join!(send(&mut near, &data), serving);
            assert!(is_ipv4 == peer.is_ipv4() && received == data, "{host}");
        }
    })
    .await;
}
