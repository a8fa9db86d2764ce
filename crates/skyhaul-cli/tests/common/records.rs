//! What a sender of one file of an octet says, record by record.

use skyhaul_files::codec::{Record, SessionOpening, Version, chunk_head};
use skyhaul_files::{Digest, RawName, chunk_digest};

/// All of it.
pub fn whole(name: &str) -> Vec<u8> {
    [opening(), file_of_an_octet(0, name)].concat()
}

/// All but the end of the file.
pub fn endless(name: &str) -> Vec<u8> {
    [opening(), begun(0, name)].concat()
}

/// Records of a file of an octet, which has this number.
pub fn file_of_an_octet(number: u32, name: &str) -> Vec<u8> {
    let end = Record::End { digest: Digest(*blake3::hash(b"x").as_bytes()) };
    [begun(number, name), end.encode(number)].concat()
}

fn opening() -> Vec<u8> {
    SessionOpening { version: Version::One, files: 1, bytes: 1 }.encode().to_vec()
}

fn begun(number: u32, name: &str) -> Vec<u8> {
    let file = Record::File { size: 1, executable: false, modified: None, name: RawName::new(name) };
    let mut records = file.encode(number);
    records.extend(chunk_head(number, 0, 1, &chunk_digest(0, 0, b"x")));
    records.extend(b"x");
    records
}
