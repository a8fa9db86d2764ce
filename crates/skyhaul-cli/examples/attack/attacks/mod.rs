//! The attacks, a file a theme.

pub(crate) mod files;
pub(crate) mod forgery;
pub(crate) mod junk;
pub(crate) mod memory;
pub(crate) mod once;
pub(crate) mod output;
pub(crate) mod places;
pub(crate) mod reports;
pub(crate) mod sealed;
pub(crate) mod senders;
