//! Parts that several test programs share.
#![allow(dead_code, reason = "each test program uses a part")]

pub(crate) mod dice;
pub(crate) mod dose;
pub(crate) mod family;
pub(crate) mod files;
pub(crate) mod trace;
