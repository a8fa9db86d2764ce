//! Reports of what never happened.

use skyhaul_core::{Connections, SECOND, StreamEvent};
use skyhaul_stp::segment::{Report, Segment, Stat};
use skyhaul_stp::{Config, State};

use crate::peer::Liar;

/// Bound: nothing is acknowledged that was not sent, and no flight grows by it.
#[test]
fn an_acknowledgement_of_what_was_never_sent_is_refused() {
    let mut liar = Liar::new(Config::standard());
    liar.engine_writes(3_000);
    let before = liar.stats();
    for ahead in [1, 2, 1000, 1 << 22] {
        let lie = liar.stat(|report| Report { next: (report.next + ahead) & 0xFF_FFFF, ..report });
        liar.say(&lie);
    }
    assert_eq!(liar.stats().refused, before.refused + 4);
    assert_eq!(liar.stats().acknowledged_bytes, before.acknowledged_bytes);
    assert_eq!(liar.stats().in_flight_bytes, before.in_flight_bytes);
}

/// Bound: an echo that was never sent proves nothing and gives no sample of the round-trip time.
#[test]
fn an_invented_echo_is_refused() {
    let mut liar = Liar::new(Config::standard());
    liar.engine_writes(3_000);
    let (refused, rtt) = (liar.stats().refused, liar.stats().rtt_smoothed_ns);
    let honest = liar.stat(|report| report).stat.unwrap();
    for step in 1..100u32 {
        let stat = Stat { echo: honest.echo.wrapping_add(step << 20), ..honest.clone() };
        liar.say(&Segment { stat: Some(stat), ..liar.blank.clone() });
    }
    assert_eq!(liar.stats().refused, refused + 99);
    assert_eq!(liar.stats().rtt_smoothed_ns, rtt);
}

/// Bound: ENDAK before END confirms nothing.
#[test]
fn a_confirmation_ahead_of_the_end_does_not_count() {
    let mut liar = Liar::new(Config::standard());
    liar.say(&Segment { endak: true, ..liar.blank.clone() });
    let id = liar.id;
    liar.engine.finish(id);
    liar.listen();
    liar.wait(SECOND / 20);
    assert_eq!(liar.state(), Some(State::EndSent));
    let mut events = Vec::new();
    while let Some((_, event)) = liar.engine.poll_event() {
        events.push(event);
    }
    assert!(!events.contains(&StreamEvent::Finished), "{events:?}");
}

/// Bound: the end that was told first stays; ends before what has arrived are refused.
#[test]
fn the_end_does_not_move() {
    let mut liar = Liar::new(Config::standard());
    liar.say(&liar.packet(0, b"one"));
    liar.say(&liar.packet(5, b"six"));
    let refused = liar.stats().refused;
    let end = |offset: u32| Some(crate::peer::INITIAL + offset);
    for offset in [0, 3, 5] {
        liar.say(&Segment { end: end(offset), ..liar.blank.clone() });
    }
    assert_eq!(liar.stats().refused, refused + 3, "before what has arrived");
    liar.say(&Segment { end: end(10), ..liar.blank.clone() });
    liar.say(&Segment { end: end(11), ..liar.blank.clone() });
    liar.say(&liar.packet(10, b"behind the end"));
    assert_eq!(liar.stats().refused, refused + 5);
}
