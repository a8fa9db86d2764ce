//! The state tables of `docs/spec/stp.md` (4.12), cell by cell: a connection in each state, and each
//! kind of segment. The peer is the test itself.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use skyhaul_core::{Connections, ResetReason, SECOND, StreamEvent};

use super::bench::*;
use crate::Config;
use crate::State::{
    self, BgnDataEndSent, BgnDataSent, BgnSent, Closed, Closing, EndSent, Established, HalfClosedLocal,
    HalfClosedRemote, Linger,
};
use crate::connection::Names;
use crate::segment::{Opening, Poll, Report, Segment, Stat, decode};

/// The peer's first number; it sends no data.
const INITIAL: u32 = 1000;

/// In the order of the columns below, with the short names of the specification.
pub(super) const STATES: [(State, &str); 10] = [
    (BgnSent, "BS"),
    (BgnDataSent, "BDS"),
    (BgnDataEndSent, "BDES"),
    (Established, "EST"),
    (EndSent, "ENDS"),
    (HalfClosedLocal, "HCL"),
    (HalfClosedRemote, "HCR"),
    (Closing, "CLG"),
    (Linger, "LNG"),
    (Closed, "CLD"),
];

/// Segments of the table.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    OwnBgn,
    OtherBgn,
    OwnBgnak,
    OtherBgnak,
    Data,
    Poll,
    Stat,
    Ustat,
    RightEnd,
    WrongEnd,
    Endak,
    ResetUnknown,
    /// RST with the number of a packet that was sent before BGNAK.
    ResetEarly,
    ResetAborted,
    /// Of another instance: with the largest nonce, with the smallest, and anything else.
    ForeignLargeBgn,
    ForeignSmallBgn,
    ForeignPoll,
}

/// A connection of A in a state, with a peer that says only what the test says.
pub(super) struct Subject {
    pub(super) bench: Bench,
    names: Names,
    /// A's next number, and the timestamp of its newest POLL.
    next: u32,
    timestamp: u32,
}

impl Subject {
    fn open(early: &[u8], finish: bool, keepalive_ns: Option<u64>) -> Self {
        let mut bench = Bench::new();
        bench.b.unlisten(PORT);
        let id = bench.open_with(Config { keepalive_ns, ..Config::standard() });
        bench.a.write(id, early).unwrap();
        if finish {
            bench.a.finish(id);
        } else {
            let _ = bench.a.read(id, &mut []); // lets BGN go
        }
        let names = bench.a.0.get(id).unwrap().names;
        let mut subject = Self { bench, names, next: 0, timestamp: 0 };
        subject.listen();
        subject
    }

    /// Takes note of what A sends; nothing arrives at B.
    pub(super) fn listen(&mut self) {
        self.bench.pump();
        for flight in core::mem::take(&mut self.bench.wire) {
            let segment = decode(&flight.bytes).unwrap();
            self.next = segment.end.unwrap_or(segment.number + u32::from(segment.data.is_some()));
            self.timestamp = segment.poll.map_or(self.timestamp, |poll| poll.timestamp);
        }
    }

    pub(super) fn say(&mut self, kind: Kind) {
        let segment = self.segment(kind);
        self.bench.inject(Side::A, &segment);
        self.listen();
    }

    /// `early`: data sent with the opening, which the peer does not acknowledge before LINGER.
    pub(super) fn reach(state: State, early: &[u8]) -> Self {
        Self::reach_with(state, early, None)
    }

