//! Signals of routers about what SCPS-TP sent, as packet traces against a scripted peer [SCPS-TP 3.1]. Its
//! round trip is 100 ms, the retransmission timeout 350 ms. What routers say of damage is in `scps.rs`.

mod common;

use common::{Heard, Lone, plain};
use skyhaul_core::{MS, SECOND, Verdict};
use skyhaul_tcp::scps::{CAPABILITIES, CORRUPTION, Scps, Snack, SnackOption, facility};
use skyhaul_tcp::segment::{ExtraOptions, Options, flags};
use skyhaul_tcp::{AckPolicy, Config, ControllerKind, IcmpMessage, Route, Routes, Signals, State};

const RTT_MS: u64 = 100;

/// Losses are congestion unless somebody says otherwise, and Reno would halve its window for them.
fn speaking(scps: Scps) -> Config {
    Config { scps: Some(scps), send_limit_bytes: 60_000, ..plain() }
}

fn scps() -> Scps {
    Scps {
        controller: ControllerKind::Vegas,
        pacing_percent: None,
        loss_cause: Verdict::Congestion,
        ack_policy: AckPolicy::Reduced { every_packets: u32::MAX, delay_ns: 50 * MS },
        ..Scps::standard()
    }
}

fn holes(holes: &[(u16, u16)]) -> Options {
    let mut extra = ExtraOptions::default();
    for &(offset, size) in holes {
        assert!(SnackOption { offset, size, vector: &[] }.push(&mut extra));
    }
    Options { extra, ..Options::default() }
}

fn offering(scps: &Scps) -> Options {
    let snack = if scps.snack == Snack::Off { 0 } else { facility::SNACK };
    let mut extra = ExtraOptions::default();
    assert!(extra.push(CAPABILITIES, &[snack, 7]));
    Options { mss: Some(1000), extra, ..Options::default() }
}

/// Ten segments of 1000 bytes are under way, and as many as `more` bytes make wait.
fn ten_under_way(scps: Scps, more: usize) -> Lone {
    let options = offering(&scps);
    ten_under_way_to(scps, options, more)
}

fn ten_under_way_to(scps: Scps, options: Options, more: usize) -> Lone {
    ten_of(&speaking(scps), options, more)
}

fn ten_of(config: &Config, options: Options, more: usize) -> Lone {
    let mut lone = Lone::new(config);
    lone.say(flags::SYN, 0, 0, options, b"");
    lone.one();
    lone.wait_ms(RTT_MS);
    lone.ack(1, 1);
    lone.take();
    lone.write(10_000 + more);
    assert_eq!(lone.data_sent().len(), 10);
    lone
}

/// ICMP messages that counted, and those that did not.
fn heard(lone: &Lone) -> (u64, u64) {
    let stats = lone.endpoint.endpoint_stats();
    (stats.icmp_taken, stats.icmp_ignored)
}

fn lost(lone: &Lone, cause: Verdict) -> u64 {
    lone.stats().lost_packets[cause as usize]
}

fn is_question(heard: &Heard, una: u32) -> bool {
    heard.flags == flags::ACK && heard.payload.is_empty() && heard.sequence == una.wrapping_sub(1)
}

#[test]
fn a_link_outage_stops_every_timer_and_questions_leave_now_and_then() {
    let mut lone = ten_under_way(scps(), 10_000);
    lone.icmp(IcmpMessage::LinkOutage, 5001);
    assert_eq!(lone.hear(), []);
    let (begun, mut waits) = (lone.now, Vec::new());
    while lone.now < begun.after(60 * SECOND) {
        waits.push(lone.wait());
        assert!(is_question(&lone.one(), 1));
    }
    assert_eq!(waits[..6], [350, 700, 1400, 2800, 5600, 10_000]);
    assert!(waits[6..].iter().all(|&wait_ms| wait_ms == 10_000) && waits.len() <= 10, "{waits:?}");
    for _ in 0..1000 {
        lone.wait();
        lone.one();
    }
    let stats = lone.stats();
    assert_eq!(
        (stats.timeouts, stats.cwnd_bytes, lone.state()),
        (0, 10_000, State::Established),
        "nothing ends"
    );
    assert_eq!(stats.window_probes, waits.len() as u64 + 1000);
}

#[test]
fn what_was_quoted_and_all_behind_it_goes_again_when_the_link_is_restored() {
    let mut lone = ten_under_way(scps(), 10_000);
    lone.icmp(IcmpMessage::LinkOutage, 5001);
    lone.icmp(IcmpMessage::LinkOutage, 6001);
    lone.wait_ms(60_000);
    lone.hear();
    lone.icmp(IcmpMessage::LinkRestored, 5001);
    assert_eq!(lone.data_sent(), [5001, 6001, 7001, 8001, 9001], "the window has room for these");
    lone.wait_ms(RTT_MS);
    lone.say(flags::ACK, 1, 2001, holes(&[(0, 1)]), b"");
    let sent = lone.data_sent();
    assert_eq!(sent[0], 2001, "what was lost before is asked for");
    assert!(sent[1..].iter().all(|&number| number > 9001), "{sent:?}");
    let stats = lone.stats();
    assert_eq!((stats.timeouts, lost(&lone, Verdict::Outage), lost(&lone, Verdict::Congestion)), (0, 6, 0));
    assert!(stats.cwnd_bytes >= 10_000, "none of it is congestion: {}", stats.cwnd_bytes);
}

