//! Reasons why two machines are not paired.

use core::fmt;

use skyhaul_core::envelope::Mode;

use super::frame::VERSION;
use crate::mode_word;

/// Reason why there is no pairing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairingError {
    /// A wrong code was tried at this end: the code is spent.
    WrongCode,
    /// The other end says that the code which this end has is wrong, and stops.
    CodeRefused,
    /// The other end does not know the code, or somebody changes what it says.
    Forged,
    /// The other end pairs by another version of the format; 0: by one that it does not name.
    Version(u8),
    /// The owners want different modes.
    Mode {
        /// Mode of this end.
        own: Mode,
        /// Mode of the other one.
        other: Mode,
    },
    /// The other end says that the modes differ.
    ModeRefused,
    /// The other end has this machine's own key.
    Oneself,
    /// The other end could not keep this one.
    Declined(Unkept),
    /// What came is no pairing.
    Alien,
    /// The stream ended before it was over.
    Cut,
}

/// Why an end cannot keep the other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unkept {
    /// It would get the name of the machine that would keep it.
    OwnName,
    /// It would get the name of another peer there.
    NameTaken,
    /// Another reason, which is told there alone.
    Other,
}

/// Reason that is told to the other end. Nobody has to believe it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Version = 1,
    Code = 2,
    Mode = 3,
    Declined = 4,
    Alien = 5,
    OwnName = 6,
    NameTaken = 7,
}

impl From<Unkept> for Refusal {
    fn from(why: Unkept) -> Self {
        match why {
            Unkept::OwnName => Self::OwnName,
            Unkept::NameTaken => Self::NameTaken,
            Unkept::Other => Self::Declined,
        }
    }
}

impl PairingError {
    /// What the other end is told; `None`: it knows, or is gone.
    pub(super) fn refusal(self) -> Option<Refusal> {
        match self {
            Self::WrongCode => Some(Refusal::Code),
            Self::Version(_) => Some(Refusal::Version),
            Self::Mode { .. } => Some(Refusal::Mode),
            Self::Oneself => Some(Refusal::Declined),
            Self::Alien | Self::Forged => Some(Refusal::Alien),
            Self::CodeRefused | Self::ModeRefused | Self::Declined(_) | Self::Cut => None,
        }
    }

    /// What a refusal by the other end means: reason, and the version that it speaks.
    pub(super) fn of_refusal(body: &[u8]) -> Self {
        let &[reason, version] = body else { return Self::Alien };
        match reason {
            _ if version != VERSION => Self::Version(version),
            1 => Self::Version(0),
            2 => Self::CodeRefused,
            3 => Self::ModeRefused,
            4 => Self::Declined(Unkept::Other),
            6 => Self::Declined(Unkept::OwnName),
            7 => Self::Declined(Unkept::NameTaken),
            _ => Self::Alien,
        }
    }
}

impl fmt::Display for PairingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongCode => f.write_str("a wrong code was tried, so this one is void"),
            Self::CodeRefused => {
                f.write_str("the other machine says that the code is wrong; have it show a new one")
            }
            Self::Forged => {
                f.write_str("the other machine does not know the code, or somebody changes what it says")
            }
            Self::Version(0) => f.write_str("the other machine pairs by another version of skyhaul"),
            Self::Version(version) => write!(
                f,
                "the other machine pairs by version {version}, this one by {VERSION}; use one skyhaul at both"
            ),
            Self::Mode { own, other } => write!(
                f,
                "the modes differ: here {}, at the other machine {}; give both one --mode",
                mode_word(*own),
                mode_word(*other)
            ),
            Self::ModeRefused => f.write_str("the modes differ; give both machines one --mode"),
            Self::Oneself => f.write_str("the other machine has this one's identity; each needs its own"),
            Self::Declined(Unkept::OwnName) => f.write_str(
                "this machine would have the other one's own name there, and a name must mean one of them",
            ),
            Self::Declined(Unkept::NameTaken) => f.write_str(
                "this machine would have the name of another peer there, and a name must mean one of them",
            ),
            Self::Declined(Unkept::Other) => {
                f.write_str("the other machine could not keep this one; it says why there")
            }
            Self::Alien => f.write_str("what came is no pairing of skyhaul"),
            Self::Cut => f.write_str("the connection ended before the pairing did"),
        }
    }
}

impl core::error::Error for PairingError {}
