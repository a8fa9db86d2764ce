//! The numbers that both sides hold each other to; `docs/spec/files.md`, "Limits".

/// Payload bytes in a chunk; only the last one of a file may be shorter. A power of two times
/// BLAKE3's own 1024, so that each chunk is a subtree of the file's hash.
pub const CHUNK_BYTES: usize = 256 * 1024;

/// The largest file: 256 TiB, so that chunk numbers fit 32 bits with room to spare.
pub const MAX_FILE_BYTES: u64 = 1 << 48;

/// The most files in one transfer.
pub const MAX_FILES: usize = 65_536;

/// The most files that a sender may have begun and not yet know the result of, in version 1.
pub const WINDOW_FILES: usize = 128;

/// The same in version 2: half of the files that a process may usually have open.
pub const WIDE_WINDOW_FILES: usize = 512;

/// The most chunks of one file that may wait to be fetched again.
pub const MAX_DAMAGED_CHUNKS: usize = 1024;

/// How often the receiver asks again for the damaged chunks of one file.
pub const MAX_ROUNDS: u8 = 8;

/// The longest file name, in bytes.
pub const MAX_NAME_BYTES: usize = 255;

/// The longest reason text, in bytes.
pub const MAX_TEXT_BYTES: usize = 255;

/// How the names of unfinished files end. Such a name is never accepted for a file itself.
pub const PART_SUFFIX: &str = ".skyhaul-part";

/// How many chunks a file of `size` bytes has.
pub fn chunk_count(size: u64) -> u32 {
    size.min(MAX_FILE_BYTES).div_ceil(CHUNK_BYTES as u64) as u32
}

/// How many bytes chunk `number` of a file of `size` bytes has; 0 past the end.
pub fn chunk_len(size: u64, number: u32) -> usize {
    let rest = size.saturating_sub(chunk_offset(number));
    rest.min(CHUNK_BYTES as u64) as usize
}

/// Where chunk `number` begins in its file.
pub(crate) fn chunk_offset(number: u32) -> u64 {
    u64::from(number) * CHUNK_BYTES as u64
}
