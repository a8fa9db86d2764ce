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

    /// Piece up to the first end of a record within it, where the peer is told of records. That is of no size
    /// that is tried.
    pub(crate) fn cut_to_record(&self, chunk: Chunk) -> Chunk {
        let mut cut = chunk;
        if let Some(end) = self.record_end(&chunk).filter(|&end| end < chunk.end.min(self.space.data_end())) {
            (cut.end, cut.tried_bytes) = (end, None);
        }
        cut
    }

    /// True if a record ends within [first, end), and the peer is told of records: that waits for nothing.
    pub(super) fn ends_record_within(&self, first: u64, end: u64) -> bool {
        self.agreed.scps.is_some() && self.records.first_after(first).is_some_and(|record| record <= end)
    }

    /// True if a record ends with this piece, and the peer is told of records.
    pub(crate) fn ends_record(&self, chunk: &Chunk) -> bool {
        self.record_end(chunk) == Some(chunk.end.min(self.space.data_end()))
    }

    /// First end of a record within a piece, where the peer is told of records.
    fn record_end(&self, chunk: &Chunk) -> Option<u64> {
        let is_told = self.agreed.scps.is_some() && chunk.first > self.space.initial();
        self.records.first_after(chunk.first).filter(|&end| is_told && end <= chunk.end)
    }
}
