//! Strangers, silent peers and killed senders beside an honest transfer: none ends `receive --once`, and none
//! keeps a newcomer out.
#![allow(clippy::disallowed_methods, reason = "real processes in real time")]
#![allow(missing_docs, clippy::missing_panics_doc, unreachable_pub, dead_code, reason = "a test")]
#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod common;
#[path = "common/records.rs"]
mod records;

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use common::{Kept, Receiver, Said, file, noise, skyhaul, until};
use records::{endless, file_of_an_octet, whole};
use rustix::process::{Pid, Signal, kill_process};
use skyhaul_core::ResetReason;
use skyhaul_files::codec::{HEAD_BYTES, Head, Record, SessionOpening, Version};
use skyhaul_files::{Code, RawName, Reason, Side};
use skyhaul_net::{Endpoint, EndpointOptions, Limits, Protection, Stream};
use skyhaul_stp::Config;
use skyhaul_stp::segment::{Opening, Segment, encode};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader};

/// Port of the file protocol's version 1.
const FILES_PORT: u16 = 1;
/// Time within which a newcomer is to be in.
const IN_TIME: Duration = Duration::from_secs(5);

/// Datagram with a segment of the stranger who has this port.
fn datagram(port: u16, segment: Segment<'_>) -> Vec<u8> {
    let names = Segment { source_port: port, destination_port: FILES_PORT, instance: port, ..segment };
    let mut datagram = vec![0; Protection::Plain.head_bytes() as usize];
    encode(&names, &mut datagram);
    Protection::Plain.seal(&mut datagram);
    datagram
}

/// Opening of a stranger who answers nothing, with what comes with it.
fn forged(port: u16, data: &[u8]) -> Vec<u8> {
    let nonce = (u64::from(std::process::id()) << 32) + u64::from(port);
    let opening = Opening { max_payload_bytes: 1400, window_bytes: 1 << 20, nonce, ..Opening::default() };
    let data = (!data.is_empty()).then_some((data, &[][..]));
    datagram(port, Segment { bgn: Some(opening), data, ..Segment::default() })
}

/// Runs `work` in a runtime of its own.
fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// Endpoint at another address of this machine.
fn endpoint(host: u8) -> Endpoint {
    let here = SocketAddr::from((Ipv4Addr::new(127, 0, 0, host), 0));
    Endpoint::bind(here, EndpointOptions::default()).unwrap()
}

/// Connection to a receiver that says this first.
async fn says(endpoint: &Endpoint, receiver: &str, first: &[u8]) -> Stream {
    let mut stream =
        endpoint.connect(receiver.parse().unwrap(), FILES_PORT, Config::standard()).await.unwrap();
    stream.write_all(first).await.unwrap();
    stream
}

/// Beginning of a transfer of one file, whose contents do not come.
fn begun() -> Vec<u8> {
    let mut stream = SessionOpening { version: Version::One, files: 1, bytes: 1 << 20 }.encode().to_vec();
    let name = RawName::new(format!("never-{}", std::process::id()));
    stream.extend(Record::File { size: 1 << 20, executable: false, modified: None, name }.encode(0));
    stream
}

/// A transfer of so many files, each with a name that is refused, and given up at once.
fn refused(files: u32) -> Vec<u8> {
    let mut stream = SessionOpening { version: Version::One, files, bytes: 0 }.encode().to_vec();
    (0..files).for_each(|number| stream.extend(refused_file(number, RawName::new(".hidden"))));
    stream
}

/// Records of a file whose name is refused.
fn refused_file(number: u32, name: RawName) -> Vec<u8> {
    let file = Record::File { size: 1, executable: false, modified: None, name };
    let abort = Record::Abort { reason: Reason::new(Code::Interrupted, "") };
    [file.encode(number), abort.encode(number)].concat()
}

struct Source {
    folder: TempDir,
    contents: Vec<u8>,
}