    pub(super) fn reach_with(state: State, early: &[u8], keepalive_ns: Option<u64>) -> Self {
        let early = if state == BgnSent { b"" } else { early };
        let mut subject = Self::open(early, state == BgnDataEndSent, keepalive_ns);
        if [BgnSent, BgnDataSent, BgnDataEndSent].contains(&state) {
            return subject;
        }
        subject.say(Kind::OwnBgnak);
        if [HalfClosedRemote, Closing].contains(&state) {
            subject.say(Kind::RightEnd);
        }
        if [EndSent, HalfClosedLocal, Closing, Linger, Closed].contains(&state) {
            subject.bench.a.finish(1);
            subject.listen();
        }
        if [HalfClosedLocal, Linger, Closed].contains(&state) {
            subject.say(Kind::Endak);
        }
        if [Linger, Closed].contains(&state) {
            subject.say(Kind::Ustat);
            subject.say(Kind::RightEnd);
        }
        if state == Closed {
            subject.bench.drop = Box::new(|_, _| true);
            subject.bench.run(20 * SECOND);
            subject.bench.drop = Box::new(|_, _| false);
        }
        subject
    }

    fn segment(&self, kind: Kind) -> Segment<'static> {
        let names = self.names;
        let blank = Segment {
            source_port: names.remote_port,
            destination_port: names.local_port,
            number: INITIAL,
            instance: names.instance,
            ..Segment::default()
        };
        let foreign = Segment { instance: !names.instance, ..blank.clone() };
        let opening = |nonce| {
            Some(Opening {
                max_payload_bytes: 1400,
                initial: INITIAL,
                window_bytes: 1 << 20,
                nonce,
                ..Opening::default()
            })
        };
        let report = Report { next: self.next, window_bytes: 1 << 20, ..Report::default() };
        let poll = Some(Poll { timestamp: 9, next: INITIAL, ..Poll::default() });
        match kind {
            Kind::OwnBgn => Segment { bgn: opening(names.nonce), ..blank },
            Kind::OtherBgn => Segment { bgn: opening(!names.nonce), ..blank },
            Kind::OwnBgnak => Segment { bgnak: opening(names.nonce), ..blank },
            Kind::OtherBgnak => Segment { bgnak: opening(!names.nonce), ..blank },
            Kind::Data => Segment { data: Some((b"data", b"")), ..blank },
            Kind::Poll => Segment { poll, ..blank },
            Kind::Stat => {
                Segment { stat: Some(Stat { echo: self.timestamp, report, ..Stat::default() }), ..blank }
            }
            Kind::Ustat => Segment { ustat: Some(report), ..blank },
            Kind::RightEnd => Segment { end: Some(INITIAL), ..blank },
            Kind::WrongEnd => Segment { end: Some(INITIAL + (1 << 22) + 1), ..blank },
            Kind::Endak => Segment { endak: true, ..blank },
            Kind::ResetUnknown => {
                Segment { rst: Some(ResetReason::UnknownConnection), number: self.next, ..blank }
            }
            Kind::ResetEarly => {
                let number = self.next.wrapping_sub(1) & 0xFF_FFFF;
                Segment { rst: Some(ResetReason::UnknownConnection), number, ..blank }
            }
            Kind::ResetAborted => Segment { rst: Some(ResetReason::Aborted), ..blank },
            Kind::ForeignLargeBgn => Segment { bgn: opening(u64::MAX), ..foreign },
            Kind::ForeignSmallBgn => Segment { bgn: opening(0), ..foreign },
            Kind::ForeignPoll => Segment { poll, ..foreign },
        }
    }

    pub(super) fn state(&self) -> State {
        self.bench.a.state(1).unwrap()
    }

    /// Counters that may rise, as named in [`Self::reaction`].
    fn counters(&self) -> [u64; 5] {
        let (stats, end) = (self.bench.a.stats(1).unwrap(), self.bench.a.endpoint_stats());
        [stats.refused, stats.duplicates, end.wrong_instance, end.unknown, stats.acknowledged_bytes]
    }

    /// Reaction of A to a segment, in words: what it sends, its new state, what it counts, how it
    /// closes, whether it is finished.
    fn reaction(&mut self, kind: Kind) -> String {
        let (state, before, told) = (self.state(), self.counters(), self.bench.events.len());
        self.bench.log.clear();
        self.say(kind);
        let mut words: Vec<String> = self.bench.sent_by(Side::A).iter().map(|&s| s.into()).collect();
        if self.state() != state {
            let short = STATES.iter().find(|(state, _)| *state == self.state()).map(|(_, short)| short);
            words.push(format!(">{}", short.unwrap()));
        }
        let names = ["refused", "duplicate", "foreign", "unknown", "acked"];
        for ((name, now), before) in names.iter().zip(self.counters()).zip(before) {
            if now > before {
                words.push((*name).into());
            }
        }
        words.extend(self.bench.events[told..].iter().filter_map(|&(_, _, event)| match event {
            StreamEvent::Finished => Some("finished".into()),
            StreamEvent::Closed(None) => Some("clean".into()),
            StreamEvent::Closed(Some(_)) => Some("reset".into()),
            _ => None,
        }));
        words.join(" ")
    }
}

