//! SCPS-TP, one mechanism a test, as a packet trace against a scripted peer. Its round trip is 100 ms.

mod common;

use common::{Lone, PEER_INITIAL, PEER_PORT, PORT, plain, stamps, way};
use skyhaul_core::{MS, NullSink, Verdict};
use skyhaul_tcp::scps::{
    CAPABILITIES, CORRUPTION, Capabilities, SNACK, Scps, Snack, SnackOption, SnackUnit, facility,
};
use skyhaul_tcp::segment::{ExtraOptions, Options, flags};
use skyhaul_tcp::{AckPolicy, Config, ControllerKind, IcmpMessage, Prefix, Route, Routes, Signals, State};

/// Ends without timestamps, so that blocks have 1000 bytes; a window that stays open.
fn speaking(scps: Scps) -> Config {
    Config { scps: Some(scps), send_limit_bytes: 60_000, ..plain() }
}

/// No control of congestion, losses are damage, an acknowledgement every 50 ms.
fn declared() -> Scps {
    Scps {
        controller: ControllerKind::Off,
        pacing_percent: None,
        loss_cause: Verdict::Corruption,
        ack_policy: AckPolicy::Reduced { every_packets: u32::MAX, delay_ns: 50 * MS },
        ..Scps::standard()
    }
}

fn with(kind: u8, value: &[u8]) -> Options {
    let mut extra = ExtraOptions::default();
    assert!(extra.push(kind, value));
    Options { extra, ..Options::default() }
}

fn offer(facilities: u8) -> Options {
    Options { mss: Some(1000), sack_permitted: true, ..with(CAPABILITIES, &[facilities, 7]) }
}

/// Prefix of the scripted peer.
const PEERS: &str = "10.0.0.0/24";
/// Round trip of the scripted peer, in ms.
const RTT_MS: u64 = 100;

/// A peer that offers this opened a connection.
fn accepted_with(config: &Config, options: Options) -> Lone {
    let mut lone = Lone::new(config);
    lone.say(flags::SYN, 0, 0, options, b"");
    lone.one();
    lone.wait_ms(RTT_MS);
    lone.ack(1, 1);
    lone.take();
    lone
}

fn accepted(scps: Scps) -> Lone {
    accepted_with(&speaking(scps), offer(facility::SNACK | facility::SNACK_VECTOR))
}

/// Ten segments of 1000 bytes are under way and nothing more waits.
fn ten_under_way(scps: Scps) -> Lone {
    let mut lone = accepted(scps);
    lone.write(10_000);
    assert_eq!(lone.data_sent().len(), 10);
    lone
}

/// Time in ms to the next thing that it does by itself, which is reached; until then it says nothing.
fn wait(lone: &mut Lone) -> u64 {
    assert_eq!(lone.hear(), []);
    lone.wait()
}

/// Options that tell these holes, in blocks.
fn holes(holes: &[(u16, u16)]) -> Options {
    let mut extra = ExtraOptions::default();
    for &(offset, size) in holes {
        assert!(SnackOption { offset, size, vector: &[] }.push(&mut extra));
    }
    Options { extra, ..Options::default() }
}

fn snack(lone: &mut Lone, acknowledgement: u32, options: Options) {
    lone.say(flags::ACK, 1, acknowledgement, options, b"");
}

/// Values of the negative acknowledgements of what it sends now, which is one acknowledgement.
fn told(lone: &mut Lone) -> Vec<Vec<u8>> {
    let heard = lone.one();
    assert_eq!((heard.flags, heard.options.sack.as_slice()), (flags::ACK, &[][..]));
    heard.options.extra.iter().filter(|&(kind, _)| kind == SNACK).map(|(_, value)| value.to_vec()).collect()
}

#[test]
fn both_syns_carry_the_offer_and_sack_stands_beside_it() {
    let config = speaking(declared());
    let (mut lone, syn) = Lone::connecting(&config);
    let ours = Capabilities { facilities: 0x60, connection_id: 1 };
    assert_eq!((Capabilities::find(&syn.options.extra), syn.options.sack_permitted), (Some(ours), true));
    lone.say(flags::SYN | flags::ACK, 0, 1, offer(0xFF), b"");
    lone.hear();
    lone.write(2000);
    assert_eq!(lone.data_sent(), [1, 1001]);
    snack(&mut lone, 1, holes(&[(0, 1)]));
    assert_eq!(lone.data_sent(), [1], "it was agreed");
    let mut lone = Lone::new(&config);
    lone.say(flags::SYN, 0, 0, offer(facility::SNACK), b"");
    let answer = lone.one().options;
    assert_eq!((Capabilities::find(&answer.extra), answer.sack_permitted), (Some(ours), false));
}

#[test]
fn a_peer_without_the_offer_meets_plain_tcp() {
    let config = speaking(declared());
    let ordinary = Options { mss: Some(1000), sack_permitted: true, ..Options::default() };
    for role in ["opens", "accepts"] {
        let mut lone = if role == "opens" {
            let (mut lone, _) = Lone::connecting(&config);
            lone.say(flags::SYN | flags::ACK, 0, 1, ordinary, b"");
            lone.hear();
            lone
        } else {
            let mut lone = Lone::new(&config);
            lone.say(flags::SYN, 0, 0, ordinary, b"");
            let answer = lone.one().options;
            assert_eq!((answer.extra, answer.sack_permitted), (ExtraOptions::default(), true));
            lone.ack(1, 1);
            lone.take();
            lone
        };
        lone.write(40_000);
        assert_eq!(lone.data_sent().len(), 10, "{role}: the controller of plain TCP");
        snack(&mut lone, 1, Options { extra: holes(&[(0, 1)]).extra, ..with(CAPABILITIES, &[0x60, 1]) });
        assert_eq!(lone.data_sent(), [], "{role}: late, and never agreed");
        lone.sack(1, &[(1001, 4001)]);
        assert_eq!((lone.data_sent()[0], lone.stats().cwnd_bytes), (1, 5000), "{role}");
        lone.data(1001, &[7; 10]);
        let answer = lone.hear().pop().unwrap().options;
        assert_eq!((answer.extra, answer.sack.as_slice().len()), (ExtraOptions::default(), 1), "{role}");
    }
}

