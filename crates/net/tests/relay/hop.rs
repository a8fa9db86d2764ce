//! STPP over UDP, plain and sealed: the satellite hop by itself.

use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::thread::{self, JoinHandle};

use skyhaul_core::endpoint::Peer;
use skyhaul_core::{CloseReason, ResetReason};
use skyhaul_net::{EmbeddedLink, Listener, OverUdp, SealedStppEndpoint, StppEndpoint, StppOptions, Stream};
use skyhaul_petra::stpp::{Config, Endpoint, State};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{
    FAR, NEAR, PORT, associations, hop, key, loopback, pattern, receive, satellite, send, within,
};

fn options() -> StppOptions {
    StppOptions::accepting(hop())
}

fn server() -> (StppEndpoint, Listener<Endpoint>) {
    let server = StppEndpoint::bind_stpp(loopback(), options()).unwrap();
    let listener = server.listen(PORT).unwrap();
    (server, listener)
}

/// Sends both ways at once, and checks that all of it arrives.
async fn exchange<P: OverUdp<Peer: Peer>>(near: Stream<P>, mut listener: Listener<P>) -> Stream<P> {
    let (up, down) = (pattern(600_000), pattern(400_000));
    let serving = async {
        let (mut reader, mut writer) = listener.accept().await.unwrap().into_split();
        let (received, ()) = tokio::join!(receive(&mut reader), send(&mut writer, &down));
        received
    };
    let (mut reader, mut writer) = tokio::io::split(near);
    let opening = async { tokio::join!(receive(&mut reader), send(&mut writer, &up)).0 };
    let (back, there) = tokio::join!(opening, serving);
    assert!(there == up && back == down, "{} there, {} back", there.len(), back.len());
    reader.unsplit(writer)
}

#[tokio::test]
async fn stpp_crosses_a_link_that_loses_packets_both_ways() {
    within(60, async {
        let (server, listener) = server();
        let link = EmbeddedLink::start(satellite(0.02), 1, server.local_addr()).unwrap();
        let client = StppEndpoint::client_stpp(link.front_addr(), options()).unwrap();
        let near = client.open_stpp(link.front_addr(), PORT, hop()).unwrap();
        let near = exchange(near, listener).await;
        assert_eq!(near.state(), State::Lingering);
        assert!(near.stats().retransmitted_packets > 0, "the link loses packets: {:?}", near.stats());
        let report = link.stop();
        let lost = [report.forward, report.reverse].map(|direction| direction.counters.dropped.total());
        assert!(lost.iter().all(|&lost| lost > 0), "{lost:?}");
        assert_eq!(server.counters().bad_envelopes + client.counters().bad_envelopes, 0);
        assert_eq!((server.stats().undecodable, client.stats().undecodable), (0, 0));
    })
    .await;
}

#[tokio::test]
async fn a_hop_between_paired_machines_is_sealed() {
    within(60, async {
        let known = associations(FAR, NEAR);
        let server = SealedStppEndpoint::bind_sealed_stpp(loopback(), options(), known).unwrap();
        let listener = server.listen(PORT).unwrap();
        let link = EmbeddedLink::start(satellite(0.02), 1, server.local_addr()).unwrap();
        let known = associations(NEAR, FAR);
        let client = SealedStppEndpoint::client_sealed_stpp(link.front_addr(), options(), known).unwrap();
        let near = client.open_stpp_to(key(FAR), link.front_addr(), PORT, hop()).unwrap();
        let near = exchange(near, listener).await;
        let seal = client.seal_of(near.monitor().id().unwrap()).unwrap();
        assert_eq!(seal.key, key(FAR));
        assert!(seal.aead.is_some());
        assert_eq!(server.seal_counters().forged + client.seal_counters().forged, 0);
    })
    .await;
}

