//! Records of the application, which segments end [SCPS-TP option 22].

use skyhaul_core::Octets;

use super::{Chunk, Sender};
use crate::scps::MAX_UNACKNOWLEDGED;

impl Sender {
    /// Takes as much of `data` as there is room for; where that is all of it, a record ends with it. Nothing
    /// while too many records are not acknowledged.
    pub(crate) fn write_record(&mut self, data: &[u8]) -> usize {
        if self.records.len() >= MAX_UNACKNOWLEDGED {
            return 0;
        }
        let taken = self.write(Octets::Here(data));
        if taken > 0 && taken == data.len() {
            self.records.insert(self.space.data_end());
        }
        taken
    }

    /// True if there are ends of records, and the peer is told of them.
    #[inline]
    pub(crate) fn tells_records(&self) -> bool {
        self.agreed.scps.is_some() && self.records.len() > 0
    }

    /// Piece up to the first end of a record within it, which then is of no size that is tried; true if a
    /// record ends with it. For where the peer is told of records.
    pub(crate) fn cut_to_record(&self, chunk: Chunk) -> (Chunk, bool) {
        let data_end = chunk.end.min(self.space.data_end());
        let record = self.records.first_after(chunk.first).filter(|_| chunk.first > self.space.initial());
        let Some(end) = record.filter(|&end| end <= data_end) else { return (chunk, false) };
        let mut cut = chunk;
        if end < data_end {
            (cut.end, cut.tried_bytes) = (end, None);
        }
        (cut, true)
    }

    /// True if a record ends within [first, end), and the peer is told of records: that waits for nothing.
    pub(super) fn ends_record_within(&self, first: u64, end: u64) -> bool {
        self.tells_records() && self.records.first_after(first).is_some_and(|record| record <= end)
    }
}