impl Source {
    fn of(bytes: usize) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), contents: noise(bytes) }
    }

    fn sent(&self, name: &str, receiver: &str, more: &[&str]) -> Kept {
        let path = file(self.folder.path(), name, &self.contents);
        let args = [&["send", "--json"], more, &[path.to_str().unwrap(), receiver]].concat();
        Kept::new(skyhaul(&args).spawn().unwrap())
    }

    /// Sent behind a small file.
    fn sent_second(&self, name: &str, receiver: &str, more: &[&str]) -> Kept {
        let small = file(self.folder.path(), &format!("small-{name}"), b"small");
        self.sent(name, receiver, &[more, &[small.to_str().unwrap()]].concat())
    }

    fn is_at(&self, folder: &std::path::Path, name: &str) -> bool {
        std::fs::read(folder.join(name)).is_ok_and(|there| there == self.contents)
    }
}

/// A file gets to the receiver in time.
fn newcomer_gets_in(receiver: &Receiver) {
    newcomer_with_gets_in(receiver, "newcomer", 1000, &[]);
}

/// A file of this name and size does, sent so.
fn newcomer_with_gets_in(receiver: &Receiver, name: &str, bytes: usize, more: &[&str]) {
    let (source, begun) = (Source::of(bytes), Instant::now());
    let sent: Said = source.sent(name, &receiver.address, more).wait_with_output().into();
    assert_eq!(sent.code, Some(0), "{sent:?}");
    assert!(source.is_at(receiver.path(), name));
    assert!(begun.elapsed() < IN_TIME, "{:?}, {sent:?}", begun.elapsed());
}

#[test]
fn no_stranger_ends_a_receiver_that_waits_for_one_transfer_nor_what_is_under_way() {
    let receiver = Receiver::start(&["--once"]);
    let source = Source::of(3_000_000);
    let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
    let attack = |from: u16| {
        let say = |datagram: Vec<u8>| assert!(stranger.send_to(&datagram, &receiver.address).is_ok());
        say(forged(from, &[0xA5; 28]));
        say(forged(from + 1, b""));
        say(datagram(from + 1, Segment { rst: Some(ResetReason::Aborted), ..Segment::default() }));
        let none = SessionOpening { version: Version::One, files: 0, bytes: 0 }.encode();
        say(forged(from + 2, &none));
    };
    attack(100);
    let sender = source.sent("data.bin", &receiver.address, &["--rate", "8M"]); // 3 s
    until("a file under way", || receiver.holds_a_file());
    attack(200);
    block_on(async {
        let near = endpoint(2);
        // Of no file; rubbish; and one that ends before its file does.
        let none = SessionOpening { version: Version::One, files: 0, bytes: 0 }.encode();
        let mut empty = says(&near, &receiver.address, &none).await;
        empty.shutdown().await.unwrap();
        let _rubbish = says(&near, &receiver.address, &[0xA5; 28]).await;
        drop(says(&near, &receiver.address, &begun()).await);
    });
    let sent: Said = sender.wait_with_output().into();
    assert_eq!(sent.code, Some(0), "{sent:?}");
    let (received, folder) = receiver.wait();
    assert_eq!(received.code, Some(0), "{received:?}");
    assert!(source.is_at(folder.path(), "data.bin"));
}

#[test]
fn a_transfer_of_no_files_does_not_count_as_the_one_that_is_waited_for() {
    let receiver = Receiver::start(&["--once"]);
    block_on(async {
        let near = endpoint(2);
        let none = SessionOpening { version: Version::One, files: 0, bytes: 0 }.encode();
        let mut empty = says(&near, &receiver.address, &none).await;
        empty.shutdown().await.unwrap();
        let mut said = Vec::new();
        empty.read_to_end(&mut said).await.unwrap();
    });
    let address = receiver.address.clone();
    let source = Source::of(1000);
    let sent: Said = source.sent("one", &address, &[]).wait_with_output().into();
    let (received, folder) = receiver.wait();
    assert_eq!((sent.code, received.code), (Some(0), Some(0)), "{sent:?} {received:?}");
    assert!(source.is_at(folder.path(), "one"));
}

