//! POLLs of the future, and too many of them.

use skyhaul_core::SECOND;
use skyhaul_stp::Config;
use skyhaul_stp::segment::{Poll, Segment};

use crate::peer::{INITIAL, Liar};

/// Bound: one STAT for each POLL that is newer than all before; older ones get none.
#[test]
fn a_poll_of_the_far_future_silences_those_before_it_and_nothing_else() {
    let mut liar = Liar::new(Config::standard());
    let poll = |timestamp| Some(Poll { timestamp, next: INITIAL, ..Poll::default() });
    let before = liar.stats().stats;
    liar.say(&Segment { poll: poll(0x7FFF_FFFF), ..liar.blank.clone() });
    for timestamp in 0..500 {
        liar.say(&Segment { poll: poll(timestamp), ..liar.blank.clone() });
    }
    assert_eq!(liar.stats().stats, before + 1);
    liar.say(&liar.packet(0, b"data is still taken"));
    assert_eq!(liar.stats().delivered_bytes, 19);
}

/// Bound: a POLL that announces more than 2^22 packets is refused; one that announces 2^22 is answered
/// by a single gap in a segment that the path carries.
#[test]
fn an_absurd_next_number_is_refused_and_a_large_one_costs_little() {
    let mut liar = Liar::new(Config::standard());
    let refused = liar.stats().refused;
    let next = |ahead: u32| (INITIAL + ahead) & 0xFF_FFFF;
    liar.say(&Segment {
        poll: Some(Poll { timestamp: 1, next: next((1 << 22) + 1), ..Poll::default() }),
        ..liar.blank.clone()
    });
    assert_eq!(liar.stats().refused, refused + 1);
    let heard = liar.heard.len();
    liar.say(&Segment {
        poll: Some(Poll { timestamp: 2, next: next(1 << 22), ..Poll::default() }),
        ..liar.blank.clone()
    });
    let answers = &liar.heard[heard..];
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0].segment.stat.as_ref().unwrap().report.runs, [1 << 22]);
    assert!(answers[0].octets < 60);
}

/// Bound: at most sixteen parts of at most the path's size answer a POLL, however many gaps there are.
#[test]
fn the_answer_to_a_list_full_of_holes_is_bounded() {
    let mut liar = Liar::new(Config { ustat_threshold: None, ..Config::standard() });
    for offset in 0..100_000u32 {
        liar.say(&liar.packet(1 + 2 * offset, b"x"));
    }
    let heard = liar.heard.len();
    let poll = Poll { timestamp: 9, next: INITIAL + 200_000, ..Poll::default() };
    liar.say(&Segment { poll: Some(poll), ..liar.blank.clone() });
    liar.wait(SECOND);
    let parts: Vec<_> = liar.heard[heard..].iter().filter(|heard| heard.segment.stat.is_some()).collect();
    assert!((1..=16).contains(&parts.len()), "{} parts", parts.len());
    assert!(parts.iter().all(|part| part.octets <= 1472 + 27), "11.2 admits 27 octets");
    assert!(
        parts.last().unwrap().segment.stat.as_ref().unwrap().report.more,
        "the rest is left out, not denied"
    );
}
