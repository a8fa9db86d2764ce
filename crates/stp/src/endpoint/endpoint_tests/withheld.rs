//! Peers that call received what never left.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use skyhaul_core::{CloseReason, ConnectionId, Connections, MS, ResetReason, SECOND, StreamEvent};

use super::bench::*;
use crate::segment::{decode, encode};
use crate::{Config, State};

/// How STATs lie: as one who tells when POLLs came, so that A measures, or one who does not, so that A
/// keeps a window.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lie {
    Timed,
    Untimed,
}

/// A writes 240 Mbit/s, some at a time, over 10 ms each way, for so long or until it has ended; with a lie,
/// B's STATs call everything received. Result: IP bytes that A sent, and megabits a second in the last 100
/// ms.
fn run(bench: &mut Bench, id: ConnectionId, ms: u64, lie: Option<Lie>) -> (u64, u64) {
    let (data, mut asked, mut sent) = (vec![7; 240_000], BTreeMap::new(), Vec::new());
    bench.delay_ns = 10 * MS;
    for at in 0..ms {
        if at % 8 == 0 {
            let _ = bench.a.write(id, &data);
        }
        bench.run(MS);
        for flight in &mut bench.wire {
            let Ok(mut segment) = decode(&flight.bytes) else { continue };
            if let (Side::B, Some(poll)) = (flight.to, segment.poll) {
                asked.insert(poll.timestamp, poll.next);
            }
            if let (Side::A, Some(lie)) = (flight.to, lie) {
                segment.ustat = None; // alone, it becomes nothing that A can read
                if let Some(stat) = &mut segment.stat {
                    stat.report.next = asked[&stat.echo];
                    (stat.report.start, stat.report.silent) = (0, None);
                    stat.report.runs.clear();
                    stat.timing = stat.timing.filter(|_| lie == Lie::Timed);
                }
                let mut bytes = Vec::new();
                encode(&segment, &mut bytes);
                flight.bytes = bytes;
            }
        }
        sent.push(bench.a.stats(id).unwrap().sent_bytes);
        if bench.a.state(id) == Some(State::Closed) {
            break;
        }
    }
    let before = sent[sent.len().saturating_sub(100)];
    (sent[sent.len() - 1], (sent[sent.len() - 1] - before) * 8 / 100_000)
}

fn opened() -> (Bench, ConnectionId) {
    let mut bench = Bench::new();
    let id = bench.open_with(Config::standard());
    (bench, id)
}

#[test]
fn a_peer_that_confirms_what_never_left_is_left_at_once() {
    for lie in [Lie::Timed, Lie::Untimed] {
        let (mut bench, id) = opened();
        let (sent_bytes, _) = run(&mut bench, id, 4000, Some(lie));
        assert!(bench.heard(Side::A, StreamEvent::Closed(Some(CloseReason::FalseReport))), "{sent_bytes}");
        assert!(sent_bytes < 100 << 20, "{sent_bytes}");
        bench.run(100 * MS);
        let told = CloseReason::Reset(Some(ResetReason::Protocol));
        assert!(bench.heard(Side::B, StreamEvent::Closed(Some(told))), "{:?}", bench.events);
    }
}

#[test]
fn an_honest_peer_calls_missing_what_never_left_and_nothing_is_lost() {
    let (mut bench, id) = opened();
    let (sent_bytes, rate_mbps) = run(&mut bench, id, 3000, None);
    let stats = bench.a.stats(id).unwrap();
    assert!(rate_mbps > 150, "{rate_mbps} Mbit/s");
    assert!((2..=12).contains(&stats.retransmitted_packets), "{}", stats.retransmitted_packets);
    assert_eq!(stats.lost_packets, [0; 4], "nothing was lost");
    assert_eq!((bench.a.state(id), stats.refused), (Some(State::Established), 0));
    let missing = sent_bytes.saturating_sub(bench.received(1).len() as u64);
    assert!(missing < 16 << 20, "{missing} of {sent_bytes}");
    assert!(bench.received(1).iter().all(|&byte| byte == 7));
}

/// Answers of B vanish for so long, again and again: while A asks, what it withheld just before may be all
/// that is missing, and no answer said more, for ever.
#[test]
fn a_sender_that_asks_for_what_it_withheld_itself_goes_on() {
    for phase in 0..8 {
        let (mut bench, id) = opened();
        let data = vec![7; 240_000];
        bench.delay_ns = 10 * MS;
        for at in 0..4000 {
            if at % 8 == 0 {
                let _ = bench.a.write(id, &data);
            }
            if (at + 53 * phase) % 420 < 150 {
                bench.wire.retain(|flight| flight.to == Side::B);
            }
            bench.run(MS);
        }
        bench.a.finish(id);
        bench.run(5 * SECOND);
        assert_eq!(bench.a.stats(id).unwrap().in_flight_bytes, 0, "phase {phase}: it stands still");
    }
}
