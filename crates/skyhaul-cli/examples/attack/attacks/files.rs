//! Lists of files that hold what a receiver has little of.

use std::future::pending;
use std::io;

use skyhaul_files::codec::{Record, SessionOpening, Version, chunk_head};
use skyhaul_files::{Digest, RawName, chunk_digest};
use tokio::io::AsyncWriteExt as _;

use crate::attack::{Attack, Place, Scene};
use crate::field::Field;
use crate::peer::crowd;

const SCENE: Scene = Scene { has_few_descriptors: true, ..Scene::PLAIN };

/// Files of a session that may be begun and have no result.
const FILES: u32 = 512;

pub(crate) const ATTACKS: &[Attack] = &[Attack {
    name: "hungry-list",
    place: Place::Peer,
    octets: "350 kB, once: 4 sessions",
    aim: "512 damaged files a session hold the descriptors of a receiver that has 256",
    scene: SCENE,
    run: damaged,
}];

fn damaged(field: &Field<'_>) -> io::Result<()> {
    crowd(field, 4, 1, |stream| {
        Box::pin(async move {
            stream.write_all(&damaged_files(stream.peer_addr().port())).await?;
            pending().await
        })
    })
}

/// Files of one chunk, each damaged, all of which wait for repairs.
fn damaged_files(salt: u16) -> Vec<u8> {
    let mut stream = SessionOpening { version: Version::Two, files: FILES, bytes: 0 }.encode().to_vec();
    let digest = Digest(*blake3::hash(b"good").as_bytes());
    for number in 0..FILES {
        let name = RawName::new(format!("damaged{number}-{salt}"));
        stream.extend(Record::File { size: 4, executable: false, modified: None, name }.encode(number));
        stream.extend(chunk_head(number, 0, 4, &chunk_digest(0, 1, b"good")));
        stream.extend(b"evil");
        stream.extend(Record::End { digest }.encode(number));
    }
    stream
}