#[test]
fn an_answer_to_a_question_ends_an_outage() {
    let mut lone = ten_under_way(scps(), 0);
    lone.icmp(IcmpMessage::LinkOutage, 5001);
    assert_eq!(lone.hear(), []);
    lone.wait();
    assert!(is_question(&lone.one(), 1));
    lone.wait_ms(RTT_MS);
    lone.say(flags::ACK, 1, 3001, holes(&[(0, 1)]), b"");
    assert_eq!(lone.data_sent(), [3001, 5001, 6001, 7001, 8001, 9001]);
    assert_eq!((lone.stats().timeouts, lost(&lone, Verdict::Congestion)), (0, 0));
}

/// A link of space is long: what had left it when it went arrives all the same.
#[test]
fn what_was_on_its_way_when_the_link_went_ends_no_outage() {
    let mut lone = ten_under_way(scps(), 10_000);
    lone.icmp(IcmpMessage::LinkOutage, 8001);
    for number in [3001, 5001] {
        lone.wait_ms(RTT_MS / 2);
        lone.ack(1, number);
        assert_eq!(lone.hear(), []);
    }
    lone.wait_ms(1);
    lone.ack(1, 5001);
    assert_eq!(lone.data_sent()[..3], [8001, 9001, 10_001]);
}

#[test]
fn an_acknowledgement_of_what_was_quoted_shows_that_there_was_no_outage() {
    let mut lone = ten_under_way(scps(), 10_000);
    lone.icmp(IcmpMessage::LinkOutage, 3001);
    lone.wait_ms(RTT_MS);
    lone.ack(1, 3001);
    assert_eq!(lone.hear(), []);
    lone.ack(1, 4001);
    let sent = lone.data_sent();
    assert!(!sent.is_empty() && sent[0] == 10_001, "it goes on, and repeats nothing: {sent:?}");
    assert_eq!(lone.wait(), 2 * RTT_MS, "timers run again");
}

/// Anybody can send ICMP; who sees no packets does not know the numbers.
#[test]
fn word_of_links_counts_where_it_quotes_a_number_under_way() {
    let mut lone = ten_under_way(scps(), 10_000);
    for message in [IcmpMessage::LinkOutage, IcmpMessage::LinkRestored] {
        for number in [0, 10_001, 1 << 31] {
            lone.icmp(message, number);
        }
    }
    lone.icmp(IcmpMessage::LinkRestored, 5001);
    assert_eq!(heard(&lone), (0, 7), "nor that a link is back that was there");
    lone.wait_ms(RTT_MS);
    lone.say(flags::ACK, 1, 1, holes(&[(0, 1), (4, 1)]), b"");
    lone.hear();
    lone.icmp(IcmpMessage::LinkOutage, 3001);
    assert_eq!(heard(&lone), (0, 8), "the peer has it");
    lone.icmp(IcmpMessage::LinkOutage, 5001);
    lone.icmp(IcmpMessage::LinkRestored, 20_001);
    assert_eq!(heard(&lone), (1, 9));
    lone.write(1000);
    assert_eq!(lone.hear(), [], "it is down");
}

/// In its place RFC 1122 4.2.3.9 has a host that is out of reach: it may pass.
#[test]
fn a_flood_of_forged_words_is_counted_and_changes_nothing() {
    let mut lone = ten_under_way(scps(), 10_000);
    for number in 0..10_000 {
        lone.icmp(IcmpMessage::LinkOutage, 1_000_000 + number);
    }
    assert_eq!((lone.hear(), heard(&lone)), (vec![], (0, 10_000)));
    lone.wait_ms(RTT_MS);
    lone.ack(1, 10_001);
    assert_eq!(lone.data_sent()[..2], [10_001, 11_001]);
}

/// Windows of so many rounds of `rtt_ms`, whose every acknowledgement says that losses are damage.
fn windows_by_a_liar(lone: &mut Lone, first: u32, rounds: usize, rtt_ms: u64) -> (u32, Vec<u64>) {
    let (mut una, mut windows) = (first, Vec::new());
    for _ in 0..rounds {
        lone.wait_ms(rtt_ms);
        let mut options = Options::default();
        assert!(options.extra.push(CORRUPTION, &[]));
        lone.say(flags::ACK, 1, una, options, b"");
        let sent = lone.data_sent();
        una = sent.last().map_or(una, |&last| last + 1000);
        windows.push(lone.stats().cwnd_bytes);
    }
    (una, windows)
}

#[test]
fn a_liar_s_word_of_damage_lifts_no_window_that_longer_round_trips_lower() {
    let config = Config { send_limit_bytes: 2_000_000, ..speaking(scps()) };
    let mut lone = ten_of(&config, offering(&scps()), 1_500_000);
    let (una, short) = windows_by_a_liar(&mut lone, 10_001, 4, RTT_MS);
    assert_eq!(short[3], 40_000, "{short:?}");
    let (_, long) = windows_by_a_liar(&mut lone, una, 10, 3 * RTT_MS);
    assert!(long[9] < 20_000 && long.windows(2).all(|two| two[1] <= two[0]), "{long:?}");
}

