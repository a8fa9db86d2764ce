//! Statuses and data that cannot be, of a peer that knows the tag.

use skyhaul_core::SECOND;
use skyhaul_petra::stpp::pdu::{Body, Mask, Pdu, Status, encode};
use skyhaul_petra::stpp::{Config, MaskCoding, State};

use crate::world::{Seen, World, octets};

/// World in the middle of a transfer, and a PDU that its opener believes.
fn world() -> (World, Pdu<'static>) {
    let config = Config { rate_bps: Some(384_000), ..Config::standard() };
    let mut world = World::new(&config, 100_000, |_| false);
    world.run_until(SECOND);
    let status = world.trace.iter().find(|seen| seen.status().is_some()).expect("there are statuses").clone();
    let Pdu { source_port, destination_port, tag, .. } = status.pdu();
    (world, Pdu { source_port, destination_port, tag, body: Body::Poll { clock: 0 } })
}

fn inject(world: &mut World, to: usize, pdu: &Pdu<'_>) {
    let mut bytes = Vec::new();
    encode(pdu, &mut bytes);
    world.inject(to, &bytes);
}

fn status(last_io: u32, last_seq_no: u32, missing: Vec<u16>) -> Body<'static> {
    let mask = Mask::new(missing, last_seq_no.wrapping_sub(last_io), MaskCoding::List);
    Body::Status(Status { last_io, last_seq_no, echo: Some(7), is_stopped: false, mask })
}

#[test]
fn a_status_about_what_was_never_sent_is_counted_and_changes_nothing() {
    let (mut world, pdu) = world();
    let before = (world.state(0), world.stats(0).acknowledged_bytes);
    let [none, first] = [Vec::new(), vec![1]];
    for (last_io, last_seq_no, missing) in
        [(5000, 5000, &none), (1, 5000, &first), (u32::MAX / 2, u32::MAX / 2, &none)]
    {
        inject(&mut world, 0, &Pdu { body: status(last_io, last_seq_no, missing.clone()), ..pdu.clone() });
    }
    assert_eq!(world.stats(0).refused, 3);
    assert_eq!((world.state(0), world.stats(0).acknowledged_bytes), before);
    world.finish();
    assert_eq!(world.read, octets(100_000));
}

#[test]
fn old_and_contradictory_statuses_take_nothing_back() {
    let (mut world, pdu) = world();
    let confirmed = world.stats(0).acknowledged_bytes;
    assert!(confirmed > 0);
    inject(&mut world, 0, &Pdu { body: status(0, 0, Vec::new()), ..pdu.clone() });
    inject(&mut world, 0, &Pdu { body: status(0, 9, vec![1, 2, 3]), ..pdu.clone() });
    inject(&mut world, 0, &Pdu { body: status(u32::MAX - 3, 5, vec![1]), ..pdu });
    assert_eq!(world.stats(0).acknowledged_bytes, confirmed);
    assert_eq!(world.stats(0).retransmitted_packets, 0);
    world.finish();
    assert_eq!(world.read, octets(100_000));
}

#[test]
fn data_of_another_tag_beyond_the_window_or_of_number_0_is_not_taken() {
    let (mut world, pdu) = world();
    // The acceptor's own PDUs carry the opener's tag: the other way round the opener's own are needed.
    let own = world.trace.iter().find(|seen| seen.data().is_some()).expect("data").clone();
    let Pdu { source_port, destination_port, tag, .. } = own.pdu();
    let data = |number, tag| Pdu {
        source_port,
        destination_port,
        tag,
        body: Body::Data { number, poll: None, payload: b"forged" },
    };
    let kept = world.stats(1).delivered_bytes;
    inject(&mut world, 1, &data(0, tag));
    inject(&mut world, 1, &data(100_000, tag));
    inject(&mut world, 1, &data(30, pdu.tag));
    inject(&mut world, 1, &data(2, tag));
    let stats = world.stats(1);
    assert_eq!((stats.delivered_bytes, stats.refused, stats.duplicates), (kept, 2, 2));
    assert_eq!(world.state(1), Some(State::Open));
    world.finish();
    assert_eq!(world.read, octets(100_000));
}

#[test]
fn sdus_that_make_no_sense_end_the_connection() {
    let (mut world, _) = world();
    let own = world.trace.iter().find(|seen| seen.data() == Some(1)).expect("data").clone();
    let Pdu { source_port, destination_port, tag, .. } = own.pdu();
    // From the next one in order on: sooner or later a header begins in it, with flags that nobody knows.
    let last = world.trace.iter().rev().find_map(Seen::status).expect("there are statuses");
    let next = last.last_io + 1;
    for number in next..next + 60 {
        let body = Body::Data { number, poll: None, payload: &[0xFF; 600] };
        inject(&mut world, 1, &Pdu { source_port, destination_port, tag, body });
    }
    assert_eq!(world.state(1), Some(State::Closed));
}
