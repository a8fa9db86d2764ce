//! Reading fixed-size fields off the front of a slice.

use crate::errors::Violation;

/// Takes fields from the front; running out is a violation, never a panic.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Violation> {
        let (field, rest) =
            self.0.split_first_chunk::<N>().ok_or(Violation::Field("a record that is too short"))?;
        self.0 = rest;
        Ok(*field)
    }

    pub(super) fn u8(&mut self) -> Result<u8, Violation> {
        self.array().map(|[octet]| octet)
    }

    pub(super) fn u16(&mut self) -> Result<u16, Violation> {
        self.array().map(u16::from_be_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Violation> {
        self.array().map(u32::from_be_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, Violation> {
        self.array().map(u64::from_be_bytes)
    }

    pub(super) fn rest(self) -> &'a [u8] {
        self.0
    }
}
