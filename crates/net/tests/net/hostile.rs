//! Strangers, damage, duplicates and replays.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use skyhaul_core::Stream as Random;
use skyhaul_net::{Endpoint, EndpointOptions, Protection};
use skyhaul_stp::Config;
use skyhaul_stp::segment::decode;
use tokio::io::AsyncReadExt;

use crate::support::{PORT, Relay, Tamper, loopback, pattern, receive, send, server, within};

/// Octets of the envelope in front of a segment.
const ENVELOPE_BYTES: usize = Protection::Plain.head_bytes() as usize;
/// Pieces of the few thousand cut off that may be segments by chance. More are a decoder that takes pieces.
const MAX_LUCKY_PIECES: u64 = 4;

/// Of a hundred datagrams about thirty are tampered with, five of them so that the original is gone.
fn vandal(key: u64) -> Tamper {
    let mut random = Random::new(key, "tests/vandal");
    let mut seen: Vec<Vec<u8>> = Vec::new();
    Box::new(move |datagram, send| {
        if seen.len() < 200 {
            seen.push(datagram.to_vec());
        }
        let mut copy = datagram.to_vec();
        let place = random.below(copy.len() as u64) as usize;
        match random.below(100) {
            0..5 => return flip(&mut copy, place, &mut random, send),
            5..10 => flip(&mut copy, place, &mut random, send),
            10..15 => send(datagram),
            15..20 => send(&datagram[..place]),
            20..25 => {
                random.fill(&mut copy);
                send(&copy);
            }
            25..30 => send(&seen[random.below(seen.len() as u64) as usize]),
            _ => {}
        }
        send(datagram);
    })
}

fn flip(copy: &mut [u8], place: usize, random: &mut Random, send: &mut dyn FnMut(&[u8])) {
    copy[place] ^= 1 << random.below(8);
    send(copy);
}

async fn transfer_through_vandals(key: u64) {
    let (server, mut listener) = server(EndpointOptions::default());
    let relay = Relay::tampering([loopback(); 2], server.local_addr(), vandal(key), vandal(key + 1000));
    let client = Endpoint::client(relay.front(), EndpointOptions::default()).unwrap();
    let mut near = client.open(relay.front(), PORT, Config::standard()).unwrap();
    let data = pattern(key, 1_000_000);
    let answer = pattern(key + 1, 300_000);
    let serving = async {
        let mut far = listener.accept().await.unwrap();
        let received = receive(&mut far).await;
        send(&mut far, &answer).await;
        received
    };
    let asking = async {
        send(&mut near, &data).await;
        receive(&mut near).await
    };
    let (received, answered) = tokio::join!(serving, asking);
    assert!(received == data && answered == answer, "the data suffered");
    for endpoint in [&server, &client] {
        assert!(endpoint.counters().bad_envelopes > 0, "{:?}", endpoint.counters());
        assert!(endpoint.stats().undecodable > 0, "{:?}", endpoint.stats());
    }
    assert!(near.stats().duplicates > 0);
    relay.stop();
}

#[tokio::test]
async fn data_survives_vandals() {
    for key in 1..=3 {
        within(60, transfer_through_vandals(key)).await;
    }
}

#[tokio::test]
async fn strangers_are_ignored() {
    within(60, async {
        let (server, mut listener) = server(EndpointOptions::default());
        let client = Endpoint::bind(loopback(), EndpointOptions::default()).unwrap();
        let targets = [server.local_addr(), client.local_addr()];
        let flood = std::thread::spawn(move || {
            let socket = UdpSocket::bind(loopback()).unwrap();
            let mut random = Random::new(1, "tests/flood");
            for round in 0..2000usize {
                let mut datagram = vec![0; random.below(1500) as usize];
                random.fill(&mut datagram);
                if let Some(first) = datagram.first_mut().filter(|_| round % 2 == 0) {
                    *first = 0x20;
                }
                for target in targets {
                    let _ = socket.send_to(&datagram, target);
                }
            }
        });
        let mut near = client.open(server.local_addr(), PORT, Config::standard()).unwrap();
        let data = pattern(2, 3_000_000);
        let serving = async { receive(&mut listener.accept().await.unwrap()).await };
        let ((), received) = tokio::join!(send(&mut near, &data), serving);
        assert!(received == data);
        flood.join().unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(server.counters().bad_envelopes > 0 && client.counters().bad_envelopes > 0);
        assert!(server.stats().undecodable > 0 && client.stats().undecodable > 0);
    })
    .await;
}

