//! PETRA (Marchese, Rossi, Morabito, JSAC 2004): two relays split a path into a wire, a satellite link and a
//! second wire. What is here so far is section IV of the paper (how large windows, buffers, packets and times
//! must be), the transport of the satellite hop, STPP, and what couples connections at a relay
//! (`docs/spec/petra.md`). The end-to-end layer is not.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod dimensioning;
pub mod relay;
pub mod stpp;
