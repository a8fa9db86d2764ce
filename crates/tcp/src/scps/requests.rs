//! Sender's side of negative acknowledgements: options to ranges of numbers.

use super::{SNACK, SnackOption, SnackTerms};
use crate::segment::ExtraOptions;

/// Word of a receiver on a range [first, end). May lie anywhere, beyond what was ever sent, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// Something of it is missing: it is asked for.
    Missing(u64, u64),
    /// It came, as far as was sent: the options of one segment name hole after hole, so what lies between is
    /// there.
    Arrived(u64, u64),
}

/// Tells `each` what the options of a segment say that acknowledges everything below `acknowledgement`.
/// Options too short to be one, and holes of no size, say nothing.
pub(crate) fn read(
    options: &ExtraOptions,
    acknowledgement: u64,
    terms: SnackTerms,
    mut each: impl FnMut(Said),
) {
    let mut told_to = None;
    for (_, value) in options.iter().filter(|&(kind, _)| kind == SNACK) {
        let Some(snack) = SnackOption::decode(value).filter(|snack| snack.size > 0) else { continue };
        let number = |blocks: u64| acknowledgement + blocks * terms.unit_bytes;
        let first = u64::from(snack.offset);
        let mut at = first + u64::from(snack.size);
        if let Some(from) = told_to.filter(|&from| from < number(first)) {
            each(Said::Arrived(from, number(first)));
        }
        // Equal bits are one range: a segment may be larger than a block, and then lies whole in none.
        let (mut from, mut is_there_before) = (first, false);
        let said = |from: u64, to: u64, is_there: bool| {
            let (from, to) = (number(from), number(to));
            if is_there { Said::Arrived(from, to) } else { Said::Missing(from, to) }
        };
        for is_there in snack.blocks().filter(|_| terms.has_vector) {
            if is_there != is_there_before {
                each(said(from, at, is_there_before));
                (from, is_there_before) = (at, is_there);
            }
            at += 1;
        }
        each(said(from, at, is_there_before));
        told_to = told_to.max(Some(number(at)));
    }
}
