//! Failures of UTL.

use core::fmt;

/// Why a stream is not known to have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UtlError {
    /// A batch was not confirmed in time.
    Timeout {
        /// Octets that the far application is not known to have.
        unconfirmed_bytes: u64,
    },
    /// The connection below ended before everything was confirmed.
    Closed {
        /// Octets that the far application is not known to have.
        unconfirmed_bytes: u64,
    },
    /// The peer confirmed what it was never sent.
    FalseConfirmation,
    /// The peer sent what is no frame, or a batch out of turn.
    Malformed,
}

impl fmt::Display for UtlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout { unconfirmed_bytes } => {
                write!(f, "the far application did not confirm {unconfirmed_bytes} bytes in time")
            }
            Self::Closed { unconfirmed_bytes } => {
                write!(f, "the connection ended before the far application had {unconfirmed_bytes} bytes")
            }
            Self::FalseConfirmation => f.write_str("the peer confirmed batches that were never sent"),
            Self::Malformed => f.write_str("the peer sent what is no batch"),
        }
    }
}

impl core::error::Error for UtlError {}
