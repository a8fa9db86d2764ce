//! Clients whose address changes under a running transfer, as behind a translator of addresses that forgets.

use skyhaul_core::{Instant, MS, SECOND};
use skyhaul_link::{DirectionConfig, LinkConfig};
use skyhaul_net::association::Event;
use skyhaul_net::{Clock, EmbeddedLink, EndpointOptions, Listener, SealedEndpoint, SealedStp, Stream};
use skyhaul_stp::Config;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::sealed::{FAR, key, sealed_client, sealed_server};
use crate::support::{PORT, Relay, loopback, pattern, receive, send, within};

/// Rate of the link and of the sender, in bit/s.
const RATE_BPS: u64 = 8_000_000;
/// Bytes that take three seconds.
const BYTES: usize = 3_000_000;
/// Time after the begin at which the client gets another address.
const MOVES_NS: u64 = SECOND;

/// Sealed ends, a link with a round trip of 100 ms between them, and a translator in front of the server.
struct Way {
    server: SealedEndpoint,
    listener: Listener<SealedStp>,
    client: SealedEndpoint,
    link: EmbeddedLink,
    translator: Relay,
}

impl Way {
    fn new() -> Self {
        let (server, listener) = sealed_server(EndpointOptions::default());
        let translator = Relay::between(server.local_addr());
        let direction =
            || DirectionConfig { rate_bps: Some(RATE_BPS), delay_ns: 50 * MS, ..DirectionConfig::default() };
        let (forward, reverse) = (direction(), direction());
        let config = LinkConfig { name: "test".into(), forward, reverse, ..LinkConfig::default() };
        let link = EmbeddedLink::start(config, 1, translator.front()).unwrap();
        let client = sealed_client(link.front_addr());
        Self { server, listener, client, link, translator }
    }

    async fn connect(&mut self) -> (Stream<SealedStp>, Stream<SealedStp>) {
        let address = self.link.front_addr();
        let config = Config { rate_bps: Some(RATE_BPS * 9 / 10), ..Config::standard() };
        let (near, far) =
            tokio::join!(self.client.connect_to(key(FAR), address, PORT, config), self.listener.accept());
        (near.unwrap(), far.unwrap())
    }

    /// Gives the client another address towards the server.
    fn translate_anew(self) -> (Relay, SealedEndpoint, (SealedEndpoint, EmbeddedLink)) {
        let [front, _] = self.translator.stop();
        let translator = Relay::at([front, loopback()], self.server.local_addr());
        (translator, self.server, (self.client, self.link))
    }
}

/// Reads to the end, and gives the longest time without data from `since` on.
async fn longest_wait(stream: &mut Stream<SealedStp>, data: &[u8], clock: Clock, since: Instant) -> u64 {
    let (mut room, mut received) = (vec![0; 1 << 16], 0);
    let (mut last, mut longest_ns) = (since, 0);
    loop {
        let bytes = stream.read(&mut room).await.unwrap();
        assert!(data[received..].starts_with(&room[..bytes]));
        received += bytes;
        longest_ns = clock.now().since(last.max(since)).max(longest_ns);
        last = clock.now();
        if bytes == 0 {
            assert_eq!(received, data.len());
            return longest_ns;
        }
    }
}

async fn write(mut stream: Stream<SealedStp>, data: Vec<u8>) {
    stream.write_all(&data).await.unwrap();
    stream.shutdown().await.unwrap();
}

/// Moves the client in the midst of a transfer, all of which arrives. The longest wait is printed; a test in
/// virtual time has its bounds.
async fn wait_after_moving(client_sends: bool) {
    let mut way = Way::new();
    let (near, far) = way.connect().await;
    let (from, mut to) = if client_sends { (near, far) } else { (far, near) };
    let (data, clock) = (pattern(1, BYTES), Clock::start());
    let writing = tokio::spawn(write(from, data.clone()));
    let moves = Instant::from_ns(MOVES_NS);
    let reading = tokio::spawn(async move { longest_wait(&mut to, &data, clock, moves).await });
    tokio::time::sleep(std::time::Duration::from_nanos(MOVES_NS)).await;
    let (translator, server, held) = way.translate_anew();
    let moved = loop {
        if let Event::Moved { address, .. } = server.next_event().await.unwrap() {
            break address;
        }
    };
    let longest_ns = reading.await.unwrap();
    writing.await.unwrap();
    drop(held);
    let [_, rear] = translator.stop();
    assert_eq!(moved, rear);
    println!("longest wait after the move: {} ms", longest_ns / MS);
}

#[tokio::test]
async fn a_client_that_moves_while_it_sends_is_followed() {
    within(60, wait_after_moving(true)).await;
}

#[tokio::test]
async fn a_client_that_moves_while_it_only_answers_is_found_again() {
    within(60, wait_after_moving(false)).await;
}

#[tokio::test]
async fn packets_of_a_sealed_path_have_the_size_that_it_takes_seal_included() {
    within(60, async {
        for (mtu_bytes, seen) in [(1400_usize, 1400), (1500, 1500)] {
            let largest = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
            let (server, mut listener) = sealed_server(EndpointOptions::default());
            let passed = std::sync::Arc::clone(&largest);
            let narrow = Box::new(move |datagram: &[u8], send: &mut dyn FnMut(&[u8])| {
                let packet_bytes = datagram.len() + 28;
                if packet_bytes <= mtu_bytes {
                    passed.fetch_max(packet_bytes, std::sync::atomic::Ordering::Relaxed);
                    send(datagram);
                }
            });
            let back = Box::new(|datagram: &[u8], send: &mut dyn FnMut(&[u8])| send(datagram));
            let relay = Relay::tampering([loopback(); 2], server.local_addr(), narrow, back);
            let client = sealed_client(relay.front());
            // So slow that the relay loses nothing but what is too large.
            let config = Config { discover_mtu: true, rate_bps: Some(40_000_000), ..Config::standard() };
            let mut near = client.open_to(key(FAR), relay.front(), PORT, config).unwrap();
            let data = pattern(2, 6_000_000);
            let serving = async {
                let mut far = listener.accept().await.unwrap();
                let received = receive(&mut far).await;
                far.shutdown().await.unwrap();
                received
            };
            let ((), received) = tokio::join!(send(&mut near, &data), serving);
            assert!(received == data);
            assert_eq!(largest.load(std::sync::atomic::Ordering::Relaxed), seen, "packets of {mtu_bytes}");
            let counters = client.counters();
            let mean = counters.sent_bytes / counters.sent_datagrams + 28;
            assert!(mean * 10 > mtu_bytes as u64 * 9, "{mean} bytes a packet");
            relay.stop();
        }
    })
    .await;
}
