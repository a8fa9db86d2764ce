//! Bytes that were written and are not acknowledged yet.

use skyhaul_core::{Description, OctetQueue, Octets};

use crate::segment::Payload;

/// A queue of bytes with numbers. Holds at most its limit.
#[derive(Clone, Debug)]
pub(crate) struct SendBuffer {
    first: u64,
    bytes: OctetQueue,
    limit_bytes: usize,
}

impl SendBuffer {
    /// Empty buffer whose first byte will have the number `first`.
    pub(crate) fn new(first: u64, limit_bytes: u64) -> Self {
        let limit_bytes = usize::try_from(limit_bytes.max(1)).unwrap_or(usize::MAX);
        Self { first, bytes: OctetQueue::default(), limit_bytes }
    }

    /// Takes as much as there is room for.
    pub(crate) fn write(&mut self, data: Octets<'_>) -> usize {
        let taken = data.len().min(self.room_bytes());
        if self.bytes.push(data.part(0, taken)) { taken } else { 0 }
    }

    pub(crate) fn held_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    pub(crate) fn room_bytes(&self) -> usize {
        self.limit_bytes.saturating_sub(self.bytes.len())
    }

    /// One past the number of the last byte.
    pub(crate) fn end(&self) -> u64 {
        self.first + self.bytes.len() as u64
    }

    /// Forgets all bytes below `number`; says how many.
    pub(crate) fn acknowledge(&mut self, number: u64) -> u64 {
        let count = number.min(self.end()).saturating_sub(self.first);
        self.bytes.forget(count as usize);
        self.first += count;
        count
    }

    /// Bytes [from, to), which must be held; they are empty if there is a description.
    pub(crate) fn payload(&self, from: u64, to: u64) -> (Payload<'_>, Option<Description>) {
        let (from, to) = ((from - self.first) as usize, (to - self.first) as usize);
        (self.bytes.slices(from, to), self.bytes.described(from, to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn payloads_are_the_stream(
            writes in proptest::collection::vec(0usize..9, 1..30),
            acks in proptest::collection::vec(0u64..9, 30),
        ) {
            let (mut buffer, mut next) = (SendBuffer::new(100, 16), 100u64);
            for (length, ack) in writes.into_iter().zip(acks) {
                let data: Vec<u8> = (next..next + length as u64).map(|n| n as u8).collect();
                next += buffer.write(Octets::Here(&data)) as u64;
                prop_assert_eq!(buffer.end(), next);
                prop_assert!(buffer.room_bytes() <= 16);
                buffer.acknowledge(buffer.first + ack);
                let (first, end) = (buffer.first, buffer.end());
                for from in first..=end {
                    let ((a, b), _) = buffer.payload(from, end);
                    let expected: Vec<u8> = (from..end).map(|n| n as u8).collect();
                    prop_assert_eq!([a, b].concat(), expected);
                }
            }
        }
    }
}
