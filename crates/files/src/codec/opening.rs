//! Beginning of a sender's stream.

use super::fields::Fields;
use super::head::check;
use crate::errors::Violation;
use crate::limits::{MAX_FILES, WIDE_WINDOW_FILES, WINDOW_FILES};

/// The first eight octets of a sender's stream.
pub const MAGIC: [u8; 8] = *b"SKYHAULF";

/// Version of the protocol. A receiver takes them all; a sender must know which ones its receiver takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// The first: no times of modification, at most [`WINDOW_FILES`] unsettled files.
    #[default]
    One,
    /// Files keep their times of modification; at most [`WIDE_WINDOW_FILES`] are unsettled.
    Two,
    /// Data of chunks comes in portions, so that a chunk whose file was refused ends early.
    Three,
}

impl Version {
    /// The version as it travels.
    pub fn octet(self) -> u8 {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Three => 3,
        }
    }

    fn from_octet(octet: u8) -> Result<Self, Violation> {
        let known = [Self::One, Self::Two, Self::Three].into_iter().find(|version| version.octet() == octet);
        known.ok_or(Violation::Version(octet))
    }

    /// Files that may be begun and have no result.
    pub(crate) fn window_files(self) -> usize {
        match self {
            Self::One => WINDOW_FILES,
            Self::Two | Self::Three => WIDE_WINDOW_FILES,
        }
    }

    /// True if data of chunks comes in portions.
    pub(crate) fn has_portions(self) -> bool {
        match self {
            Self::One | Self::Two => false,
            Self::Three => true,
        }
    }
}

/// Octets of the opening, in all versions.
pub const OPENING_BYTES: usize = 28;

/// Announcement of the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionOpening {
    /// Version of what follows.
    pub version: Version,
    /// How many files follow, exactly.
    pub files: u32,
    /// How many payload bytes they had when the sender looked.
    pub bytes: u64,
}

impl SessionOpening {
    /// Encodes the opening.
    pub fn encode(&self) -> [u8; OPENING_BYTES] {
        let mut octets = [0; OPENING_BYTES];
        octets[..8].copy_from_slice(&MAGIC);
        octets[8] = self.version.octet();
        octets[12..16].copy_from_slice(&self.files.to_be_bytes());
        octets[16..24].copy_from_slice(&self.bytes.to_be_bytes());
        let check = check(&octets[..24]);
        octets[24..].copy_from_slice(&check);
        octets
    }

    /// Decodes the opening; the magic is judged first, then the check, then the version.
    pub fn decode(octets: &[u8; OPENING_BYTES]) -> Result<Self, Violation> {
        let mut fields = Fields(octets);
        if fields.array()? != MAGIC {
            return Err(Violation::Magic);
        }
        let (version, reserved) = (fields.u8()?, fields.array::<3>()?);
        let (files, bytes) = (fields.u32()?, fields.u64()?);
        if fields.rest() != check(&octets[..24]) {
            return Err(Violation::Check("the opening"));
        }
        let version = Version::from_octet(version)?;
        if reserved != [0; 3] || files as usize > MAX_FILES {
            return Err(Violation::Field("the opening"));
        }
        Ok(Self { version, files, bytes })
    }
}