#[test]
fn holes_go_again_at_once_before_new_data_and_without_duplicates() {
    let mut lone = accepted(Scps { snack: Snack::Short, ..declared() });
    lone.peer_window = 10_000;
    lone.ack(1, 1);
    lone.write(40_000);
    assert_eq!(lone.data_sent().len(), 10);
    lone.peer_window = 12_000;
    snack(&mut lone, 1, holes(&[(0, 1), (3, 2), (8, 1)]));
    assert_eq!(lone.data_sent(), [1, 3001, 4001, 8001, 10_001, 11_001]);
    assert_eq!((lone.stats().cwnd_bytes, lone.stats().timeouts), (60_000, 0));
}

#[test]
fn nothing_goes_twice_within_a_round_trip() {
    let mut lone = ten_under_way(declared());
    lone.wait_ms(RTT_MS);
    snack(&mut lone, 1, holes(&[(0, 1)]));
    assert_eq!(lone.data_sent(), [1]);
    lone.wait_ms(50);
    snack(&mut lone, 1, holes(&[(0, 1), (4, 1)]));
    assert_eq!(lone.data_sent(), [4001], "the first one is under way again");
    lone.wait_ms(49);
    snack(&mut lone, 1, holes(&[(0, 1), (4, 1)]));
    assert_eq!(lone.data_sent(), []);
    lone.wait_ms(1);
    snack(&mut lone, 1, holes(&[(0, 1), (4, 1)]));
    assert_eq!(lone.data_sent(), [1]);
    snack(&mut lone, 4001, holes(&[(0, 1)]));
    assert_eq!(lone.data_sent(), []);
    lone.wait_ms(50);
    snack(&mut lone, 4001, holes(&[(0, 1)]));
    assert_eq!(lone.data_sent(), [4001], "counted from another acknowledgement");
}

/// [SCPS-TP 3.3.2]: what a request names goes again as it comes.
#[test]
fn where_each_request_counts_what_is_asked_for_goes_again_however_lately_it_did() {
    let mut lone = ten_under_way(Scps { repeats_each_request: true, ..declared() });
    lone.wait_ms(RTT_MS);
    for asked in [&[(0, 1)][..], &[(0, 1), (4, 1)], &[(0, 1), (4, 1)]] {
        snack(&mut lone, 1, holes(asked));
        let wanted: Vec<u32> = asked.iter().map(|&(offset, _)| 1 + 1000 * u32::from(offset)).collect();
        assert_eq!(lone.data_sent(), wanted);
        lone.wait_ms(10);
    }
    snack(&mut lone, 1001, holes(&[(3, 1)]));
    assert_eq!(lone.data_sent(), [4001], "and nothing that was not asked for");
}

/// Ends of a hole are moved out to blocks, where segments lie that have arrived.
#[test]
fn a_segment_that_a_hole_only_touches_stays_where_it_is() {
    let mut lone = accepted(Scps { snack: Snack::Short, ..declared() });
    for bytes in [1000, 500, 1000, 1000, 1000] {
        lone.write(bytes);
        lone.hear();
    }
    lone.wait_ms(RTT_MS);
    snack(&mut lone, 1, holes(&[(0, 1), (2, 2)]));
    assert_eq!(
        lone.data_sent(),
        [1, 2501],
        "2001 to 4000 is missing, or less than a block at either end is there"
    );
    let mut lone = accepted(Scps { snack: Snack::Short, ..declared() });
    for bytes in [500, 1000, 1000, 1000] {
        lone.write(bytes);
        lone.hear();
    }
    lone.wait_ms(RTT_MS);
    snack(&mut lone, 1, holes(&[(1, 1)]));
    assert_eq!(lone.data_sent(), [1001], "none lies in it as a whole: all that does");
}

#[test]
fn a_peer_as_the_reference_implementation_names_the_left_edge_three_times() {
    // One hole of six octets an acknowledgement; two padding octets are the encoder's.
    let mut lone = accepted_with(&speaking(declared()), offer(facility::SNACK));
    lone.write(10_000);
    lone.hear();
    lone.wait_ms(RTT_MS);
    let mut sent = Vec::new();
    for hole in [(0, 2), (0, 2), (0, 2), (5, 1), (8, 1)] {
        snack(&mut lone, 1, holes(&[hole]));
        sent.extend(lone.data_sent());
        lone.wait_ms(20);
    }
    assert_eq!(sent, [1, 1001, 5001, 8001], "each once");
    lone.ack(1, 10_001);
    assert_eq!((lone.stats().in_flight_bytes, lone.data_sent()), (0, vec![]));
}

