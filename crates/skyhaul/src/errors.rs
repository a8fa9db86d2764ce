//! Errors: every operation of a [`Stream`](crate::Stream) or an [`Endpoint`](crate::Endpoint) fails with an
//! [`io::Error`] of the kind that a TCP socket would give, and with the cause inside.

use std::io;

#[doc(inline)]
pub use skyhaul_core::{CloseReason, ConnectError, ResetReason, StreamError};
#[doc(inline)]
pub use skyhaul_net::EndpointError;

/// Reason why the connection under a stream ended, if that is what made an operation fail.
///
/// ```
/// use std::io;
/// use skyhaul::errors::{CloseReason, close_reason};
///
/// let error = io::Error::new(io::ErrorKind::TimedOut, CloseReason::Silence);
/// assert_eq!(close_reason(&error), Some(CloseReason::Silence));
/// assert_eq!(close_reason(&io::ErrorKind::NotFound.into()), None);
/// ```
pub fn close_reason(error: &io::Error) -> Option<CloseReason> {
    error.get_ref()?.downcast_ref().copied()
}
