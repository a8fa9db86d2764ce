use proptest::prelude::*;
use skyhaul_core::SECOND;

use super::*;
use crate::segment::{Report, Stat};

const TICK_NS: u64 = 1 << TICK_SHIFT;

fn key() -> Key<u64> {
    Key { peer: 7, local_port: 80, remote_port: 50_000 }
}

/// The peer's first STAT after so many packets of its own.
fn first_stat(cookie: Cookie, opening: &Opening, packets: u32, instance: u16) -> Segment<'static> {
    let report = Report { next: cookie.initial, window_bytes: 9999, ..Report::default() };
    let stat = Some(Stat { echo: cookie.timestamp, report, ..Stat::default() });
    let number = opening.initial.wrapping_add(packets) & NUMBER_MASK;
    Segment { number, instance, stat, ..Segment::default() }
}

fn options() -> impl Strategy<Value = Options> {
    any::<[bool; 4]>().prop_map(|[timing, repairs, increments, pieces]| Options {
        timing,
        repairs,
        increments,
        pieces,
        feedback: false, // no cookie has room for it
        padding: 0,
    })
}

fn opening(initial: u32, max_payload_bytes: u16, options: Options) -> Opening {
    Opening { initial, max_payload_bytes, options, window_bytes: 5, nonce: 77 }
}

proptest! {
    #[test]
    fn a_cookie_returns_an_opening_for_as_long_as_it_is_good(
        initial in 0u32..1 << 24, payload in 128u16.., options in options(), packets in 0u32..1 << 14,
        at_ns in 0..1000 * SECOND, late_ns in 0..20 * SECOND, instance in any::<u16>(),
    ) {
        let (mut cookies, mut random) = (Cookies::default(), Stream::new(1, "cookies"));
        let opening = opening(initial, payload, options);
        let at = Instant::from_ns(at_ns);
        let cookie = cookies.make(&mut random, at, (key(), instance), &opening);
        let stat = first_stat(cookie, &opening, packets, instance);
        let returned = cookies.open(at.after(late_ns), key(), &stat);
        prop_assert!(late_ns >= 7 * TICK_NS || returned.is_some());
        prop_assert!(late_ns <= 8 * TICK_NS || returned.is_none());
        let Some(Returned { opening: known, cookie: same, .. }) = returned else { return Ok(()) };
        prop_assert_eq!((known.initial, known.options, known.window_bytes), (initial, options, 9999));
        prop_assert!(known.max_payload_bytes <= payload && known.max_payload_bytes >= payload / 8);
        prop_assert_eq!(same, cookie);
    }

    #[test]
    fn a_cookie_opens_nothing_for_anybody_else_or_with_other_numbers(
        initial in 0u32..1 << 24, packets in 0u32..1 << 14, instance in any::<u16>(), wrong in 1u32..1 << 24,
    ) {
        let (mut cookies, mut random) = (Cookies::default(), Stream::new(1, "cookies"));
        let opening = opening(initial, 1459, Options::default());
        let now = Instant::from_ns(3 * SECOND);
        let cookie = cookies.make(&mut random, now, (key(), instance), &opening);
        let stat = first_stat(cookie, &opening, packets, instance);
        prop_assert!(cookies.open(now, key(), &stat).is_some());
        for other in [Key { peer: 8, ..key() }, Key { local_port: 81, ..key() }, Key { remote_port: 9, ..key() }] {
            prop_assert!(cookies.open(now, other, &stat).is_none());
        }
        let elsewhere = Segment { instance: instance ^ 1, ..stat.clone() };
        prop_assert!(cookies.open(now, key(), &elsewhere).is_none());
        let with = |initial, timestamp| {
            first_stat(Cookie { initial, timestamp }, &opening, packets, instance)
        };
        prop_assert!(cookies.open(now, key(), &with(cookie.initial ^ wrong, cookie.timestamp)).is_none());
        prop_assert!(cookies.open(now, key(), &with(cookie.initial, cookie.timestamp ^ wrong)).is_none());
    }
}

#[test]
fn a_later_cookie_has_a_newer_timestamp_and_equal_numbers_otherwise() {
    let (mut cookies, mut random) = (Cookies::default(), Stream::new(1, "cookies"));
    let opening = opening(5, 1459, Options::default());
    let mut last = cookies.make(&mut random, Instant::from_ns(5), (key(), 1), &opening);
    for i in 1..2000 {
        let next = cookies.make(&mut random, Instant::from_ns(i * TICK_NS), (key(), 1), &opening);
        assert_eq!(next.initial, last.initial);
        assert!(crate::segment::is_newer(next.timestamp, last.timestamp), "{i}");
        last = next;
    }
}

/// With 2^24 numbers and 2^32 timestamps, of which 2^21 and 8 are good: 2^32 guesses.
#[test]
fn guesses_open_nothing() {
    let (mut cookies, mut random) = (Cookies::default(), Stream::new(1, "cookies"));
    let opening = opening(5, 1459, Options::default());
    let now = Instant::from_ns(100 * SECOND);
    cookies.make(&mut random, now, (key(), 1), &opening);
    let mut guesses = Stream::new(2, "guesses");
    let told = (0..200_000).filter(|_| {
        let (initial, timestamp) = (guesses.next_u64() as u32 & NUMBER_MASK, guesses.next_u64() as u32);
        let stat = first_stat(Cookie { initial, timestamp }, &opening, 0, 1);
        assert!(cookies.open(now, key(), &stat).is_none());
        Terms::told(initial ^ hidden_by(cookies.keys.unwrap().name(key(), 1)), 5).is_some()
    });
    let share = f64::from(told.count() as u32) / 200_000.0;
    assert!((0.12..0.13).contains(&share), "an eighth tells an opening: {share}");
}