#[test]
fn a_vector_tells_holes_behind_the_first_where_both_know_it() {
    let value = [0, 1, 0, 1, 0b1101_0100];
    for (facilities, expected) in [(0x60, vec![1001, 4001, 6001]), (0x40, vec![1001])] {
        let mut lone = accepted_with(&speaking(declared()), offer(facilities));
        lone.write(10_000);
        lone.hear();
        snack(&mut lone, 1, with(SNACK, &value));
        assert_eq!(lone.data_sent(), expected);
        let in_flight = if facilities == 0x60 { 10_000 - 4000 } else { 10_000 };
        assert_eq!(lone.stats().in_flight_bytes, in_flight, "what is there is under way no more");
    }
}

#[test]
fn what_was_said_to_be_there_goes_again_when_it_is_asked_for() {
    let mut lone = ten_under_way(declared());
    snack(&mut lone, 1, holes(&[(0, 1), (6, 1)]));
    assert_eq!((lone.data_sent(), lone.stats().in_flight_bytes), (vec![1, 6001], 5000));
    snack(&mut lone, 1, holes(&[(3, 1)]));
    assert_eq!((lone.data_sent(), lone.stats().in_flight_bytes), (vec![3001], 6000));
}

#[test]
fn a_timeout_repeats_the_oldest_segment_alone_and_damage_backs_nothing_off() {
    let mut lone = ten_under_way(declared());
    let tail = wait(&mut lone);
    assert_eq!(lone.data_sent(), [9001], "first the last one again, that the peer may see holes");
    assert_eq!(tail, 2 * RTT_MS);
    // 200 ms over the round trip, and the 50 ms for which an acknowledgement may wait.
    for _ in 0..3 {
        assert_eq!((wait(&mut lone), lone.data_sent()), (350, vec![1]), "the timeout stays as it was");
    }
    snack(&mut lone, 1001, holes(&[(0, 3), (5, 2)]));
    assert_eq!(lone.data_sent(), [1001, 2001, 3001, 6001, 7001], "the holes that it left, at once");
    assert_eq!(lone.stats().cwnd_bytes, 60_000);
}

/// A timer that is shorter than the round trip repeats every segment, and what was repeated measures none:
/// four connections over 3 kbit/s repeated for ever what had arrived.
#[test]
fn until_a_round_trip_is_known_the_timer_backs_off_though_losses_are_damage() {
    let mut lone = Lone::new(&speaking(declared()));
    lone.say(flags::SYN, 0, 0, offer(facility::SNACK), b"");
    lone.one();
    lone.wait();
    lone.one();
    lone.ack(1, 1);
    lone.take();
    assert_eq!(lone.stats().rtt_smoothed_ns, None, "the answer went twice");
    lone.write(1000);
    assert_eq!(lone.data_sent(), [1]);
    let waits = [(); 4].map(|()| (wait(&mut lone), lone.data_sent()));
    let expected = [1000, 3000, 6000, 12_000].map(|ms| (ms, vec![1]));
    assert_eq!(waits, expected, "the last segment once more, and then the timer");
    lone.ack(1, 1001);
    lone.write(1000);
    assert_eq!((lone.data_sent(), lone.stats().rtt_smoothed_ns), (vec![1001], None));
    lone.wait_ms(4000);
    assert_eq!(lone.data_sent(), [], "the timer still waits as long as it did");
    lone.ack(1, 2001);
    assert_eq!(lone.stats().rtt_smoothed_ns, Some(4000 * MS));
    lone.write(1000);
    assert_eq!(lone.data_sent(), [2001]);
    let waits = [(); 4].map(|()| (wait(&mut lone), lone.data_sent()[0]));
    assert_eq!(waits[1], waits[3], "now it is known: {waits:?}");
}

/// The window is a segment already, and the threshold stays as it is [RFC 5681 3.1].
#[test]
fn what_is_asked_for_again_after_a_timeout_belongs_to_it() {
    let mut lone = ten_under_way(Scps {
        controller: ControllerKind::Vegas,
        loss_cause: Verdict::Congestion,
        ..declared()
    });
    wait(&mut lone);
    assert_eq!(lone.data_sent(), [9001]);
    wait(&mut lone);
    assert_eq!(lone.data_sent(), [1]);
    for _ in 0..3 {
        lone.wait_ms(RTT_MS);
        snack(&mut lone, 1, holes(&[(0, 1)]));
        assert_eq!(lone.data_sent(), [1], "it was lost again");
    }
    let stats = lone.stats();
    assert_eq!((stats.timeouts, stats.recoveries, stats.cwnd_bytes), (1, 0, 1000));
    lone.ack(1, 1001);
    lone.data_sent();
    lone.wait_ms(RTT_MS);
    snack(&mut lone, 1001, holes(&[(0, 1)]));
    assert_eq!(lone.data_sent().first(), Some(&1001));
}

/// The reference implementation asks after 5, 6, 12, 24, 48 and 60 s, whatever the round trip is.
#[test]
fn a_closed_window_is_asked_for_after_a_timeout_and_then_after_twice_the_time() {
    let mut lone = accepted(declared());
    lone.peer_window = 0;
    lone.ack(1, 1);
    lone.write(1000);
    assert_eq!(lone.hear(), []);
    let mut waits = Vec::new();
    for _ in 0..10 {
        waits.push(wait(&mut lone));
        assert_eq!(lone.one().payload.len(), 1, "a probe of an octet");
        lone.ack(1, 1);
    }
    let expected: Vec<u64> = (0..10).map(|n| u64::min(350 << n, 60_000)).collect();
    assert_eq!(waits, expected, "a minute at most, damage or not");
    lone.peer_window = 1000;
    lone.ack(1, 1);
    assert_eq!(lone.data_sent(), [1]);
}

