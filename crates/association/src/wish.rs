//! What an association wants when a timer of it is due.

use alloc::vec::Vec;

/// What an association wants at a time.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// Message 1 goes again.
    Call(Vec<u8>),
    /// Another message 1 takes the place of the last one.
    CallAnew,
    /// An empty record goes.
    Confirm,
    /// The challenge goes again.
    Challenge,
    /// Nobody answered.
    GiveUp,
    /// Nothing was heard or sent for a long time.
    Idle,
}
