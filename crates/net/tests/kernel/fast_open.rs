//! Fast Open with the kernel in either role: cookies asked for and used, stale keys, a path that drops
//! openings with data, and one side that will have none of it. `net.ipv4.tcp_fastopen` is that of the test's
//! namespace.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use skyhaul_core::{Instant, MS, SECOND};
use skyhaul_link::LinkConfig;
use skyhaul_net::tun::{PacketLink, TcpStream as OurStream, TunHost, TunOptions};
use skyhaul_tcp::{AcceleratedOpen, Config, FastOpenFacts};
use socket2::{Domain, SockAddr, Socket, Type};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::lab::{KERNEL, Lab, in_a_namespace, noise, options, ours, read_all, send_all, sysctl};
use crate::socket::{connect, listen};
use crate::tap::{From, Tap, payload_bytes, tcp};
use crate::wire::wire;

/// The kernel asks and grants, every listener of it.
const BOTH_ROLES: &str = "1027"; // 0x1 client, 0x2 server, 0x400 listeners that were not asked
const REQUEST: &[u8] = b"a request that fits into an opening";
const RESPONSE: &[u8] = b"the response";
/// `MSG_FASTOPEN`.
const WITH_DATA: i32 = 0x2000_0000;

fn fast() -> Config {
    Config { accelerated_open: Some(AcceleratedOpen::FastOpen), ..Config::standard() }
}

fn fast_options() -> TunOptions {
    TunOptions { accept: fast(), ..options() }
}

/// Counter of this namespace's kernel, as `nstat` shows it with `TcpExt` before its name.
fn counted(name: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/net/netstat").unwrap();
    let mut lines = text.lines().filter(|line| line.starts_with("TcpExt:")).map(str::split_whitespace);
    let (names, values) = (lines.next().unwrap(), lines.next().unwrap());
    let (_, value) = names.zip(values).find(|(known, _)| *known == name).unwrap();
    value.parse().unwrap()
}

/// Hears the request, which comes once whatever became of the opening, and responds.
async fn serve(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) {
    let mut heard = [0; REQUEST.len()];
    stream.read_exact(&mut heard).await.unwrap();
    assert_eq!(heard, REQUEST);
    send_all(stream, RESPONSE).await;
    assert_eq!(read_all(stream).await, b"");
}

/// Hears the response; nanoseconds since `begun` by the clock of our host.
async fn hear(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), (host, begun): (&TunHost, Instant)) -> u64 {
    let mut heard = [0; RESPONSE.len()];
    stream.read_exact(&mut heard).await.unwrap();
    let took_ns = host.clock().now().since(begun); // the kernel's FIN follows when its opening is acknowledged
    assert_eq!((&heard[..], read_all(stream).await), (RESPONSE, vec![]));
    stream.shutdown().await.unwrap();
    took_ns
}

/// Our end asks, the kernel answers; payload of our opening that was sent, and taken, and the time.
async fn we_ask_timed(host: &TunHost, (listener, address): &(TcpListener, SocketAddr)) -> ([u64; 2], u64) {
    let (mut stream, begun) = (host.open(*address, fast()).unwrap(), host.clock().now());
    let ask = async {
        stream.write_all(REQUEST).await.unwrap();
        hear(&mut stream, (host, begun)).await
    };
    let answer = async { serve(&mut listener.accept().await.unwrap().0).await };
    let (took_ns, ()) = tokio::join!(ask, answer);
    let stats = stream.stats();
    ([stats.opening_sent_bytes, stats.opening_taken_bytes], took_ns)
}

async fn we_ask(host: &TunHost, server: &(TcpListener, SocketAddr)) -> [u64; 2] {
    we_ask_timed(host, server).await.0
}