/// Fifteen timeouts of 350 ms would be over within 6 s.
#[test]
fn where_the_timer_does_not_back_off_an_outage_has_as_much_time_as_where_it_does() {
    let mut lone = ten_under_way(declared());
    let begun = lone.now;
    while lone.state() == State::Established {
        lone.wait();
        let octets: usize = lone.hear().iter().map(|heard| heard.payload.len()).sum();
        assert!(octets <= 1000, "one segment at a time, or as much in smaller ones");
    }
    let timeouts = |n: u32| u64::min(350 << n, 60_000);
    let patience_ms: u64 = (1..=15).map(timeouts).sum();
    let lasted_ms = lone.now.since(begun) / MS;
    assert!((patience_ms..patience_ms + 1000).contains(&lasted_ms), "{lasted_ms} ms, and not {patience_ms}");
}

#[test]
fn at_the_end_the_last_segment_is_repeated_so_that_holes_are_seen() {
    let mut lone = ten_under_way(declared());
    lone.wait_ms(RTT_MS);
    lone.ack(1, 7001);
    assert_eq!((wait(&mut lone), lone.data_sent()), (2 * RTT_MS, vec![9001]), "three were lost at the end");
    snack(&mut lone, 7001, holes(&[(0, 2)]));
    assert_eq!(lone.data_sent(), [7001, 8001]);
    lone.wait_ms(RTT_MS);
    lone.ack(1, 8001);
    assert_eq!((wait(&mut lone), lone.data_sent()), (2 * RTT_MS, vec![9001]), "a repeat was lost, too");
}

/// Waits for two timeouts, each of which repeats the oldest segment.
fn two_timeouts(lone: &mut Lone) -> [u64; 2] {
    [0; 2].map(|_| {
        let waited = wait(lone);
        assert_eq!(lone.data_sent(), [1]);
        waited
    })
}

#[test]
fn losses_are_congestion_unless_the_route_or_the_peer_says_otherwise() {
    let by_default = |loss_cause| Scps { controller: ControllerKind::Vegas, loss_cause, ..declared() };
    let damage = with(CORRUPTION, &[]);
    let window = |scps: Scps, says_damage: bool, named: Option<Verdict>| {
        let mut lone = ten_under_way(scps);
        if let Some(cause) = named {
            lone.endpoint.assume_loss_cause(lone.now, way(), cause);
        }
        let mut options = holes(&[(0, 1)]);
        if says_damage {
            assert!(options.extra.push(CORRUPTION, &[]));
        }
        snack(&mut lone, 1, options);
        assert_eq!(lone.data_sent(), [1]);
        lone.stats().cwnd_bytes
    };
    assert_eq!(window(by_default(Verdict::Congestion), false, None), 5000);
    assert_eq!(window(by_default(Verdict::Congestion), true, None), 10_000);
    assert_eq!(window(by_default(Verdict::Corruption), false, None), 10_000);
    assert_eq!(window(by_default(Verdict::Corruption), false, Some(Verdict::Congestion)), 5000);
    assert_eq!(window(by_default(Verdict::Congestion), false, Some(Verdict::Corruption)), 10_000);
    assert_eq!(window(by_default(Verdict::Congestion), true, Some(Verdict::Congestion)), 10_000);
    let mut lone = ten_under_way(by_default(Verdict::Congestion));
    snack(&mut lone, 1, damage);
    assert_eq!((wait(&mut lone), lone.data_sent()), (200, vec![9001]));
    let timeouts = two_timeouts(&mut lone);
    assert_eq!((timeouts, lone.stats().cwnd_bytes), ([350, 350], 10_000), "no backoff while it is said");
    snack(&mut lone, 1, Options::default());
    let timeouts = two_timeouts(&mut lone);
    assert!(timeouts[1] >= 2 * timeouts[0] && lone.stats().cwnd_bytes == 1000, "{timeouts:?}");
}

/// A peer that calls everything damage, and asks for all that is under way each millisecond, gets no more
/// than the declared rate and a burst.
#[test]
fn a_liar_s_word_of_damage_gets_no_more_than_the_declared_rate() {
    const RATE_BPS: u64 = 800_000;
    let config = Config { rate_bps: Some(RATE_BPS), ..speaking(declared()) };
    let mut lone = accepted_with(&config, offer(facility::SNACK | facility::SNACK_VECTOR));
    let before = lone.stats();
    lone.write(60_000);
    for ms in 1..=5_000 {
        lone.wait_ms(1);
        let mut options = holes(&[(0, 60)]);
        assert!(options.extra.push(CORRUPTION, &[]));
        snack(&mut lone, 1, options);
        lone.hear();
        let sent_bytes = lone.stats().sent_bytes - before.sent_bytes;
        // 10 ms of the rate may leave at once, and a packet that was begun.
        assert!(sent_bytes <= RATE_BPS / 8 * (ms + 10) / 1000 + 1040, "{sent_bytes} in {ms} ms");
    }
    let sent_bytes = lone.stats().sent_bytes - before.sent_bytes;
    assert!(sent_bytes >= RATE_BPS / 8 * 4, "{sent_bytes}: what it asks for goes, at the rate");
}

