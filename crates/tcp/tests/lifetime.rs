//! Time that a connection lives when nothing comes, and what follows it between the same ports.

mod common;

use common::{Lone, PEER_PORT, plain, stamps, way};
use skyhaul_core::{CloseReason, Connections, SECOND, StreamEvent};
use skyhaul_tcp::segment::{Options, flags};
use skyhaul_tcp::{Config, Keepalive, State};

const FIN_ACK: u8 = flags::FIN | flags::ACK;

fn asking() -> Config {
    let keepalive = Keepalive { idle_ns: 7200 * SECOND, interval_ns: 75 * SECOND, max_questions: 3 };
    Config { keepalive: Some(keepalive), ..plain() }
}

#[test]
fn a_silent_peer_is_asked_and_given_up() {
    let mut lone = Lone::ordinary(&asking());
    lone.write(10);
    assert_eq!(lone.one().sequence, 1);
    lone.ack(1, 11);
    lone.hear();
    assert_eq!(lone.wait(), 7_200_000);
    let question = lone.one();
    assert_eq!((question.flags, question.sequence, question.payload.len()), (flags::ACK, 10, 0));
    lone.ack(1, 11);
    lone.hear();
    assert_eq!(lone.wait(), 7_200_000, "it answered");
    for _ in 0..3 {
        assert_eq!((lone.one().sequence, lone.wait()), (10, 75_000));
    }
    assert_eq!(lone.events().last(), Some(&StreamEvent::Closed(Some(CloseReason::Silence))));
}

#[test]
fn an_answer_to_our_opening_that_comes_after_the_idle_time_ends_the_silence() {
    let keepalive = Keepalive { idle_ns: SECOND / 2, interval_ns: SECOND, max_questions: 3 };
    let (mut lone, _) = Lone::connecting(&Config { keepalive: Some(keepalive), ..plain() });
    lone.wait_ms(2000);
    lone.hear();
    let options = Options { mss: Some(1000), sack_permitted: true, ..Options::default() };
    lone.say(flags::SYN | flags::ACK, 0, 1, options, b"");
    lone.hear();
    assert_eq!(lone.state(), State::Established);
    assert!(lone.idle_deadline().is_some_and(|at| at > lone.now), "{:?}", lone.idle_deadline());
    assert_eq!(lone.wait(), 500);
    assert_eq!(lone.one().sequence, 0, "it is asked when it has been silent since its answer");
}

/// The answer is what ends the silence, not the opening: until then the timer of our SYN watches.
#[test]
fn openings_that_cross_after_the_idle_time_end_the_silence_when_they_are_answered() {
    for answer in [flags::SYN | flags::ACK, flags::ACK] {
        let keepalive = Keepalive { idle_ns: SECOND / 2, interval_ns: SECOND, max_questions: 3 };
        let (mut lone, _) = Lone::connecting(&Config { keepalive: Some(keepalive), ..plain() });
        lone.wait_ms(2000);
        lone.hear();
        lone.say(flags::SYN, 0, 0, Options::default(), b"");
        lone.hear();
        assert!(lone.idle_deadline().is_some_and(|at| at > lone.now), "{:?}", lone.idle_deadline());
        lone.wait_ms(700);
        lone.hear();
        lone.say(answer, u32::from(answer == flags::ACK), 1, Options::default(), b"");
        lone.hear();
        assert_eq!(lone.state(), State::Established);
        assert_eq!(lone.wait(), 500);
    }
}

#[test]
fn nobody_is_asked_unless_it_is_wanted() {
    let lone = Lone::ordinary(&plain());
    assert_eq!(lone.idle_deadline(), None);
}

#[test]
fn a_peer_that_never_ends_is_waited_for_only_while_somebody_cares() {
    let mut lone = Lone::ordinary(&plain());
    lone.endpoint.finish(lone.id);
    lone.hear();
    lone.ack(1, 2);
    lone.hear();
    assert_eq!((lone.state(), lone.idle_deadline()), (State::FinWait2, None), "half closed, and read");
    lone.endpoint.release(lone.now, lone.id);
    lone.hear();
    assert_eq!(lone.wait(), 60_000);
    assert_eq!(lone.endpoint.connection_count(), 0);
}

/// A connection with timestamps or without that is over, for 1 s; the peer's last number is 2.
fn in_time_wait(stamp: Option<u32>) -> Lone {
    let mut lone = if let Some(stamp) = stamp {
        Lone::accepted_with_stamps(&Config { timestamps: true, ..plain() }, stamp)
    } else {
        Lone::ordinary(&plain())
    };
    let options = stamp.map_or(Options::default(), |stamp| stamps(stamp, 0));
    lone.endpoint.finish(lone.id);
    lone.hear();
    lone.say(FIN_ACK, 1, 2, options, b"");
    lone.hear();
    assert_eq!(lone.state(), State::TimeWait);
    lone.wait_ms(1000);
    lone
}

#[test]
fn a_new_opening_follows_a_connection_that_is_over() {
    for (before, now, sequence, is_taken) in [
        (None, None, 2, false),
        (None, None, 3, true),
        (None, None, u32::MAX, false),
        (Some(100), Some(101), 0, true),
        (Some(100), Some(100), 2, false),
        (Some(100), Some(100), 3, true),
        (Some(100), Some(99), 3, false),
        (Some(100), None, 3, true),
    ] {
        let mut lone = in_time_wait(before);
        let (old, last) = (lone.id, lone.initial.wrapping_add(2));
        lone.say(flags::SYN, sequence, 0, now.map_or(Options::default(), |now| stamps(now, 0)), b"");
        let answer = lone.hear();
        let case = format!("{before:?} {now:?} {sequence}");
        let opened = answer.iter().any(|heard| heard.flags == flags::SYN | flags::ACK);
        assert_eq!(opened, is_taken, "{case}");
        assert_eq!(
            lone.endpoint.state(old),
            Some(if is_taken { State::Closed } else { State::TimeWait }),
            "{case}"
        );
        if is_taken {
            assert!((lone.initial.wrapping_sub(last) as i32) > 60_000, "beyond all numbers of the old one");
        }
    }
}

#[test]
fn a_late_opening_of_a_port_that_nobody_listens_to_changes_nothing() {
    let mut lone = in_time_wait(None);
    lone.endpoint.unlisten(common::PORT);
    lone.say(flags::SYN, 3, 0, Options::default(), b"");
    assert_eq!(lone.state(), State::TimeWait);
}

#[test]
fn every_connection_has_another_port_and_number() {
    let mut lone = Lone::new(&plain());
    let mut ports = Vec::new();
    for _ in 0..500 {
        let id = lone.endpoint.connect(lone.now, way(), PEER_PORT, None, plain()).unwrap();
        ports.push(lone.endpoint.local_port(id).unwrap());
    }
    assert!(ports.windows(2).any(|pair| pair[0] > pair[1]), "no counter");
    ports.sort_unstable();
    ports.dedup();
    assert!(ports.len() == 500 && ports[0] >= 1024);
}