/// The kernel connects with these first words, which go with the opening where it has a cookie.
async fn kernel_says(to: SocketAddr, words: &[u8]) -> TcpStream {
    let socket = Socket::new(Domain::for_address(to), Type::STREAM, None).unwrap();
    socket.set_nonblocking(true).unwrap();
    let sent = socket.send_to_with_flags(words, &SockAddr::from(to), WITH_DATA);
    let mut stream = TcpStream::from_std(socket.into()).unwrap();
    let sent = sent.unwrap_or_else(|error| {
        assert_eq!(error.raw_os_error(), Some(rustix::io::Errno::INPROGRESS.raw_os_error()), "{error}");
        0
    });
    stream.writable().await.unwrap(); // a kernel that shall end before the answer is here breaks off
    stream.write_all(&words[sent..]).await.unwrap();
    stream
}

/// The kernel asks, our end answers; payload of its opening that we took, and the time.
async fn kernel_asks_timed(host: &TunHost, family: usize) -> (u64, u64) {
    let mut listener = host.listen(ours(family).port(), 8).unwrap();
    let answer = async {
        let mut stream: OurStream = listener.accept().await.unwrap();
        serve(&mut stream).await;
        stream.stats().opening_taken_bytes
    };
    let begun = host.clock().now();
    let ask = async { hear(&mut kernel_says(ours(family), REQUEST).await, (host, begun)).await };
    tokio::join!(answer, ask)
}

async fn kernel_asks(host: &TunHost, family: usize) -> u64 {
    kernel_asks_timed(host, family).await.0
}

/// An ordinary connection: IPv6 of a device that has just been switched on may lose a packet.
async fn warm_up(host: &TunHost, (listener, address): &(TcpListener, SocketAddr)) {
    let (stream, kernel) = tokio::join!(host.connect(*address, Config::standard()), listener.accept());
    drop((stream.unwrap(), kernel.unwrap()));
}

fn known(host: &TunHost, family: usize) -> FastOpenFacts {
    host.fast_open(KERNEL[family]).unwrap()
}

const ALL: u64 = REQUEST.len() as u64;

#[test]
fn the_kernel_grants_us_a_cookie_and_takes_our_data_with_the_next_opening() {
    in_a_namespace(async |lab: Lab| {
        sysctl("tcp_fastopen", BOTH_ROLES);
        let host = lab.host();
        for family in [0, 1] {
            let server = listen(family, None, |_| {});
            warm_up(&host, &server).await;
            assert_eq!(we_ask(&host, &server).await, [0, 0], "it asks for a cookie");
            let cookie = known(&host, family).cookie.expect("a cookie");
            assert_eq!(cookie.as_bytes().len(), 8);
            for _ in 0..3 {
                assert_eq!(we_ask(&host, &server).await, [ALL, ALL]);
            }
        }
        let passive = [counted("TCPFastOpenCookieReqd"), counted("TCPFastOpenPassive")];
        assert_eq!((passive, counted("TCPFastOpenPassiveFail")), ([2, 6], 0));
    });
}

#[test]
fn we_grant_the_kernel_a_cookie_and_take_its_data_with_the_next_opening() {
    in_a_namespace(async |lab: Lab| {
        sysctl("tcp_fastopen", BOTH_ROLES);
        let host = lab.host_with(fast_options());
        for family in [0, 1] {
            warm_up(&host, &listen(family, None, |_| {})).await;
            assert_eq!(kernel_asks(&host, family).await, 0, "it asks for a cookie");
            for _ in 0..3 {
                assert_eq!(kernel_asks(&host, family).await, ALL);
            }
        }
        assert_eq!((counted("TCPFastOpenActive"), counted("TCPFastOpenActiveFail")), (6, 0));
        assert_eq!((host.stats().early_taken, host.stats().early_refused), (6, 0));
    });
}

