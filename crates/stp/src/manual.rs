//! Manual, by subject.

#[doc = include_str!("manual/protocol.md")]
pub mod protocol {}

#[doc = include_str!("manual/driving.md")]
pub mod driving {}

#[doc = include_str!("manual/bounds.md")]
pub mod bounds {}
