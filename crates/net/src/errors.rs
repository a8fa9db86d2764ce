//! Stream errors as [`io::Error`]: the right kind, readable text, and the [`CloseReason`] inside.

use skyhaul_core::{CloseReason, ConnectError, ResetReason, StreamError};
use std::io::{self, ErrorKind};

use thiserror::Error;

/// Error that ends the use of an endpoint, other than the end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EndpointError {
    /// [`crate::Endpoint::close`] was called, or the runtime that it lived in is gone.
    #[error("the endpoint is closed")]
    Closed,
    /// A panic happened inside of it.
    #[error("the endpoint has failed")]
    Failed,
    /// It listens on this port already.
    #[error("the endpoint listens on this port already")]
    AlreadyListening,
    /// A client endpoint talks to the one peer that it was made for.
    #[error("this endpoint is for another peer")]
    OtherPeer,
    /// A sealed endpoint talks to peers that it knows alone.
    #[error("this endpoint does not know the peer")]
    UnknownPeer,
    /// It has as many associations with a peer as it may
    /// ([`MAX_ASSOCIATIONS_PER_PEER`](skyhaul_association::MAX_ASSOCIATIONS_PER_PEER)).
    #[error("this endpoint has too many associations with the peer")]
    TooManyAssociations,
}

impl From<EndpointError> for io::Error {
    fn from(error: EndpointError) -> Self {
        let kind = match error {
            EndpointError::Closed => ErrorKind::NotConnected,
            EndpointError::Failed => ErrorKind::Other,
            EndpointError::AlreadyListening => ErrorKind::AddrInUse,
            EndpointError::OtherPeer => ErrorKind::InvalidInput,
            EndpointError::UnknownPeer => ErrorKind::NotFound,
            EndpointError::TooManyAssociations => ErrorKind::QuotaExceeded,
        };
        Self::new(kind, error)
    }
}

/// An error that carries `reason`: `error.get_ref()` downcasts to it.
pub(crate) fn closed(reason: CloseReason) -> io::Error {
    io::Error::new(kind(reason), reason)
}

fn kind(reason: CloseReason) -> ErrorKind {
    match reason {
        CloseReason::Reset(Some(ResetReason::Refused | ResetReason::Busy)) | CloseReason::Unreachable => {
            ErrorKind::ConnectionRefused
        }
        CloseReason::ConnectTimeout | CloseReason::Silence | CloseReason::Oversized => ErrorKind::TimedOut,
        CloseReason::AbortedHere => ErrorKind::ConnectionAborted,
        CloseReason::FalseReport => ErrorKind::InvalidData,
        CloseReason::Reset(_) => ErrorKind::ConnectionReset,
    }
}

/// Error of a stream operation.
pub(crate) fn stream(error: StreamError) -> io::Error {
    match error {
        StreamError::Closed(Some(reason)) => closed(reason),
        StreamError::Closed(None) | StreamError::Finished => io::Error::new(ErrorKind::BrokenPipe, error),
        StreamError::Unknown => io::Error::new(ErrorKind::NotConnected, error),
    }
}

/// Why a connection could not be opened.
pub(crate) fn connect(error: ConnectError) -> io::Error {
    let kind = match error {
        ConnectError::TooManyConnections => ErrorKind::QuotaExceeded,
        ConnectError::NoFreePort => ErrorKind::AddrNotAvailable,
    };
    io::Error::new(kind, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_can_be_had_back() {
        let error = closed(CloseReason::Silence);
        let reason = error.get_ref().and_then(|e| e.downcast_ref::<CloseReason>());
        assert_eq!(reason, Some(&CloseReason::Silence));
        assert_eq!(error.to_string(), CloseReason::Silence.to_string());
    }

    #[test]
    fn kinds_are_those_that_a_tcp_socket_would_give() {
        let kinds = [
            (CloseReason::Reset(Some(ResetReason::Refused)), ErrorKind::ConnectionRefused),
            (CloseReason::Reset(Some(ResetReason::Busy)), ErrorKind::ConnectionRefused),
            (CloseReason::Reset(Some(ResetReason::Aborted)), ErrorKind::ConnectionReset),
            (CloseReason::Reset(Some(ResetReason::UnknownConnection)), ErrorKind::ConnectionReset),
            (CloseReason::Unreachable, ErrorKind::ConnectionRefused),
            (CloseReason::ConnectTimeout, ErrorKind::TimedOut),
            (CloseReason::Silence, ErrorKind::TimedOut),
            (CloseReason::AbortedHere, ErrorKind::ConnectionAborted),
        ];
        for (reason, kind) in kinds {
            assert_eq!(closed(reason).kind(), kind, "{reason}");
        }
        assert_eq!(stream(StreamError::Finished).kind(), ErrorKind::BrokenPipe);
    }
}