/// Vegas goes by round trips: as they grow it lowers its window, whatever is said of damage.
#[test]
fn a_liar_s_word_of_damage_hides_no_queue_from_vegas() {
    let windows = |says_damage: bool| {
        let scps = Scps { controller: ControllerKind::Vegas, ..declared() };
        let mut lone = accepted(scps);
        let mut acknowledged = 1;
        let said = || if says_damage { with(CORRUPTION, &[]) } else { Options::default() };
        let round_trips = [100, 100, 100, 100, 300, 300, 300, 300, 300, 300];
        round_trips.map(|ms| {
            lone.write(20_000);
            let sent = lone.data_sent();
            lone.wait_ms(ms);
            acknowledged = sent.last().map_or(acknowledged, |last| last + 1000);
            snack(&mut lone, acknowledged, said());
            lone.stats().cwnd_bytes
        })
    };
    let told = windows(true);
    assert_eq!(told, windows(false));
    assert!(told[9] < told[4], "{told:?}");
}

#[test]
fn a_signal_that_a_route_does_not_obey_changes_nothing() {
    let congestion =
        Scps { controller: ControllerKind::Vegas, loss_cause: Verdict::Congestion, ..declared() };
    let window = |corruption| {
        let route =
            Route { obeys: Signals { corruption, ..Signals::ALL }, ..Route::to(PEERS.parse().unwrap()) };
        let routes = Routes::new(vec![route]).unwrap();
        let config = Config { routes, ..speaking(congestion.clone()) };
        let mut lone = accepted_with(&config, offer(facility::SNACK | facility::SNACK_VECTOR));
        lone.write(10_000);
        assert_eq!(lone.data_sent().len(), 10);
        let mut options = holes(&[(0, 1)]);
        assert!(options.extra.push(CORRUPTION, &[]));
        snack(&mut lone, 1, options);
        assert_eq!(lone.data_sent(), [1]);
        lone.stats().cwnd_bytes
    };
    assert_eq!([true, false].map(window), [10_000, 5000]);
}

#[test]
fn a_route_asks_for_marks_only_where_it_obeys_them() {
    let asks = |ecn, prefix: Prefix| {
        let route = Route { obeys: Signals { ecn, ..Signals::ALL }, ..Route::to(prefix) };
        let routes = Routes::new(vec![route]).unwrap();
        let (_, syn) = Lone::connecting(&Config { ecn: true, routes, ..plain() });
        syn.flags & (flags::ECE | flags::CWR) != 0
    };
    let (peers, elsewhere) = (PEERS.parse().unwrap(), "192.0.2.0/24".parse().unwrap());
    assert_eq!([asks(true, peers), asks(false, peers), asks(false, elsewhere)], [true, false, true]);
}

#[test]
fn acknowledgements_by_octets_go_with_the_data_and_by_time_with_small_blocks() {
    let ack_policy = AckPolicy::Bytes { every_bytes: 2500, delay_ns: 80 * MS };
    let mut lone = accepted(Scps { ack_policy, ..declared() });
    let heard = |lone: &mut Lone, numbers: &[u32], bytes: usize| {
        let say = |n: &u32| {
            lone.data(1 + n, &vec![7; bytes]);
            lone.hear().len()
        };
        numbers.iter().map(say).sum::<usize>()
    };
    assert_eq!(heard(&mut lone, &[0, 1000, 2000, 3000, 4000, 5000], 1000), 2, "each third one");
    assert_eq!(heard(&mut lone, &[6000], 1000), 0);
    assert_eq!((wait(&mut lone), lone.one().acknowledgement), (80, 7001), "alone");
    assert_eq!(heard(&mut lone, &[8000, 9000, 10_000], 1000), 1, "with a hole in front, too");
    assert_eq!(heard(&mut lone, &[7000, 7100, 7200], 100), 0);
    assert_eq!((wait(&mut lone), lone.one().acknowledgement), (80, 7301), "small ones wait together");
}

#[test]
fn a_plain_peer_cannot_say_damage() {
    let ordinary = Options { mss: Some(1000), sack_permitted: true, ..Options::default() };
    let mut lone = accepted_with(&speaking(declared()), ordinary);
    lone.write(10_000);
    lone.hear();
    snack(&mut lone, 1, with(CORRUPTION, &[]));
    lone.sack(1, &[(1001, 4001)]);
    assert_eq!((lone.data_sent(), lone.stats().cwnd_bytes), (vec![1], 5000));
}

#[test]
fn a_receiver_tells_holes_with_each_acknowledgement_and_nothing_but_the_end_is_urgent() {
    let mut lone = accepted(Scps { snack: Snack::Short, ..declared() });
    for n in [1, 3, 4, 7, 9] {
        lone.data(1 + 1000 * n, &[7; 1000]);
        assert_eq!(lone.hear(), []);
    }
    assert_eq!(wait(&mut lone), 50);
    assert_eq!(told(&mut lone), [[0, 0, 0, 1], [0, 2, 0, 1], [0, 5, 0, 2], [0, 8, 0, 1]]);
    lone.data(1, &[7; 1000]);
    wait(&mut lone);
    assert_eq!(told(&mut lone), [[0, 0, 0, 1], [0, 3, 0, 2], [0, 6, 0, 1]], "counted from 2001");
    for n in [2, 5, 6] {
        lone.data(1 + 1000 * n, &[7; 1000]);
    }
    lone.say(flags::ACK | flags::FIN, 8001, 1, Options::default(), &[7; 2000]);
    let heard = lone.one();
    assert_eq!((heard.acknowledgement, heard.options.extra), (10_002, ExtraOptions::default()));
}

