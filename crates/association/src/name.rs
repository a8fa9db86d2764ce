//! Names that machines give each other, and callsigns of radio amateurs.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

/// Longest name of a machine.
pub const MAX_NAME_BYTES: usize = 63;

/// Longest callsign.
pub const MAX_CALLSIGN_BYTES: usize = 15;

/// Octets of a callsign in clear: at least one is 0.
pub(crate) const CALLSIGN_BYTES: usize = MAX_CALLSIGN_BYTES + 1;

/// Callsign in clear; all 0 for none.
pub(crate) type CallsignOctets = [u8; CALLSIGN_BYTES];

/// Name of a machine: 1 to [`MAX_NAME_BYTES`] letters, digits, '-', '_' and '.' of ASCII, of which the first
/// is a letter or a digit. So it is neither an option, nor a path, nor an address with a port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name(String);

/// Callsign: 3 to [`MAX_CALLSIGN_BYTES`] letters, digits, '/' and '-' of ASCII, kept in capitals.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Callsign(String);

/// Reason why a text is no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameError {
    /// It is no name of a machine.
    Name,
    /// It is no callsign.
    Callsign,
}

impl Name {
    /// Text of the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Callsign {
    /// Text of the callsign.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Octets of a callsign in clear: its text, and zeros behind it.
    pub(crate) fn octets(&self) -> CallsignOctets {
        let mut octets = [0; CALLSIGN_BYTES];
        octets[..self.0.len()].copy_from_slice(self.0.as_bytes());
        octets
    }
}

impl FromStr for Name {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let is_inside = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let begins = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        let is_name = begins && text.len() <= MAX_NAME_BYTES && text.bytes().all(is_inside);
        is_name.then(|| Self(text.into())).ok_or(NameError::Name)
    }
}

impl FromStr for Callsign {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let is_inside = |byte: u8| byte.is_ascii_alphanumeric() || b"/-".contains(&byte);
        let begins = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        let is_callsign =
            begins && (3..=MAX_CALLSIGN_BYTES).contains(&text.len()) && text.bytes().all(is_inside);
        is_callsign.then(|| Self(text.to_ascii_uppercase())).ok_or(NameError::Callsign)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Callsign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name => write!(
                f,
                "a name has 1 to {MAX_NAME_BYTES} letters, digits, '-', '_' and '.', and begins with a letter or digit"
            ),
            Self::Callsign => {
                write!(
                    f,
                    "a callsign has 3 to {MAX_CALLSIGN_BYTES} letters, digits, '/' and '-', like DL1ABC/P"
                )
            }
        }
    }
}

impl core::error::Error for NameError {}

#[cfg(test)]
mod tests {
    use std::string::ToString as _;

    use super::*;

    #[test]
    fn names_are_neither_options_nor_paths_nor_addresses() {
        let long = "a".repeat(MAX_NAME_BYTES);
        for name in ["a", "ground-1", "ship.example", "7", &long] {
            assert_eq!(name.parse::<Name>().unwrap().to_string(), name);
        }
        let too_long = "a".repeat(MAX_NAME_BYTES + 1);
        for bad in ["", "-a", ".a", "a b", "a/b", "a:1", "a@b", "[a]", "ü", "a\n", &too_long] {
            assert_eq!(bad.parse::<Name>(), Err(NameError::Name), "{bad:?}");
        }
    }

    #[test]
    fn callsigns_are_kept_in_capitals() {
        assert_eq!("dl1abc/p".parse::<Callsign>().unwrap().as_str(), "DL1ABC/P");
        for bad in ["", "k1", "/k1a", "k1 a", "K1ABCDEFGHIJKLMN", "-----"] {
            assert_eq!(bad.parse::<Callsign>(), Err(NameError::Callsign), "{bad:?}");
        }
    }
}
