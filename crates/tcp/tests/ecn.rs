//! Explicit congestion notification [RFC 3168], as packet traces.

mod common;

use common::{Heard, Lone, plain};
use skyhaul_core::{Connections, Ecn};
use skyhaul_tcp::segment::{Options, flags};
use skyhaul_tcp::{Config, Recovery, State};

const SETUP: u8 = flags::ECE | flags::CWR;
const SYN_ACK: u8 = flags::SYN | flags::ACK;

fn config() -> Config {
    Config { ecn: true, ..plain() }
}

fn options() -> Options {
    Options { mss: Some(1000), sack_permitted: true, ..Options::default() }
}

/// A connection that a peer opened with these bits beside SYN; what we answered.
fn accepted(config: &Config, bits: u8) -> (Lone, Heard) {
    let mut lone = Lone::new(config);
    lone.say(flags::SYN | bits, 0, 0, options(), b"");
    let answer = lone.one();
    lone.ack(1, 1);
    lone.take();
    (lone, answer)
}

fn capable() -> Lone {
    accepted(&config(), SETUP).0
}

/// Ten segments are under way, and more wait.
fn ten_under_way() -> Lone {
    let mut lone = capable();
    lone.write(60_000);
    let sent = lone.hear();
    assert!(sent.len() == 10 && sent.iter().all(|heard| heard.ecn == Ecn::Ect0));
    lone
}

fn echo(lone: &mut Lone, acknowledgement: u32) {
    lone.say(flags::ACK | flags::ECE, 1, acknowledgement, Options::default(), b"");
}

fn cwnd(lone: &Lone) -> u64 {
    lone.stats().cwnd_bytes
}

#[test]
fn ecn_is_asked_for_and_agreed() {
    let (mut lone, syn) = Lone::connecting(&config());
    assert_eq!((syn.flags, syn.ecn), (flags::SYN | SETUP, Ecn::NotEct));
    lone.say(SYN_ACK | flags::ECE, 0, 1, options(), b"");
    let ack = lone.one();
    assert_eq!((ack.flags, ack.ecn), (flags::ACK, Ecn::NotEct));
    lone.write(10);
    assert_eq!(lone.one().ecn, Ecn::Ect0);
}

#[test]
fn ecn_is_agreed_when_asked() {
    let (_, answer) = accepted(&config(), SETUP);
    assert_eq!(answer.flags, SYN_ACK | flags::ECE);
    for (config, bits) in [(config(), 0), (config(), flags::ECE), (config(), flags::CWR), (plain(), SETUP)] {
        let (mut lone, answer) = accepted(&config, bits);
        assert_eq!(answer.flags, SYN_ACK);
        lone.write(10);
        assert_eq!(lone.one().ecn, Ecn::NotEct);
    }
}

#[test]
fn a_mirrored_ecn_setup_is_no_consent() {
    let (mut lone, _) = Lone::connecting(&config());
    lone.say(SYN_ACK | SETUP, 0, 1, options(), b"");
    lone.hear();
    lone.write(10);
    assert_eq!(lone.one().ecn, Ecn::NotEct);
}

#[test]
fn a_syn_without_answer_asks_no_more_for_ecn() {
    let (mut lone, _) = Lone::connecting(&config());
    lone.wait();
    assert_eq!(lone.one().flags, flags::SYN);
    lone.say(SYN_ACK | flags::ECE, 0, 1, options(), b"");
    lone.hear();
    lone.write(10);
    assert_eq!(lone.one().ecn, Ecn::NotEct, "the answer is to the first one: the peer may not know it");
    let mut lone = Lone::new(&config());
    lone.say(flags::SYN | SETUP, 0, 0, options(), b"");
    assert_eq!(lone.one().flags, SYN_ACK | flags::ECE);
    lone.say(flags::SYN, 0, 0, options(), b"");
    assert_eq!(lone.one().flags, SYN_ACK, "the peer has given it up");
}