#[test]
fn forged_openings_keep_no_newcomer_out() {
    let receiver = Receiver::start(&[]);
    let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
    for port in 0..3000 {
        stranger.send_to(&forged(1000 + port, b""), &receiver.address).unwrap();
        if port % 64 == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    newcomer_gets_in(&receiver);
}

#[test]
fn silent_and_slow_peers_keep_no_newcomer_out() {
    let receiver = Receiver::start(&[]);
    block_on(async {
        let (near, far) = (endpoint(1), endpoint(2));
        let mut held = Vec::new();
        for _ in 0..20 {
            held.push(says(&near, &receiver.address, b"").await);
            held.push(says(&far, &receiver.address, b"skyh").await);
        }
        // One that opens by an octet at a time has begun, and goes on.
        let mut slow = says(&far, &receiver.address, b"").await;
        let opening = begun();
        let dripping = async {
            for octet in opening {
                let _ = slow.write_all(&[octet]).await;
                tokio::time::sleep(Duration::from_millis(300)).await;
            }
        };
        let newcomer = tokio::task::spawn_blocking(move || {
            newcomer_gets_in(&receiver);
            receiver
        });
        tokio::select! {
            () = dripping => unreachable!(),
            done = newcomer => drop(done.unwrap()),
        }
        drop(held);
    });
}

/// Whoever had brought nothing yet was as new as the newcomer, from an address that had no more places than
/// its own: it got one of those that became free, 11 a second, for which 100 others asked.
#[test]
fn fresh_connections_of_many_addresses_that_bring_nothing_keep_no_newcomer_out() {
    let opening = SessionOpening { version: Version::One, files: 1, bytes: 1 }.encode();
    newcomers_get_in_beside_fresh_connections_that_say(&opening);
}

#[test]
fn fresh_connections_of_many_addresses_that_say_nothing_keep_no_newcomer_out() {
    newcomers_get_in_beside_fresh_connections_that_say(b"");
}

/// Newcomers beside 100 connections a second of 64 addresses, each of which says this, and no more.
fn newcomers_get_in_beside_fresh_connections_that_say(first: &[u8]) {
    const ADDRESSES: u8 = 64;
    let receiver = Receiver::start(&[]);
    block_on(async {
        let far: Vec<_> = (0..ADDRESSES).map(|i| endpoint(10 + i)).collect();
        let address = receiver.address.clone();
        let attack = async {
            let mut tick = tokio::time::interval(Duration::from_millis(10));
            for far in far.iter().cycle() {
                tick.tick().await;
                let (far, to, first) = (far.clone(), address.parse().unwrap(), first.to_vec());
                tokio::task::spawn_local(async move {
                    let mut stream = far.connect(to, FILES_PORT, Config::standard()).await?;
                    stream.write_all(&first).await?;
                    stream.read_u8().await // until its place is taken, or there is none
                });
            }
        };
        let newcomers = async {
            tokio::time::sleep(Duration::from_secs(2)).await;
            let newcomers = tokio::task::spawn_blocking(move || {
                // For 0.2 s: what is here before a place is asked for needs none.
                let gets_in = |name: &str| {
                    newcomer_with_gets_in(&receiver, name, 50_000, &["--rate", "2M", "--give-up", "9s"]);
                };
                (0..4).for_each(|i| gets_in(&format!("newcomer{i}")));
            });
            newcomers.await.unwrap();
        };
        let local = tokio::task::LocalSet::new();
        let beside = async {
            tokio::select! {
                () = attack => unreachable!(),
                () = newcomers => {}
            }
        };
        local.run_until(beside).await;
    });
}

/// Each waited 15 s for a farewell, and as many as there may be sessions kept everybody else out.
#[test]
fn senders_of_whole_files_that_say_no_farewell_keep_no_newcomer_out() {
    newcomer_gets_in_beside_sessions_that_say(whole);
}

/// What waits for a file's result before it gives way waited for ever: the sender's word was missing.
#[test]
fn senders_of_all_data_of_a_file_that_never_say_its_end_keep_no_newcomer_out() {
    newcomer_gets_in_beside_sessions_that_say(endless);
}

/// A newcomer beside many sessions of one address, each of which says this of a file of its own, and no more.
fn newcomer_gets_in_beside_sessions_that_say(first: fn(&str) -> Vec<u8>) {
    const SESSIONS: usize = 200;
    let receiver = Receiver::start(&[]);
    block_on(async {
        let limits = Limits { max_connections: 2 * SESSIONS, ..Limits::default() };
        let options = EndpointOptions { limits, ..EndpointOptions::default() };
        let far = Endpoint::bind(SocketAddr::from((Ipv4Addr::new(127, 0, 0, 2), 0)), options).unwrap();
        let opened = (0..SESSIONS).map(|i| {
            let (far, address) = (far.clone(), receiver.address.clone());
            async move { says(&far, &address, &first(&format!("whole{i}"))).await }
        });
        let local = tokio::task::LocalSet::new();
        let held: Vec<_> = opened.map(|one| local.spawn_local(one)).collect();
        let newcomer = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            tokio::task::spawn_blocking(move || newcomer_gets_in(&receiver)).await.unwrap();
        };
        local.run_until(newcomer).await;
        drop(held);
    });
}

