//! Output: what strangers can have written, and outputs that nobody reads.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use skyhaul_files::codec::{Record, SessionOpening, Version};
use skyhaul_files::{Code, MAX_NAME_BYTES, RawName, Reason};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::attack::{Attack, Place, Scene};
use crate::attacks::files::whole_file;
use crate::field::Field;
use crate::peer::{Connected, crowd};

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
    Attack {
        name: "escapes",
        place: Place::Peer,
        octets: "some 110 kB: 16 sessions of six",
        aim: "an octet stored, names and reasons of the other files full of what needs escapes",
        scene: Scene::PLAIN,
        run: |field| crowd(field, 6, 3, |stream| Box::pin(escapes(stream))),
    },
];

/// A file of an octet is stored or refused, ten others are given up for reasons that are hard to show; and
/// again after a second.
async fn escapes(stream: &mut dyn Connected) -> io::Result<()> {
    /// Number of the next file: each has a name of its own.
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut words = SessionOpening { version: Version::Two, files: 11, bytes: 11 }.encode().to_vec();
    if number.is_multiple_of(2) {
        words.extend(whole_file(0, format!("small{number}")));
    } else {
        words.extend(given_up(0));
    }
    (1..11).for_each(|file| words.extend(given_up(file)));
    stream.write_all(&words).await?;
    stream.shutdown().await?;
    stream.read_to_end(&mut Vec::new()).await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    Ok(())
}

/// A file that its sender gives up.
fn given_up(number: u32) -> Vec<u8> {
    let name = RawName::new([number.to_string().as_bytes(), &[0xFF; MAX_NAME_BYTES - 2]].concat());
    let file = Record::File { size: 1, executable: false, modified: None, name };
    let why = format!("{number}{}", "\u{1}".repeat(MAX_NAME_BYTES - 2));
    let abort = Record::Abort { reason: Reason::new(Code::Changed, why) };
    [file.encode(number), abort.encode(number)].concat()
}

fn junk(field: &Field<'_>) -> io::Result<()> {
    crowd(field, 4, 1, |stream| {
        Box::pin(async move {
            stream.write_all(b"GET / HTTP/1.1\r\nHost: skyhaul\r\n\r\n").await?;
            stream.shutdown().await?;
            stream.read_to_end(&mut Vec::new()).await.map(drop)
        })
    })
}