#[tokio::test]
async fn strangers_get_no_hop_to_a_sealed_endpoint() {
    within(30, async {
        let known = associations(FAR, NEAR);
        let server = SealedStppEndpoint::bind_sealed_stpp(loopback(), options(), known).unwrap();
        let _listener = server.listen(PORT).unwrap();
        let client = StppEndpoint::client_stpp(server.local_addr(), options()).unwrap();
        let hasty = Config { max_tries: 3, ..hop() };
        let mut near = client.open_stpp(server.local_addr(), PORT, hasty).unwrap();
        assert_eq!(near.read_u8().await.unwrap_err().kind(), ErrorKind::TimedOut);
        assert!(server.counters().bad_envelopes >= 3);
    })
    .await;
}

#[tokio::test]
async fn a_hop_to_a_port_where_nobody_receives_fails_at_once() {
    within(30, async {
        let vacant = UdpSocket::bind(loopback()).unwrap().local_addr().unwrap();
        let client = StppEndpoint::client_stpp(vacant, options()).unwrap();
        let mut near = client.open_stpp(vacant, PORT, hop()).unwrap();
        assert_eq!(within(2, near.read_u8()).await.unwrap_err().kind(), ErrorKind::ConnectionRefused);
    })
    .await;
}

#[tokio::test]
async fn what_is_no_pdu_is_counted_and_changes_nothing() {
    within(30, async {
        let (server, mut listener) = server();
        let stranger = UdpSocket::bind(loopback()).unwrap();
        for length in 0..200_u8 {
            let noise: Vec<u8> = [0x20].into_iter().chain(0..length).collect();
            stranger.send_to(&noise, server.local_addr()).unwrap();
        }
        let client = StppEndpoint::client_stpp(server.local_addr(), options()).unwrap();
        let mut near = client.open_stpp(server.local_addr(), PORT, hop()).unwrap();
        near.write_all(b"hello").await.unwrap();
        let mut heard = [0; 5];
        listener.accept().await.unwrap().read_exact(&mut heard).await.unwrap();
        assert_eq!((&heard, server.stats().undecodable), (b"hello", 200));
    })
    .await;
}

/// Starts a server in a runtime of its own, and ends that without a word once `octets` were read.
fn short_lived(octets: usize) -> (SocketAddr, JoinHandle<()>) {
    let (tell, told) = std::sync::mpsc::channel();
    let thread = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let kept = runtime.block_on(async {
            let (server, mut listener) = server();
            tell.send(server.local_addr()).unwrap();
            let mut stream = listener.accept().await.unwrap();
            stream.read_exact(&mut vec![0; octets]).await.unwrap();
            std::mem::forget(stream); // no reset
            (server, listener)
        });
        drop(runtime); // the socket is gone, nothing was said
        drop(kept);
    });
    (told.recv().unwrap(), thread)
}

#[tokio::test]
async fn a_relay_that_restarts_tells_peers_that_it_has_forgotten_and_takes_new_openings() {
    within(30, async {
        let (address, thread) = short_lived(6);
        // Of a socket that is not connected nobody tells that the port is vacant meanwhile.
        let client = StppEndpoint::bind_stpp(loopback(), options()).unwrap();
        let mut old = client.open_stpp(address, PORT, hop()).unwrap();
        old.write_all(b"before").await.unwrap();
        tokio::task::spawn_blocking(|| thread.join().unwrap()).await.unwrap();
        let server = StppEndpoint::bind_stpp(address, options()).unwrap();
        let mut listener = server.listen(PORT).unwrap();
        old.write_all(b"to nobody").await.unwrap();
        let error = old.read_u8().await.unwrap_err();
        let reason = error.get_ref().and_then(|error| error.downcast_ref::<CloseReason>());
        let forgotten = CloseReason::Reset(Some(ResetReason::UnknownConnection));
        assert_eq!(reason, Some(&forgotten), "{error}");
        assert!(server.stats().unknown > 0);
        let mut new = client.open_stpp(address, PORT, hop()).unwrap();
        new.write_all(b"after!").await.unwrap();
        let mut room = [0; 6];
        listener.accept().await.unwrap().read_exact(&mut room).await.unwrap();
        assert_eq!(&room, b"after!");
    })
    .await;
}
