//! Streams made by hand.

use skyhaul_files::codec::{Record, SessionOpening, Version, chunk_head};
use skyhaul_files::{CHUNK_BYTES, Digest, RawName, chunk_count, chunk_digest};

pub(crate) fn opening(files: u32) -> Vec<u8> {
    SessionOpening { version: Version::One, files, bytes: 0 }.encode().to_vec()
}

pub(crate) fn file(number: u32, name: &[u8], size: u64) -> Vec<u8> {
    Record::File { size, executable: false, modified: None, name: RawName::new(name) }.encode(number)
}

/// The chunks of a file.
pub(crate) fn chunks(file: u32, content: &[u8]) -> Vec<u8> {
    let count = chunk_count(content.len() as u64);
    let pieces = (0..).zip(content.chunks(CHUNK_BYTES));
    pieces.flat_map(|(number, data)| chunk(file, number, count, data)).collect()
}

pub(crate) fn chunk(file: u32, number: u32, count: u32, data: &[u8]) -> Vec<u8> {
    let head = chunk_head(file, number, data.len(), &chunk_digest(number, count, data));
    [&head[..], data].concat()
}

pub(crate) fn end(file: u32, content: &[u8]) -> Vec<u8> {
    Record::End { digest: Digest(*blake3::hash(content).as_bytes()) }.encode(file)
}

/// All records of a file.
pub(crate) fn whole(number: u32, name: &[u8], content: &[u8]) -> Vec<u8> {
    [file(number, name, content.len() as u64), chunks(number, content), end(number, content)].concat()
}

/// A complete transfer.
pub(crate) fn stream(files: &[(&[u8], &[u8])]) -> Vec<u8> {
    let records = (0..).zip(files).flat_map(|(number, (name, content))| whole(number, name, content));
    opening(files.len() as u32).into_iter().chain(records).collect()
}
