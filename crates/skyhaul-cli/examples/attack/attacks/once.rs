//! `receive --once`: sessions that are no transfer, and end it.

use std::io;
use std::time::Duration;

use skyhaul_core::ResetReason;
use skyhaul_files::codec::{Record, SessionOpening};
use skyhaul_files::{RawName, Version};
use skyhaul_stp::segment::Segment;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::attack::{Attack, Place, Scene};
use crate::field::Field;
use crate::peer::crowd;
use crate::wire::{blank, datagram, opening, socket};

const SCENE: Scene = Scene { is_once: true, comes_first: true, ..Scene::PLAIN };

pub(crate) const ATTACKS: &[Attack] = &[
    Attack {
        name: "once-rubbish",
        place: Place::Off,
        octets: "89, one a second",
        aim: "`receive --once` ends: an opening with 28 octets of rubbish",
        scene: SCENE,
        run: rubbish,
    },
    Attack {
        name: "once-reset",
        place: Place::Off,
        octets: "106, one a second",
        aim: "`receive --once` ends: an opening, and its reset",
        scene: SCENE,
        run: reset,
    },
    Attack {
        name: "once-nothing",
        place: Place::Peer,
        octets: "some 500, one a second",
        aim: "`receive --once` ends: a session of no files",
        scene: SCENE,
        run: nothing,
    },
    Attack {
        name: "once-aborted",
        place: Place::Peer,
        octets: "some 500, one a second",
        aim: "`receive --once` ends: a file is announced, and the session broken off",
        scene: SCENE,
        run: aborted,
    },
];

/// Sends what `make` makes of the i-th opening, once a second.
fn each_second(field: &Field<'_>, make: impl Fn(Segment<'static>, u32) -> Vec<Vec<u8>>) -> io::Result<()> {
    for i in 0.. {
        if !field.goes_on() {
            break;
        }
        let socket = socket([66, 1, i as u8])?;
        for bytes in make(blank(5000 + i as u16), i) {
            field.send(&socket, &bytes);
        }
        field.wait(Duration::from_secs(1));
    }
    Ok(())
}

fn rubbish(field: &Field<'_>) -> io::Result<()> {
    each_second(field, |blank, i| {
        let data: Option<(&[u8], &[u8])> = Some((&[0xC0; 28], &[]));
        vec![datagram(&Segment { bgn: Some(opening(i)), data, ..blank })]
    })
}

fn reset(field: &Field<'_>) -> io::Result<()> {
    each_second(field, |blank, i| {
        let bgn = Segment { bgn: Some(opening(i)), ..blank.clone() };
        vec![datagram(&bgn), datagram(&Segment { rst: Some(ResetReason::Aborted), ..blank })]
    })
}

/// A megabyte is announced, begun, and broken off.
fn aborted(field: &Field<'_>) -> io::Result<()> {
    crowd(field, 1, 1, |stream| {
        Box::pin(async move {
            let opening = SessionOpening { version: Version::Two, files: 1, bytes: 1 << 20 };
            stream.write_all(&opening.encode()).await?;
            let name = RawName::new("never");
            let file = Record::File { size: 1 << 20, executable: false, modified: None, name };
            stream.write_all(&file.encode(0)).await?;
            tokio::time::sleep(Duration::from_millis(200)).await; // it has arrived, and is proven
            Err(io::Error::other("once more, after a second"))
        })
    })
}

fn nothing(field: &Field<'_>) -> io::Result<()> {
    crowd(field, 1, 1, |stream| {
        Box::pin(async move {
            let opening = SessionOpening { version: Version::Two, files: 0, bytes: 0 };
            stream.write_all(&opening.encode()).await?;
            stream.shutdown().await?;
            stream.read_to_end(&mut Vec::new()).await?;
            Err(io::Error::other("once more, after a second"))
        })
    })
}
