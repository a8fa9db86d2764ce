//! Output: what strangers can have written, and outputs that nobody reads.

use std::io;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::attack::{Attack, Place, Scene};
use crate::field::Field;
use crate::peer::crowd;

pub(crate) const ATTACKS: &[Attack] = &[
    Attack {
        name: "junk-sessions",
        place: Place::Peer,
        octets: "0.8 MB, what the receiver takes",
        aim: "each session that is none writes a line",
        scene: Scene::PLAIN,
        run: junk,
    },
    Attack {
        name: "blocked-output",
        place: Place::Peer,
        octets: "0.8 MB, what the receiver takes",
        aim: "the same while nobody reads the receiver's output",
        scene: Scene { is_blocked: true, ..Scene::PLAIN },
        run: junk,
    },
];

fn junk(field: &Field<'_>) -> io::Result<()> {
    crowd(field, 4, 1, |stream| {
        Box::pin(async move {
            stream.write_all(b"GET / HTTP/1.1\r\nHost: skyhaul\r\n\r\n").await?;
            stream.shutdown().await?;
            stream.read_to_end(&mut Vec::new()).await.map(drop)
        })
    })
}
