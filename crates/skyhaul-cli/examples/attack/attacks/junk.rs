//! Floods of datagrams that belong to no connection, 40,000 a second.

use std::io;

use skyhaul_stp::segment::{Poll, Report, Segment, Stat};

use crate::attack::{Attack, Place, Scene};
use crate::field::Field;
use crate::wire::{blank, datagram, opening, sockets};

pub(crate) const ATTACKS: &[Attack] = &[
    junk("junk-alien", "2.2 MB", "no envelope of ours", |field| {
        flood(field, |i| vec![0xC0; 1 + i as usize % 60])
    }),
    junk("junk-short", "1.5 MB", "no segment: too short", |field| {
        flood(field, |i| [&[0x20][..], &vec![0xC0; i as usize % 12]].concat())
    }),
    junk("junk-damaged", "58 MB", "1400 octets whose sum is wrong", |field| {
        flood(field, |i| damaged(data(i, &[1; 1400])))
    }),
    junk("junk-data", "58 MB", "data of no connection", |field| flood(field, |i| data(i, &[1; 1400]))),
    junk("junk-stat", "2.2 MB", "STATs of no connection", |field| flood(field, stat)),
    junk("junk-poll", "2 MB", "POLLs of no connection", |field| flood(field, poll)),
    junk("junk-no-port", "2.4 MB", "openings where nobody listens", |field| flood(field, no_port)),
];

const fn junk(
    name: &'static str,
    octets: &'static str,
    aim: &'static str,
    run: fn(&Field<'_>) -> io::Result<()>,
) -> Attack {
    Attack { name, place: Place::Off, octets, aim, scene: Scene::PLAIN, run }
}

fn flood(field: &Field<'_>, make: fn(u32) -> Vec<u8>) -> io::Result<()> {
    field.flood(40_000, &sockets(256)?, make);
    Ok(())
}

fn data(i: u32, payload: &[u8]) -> Vec<u8> {
    datagram(&Segment { data: Some((payload, &[])), ..blank(i as u16) })
}

fn damaged(mut datagram: Vec<u8>) -> Vec<u8> {
    if let Some(last) = datagram.last_mut() {
        *last ^= 1;
    }
    datagram
}

fn stat(i: u32) -> Vec<u8> {
    let stat = Stat { echo: i, report: Report::default(), ..Stat::default() };
    datagram(&Segment { stat: Some(stat), ..blank(i as u16) })
}

fn poll(i: u32) -> Vec<u8> {
    datagram(&Segment { poll: Some(Poll { timestamp: i, ..Poll::default() }), ..blank(i as u16) })
}

fn no_port(i: u32) -> Vec<u8> {
    datagram(&Segment { bgn: Some(opening(i)), destination_port: 77, ..blank(i as u16) })
}
