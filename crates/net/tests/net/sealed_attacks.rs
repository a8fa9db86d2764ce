//! Attacks on a live sealed receiver, beside an honest transfer. Each is counted, and nothing of it is taken.

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use skyhaul_net::association::Counters as SealCounters;
use skyhaul_net::{EndpointOptions, SealedEndpoint};
use skyhaul_stp::Config;
use tokio::time::timeout;

use crate::sealed::{FAR, first_message, key, overheard, sealed_client, sealed_server, sealed_server_at};
use crate::support::{PORT, loopback, pattern, receive, send, within};

/// Captured datagrams that are flipped and cut.
const CHANGED: usize = 12;
/// Handshakes a second that are computed without a cookie, and as many at once.
const FREE_PER_S: u64 = 200;

/// Somebody with a socket of its own.
struct Attacker {
    socket: UdpSocket,
    target: SocketAddr,
    sent_bytes: usize,
}

impl Attacker {
    fn new(target: SocketAddr) -> Self {
        let socket = UdpSocket::bind(loopback()).unwrap();
        socket.set_nonblocking(true).unwrap();
        Self { socket, target, sent_bytes: 0 }
    }

    /// Sends these, more slowly than the receiver's buffer fills.
    async fn send(&mut self, datagrams: impl IntoIterator<Item = Vec<u8>>) {
        for (number, datagram) in datagrams.into_iter().enumerate() {
            self.sent_bytes += datagram.len();
            self.socket.send_to(&datagram, self.target).unwrap();
            if number % 64 == 63 {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }

    /// Octets that came back.
    fn answers_bytes(&self) -> usize {
        let mut room = [0; 2000];
        std::iter::from_fn(|| self.socket.recv(&mut room).ok()).sum()
    }
}

/// Every bit flipped of what is in front, some of the rest; and cuts.
fn changed(datagram: &[u8]) -> Vec<Vec<u8>> {
    let bits = (0..datagram.len() * 8).filter(|bit| *bit < 40 * 8 || bit % 61 == 0);
    let flipped = bits.map(|bit| {
        let mut octets = datagram.to_vec();
        octets[bit / 8] ^= 1 << (bit % 8);
        octets
    });
    let cut = (1..datagram.len()).step_by(23).map(|length| datagram[..length].to_vec());
    flipped.chain(cut).collect()
}

/// Octets of a generator, as many and as long as others.
fn random(datagrams: usize) -> Vec<Vec<u8>> {
    (0..datagrams).map(|number| pattern(number as u64 + 99, 1 + number * 37 % 1400)).collect()
}

fn refused(counters: SealCounters) -> u64 {
    let SealCounters { alien, unknown_index, replayed, forged, strangers, refused, copies, .. } = counters;
    alien + unknown_index + replayed + forged + strangers + refused + copies
}

/// Datagrams that an endpoint refused under the seal or in front of it.
fn all_refused(server: &SealedEndpoint) -> u64 {
    refused(server.seal_counters()) + server.counters().bad_envelopes
}

#[tokio::test]
async fn a_live_receiver_counts_what_attackers_send_and_takes_nothing_of_it() {
    within(120, async {
        let (server, mut listener) = sealed_server(EndpointOptions::default());
        let (relay, heard) = overheard(server.local_addr());
        let client = sealed_client(relay.front());
        let mut near = client.open_to(key(FAR), relay.front(), PORT, Config::standard()).unwrap();
        let data = pattern(1, 300_000);
        let (half, rest) = data.split_at(100_000);
        let ((), mut far) = tokio::join!(
            async {
                use tokio::io::AsyncWriteExt as _;
                near.write_all(half).await.unwrap();
            },
            async { listener.accept().await.unwrap() }
        );
        tokio::time::sleep(Duration::from_millis(300)).await;
        let captured = heard.lock().unwrap().clone();
        assert!(captured.len() > 50);

        let mut attacker = Attacker::new(server.local_addr());
        let mut refused_before = all_refused(&server);
        let of_mode = |octet: u8| {
            let captured = captured.clone();
            captured.into_iter().map(move |mut datagram| {
                datagram[0] = octet;
                datagram
            })
        };
        let attacks: [(&str, Vec<Vec<u8>>); 5] = [
            ("all of it once more, from another address, reflections included", captured.clone()),
            ("flipped and cut", captured.iter().take(CHANGED).flat_map(|one| changed(one)).collect()),
            ("in mode authenticated", of_mode(0x28).collect()),
            ("as plain", of_mode(0x20).collect()),
            ("random", random(2000)),
        ];
        for (name, datagrams) in attacks {
            let count = datagrams.len() as u64;
            attacker.send(datagrams).await;
            let counted = all_refused(&server) - refused_before;
            println!("{name}: {counted} of {count} counted");
            assert_eq!(counted, count, "{name}");
            refused_before += counted;
        }
        let answers_bytes = attacker.answers_bytes();
        assert!(answers_bytes <= attacker.sent_bytes / 100, "{answers_bytes} for {}", attacker.sent_bytes);

        let (received, ()) = tokio::join!(receive(&mut far), send(&mut near, rest));
        assert!(received == data, "the honest transfer goes on");
        let another = timeout(Duration::from_millis(200), listener.accept()).await;
        assert!(another.is_err(), "nobody else got in");
        relay.stop();
    })
    .await;
}

#[tokio::test]
async fn what_is_replayed_to_a_receiver_that_restarted_opens_nothing() {
    within(60, async {
        let (server, mut listener) = sealed_server(EndpointOptions::default());
        let (relay, heard) = overheard(server.local_addr());
        let client = sealed_client(relay.front());
        let mut near = client.open_to(key(FAR), relay.front(), PORT, Config::standard()).unwrap();
        let data = pattern(2, 50_000);
        let serving = async { receive(&mut listener.accept().await.unwrap()).await };
        let ((), received) = tokio::join!(send(&mut near, &data), serving);
        assert!(received == data);
        let captured = heard.lock().unwrap().clone();
        drop((near, client));
        server.close().await;
        relay.stop();
        let (server, mut listener) = sealed_server_at(loopback(), EndpointOptions::default());
        let mut attacker = Attacker::new(server.local_addr());
        attacker.send(captured).await;
        let accepted = timeout(Duration::from_millis(500), listener.accept()).await;
        assert!(accepted.is_err(), "early data is withheld from who proves nothing");
        let seal = server.seal_counters();
        assert!(seal.computed <= 4 && seal.unknown_index > 20, "{seal:?}");
        assert_eq!(server.connection_count(), 0);
    })
    .await;
}

#[tokio::test]
#[allow(clippy::disallowed_methods, reason = "a rate in real time")]
async fn of_a_flood_of_first_messages_200_a_second_are_computed_and_others_get_cookies() {
    within(60, async {
        let (server, _listener) = sealed_server(EndpointOptions::default());
        let messages: Vec<Vec<u8>> = (0..1000).map(|_| first_message()).collect();
        let mut attacker = Attacker::new(server.local_addr());
        let (begun, mut sent, mut answers_bytes) = (Instant::now(), 0, 0);
        while begun.elapsed() < Duration::from_secs(3) {
            let due = begun.elapsed().as_millis() as usize * 2; // 2000 a second
            let some: Vec<Vec<u8>> =
                (sent..due).map(|turn| messages[turn % messages.len()].clone()).collect();
            sent += some.len();
            for message in some {
                attacker.sent_bytes += message.len();
                attacker.socket.send_to(&message, attacker.target).unwrap();
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
            answers_bytes += attacker.answers_bytes();
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
        let seconds = begun.elapsed().as_secs_f64();
        answers_bytes += attacker.answers_bytes();
        let SealCounters { computed, cookies, copies, .. } = server.seal_counters();
        println!("of {sent} in {seconds:.2} s: {computed} computed, {cookies} cookies, {copies} copies");
        assert!(computed as f64 <= FREE_PER_S as f64 * (1.0 + seconds), "{computed} in {seconds} s");
        assert!(computed >= FREE_PER_S && cookies >= sent as u64 / 2, "the flood came through");
        assert!(computed + cookies + copies <= sent as u64);
        assert!(answers_bytes < attacker.sent_bytes / 3, "{answers_bytes} for {}", attacker.sent_bytes);
    })
    .await;
}