/// Early data goes only with what can have it.
pub(super) fn early(state: State) -> [&'static [u8]; 2] {
    [b"early", if state == BgnDataSent { b"early" } else { b"" }]
}

#[test]
fn every_state_is_reached() {
    for (state, _) in STATES {
        for early in early(state) {
            assert_eq!(Subject::reach(state, early).state(), state);
        }
    }
}

/// Compares rows of reactions, one cell for each of [`STATES`], with what a connection does.
fn check(early: &[u8], rows: &[(Kind, &str)]) {
    for &(kind, row) in rows {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        assert_eq!(cells.len(), STATES.len(), "{kind:?}");
        for ((state, _), cell) in STATES.iter().zip(cells) {
            let mut subject = Subject::reach(*state, early);
            assert_eq!(subject.reaction(kind), cell, "{kind:?} in {state}");
        }
    }
}

/// `BS | BDS | BDES | EST | ENDS | HCL | HCR | CLG | LNG | CLD`
#[test]
fn what_depends_on_the_state_alone_does_what_the_table_says() {
    const ROWS: [(Kind, &str); 8] = [
        (
            Kind::OwnBgn,
            "refused | refused | refused | BGNAK | BGNAK | BGNAK | BGNAK+ENDAK | BGNAK+ENDAK | BGNAK+ENDAK
                | RST unknown",
        ),
        (
            Kind::OtherBgn,
            "refused | refused | refused | refused | refused | refused | refused | refused | refused
                | RST unknown",
        ),
        (Kind::OwnBgnak, ">EST | >EST | >ENDS | | | | | | |"),
        (
            Kind::OtherBgnak,
            "refused | refused | refused | refused | refused | refused | refused | refused | refused |",
        ),
        (Kind::Data, "refused | refused | refused | | | | refused | refused | refused | USTAT+END+ENDAK"),
        (
            Kind::Poll,
            "refused | refused | refused | STAT | STAT | STAT | STAT+ENDAK | STAT+ENDAK | STAT+ENDAK
                | USTAT+END+ENDAK",
        ),
        (
            Kind::WrongEnd,
            "refused | refused | refused | refused | refused | refused | refused | refused | refused
                | USTAT+END+ENDAK",
        ),
        (
            Kind::ResetAborted,
            ">CLD reset | >CLD reset | >CLD reset | >CLD reset | >CLD reset | >CLD reset | >CLD reset
                | >CLD reset | >CLD clean | unknown",
        ),
    ];
    for early in [&b"early"[..], b""] {
        check(early, &ROWS);
    }
}

#[test]
fn with_data_under_way_a_connection_does_what_the_table_says() {
    const ROWS: [(Kind, &str); 6] = [
        (Kind::Stat, "refused | acked | acked | acked | acked | acked finished | acked | acked | |"),
        (Kind::Ustat, " | acked | acked | acked | acked | acked finished | acked | acked | |"),
        (
            Kind::RightEnd,
            "refused | refused | refused | ENDAK >HCR | ENDAK >CLG | ENDAK >CLG | ENDAK | ENDAK | ENDAK
                | USTAT+END+ENDAK",
        ),
        (Kind::Endak, " | | | | >HCL | | | | |"),
        (
            Kind::ResetUnknown,
            " | | | BGN+POLL | BGN+POLL | >CLD reset | >CLD reset | >CLD reset | >CLD clean | unknown",
        ),
        (Kind::ResetEarly, " | | | POLL | POLL | POLL | POLL+ENDAK | POLL+ENDAK | >CLD clean | unknown"),
    ];
    check(b"early", &ROWS);
}

