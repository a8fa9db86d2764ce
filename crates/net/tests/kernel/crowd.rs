//! A hundred connections at once, opened by either; and openings by nobody beside honest ones.

use std::cell::Cell;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use etherparse::PacketBuilder;
use skyhaul_tcp::Config;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::task::JoinSet;

use crate::lab::{exchange, in_a_namespace, noise, ours, read_all, send_all};
use crate::socket::{connect, listen};

const MANY: usize = 100;
/// Time in which a newcomer is served, whatever goes on beside it.
const NEWCOMER: Duration = Duration::from_secs(5);

#[test]
fn a_hundred_connections_of_the_kernel() {
    in_a_namespace(async |lab| {
        let host = lab.host();
        let mut listener = host.listen(ours(0).port(), 128).unwrap();
        let mut work = JoinSet::new();
        for n in 0..MANY {
            work.spawn(async move {
                let mut kernel = connect(ours(n % 2), None, |_| {}).await.unwrap();
                let said = noise(20_000 + n);
                send_all(&mut kernel, &said).await;
                assert!(read_all(&mut kernel).await == said, "connection {n}");
            });
        }
        for _ in 0..MANY {
            let mut stream = listener.accept().await.unwrap();
            work.spawn(async move {
                let heard = read_all(&mut stream).await;
                send_all(&mut stream, &heard).await;
            });
        }
        work.join_all().await;
    });
}

#[test]
fn a_hundred_connections_of_ours() {
    in_a_namespace(async |lab| {
        let host = lab.host();
        let (listener, address) = listen(0, None, |_| {});
        let mut work = JoinSet::new();
        for _ in 0..MANY {
            let (stream, kernel) = tokio::join!(host.connect(address, Config::standard()), listener.accept());
            work.spawn(exchange(stream.unwrap(), kernel.unwrap().0, 50_000, 50_000));
        }
        work.join_all().await;
    });
}

/// Openings by nobody, from addresses that are nobody's [RFC 2544 C.2.2]: so many a second, counted.
async fn flood(openings_per_s: u64, count: &Cell<u64>) {
    let socket = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::TCP)).unwrap();
    socket.set_header_included_v4(true).unwrap();
    socket.set_nonblocking(true).unwrap();
    let (to, IpAddr::V4(address)) = (ours(0), ours(0).ip()) else {
        unreachable!("the first address is IPv4's")
    };
    let mut tick = tokio::time::interval(Duration::from_millis(1));
    let begun = tick.tick().await;
    loop {
        let due = tick.tick().await.duration_since(begun).as_micros() as u64 * openings_per_s / 1_000_000;
        for n in count.get()..due {
            let nobody = Ipv4Addr::from_bits(Ipv4Addr::new(198, 18, 0, 0).to_bits() + n as u32 % (1 << 17));
            let mut opening = Vec::new();
            PacketBuilder::ipv4(nobody.octets(), address.octets(), 60)
                .tcp(1024 + (n % 50_000) as u16, to.port(), n as u32, 65_535)
                .syn()
                .write(&mut opening, &[])
                .unwrap();
            let _ = socket.send_to(&opening, &SocketAddr::new(to.ip(), 0).into());
        }
        count.set(due);
    }
}

#[test]
fn a_flood_of_openings_by_nobody_keeps_no_newcomer_out_and_breaks_no_connection() {
    in_a_namespace(async |lab| {
        let host = lab.host();
        let mut listener = host.listen(ours(0).port(), 128).unwrap();
        let (ours_end, kernel) = tokio::join!(listener.accept(), connect(ours(0), None, |_| {}));
        let under_way = exchange(ours_end.unwrap(), kernel.unwrap(), 3_000_000, 3_000_000);
        let newcomers = async {
            for n in 0..40 {
                let served = tokio::time::timeout(NEWCOMER, async {
                    let (ours, kernel) = tokio::join!(listener.accept(), connect(ours(0), None, |_| {}));
                    exchange(ours.unwrap(), kernel.unwrap(), 1000, 1000).await;
                });
                assert!(served.await.is_ok(), "newcomer {n}: {:?}", host.stats());
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let count = Cell::new(0);
        tokio::select! {
            () = flood(10_000, &count) => unreachable!("it has no end"),
            _ = async { tokio::join!(under_way, newcomers) } => {}
        }
        let stats = host.stats();
        println!("{} openings by nobody: {stats:?}", count.get());
        assert!(count.get() > 1000, "{} openings are no flood", count.get());
        assert!(stats.cookies_sent > 0 && stats.cookies_taken > 0, "{stats:?}");
    });
}
