//! The tables of transitions and timers beside what connections do. Every step of every test in debug builds
//! is in the table (`Connection::tell_state`); here every row of it is taken.

use alloc::boxed::Box;
use alloc::vec::Vec;

use skyhaul_core::{Connections, Event, SECOND};

use super::bench::*;
use super::states::{Kind, STATES, Subject, early};
use crate::{Config, Origin, State, TIMERS, TRANSITIONS};

/// Names of the states between which a connection of A went.
fn steps(subject: &Subject) -> Vec<(&'static str, &'static str)> {
    let states = subject.bench.trace.iter().filter_map(|(_, _, event)| match event {
        Event::State { from, to } => Some((*from, *to)),
        _ => None,
    });
    states.collect()
}

/// Steps of connections that reach each state, hear one of these there, and finish then.
fn taken() -> Vec<(&'static str, &'static str)> {
    let kinds =
        [Kind::OwnBgnak, Kind::Ustat, Kind::RightEnd, Kind::Endak, Kind::ResetAborted, Kind::ForeignLargeBgn];
    let mut all = Vec::new();
    for (state, _) in STATES {
        for early in early(state) {
            for kind in kinds {
                let mut subject = Subject::reach(state, early);
                subject.say(kind);
                subject.bench.a.finish(1);
                subject.listen();
                subject.say(Kind::OwnBgnak);
                all.extend(steps(&subject));
            }
        }
    }
    all
}

#[test]
fn every_transition_of_the_table_is_taken_and_no_other() {
    let taken = taken();
    for row in TRANSITIONS {
        if let Origin::At(from) = row.from {
            assert!(taken.contains(&(from.name(), row.to.name())), "nobody goes from {from} to {}", row.to);
        }
    }
    for (state, _) in STATES.into_iter().filter(|(state, _)| *state != State::Closed) {
        assert!(taken.contains(&(state.name(), State::Closed.name())), "nobody goes from {state} to CLOSED");
    }
    for (from, to) in taken {
        let named = |name| STATES.into_iter().find(|(state, _)| state.name() == name).map(|(state, _)| state);
        let (from, to) = named(from).zip(named(to)).unwrap();
        let is_row = |row: &crate::Transition| {
            row.to == to && (row.from == Origin::At(from) || row.from == Origin::Any)
        };
        assert!(TRANSITIONS.iter().any(is_row), "{from} to {to}");
    }
}

#[test]
fn connections_begin_where_the_table_has_it() {
    let first = |origin| TRANSITIONS.into_iter().find(|row| row.from == origin).map(|row| row.to);
    let mut bench = Bench::new();
    let id = bench.open();
    assert_eq!(bench.a.state(id), first(Origin::Nothing));
    bench.a.write(id, b"hello").unwrap();
    bench.drop = Box::new(|from, _| from == Side::B);
    bench.run(DELAY_NS);
    assert_eq!(bench.b.state(1), first(Origin::Listen));
}

/// Types that leave in a state while nothing arrives for 10 s.
fn left_alone(state: State, early: &[u8], keepalive_ns: Option<u64>) -> (Vec<alloc::string::String>, State) {
    let mut subject = Subject::reach_with(state, early, keepalive_ns);
    subject.bench.log.clear();
    subject.bench.drop = Box::new(|_, _| true);
    subject.bench.run(10 * SECOND);
    let sent = subject.bench.log.iter().filter(|(_, side, _)| *side == Side::A);
    (sent.map(|(_, _, types)| types.clone()).collect(), subject.state())
}

/// Timers run in the states that the table has, and in no other.
#[test]
fn timers_run_where_the_table_has_them() {
    for (state, _) in STATES {
        let has = |name: &str| {
            let (_, states) = TIMERS.into_iter().find(|(timer, _)| *timer == name).unwrap();
            states.contains(&state)
        };
        let (sent, later) = left_alone(state, b"early", None);
        let sends = |kind: &str| sent.iter().any(|types| types.split('+').any(|own| own == kind));
        assert_eq!(sends("BGN"), has("BGN"), "{state}: {sent:?}");
        assert_eq!(sends("POLL"), has("POLL"), "{state}: {sent:?}");
        assert_eq!(sends("END"), has("END"), "{state}: {sent:?}");
        assert_eq!(state != State::Closed && later == State::Closed, has("linger"), "{state}: {later}");
        // Where BGN or END goes again, a POLL goes with it.
        if !has("BGN") && !has("END") {
            let keepalive_ns = Config::standard().keepalive_ns.map(|ns| ns.min(5 * SECOND));
            let (sent, _) = left_alone(state, b"", keepalive_ns);
            assert_eq!(
                sent.iter().any(|types| types.contains("POLL")),
                has("KEEPALIVE"),
                "{state}: {sent:?}"
            );
        }
    }
}