#[test]
fn to_a_plain_peer_a_link_outage_is_a_host_out_of_reach() {
    let mut lone = ten_under_way_to(scps(), Options { mss: Some(1000), ..Options::default() }, 0);
    lone.icmp(IcmpMessage::LinkOutage, 5001);
    lone.icmp(IcmpMessage::LinkRestored, 5001);
    assert_eq!(heard(&lone), (1, 1));
    lone.wait();
    assert_eq!(lone.data_sent(), [1], "its timer goes on");
    while lone.state() == State::Established {
        lone.wait();
        lone.hear();
    }
    assert!(format!("{:?}", lone.events()).contains("Unreachable"), "it is why nothing came");
}

/// A question is an acknowledgement, which says nothing to whoever waits for an answer to its SYN: an end
/// whose answer was lost asked, and was asked by SYNs, for ever.
#[test]
fn an_answer_to_an_opening_goes_again_whatever_is_said_of_its_link() {
    let mut lone = Lone::new(&speaking(scps()));
    lone.say(flags::SYN, 0, 0, offering(&scps()), b"");
    assert_eq!(lone.one().flags, flags::SYN | flags::ACK);
    lone.icmp(IcmpMessage::LinkOutage, 0);
    assert_eq!(heard(&lone), (1, 0), "a host out of reach");
    for _ in 0..3 {
        lone.wait();
        assert_eq!(lone.one().flags, flags::SYN | flags::ACK);
    }
    lone.ack(1, 1);
    lone.take();
    assert_eq!(lone.state(), State::Established);
    lone.hear();
    lone.write(1000);
    assert_eq!(lone.data_sent(), [1]);
}

#[test]
fn without_negative_acknowledgements_everything_goes_again_from_the_oldest_on() {
    let mut lone = ten_under_way(Scps { snack: Snack::Off, ..scps() }, 0);
    lone.icmp(IcmpMessage::LinkOutage, 5001);
    lone.wait_ms(30_000);
    lone.hear();
    lone.icmp(IcmpMessage::LinkRestored, 5001);
    assert_eq!(lone.data_sent(), [1, 1001, 2001, 3001, 4001, 5001, 6001, 7001, 8001, 9001]);
    assert_eq!((lone.stats().timeouts, lone.stats().cwnd_bytes), (0, 10_000));
}

#[test]
fn the_round_trip_is_not_measured_over_an_outage() {
    let mut lone = ten_under_way(scps(), 0);
    lone.icmp(IcmpMessage::LinkOutage, 5001);
    lone.wait_ms(60_000);
    lone.hear();
    lone.icmp(IcmpMessage::LinkRestored, 5001);
    lone.hear();
    lone.wait_ms(RTT_MS);
    lone.ack(1, 10_001);
    assert_eq!(lone.stats().rtt_smoothed_ns, Some(RTT_MS * MS));
}

#[test]
fn source_quench_is_obeyed_once_a_round_trip_where_it_is_wanted() {
    let mut lone = ten_under_way(scps(), 10_000);
    lone.icmp(IcmpMessage::SourceQuench, 5001);
    assert_eq!((lone.stats().cwnd_bytes, heard(&lone)), (10_000, (0, 1)), "off unless asked for");
    let mut lone = ten_under_way(Scps { source_quench: true, ..scps() }, 10_000);
    lone.icmp(IcmpMessage::SourceQuench, 20_001);
    assert_eq!((lone.stats().cwnd_bytes, heard(&lone)), (10_000, (0, 1)), "nothing that was sent");
    for number in [1, 5001, 9001] {
        lone.icmp(IcmpMessage::SourceQuench, number);
        assert_eq!(lone.stats().cwnd_bytes, 5000, "one answer for a window");
    }
    lone.wait_ms(RTT_MS);
    lone.ack(1, 10_001);
    let sent = lone.data_sent();
    lone.icmp(IcmpMessage::SourceQuench, sent[0]);
    assert_eq!((lone.stats().ecn_reductions, heard(&lone)), (2, (4, 1)));
    assert!(lone.stats().cwnd_bytes < 5000);
}

#[test]
fn over_a_route_that_obeys_no_word_of_links_nothing_stops() {
    let after = |outage| {
        let route =
            Route { obeys: Signals { outage, ..Signals::ALL }, ..Route::to("0.0.0.0/0".parse().unwrap()) };
        let config = Config { routes: Routes::new(vec![route]).unwrap(), ..speaking(scps()) };
        let mut lone = ten_of(&config, offering(&scps()), 10_000);
        lone.icmp(IcmpMessage::LinkOutage, 5001);
        let heard = heard(&lone);
        let first = loop {
            lone.wait();
            if let Some(first) = lone.hear().into_iter().next() {
                break first;
            }
        };
        (heard, is_question(&first, 1))
    };
    assert_eq!([true, false].map(after), [((1, 0), true), ((0, 1), false)]);
}