#[test]
fn more_than_an_opening_carries_follows_it_in_either_role() {
    in_a_namespace(async |lab: Lab| {
        sysctl("tcp_fastopen", BOTH_ROLES);
        let host = lab.host_with(fast_options());
        let (server, data) = (listen(0, None, |_| {}), noise(300_000));
        we_ask(&host, &server).await;
        let mut stream = host.open(server.1, fast()).unwrap();
        let serve = async { read_all(&mut server.0.accept().await.unwrap().0).await };
        let ((), got) = tokio::join!(send_all(&mut stream, &data), serve);
        let stats = stream.stats();
        assert!(got == data && stats.opening_taken_bytes == stats.opening_sent_bytes, "{stats:?}");
        assert!((1300..1460).contains(&stats.opening_sent_bytes), "{stats:?}");
        kernel_asks(&host, 0).await;
        let mut listener = host.listen(ours(0).port(), 8).unwrap();
        let serve = async {
            let mut stream = listener.accept().await.unwrap();
            let got = read_all(&mut stream).await;
            (got, stream.stats().opening_taken_bytes)
        };
        let say = async { kernel_says(ours(0), &data).await.shutdown().await.unwrap() };
        let ((got, taken), ()) = tokio::join!(serve, say);
        assert!(got == data && (1300..1460).contains(&taken), "{taken}");
    });
}

#[test]
fn a_cookie_of_a_key_that_the_kernel_has_no_more_is_replaced_and_data_arrives_once() {
    in_a_namespace(async |lab: Lab| {
        sysctl("tcp_fastopen", BOTH_ROLES);
        let host = lab.host();
        let server = listen(0, None, |_| {});
        we_ask(&host, &server).await;
        let before = known(&host, 0).cookie;
        sysctl("tcp_fastopen_key", "01234567-89abcdef-01234567-89abcdef");
        assert_eq!(we_ask(&host, &server).await, [ALL, 0], "sent, not taken, and sent again");
        assert!(known(&host, 0).cookie.is_some_and(|cookie| Some(cookie) != before));
        assert_eq!(we_ask(&host, &server).await, [ALL, ALL]);
        assert_eq!((counted("TCPFastOpenPassiveFail"), counted("TCPFastOpenPassive")), (1, 1));
    });
}

#[test]
fn a_cookie_of_a_host_of_ours_that_began_anew_is_replaced_and_data_arrives_once() {
    in_a_namespace(async |lab: Lab| {
        sysctl("tcp_fastopen", BOTH_ROLES);
        let device: std::os::fd::OwnedFd = lab.into_device().into();
        let again = device.try_clone().unwrap();
        // Keys are the system's randomness, as everywhere but in tests that must repeat.
        let host = TunHost::over(device, TunOptions { seed: None, ..fast_options() }).unwrap();
        assert_eq!([kernel_asks(&host, 0).await, kernel_asks(&host, 0).await], [0, ALL]);
        host.close().await;
        let host = TunHost::over(again, TunOptions { seed: None, ..fast_options() }).unwrap();
        assert_eq!([kernel_asks(&host, 0).await, kernel_asks(&host, 0).await], [0, ALL]);
        assert_eq!((host.stats().early_refused, host.stats().early_taken), (1, 1));
        assert_eq!(counted("TCPFastOpenActiveFail"), 1);
    });
}

/// Our host behind somebody who drops openings with data while that is wanted, and counts them.
fn dropping(lab: Lab) -> (TunHost, Tap, Arc<AtomicBool>, Arc<AtomicU64>) {
    let (drops, dropped) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let (is_dropping, count) = (Arc::clone(&drops), Arc::clone(&dropped));
    let (near, far) = wire().unwrap();
    let ends = [lab.into_device().into(), near];
    let tap = Tap::start(ends, move |from: From, packet: Vec<u8>, out: &mut Vec<_>| {
        let is_opening = tcp(&packet).is_some_and(|header| header.syn && !header.ack);
        if is_opening && payload_bytes(&packet) > 0 && is_dropping.load(Ordering::Relaxed) {
            count.fetch_add(1, Ordering::Relaxed);
        } else {
            out.push((from, packet));
        }
    });
    (TunHost::over(far, fast_options()).unwrap(), tap, drops, dropped)
}