#[test]
fn an_echo_halves_once_a_window_and_is_answered() {
    let mut lone = ten_under_way();
    echo(&mut lone, 1001);
    assert_eq!((cwnd(&lone), lone.hear()), (5000, vec![]), "half of ten");
    for n in 2..=5 {
        echo(&mut lone, 1 + 1000 * n);
    }
    assert_eq!(lone.hear(), []);
    echo(&mut lone, 6001);
    let sent = lone.hear();
    assert!(sent[0].flags & flags::CWR != 0 && sent[0].ecn == Ecn::Ect0, "with the next new data");
    echo(&mut lone, 7001);
    assert!(lone.hear().iter().all(|heard| heard.flags & flags::CWR == 0), "told once");
    assert_eq!(lone.stats().ecn_reductions, 1);
    lone.ack(1, 10_001);
    lone.hear();
    echo(&mut lone, 11_001);
    let stats = lone.stats();
    assert_eq!((stats.ecn_reductions, stats.retransmitted_packets), (2, 0), "the next window");
}

#[test]
fn a_loss_in_a_window_that_was_answered_halves_no_more() {
    for recovery in [Recovery::Sack, Recovery::NewReno] {
        let mut lone = accepted(&Config { recovery, ..config() }, SETUP).0;
        lone.write(60_000);
        lone.hear();
        echo(&mut lone, 1001);
        for n in 2..=4 {
            if recovery == Recovery::Sack {
                lone.sack(1001, &[(2001, 2001 + 1000 * (n - 1))]);
            } else {
                lone.ack(1, 1001);
            }
        }
        let again = lone.hear();
        assert_eq!((again[0].sequence, again[0].ecn, cwnd(&lone)), (1001, Ecn::NotEct, 5000));
    }
}

#[test]
fn a_loss_is_told_and_covers_its_marks() {
    let mut lone = ten_under_way();
    for n in 2..=4 {
        lone.sack(1, &[(1001, 1 + 1000 * n)]);
    }
    assert_eq!((lone.data_sent(), cwnd(&lone)), (vec![1], 5000));
    echo(&mut lone, 9001);
    assert_eq!(lone.stats().ecn_reductions, 0, "answered as a loss");
    assert!(lone.hear()[0].flags & flags::CWR != 0, "the peer learns of any reduction");
}

#[test]
fn a_mark_is_echoed_until_the_peer_has_answered() {
    let mut lone = capable();
    lone.peer_ecn = Ecn::Ce;
    lone.data(1, &[7; 100]);
    lone.peer_ecn = Ecn::Ect0;
    lone.data(101, &[7; 100]);
    assert_eq!(lone.one().flags, flags::ACK | flags::ECE);
    lone.data(201, &[7; 100]);
    lone.data(301, &[7; 100]);
    assert_eq!(lone.one().flags, flags::ACK | flags::ECE);
    lone.say(flags::ACK | flags::CWR, 401, 1, Options::default(), &[7; 100]);
    lone.data(501, &[7; 100]);
    assert_eq!(lone.one().flags, flags::ACK);
    lone.peer_ecn = Ecn::Ce;
    lone.say(flags::ACK | flags::CWR, 601, 1, Options::default(), &[7; 100]);
    lone.data(701, &[7; 100]);
    assert_eq!(lone.one().flags, flags::ACK | flags::ECE, "the answer was marked itself");
    assert_eq!(lone.stats().ce_packets, 3);
}

#[test]
fn only_new_data_is_ecn_capable() {
    let mut lone = ten_under_way();
    lone.wait();
    assert_eq!(lone.one().ecn, Ecn::NotEct, "repeated");
    lone.data(1, b"x");
    lone.data(2, b"x");
    assert!(lone.hear().iter().all(|heard| heard.ecn == Ecn::NotEct), "bare");
    let mut lone = capable();
    lone.peer_window = 0;
    lone.ack(1, 1);
    lone.write(3000);
    lone.hear();
    lone.wait();
    let probe = lone.one();
    assert_eq!((probe.payload.len(), probe.ecn), (1, Ecn::NotEct), "a probe");
    let mut lone = capable();
    lone.endpoint.finish(lone.id);
    assert_eq!(lone.one().ecn, Ecn::NotEct, "an end without data");
}

#[test]
fn marks_on_what_is_not_acceptable_do_not_count() {
    let mut lone = capable();
    lone.peer_ecn = Ecn::Ce;
    lone.data(100_000, &[7; 100]);
    lone.ack(1, 1);
    assert!(lone.hear().iter().all(|heard| heard.flags & flags::ECE == 0));
    let (mut other, _) = accepted(&config(), 0);
    other.peer_ecn = Ecn::Ce;
    other.data(1, b"x");
    other.data(2, b"x");
    assert_eq!((other.one().flags, other.state()), (flags::ACK, State::Established), "not agreed");
}
