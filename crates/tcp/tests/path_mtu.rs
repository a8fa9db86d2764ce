//! Sizes that routers tell, and packets that vanish without a word [RFC 1191, 8201, 5927, 8899].

mod common;

use common::{Lone, PEER_PORT, plain, way};
use skyhaul_core::{CloseReason, Connections, NullSink, ResetReason, StreamEvent};
use skyhaul_tcp::scps::Scps;
use skyhaul_tcp::segment::{Options, flags};
use skyhaul_tcp::{Config, ControllerKind, IcmpMessage, State, Unreachable};

const fn too_big(mtu_bytes: u32) -> IcmpMessage {
    IcmpMessage::PacketTooBig { mtu_bytes }
}

/// Segments of 1460 bytes, ten of them under way, and more wait.
fn large() -> Lone {
    let mut lone = large_with(&plain());
    assert_eq!(sizes(&mut lone), [1460; 10]);
    lone
}

/// Segments of 1460 bytes wait.
fn large_with(config: &Config) -> Lone {
    let config = Config { mss_bytes: 1460, ..config.clone() };
    let mut lone =
        Lone::accepted(&config, Options { mss: Some(1460), sack_permitted: true, ..Options::default() });
    lone.write(60_000);
    lone
}

fn sizes(lone: &mut Lone) -> Vec<usize> {
    lone.hear().iter().map(|heard| heard.payload.len()).collect()
}

fn ignored(lone: &Lone) -> u64 {
    lone.endpoint.endpoint_stats().icmp_ignored
}

#[test]
fn packets_too_big_go_again_in_smaller_ones() {
    let mut lone = large();
    lone.icmp(too_big(1000), 1 + 1460);
    let again = lone.hear();
    assert_eq!((again[0].sequence, again[0].payload.len()), (1, 960), "from the oldest on");
    assert!(again[..15].iter().all(|heard| heard.payload.len() == 960), "a window of 14 600 bytes in 960s");
    let stats = lone.stats();
    assert_eq!((stats.cwnd_bytes, stats.timeouts), (14_600, 0), "no sign of congestion");
    assert_eq!(stats.lost_packets, [0, 0, 0, stats.retransmitted_packets], "no queue took them");
    lone.icmp(too_big(1000), 1 + 2 * 1460);
    assert_eq!((sizes(&mut lone).len(), ignored(&lone)), (0, 1), "the next router's word is no news");
    lone.ack(1, 1 + 960);
    assert_eq!(sizes(&mut lone)[0], 960);
}

#[test]
fn a_router_that_tells_no_size_is_answered_by_the_next_usual_one() {
    for expected in [1492, 1006, 508, 296] {
        let mut lone = large();
        lone.icmp(too_big(expected + 1), 1);
        lone.hear();
        lone.icmp(too_big(0), 1);
        assert_eq!(sizes(&mut lone)[0] as u32, expected - 40);
    }
}

#[test]
fn every_connection_of_the_way_learns_the_size() {
    let mut lone = large();
    let first = lone.id;
    let open = |lone: &mut Lone| {
        let config = Config { mss_bytes: 1460, ..plain() };
        lone.id = lone.endpoint.connect(lone.now, way(), PEER_PORT, None, config).unwrap();
        lone.local_port = lone.endpoint.local_port(lone.id).unwrap();
        lone.hear();
        lone.say(flags::SYN | flags::ACK, 0, 1, Options { mss: Some(1460), ..Options::default() }, b"");
        lone.write(5000);
        sizes(lone)
    };
    assert_eq!(open(&mut lone), [1460, 1460, 1460, 620]);
    lone.icmp(too_big(600), 1);
    let (full, last): (Vec<_>, Vec<_>) = sizes(&mut lone).into_iter().partition(|&size| size == 560);
    assert_eq!((full.len(), last), (8 + 26, vec![520]), "5000 bytes, and the window of the other one");
    assert_eq!(lone.endpoint.stats(first).unwrap().retransmitted_packets, 26);
    assert_eq!(open(&mut lone)[0], 560, "one that was opened later");
}

#[test]
fn impossible_sizes_are_counted_and_ignored() {
    let mut lone = large();
    for (count, impossible) in [67, 1500, 9000].into_iter().enumerate() {
        lone.icmp(too_big(impossible), 1);
        assert_eq!((sizes(&mut lone), ignored(&lone)), (vec![], count as u64 + 1));
    }
    lone.icmp(too_big(68), 1);
    assert_eq!(sizes(&mut lone)[0], 296 - 40, "never smaller than this");
}

/// Packets of a spacecraft have 90 octets [SCPS-TP 6.3].
#[test]
fn where_scps_tp_is_offered_packets_become_as_small_as_a_spacecraft_s() {
    let mut lone = large_with(&Config { scps: Some(Scps::standard()), ..plain() });
    assert_eq!(sizes(&mut lone)[0], 1460);
    for (told, payload) in [(200, 160), (68, 50)] {
        lone.icmp(too_big(told), 1);
        assert_eq!(sizes(&mut lone)[0], payload, "{told}");
    }
    lone.icmp(too_big(80), 1);
    assert_eq!((sizes(&mut lone), ignored(&lone)), (vec![], 1), "smaller ones are not cut");
}

