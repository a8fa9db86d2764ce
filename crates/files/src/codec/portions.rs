//! Data of a chunk in portions, in version 3: a chunk whose file was refused ends early.

use crate::errors::Violation;

/// Octets of data in a portion; the last one of a chunk may have less.
pub const PORTION_BYTES: usize = 4096;

/// Octet between two portions: the next one follows.
pub const MORE: u8 = 0x00;

/// Octet behind a portion with which the chunk ends early.
pub const CUT: u8 = 0xff;

/// Octets of a portion and of the octet that follows it.
const STRIDE_BYTES: usize = PORTION_BYTES + 1;

/// Portions of a chunk that have others behind them, if it has `data` octets.
fn followed(data: usize) -> usize {
    data.saturating_sub(1) / PORTION_BYTES
}

/// Octets that `data` octets of a chunk take in portions.
pub fn portioned_bytes(data: usize) -> usize {
    data + followed(data)
}

/// Makes portions of the first `data` octets of `room`, which has [`portioned_bytes`] of them.
pub fn portion(room: &mut [u8], data: usize) {
    for number in (1..=followed(data)).rev() {
        let (begin, place) = (number * PORTION_BYTES, number * STRIDE_BYTES);
        room.copy_within(begin..data.min(begin + PORTION_BYTES), place);
        room[place - 1] = MORE;
    }
}

/// Portions after which a chunk of `data` octets can end early once `written` octets of it, in portions, are
/// gone; `None`: its last portion is under way.
pub(crate) fn portions_until_cut(data: usize, written: usize) -> Option<usize> {
    let portions = written / STRIDE_BYTES + 1;
    (portions <= followed(data)).then_some(portions)
}

/// Octets that so many portions take, each with the octet behind it.
pub(crate) fn cut_bytes(portions: usize) -> usize {
    portions * STRIDE_BYTES
}

/// True if the octet behind a portion ends the chunk early.
pub(crate) fn is_cut(octet: u8) -> Result<bool, Violation> {
    match octet {
        MORE => Ok(false),
        CUT => Ok(true),
        _ => Err(Violation::Field("an octet between portions of a chunk")),
    }
}
