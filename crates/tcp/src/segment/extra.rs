//! Options that a plain TCP does not know, as they lie on the wire: those of SCPS-TP among them.

use alloc::vec::Vec;

use super::MAX_OPTIONS_BYTES;

/// Further options of a segment, as they lie on the wire.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ExtraOptions {
    bytes: [u8; MAX_OPTIONS_BYTES],
    length: u8,
}

impl Default for ExtraOptions {
    fn default() -> Self {
        Self { bytes: [0; MAX_OPTIONS_BYTES], length: 0 }
    }
}

impl core::fmt::Debug for ExtraOptions {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl ExtraOptions {
    /// Adds an option; false if there is no room.
    pub fn push(&mut self, kind: u8, value: &[u8]) -> bool {
        self.push_parts(kind, value, &[])
    }

    /// Adds an option whose value has two parts; false if there is no room.
    pub(crate) fn push_parts(&mut self, kind: u8, front: &[u8], back: &[u8]) -> bool {
        let (start, whole) = (usize::from(self.length), front.len() + back.len() + 2);
        let Some(place) = self.bytes.get_mut(start..start + whole) else { return false };
        (place[0], place[1]) = (kind, whole as u8);
        place[2..whole - back.len()].copy_from_slice(front);
        place[whole - back.len()..].copy_from_slice(back);
        self.length += whole as u8;
        true
    }

    /// The options as they lie on the wire, without padding.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// Kinds and values.
    pub fn iter(&self) -> impl Iterator<Item = (u8, &[u8])> {
        let mut rest = &self.bytes[..usize::from(self.length)];
        core::iter::from_fn(move || {
            let (&[kind, length], _) = rest.split_first_chunk()?;
            let (option, behind) = rest.split_at_checked(usize::from(length))?;
            rest = behind;
            Some((kind, &option[2..]))
        })
    }

    /// The value of the first one of this kind.
    pub fn get(&self, kind: u8) -> Option<&[u8]> {
        self.iter().find(|&(other, _)| other == kind).map(|(_, value)| value)
    }

    /// Bytes on the wire, padded to a multiple of 4.
    pub fn encoded_len(&self) -> usize {
        usize::from(self.length).next_multiple_of(4)
    }

    pub(super) fn encode(&self, no_operation: u8, out: &mut Vec<u8>) {
        if self.length == 0 {
            return;
        }
        out.extend_from_slice(&self.bytes[..usize::from(self.length)]);
        out.extend((usize::from(self.length)..self.encoded_len()).map(|_| no_operation));
    }
}
