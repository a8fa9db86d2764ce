//! A hundred connections at once, opened by either; and openings by nobody beside honest ones.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

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

/// Openings by nobody, from addresses that are nobody's [RFC 2544 C.2.2]: so many a second until `is_over`,
/// which are counted.
fn flood(openings_per_s: u64, is_over: &AtomicBool, count: &AtomicU64) {
    let socket = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::TCP)).unwrap();
    socket.set_header_included_v4(true).unwrap();
    let to = ours(0);
    let std::net::IpAddr::V4(address) = to.ip() else { unreachable!("the first address is of IPv4") };
    let begun = Instant::now();
    while !is_over.load(Ordering::Relaxed) {
        let due = (begun.elapsed().as_secs_f64() * openings_per_s as f64) as u64;
        for n in count.load(Ordering::Relaxed)..due {
            let nobody = Ipv4Addr::from_bits(Ipv4Addr::new(198, 18, 0, 0).to_bits() + n as u32 % (1 << 17));
            let mut opening = Vec::new();
            PacketBuilder::ipv4(nobody.octets(), address.octets(), 60)
                .tcp(1024 + (n % 50_000) as u16, to.port(), n as u32, 65_535)
                .syn()
                .write(&mut opening, &[])
                .unwrap();
            let _ = socket.send_to(&opening, &SocketAddr::new(to.ip(), 0).into());
            count.fetch_add(1, Ordering::Relaxed);
        }
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_flood_of_openings_by_nobody_keeps_no_newcomer_out_and_breaks_no_connection() {
    in_a_namespace(async |lab| {
        let host = lab.host();
        let mut listener = host.listen(ours(0).port(), 128).unwrap();
        let established = tokio::join!(listener.accept(), connect(ours(0), None, |_| {}));
        let (is_over, count) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let attacker = thread::spawn({
            let (is_over, count) = (Arc::clone(&is_over), Arc::clone(&count));
            move || flood(10_000, &is_over, &count)
        });
        let begun = Instant::now();
        let running = exchange(established.0.unwrap(), established.1.unwrap(), 3_000_000, 3_000_000);
        let newcomers = async {
            for n in 0..40 {
                let exchanged = async {
                    let (ours, kernel) = tokio::join!(listener.accept(), connect(ours(0), None, |_| {}));
                    exchange(ours.unwrap(), kernel.unwrap(), 1000, 1000).await;
                };
                let served = tokio::time::timeout(NEWCOMER, exchanged).await;
                assert!(served.is_ok(), "newcomer {n}: {:?}", host.stats());
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::join!(running, newcomers);
        is_over.store(true, Ordering::Relaxed);
        let took = begun.elapsed();
        // The flood's thread has the namespace of its maker, and ends with it.
        attacker.join().unwrap();
        let (count, stats) = (count.load(Ordering::Relaxed), host.stats());
        println!("{count} openings by nobody in {took:?}: {stats:?}");
        assert!(count > 1000, "{count} openings are no flood");
        assert!(stats.cookies_sent > 0 && stats.cookies_taken > 0, "{stats:?}");
    });
}