/// A relay that records what the client sends.
fn recorder(log: &Arc<Mutex<Vec<Vec<u8>>>>) -> Tamper {
    let log = Arc::clone(log);
    Box::new(move |datagram, send| {
        log.lock().unwrap().push(datagram.to_vec());
        send(datagram);
    })
}

#[tokio::test]
async fn a_replayed_connection_delivers_nothing() {
    within(60, async {
        let (server, mut listener) = server(EndpointOptions::default());
        let log = Arc::default();
        let pass: Tamper = Box::new(|datagram, send| send(datagram));
        let relay = Relay::tampering([loopback(); 2], server.local_addr(), recorder(&log), pass);
        let client = Endpoint::client(relay.front(), EndpointOptions::default()).unwrap();
        let mut near = client.open(relay.front(), PORT, Config::standard()).unwrap();
        let data = pattern(3, 50_000);
        let serving = async {
            let mut far = listener.accept().await.unwrap();
            let received = receive(&mut far).await;
            send(&mut far, b"").await;
            received
        };
        let ((), received) = tokio::join!(send(&mut near, &data), serving);
        assert!(received == data);
        assert_eq!(receive(&mut near).await, b"");
        drop(near);
        assert!(client.wait_idle(Duration::from_secs(10)).await);
        assert!(server.wait_idle(Duration::from_secs(10)).await);

        let rear = relay.stop()[1];
        let before = server.stats().replays;
        for source in [rear, loopback()] {
            let socket = UdpSocket::bind(source).unwrap();
            for datagram in log.lock().unwrap().iter() {
                socket.send_to(datagram, server.local_addr()).unwrap();
            }
            let again = tokio::time::timeout(Duration::from_millis(100), listener.accept()).await;
            assert!(again.is_err(), "a replayed opening was accepted");
        }
        assert!(server.stats().replays >= before + 2, "{:?}", server.stats());
        assert_eq!(server.connection_count(), 0);
    })
    .await;
}

#[tokio::test]
async fn a_forged_end_of_the_world_changes_nothing() {
    within(60, async {
        let (server, mut listener) = server(EndpointOptions::default());
        let (cut_pieces, lucky_pieces) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
        let (cut_count, lucky_count) = (Arc::clone(&cut_pieces), Arc::clone(&lucky_pieces));
        // Everything that the server says is also heard with its last octets cut off. A piece in 65,536 has
        // the checksum that belongs to it, and is a segment that nobody can tell from one that was sent:
        // these few are left out.
        let cut: Tamper = Box::new(move |datagram, send| {
            for end in (1..datagram.len().min(40)).rev() {
                let piece = &datagram[..end];
                cut_count.fetch_add(1, Ordering::Relaxed);
                if decode(&piece[ENVELOPE_BYTES..]).is_ok() {
                    lucky_count.fetch_add(1, Ordering::Relaxed);
                } else {
                    send(piece);
                }
            }
            send(datagram);
        });
        let pass: Tamper = Box::new(|datagram, send| send(datagram));
        let relay = Relay::tampering([loopback(); 2], server.local_addr(), pass, cut);
        let client = Endpoint::client(relay.front(), EndpointOptions::default()).unwrap();
        let mut near = client.connect(relay.front(), PORT, Config::standard()).await.unwrap();
        let mut far = listener.accept().await.unwrap();
        let data = pattern(4, 100_000);
        let ((), received) = tokio::join!(send(&mut far, &data), async {
            let mut received = vec![0; data.len()];
            near.read_exact(&mut received).await.unwrap();
            received
        });
        assert!(received == data);
        assert!(client.stats().undecodable > 0);
        relay.stop();
        let [cut, lucky] = [cut_pieces, lucky_pieces].map(|count| count.load(Ordering::Relaxed));
        assert!(lucky <= MAX_LUCKY_PIECES, "{lucky} of {cut} pieces are segments");
    })
    .await;
}
