//! Explicit congestion notification: agreed on, marked on the way, echoed, and answered, in either direction.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use skyhaul_tcp::Config;

use crate::lab::{exchange, in_a_namespace, kernel_knows, sysctl};
use crate::socket::{from_kernel, to_kernel};
use crate::tap::{From, Out, Watcher, ecn, marked, payload_bytes, tcp};

/// Data packets between two marks.
const EVERY: u64 = 50;
const CE: u8 = 3;

/// Observations of one side.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    data: u64,
    /// Data packets that say that their sender understands marks.
    capable: u64,
    marks: u64,
    echoes: u64,
    answers: u64,
}

type Book = Arc<Mutex<BTreeMap<From, Seen>>>;

/// Marks some of the data of both sides.
fn marking(book: Book) -> impl Watcher {
    move |from, packet: Vec<u8>, out: &mut Out| {
        let Some(header) = tcp(&packet) else { return out.push((from, packet)) };
        let mut book = book.lock().unwrap();
        let seen = book.entry(from).or_default();
        let has_data = payload_bytes(&packet) > 0;
        seen.data += u64::from(has_data);
        seen.capable += u64::from(has_data && ecn(&packet) != 0);
        seen.echoes += u64::from(header.ece && !header.syn);
        seen.answers += u64::from(header.cwr && !header.syn);
        if has_data && ecn(&packet) != 0 && seen.data.is_multiple_of(EVERY) {
            seen.marks += 1;
            let packet = marked(&packet);
            assert_eq!(ecn(&packet), CE);
            return out.push((from, packet));
        }
        out.push((from, packet));
    }
}

#[test]
fn marks_are_echoed_and_answered_by_either() {
    for we_connect in [true, false] {
        in_a_namespace(async move |lab| {
            sysctl("tcp_ecn", "1");
            let book = Book::default();
            let (host, _tap) = lab.tapped(marking(Arc::clone(&book)));
            let (ours, kernel) = if we_connect {
                to_kernel(&host, 0, None, Config::standard()).await
            } else {
                from_kernel(&host, 1, None).await
            };
            assert!(kernel_knows().contains(" ecn "), "{}", kernel_knows());
            let monitor = ours.monitor();
            let ((), reduced) = tokio::join!(exchange(ours, kernel, 2_000_000, 2_000_000), async {
                let mut stats = monitor.stats();
                while let Some(now) = monitor.stats() {
                    stats = Some(now);
                    tokio::time::sleep(std::time::Duration::from_millis(1)).await;
                }
                stats.unwrap()
            });
            let book = book.lock().unwrap();
            for from in [From::Ours, From::Kernel] {
                let seen = book[&from];
                assert!(seen.marks > 0 && seen.echoes > 0 && seen.answers > 0, "{from:?}: {seen:?}");
            }
            assert!(reduced.ecn_reductions > 0 && reduced.ce_packets > 0, "{reduced:?}");
        });
    }
}

#[test]
fn who_does_not_want_marks_gets_none() {
    in_a_namespace(async |lab| {
        sysctl("tcp_ecn", "1");
        let book = Book::default();
        let (host, _tap) = lab.tapped(marking(Arc::clone(&book)));
        let (ours, kernel) = to_kernel(&host, 0, None, Config { ecn: false, ..Config::standard() }).await;
        exchange(ours, kernel, 500_000, 500_000).await;
        sysctl("tcp_ecn", "0");
        let (ours, kernel) = to_kernel(&host, 0, None, Config::standard()).await;
        exchange(ours, kernel, 500_000, 500_000).await;
        let book = book.lock().unwrap();
        assert!(book.values().all(|seen| seen.data > 0 && seen.capable == 0), "{book:?}");
    });
}