/// The last segment that is repeated at the end may be the FIN alone.
#[test]
fn an_end_without_data_shows_what_is_missing_before_it() {
    let mut lone = accepted(Scps { snack: Snack::Short, ..declared() });
    lone.say(flags::ACK | flags::FIN, 4501, 1, Options::default(), b"");
    lone.wait_ms(50);
    let [told] = &told(&mut lone)[..] else { panic!("one hole") };
    let hole = SnackOption::decode(told).unwrap();
    assert_eq!((hole.offset, hole.size), (0, 5), "4500 octets in blocks of 1000");
}

#[test]
fn where_one_may_be_told_the_offset_moves_on_from_acknowledgement_to_acknowledgement() {
    let mut lone = accepted(Scps { snack: Snack::Short, max_snacks: 1, ..declared() });
    let offsets: Vec<u8> = (0..5)
        .map(|n| {
            lone.data(1 + 1000 * (2 * n + 1), &[7; 1000]);
            wait(&mut lone);
            let told = told(&mut lone);
            assert_eq!(told.len(), 1);
            told[0][1]
        })
        .collect();
    assert_eq!(offsets, [0, 2, 4, 0, 6], "a hole was added each time; the first again, a round trip later");
}

#[test]
fn a_receiver_that_knows_vectors_tells_blocks() {
    let mut lone = accepted(declared());
    for n in [1, 3, 4, 6] {
        lone.data(1 + 1000 * n, &[7; 1000]);
    }
    wait(&mut lone);
    assert_eq!(told(&mut lone), [[0, 0, 0, 1, 0b1011_0100]]);
}

#[test]
fn acknowledgements_go_with_the_round_trip() {
    for acks in [1, 2, 8] {
        let ack_policy = AckPolicy::PerRoundTrip { acks };
        let mut lone = accepted(Scps { ack_policy, ..declared() });
        (0..20).for_each(|n| lone.data(1 + 100 * n, &[7; 100]));
        assert_eq!((wait(&mut lone), lone.one().acknowledgement), (RTT_MS / u64::from(acks), 2001));
    }
    // Echoes of our clock tell a round trip of 400 ms, which the handshake did not.
    let scps = Scps { ack_policy: AckPolicy::PerRoundTrip { acks: 1 }, ..declared() };
    let config = Config { timestamps: true, ..speaking(scps) };
    let mut lone = Lone::new(&config);
    lone.say(flags::SYN, 0, 0, Options { timestamps: stamps(1, 0).timestamps, ..offer(0x40) }, b"");
    let mut echo = lone.one().options.timestamps.unwrap().value;
    lone.wait_ms(RTT_MS);
    lone.say(flags::ACK, 1, 1, stamps(2, echo), b"");
    let mut waits = Vec::new();
    for n in 0..3 {
        lone.say(flags::ACK, 1 + 100 * n, 1, stamps(3 + n, echo), &[7; 100]);
        waits.push(wait(&mut lone));
        echo = lone.one().options.timestamps.unwrap().value;
        lone.wait_ms(400);
    }
    assert_eq!(waits, [RTT_MS, 400, 400]);
}

#[test]
fn a_receiver_that_is_told_of_damage_says_so_for_two_round_trips() {
    let mut lone = accepted(declared());
    let mut number = 1;
    let mut says = |lone: &mut Lone| {
        lone.data(number, &[7; 100]);
        number += 100;
        wait(lone);
        lone.one().options.extra.get(CORRUPTION).is_some()
    };
    assert!(!says(&mut lone));
    lone.endpoint.report_damage(lone.now, way());
    assert_eq!([says(&mut lone), says(&mut lone), says(&mut lone)], [true, true, true]);
    assert!(!says(&mut lone), "200 ms have passed");
    lone.endpoint.report_damage(lone.now, way());
    assert!(says(&mut lone));
    lone.endpoint.report_damage(lone.now, way());
    assert_eq!([says(&mut lone), says(&mut lone), says(&mut lone)], [true, true, true], "refreshed");
}

/// Anybody can send ICMP; who sees no packets does not know the numbers.
#[test]
fn a_router_s_word_of_damage_counts_where_it_quotes_what_the_peer_may_send() {
    let mut lone = accepted(declared());
    let mut next = 1;
    let mut told = |lone: &mut Lone, [source, destination]: [u16; 2], ahead: u32| {
        let number = PEER_INITIAL.wrapping_add(next).wrapping_add(ahead).to_be_bytes();
        let quoted = [&source.to_be_bytes()[..], &destination.to_be_bytes(), &number].concat();
        let message = IcmpMessage::CorruptionExperienced;
        lone.endpoint.handle_icmp(lone.now, way(), message, (6, &quoted), &mut NullSink);
        lone.data(next, &[7; 100]);
        next += 100;
        wait(lone);
        (lone.one().options.extra.get(CORRUPTION).is_some(), lone.endpoint.endpoint_stats().icmp_ignored)
    };
    let there = [PEER_PORT, PORT];
    // No window is scaled here.
    for (n, ahead) in [0x1_0000, 0u32.wrapping_sub(0x1_0000), 1 << 31].into_iter().enumerate() {
        assert_eq!(told(&mut lone, there, ahead), (false, n as u64 + 1), "{ahead:#x} from the next");
    }
    assert_eq!(told(&mut lone, [PORT, PEER_PORT], 0), (false, 4), "as a packet of ours would be quoted");
    assert_eq!(told(&mut lone, [PEER_PORT + 1, PORT], 0), (false, 5), "no connection");
    assert_eq!(told(&mut lone, there, 1000), (true, 5));
    assert_eq!(lone.endpoint.endpoint_stats().icmp_taken, 1);
}