/// Lists of refused files took the processor as fast as they came, and datagrams of others were lost for it.
#[test]
fn refused_files_are_read_at_a_bounded_rate_and_keep_no_newcomer_out() {
    const FILES: u32 = 32_000;
    let receiver = Receiver::start(&[]);
    block_on(async {
        let far = endpoint(2);
        let begun = Instant::now();
        let list = async {
            let mut stream = says(&far, &receiver.address, &refused(FILES)).await;
            stream.shutdown().await.unwrap();
            let mut replies = Vec::new();
            stream.read_to_end(&mut replies).await.unwrap();
            (replies.len(), begun.elapsed())
        };
        let address = receiver.address.clone();
        let newcomer = tokio::task::spawn_blocking(move || {
            let (source, begun) = (Source::of(1000), Instant::now());
            let sent: Said = source.sent("newcomer", &address, &[]).wait_with_output().into();
            (sent.code, begun.elapsed())
        });
        let ((bytes, took), newcomer) = tokio::join!(list, newcomer);
        assert!(bytes > 40 * FILES as usize, "each is answered: {bytes} octets");
        assert!(took > Duration::from_millis(1800), "16,384 at once, and 8192 a second: {took:?}");
        let (code, entered) = newcomer.unwrap();
        assert!(code == Some(0) && entered < IN_TIME, "{code:?} {entered:?}");
    });
}