#[test]
fn with_all_data_acknowledged_a_connection_does_what_the_table_says() {
    const ROWS: [(Kind, &str); 3] = [
        (
            Kind::RightEnd,
            "refused | refused | refused | ENDAK >HCR | ENDAK >CLG | ENDAK >LNG | ENDAK | ENDAK | ENDAK
                | USTAT+END+ENDAK",
        ),
        (Kind::Endak, " | | finished | | >HCL finished | | | >CLD finished clean | |"),
        (
            Kind::ResetUnknown,
            " | | | BGN+POLL | BGN+POLL | >CLD reset | >CLD reset | >CLD finished clean | >CLD clean
                | unknown",
        ),
    ];
    check(b"", &ROWS);
}

#[test]
fn another_instance_does_what_the_table_says() {
    const ROWS: [(Kind, &str); 3] = [
        (
            Kind::ForeignLargeBgn,
            "BGNAK >EST foreign | BGNAK >EST foreign | BGNAK >ENDS foreign | POLL foreign | POLL foreign
                | POLL foreign | POLL+ENDAK foreign | POLL+ENDAK foreign | RST foreign unknown
                | RST foreign unknown",
        ),
        (
            Kind::ForeignSmallBgn,
            "BGN foreign | BGN+POLL foreign | BGN+POLL foreign | POLL foreign | POLL foreign
                | POLL foreign | POLL+ENDAK foreign | POLL+ENDAK foreign | RST foreign unknown
                | RST foreign unknown",
        ),
        (
            Kind::ForeignPoll,
            "foreign | foreign | foreign | foreign | foreign | foreign | foreign | foreign | foreign | foreign",
        ),
    ];
    check(b"early", &ROWS);
}

/// B after a conversation that both ended at once and in which it has not read what arrived, and A's opening.
fn ended_but_unread(wait_ns: u64) -> (Bench, Vec<u8>) {
    let mut bench = Bench::new();
    let id = bench.open();
    bench.a.write(id, b"to be read late").unwrap();
    bench.pump();
    let bgn = bench.wire[0].bytes.clone();
    bench.reads = false;
    bench.run(DELAY_NS);
    bench.a.finish(id);
    bench.b.finish(1);
    bench.run(wait_ns);
    assert_eq!(bench.b.accept(), Some(1));
    (bench, bgn)
}

#[test]
fn an_opening_after_the_end_takes_nothing_from_who_has_not_read_yet() {
    for (wait_ns, state) in [(SECOND, Linger), (30 * SECOND, Closed)] {
        for difference in [0, 0x55] {
            let (mut bench, bgn) = ended_but_unread(wait_ns);
            assert_eq!(bench.b.state(1), Some(state));
            let copy = decode(&bgn).unwrap();
            let nonce = copy.bgn.unwrap().nonce ^ u64::from(difference);
            let bgn = copy.bgn.map(|opening| Opening { nonce, ..opening });
            bench.inject(Side::B, &Segment { instance: copy.instance ^ difference, bgn, ..copy });
            bench.pump();
            assert_eq!(bench.b.accept().is_some(), difference > 0, "a copy opens nothing");
            bench.run(30 * SECOND);
            assert!(bench.heard(Side::B, StreamEvent::Closed(None)));
            let mut buffer = [0; 100];
            assert_eq!(bench.b.read(1, &mut buffer), Ok(Some(15)));
            assert_eq!(bench.b.read(1, &mut buffer), Ok(Some(0)));
            bench.b.release(bench.now, 1);
            bench.pump();
            assert_eq!(bench.b.state(1), None);
        }
    }
}