#[test]
fn a_plain_peer_s_damage_is_not_told() {
    let mut lone = Lone::accepted(&speaking(declared()), Options { mss: Some(1000), ..Options::default() });
    let quoted = [PEER_PORT.to_be_bytes(), PORT.to_be_bytes()].concat();
    let quoted = [&quoted[..], &PEER_INITIAL.wrapping_add(1).to_be_bytes()].concat();
    let message = IcmpMessage::CorruptionExperienced;
    lone.endpoint.handle_icmp(lone.now, way(), message, (6, &quoted), &mut NullSink);
    assert_eq!(lone.endpoint.endpoint_stats().icmp_ignored, 1);
}

/// An end whose peer takes segments of 512 octets, timestamps included: ten of 500 are under way. And what to
/// echo.
fn stamped_with_ten_segments(scps: Scps) -> (Lone, u32) {
    let with_stamps = Options { mss: Some(512), timestamps: stamps(1, 0).timestamps, ..offer(0x40) };
    let config = Config { timestamps: true, ..speaking(scps) };
    let mut lone = Lone::new(&config);
    lone.say(flags::SYN, 0, 0, with_stamps, b"");
    let echo = lone.one().options.timestamps.expect("it stamps").value;
    lone.wait_ms(RTT_MS);
    lone.say(flags::ACK, 1, 1, stamps(2, echo), b"");
    lone.take();
    lone.write(5000);
    assert_eq!(lone.data_sent(), (0..10).map(|n| 1 + 500 * n).collect::<Vec<_>>());
    (lone, echo)
}

#[test]
fn blocks_have_the_size_of_the_lesser_segment_without_its_timestamps() {
    let (mut lone, echo) = stamped_with_ten_segments(declared());
    snack(&mut lone, 1, Options { timestamps: stamps(3, echo).timestamps, ..holes(&[(4, 1)]) });
    assert_eq!(lone.data_sent(), [2001]);
}

/// [SCPS-TP 3.3.2]: holes count in the MSS. Segments are shorter by their timestamps.
#[test]
fn where_blocks_are_largest_segments_timestamps_are_no_part_of_them() {
    let by_mss = Scps { snack_unit: SnackUnit::Mss, ..declared() };
    let (mut lone, echo) = stamped_with_ten_segments(by_mss);
    let stamped = |holes: Options| Options { timestamps: stamps(3, echo).timestamps, ..holes };
    snack(&mut lone, 1, stamped(holes(&[(3, 2)])));
    assert_eq!(lone.data_sent(), [2001], "1537 to 2560: two others are touched by less than a block");
    for n in (0..6).filter(|n| ![1, 4].contains(n)) {
        lone.say(flags::ACK, 1 + 500 * n, 1, stamped(Options::default()), &[7; 500]);
    }
    wait(&mut lone);
    assert_eq!(told(&mut lone), [[0, 0, 0, 1], [0, 2, 0, 2]], "500 octets from 501 on, and from 2001 on");
}

#[test]
fn a_small_segment_of_a_spacecraft_is_kept_to() {
    let config = Config { mss_bytes: 50, ..speaking(declared()) };
    let mut lone = Lone::connecting(&config).0;
    lone.say(flags::SYN | flags::ACK, 0, 1, offer(0x40), b"");
    lone.hear();
    lone.write(120);
    assert_eq!(lone.hear().iter().map(|heard| heard.payload.len()).collect::<Vec<_>>(), [50, 50, 20]);
    let mut lone = accepted_with(&speaking(declared()), Options { mss: Some(50), ..offer(0x40) });
    lone.write(120);
    assert_eq!(lone.hear().iter().map(|heard| heard.payload.len()).collect::<Vec<_>>(), [50, 50, 20]);
}

#[test]
fn data_that_waited_behind_a_hole_measures_nothing() {
    let mut lone = accepted(declared());
    lone.write(3000);
    lone.hear();
    let before = lone.stats().rtt_smoothed_ns;
    lone.wait_ms(RTT_MS);
    snack(&mut lone, 1, holes(&[(0, 1)]));
    lone.hear();
    lone.wait_ms(RTT_MS);
    lone.write(1000);
    lone.hear();
    lone.wait_ms(500);
    lone.ack(1, 4001);
    assert_eq!(lone.stats().rtt_smoothed_ns, before);
    lone.write(1000);
    lone.hear();
    lone.wait_ms(180);
    lone.ack(1, 5001);
    assert_eq!(lone.stats().rtt_smoothed_ns, before.map(|ns| ns + 10 * MS));
}

#[test]
fn absurd_requests_ask_for_no_more_than_was_sent() {
    for value in [
        &[0, 0, 0xFF, 0xFF][..],
        &[0xFF, 0xFF, 0xFF, 0xFF],
        &[0, 10, 0, 1],
        &[0, 0, 0, 0],
        &[0, 0, 0],
        &[],
        &[0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFF],
        &[0, 200, 0, 1, 0xAA, 0xAA],
    ] {
        let mut lone = ten_under_way(declared());
        snack(&mut lone, 1, with(SNACK, value));
        let again = lone.data_sent();
        assert!(again.iter().all(|&first| first < 10_001) && again.len() <= 10, "{value:?}: {again:?}");
        let expected = match value {
            [0, 0, 0xFF, ..] => 10,
            [0, 0, 0, 1, ..] => 1,
            _ => 0,
        };
        assert_eq!(again.len(), expected, "{value:?}");
        snack(&mut lone, 1, with(SNACK, value));
        assert_eq!(lone.data_sent(), [], "{value:?}, asked for once more");
        lone.ack(1, 10_001);
        assert_eq!(lone.stats().in_flight_bytes, 0);
    }
    let mut lone = ten_under_way(declared());
    lone.ack(1, 5001);
    snack(&mut lone, 2001, holes(&[(0, 1), (4, 1)]));
    assert_eq!(lone.data_sent(), [], "a late one is not heard");
    lone.say(flags::ACK, PEER_INITIAL, 5001, holes(&[(0, 1)]), b"");
    assert_eq!(lone.data_sent(), [], "one outside of the window is not either");
}

