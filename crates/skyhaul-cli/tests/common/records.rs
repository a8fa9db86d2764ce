//! What a sender of one file of an octet says, record by record.

use skyhaul_files::codec::{Record, SessionOpening, Version, chunk_head};
use skyhaul_files::{Digest, RawName, chunk_digest};

/// All of it.
pub fn whole(name: &str) -> Vec<u8> {
    let end = Record::End { digest: Digest(*blake3::hash(b"x").as_bytes()) };
    [endless(name), end.encode(0)].concat()
}

/// All but the end of the file.
pub fn endless(name: &str) -> Vec<u8> {
    let mut stream = SessionOpening { version: Version::One, files: 1, bytes: 1 }.encode().to_vec();
    let name = RawName::new(name);
    stream.extend(Record::File { size: 1, executable: false, modified: None, name }.encode(0));
    stream.extend(chunk_head(0, 0, 1, &chunk_digest(0, 0, b"x")));
    stream.extend(b"x");
    stream
}
