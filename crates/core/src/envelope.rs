//! Octet in front of every datagram over UDP: how to read the rest. The bits are in `docs/spec/envelope.md`.

use core::fmt;

/// Version of the envelope, in the three highest bits.
pub const VERSION: u8 = 1;

const VERSION_SHIFT: u8 = 5;
const MODE_SHIFT: u8 = 2;
const MODE_MASK: u8 = 0b111;
const PATH_HEADER: u8 = 0b10;
const RESERVED: u8 = 0b01;

/// Way in which the body of a datagram is protected. It is set for each peer and never negotiated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// Not at all: bodies travel as they are.
    #[default]
    Plain,
    /// Nobody else can read or forge the body.
    Encrypted,
    /// Nobody else can forge the body; anybody can read it.
    Authenticated,
}

impl Mode {
    /// Mode that the octet `first` names; `None` for one that is not assigned. Nothing else is checked.
    pub const fn named_by(first: u8) -> Option<Self> {
        match first >> MODE_SHIFT & MODE_MASK {
            0 => Some(Self::Plain),
            1 => Some(Self::Encrypted),
            2 => Some(Self::Authenticated),
            _ => None,
        }
    }

    /// First octet of a datagram of this mode.
    pub const fn octet(self) -> u8 {
        VERSION << VERSION_SHIFT | (self as u8) << MODE_SHIFT
    }

    /// Refusal of every first octet of a datagram but [`Self::octet`], with the reason.
    pub const fn check(self, first: u8) -> Result<(), EnvelopeError> {
        let (version, mode) = (first >> VERSION_SHIFT, first >> MODE_SHIFT & MODE_MASK);
        if version != VERSION {
            return Err(EnvelopeError::Version(version));
        }
        if mode != self as u8 {
            return Err(EnvelopeError::Mode(mode));
        }
        if first & PATH_HEADER != 0 {
            return Err(EnvelopeError::PathHeader);
        }
        if first & RESERVED != 0 { Err(EnvelopeError::Reserved) } else { Ok(()) }
    }
}

/// First octet of a datagram with a path header behind it, and all else as in `first`.
pub const fn with_path_header(first: u8) -> u8 {
    first | PATH_HEADER
}

/// First octet of the datagram without its path header, if `first` says that there is one. Version and mode
/// must be assigned, and nothing reserved be set.
pub fn without_path_header(first: u8) -> Option<u8> {
    let plain = first & !PATH_HEADER;
    let is_known = Mode::named_by(first).is_some_and(|mode| mode.octet() == plain);
    (is_known && plain != first).then_some(plain)
}

/// Reason why a datagram was not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnvelopeError {
    /// A datagram without a single octet.
    Empty,
    /// Not this version (or not skyhaul at all).
    Version(u8),
    /// Another protection mode than this end's.
    Mode(u8),
    /// The bit of a path header, but no header that this version knows behind it.
    PathHeader,
    /// The reserved bit is set.
    Reserved,
}

impl fmt::Display for EnvelopeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the datagram is empty"),
            Self::Version(version) => write!(f, "envelope version {version} is not known"),
            Self::Mode(mode) => write!(f, "protection mode {mode} is not this endpoint's"),
            Self::PathHeader => f.write_str("no path header of this version is behind the octet"),
            Self::Reserved => f.write_str("the reserved bit is set"),
        }
    }
}

impl core::error::Error for EnvelopeError {}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    const MODES: [Mode; 3] = [Mode::Plain, Mode::Encrypted, Mode::Authenticated];

    #[test]
    fn each_mode_has_one_octet_of_256() {
        for (mode, octet) in MODES.into_iter().zip([0x20, 0x24, 0x28]) {
            let passed: Vec<u8> = (0..=255).filter(|&first| mode.check(first).is_ok()).collect();
            assert_eq!(passed, [octet], "{mode:?}: the golden bytes of docs/spec/envelope.md");
            assert_eq!((mode.octet(), Mode::named_by(octet)), (octet, Some(mode)));
        }
    }

    #[test]
    fn each_mode_has_one_octet_with_a_path_header() {
        let with: Vec<u8> = (0..=255).filter(|&first| without_path_header(first).is_some()).collect();
        assert_eq!(with, [0x22, 0x26, 0x2A]);
        for mode in MODES {
            assert_eq!(without_path_header(with_path_header(mode.octet())), Some(mode.octet()));
            assert_eq!(mode.check(with_path_header(mode.octet())), Err(EnvelopeError::PathHeader));
        }
    }

    #[test]
    fn modes_that_are_not_assigned_have_no_name() {
        let unnamed = (0..8u8).filter(|mode| Mode::named_by(0x20 | mode << 2).is_none());
        assert_eq!(unnamed.collect::<Vec<_>>(), [3, 4, 5, 6, 7]);
    }
}