#[test]
fn without_control_of_congestion_no_marks_are_asked_for() {
    let config = Config { ecn: true, ..speaking(declared()) };
    assert_eq!(Lone::connecting(&config).1.flags, flags::SYN);
    let config = Config { ecn: true, ..speaking(Scps::standard()) };
    assert_eq!(Lone::connecting(&config).1.flags, flags::SYN | flags::ECE | flags::CWR);
}

#[test]
fn a_window_that_no_syn_can_tell_is_told_behind_it_and_when_the_handshake_is_over() {
    let config = Config { window_scale: true, receive_limit_bytes: 1 << 20, ..speaking(declared()) };
    let mut lone = Lone::new(&config);
    lone.say(flags::SYN, 0, 0, Options { window_scale: Some(0), ..offer(0x40) }, b"");
    let heard = lone.hear();
    let [syn, behind] = &heard[..] else { panic!("two segments: {heard:?}") };
    assert_eq!((syn.flags, syn.window), (flags::SYN | flags::ACK, 65_535));
    let shift = syn.options.window_scale.unwrap();
    assert_eq!((behind.flags, behind.sequence, u32::from(behind.window) << shift), (flags::ACK, 1, 1 << 20));
    lone.ack(1, 1);
    assert_eq!(u32::from(lone.one().window) << shift, 1 << 20, "once more, as the first one may be lost");
}

/// The smoothed round trip has the delay of acknowledgements in it. A request that comes before it is over,
/// but after a copy had the time to arrive, may be the last for a long time.
#[test]
fn what_is_asked_for_too_soon_goes_again_when_it_may() {
    let mut lone = accepted(declared());
    for n in 1..=30 {
        lone.write(1000);
        lone.hear();
        // The first one shows the least round trip, the others wait for their acknowledgement.
        lone.wait_ms(if n == 1 { RTT_MS } else { 160 });
        lone.ack(1, 1 + 1000 * n);
    }
    let srtt_ms = lone.stats().rtt_smoothed_ns.unwrap() / MS;
    assert!((150..=160).contains(&srtt_ms), "{srtt_ms}");
    lone.write(3000);
    lone.hear();
    lone.wait_ms(RTT_MS);
    snack(&mut lone, 30_001, holes(&[(0, 1)]));
    assert_eq!(lone.data_sent(), [30_001]);
    lone.wait_ms(90);
    snack(&mut lone, 30_001, holes(&[(0, 1)]));
    assert_eq!(lone.data_sent(), [], "its copy may not have arrived");
    lone.wait_ms(30);
    snack(&mut lone, 30_001, holes(&[(0, 1)]));
    assert_eq!((wait(&mut lone) + 120, lone.data_sent()), (srtt_ms, vec![30_001]));
    lone.wait_ms(130);
    snack(&mut lone, 30_001, holes(&[(0, 1)]));
    assert_eq!(lone.data_sent(), []);
    lone.ack(1, 31_001);
    lone.wait_ms(40);
    assert_eq!(lone.data_sent(), [], "it came");
}

/// An acknowledgement that leaves just before a copy arrives asks for that, too. With eight a round trip,
/// each fifth repeat of 3.8 Mbit/s went twice.
#[test]
fn a_request_that_may_be_older_than_a_copy_waits_for_word_of_what_left_later() {
    for case in ["it came", "it is lost", "nothing more comes"] {
        let mut lone = accepted(declared());
        for n in 1..=30 {
            lone.write(1000);
            lone.hear();
            lone.wait_ms(if n == 1 { RTT_MS } else { 160 });
            lone.ack(1, 1 + 1000 * n);
        }
        lone.write(5000);
        lone.hear();
        lone.wait_ms(RTT_MS);
        snack(&mut lone, 30_001, holes(&[(0, 1)]));
        lone.write(3000);
        assert_eq!(lone.data_sent(), [30_001, 35_001, 36_001, 37_001]);
        lone.wait_ms(120);
        snack(&mut lone, 30_001, holes(&[(0, 1)]));
        assert_eq!(lone.data_sent(), []);
        lone.wait_ms(45);
        assert_eq!(lone.data_sent(), [], "the copy and what left later may be there");
        match case {
            "it came" => {
                lone.ack(1, 38_001);
                assert_eq!(lone.data_sent(), []);
            }
            "it is lost" => {
                // 35001 is there; of the oldest hole this one has no word.
                snack(&mut lone, 30_001, holes(&[(4, 1), (6, 1)]));
                assert_eq!(lone.data_sent(), [30_001, 34_001, 36_001], "it left later");
            }
            _ => {
                let waited_ms = 120 + 45 + wait(&mut lone);
                let srtt_ms = lone.stats().rtt_smoothed_ns.unwrap() / MS;
                assert_eq!(
                    (waited_ms, lone.data_sent()),
                    (srtt_ms + 50, vec![30_001]),
                    "an acknowledgement's time"
                );
            }
        }
    }
}