#[test]
fn a_path_that_drops_our_openings_with_data_costs_one_timeout_and_is_spared() {
    in_a_namespace(async |lab: Lab| {
        sysctl("tcp_fastopen", BOTH_ROLES);
        let (host, _tap, drops, dropped) = dropping(lab);
        let server = listen(0, None, |_| {});
        we_ask(&host, &server).await;
        drops.store(true, Ordering::Relaxed);
        let (sent_and_taken, took_ns) = we_ask_timed(&host, &server).await;
        assert_eq!((sent_and_taken, took_ns / SECOND), ([ALL, 0], 1));
        let facts = known(&host, 0);
        assert!(facts.cookie.is_some() && facts.lost_openings == 1, "{facts:?}");
        assert!((50..=60).contains(&(facts.spared_ns / SECOND)), "{facts:?}");
        assert_eq!(we_ask(&host, &server).await, [0, 0], "no further one is lost");
        assert_eq!(dropped.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn a_path_that_drops_the_kernels_openings_with_data_brings_them_without() {
    in_a_namespace(async |lab: Lab| {
        sysctl("tcp_fastopen", BOTH_ROLES);
        let (host, _tap, drops, dropped) = dropping(lab);
        kernel_asks(&host, 0).await;
        drops.store(true, Ordering::Relaxed);
        assert_eq!(kernel_asks(&host, 0).await, 0);
        assert_eq!((dropped.load(Ordering::Relaxed), host.stats().early_taken), (1, 0));
    });
}

#[test]
fn a_kernel_whose_fast_open_is_off_is_served_and_serves_as_ever() {
    in_a_namespace(async |lab: Lab| {
        sysctl("tcp_fastopen", "0");
        let host = lab.host_with(fast_options());
        let server = listen(0, None, |_| {});
        for _ in 0..2 {
            assert_eq!(we_ask(&host, &server).await, [0, 0]);
        }
        assert_eq!(known(&host, 0), FastOpenFacts::default());
        let mut listener = host.listen(ours(0).port(), 8).unwrap();
        let (stream, kernel) = tokio::join!(listener.accept(), connect(ours(0), None, |_| {}));
        let (mut stream, mut kernel) = (stream.unwrap(), kernel.unwrap());
        let ((), got) = tokio::join!(send_all(&mut kernel, REQUEST), read_all(&mut stream));
        assert_eq!(got, REQUEST);
        let names = ["TCPFastOpenCookieReqd", "TCPFastOpenActive", "TCPFastOpenPassive"];
        assert_eq!(names.map(counted), [2, 0, 0], "by which it shows: asked for, and not granted");
    });
}

#[test]
fn a_host_of_ours_whose_fast_open_is_off_serves_a_kernel_that_asks() {
    in_a_namespace(async |lab: Lab| {
        sysctl("tcp_fastopen", BOTH_ROLES);
        let host = lab.host();
        assert_eq!([kernel_asks(&host, 0).await, kernel_asks(&host, 1).await], [0, 0]);
        assert_eq!((host.stats().early_taken, counted("TCPFastOpenActive")), (0, 0));
    });
}

#[test]
fn a_warm_opening_saves_a_round_trip_in_either_role() {
    in_a_namespace(async |lab: Lab| {
        sysctl("tcp_fastopen", BOTH_ROLES);
        let (near, far) = wire().unwrap();
        let mut config = LinkConfig::default();
        (config.forward.delay_ns, config.reverse.delay_ns) = (100 * MS, 100 * MS);
        let _link = PacketLink::start(config, 7, [lab.into_device().into(), near]).unwrap();
        let host = TunHost::over(far, fast_options()).unwrap();
        let server = listen(0, None, |_| {});
        let mut times_ns = Vec::new();
        for _ in 0..2 {
            times_ns.push(we_ask_timed(&host, &server).await.1);
        }
        for _ in 0..2 {
            times_ns.push(kernel_asks_timed(&host, 0).await.1);
        }
        // Two round trips of 200 ms for an ordinary exchange; a busy machine adds to either.
        let saved = |n: usize| times_ns[n].saturating_sub(times_ns[n + 1]);
        assert!(saved(0) > 120 * MS && saved(2) > 120 * MS, "{times_ns:?}");
    });
}
