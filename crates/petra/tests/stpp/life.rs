//! Opening, closing, resets and restarts.

use skyhaul_core::{CloseReason, Connections, MS, ResetReason, SECOND, StreamEvent};
use skyhaul_petra::stpp::pdu::{Body, types};
use skyhaul_petra::stpp::{Config, State};

use crate::world::{PORT, Seen, World, address, endpoint, octets};

fn config() -> Config {
    Config { rate_bps: Some(384_000), ..Config::standard() }
}

fn kinds(world: &World, from: usize) -> Vec<u8> {
    world.trace.iter().filter(|seen| seen.from == from).map(|seen| seen.pdu().types()).collect()
}

/// Loses the first `times` PDUs of an end that are of one of these types.
fn first_of(from: usize, of: u8, times: u32) -> impl FnMut(&Seen) -> bool {
    let mut lost = 0;
    move |seen| {
        let is_it = seen.from == from && seen.pdu().types() & of != 0 && lost < times;
        lost += u32::from(is_it);
        is_it
    }
}

#[test]
fn a_short_transfer_packet_by_packet() {
    let mut world = World::new(&config(), 700, |_| false);
    world.finish();
    assert_eq!(kinds(&world, 0), [types::OPEN, types::DATA, types::DATA, types::STATUS]);
    assert_eq!(
        kinds(&world, 1),
        [types::OPEN_ACK, types::STATUS, types::DATA, types::STATUS],
        "the first PDU is told of at once, both and the end of this direction an interval later"
    );
    assert_eq!(world.read, octets(700));
    assert_eq!(world.events[0].iter().filter(|event| **event == StreamEvent::Finished).count(), 1);
    assert_eq!((world.state(0), world.state(1)), (Some(State::Closed), Some(State::Closed)));
}

#[test]
fn lost_openings_and_answers_are_repeated() {
    for (from, of) in [(0, types::OPEN), (1, types::OPEN_ACK)] {
        let mut world = World::new(&config(), 700, first_of(from, of, 3));
        world.finish();
        assert_eq!(world.read, octets(700));
        let kinds = kinds(&world, 0);
        let openings = kinds.into_iter().filter(|&kind| kind == types::OPEN);
        assert_eq!(openings.collect::<Vec<_>>(), [types::OPEN; 4]);
    }
}

#[test]
fn an_opening_that_nobody_answers_fails_after_its_tries() {
    let mut world = World::new(&config(), 700, |seen| seen.from == 1);
    world.run_until(1000 * SECOND);
    assert_eq!(kinds(&world, 0), [types::OPEN; 10]);
    let failed = StreamEvent::Closed(Some(CloseReason::ConnectTimeout));
    assert_eq!(world.events[0].last(), Some(&failed));
}

#[test]
fn lost_ends_and_their_confirmations_are_repeated_while_the_other_end_lingers() {
    for (from, of) in [(0, types::STATUS), (1, types::STATUS), (1, types::DATA), (0, types::DATA)] {
        let mut world = World::new(&config(), 700, first_of(from, of, 2));
        world.finish();
        assert_eq!(world.read, octets(700), "from {from} of {of}");
    }
}

#[test]
fn a_peer_that_knows_nothing_resets_and_one_that_does_not_listen_refuses() {
    let mut world = World::new(&config(), 100_000, |_| false);
    world.run_until(SECOND);
    world.ends[1] = endpoint(&config(), 3); // it restarts
    world.run_until(4 * SECOND);
    let forgotten = Some(CloseReason::Reset(Some(ResetReason::UnknownConnection)));
    assert_eq!(world.events[0].last(), Some(&StreamEvent::Closed(forgotten)));

    let mut world = World::new(&config(), 700, |_| false);
    world.ends[1].unlisten(PORT);
    world.run_until(2 * SECOND);
    let refused = Some(CloseReason::Reset(Some(ResetReason::Refused)));
    assert_eq!(world.events[0].last(), Some(&StreamEvent::Closed(refused)));
}

#[test]
fn an_end_that_restarts_and_opens_again_from_the_same_port_gets_through() {
    let mut world = World::new(&config(), 100_000, |_| false);
    world.run_until(SECOND);
    // Equal ports, since they are drawn from an equal stream; the tag differs.
    let port = world.ends[0].local_port(world.ids[0].expect("opened"));
    let mut again = endpoint(&config(), 1);
    let mut seed = 1;
    let id = loop {
        let id = again.connect(skyhaul_core::Instant::from_ns(world.now_ns()), address(1), PORT, config());
        let id = id.expect("there is room");
        if again.local_port(id) == port && seed > 1 {
            break id;
        }
        seed += 1;
        again = endpoint(&config(), seed);
        assert!(seed < 200_000, "no seed has that port");
    };
    world.ends[0] = again;
    world.ids[0] = Some(id);
    world.events[1].clear();
    world.run_until(60 * SECOND);
    let forgotten = Some(CloseReason::Reset(Some(ResetReason::UnknownConnection)));
    assert_eq!(
        world.events[1].iter().find(|event| matches!(event, StreamEvent::Closed(_))),
        Some(&StreamEvent::Closed(forgotten))
    );
    assert_eq!(world.ends[0].state(id), Some(State::Open), "{:?}", world.events);
}

#[test]
fn an_abort_is_told_and_a_silent_peer_is_given_up() {
    let mut world = World::new(&config(), 100_000, |_| false);
    world.run_until(SECOND);
    let id = world.ids[1].expect("accepted");
    world.ends[1].abort(id);
    world.run_until(2 * SECOND);
    let aborted = Some(CloseReason::Reset(Some(ResetReason::Aborted)));
    assert_eq!(world.events[0].last(), Some(&StreamEvent::Closed(aborted)));
    assert!(matches!(
        world.trace.last().map(|seen| seen.pdu().body.clone()),
        Some(Body::Reset { .. } | Body::Data { .. })
    ));

    let mut world = World::new(&config(), 100_000, |seen| seen.at_ns > SECOND);
    world.run_until(1000 * SECOND);
    let given_up = StreamEvent::Closed(Some(CloseReason::Silence));
    assert_eq!(world.events[0].last(), Some(&given_up));
    assert_eq!(world.events[1].last(), Some(&StreamEvent::Readable), "nothing waits for the peer there");
    let last_ms = world.trace.last().map_or(0, |seen| seen.at_ns) / MS;
    assert!((119_000..122_000).contains(&last_ms), "{last_ms}");
}