#[test]
fn icmp_that_quotes_nothing_under_way_is_counted_and_ignored() {
    let mut lone = large();
    lone.ack(1, 1 + 1460);
    lone.hear();
    for number in [0, 1, 1460, 60_000, u32::MAX] {
        lone.icmp(too_big(600), number);
    }
    lone.endpoint.handle_icmp(lone.now, way(), too_big(600), (6, &[0; 7]), &mut NullSink);
    lone.endpoint.handle_icmp(lone.now, way(), too_big(600), (6, &[0; 8]), &mut NullSink);
    assert_eq!((sizes(&mut lone), ignored(&lone)), (vec![], 7));
    assert_eq!(lone.stats().refused, 5);
}

#[test]
fn after_ten_minutes_the_full_size_is_tried_again() {
    let mut lone = large();
    lone.icmp(too_big(1000), 1);
    while let Some(last) = lone.hear().last() {
        assert!(last.payload.len() <= 960);
        lone.ack(1, last.sequence + last.payload.len() as u32);
    }
    for (wait_s, size) in [(599, 960), (1, 1460)] {
        lone.wait_ms(wait_s * 1000);
        lone.write(3000);
        let heard = lone.hear();
        assert_eq!(heard[0].payload.len(), size);
        lone.ack(1, heard[0].sequence + 3000);
    }
}

#[test]
fn only_an_opening_is_ended_by_icmp() {
    for (why, reason) in [
        (Unreachable::Port, CloseReason::Reset(Some(ResetReason::Refused))),
        (Unreachable::Protocol, CloseReason::Unreachable),
        (Unreachable::Prohibited, CloseReason::Unreachable),
    ] {
        let (mut opening, _) = Lone::connecting(&plain());
        opening.icmp(IcmpMessage::Unreachable(why), 1);
        assert_eq!(opening.state(), State::SynSent, "quotes what was not sent");
        opening.icmp(IcmpMessage::Unreachable(why), 0);
        assert_eq!(opening.events(), [StreamEvent::Closed(Some(reason))]);
        let mut lone = large();
        lone.icmp(IcmpMessage::Unreachable(why), 1);
        assert_eq!((lone.state(), lone.endpoint.endpoint_stats().icmp_taken), (State::Established, 1));
    }
    let (mut opening, _) = Lone::connecting(&plain());
    for soft in [
        IcmpMessage::Unreachable(Unreachable::Net),
        IcmpMessage::Unreachable(Unreachable::Host),
        IcmpMessage::TimeExceeded,
        IcmpMessage::ParameterProblem,
    ] {
        opening.icmp(soft, 0);
        assert_eq!(opening.state(), State::SynSent);
    }
}

#[test]
fn what_routers_said_is_the_reason_when_nothing_comes() {
    let mut lone = large();
    lone.icmp(IcmpMessage::Unreachable(Unreachable::Net), 1);
    while lone.state() == State::Established {
        lone.wait();
        lone.hear();
    }
    assert_eq!(lone.events().last(), Some(&StreamEvent::Closed(Some(CloseReason::Unreachable))));
}

#[test]
fn large_packets_that_vanish_make_room_for_smaller_ones() {
    let mut lone = large();
    for _ in 0..2 {
        lone.wait();
        assert_eq!(sizes(&mut lone), [1460]);
    }
    lone.wait();
    assert_eq!(sizes(&mut lone), [1240], "a packet of 1280");
    lone.ack(1, 1241);
    assert_eq!(sizes(&mut lone)[0], 1460, "it may have been an outage");
    lone.wait();
    assert_eq!((sizes(&mut lone), lone.stats().black_holes), (vec![1240], 1));
    lone.ack(1, 1 + 2 * 1240);
    assert_eq!(sizes(&mut lone), [1240, 1240]);
}

/// The window was one small segment when the full size was tried again. Nothing fitted into it, so that only
/// probes of the peer's window went, for ever.
#[test]
fn a_window_of_one_small_segment_lets_a_larger_one_go() {
    let mut lone = large_with(&Config { controller: ControllerKind::Bbr, ..plain() });
    while sizes(&mut lone) != [536, 536] {
        lone.wait();
    }
    lone.ack(1, 1 + 2 * 536);
    assert_eq!(lone.stats().cwnd_bytes, 1240);
    while lone.stats().black_holes == 0 {
        lone.hear();
        lone.wait();
        assert_eq!(lone.stats().window_probes, 0);
    }
}

#[test]
fn an_outage_is_no_black_hole() {
    let mut lone = large();
    for _ in 0..3 {
        lone.wait();
        lone.hear();
    }
    lone.ack(1, 1241);
    assert_eq!(sizes(&mut lone)[0], 1460);
    lone.ack(1, 14_601);
    lone.hear();
    for _ in 0..2 {
        lone.wait();
        assert_eq!(sizes(&mut lone), [1460], "large ones had arrived");
    }
    assert_eq!(lone.stats().black_holes, 0);
}