/// Every result passed for progress, that of a refused file, too: `--once` waited for the next one.
#[test]
fn who_has_a_file_refused_now_and_then_holds_up_no_receiver_that_waits_for_one_transfer() {
    let mut receiver = Receiver::start(&["--once"]);
    block_on(async {
        let far = endpoint(2);
        let opening = SessionOpening { version: Version::One, files: 1000, bytes: 0 };
        let mut stream = says(&far, &receiver.address, &opening.encode()).await;
        let dripping = async {
            for number in 0..1000 {
                let _ = stream.write_all(&refused_file(number, RawName::new(".hidden"))).await;
                tokio::time::sleep(Duration::from_millis(2700)).await;
            }
        };
        let waiting = async {
            let address = receiver.address.clone();
            let sent = move || Source::of(1000).sent("one", &address, &[]).wait_with_output().into();
            let sent: Said = tokio::task::spawn_blocking(sent).await.unwrap();
            assert_eq!(sent.code, Some(0), "{sent:?}");
            let behind = Instant::now();
            while receiver.child.try_wait().unwrap().is_none() {
                assert!(behind.elapsed() < Duration::from_secs(15), "it waits");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        tokio::select! {
            () = dripping => unreachable!(),
            () = waiting => {}
        }
    });
    let (received, _folder) = receiver.wait();
    assert_eq!(received.code, Some(0), "{received:?}");
}

/// Sessions that listed half of what was free each left nothing of the memory for lists: newcomers had "too
/// many files", and what was under way was broken off at its next file.
#[test]
fn lists_of_half_of_what_is_free_break_nothing_off_and_keep_no_newcomer_out() {
    const FILES: u32 = 400;
    let receiver = Receiver::start(&[]);
    block_on(async {
        let (near, far) = ([endpoint(1), endpoint(2)], endpoint(3));
        let opening = SessionOpening { version: Version::One, files: FILES, bytes: FILES.into() };
        let mut under_way = says(&far, &receiver.address, &opening.encode()).await;
        bring(&mut under_way, 0..FILES / 40, receiver.path()).await;
        let mut held = Vec::new();
        for (i, files) in halves().into_iter().enumerate() {
            held.push(refused_and_silent(&near[i % 2], &receiver.address, files).await);
        }
        bring(&mut under_way, FILES / 40..FILES, receiver.path()).await;
        under_way.shutdown().await.unwrap();
        under_way.read_to_end(&mut Vec::new()).await.expect("it is not broken off");
        assert!((0..FILES).all(|i| receiver.path().join(format!("f{i}")).exists()));
        tokio::task::spawn_blocking(move || newcomer_gets_in(&receiver)).await.unwrap();
        drop(held);
    });
}

/// Brings these files of an octet, the next ones when those before are stored.
async fn bring(stream: &mut Stream, files: std::ops::Range<u32>, folder: &std::path::Path) {
    for number in files {
        let name = format!("f{number}");
        stream.write_all(&file_of_an_octet(number, &name)).await.expect("it is not broken off");
        let begun = Instant::now();
        while number % 50 == 9 && !folder.join(&name).exists() {
            assert!(begun.elapsed() < IN_TIME, "{name} is not stored");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// Lists so many files that are refused, hears that of each, and says nothing more.
async fn refused_and_silent(near: &Endpoint, receiver: &str, files: u32) -> impl Sized + use<> {
    let (reader, mut writer) = tokio::io::split(says(near, receiver, b"").await);
    let (list, mut reader) = (long_refused(files), BufReader::new(reader));
    let hears = async {
        for _ in 0..files {
            hear(&mut reader).await?;
        }
        std::io::Result::Ok(())
    };
    let _ = tokio::join!(writer.write_all(&list), hears); // or it is broken off
    (reader, writer)
}

/// Reads a record of the receiver's.
async fn hear(reader: &mut (impl AsyncRead + Unpin)) -> std::io::Result<()> {
    let mut head = [0; HEAD_BYTES];
    reader.read_exact(&mut head).await?;
    let head = Head::decode(&head, Side::Receiver).unwrap();
    reader.read_exact(&mut vec![0; head.sealed_body_bytes()]).await.map(drop)
}

/// Files of sessions that each list nearly half of what is free of 128 MiB, with the longest names: 894 bytes
/// for each.
fn halves() -> Vec<u32> {
    let mut free = (128 << 20) / 894;
    let sessions = std::iter::repeat_with(|| {
        let files = (free * 15 / 32).min(65_535);
        free -= files;
        files
    });
    sessions.take(19).collect()
}

/// A transfer of one file more than so many with names that are refused and as long as may be.
fn long_refused(files: u32) -> Vec<u8> {
    let opening = SessionOpening { version: Version::One, files: files + 1, bytes: 0 };
    let mut stream = opening.encode().to_vec();
    let name = RawName::new([b'.'; 255].to_vec());
    (0..files).for_each(|number| stream.extend(refused_file(number, name.clone())));
    stream
}

#[test]
fn senders_that_were_killed_hold_no_place_that_a_newcomer_wants() {
    let receiver = Receiver::start(&[]);
    let source = Source::of(4_000_000);
    let mut senders: Vec<Kept> = (0..16)
        .map(|i| source.sent(&format!("cut{i}"), &receiver.address, &["-q", "--rate", "2M"]))
        .collect();
    until("a file under way", || receiver.holds_a_file());
    std::thread::sleep(Duration::from_secs(2));
    for sender in &mut senders {
        sender.kill().unwrap();
        sender.wait().unwrap();
    }
    newcomer_gets_in(&receiver);
}

/// The killed sender is asked, and not waited for once it has said nothing for 3 s.
#[test]
fn the_transfer_that_was_waited_for_is_told_soon_behind_one_whose_sender_was_killed() {
    let receiver = Receiver::start(&["--once"]);
    let source = Source::of(4_000_000);
    let mut killed = source.sent("cut", &receiver.address, &["-q", "--rate", "2M"]);
    until("a file under way", || receiver.holds_a_file());
    killed.kill().unwrap();
    killed.wait().unwrap();
    let whole = Source::of(1000);
    let sent: Said = whole.sent("whole", &receiver.address, &[]).wait_with_output().into();
    assert_eq!(sent.code, Some(0), "{sent:?}");
    let delivered_at = Instant::now();
    let (received, folder) = receiver.wait();
    assert!(delivered_at.elapsed() < Duration::from_secs(4), "{:?} behind it", delivered_at.elapsed());
    assert_eq!(received.code, Some(0), "{received:?}");
    let told: Vec<serde_json::Value> =
        received.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let errors: Vec<_> = told.iter().map(|result| result["error"]["code"].as_str()).collect();
    assert_eq!(errors, [Some("interrupted"), None], "{received:?}");
    assert_eq!(told[1]["files"][0]["name"], "whole");
    assert!(whole.is_at(folder.path(), "whole"));
}

#[test]
fn a_file_that_is_here_before_a_place_is_asked_for_needs_none() {
    let receiver = Receiver::start(&[]);
    let (large, small) = (Source::of(200_000), Source::of(1000));
    // All 16 places of one address: 200 kB at 100 kbit/s take 16 s.
    let senders: Vec<Kept> = (0..16)
        .map(|i| large.sent(&format!("slow{i}"), &receiver.address, &["-q", "--rate", "100k"]))
        .collect();
    std::thread::sleep(Duration::from_secs(2));
    for i in 0..5 {
        let name = format!("small{i}");
        let sent: Said = small.sent(&name, &receiver.address, &[]).wait_with_output().into();
        assert_eq!(sent.code, Some(0), "{sent:?}");
        assert!(!sent.err.contains("has no room"), "{sent:?}");
        assert!(small.is_at(receiver.path(), &name));
    }
    drop(senders);
}

#[test]
fn who_finds_every_place_taken_says_so_and_gets_in_when_one_is_free() {
    let receiver = Receiver::start(&[]);
    let source = Source::of(60_000);
    // From one address, which has 16 places: 60 kB at 100 kbit/s take 5 s.
    let mut senders: Vec<Kept> = (0..16)
        .map(|i| source.sent(&format!("slow{i}"), &receiver.address, &["-q", "--rate", "100k"]))
        .collect();
    std::thread::sleep(Duration::from_secs(2));
    let asked_at = Instant::now();
    let late: Said = source.sent("late", &receiver.address, &[]).wait_with_output().into();
    let took_s = asked_at.elapsed().as_secs_f64();
    assert_eq!(late.code, Some(0), "{late:?}");
    let told = late.json();
    let seconds = |value: &serde_json::Value| value.as_f64().unwrap();
    let (confirmed_s, busy_s) =
        (seconds(&told["confirmed_s"]), seconds(&told["limited_by"]["receiver_busy"]));
    let all_s: f64 = told["limited_by"].as_object().unwrap().values().map(seconds).sum();
    assert!((all_s - confirmed_s).abs() < 1e-6, "{told}");
    assert!(confirmed_s > took_s - 1.5 && confirmed_s < took_s, "the waiting counts: {took_s} s, {told}");
    assert!(busy_s > confirmed_s - 1.0 && busy_s < confirmed_s, "{told}");
    assert_eq!(late.err.matches("has no room for another transfer yet").count(), 1, "{late:?}");
    for sender in &mut senders {
        assert_eq!(sender.wait().unwrap().code(), Some(0), "who makes progress keeps its place");
    }
    let names = ["late".to_string()].into_iter().chain((0..16).map(|i| format!("slow{i}")));
    assert!(names.into_iter().all(|name| source.is_at(receiver.path(), &name)));
}

#[test]
fn a_transfer_of_which_a_file_is_kept_waits_for_a_place_instead_of_being_broken_off() {
    let receiver = Receiver::start(&[]);
    let source = Source::of(120_000);
    let slow = &["-q", "--rate", "100k"]; // 10 s
    // All 16 places of one address. One is left by a sender that stands still behind its first file.
    let mut senders: Vec<Kept> =
        (0..15).map(|i| source.sent(&format!("slow{i}"), &receiver.address, slow)).collect();
    let mut stopped = source.sent_second("stopped", &receiver.address, slow);
    until("a small file that is kept", || receiver.path().join("small-stopped").exists());
    let signal = |signal| kill_process(Pid::from_child(&stopped), signal).unwrap();
    signal(Signal::STOP);
    std::thread::sleep(Duration::from_secs(4));
    newcomer_gets_in(&receiver);
    // Nothing else is kept of this one while it finds no place.
    let mut late = source.sent_second("late", &receiver.address, slow);
    until("a small file that is kept", || receiver.path().join("small-late").exists());
    signal(Signal::CONT);
    for sender in senders.iter_mut().chain([&mut stopped, &mut late]) {
        assert_eq!(sender.wait().unwrap().code(), Some(0));
    }
    let names = ["stopped".to_string(), "late".into()].into_iter().chain((0..15).map(|i| format!("slow{i}")));
    assert!(names.into_iter().all(|name| source.is_at(receiver.path(), &name)));
}
